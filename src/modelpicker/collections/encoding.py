"""Predictions and labels as codes: places in the list of classes, -1 for an abstention."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.stream_input import as_array, as_integers, refuse
from modelpicker.encoding import ClassName, check_one_kind, plain
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED

__all__ = ["ABSTAINED"]

Array: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.signedinteger[Any]]

# Whole numbers up to here are taken for classes that are counted, gaps and all; beyond, for names.
MOST_COUNTED = 2**16
# Items of probabilities that are looked at together.
BLOCK = 4096


class Encoded(NamedTuple):
    """Codes of predictions and labels, and what they stand for."""

    predictions: Array
    labels: Array | None
    classes: tuple[ClassName, ...]


class Likeliest(NamedTuple):
    """The places of the largest probabilities."""

    codes: Array
    classes: int
    notes: tuple[str, ...]


def smallest_type(classes: int) -> np.dtype[Any]:
    """The smallest signed integer type that holds the codes of so many classes."""
    return np.dtype(np.min_scalar_type(-max(classes, 1)))


def frozen(values: Array, dtype: np.dtype[Any]) -> Codes:
    """The values as a contiguous array that nobody can write to: a view of a locked copy, which stays locked.

    What is locked already is taken as it is; only of_codes, which trusts its callers, is given such arrays.
    """
    locked = values.dtype == dtype and values.flags.c_contiguous and not values.flags.writeable
    done: Codes = values if locked else np.array(values, dtype=dtype, order="C")
    done.flags.writeable = False
    return done.view()


def as_matrix(predictions: object) -> Array:
    """Predictions as an array of items by models."""
    matrix = as_array(predictions, "predictions")
    if matrix.ndim == 3:
        raise InputError(
            f"predictions have shape {matrix.shape}; "
            "for class probabilities use ModelCollection.from_probabilities(...)."
        )
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InputError(
            f"predictions have shape {matrix.shape}; pass a matrix with a row per item and a column per model."
        )
    if len(matrix) == 0:
        raise InputError("there are no items; a collection needs at least one.")
    return matrix


def as_column(labels: object, items: int) -> Array:
    """Labels as an array of one an item; (n, 1) will do."""
    column = as_array(labels, "labels")
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise InputError(f"labels have shape {column.shape}; pass one label per item.")
    if len(column) != items:
        raise InputError(
            f"there are {items} items but {len(column)} labels; pass one per item, -1 where it is not known."
        )
    return column


def encode(matrix: Array, column: Array | None, classes: Sequence[ClassName] | None) -> Encoded:
    """Codes for predictions and labels: names are looked up, whole numbers are codes already."""
    known = None if classes is None else check_classes(classes)
    if matrix.dtype.kind in "buif":
        return _encode_numbers(matrix, column, known)
    names = [_names(row, f"predictions, row {place}") for place, row in enumerate(matrix.tolist())]
    said = {name for row in names for name in row if name is not None}
    if not any(isinstance(name, str) for name in said):
        numbers = np.array([[ABSTAINED if name is None else name for name in row] for row in names], dtype=np.int64)
        return _encode_numbers(numbers, column, known)
    labels = None if column is None else _names(column.tolist(), "labels")
    said |= {name for name in labels or [] if name is not None}
    check_one_kind(sorted(said, key=str), "predictions and labels")
    known = known or tuple(sorted(map(str, said)))
    place_of = {name: place for place, name in enumerate(known)}
    rows = [_places(row, place_of, f"predictions, row {place}") for place, row in enumerate(names)]
    codes = np.array(rows, dtype=np.int64).reshape(matrix.shape)
    return Encoded(codes, None if labels is None else _array(_places(labels, place_of, "labels")), known)


def _encode_numbers(matrix: Array, column: Array | None, known: tuple[ClassName, ...] | None) -> Encoded:
    """Whole numbers, which are codes; but numbers too large to be counted are names."""
    codes = as_integers(matrix, "predictions", 0)
    refuse(codes < ABSTAINED, codes, "predictions", 0)
    labels = None if column is None else _label_codes(column, known)
    largest = max(int(values.max(initial=0)) for values in (codes, labels) if values is not None)
    if known is None and largest < MOST_COUNTED:
        known = tuple(range(largest + 1))
    elif known is None:
        return _count_anew(codes, labels)
    elif largest >= len(known):
        where = "predictions" if int(codes.max()) >= len(known) else "labels"
        raise InputError(f"{where}: {largest} is not a place in the {len(known)} classes, which count from 0.")
    return Encoded(codes, labels, known)


def _label_codes(column: Array, known: tuple[ClassName, ...] | None) -> Array:
    """Labels beside predictions that are codes: codes too, or names of the classes that were given."""
    if column.dtype.kind in "buif":
        labels = as_integers(column, "labels", 0)
        refuse(labels < ABSTAINED, labels, "labels", 0)
        return labels
    names = _names(column.tolist(), "labels")
    words = [name for name in names if isinstance(name, str)]
    if not words:
        return _array([ABSTAINED if name is None else int(name) for name in names])
    if known is None:
        raise InputError(
            f"labels: {brief(words[0])} is a string, but predictions are whole numbers; pass classes too."
        )
    return _array(_places(names, {name: place for place, name in enumerate(known)}, "labels"))


def _count_anew(codes: Array, labels: Array | None) -> Encoded:
    """Codes for whole numbers that are names."""
    said = np.unique(codes if labels is None else np.concatenate([codes.ravel(), labels]))
    said = said[said != ABSTAINED]

    def place(values: Array) -> Array:
        return np.where(values == ABSTAINED, ABSTAINED, np.searchsorted(said, values))

    return Encoded(place(codes), None if labels is None else place(labels), tuple(said.tolist()))


def encode_labels(column: Array, classes: tuple[ClassName, ...]) -> Encoded:
    """Labels by name, among classes that may grow by what only labels say."""
    labels = _names(column.tolist(), "labels")
    said = {name for name in labels if name is not None}
    check_one_kind([*classes[:1], *sorted(said, key=str)], "classes and labels")
    known = (*classes, *sorted(said - set(classes), key=str))
    place_of = {name: place for place, name in enumerate(known)}
    return Encoded(np.empty((0, 0)), _array(_places(labels, place_of, "labels")), known)


def check_classes(classes: Sequence[ClassName]) -> tuple[ClassName, ...]:
    """The names of the classes: strings or whole numbers, all different."""
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise InputError(f"classes {brief(classes)}: pass a list of names.", parameter="classes")
    known = [plain(name, "classes") for name in classes]
    names = tuple(name for name in known if name is not None)
    if not names or len(names) < len(known) or len(set(names)) < len(names):
        raise InputError(f"classes {brief(list(classes))}: pass at least one name, none twice, and no -1.")
    check_one_kind(names, "classes")
    return names


def _names(values: list[Any], where: str) -> list[ClassName | None]:
    return [value if type(value) is str else plain(value, where) for value in values]


def _places(names: list[ClassName | None], place_of: dict[ClassName, int], where: str) -> list[int]:
    try:
        return [ABSTAINED if name is None else place_of[name] for name in names]
    except KeyError as error:
        raise InputError(
            f"{where}: {brief(error.args[0])} is not one of the {len(place_of)} classes; "
            "pass it too, or leave classes out to accept whatever the models predict."
        ) from error


def _array(places: list[int]) -> Array:
    return np.array(places, dtype=np.int64)


def most_likely(probabilities: object) -> Likeliest:
    """The most likely class of each item and model, and what had to be decided about it."""
    array = np.asarray(probabilities)
    if array.ndim != 3 or 0 in array.shape or array.dtype.kind not in "buif":
        raise InputError(
            f"probabilities have shape {array.shape} and type {array.dtype}; "
            "pass numbers: items by models by classes."
        )
    codes = np.empty(array.shape[:2], dtype=smallest_type(array.shape[2]))
    missing = ties = 0
    for start in range(0, len(array), BLOCK):
        block = array[start : start + BLOCK]
        unknown = np.isnan(block).any(axis=2) if block.dtype.kind == "f" else np.zeros(block.shape[:2], bool)
        best = block.argmax(axis=2)
        largest = np.take_along_axis(block, best[..., None], axis=2)
        tied = ((block == largest).sum(axis=2) > 1) & ~unknown
        codes[start : start + BLOCK] = np.where(unknown, ABSTAINED, best)
        missing += int(unknown.sum())
        ties += int(tied.sum())
    notes = []
    if ties:
        notes.append(
            f"{ties:,} predictions are ties between probabilities; the first of the tied classes was taken."
        )
    if missing:
        notes.append(f"{missing:,} predictions have a missing probability (NaN) and are taken as abstentions.")
    return Likeliest(codes, array.shape[2], tuple(notes))
