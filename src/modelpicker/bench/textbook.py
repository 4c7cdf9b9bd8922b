"""The six algorithms as a reader of the paper would write them down in NumPy.

They loop over all classes, as the paper's text does, and are written to be read beside it, not to be fast.
They are the yardstick of `modelpicker bench`, and an independent second opinion for the tests: they take the
coins of `modelpicker.coins`, so a kernel must decide every round as they do.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Textbook: TypeAlias = Callable[..., "Written"]


class Written(NamedTuple):
    """What a textbook run decided."""

    queried: Array
    probability: Array
    losses: Array


def model_picker(
    predictions: Array, labels: Array, coins: Array, classes: int, *, query_scale: float = 1.0
) -> Written:
    """Algorithm 1, with eq. 1 for the query probability."""
    rounds, models = predictions.shape
    losses = np.zeros(models)
    probability = np.zeros(rounds)
    for t in range(1, rounds + 1):
        row = predictions[t - 1]
        eta = np.sqrt(np.log(models) / (2 * t))
        weights = np.exp(-eta * (losses - losses.min()))
        weights /= weights.sum()
        variance = 0.0
        for c in range(classes):
            wrong = (row != c).astype(float)
            expected = weights @ wrong
            variance = max(variance, expected * (1 - expected))
        speaker = np.searchsorted(np.cumsum(weights), coins[t - 1, 1])
        _prediction = row[min(speaker, models - 1)]
        _recommended = np.argmax(weights)
        if np.any(row != row[0]):
            probability[t - 1] = min(1.0, max(query_scale * variance, eta))
        if coins[t - 1, 0] < probability[t - 1]:
            losses += (row != labels[t - 1]) / probability[t - 1]
    return Written(coins[:, 0] < probability, probability, losses)


def label_efficient(
    predictions: Array, labels: Array, coins: Array, classes: int, *, probability: float
) -> Written:
    """A fixed probability on every disagreement."""
    rounds, models = predictions.shape
    losses = np.zeros(models)
    chance = np.zeros(rounds)
    for t in range(1, rounds + 1):
        row = predictions[t - 1]
        _prediction = row[np.argmin(losses)]
        if np.any(row != row[0]):
            chance[t - 1] = probability
        if coins[t - 1, 0] < chance[t - 1]:
            losses += row != labels[t - 1]
    return Written(coins[:, 0] < chance, chance, losses)


def vote_entropy(
    predictions: Array, labels: Array, coins: Array, classes: int, *, query_scale: float = 1.0
) -> Written:
    """The entropy of the votes, class by class."""
    rounds, models = predictions.shape
    losses = np.zeros(models)
    probability = np.zeros(rounds)
    for t in range(1, rounds + 1):
        row = predictions[t - 1]
        _prediction = row[np.argmin(losses)]
        if np.any(row != row[0]):
            entropy = 0.0
            for c in range(classes):
                share = np.mean(row == c)
                if share > 0:
                    entropy -= share * np.log2(share)
            probability[t - 1] = min(1.0, query_scale * entropy / np.log2(classes))
        if coins[t - 1, 0] < probability[t - 1]:
            losses += row != labels[t - 1]
    return Written(coins[:, 0] < probability, probability, losses)


def structural_committee(
    predictions: Array,
    labels: Array,
    coins: Array,
    classes: int,
    *,
    beta: float,
    disagreement_scale: float = 1.0,
) -> Written:
    """Two models from the posterior, and the share of rounds on which they have differed."""
    rounds, models = predictions.shape
    losses = np.zeros(models)
    posterior = np.ones(models) / models
    probability = np.zeros(rounds)
    for t in range(1, rounds + 1):
        row = predictions[t - 1]
        _prediction = row[np.argmin(losses)]
        if np.any(row != row[0]):
            cumulated = np.cumsum(posterior)
            i, j = np.minimum(np.searchsorted(cumulated, coins[t - 1, 1:3]), models - 1)
            differed = np.mean(predictions[:t, i] != predictions[:t, j])
            probability[t - 1] = min(1.0, disagreement_scale * differed)
        if coins[t - 1, 0] < probability[t - 1]:
            wrong = row != labels[t - 1]
            losses += wrong
            posterior = posterior * np.exp(-beta * wrong)
            posterior /= posterior.sum()
    return Written(coins[:, 0] < probability, probability, losses)


def importance_weighted(
    predictions: Array,
    labels: Array,
    coins: Array,
    classes: int,
    *,
    query_scale: float = 1.0,
    delta: float = 0.01,
) -> Written:
    """Survivors of a deviation bound; the largest difference of their hypothetical losses."""
    rounds, models = predictions.shape
    losses = np.zeros(models)
    alive = np.ones(models, dtype=bool)
    probability = np.zeros(rounds)
    for t in range(1, rounds + 1):
        row = predictions[t - 1]
        _prediction = row[np.argmin(np.where(alive, losses, np.inf))]
        if np.any(row != row[0]):
            bound = 0.0
            if t > 1:
                bound = np.sqrt(8 / t * np.log(2 * t * (t + 1) * alive.sum() ** 2 / delta))
            alive &= losses / t <= (losses / t)[alive].min() + bound
            difference = 0
            for c in range(classes):
                wrong = (row[alive] != c).astype(int)
                difference = max(difference, wrong.max() - wrong.min())
            probability[t - 1] = min(1.0, query_scale * difference)
        if coins[t - 1, 0] < probability[t - 1]:
            losses += (row != labels[t - 1]) / probability[t - 1]
    return Written(coins[:, 0] < probability, probability, losses)


def efficient_active(
    predictions: Array, labels: Array, coins: Array, classes: int, *, c0: float, threshold_scale: float = 1.0
) -> Written:
    """The gap between the two smallest distinct errors, against a threshold that falls with the rounds."""
    rounds, models = predictions.shape
    losses = np.zeros(models)
    probability = np.zeros(rounds)
    for t in range(1, rounds + 1):
        row = predictions[t - 1]
        _prediction = row[np.argmin(losses)]
        if np.any(row != row[0]):
            errors = np.unique(losses / t)
            gap = errors[1] - errors[0] if len(errors) > 1 else 0.0
            allowance = c0 * np.log(t) / (t - 1) if t > 1 else 0.0
            if t == 1 or gap <= threshold_scale * (np.sqrt(allowance) + allowance):
                probability[t - 1] = 1.0
            else:
                probability[t - 1] = min(1.0, allowance * (2 * gap + 1) / (2 * gap**2))
        if coins[t - 1, 0] < probability[t - 1]:
            losses += (row != labels[t - 1]) / probability[t - 1]
    return Written(coins[:, 0] < probability, probability, losses)
