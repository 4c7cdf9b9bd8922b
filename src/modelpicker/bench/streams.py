"""Synthetic streams for measurements; their errors are shared, as real ones are."""

import numpy as np

from modelpicker.encoding import Array


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
