"""Evaluation tables of MLflow: `eval_results_table.json` of `mlflow.evaluate`, or what `mlflow.log_table` wrote.

A model is a file; or a run, if the table has a column `run_id`, as `mlflow.load_table` adds it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import open_json, walk
from modelpicker.errors import InputError
from modelpicker.integrations.plain_values import as_number, as_text

NAME = "MLflow"
INPUTS = ("inputs", "input", "question", "request", "prompt", "text")
OUTPUTS = ("outputs", "output", "predictions", "prediction", "response", "answer")
TARGETS = ("ground_truth", "targets", "target", "expected_response", "expected", "label", "reference")
IDS = ("id", "key", "item", "request_id")
SCORE = "/score"
MODELS = ("model", "run_name", "run_id")
# Folders that MLflow makes around its files, which name no model.
PLAIN_FOLDERS = ("artifacts",)


def find_run(head: FileHead) -> Path | None:
    """The file itself, if it is a table with the answers of a model."""
    columns = head.members.get("columns")
    if not (isinstance(columns, list) and "data" in head.members and "index" not in head.members):
        return None
    scored = any(str(name).endswith(SCORE) for name in columns)
    return head.path if _one(columns, OUTPUTS) and (scored or _one(columns, INPUTS)) else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers, one at a time."""
    columns: list[str] = []
    seen: Counter[tuple[str, str]] = Counter()
    with open_json(path) as stream:
        for key, value in walk(stream, ("data",)):
            if key == "columns":
                columns = [str(name) for name in value]
            elif key == "data":
                if not isinstance(value, list) or len(value) != len(columns):
                    raise InputError(f"{path}: a row does not have one cell per column; is it an MLflow table?")
                yield _record(dict(zip(columns, value, strict=True)), path, seen)


def _record(row: Mapping[str, Any], path: Path, seen: Counter[tuple[str, str]]) -> EvaluationRecord:
    names = list(row)
    output, asked, right, named, by = (_one(names, known) for known in (OUTPUTS, INPUTS, TARGETS, IDS, MODELS))
    model = str(row[by]) if by else _model(path)
    known = named or asked
    item = as_text(row[known]) if known else None
    if item is None:  # then rows are told apart by their places
        item = str(seen[model, ""])
        seen[model, ""] += 1
    seen[model, item] += 1
    scores = {name.removesuffix(SCORE): as_number(row[name]) for name in names if name.endswith(SCORE)}
    reference = as_text(row[right]) if right else None
    return EvaluationRecord(
        item=item,
        model=model,
        answer=as_text(row[output]) if output else None,
        epoch=str(seen[model, item]),
        text=as_text(row[asked]) if asked else None,
        references=() if reference is None else (reference,),
        scores={name: value for name, value in scores.items() if value is not None},
        latency=as_number(row.get("latency")),
        fields=row,
    )


def _one(columns: list[Any], known: tuple[str, ...]) -> str | None:
    """The column that has one of these names."""
    return next((name for name in known if name in columns), None)


def _model(path: Path) -> str:
    """The name of the file, or of the folder of a run if all files are called the same."""
    if path.stem != "eval_results_table":
        return path.stem
    return next((folder.name for folder in path.parents if folder.name not in PLAIN_FOLDERS), path.stem)
