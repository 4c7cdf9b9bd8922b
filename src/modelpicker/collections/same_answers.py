"""What counts as the same answer to an item: equal text, text that is spelt alike, near numbers, or your own rule.

Models that write free text rarely agree exactly. A rule puts the answers of each item into groups. The most
frequent spelling stands for its group, and of equals that of the first model. A rule looks at one item at a time:
what other items say changes nothing, so items can be added later.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.spelling import EXACT, check_same, uniform
from modelpicker.encoding import Array, ClassName, count_anew, smallest_type
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

SameAnswer: TypeAlias = str | float | Callable[[Any, Any], bool]
"""What counts as the same answer: "exact", "normalised", a tolerance for numbers, or a function of two answers."""

# Numbers that differ by the tolerance and a rounding error are the same: 1.01 - 1.00 is above 0.01.
ROUNDING = 1e-12
# Rows that are grouped at once.
ROWS_AT_ONCE = 2**14


def number_of(answer: ClassName) -> float:
    """The number that an answer is; NaN if it is none."""
    if isinstance(answer, str) and not any(letter.isdigit() for letter in answer[:400]):
        return math.nan  # also "nan" and "infinity"
    try:
        found = float(answer)
    except (ValueError, OverflowError):
        return math.nan
    return found if math.isfinite(found) else math.nan


@dataclass(frozen=True)
class SameAnswers:
    """A rule that says which answers are the same."""

    rule: SameAnswer = EXACT

    @classmethod
    def of(cls, given: object) -> "SameAnswers":
        """A rule from what users write."""
        return given if isinstance(given, SameAnswers) else cls(check_same(given))

    @property
    def plain(self) -> bool:
        """Whether only equal text is the same."""
        return isinstance(self.rule, str) and self.rule == EXACT

    def find(self, answer: ClassName, answers: Sequence[ClassName]) -> ClassName:
        """The one of the different answers to an item that is the same as another text; else that text itself."""
        if self.plain or answer in answers:
            return answer
        if callable(self.rule):
            return next((one for one in answers if self._asked(one, answer)), answer)
        if isinstance(self.rule, float) and not math.isnan(number := number_of(answer)):
            gaps = [(abs(number_of(one) - number), one) for one in answers]
            near = [gap for gap in gaps if gap[0] <= _reach(self.rule, number)]
            return min(near, key=lambda gap: gap[0])[1] if near else answer
        spelt = _spelling(answer)
        return next((one for one in answers if self._spelt(one) == spelt), answer)

    def _spelt(self, answer: ClassName) -> str | None:
        """How an answer is spelt, if it is compared by that: numbers that have a tolerance are not."""
        number = isinstance(self.rule, float) and not math.isnan(number_of(answer))
        return None if number else _spelling(answer)

    def _asked(self, one: ClassName, other: ClassName) -> bool:
        if not callable(self.rule):
            return one == other
        said = self.rule(one, other)
        if not isinstance(said, bool | np.bool_):
            raise InputError(
                f"same: your function gave {brief(said)} for {brief(one)} and {brief(other)}; it must give True or "
                "False.",
                parameter="same",
            )
        return bool(said)

    def merge(self, codes: Array, classes: Sequence[ClassName]) -> Array:
        """Codes in which the same answers of a row have one code: that of the answer that stands for them."""
        if self.plain or not codes.size:
            return codes
        absent = codes == NOT_RUN
        if absent.any():
            return np.where(absent, NOT_RUN, self.merge(np.where(absent, ABSTAINED, codes), classes))
        names = [*classes, None]  # -1 is the last
        if callable(self.rule):
            return self._merge_asked(codes, names)
        numbers = np.array([math.nan if name is None else number_of(name) for name in names])
        tolerance = self.rule if isinstance(self.rule, float) else None
        if tolerance is None:
            numbers[:] = math.nan
        spelt = _spelling_groups(names, numbers)
        merged = codes.copy()
        for start in range(0, len(codes), ROWS_AT_ONCE):
            some = codes[start : start + ROWS_AT_ONCE]
            groups = spelt[some]
            if tolerance is not None:
                groups = _number_groups(groups, numbers[some], tolerance)
            merged[start : start + ROWS_AT_ONCE] = _most_frequent(some, groups)
        return merged

    def _merge_asked(self, codes: Array, names: Sequence[ClassName | None]) -> Array:
        """The same, by a function that is asked about two answers at a time."""
        groups = codes.astype(np.int64)
        for row, said in enumerate(codes.tolist()):
            different = [code for code in dict.fromkeys(said) if code != ABSTAINED]
            if len(different) < 2:
                continue
            firsts: list[int] = []
            group_of = {ABSTAINED: ABSTAINED}
            for code in different:
                found = next((one for one in firsts if self._asked(names[one], names[code])), None)  # type: ignore[arg-type]
                group_of[code] = code if found is None else found
                firsts += [code] if found is None else []
            groups[row] = [group_of[code] for code in said]
        return _most_frequent(codes, groups)


def merge_answers(collection: ModelCollection, same: SameAnswer = EXACT) -> ModelCollection:
    """The collection in which answers to an item that count as the same are the same, labels included.

    Args:
        collection: stays as it is.
        same: "exact": equal text. "normalised": text that is equal except for capitals, white space, and
            punctuation
            and quotes at the ends. A number: answers that are numbers, and at most this far apart; other answers
            are
            compared as "normalised". Or a function that is given two answers and says whether they are the same; of
            several answers that match, the first counts.

    >>> answers = ModelCollection([["Paris", "paris.", "Lyon"], ["3.14", "3.141", "about 3"]])
    >>> merged = merge_answers(answers, "normalised")
    >>> [[merged.classes[code] for code in row] for row in merged.predictions.tolist()]
    [['Paris', 'Paris', 'Lyon'], ['3.14', '3.141', 'about 3']]
    >>> merged = merge_answers(answers, 0.01)
    >>> [merged.classes[code] for code in merged.predictions[1].tolist()]
    ['3.14', '3.14', 'about 3']
    """
    rule = SameAnswers.of(same)
    if rule.plain:
        return collection
    codes = rule.merge(collection.predictions, collection.classes)
    labels = None if collection.labels is None else _merge_labels(rule, collection, codes)
    every = codes if labels is None else np.concatenate([codes.ravel(), labels])
    said, places = count_anew(every.astype(np.int64))
    classes = tuple(collection.classes[code] for code in said)
    new = places if labels is None else places[: codes.size].reshape(codes.shape)
    told = None if labels is None else places[codes.size :]
    changed = int((codes != collection.predictions).any(axis=1).sum())
    notes = [*collection.notes, merged_note(rule, changed, len(codes))]
    made = ModelCollection.of_codes(
        new.astype(smallest_type(len(classes))), told, collection.models, classes, collection.fields, notes
    )
    made.check_labels()
    return made.with_measured(collection.measured)


def merged_note(rule: SameAnswers, changed: int, items: int) -> str:
    """What a rule did."""
    how = "by your rule" if callable(rule.rule) else f"{rule.rule}"
    return f"what counts as the same answer: {how}; models agree on more in {changed:,} of {items:,} items."


def _merge_labels(rule: SameAnswers, collection: ModelCollection, codes: Array) -> npt.NDArray[np.int64]:
    """The labels, as the answers that they are the same as: as any model said it, and else the nearest."""
    labels = np.asarray(collection.labels).astype(np.int64)
    said = np.asarray(collection.predictions)
    missed = (labels != ABSTAINED) & ~(codes == labels[:, None]).any(axis=1)
    place_of = {name: code for code, name in enumerate(collection.classes)}
    for row in np.flatnonzero(missed).tolist():
        group_of = {
            code: group for code, group in zip(said[row].tolist(), codes[row].tolist(), strict=True) if code >= 0
        }
        answers = [collection.classes[code] for code in group_of]
        found = place_of[rule.find(collection.classes[int(labels[row])], answers)]
        labels[row] = group_of.get(found, found)
    return labels


def _spelling(answer: ClassName) -> str:
    """An answer as it is compared; one of nothing but punctuation as it is."""
    return uniform(str(answer)) or str(answer)


def _reach(tolerance: float, number: float) -> float:
    """How far from a number others may be."""
    return tolerance + ROUNDING * (abs(number) + tolerance)


def _spelling_groups(names: Sequence[ClassName | None], numbers: npt.NDArray[np.float64]) -> Array:
    """A group for each class by its spelling; -1 for an abstention. Numbers are grouped elsewhere."""
    group_of: dict[str, int] = {}
    found = [
        ABSTAINED if name is None or not math.isnan(number) else group_of.setdefault(_spelling(name), len(group_of))
        for name, number in zip(names, numbers.tolist(), strict=True)
    ]
    return np.array(found, dtype=np.int64)


def _number_groups(groups: Array, values: npt.NDArray[np.float64], tolerance: float) -> Array:
    """Groups in which numbers of a row are together that are near the smallest of them."""
    order = np.argsort(values, axis=1, kind="stable")  # NaN comes last
    ordered = np.take_along_axis(values, order, axis=1)
    rows = np.arange(len(values))
    first = ordered[:, 0].copy()
    group = np.zeros(len(values), dtype=np.int64)
    found = groups.copy()
    for place in range(values.shape[1]):
        value = ordered[:, place]
        begins = value - first > tolerance + ROUNDING * (np.abs(value) + tolerance)
        first = np.where(begins, value, first)
        group += begins
        known = ~np.isnan(value)
        found[rows[known], order[known, place]] = -2 - group[known]  # below the groups of texts
    return found


def _most_frequent(codes: Array, groups: Array) -> Array:
    """The codes of rows, those of a group replaced by the most frequent; of equals, by that of the first model."""
    models = codes.shape[1]
    uneven = np.flatnonzero(_different(groups) < _different(codes))
    if not len(uneven):
        return codes
    found, some, theirs = codes.copy(), codes[uneven], groups[uneven]
    worth = np.zeros(some.shape, dtype=np.int64)
    for place in range(models):
        worth += some == some[:, place : place + 1]
    worth = worth * models + np.arange(models)[::-1]  # of equals the first
    best = np.full(some.shape, -1, dtype=np.int64)
    chosen = some.copy()
    for place in range(models):
        better = (theirs == theirs[:, place : place + 1]) & (worth[:, place : place + 1] > best)
        best = np.where(better, worth[:, place : place + 1], best)
        chosen = np.where(better, some[:, place : place + 1], chosen)
    found[uneven] = np.where(some == ABSTAINED, some, chosen)
    return found


def _different(rows: Array) -> Array:
    """How many different values each row has."""
    ordered = np.sort(rows, axis=1)
    different: Array = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return different
