"""The last rounds, as they went by: what rows of evidence are found from when a model comes to the front.

A log is blocks of entries in the order in which they were noted. Codes are kept in the smallest type that holds
them. A saved log is the same however it was cut into blocks, and whatever numbers stood for the classes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modelpicker.certificates.evidence import ANSWERED, ASKED, CLOSED, TOLD
from modelpicker.certificates.evidence_kernels import Entries, no_entries
from modelpicker.encoding import Array
from modelpicker.kernels.primitives import GRADED, NOBODY, NOT_RUN, SKIPPED
from modelpicker.packing import packed, unpacked

# Up to that many classes are counted again one after the other; that many codes at once.
FEW_CLASSES, AT_ONCE = 32, 2**20


def narrow(codes: Array) -> Array:
    """A copy in the smallest type that holds the codes: there may be much of it."""
    return codes.astype(np.min_scalar_type(-1 - max(1, int(codes.max(initial=0)))))


def compact(entries: Entries) -> Entries:
    """The same with narrow rows, and with only the labels that were told; losses are in the order of these."""
    told = (entries.kinds == TOLD) | (entries.kinds == ANSWERED)
    labels = np.where(told, entries.labels, SKIPPED).astype(np.int32)
    graded = np.flatnonzero(labels <= GRADED)
    losses = entries.graded[GRADED - labels[graded]]
    labels[graded] = GRADED - np.arange(len(graded), dtype=np.int32)
    return Entries(
        rows=entries.rows if entries.rows.dtype == np.int8 else narrow(entries.rows),
        numbers=entries.numbers.copy(),
        labels=labels,
        probabilities=entries.probabilities.copy(),
        kinds=entries.kinds.astype(np.int32),
        graded=losses.astype(np.float32),
    )


def for_kernel(entries: Entries) -> Entries:
    """Entries with rows of the one type that kernels are compiled for."""
    return entries._replace(rows=np.ascontiguousarray(entries.rows, dtype=np.int32))


def rounds_in(entries: Entries) -> int:
    """How many rounds there are among the entries; the others are late labels."""
    return int((entries.kinds != TOLD).sum())


def cut(entries: Entries, start: int, stop: int) -> Entries:
    """Some consecutive entries."""
    columns: list[Array] = [column[start:stop] for column in entries[:-1]]
    return Entries._make([*columns, entries.graded])


def split(entries: Entries, rounds: int) -> tuple[Entries, Entries]:
    """The entries before the round after that many, and the others."""
    passed = np.cumsum(entries.kinds != TOLD)
    place = int(np.searchsorted(passed, rounds, side="right"))
    return cut(entries, 0, place), cut(entries, place, len(passed))


def joined(blocks: Sequence[Entries], models: int) -> Entries:
    """All entries in one block; a query whose label came at once is one entry."""
    if not blocks:
        return compact(no_entries(models, 0))
    parts, losses = [], 0
    for block in blocks:
        labels = np.where(block.labels <= GRADED, block.labels - losses, block.labels)
        parts.append(block._replace(labels=labels.astype(np.int32)))
        losses += len(block.graded)
    whole = Entries(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    prompt = (whole.kinds[1:] == TOLD) & (whole.kinds[:-1] == ASKED) & (whole.numbers[1:] == whole.numbers[:-1])
    told = 1 + np.flatnonzero(prompt)
    kinds = whole.kinds.copy()
    kinds[told] = ANSWERED
    left = np.delete(np.arange(len(kinds)), told - 1)
    columns: list[Array] = [column[left] for column in whole._replace(kinds=kinds)[:-1]]
    return compact(Entries._make([*columns, whole.graded]))


def counted_anew(entries: Entries) -> Entries:
    """Classes by the order in which they come in a row: whatever numbers they had."""
    rows, labels = entries.rows, entries.labels
    count = by_class if len(np.unique(rows)) <= FEW_CLASSES else by_sorting
    step = max(1, AT_ONCE // rows.shape[1])
    parts = [count(rows[at : at + step], labels[at : at + step]) for at in range(0, len(rows), step)]
    anew, said = (np.concatenate(column) for column in zip(*parts, strict=True))
    anew[rows == NOT_RUN] = NOT_RUN
    return entries._replace(rows=narrow(anew), labels=np.where(labels >= 0, said, labels).astype(np.int32))


def by_class(rows: Array, labels: Array) -> tuple[Array, Array]:
    """Rows and labels with other numbers, class after class."""
    classes = np.unique(rows)
    classes = classes[classes != NOT_RUN]
    anew, said = np.zeros(rows.shape, dtype=np.int16), np.full(len(rows), NOBODY)
    first = np.empty((len(classes), len(rows)), dtype=np.int64)
    for place, code in enumerate(classes.tolist()):
        first[place] = (rows == code).argmax(axis=1)
        first[place, rows[np.arange(len(rows)), first[place]] != code] = rows.shape[1]
    numbers = first.argsort(axis=0, kind="stable").argsort(axis=0)
    for place, code in enumerate(classes.tolist()):
        anew += (rows == code) * numbers[place, :, None].astype(np.int16)
        there = (labels == code) & (first[place] < rows.shape[1])
        said[there] = numbers[place, there]
    return anew, said


def by_sorting(rows: Array, labels: Array) -> tuple[Array, Array]:
    """The same, for many classes."""
    places = np.arange(rows.shape[1])
    absent = rows == NOT_RUN
    known = np.where(absent, np.iinfo(np.int32).max, rows.astype(np.int32))
    order = known.argsort(axis=1, kind="stable")
    ordered = np.take_along_axis(known, order, 1)
    begins = np.ones(rows.shape, dtype=bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    begun = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    first = np.empty(rows.shape, dtype=np.int64)
    np.put_along_axis(first, order, np.take_along_axis(order, begun, 1), 1)
    numbers = ((first == places) & ~absent).cumsum(axis=1) - 1
    anew = np.take_along_axis(numbers, first, 1)
    hit = rows == labels[:, None]
    at = hit.argmax(axis=1)
    lines = np.arange(len(rows))
    return anew, np.where(hit[lines, at], anew[lines, at], NOBODY)


def document(blocks: Sequence[Entries], models: int) -> dict[str, Any]:
    """A log in a form that JSON can hold."""
    whole = joined(blocks, models)
    if len(whole.kinds):
        whole = counted_anew(whole)
    return {name: packed(column) for name, column in whole._asdict().items()}


TYPES = {
    "numbers": np.int64,
    "labels": np.int32,
    "probabilities": np.float64,
    "kinds": np.int32,
    "graded": np.float32,
}


def load(saved: Mapping[str, Any], models: int) -> Entries:
    """What `document` described; a ValueError if kernels could go astray with it."""
    rows = saved["rows"]
    kind = rows["type"] if isinstance(rows, Mapping) else "<i4"
    if np.dtype(kind).kind != "i":
        raise ValueError(f"it has codes of type {kind}")
    columns = {name: unpacked(saved[name], dtype) for name, dtype in TYPES.items()}
    entries = Entries(rows=unpacked(rows, np.dtype(kind)).reshape(-1, models), **columns)
    entries = entries._replace(graded=entries.graded.reshape(-1, models))
    count = len(entries.kinds)
    if any(len(column) != count for column in entries[:-1]):
        raise ValueError("its columns differ in length")
    chances = entries.probabilities
    possible = (
        entries.rows.min(initial=0) >= NOT_RUN
        and entries.labels.min(initial=0) > GRADED - len(entries.graded)
        and (count == 0 or (entries.kinds.min() >= 0 and entries.kinds.max() <= CLOSED))
        and ((chances >= 0.0) & (chances <= 1.0)).all()
        and (chances[(entries.kinds == TOLD) | (entries.kinds == ANSWERED)] > 0.0).all()
        and np.isfinite(entries.numbers).all()
    )
    if not possible:
        raise ValueError("it has entries that cannot be")
    return entries
