"""Logs of OpenAI evals: `oaieval MODEL EVAL` writes JSON lines. A model is a log."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import json_lines
from modelpicker.integrations.plain_values import as_number, as_text, mapping, prompt_text, texts

NAME = "OpenAI evals"
MATCH = "correct"


@dataclass
class LoggedSample:
    """What the events of one sample say; they may stand between those of others."""

    text: str | None = None
    answer: str | None = None
    references: tuple[str, ...] = ()
    scores: dict[str, float] = field(default_factory=dict)
    failed: bool = False

    def take(self, kind: str, data: Any) -> None:
        """Take one event."""
        found = mapping(data)
        if kind == "sampling" and self.text is None:  # later ones are those of a model that grades
            self.text = prompt_text(found.get("prompt"))
            self.answer = self.answer if self.answer is not None else next(iter(texts(found.get("sampled"))), None)
        elif kind == "match":
            self._take_match(found)
        elif kind == "metrics":
            numbers = {name: as_number(value) for name, value in found.items()}
            self.scores |= {name: value for name, value in numbers.items() if value is not None}
        elif kind == "error":
            self.failed = True

    def _take_match(self, found: Any) -> None:
        expected, options = texts(found.get("expected")), texts(found.get("options"))
        picked = found.get("picked")
        if isinstance(picked, str) and len(options) > len(expected):  # it was to choose one of several
            self.answer = picked
        elif isinstance(found.get("sampled"), str):
            self.answer = found["sampled"]
        elif isinstance(picked, str) and self.answer is None:
            self.answer = picked
        self.references = expected
        right = as_number(found.get("correct"))
        if right is not None:
            self.scores[MATCH] = right


def find_run(head: FileHead) -> Path | None:
    """The file itself, if OpenAI evals wrote it."""
    spec = mapping(head.members.get("spec"))
    return head.path if "completion_fns" in spec and "eval_name" in spec else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers; they are known when the whole log was read."""
    model, task = path.stem, ""
    samples: dict[str, LoggedSample] = {}
    for event in json_lines(path):
        spec = event.get("spec")
        if spec is not None:
            model = ", ".join(texts(mapping(spec).get("completion_fns"))) or model
            task = as_text(mapping(spec).get("eval_name")) or ""
        elif event.get("sample_id") is not None:
            sample = samples.setdefault(str(event["sample_id"]), LoggedSample())
            sample.take(str(event.get("type")), event.get("data"))
    for name, sample in samples.items():
        yield EvaluationRecord(
            item=name,
            model=model,
            answer=sample.answer,
            task=task,
            text=sample.text,
            references=sample.references,
            scores=sample.scores,
            failed=sample.failed and not sample.scores,
        )
