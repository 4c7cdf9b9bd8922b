"""Argilla: records with the questions that go with them, and records with responses to take back.

Nothing of Argilla is imported: records are JSON, as `Record.from_dict` reads them and `records.to_json` and
`records.to_list(flatten=True)` write them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelpicker.campaigns.annotating.annotation import Annotation, ItemMark
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.task import MARK, LabelTask, TaskSet
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief
from modelpicker.label import Label, LabelGiven

LABEL, BETTER, GRADE = "label", "better", "grade_"
STARS = 5
CHOICES = ("first", "second", "equal")
DONE, SKIPPED = "submitted", "discarded"


def tasks(found: TaskSet) -> str:
    """Records as a JSON list."""
    listed = [
        {
            "id": task.key or f"{found.made} {task.id}",
            "fields": _fields(found, task),
            "metadata": {MARK: json.dumps(found.mark(task), ensure_ascii=False)},
            "suggestions": {},
            "responses": {},
            "vectors": {},
        }
        for task in found.tasks
    ]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def _fields(found: TaskSet, task: LabelTask) -> dict[str, str]:
    shown = {name: value if isinstance(value, str) else json.dumps(value) for name, value in task.shown.items()}
    answers = {f"answer_{place}": str(answer) for place, answer in enumerate(task.answers, start=1)}
    return {**{name: shown.get(name, "") for name in found.fields}, **answers}


def settings(found: TaskSet) -> str:
    """The fields and questions of a dataset for these records, as JSON: the documentation reads them."""
    answers = [f"answer_{place}" for place in range(1, found.most_answers + 1)]
    fields = [{"name": name, "required": place == 0} for place, name in enumerate([*found.fields, *answers])]
    written = {"guidelines": found.guidelines, "fields": fields, "questions": _questions(found)}
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


def _questions(found: TaskSet) -> list[dict[str, Any]]:
    if found.ask_for == "preference":
        return [{"type": "label", "name": BETTER, "labels": list(CHOICES), "required": True}]
    if found.ask_for == "grades":
        stars = list(range(STARS + 1))
        places = range(1, found.most_answers + 1)
        return [
            {"type": "rating", "name": f"{GRADE}{place}", "values": stars, "required": place == 1}
            for place in places
        ]
    if not found.classes:
        raise InputError("the campaign knows no classes yet, and Argilla needs them: create it with classes.")
    return [{"type": "label", "name": LABEL, "labels": [str(name) for name in found.classes], "required": True}]


def is_export(rows: Sequence[Any]) -> bool:
    """Whether these are records of Argilla."""
    first = rows[0] if rows else None
    if not isinstance(first, Mapping):
        return False
    return ("fields" in first and "responses" in first) or any(name.endswith(".responses") for name in first)


def annotations(asked: Asked, rows: Sequence[Any]) -> Iterator[Annotation | None]:
    """What people said, record by record; None for a record without responses."""
    for place, row in enumerate(rows, start=1):
        where = f"record {place}"
        if not isinstance(row, Mapping):
            raise InputError(f"{where} is not a record of Argilla.")
        mark = ItemMark.read(_mark(row, where), where)
        said = [
            Annotation(mark, None if skipped else _label(asked, mark, values, where), f"argilla-{user}")
            for user, (skipped, values) in _by_user(row, where).items()
        ]
        yield from said
        if not said:
            yield None


def _mark(row: Mapping[str, Any], where: str) -> object:
    """Which item a record is, in its metadata."""
    metadata = row.get("metadata")
    found = row.get(MARK) if not isinstance(metadata, Mapping) else metadata.get(MARK)
    try:
        return json.loads(found) if isinstance(found, str) else found
    except ValueError as error:
        raise InputError(f"{where}: its metadata {MARK!r} is not JSON.") from error


def _by_user(row: Mapping[str, Any], where: str) -> dict[str, tuple[bool, dict[str, Any]]]:
    """Whether each user discarded the record, and what they said to each question; drafts are left out."""
    found: dict[str, tuple[bool, dict[str, Any]]] = {}
    for question, value, user, status in _responses(row, where):
        if status in (DONE, SKIPPED, None):
            skipped, values = found.get(user, (False, {}))
            found[user] = (skipped or status == SKIPPED, {**values, question: value})
    return found


def _responses(row: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any, str, str | None]]:
    """The question, the value, the user and the status of every response."""
    nested = row.get("responses")
    if isinstance(nested, Mapping):
        for question, said in nested.items():
            for one in said if isinstance(said, list) else [None]:
                if not isinstance(one, Mapping):
                    raise InputError(f"{where}: the responses to {question!r} are {brief(said)}.")
                yield question, one.get("value"), str(one.get("user_id")), one.get("status")
        return
    for name, values in row.items():
        if name.endswith(".responses") and isinstance(values, list):
            users = row.get(f"{name}.users") or [None] * len(values)
            states = row.get(f"{name}.status") or [None] * len(values)
            for value, user, status in zip(values, users, states, strict=False):
                yield name.removesuffix(".responses"), value, str(user), status


def _label(asked: Asked, mark: ItemMark, values: Mapping[str, Any], where: str) -> LabelGiven:
    """The label that the answers to the questions come to."""
    if asked.ask_for == "grades":
        return _grades(mark, values, where)
    if asked.ask_for == "preference":
        place = CHOICES.index(values[BETTER]) if values.get(BETTER) in CHOICES else None
        if place is None or len(mark.answers) != 2:
            raise InputError(f"{where}: the answer to {BETTER!r} is one of {', '.join(CHOICES)}.")
        one, other = mark.answers
        return (
            Label.equal(one, other) if place == 2 else Label.better(*(mark.answers if place == 0 else (other, one)))
        )
    said = values.get(LABEL) if LABEL in values or len(values) != 1 else next(iter(values.values()))
    chosen = [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, str)]
    if not chosen:
        raise InputError(f"{where}: the answer to {LABEL!r} is {brief(said)}, which is not a class.")
    return asked.label(chosen)


def _grades(mark: ItemMark, values: Mapping[str, Any], where: str) -> LabelGiven:
    grades: dict[ClassName, float] = {}
    for place, answer in enumerate(mark.answers, start=1):
        stars = values.get(f"{GRADE}{place}")
        if stars is None:
            continue
        if isinstance(stars, bool) or not isinstance(stars, int | float) or not 0 <= stars <= STARS:
            raise InputError(f"{where}: {brief(stars)} is not a rating from 0 to {STARS}.")
        grades[answer] = stars / STARS
    if not grades:
        raise InputError(f"{where}: there is no rating, {GRADE}1 to {GRADE}{len(mark.answers)}.")
    return Label.graded(grades)
