"""What is proved about a pool: of exactly these items, whenever you look (proof: docs/pools.md).

The items are fixed; the only chance is which of them are drawn. For a model X that is put to the proof, and every
other model i, count how many more items X has right. X is *bad* if some model has more than `allowed` items more right
than X. Labels that are known simply count. The rest is bet upon: an item is drawn at random from those on which X
differs from a model that is still in play. Suppose that i is better than X by more than is allowed. Then the items
that are left must make up for what is known, so their mean is at most a bound m that is known before the draw, and money
that is multiplied by 1 + b·(x - m) is not expected to grow (x is 1 if X alone is right, -1 if i alone is, else 0). When
the money has grown enough, i is beaten.

A label that has not come counts as its worst case, x = -1, and is put right when it comes.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.kernels.primitives import Codes, Floats, Ints

Flags = npt.NDArray[np.bool_]

# The share of the error that the n-th model has which is put to the proof: FIRST · REST^n. They sum to 1.
FIRST_SHARE, LATER_SHARE = 0.75, 0.25
# A bet risks at most this share of the money.
BOLDEST = 0.8
# More money than this is not counted.
MOST = 1e250


@dataclass
class Tally:
    """One model beside all others: counts of items, one place per other model."""

    known: Ints
    """How many more labelled items the model has right."""
    open: Ints
    """Items without a label that are asked for or cannot be labelled, and on which the other may be right."""
    left: Ints
    """Items that can still be drawn and on which the two differ."""
    winnable: Ints
    """Those of them on which the other says something, so that it may be right."""

    @property
    def worst(self) -> Ints:
        """By how many items the model may be worse, for certain not by more."""
        return self.open + self.winnable - self.known


def tally(rows: Codes, truth: Codes, drawable: Flags, labelled: Flags, model: int) -> Tally:
    """Count, in one pass over the items."""
    known = np.zeros(rows.shape[1], dtype=np.int64)
    counts = [np.zeros(rows.shape[1], dtype=np.int64) for _ in range(3)]
    for start in range(0, len(rows), 2**16):
        piece = slice(start, start + 2**16)
        block, own = rows[piece], rows[piece, model][:, None]
        done, free = labelled[piece], drawable[piece]
        right = block[done] == truth[piece][done, None]
        known += right[:, model].sum() - right.sum(axis=0)
        differs = block != own
        answers = differs & (block >= 0)
        counts[0] += answers[~done & ~free].sum(axis=0)
        counts[1] += differs[free].sum(axis=0)
        counts[2] += answers[free].sum(axis=0)
    return Tally(known, *counts)


@dataclass
class Trial:
    """One model put to the proof: the money won by betting that each of the others does not beat it by too much."""

    model: int
    share: float
    """Of the error."""
    wealth: Floats
    best: Floats
    """The most that the wealth has been."""
    tally: Tally


@dataclass
class Draw:
    """An item that was drawn, before its label has come: the bets that rest on it."""

    model: int
    bet: Floats
    bound: Floats
    worst: Floats


@dataclass
class PoolProof:
    """The trials of a pool, and what is known of its items; `rows` are those on which models differ."""

    rows: Codes
    truth: Codes
    """Codes; what is no label is negative, and no model says it."""
    allowed: int
    """By how many items a model may be worse than the best."""
    labelled: Flags = field(init=False)
    drawable: Flags = field(init=False)
    """Neither labelled nor asked for."""
    trials: dict[int, Trial] = field(default_factory=dict)
    draws: dict[int, Draw] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.labelled = np.zeros(len(self.rows), dtype=np.bool_)
        self.drawable = np.ones(len(self.rows), dtype=np.bool_)

    def trial(self, model: int) -> Trial:
        """The trial of a model, begun if it is the first time."""
        if model not in self.trials:
            share = FIRST_SHARE * LATER_SHARE ** len(self.trials)
            counts = tally(self.rows, self.truth, self.drawable, self.labelled, model)
            ones = np.ones(self.rows.shape[1])
            self.trials[model] = Trial(model, share, ones, ones.copy(), counts)
        return self.trials[model]

    def beaten(self, trial: Trial, confidence: float) -> Flags:
        """The models that the one on trial need not fear: beaten by betting, or by count."""
        enough = trial.best * (1.0 - confidence) * trial.share >= 1.0
        safe: Flags = enough | (trial.tally.worst <= self.allowed)
        safe[trial.model] = True
        return safe

    def eligible(self, trial: Trial, confidence: float) -> Ints:
        """The items that may be drawn: on which the model differs from one that is still in play."""
        playing = np.flatnonzero(~self.beaten(trial, confidence))
        found = np.zeros(len(self.rows), dtype=np.bool_)
        own = self.rows[:, trial.model]
        for other in playing:
            found |= self.rows[:, other] != own
        return np.flatnonzero(found & self.drawable)

    def take_out(self, item: int) -> None:
        """An item is asked for: it can no longer be drawn."""
        if not self.drawable[item]:
            return
        self.drawable[item] = False
        row = self.rows[item]
        for trial in self.trials.values():
            differs = row != row[trial.model]
            answers = differs & (row >= 0)
            trial.tally.left -= differs
            trial.tally.winnable -= answers
            trial.tally.open += answers

    def draw(self, item: int, trial: Trial, expected: Floats, variance: Floats, confidence: float) -> None:
        """Bet on an item that was drawn at random from those that are eligible.

        Args:
            item: that was drawn.
            trial: of the model that is put to the proof.
            expected: what the mean of x is thought to be, one per other model.
            variance: likewise.
            confidence: of the proof.
        """
        row = self.rows[item]
        differs = (row != row[trial.model]) & ~self.beaten(trial, confidence)
        counts = trial.tally
        bound = (counts.open - counts.known - (self.allowed + 1)) / np.maximum(1, counts.left)
        edge = expected - bound
        bet = edge / np.maximum(variance + edge * edge, 1e-9)
        bet = np.where(differs, np.clip(bet, 0.0, BOLDEST / np.maximum(1.0 + bound, 1e-9)), 0.0)
        lowest = np.where(row >= 0, -1.0, 0.0)
        worst = 1.0 + bet * (lowest - bound)
        trial.wealth *= worst
        self.take_out(item)
        self.draws[item] = Draw(trial.model, bet, bound, worst)

    def learn(self, item: int, label: int) -> None:
        """Take in the label of an item, drawn or not."""
        self.take_out(item)
        self.labelled[item] = True
        row = self.rows[item]
        right = (row == label).astype(np.int64)
        for trial in self.trials.values():
            trial.tally.open -= (row != row[trial.model]) & (row >= 0)
            trial.tally.known += right[trial.model] - right
        draw = self.draws.pop(item, None)
        if draw is not None:
            trial = self.trials[draw.model]
            gained = right[draw.model] - right
            trial.wealth *= (1.0 + draw.bet * (gained - draw.bound)) / draw.worst
            np.minimum(trial.wealth, MOST, out=trial.wealth)
        for trial in self.trials.values():
            np.maximum(trial.best, trial.wealth, out=trial.best)

    def worse_by(self, model: int, confidence: float) -> tuple[int, bool]:
        """By how many items at most a model is worse than the best, with this confidence; and whether for certain."""
        trial = self.trials.get(model)
        counts = trial.tally if trial else tally(self.rows, self.truth, self.drawable, self.labelled, model)
        others = np.arange(self.rows.shape[1]) != model
        worst = np.where(others, np.maximum(0, counts.worst), 0)
        certain = int(worst.max(initial=0))
        if trial is None:
            return certain, True
        enough = trial.best * (1.0 - confidence) * trial.share >= 1.0
        proved = int(np.where(enough, np.minimum(worst, self.allowed), worst).max(initial=0))
        return proved, proved == certain

    def state(self) -> dict[str, Any]:
        """What cannot be counted again: the money, and the bets that are open."""
        return {
            "trials": [
                [trial.model, trial.wealth.tolist(), trial.best.tolist()] for trial in self.trials.values()
            ],
            "draws": [
                [item, draw.model, draw.bet.tolist(), draw.bound.tolist(), draw.worst.tolist()]
                for item, draw in self.draws.items()
            ],
        }
