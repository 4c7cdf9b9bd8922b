"""What a judge says about items: a column of a file, a field of each item, a list, or a function.

A judge is a cheap source of labels that may be wrong (docs/how-to/judges.md). Whoever labels must not see what it
says, so it is taken out of what is shown of the items.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from modelpicker.campaigns.input.rows import ClassCodes, Rows, encode_many
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.setting_options import JUDGE
from modelpicker.collections import ModelCollection
from modelpicker.collections.same_answers import SameAnswer, SameAnswers
from modelpicker.collections.spelling import EXACT, uniform
from modelpicker.encoding import ClassName, plain
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED

# Columns that an error names.
MOST_NAMED = 12


def fields_at(whole: ModelCollection, place: int) -> dict[str, Any]:
    """What somebody who is asked gets to see of an item: its place, and its fields."""
    return {"item": place, **{name: values[place] for name, values in whole.fields.items()}}


def names_at(whole: ModelCollection, place: int) -> list[ClassName | None]:
    """What the models say about an item."""
    codes = whole.predictions[place].tolist()
    return [None if code < 0 else whole.classes[code] for code in codes]


def with_judge_apart(
    whole: ModelCollection, judge: object, same: SameAnswer = EXACT
) -> tuple[ModelCollection, object]:
    """A collection without its judge, and what the judge says about each item.

    Args:
        whole: the collection.
        judge: the name of a field or of a model, a function of an item, or one class per item; None: there is none.
        same: what counts as the same answer: then the judge says what the models say.
    """
    rule = SameAnswers.of(same)
    if callable(judge):
        return whole, as_spelt(called_judge(judge, whole), rule, lambda place: names_at(whole, place))
    if not isinstance(judge, str):
        if judge is None or rule.plain:
            return whole, judge
        listed = listed_judge(judge, len(whole))
        return whole, as_spelt(listed, rule, lambda place: names_at(whole, place))
    said = as_spelt(column_of(whole, judge), rule, lambda place: names_at(whole, place))
    rest = [place for place, model in enumerate(whole.models) if model != judge]
    models = [whole.models[place] for place in rest]
    fields = {name: values for name, values in whole.fields.items() if name != judge}
    codes = whole.predictions if len(rest) == len(whole.models) else whole.predictions[:, rest]
    bare = ModelCollection.of_codes(codes, whole.labels, models, whole.classes, fields, whole.notes)
    return bare.with_measured(None if whole.measured is None else whole.measured.of_models(rest, models)), said


def column_of(whole: ModelCollection, judge: str) -> list[ClassName | None]:
    """What a judge says who is a field of a collection, or one of its models."""
    check_column(judge, [*whole.fields, *whole.models])
    if judge in whole.fields:
        # Not the classes of labels: these may come later, and what the judge says must stay the same.
        said = [whole.classes[code] for code in np.unique(whole.predictions).tolist() if code >= 0]
        return as_answers(whole.fields[judge], said or whole.classes, f"column {brief(judge)}")
    names = [*whole.classes, None, None]  # -1 and -2 are the last
    return [names[code] for code in whole.predictions[:, whole.models.index(judge)].tolist()]


def check_column(judge: str, known: Sequence[str]) -> None:
    """An error if there is no column of that name."""
    if judge not in known:
        listed = ", ".join(known[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
        raise InputError(f"judge: there is no column {brief(judge)}; there are {listed}.", parameter="judge")


def called_judge(judge: Callable[[dict[str, Any]], Any], whole: ModelCollection) -> list[ClassName | None]:
    """What a function says about each item; an error that names the item if it fails."""
    said = []
    for place in range(len(whole)):
        try:
            said.append(plain(judge(fields_at(whole, place)), f"what the judge says about item {place}"))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"the judge failed on item {place}: {type(error).__name__}: {error}. It must give a class, or None "
                "where it says nothing.",
                parameter="judge",
            ) from error
    return said


def listed_judge(judge: Any, items: int) -> list[ClassName | None]:
    """One class per item, None where the judge says nothing; an error if that is not what it is."""
    if isinstance(judge, bytes | Mapping) or not hasattr(judge, "__len__"):
        raise InputError(
            f"judge={brief(judge)}: pass the name of a column, a function of an item, or one class per item.",
            parameter="judge",
        )
    said = judge.tolist() if hasattr(judge, "tolist") else list(judge)
    if len(said) != items:
        raise InputError(
            f"the judge has {len(said):,} answers, but there are {items:,} items; pass one per item, None where it "
            "says nothing.",
            parameter="judge",
        )
    return [plain(answer, f"what the judge says about item {place}") for place, answer in enumerate(said)]


def as_answers(values: Iterable[Any], classes: Sequence[ClassName], where: str) -> list[ClassName | None]:
    """What a judge says, as classes: cells of a column, or fields of items, in the form that the models have.

    Text that is not a class counts as the class that it is without white space, capitals, and punctuation at its
    ends, if there is one. What is empty, not a number, or -1 says nothing.
    """
    known, numbers = set(classes), bool(classes) and not isinstance(classes[0], str)
    found: dict[tuple[type, Any], ClassName | None] = {}
    answers = []
    for place, value in enumerate(values):
        try:
            answer = found[type(value), value]
        except (KeyError, TypeError):
            answer = _answer(value, known, numbers, f"{where}, item {place}")
            found[type(value), value] = answer
        answers.append(answer)
    return answers


def _answer(value: Any, known: set[ClassName], numbers: bool, where: str) -> ClassName | None:
    """One answer of a judge."""
    if isinstance(value, float) and not value.is_integer():  # a score, or missing
        return None
    if not isinstance(value, str):
        name = plain(ABSTAINED if isinstance(value, int | float) and value < 0 else value, where)
        return name if name is None or numbers or not known else str(name)
    text = value.strip()
    if numbers:
        return int(text) if text.isascii() and text.isdigit() else None
    return uniform(text) if text not in known and uniform(text) in known else text or None


def as_spelt(
    said: list[ClassName | None], rule: SameAnswers, answers_at: Callable[[int], Sequence[ClassName | None]]
) -> list[ClassName | None]:
    """What a judge says, spelt as the models spell it where that counts as the same answer."""
    if rule.plain:
        return said
    return [
        None if answer is None else rule.find(answer, [name for name in answers_at(place) if name is not None])
        for place, answer in enumerate(said)
    ]


def split_items(
    items: Sequence[Item | None] | None, name: str, total: int
) -> tuple[list[Item | None] | None, list[Any]]:
    """Items without the field that holds what the judge says, and these fields."""
    if items is None:
        return None, [None] * total
    said = [None if item is None else item.get(name) for item in items]
    shown = [
        item if item is None or name not in item else {key: value for key, value in item.items() if key != name}
        for item in items
    ]
    return [item or None for item in shown], said


def encode_answers(said: Sequence[Any]) -> Rows:
    """What a judge says, as one column of codes."""
    return encode_many([[answer] for answer in said], [JUDGE], ClassCodes(None))


def silent(items: int) -> Rows:
    """A judge who says nothing about these items."""
    return encode_answers([None] * items)


def judge_names(rows: Rows | None) -> list[ClassName | None] | None:
    """What a judge says by name; None if there is no judge."""
    if rows is None:
        return None
    names = [*rows.classes, None]  # -1 is the last
    return [names[code] for code in rows.codes[:, 0].tolist()]


def judge_mark(said: Sequence[ClassName | None]) -> str:
    """What tells the answers of a judge from others."""
    return hashlib.sha256(json.dumps(list(said)).encode()).hexdigest()[:16]


def judge_reading(reading: Mapping[str, Any], judge: object) -> dict[str, Any]:
    """How a file is read whose judge is a column: it is not a model, and not in doubt."""
    if not isinstance(judge, str):
        return dict(reading)
    return {**reading, "fields": [*(name for name in reading.get("fields", ()) if name != judge), judge]}
