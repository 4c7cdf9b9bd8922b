"""How hard it is to find the best model: the paper's Δ, θ and λ of a collection, and (t₀, Δ) of a single stream.

Predictions and labels are class codes. Code -1 in a prediction is an abstention, which is always wrong; every item
must have a label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.encoding import Array
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats, Ints
from modelpicker.theory.validation import TIED, check_whole

ABSTAINED = -1
# Items that are compared at a time, so that memory does not grow with the collection.
BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class Hardness:
    """The paper's measures (section "Guarantees for Stochastic Streams"), with the collection as the population."""

    items: int
    models: int
    classes: int
    """How many there are in predictions and labels; abstaining is one more."""
    best: int
    """The most accurate model i*; the first, if several are."""
    tied: tuple[int, ...]
    """Others that are as accurate; then Δ and λ are 0, and the theorems that need one best model say nothing."""
    gaps: Floats
    """Δ_j of every model: how much less accurate than the best it is."""
    differences: Floats
    """θ_j of every model: how often just one of it and the best is right."""
    gap: float
    """Δ, the smallest Δ_j of another model."""
    largest_gap: float
    closeness: float
    """λ, the smallest Δ_j² / θ_j of another model."""
    rival: int
    """The model at which λ is attained."""
    mistakes: int
    """L*: the best model's, on items on which models disagree."""
    disagreement: float
    """The share of items on which models disagree."""

    @property
    def rivals(self) -> tuple[Floats, Floats]:
        """Δ_j and θ_j of all models but the best, as the sharper bounds take them."""
        return np.delete(self.gaps, self.best), np.delete(self.differences, self.best)


@dataclass(frozen=True)
class Restriction:
    """A stream as a (t₀, Δ)-restricted adversary: from round t₀ on the best model leads by at least Δ a round."""

    best: int
    start: int
    """t₀, counted from 1."""
    gap: float
    """Δ: the larger t₀, the larger it is."""


def hardness_of(predictions: npt.ArrayLike, labels: npt.ArrayLike) -> Hardness:
    """Δ, θ and λ of a collection, or of a single stream in whatever order.

    >>> found = hardness_of([[0, 1, 0], [1, 1, 1], [0, 0, 1], [2, -1, 2]], [0, 1, 0, 2])
    >>> found.best, found.gap, found.closeness, found.disagreement
    (0, 0.25, 0.25, 0.75)
    >>> found.gaps, found.differences, found.classes
    (array([0.  , 0.5 , 0.25]), array([0.  , 0.5 , 0.25]), 4)
    """
    codes, truth = _checked(predictions, labels)
    correct, divided = np.zeros(codes.shape[1], dtype=np.int64), 0
    for rows, right in _blocks(codes, truth):
        correct += right.sum(axis=0)
        divided += int((rows != rows[:, :1]).any(axis=1).sum())
    best = int(correct.argmax())
    apart, mistakes = np.zeros(codes.shape[1], dtype=np.int64), 0
    for rows, right in _blocks(codes, truth):
        apart += (right != right[:, [best]]).sum(axis=0)
        mistakes += int((~right[:, best] & (rows != rows[:, :1]).any(axis=1)).sum())
    return _hardness(codes, truth, best, correct, apart, mistakes, divided)


def _hardness(
    codes: Array, truth: Array, best: int, correct: Ints, apart: Ints, mistakes: int, divided: int
) -> Hardness:
    """The counts as shares."""
    items, models = codes.shape
    gaps, differences = (correct[best] - correct) / items, apart / items
    others = np.delete(np.arange(models), best)
    # A model that is right whenever the best is cannot be told apart from it: the hardest rival there is.
    closeness = np.divide(gaps**2, differences, out=np.zeros(models), where=apart > 0)
    rival = int(others[closeness[others].argmin()])
    return Hardness(
        items=items,
        models=models,
        classes=len(np.union1d(codes, truth)),
        best=best,
        tied=tuple(int(model) for model in others if correct[model] == correct[best]),
        gaps=gaps,
        differences=differences,
        gap=float(gaps[others].min()),
        largest_gap=float(gaps.max()),
        closeness=float(closeness[rival]),
        rival=rival,
        mistakes=mistakes,
        disagreement=divided / items,
    )


def restriction_of(predictions: npt.ArrayLike, labels: npt.ArrayLike, start: int | None = None) -> Restriction:
    """The (t₀, Δ) of a stream in the order given: for t₀ = `start` the largest Δ that holds from there to the end.

    A later start allows a larger Δ. By default it is the first from which half of the lead at the end holds.

    >>> restriction_of([[0, 1], [1, 0], [0, 1], [0, 1], [0, 1]], [0, 0, 0, 0, 0])
    Restriction(best=0, start=3, gap=0.3333333333333333)
    >>> restriction_of([[0, 1], [1, 0], [0, 1], [0, 1], [0, 1]], [0, 0, 0, 0, 0], start=5).gap
    0.6
    """
    codes, truth = _checked(predictions, labels)
    mistakes = np.cumsum(codes != truth[:, None], axis=0, dtype=np.int64)
    best = int(mistakes[-1].argmin())
    lead = (np.delete(mistakes, best, axis=1).min(axis=1) - mistakes[:, best]) / np.arange(1, len(truth) + 1)
    if lead[-1] == 0.0:
        raise InputError(f"after {len(truth):,} rounds {TIED}")
    holds = np.minimum.accumulate(lead[::-1])[::-1]
    if start is None:
        start = int(np.argmax(holds >= lead[-1] / 2.0)) + 1
    if check_whole("start", start) > len(truth):
        raise InputError(f"start {start:,} is after the last of the {len(truth):,} rounds; pass an earlier one.")
    if holds[start - 1] <= 0.0:
        earliest = int(np.argmax(holds > 0.0)) + 1
        raise InputError(
            f"start {start:,} is too early: the best model leads permanently from round {earliest:,} on."
        )
    return Restriction(best, start, float(holds[start - 1]))


def _blocks(codes: Array, truth: Array) -> Any:
    """Predictions piece by piece, and which of them are right."""
    for start in range(0, len(codes), BLOCK):
        rows = codes[start : start + BLOCK]
        yield rows, rows == truth[start : start + BLOCK, None]


def _checked(predictions: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Array, Array]:
    """Predictions and labels as codes, if they are."""
    codes, truth = _codes("predictions", predictions, 2), _codes("labels", labels, 1)
    if codes.shape[1] < 2:
        raise InputError(f"predictions of {codes.shape[1]} model; pass those of at least two.")
    if not len(codes):
        raise InputError("predictions of no item; pass at least one.")
    if len(codes) != len(truth):
        raise InputError(f"{len(truth):,} labels for {len(codes):,} items; pass one label per item.")
    if int(codes.min()) < ABSTAINED:
        raise InputError(
            f"predictions: {codes.min()} is not a class code; codes are 0 and up, -1 is an abstention."
        )
    if int(truth.min()) < 0:
        missing = int((truth < 0).sum())
        raise InputError(f"labels: {missing:,} are missing ({truth.min()}); leave the items out that have none.")
    return codes, truth


def _codes(what: str, values: npt.ArrayLike, dimensions: int) -> Array:
    """An array of integers."""
    if values is None:
        raise InputError(f"{what}: there are none; every item must have a label.")
    array = np.asarray(values)
    if array.ndim != dimensions:
        wanted = "one row per item and one column per model" if dimensions == 2 else "one per item"
        raise InputError(f"{what} of shape {array.shape}; pass {wanted}.")
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "f" and not (array == np.floor(array)).all():
        wrong = array[~(array == np.floor(array))][0]
        raise InputError(f"{what}: {wrong} is not a class code; pass integers from 0 up.")
    if array.dtype.kind not in "bf":
        raise InputError(
            f"{what}: {brief(array.flat[0] if array.size else values)} is not a class code; pass integers."
        )
    return array.astype(np.int64)
