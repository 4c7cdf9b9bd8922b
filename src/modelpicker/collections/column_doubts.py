"""Which columns stand out among those that may be models, and why a person should look at them.

Models answer the same question, so they share their answers. A column whose values no other column has is likely
to be something else. Nearly everything here is relative: where all columns hold free text that hardly ever repeats,
or all hold numbers that are not whole, none of them stands out for that. But scores are no answers, however many
columns hold them. And where two groups of columns share nothing, nobody but the user knows which are the models.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from modelpicker.collections.column_name_hints import hint_of
from modelpicker.collections.column_profiles import HARDLY, Profile
from modelpicker.collections.label_checks import listed_models
from modelpicker.collections.tables import quoted

# Fewer answers than this say nothing; from that many on, shares mean something.
FEW, SOME, MANY = 3, 5, 20
# Models share at least this part of their answers, or else answers are free text.
SHARED = 0.5
# Different values, as a share of the cells: classes repeat, texts do not.
REPEATED, VARIED = 0.2, 0.5


class Doubt(NamedTuple):
    """What a column may be instead of a model, and why."""

    role: str
    why: str


def find_doubts(
    candidates: Sequence[Profile], label: Profile | None, classes: Sequence[object]
) -> dict[str, Doubt]:
    """The columns that a person should look at, each with the reason."""
    known = {str(name).strip().casefold() for name in classes} | set(label.counts if label else ())
    doubts: dict[str, Doubt] = {}
    for rule in (_by_type, _by_pattern, _by_numbers, _by_counting, _by_name):
        rest = [one for one in candidates if one.name not in doubts]
        doubts |= rule(rest, label, known)
    rest = [one for one in candidates if one.name not in doubts and one.answers]
    return doubts | _by_answers(rest, known)


def _standing_out(
    candidates: Sequence[Profile], label: Profile | None, test: Callable[[Profile], bool]
) -> list[Profile]:
    """The columns that pass a test, if they are few and the labels do not pass it too."""
    found = [one for one in candidates if test(one)]
    alone = len(found) <= len(candidates) // 2 and not (label is not None and label.answers and test(label))
    return found if alone else []


def _by_type(candidates: Sequence[Profile], label: Profile | None, known: set[str]) -> dict[str, Doubt]:
    """Cells that no class can be, and columns that are empty."""
    del label, known
    found = {
        one.name: Doubt("left out", f"Its cells are of type {one.kind}, and no class can be.")
        for one in candidates
        if one.kind
    }
    for one in candidates:
        if not one.kind and not one.answers and one.rows >= MANY:
            found[one.name] = Doubt("left out", f"It is empty in the first {one.rows:,} rows.")
    return found


def _by_pattern(candidates: Sequence[Profile], label: Profile | None, known: set[str]) -> dict[str, Doubt]:
    """Addresses, files and objects."""
    del known
    found = _standing_out(candidates, label, lambda one: bool(one.pattern))
    return {one.name: Doubt("shown", f"It holds {one.pattern}.") for one in found}


def _by_numbers(candidates: Sequence[Profile], label: Profile | None, known: set[str]) -> dict[str, Doubt]:
    """Numbers that are not whole, and numbers where the others hold text."""
    found = {
        one.name: Doubt("left out", f"It holds numbers that are not whole, such as {one.fraction}.")
        for one in _scores(candidates, label, known)
    }
    rest = [one for one in candidates if one.name not in found and one.answers]
    for one in rest:
        others = [*(other for other in rest if other is not one), *([label] if label and label.answers else [])]
        text = sum(other.textual for other in others)
        said = set(known).union(*(other.counts for other in others))
        if one.numeric and one.answers >= FEW and text * 2 > len(others) and one.share_in(said) < SHARED:
            found[one.name] = Doubt("left out", "It holds numbers, but most other columns hold text.")
    return found


def _scores(candidates: Sequence[Profile], label: Profile | None, known: set[str]) -> list[Profile]:
    """Columns of numbers that are not whole, however many; none if all columns or the labels hold such numbers.

    Models that work out numbers share them with each other, also with those whose numbers are mostly whole.
    """
    answering = [one for one in candidates if one.answers]
    others = [one for one in answering if not one.fractional]
    if not others or (label is not None and label.fractional):
        return []
    said = known.union(*(one.counts for one in others))
    return [one for one in answering if one.fractional and one.share_in(said) < SHARED]


def _by_counting(candidates: Sequence[Profile], label: Profile | None, known: set[str]) -> dict[str, Doubt]:
    """Row numbers."""
    del known
    found = _standing_out(candidates, label, lambda one: one.counting and one.rows >= SOME)
    return {one.name: Doubt("left out", "It counts the rows.") for one in found}


def _by_name(candidates: Sequence[Profile], label: Profile | None, known: set[str]) -> dict[str, Doubt]:
    """Names that hardly any model has."""
    del known
    found: dict[str, Doubt] = {}
    labels = 0 if label is None else 1
    for one in candidates:
        hint = hint_of(one.name)
        if hint is None:
            continue
        role = hint.role
        if role == "label":
            labels += 1
            role = "label" if labels == 1 else "left out"
        if role == "id":
            role = "id" if one.variety == 1.0 else "left out"
        found[one.name] = Doubt(role, hint.why)
    return found


def _by_answers(candidates: Sequence[Profile], known: set[str]) -> dict[str, Doubt]:
    """Columns whose values hardly ever occur in those that share theirs.

    If these share values of their own, and no label or class tells which are meant, both groups are in doubt.
    """
    group = _sharing(candidates, known)
    if len(group) + bool(known) < 2 or not _shares_much(group, known):
        return _by_variety(candidates, alone=len(group) < 2)
    outside = [one for one in candidates if one not in group and one.answers >= FEW]
    found = {one.name: Doubt("shown" if len(one.counts) > 1 else "left out", _rare(one, group)) for one in outside}
    rivals = _sharing([one for one in outside if _may_be_classes(one)], set())
    told = any(one.share_in(known) > HARDLY for one in group)
    if not told and len(rivals) > 1 and _shares_much(rivals, set()):
        listed = listed_models([one.name for one in rivals])
        why = f"It shares hardly any value with {listed}, which may be the models instead."
        found |= {one.name: Doubt("model", why) for one in group}
    return found


def _may_be_classes(one: Profile) -> bool:
    """Whether a column may answer a question: it is not always the same, nor a text that hardly ever repeats."""
    return len(one.counts) > 1 and (one.variety <= VARIED or one.answers < MANY)


def _sharing(candidates: Sequence[Profile], known: set[str]) -> list[Profile]:
    """The columns that share answers with the labels, or with the most common column, or with another that does."""
    said = Counter(value for one in candidates for value in one.counts)
    group: list[Profile] = []
    values = set(known)
    if not any(one.share_in(values) > HARDLY for one in candidates):
        central = max(candidates, key=lambda one: _mean(one, said), default=None)
        group = [] if central is None else [central]
        values = set(central.counts if central is not None else ())
    waiting = [one for one in candidates if one not in group]
    while joining := [one for one in waiting if one.share_in(values) > HARDLY]:
        group += joining
        values.update(*(one.counts for one in joining))
        waiting = [one for one in waiting if one not in joining]
    return group


def _mean(one: Profile, said: Counter[str]) -> float:
    """In how many columns the values of a column occur, on average."""
    return sum(said[value] * count for value, count in one.counts.items()) / max(1, one.answers)


def _shares_much(group: Sequence[Profile], known: set[str]) -> bool:
    """Whether a typical column of a group has most of its answers in common with another, or with the labels."""
    said = Counter(value for one in group for value in one.counts)
    common = known | {value for value, columns in said.items() if columns > 1}
    return bool(group) and median(one.share_in(common) for one in group) >= SHARED


def _rare(one: Profile, group: Sequence[Profile]) -> str:
    """Why a column does not belong to a group."""
    taken = f"the columns taken as models: {listed_models([other.name for other in group])}."
    if len(one.counts) == 1:
        return f"It is always {quoted(next(iter(one.counts)))}, which does not occur in {taken}"
    shared = round(one.share_in(set().union(*(other.counts for other in group))) * one.answers)
    if not shared:
        return f"None of its values occurs in {taken}"
    return f"Only {shared:,} of its {one.answers:,} values occur in {taken}"


def _by_variety(candidates: Sequence[Profile], alone: bool) -> dict[str, Doubt]:
    """Where answers are hardly ever the same: texts among classes, and classes among texts.

    Columns that all hold classes, and `alone` each its own, are all in doubt: they answer different questions.
    """
    found: dict[str, Doubt] = {}
    for one in candidates:
        others = [other.variety for other in candidates if other is not one]
        if not others:
            continue
        if one.variety > VARIED and one.answers >= SOME and median(others) <= REPEATED:
            found[one.name] = Doubt("shown", "It has another value in nearly every row, and other columns do not.")
        elif len(others) > 1 and one.variety <= REPEATED and one.answers >= MANY and median(others) > VARIED:
            found[one.name] = Doubt("left out", "It repeats a few values, and other columns hardly repeat any.")
    clear = [one for one in candidates if one.name not in found]
    if alone and len(clear) > 1 and all(one.variety <= VARIED and one.answers >= MANY for one in clear):
        why = "Hardly any of its values occurs in the other columns."
        found |= {one.name: Doubt("model", why) for one in clear}
    return found
