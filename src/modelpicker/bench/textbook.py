"""The six algorithms as a reader of the paper would write them down in NumPy.

They loop over all classes and sum over all rounds before, as the paper's text does, and are written to be
read beside it, not to be fast. They are the yardstick of `modelpicker bench`, and an independent second
opinion for the tests: they take the coins of `modelpicker.coins`, so a kernel must decide as they do.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from modelpicker.encoding import Array

Textbook: TypeAlias = Callable[..., "Written"]


class Written(NamedTuple):
    """What a textbook run decided, an entry per round."""

    queried: Array
    probability: Array
    recommended: Array
    predicted: Array

    @classmethod
    def blank(cls, rounds: int) -> "Written":
        """Nothing decided yet."""
        return cls(np.zeros(rounds, bool), np.zeros(rounds), np.zeros(rounds, int), np.zeros(rounds, int))


def disagree(row: Array) -> bool:
    """Whether at least two models differ."""
    return bool(np.any(row != row[0]))


def smallest(losses: Array, coin: float) -> int:
    """The arg min, ties at random."""
    tied = np.flatnonzero(losses == losses.min())
    return int(tied[int(coin * len(tied))])


def draw(weights: Array, coin: float) -> int:
    """A model drawn from a distribution."""
    return min(int(np.searchsorted(np.cumsum(weights), coin)), len(weights) - 1)


def model_picker(
    predictions: Array, labels: Array, coins: Array, classes: int, *, query_scale: float = 1.0
) -> Written:
    """Algorithm 1, with eq. 1 for the query probability."""
    rounds, models = predictions.shape
    written = Written.blank(rounds)
    losses = np.zeros(models)
    spare = coins[0, 3]
    for t in range(1, rounds + 1):
        row, coin = predictions[t - 1], coins[t - 1]
        eta = np.sqrt(np.log(models) / (2 * t))
        weights = np.exp(-eta * (losses - losses.min()))
        weights /= weights.sum()
        variance = 0.0
        for c in range(classes):
            wrong = (row != c).astype(float)
            expected = weights @ wrong
            variance = max(variance, expected * (1 - expected))
        written.recommended[t - 1] = smallest(losses, coin[3] if losses.any() else spare)
        written.predicted[t - 1] = row[draw(weights, coin[1])]
        if disagree(row):
            written.probability[t - 1] = min(1.0, max(query_scale * variance, eta))
        if coin[0] < written.probability[t - 1]:
            written.queried[t - 1] = True
            losses += (row != labels[t - 1]) / written.probability[t - 1]
    return written


def label_efficient(
    predictions: Array, labels: Array, coins: Array, classes: int, *, probability: float
) -> Written:
    """A fixed probability on every disagreement."""
    rounds, models = predictions.shape
    written = Written.blank(rounds)
    losses = np.zeros(models)
    spare = coins[0, 3]
    for t in range(1, rounds + 1):
        row, coin = predictions[t - 1], coins[t - 1]
        written.recommended[t - 1] = smallest(losses, coin[3] if losses.any() else spare)
        written.predicted[t - 1] = row[written.recommended[t - 1]]
        if disagree(row):
            written.probability[t - 1] = probability
        if coin[0] < written.probability[t - 1]:
            written.queried[t - 1] = True
            losses += row != labels[t - 1]
    return written


def vote_entropy(
    predictions: Array, labels: Array, coins: Array, classes: int, *, query_scale: float = 1.0
) -> Written:
    """The entropy of the votes, class by class."""
    rounds, models = predictions.shape
    written = Written.blank(rounds)
    losses = np.zeros(models)
    spare = coins[0, 3]
    for t in range(1, rounds + 1):
        row, coin = predictions[t - 1], coins[t - 1]
        written.recommended[t - 1] = smallest(losses, coin[3] if losses.any() else spare)
        written.predicted[t - 1] = row[written.recommended[t - 1]]
        entropy = 0.0
        for c in range(classes):
            share = np.sum(row == c) / models
            if share > 0:
                entropy -= share * np.log2(share)
        if disagree(row):
            written.probability[t - 1] = min(1.0, query_scale * entropy / np.log2(classes))
        if coin[0] < written.probability[t - 1]:
            written.queried[t - 1] = True
            losses += row != labels[t - 1]
    return written


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
    written = Written.blank(rounds)
    losses = np.zeros(models)
    posterior = np.ones(models) / models
    spare = coins[0, 3]
    for t in range(1, rounds + 1):
        row, coin = predictions[t - 1], coins[t - 1]
        written.recommended[t - 1] = smallest(losses, coin[3] if losses.any() else spare)
        written.predicted[t - 1] = row[written.recommended[t - 1]]
        i, j = draw(posterior, coin[1]), draw(posterior, coin[2])
        differed = np.mean(predictions[:t, i] != predictions[:t, j])
        if disagree(row):
            written.probability[t - 1] = min(1.0, disagreement_scale * differed)
        if coin[0] < written.probability[t - 1]:
            written.queried[t - 1] = True
            wrong = row != labels[t - 1]
            losses += wrong
            posterior = posterior * np.exp(-beta * wrong)
            posterior /= posterior.sum()
    return written


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
    written = Written.blank(rounds)
    weighted = np.zeros((rounds, models))  # z_s ℓ_s / q_s
    alive = np.ones(models, dtype=bool)
    spare = coins[0, 3]
    for t in range(1, rounds + 1):
        row, coin = predictions[t - 1], coins[t - 1]
        error = weighted[: t - 1].sum(axis=0) / t
        survived = np.where(alive, error, np.inf)
        if disagree(row):
            bound = 0.0
            if t > 1:
                bound = np.sqrt(8 / t * np.log(2 * t * (t + 1) * alive.sum() ** 2 / delta))
            alive &= error <= survived.min() + bound
            difference = 0
            for c in range(classes):
                wrong = (row[alive] != c).astype(int)
                difference = max(difference, wrong.max() - wrong.min())
            written.probability[t - 1] = min(1.0, query_scale * difference)
        written.recommended[t - 1] = smallest(survived, coin[3] if error.any() else spare)
        written.predicted[t - 1] = row[written.recommended[t - 1]]
        if coin[0] < written.probability[t - 1]:
            written.queried[t - 1] = True
            weighted[t - 1] = (row != labels[t - 1]) / written.probability[t - 1]
    return written


def efficient_active(
    predictions: Array, labels: Array, coins: Array, classes: int, *, c0: float, threshold_scale: float = 1.0
) -> Written:
    """The gap between the two smallest distinct errors, against a threshold that falls with the rounds."""
    rounds, models = predictions.shape
    written = Written.blank(rounds)
    weighted = np.zeros((rounds, models))  # z_s ℓ_s / q_s
    spare = coins[0, 3]
    for t in range(1, rounds + 1):
        row, coin = predictions[t - 1], coins[t - 1]
        error = weighted[: t - 1].sum(axis=0) / t
        written.recommended[t - 1] = smallest(error, coin[3] if error.any() else spare)
        written.predicted[t - 1] = row[written.recommended[t - 1]]
        if disagree(row):
            distinct = np.unique(error)
            gap = distinct[1] - distinct[0] if len(distinct) > 1 else 0.0
            allowance = c0 * np.log(t) / (t - 1) if t > 1 else 0.0
            if t == 1 or gap <= threshold_scale * (np.sqrt(allowance) + allowance):
                written.probability[t - 1] = 1.0
            else:
                written.probability[t - 1] = min(1.0, allowance * (2 * gap + 1) / (2 * gap**2))
        if coin[0] < written.probability[t - 1]:
            written.queried[t - 1] = True
            weighted[t - 1] = (row != labels[t - 1]) / written.probability[t - 1]
    return written
