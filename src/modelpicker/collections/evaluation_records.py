"""What an evaluation tool wrote down, one record per answer, gathered into columns: one per model."""

import os
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from modelpicker.collections.collection import FieldValue
from modelpicker.errors import InputError, brief

NOTHING = float("nan")


class EvaluationRecord(NamedTuple):
    """What one model answered to one item, and what the tool says about it."""

    item: str
    """What the tool calls the item: the same for all models."""
    model: str
    answer: str | None
    """None: it gave no answer."""
    task: str = ""
    epoch: str = ""
    """Tells repetitions of the same item apart."""
    text: str | None = None
    """What the model was asked, for a person to read."""
    references: tuple[str, ...] = ()
    """Answers that are right."""
    scores: Mapping[str, float] = {}
    """From the most important to the least."""
    cost: float | None = None
    latency: float | None = None
    """In seconds."""
    failed: bool = False
    """The tool could not get an answer."""
    fields: Mapping[str, Any] = {}
    """What else is known about the item."""
    name: str = ""
    """What the item is called for people, if that is something else; used if it tells all items apart."""
    place: int = 0
    """Where the tool lists the model, if its answers come in another order."""


@dataclass
class EvaluatedItem:
    """An item, and what all models agree on."""

    key: str
    """What the tool calls it."""
    name: str
    task: str
    text: str | None
    references: tuple[str, ...]
    fields: dict[str, FieldValue]


@dataclass
class ModelAnswers:
    """The answers of one model in one run. The lists go together: one entry per answer."""

    model: str
    run: str
    items: "array[int]" = field(default_factory=lambda: array("q"))
    codes: "array[int]" = field(default_factory=lambda: array("q"))
    """Places in the list of texts; -1 for no answer."""
    epochs: dict[tuple[int, str], int] = field(default_factory=dict)
    """The entry of each item and repetition."""
    scores: "dict[str, array[float]]" = field(default_factory=dict)
    cost: "array[float]" = field(default_factory=lambda: array("d"))
    latency: "array[float]" = field(default_factory=lambda: array("d"))
    failed: int = 0
    place: int = 0

    def add(self, item: int, code: int, record: EvaluationRecord) -> None:
        """Take one record; a second one of the same answer may only bring other scores."""
        entry = self.epochs.get((item, record.epoch))
        if entry is None:
            entry = self.epochs[item, record.epoch] = len(self.items)
            self.items.append(item)
            self.codes.append(code)
            self.cost.append(NOTHING if record.cost is None else record.cost)
            self.latency.append(NOTHING if record.latency is None else record.latency)
            self.failed += record.failed
        elif not record.scores or any(_at(self.scores.get(name), entry) is not None for name in record.scores):
            raise InputError(
                f"{self.run}: item {brief(record.item)} occurs twice for model {brief(self.model)}; keep one of "
                "the two."
            )
        for name, value in record.scores.items():
            column = self.scores.setdefault(name, array("d"))
            column.extend([NOTHING] * (entry + 1 - len(column)))
            column[entry] = value

    def joins(self, other: "ModelAnswers") -> bool:
        """Whether both have answers to other items: then they may be parts of one run."""
        return self.epochs.keys().isdisjoint(other.epochs.keys())

    def join(self, other: "ModelAnswers") -> None:
        """Take the answers of another part of the same run."""
        before = len(self.items)
        for name in dict.fromkeys((*self.scores, *other.scores)):
            self.score(name).extend(other.score(name))
        self.items.extend(other.items)
        self.codes.extend(other.codes)
        self.cost.extend(other.cost)
        self.latency.extend(other.latency)
        self.epochs |= {key: before + entry for key, entry in other.epochs.items()}
        self.failed += other.failed
        self.run = os.path.commonpath([self.run, other.run])

    def score(self, name: str) -> "array[float]":
        """One score of each answer; NaN where there is none."""
        column = self.scores.setdefault(name, array("d"))
        column.extend([NOTHING] * (len(self.items) - len(column)))
        return column


def _at(column: "array[float] | None", entry: int) -> float | None:
    if column is None or entry >= len(column) or column[entry] != column[entry]:
        return None
    return column[entry]


class EvaluationRecords:
    """All records of the files that were read, without those of other tasks."""

    def __init__(self, path: Path, task: str | None, wanted: frozenset[str]) -> None:
        """`task` is the name of the task to take, or a pattern; `wanted` are the fields of items to keep."""
        self.path = path
        self.task = task
        self.wanted = wanted
        self.tasks: Counter[str] = Counter()
        self.items: list[EvaluatedItem] = []
        self.texts: list[str] = []
        """Different answers, in the order in which they come."""
        self.columns: dict[tuple[str, str], ModelAnswers] = {}
        """By model and run."""
        self.failed = 0
        self._items: dict[tuple[str, str], int] = {}
        self._codes: dict[str, int] = {}

    def add(self, record: EvaluationRecord, run: str) -> None:
        """Take a record of a run."""
        self.tasks[record.task] += 1
        if self.task is None and len(self.tasks) > 1:
            return  # it ends with an error that names them all
        if self.task is not None and not fnmatchcase(record.task, self.task):
            return
        item = self._item(record, run)
        answer = self._answer(record)
        code = -1 if answer is None else self._codes.setdefault(answer, len(self.texts))
        if code == len(self.texts):
            self.texts.append(str(answer))
        column = self.columns.setdefault((record.model, run), ModelAnswers(record.model, run, place=record.place))
        column.add(item, code, record)

    def _answer(self, record: EvaluationRecord) -> str | None:
        """The answer; one without words that has a score is an answer too."""
        if record.failed:
            return None
        if record.answer is not None and record.answer.strip():
            return record.answer
        return "(no text)" if any(score > 0 for score in record.scores.values()) else None

    def _item(self, record: EvaluationRecord, run: str) -> int:
        """The place of the item of a record, whose references must be those of the other models."""
        place = self._items.setdefault((record.task, record.item), len(self.items))
        if place == len(self.items):
            fields = {name: _plain(value) for name, value in record.fields.items() if name in self.wanted}
            self.items.append(
                EvaluatedItem(
                    record.item, record.name or record.item, record.task, record.text, record.references, fields
                )
            )
        item = self.items[place]
        item.text = item.text if item.text is not None else record.text
        if record.references and item.references and set(record.references) != set(item.references):
            raise InputError(
                f"{run}: item {brief(record.item)} has the reference {brief(record.references[0])}, but another "
                f"model's has {brief(item.references[0])}. Are these results of the same items?"
            )
        item.references = item.references or record.references
        return place

    def models(self) -> dict[str, ModelAnswers]:
        """The answers of each model by its name.

        Files of one model that have other items are parts of one run, such as one per task. If a model has several
        runs of the same items, each is a model of its own, and its name says where it is from.
        """
        runs: dict[str, list[ModelAnswers]] = {}
        for (model, _), column in self.columns.items():
            known = next((one for one in runs.setdefault(model, []) if one.joins(column)), None)
            if known is None:
                runs[model].append(column)
            else:
                known.join(column)
        named = {
            f"{model} ({name})" if len(found) > 1 else model or name: one
            for model, found in runs.items()
            for one, name in zip(found, _short_names([one.run for one in found]), strict=True)
        }
        if len({run for _, run in self.columns}) > 1:  # then the order of the files says nothing
            return dict(sorted(named.items()))
        return dict(sorted(named.items(), key=lambda one: one[1].place))

    def check_task(self) -> None:
        """An error if there is no record of the task, or if it is not said which of several is meant."""
        named = [name for name in self.tasks if name]
        listed = ", ".join(f"{brief(name)} ({self.tasks[name]:,} answers)" for name in named[:8])
        listed += f", … ({len(named):,} in all)" if len(named) > 8 else ""
        if self.task is None and len(self.tasks) > 1:
            raise InputError(
                f"{self.path} has results of several tasks: {listed}. Choose one with --task (task=), or several "
                "with a pattern: --task '*' takes all.",
                parameter="task",
            )
        if not self.columns:
            has = f"it has {listed}" if named else "its results name no task"
            raise InputError(f"{self.path} has no results of task {brief(self.task)}; {has}.", parameter="task")


def _short_names(runs: list[str]) -> list[str]:
    """Names of runs that tell them apart: their folders, if these differ."""
    folders = [os.path.dirname(run) or run for run in runs]  # noqa: PTH120 - names, not files
    return folders if len(set(folders)) == len(runs) else runs


def _plain(value: Any) -> FieldValue:
    """A field of an item as a plain value."""
    return value if value is None or isinstance(value, str | int | float) else str(value)
