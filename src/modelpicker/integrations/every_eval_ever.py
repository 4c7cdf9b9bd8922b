"""Instance records of Every Eval Ever: JSON lines, one per item and model (`NAME_samples.jsonl`)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import json_lines
from modelpicker.integrations.plain_values import as_number, as_text, mapping, texts

NAME = "Every Eval Ever"


def find_run(head: FileHead) -> Path | None:
    """The file itself, if it has instance records."""
    return head.path if head.has("model_id", "sample_id", "evaluation_name", "interaction_type") else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers, one at a time; the records of one sample may have a score each."""
    results: dict[tuple[str, str], dict[str, str]] = {}
    for record in json_lines(path):
        asked, judged = mapping(record.get("input")), mapping(record.get("evaluation"))
        task, model = str(record.get("evaluation_name")), str(record.get("model_id"))
        known = results.setdefault((task, model), {})
        result = as_text(record.get("evaluation_result_id")) or ""
        name = known.setdefault(result, "score" if not known else f"score of {result}")
        found = {name: as_number(judged.get("score"))}
        if len(known) == 1:
            found["is_correct"] = as_number(judged.get("is_correct"))
        latency = as_number(mapping(record.get("performance")).get("latency_ms"))
        yield EvaluationRecord(
            item=str(record.get("sample_id")),
            model=model,
            answer=_answer(record),
            task=task,
            text=as_text(asked.get("raw")),
            references=texts(asked.get("reference")) if asked.get("reference") else (),
            scores={name: value for name, value in found.items() if value is not None},
            latency=None if latency is None else latency / 1000,
            failed=record.get("error") is not None,
            fields=mapping(record.get("metadata")),
        )


def _answer(record: Mapping[str, Any]) -> str | None:
    """The answer that was found in the output; else the output, or the last message of the model."""
    attributed = record.get("answer_attribution")
    final = [one for one in attributed if mapping(one).get("is_terminal")] if isinstance(attributed, list) else []
    if final and (value := as_text(final[-1].get("extracted_value"))):
        return value
    output = texts(mapping(record.get("output")).get("raw"))
    if output:
        return output[0]
    messages = record.get("messages")
    said = [
        as_text(one.get("content"))
        for one in (messages if isinstance(messages, list) else ())
        if mapping(one).get("role") == "assistant"
    ]
    return next((text for text in reversed(said) if text), None)
