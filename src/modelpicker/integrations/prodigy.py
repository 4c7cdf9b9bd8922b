"""Prodigy: tasks for its choice interface, and what `db-out` writes. Both are JSON lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelpicker.campaigns.annotating.annotation import Annotation, ItemMark
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.task import MARK, LabelTask, TaskSet
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief
from modelpicker.label import Label, LabelGiven

EQUAL = "equal"
ANSWERS = ("accept", "reject", "ignore")


def tasks(found: TaskSet) -> str:
    """Tasks for `choice`: the classes, the two answers, or all answers, of which each that is right is chosen."""
    return "".join(json.dumps(_task(found, task), ensure_ascii=False) + "\n" for task in found.tasks)


def _task(found: TaskSet, task: LabelTask) -> dict[str, Any]:
    shown = dict(task.shown)
    if not isinstance(shown.get("text"), str):
        shown["text"] = "\n".join(f"{name}: {value}" for name, value in task.shown.items())
    config = {"config": {"choice_style": "multiple"}} if found.ask_for == "grades" else {}
    return {**shown, "options": _options(found, task), **config, MARK: found.mark(task)}


def _options(found: TaskSet, task: LabelTask) -> list[dict[str, Any]]:
    if found.ask_for == "class":
        if not found.classes:
            raise InputError("the campaign knows no classes yet, and Prodigy needs them: create it with classes.")
        return [{"id": str(name), "text": str(name)} for name in found.classes]
    answers = [{"id": place, "text": str(answer)} for place, answer in enumerate(task.answers)]
    return answers if found.ask_for == "grades" else [*answers, {"id": EQUAL, "text": "Equally good"}]


def is_export(rows: Sequence[Any]) -> bool:
    """Whether these are annotated tasks of Prodigy."""
    return bool(rows) and isinstance(rows[0], Mapping) and rows[0].get("answer") in ANSWERS


def annotations(asked: Asked, rows: Sequence[Any]) -> Iterator[Annotation | None]:
    """What people said, line by line; "ignore" is a skip."""
    for place, row in enumerate(rows, start=1):
        where = f"line {place}"
        answer = row.get("answer") if isinstance(row, Mapping) else None
        if answer not in ANSWERS:
            raise InputError(f"{where}: a task that Prodigy exports has an answer: {', '.join(ANSWERS)}.")
        mark = ItemMark.read(row.get(MARK), where)
        who = row.get("_annotator_id") or row.get("_session_id")
        by = None if who is None else str(who).replace("/", "-")
        yield Annotation(mark, _label(asked, mark, row, where), by, f"{row.get('_timestamp', 0):>20}")


def _label(asked: Asked, mark: ItemMark, row: Mapping[str, Any], where: str) -> LabelGiven | None:
    """The label; None if the task was ignored, or rejected where that says nothing."""
    if row["answer"] == "ignore":
        return None
    chosen = row.get("accept")
    if chosen is None:
        return _binary(asked, row, where)
    if not isinstance(chosen, list):
        raise InputError(f"{where}: what was chosen, {brief(chosen)}, is not a list.")
    if asked.ask_for == "grades":
        right = [_answer(mark, one, where) for one in chosen] if row["answer"] == "accept" else []
        return Label.graded({answer: answer in right for answer in mark.answers}) if right else Label.all_wrong()
    if row["answer"] == "reject":
        return None
    if asked.ask_for == "preference":
        return _preference(mark, chosen, where)
    if not chosen:
        raise InputError(f"{where}: it was accepted without an option. Ignore it in Prodigy, or choose one.")
    return asked.label([str(one) for one in chosen])


def _answer(mark: ItemMark, place: object, where: str) -> ClassName:
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(mark.answers):
        raise InputError(f"{where}: {brief(place)} is not an answer of that task.")
    return mark.answers[place]


def _preference(mark: ItemMark, chosen: list[Any], where: str) -> LabelGiven:
    if len(chosen) != 1 or len(mark.answers) != 2:
        raise InputError(f"{where}: choose one option, for which of two answers is better.")
    if chosen[0] == EQUAL:
        return Label.equal(*mark.answers)
    better = _answer(mark, chosen[0], where)
    return Label.better(better, next(one for one in mark.answers if one != better))


def _binary(asked: Asked, row: Mapping[str, Any], where: str) -> LabelGiven | None:
    """A task with one label that was accepted or rejected."""
    label = row.get("label")
    if asked.ask_for != "class" or not isinstance(label, str):
        raise InputError(f"{where}: it has neither options nor a label that was accepted or rejected.")
    said = asked.find(label)
    if row["answer"] == "accept":
        return said
    others = [name for name in asked.known.values() if name != said]
    if len(others) != 1 or len(asked.known) != 2:
        raise InputError(
            f"{where}: not {label!r}; that leaves more than one class. Use Prodigy's choice interface."
        )
    return others[0]
