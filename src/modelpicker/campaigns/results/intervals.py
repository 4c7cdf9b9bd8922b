"""How far the estimates of two models may be off: rough intervals for the gaps on a leader board.

The only chance in an estimate is that of the coins. Over the labelled rounds on which just one of two models is
right, (1 - q) / q² estimates the variance of the difference of their estimates, where q is the probability with
which the round was queried; if their losses differ by less than 1, it counts times the square of that. Two things
would make that too sure of itself, and are added: labels that might have been bought but were not, as if two more
had come; and queries that nobody has answered, each of which would move the difference by 1 / q if the two models
differ on it as often as they do on the others.

That is so of estimates to which all rounds count alike; where an algorithm forgets, there are no intervals.

The intervals are for the eye: each holds about as often as it says, at a moment chosen beforehand. Who looks again
and again, and stops when it looks good, needs a certificate.
"""

import math
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer
from modelpicker.campaigns.events.round_states import SKIPPED, RoundState
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.state.projection import Projection
from modelpicker.encoding import ModelName
from modelpicker.kernels.primitives import Floats

# 95 % of a normal distribution.
WIDE = 1.96
UNSEEN = 2.0
# For more models than this, a number for every pair would take too much memory.
MOST_MODELS = 1_000
# Unanswered queries whose probabilities are looked up to guess those of all.
SOME = 100
AT_ONCE = 1_000


class Interval(NamedTuple):
    """Between what a gap lies, by and large."""

    low: float
    high: float


class Spread:
    """The variance of the difference of every two models' estimates, kept up as labels come."""

    def __init__(self) -> None:
        self.event = 0
        self.models: tuple[ModelName, ...] = ()
        self._unit = 1.0  # what a loss of 1 is in the gaps
        self._clear()

    def _clear(self) -> None:
        total = len(self.models)
        self.labels = 0
        self._mean = 0.0
        self._variance: Floats = np.zeros((total, total))
        self._differ: Floats = np.zeros((total, total))

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self._variance.nbytes + self._differ.nbytes

    def is_of_another_past(self, head: Head, projection: Projection) -> bool:
        """Whether all labels have to be taken in again."""
        known = projection.picker.models == self.models and head.rebuilt <= self.event <= head.events
        return _has_intervals(projection) and not known

    def follow(self, store: EventStore, projection: Projection) -> None:
        """Take in the labels that came since; all of them again if the past has changed."""
        if not _has_intervals(projection):
            self.models = ()
            return
        head = store.head()
        if self.is_of_another_past(head, projection):
            self.models, self._unit = projection.picker.models, projection.picker.loss.unit
            self._clear()
            head, states = store.labelled()
            self._add(store, projection, states)
        elif head.events > self.event:
            new = (stored.event for stored in store.others((Answer.kind,), after=self.event))
            told = (
                RoundState(event.round, 0, event.label, None, None) for event in new if isinstance(event, Answer)
            )
            self._add(store, projection, told)
        self.event = head.events

    def _add(self, store: EventStore, projection: Projection, states: Iterable[RoundState]) -> None:
        """Labels in batches: a product of matrices each."""
        lost: list[Floats] = []
        costs: list[float] = []
        for state in states:
            if state.label is None:
                continue
            rounds = store.rounds_with(state.round)
            row = state.round - rounds.first
            lost.append(_with_guess(projection.losses_of(store, state.round, state.label)))
            chance = float(rounds.probability[row])
            costs.append((1.0 - chance) / chance**2)
            if len(costs) == AT_ONCE:
                self._take(np.array(lost), np.array(costs))
                lost, costs = [], []
        if costs:
            self._take(np.array(lost), np.array(costs))

    def _take(self, lost: Floats, costs: Floats) -> None:
        self._variance += _differing(lost, costs)
        self._differ += _differing(lost, np.ones(len(costs)))
        self._mean += (float(costs.mean()) - self._mean) * len(costs) / (self.labels + len(costs))
        self.labels += len(costs)

    def intervals(self, pick: Pick, store: EventStore) -> dict[ModelName, Interval]:
        """An interval for each model's gap to the pick; none where nothing can be said."""
        if not (pick.weighted and self.labels and pick.model in self.models):
            return {}
        missing = pick.pending + pick.skipped
        weight = _mean_weight(store) if missing else 0.0
        best = self.models.index(pick.model)
        made = {}
        for entry in pick.standing[1:]:
            other = self.models.index(entry.model)
            share = (self._differ[best, other] + 1.0) / (self.labels + 2.0)
            variance = self._variance[best, other] + UNSEEN * self._mean + missing * weight * share
            # A model that joined late is compared over the rounds since, and so is every other model with it.
            half = WIDE * math.sqrt(variance) / max(1.0, min(entry.covered, pick.standing[0].covered))
            half *= self._unit
            gap = entry.gap or 0.0
            made[entry.model] = Interval(max(-1.0, gap - half), min(1.0, gap + half))
        return made


def _has_intervals(projection: Projection) -> bool:
    return len(projection.picker.models) <= MOST_MODELS and projection.picker.keep >= 1.0


def _with_guess(lost: Floats) -> Floats:
    """The losses by a label, with the mean of those that are known for the others, as the estimates have it."""
    unknown = np.isnan(lost)
    return np.where(unknown, 0.0 if unknown.all() else np.nanmean(lost), lost) if unknown.any() else lost


def _differing(lost: Floats, weights: Floats) -> Floats:
    """For every two models, the weights of the rounds, each times the square of how much their losses differ."""
    both = (lost * weights[:, None]).T @ lost
    alone = np.diag(both)
    return np.asarray(alone[:, None] + alone[None, :] - 2.0 * both)


def _mean_weight(store: EventStore) -> float:
    """The mean of 1 / q² over queries that wait, guessed from some of them; over skipped ones if none waits."""
    found = []
    for state in store.waiting(SOME) or islice(store.answered(SKIPPED), SOME):
        rounds = store.rounds_with(state.round)
        found.append(float(rounds.probability[state.round - rounds.first]) ** -2)
    return sum(found) / len(found) if found else 0.0
