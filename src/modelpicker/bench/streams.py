"""Synthetic streams for measurements and for the demo; their errors are shared, as real ones are."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def make_stream(rounds: int, models: int, classes: int, seed: int = 0) -> tuple[Array, Array]:
    """Predictions and labels of models of rising accuracy, on rounds that all divide them."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes, rounds)
    hardness = 0.7 * draw.random((rounds, 1)) + 0.3 * draw.random((rounds, models))
    right = hardness < np.linspace(0.5, 0.85, models)
    predictions = np.where(right, labels[:, None], draw.integers(0, classes, (rounds, models)))
    agreed = (predictions == predictions[:, :1]).all(axis=1)
    predictions[agreed, 0] = (predictions[agreed, 0] + 1) % classes
    return predictions.astype(np.min_scalar_type(-classes)), labels


def stream_of_accuracies(
    rounds: int, classes: int, accuracies: Sequence[float], seed: int = 0
) -> tuple[Array, Array]:
    """Predictions and labels of models that have just these accuracies, in random order."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes, rounds)
    hardness = 0.6 * draw.random((rounds, 1)) + 0.4 * draw.random((rounds, len(accuracies)))
    # A model is right on the items that are easiest for it; their share is its accuracy.
    rank = hardness.argsort(axis=0).argsort(axis=0) / rounds
    right = rank < draw.permutation(accuracies)
    slips = (labels[:, None] + draw.integers(1, classes, right.shape)) % classes
    return np.where(right, labels[:, None], slips), labels
