"""Matrices of predictions, checked; the most likely classes of probabilities; arrays that nobody can write to."""

from typing import Any, NamedTuple

import numpy as np

from modelpicker.encoding import Array, Matrix, as_array, smallest_type
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import ABSTAINED

# Items of probabilities that are looked at together.
BLOCK = 4096


class Likeliest(NamedTuple):
    """The places of the largest probabilities."""

    codes: Array
    classes: int
    notes: tuple[str, ...]


def frozen(values: Array, dtype: np.dtype[Any]) -> Matrix:
    """The values as a contiguous array that nobody can write to: a view of a locked copy, which stays locked.

    What is locked already is taken as it is; only of_codes, which trusts its callers, is given such arrays.
    """
    locked = values.dtype == dtype and values.flags.c_contiguous and not values.flags.writeable
    done: Matrix = values if locked else np.array(values, dtype=dtype, order="C")
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
    """Labels as an array of one per item; (n, 1) will do."""
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
