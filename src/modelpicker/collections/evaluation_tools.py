"""Which tool wrote a file, by what is in it; the tools themselves are files of `modelpicker.integrations`.

This layer knows them by name only: a tool is imported when a file may be its.
"""

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.evaluation_records import EvaluationRecord, EvaluationRecords
from modelpicker.collections.evaluations import collect_records
from modelpicker.collections.json_stream import SPACE
from modelpicker.errors import FileError, InputError

# Modules of `modelpicker.integrations` that read what a tool wrote.
TOOLS = (
    "promptfoo",
    "lm_eval",
    "inspect_logs",
    "helm",
    "openai_evals",
    "every_eval_ever",
    "mlflow_tables",
)
ENDINGS = (".json", ".jsonl", ".ndjson", ".eval")
# As much of a file as is looked at in order to know it.
HEAD = 2**20
# Files of a folder that are looked at.
MOST_FILES = 100_000


class Tool(Protocol):
    """What a module of `modelpicker.integrations` has, so that files of its tool are read."""

    NAME: str
    """What the tool is called."""

    def find_run(self, head: "FileHead") -> Path | None:
        """What to read: the file, or the folder that it belongs to; None if another program wrote it."""

    def read_run(self, path: Path) -> Iterator[EvaluationRecord]:
        """The answers in such a file or folder, one at a time."""


@dataclass(frozen=True)
class FileHead:
    """The beginning of a file, by which its tool is known."""

    path: Path
    content: bytes

    @cached_property
    def members(self) -> Mapping[str, Any]:
        """The first object of the file, as far as it was read; of what is incomplete, what is known about it."""
        text = self.content.decode("utf-8-sig", "ignore").lstrip(SPACE)
        text = text[1:].lstrip(SPACE) if text.startswith("[") else text
        return _members(text, 0) if text.startswith("{") else {}

    @property
    def is_list(self) -> bool:
        """Whether the file holds one array."""
        return self.content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["

    def has(self, *keys: str) -> bool:
        """Whether the first object has all of these keys."""
        return all(key in self.members for key in keys)


def _members(text: str, place: int) -> dict[str, Any]:
    """The members of an object, which may be cut off."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] = {}
    place += 1
    while True:
        try:
            key, place = decoder.raw_decode(text, _after(text, place, ","))
            if not isinstance(key, str):
                return found
            place = _after(text, place, ":")
            found[key] = None
            value, place = decoder.raw_decode(text, place)
            found[key] = value
        except (ValueError, RecursionError):
            if found and text[place : place + 1] == "{" and (last := list(found)[-1]) and found[last] is None:
                found[last] = _members(text, place)
            return found


def _after(text: str, place: int, mark: str) -> int:
    """The place after white space, and after one mark."""
    while text[place : place + 1] and text[place] in SPACE + mark:
        place += 1
    return place


def read_evaluation(path: Path, reading: Reading) -> ModelCollection | None:
    """The results of an evaluation tool in a file or a folder; None if no tool that is known wrote it."""
    runs = find_runs(path)
    tools = list(dict.fromkeys(runs.values()))
    if not tools:
        return None
    if len(tools) > 1:
        listed = ", ".join(tool.NAME for tool in tools)
        raise InputError(f"{path} has results of several tools: {listed}. Keep those of each tool in a folder.")
    records = EvaluationRecords(path, reading.task, frozenset(reading.fields))
    for run, name in _run_names(path, list(runs)).items():
        for record in tools[0].read_run(run):
            records.add(record, name)
    if not records.tasks:
        raise InputError(f"{path} has no answers: the {tools[0].NAME} files in it are empty.")
    return collect_records(records, reading, tools[0].NAME)


def is_evaluation(path: Path) -> bool:
    """Whether an evaluation tool that is known wrote a file."""
    return path.suffix.lower() in ENDINGS and bool(find_runs(path))


def find_runs(path: Path) -> dict[Path, Tool]:
    """What to read of a file or a folder, in order, each with its tool."""
    found: dict[Path, Tool] = {}
    for file in [path] if path.is_file() else _files(path):
        if file.suffix.lower() in ENDINGS and (known := _find_run(file)) is not None:
            found.setdefault(*known)
    return found


def _files(folder: Path) -> list[Path]:
    """The files of a folder and of the folders in it, in the order of their names."""
    found: list[Path] = []
    for place, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        found += [Path(place) / name for name in sorted(files) if not name.startswith(".")]
        if len(found) > MOST_FILES:
            raise InputError(f"{folder} has more than {MOST_FILES:,} files; pass a folder with the results only.")
    return found


def _find_run(path: Path) -> tuple[Path, Tool] | None:
    """What a file is a part of, and the tool that wrote it."""
    try:
        with path.open("rb") as file:
            head = FileHead(path, file.read(HEAD))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    for name in TOOLS:
        tool: Any = importlib.import_module(f"modelpicker.integrations.{name}")
        run = tool.find_run(head)
        if run is not None:
            return run, tool
    return None


def _run_names(path: Path, runs: list[Path]) -> dict[Path, str]:
    """A short name for each run, in case that several have the same model."""
    return {run: run.stem if run == path else str(run.relative_to(path).with_suffix("")) for run in runs}
