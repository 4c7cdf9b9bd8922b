"""Results of promptfoo: `promptfoo eval --output results.json` (or .jsonl). A model is a provider with a prompt."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import json_lines, open_json, walk
from modelpicker.integrations.plain_values import as_number, as_text, mapping

NAME = "promptfoo"
LINES = (".jsonl", ".ndjson")
# What a row says about why it is not a success: an error is not an answer that was judged.
ERROR = 2
# Assertions whose value is an answer that is right.
EQUAL = ("equals", "is-equal", "similar", "levenshtein", "rouge-n", "bleu")
LONGEST_PROMPT = 40


def find_run(head: FileHead) -> Path | None:
    """The file itself, if promptfoo wrote it."""
    if head.path.suffix.lower() in LINES:
        return head.path if head.has("promptIdx", "testIdx", "provider") else None
    results = head.members.get("results")
    inside = (
        isinstance(results, Mapping) and "version" in results and ("prompts" in results or "results" in results)
    )
    return head.path if inside else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers, one at a time."""
    names = ModelNames()
    if path.suffix.lower() in LINES:
        names.note_prompts(row.get("prompt") for row in json_lines(path))
        yield from _records(json_lines(path), names)
        return
    with open_json(path) as stream:
        yield from _records(_rows(walk(stream, ("results", "results")), names), names)


@dataclass
class ModelNames:
    """What the pairs of a provider and a prompt are called; promptfoo numbers them (`promptIdx`)."""

    by_provider: bool = False
    """Whether there is only one prompt: then a model is named by its provider alone."""
    names: dict[Any, str] = field(default_factory=dict)

    def note_prompts(self, prompts: Iterable[Any]) -> None:
        """All prompts, before the first row."""
        labels = {as_text(mapping(one).get("label")) or as_text(mapping(one).get("raw")) for one in prompts}
        self.by_provider = len(labels) == 1

    def find(self, row: Mapping[str, Any]) -> str:
        """The name of the model of a row; two that would be called the same are numbered."""
        number = row.get("promptIdx")
        if number not in self.names:
            name = self._name(row)
            again = sum(other == name or other.startswith(f"{name} #") for other in self.names.values())
            self.names[number] = f"{name} #{again + 1}" if again else name
        return self.names[number]

    def _name(self, row: Mapping[str, Any]) -> str:
        """The provider, and the prompt if there is more than one."""
        provider, prompt = row.get("provider"), mapping(row.get("prompt"))
        found = mapping(provider)
        name = as_text(found.get("label")) or as_text(found.get("id")) or as_text(provider) or "provider"
        label = " ".join((as_text(prompt.get("label")) or as_text(prompt.get("raw")) or "").split())
        if self.by_provider or not label:
            return name
        return f"{name} · {label if len(label) <= LONGEST_PROMPT else f'{label[: LONGEST_PROMPT - 1]}…'}"


def _rows(members: Iterator[tuple[str, Any]], names: ModelNames) -> Iterator[Mapping[str, Any]]:
    """The rows of a file; the prompts, which come before them, are noted."""
    for key, value in members:
        if key == "prompts" and isinstance(value, list):
            names.note_prompts(value)
        elif key == "results" and isinstance(value, Mapping) and "provider" in value:
            yield value


def _records(rows: Iterator[Mapping[str, Any]], names: ModelNames) -> Iterator[EvaluationRecord]:
    repeats: dict[tuple[str, str], dict[Any, str]] = {}
    for row in rows:
        case, response = mapping(row.get("testCase")), mapping(row.get("response"))
        told = case.get("vars") or row.get("vars") or {}
        item = json.dumps([told, case.get("assert"), case.get("description")], sort_keys=True, default=str)
        model = names.find(row)
        epochs = repeats.setdefault((model, item), {})
        failed = row.get("failureReason") == ERROR or (not response and row.get("error") is not None)
        yield EvaluationRecord(
            item=item,
            model=model,
            answer=as_text(response.get("output")),
            epoch=epochs.setdefault(row.get("testIdx"), str(len(epochs))),
            text=_shown(told),
            references=_references(case.get("assert"), told),
            scores={} if failed else _scores(row),
            cost=as_number(row.get("cost", response.get("cost"))),
            latency=_seconds(row.get("latencyMs")),
            failed=failed,
            fields={**mapping(case.get("metadata")), **mapping(told)},
            name=str(row.get("testIdx", "")),
            place=int(as_number(row.get("promptIdx")) or 0),
        )


def _scores(row: Mapping[str, Any]) -> dict[str, float]:
    """The score of the row, and the scores that assertions have names for."""
    found = {"score": as_number(row.get("score")), "pass": as_number(row.get("success"))}
    named = {name: as_number(value) for name, value in mapping(row.get("namedScores")).items()}
    return {name: value for name, value in {**found, **named}.items() if value is not None}


def _references(asserted: Any, told: Any) -> tuple[str, ...]:
    """What an assertion says is the answer."""
    for one in asserted if isinstance(asserted, list) else ():
        if mapping(one).get("type") in EQUAL and (value := as_text(mapping(one).get("value"))):
            for name, text in mapping(told).items():
                value = value.replace(f"{{{{{name}}}}}", str(text)).replace(f"{{{{ {name} }}}}", str(text))
            return (value,)
    return ()


def _shown(told: Any) -> str | None:
    """The variables of a test as text."""
    found = mapping(told)
    if len(found) == 1:
        return as_text(next(iter(found.values())))
    return "\n".join(f"{name}: {as_text(value)}" for name, value in found.items()) or None


def _seconds(milliseconds: Any) -> float | None:
    found = as_number(milliseconds)
    return None if found is None else found / 1000
