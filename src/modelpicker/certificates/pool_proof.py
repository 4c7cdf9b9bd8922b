"""What is proven about a pool: of exactly these items, whenever you look (proof: docs/how-it-works/pools.md).

The items are fixed; the only chance is which of them are drawn. A model is *bad* if another has more than
`allowed` items more right. Labels that are known simply count. The rest is bet upon: an item is drawn at random,
by weights (pool_draws.py), from those on which the model on trial differs from one that is still in play. Every
model i has an opponent o: the model on trial; and for that one it is the runner-up. Let x be 1 if only o is right,
-1 if only i is, else 0. With another loss, x is what i loses more than o. That is between -1 and 1 as well, and
nothing else changes (docs/how-to/losses.md).

If i is the best model, the items that are left must make up for what is known. So their mean is at most a bound m,
known before the draw, and money that is multiplied by 1 + b·(x - m) is not expected to grow. If o is bad, the bound
is lower. What that earns is the credit of o, which is kept apart. When money times credit is large enough, i is
beaten by the model on trial.

A label that has not come counts as its worst case, x = -1, and is put right when it comes (pool_bets.py).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modelpicker.certificates.control import Control, no_control
from modelpicker.certificates.pool_bets import GRAIN, ProofDraw, best_bet
from modelpicker.certificates.pool_draws import DrawWeights, levels_of, weigh_draws
from modelpicker.certificates.pool_scores import PIECE, Flags, PoolScores
from modelpicker.kernels.primitives import Codes, Floats, Ints

# Of the draws so far this many are thought to have been before, without a difference.
DOUBT = 8.0
# A draw waits for labels of the last items that were asked for, up to this many; others count as the worst
# permanently.
# When that many times more have been asked for, it is closed as it is.
WINDOW, WINDOWS = 64, 4
# More money than this is not counted.
MOST = 1e250


@dataclass
class PairCounts:
    """One model beside all others: counts of items, one place per other model."""

    known: Floats
    """How many more labelled items the model has right, or by how much its losses on them are smaller."""
    open: Floats
    """Items without a label that cannot be drawn, and on which the other may be right."""
    left: Ints
    """Items that can still be drawn and on which the two differ."""
    winnable: Floats
    """Those of them on which the other may be right."""

    @property
    def worst(self) -> Floats:
        """By how many items the model may be worse, for certain not by more."""
        return self.open + self.winnable - self.known


def tally(scores: PoolScores, drawable: Flags, labelled: Flags, model: int) -> PairCounts:
    """Count, in one pass over the items."""
    models = scores.rows.shape[1]
    counts = PairCounts(*(np.zeros(models, dtype=kind) for kind in (float, float, np.int64, float)))
    counts.open += scores.never_told(model) + scores.untold(model, scores.may_lose)
    for start in range(0, len(scores.rows), PIECE):
        piece = slice(start, start + PIECE)
        done, free = labelled[piece], drawable[piece]
        known = scores.at(start + np.flatnonzero(done))
        counts.known += np.nan_to_num(known[:, [model]] - known).sum(axis=0)
        lost = scores.may_lose(piece, model)
        counts.open += lost[~done & ~free].sum(axis=0)
        counts.winnable += lost[free].sum(axis=0)
        counts.left += scores.differs(piece, model)[free].sum(axis=0)
    return counts


def may_win(scores: PoolScores, labelled: Flags, model: int) -> Floats:
    """By how much a model may beat each other one on the items without a label."""
    found = scores.never_told(model) + scores.untold(model, scores.may_win)
    for start in range(0, len(scores.rows), PIECE):
        piece = slice(start, start + PIECE)
        found += scores.may_win(piece, model)[~labelled[piece]].sum(axis=0)
    return found


def doublings(times: Floats) -> Floats:
    """About how often 1 must be doubled to be so much: the same on every machine, unlike a logarithm."""
    mantissa, exponent = np.frexp(times)
    found: Floats = exponent - 2.0 + 2.0 * mantissa
    return found


def confidence_of(wealth: float, share: float) -> float:
    """The confidence that so much money times credit proves, if a share of the error may be used."""
    return max(0.0, 1.0 - 1.0 / (wealth * share))


@dataclass
class Trial:
    """A model on trial: what being the opponent has earned it, and how far all others are beaten by it."""

    model: int
    credit: Floats
    best: Floats
    """The most that money times credit has been, against each model."""
    tally: PairCounts
    """Kept up to date by the proof."""


@dataclass
class PoolProof:
    """The trials of a pool, and what is known about its items; `scores` has those on which models differ."""

    scores: PoolScores
    allowed: float
    """By how many items a model may be worse than the best."""
    rows: Codes = field(init=False)
    labelled: Flags = field(init=False)
    drawable: Flags = field(init=False)
    """Neither labelled nor asked for."""
    money: Floats = field(init=False)
    """What was won before the first of the draws that are open."""
    richest: Floats = field(init=False)
    """The most that the money on a model has been, without credit."""
    drawn: list[int] = field(default_factory=list)
    """The items that were drawn and whose labels have come."""
    trials: dict[int, Trial] = field(default_factory=dict)
    """The models that were on trial, the first of them first."""
    tallies: dict[int, PairCounts] = field(default_factory=dict)
    """The counts of all models that were ever looked at."""
    draws: dict[int, ProofDraw] = field(default_factory=dict)
    """The items that were drawn, in their order, from the first on which something may still change."""
    awaited: dict[int, int] = field(default_factory=dict)
    """The items that are asked for and have no label yet: how many had been asked for before each."""
    asked: int = 0
    _weights: DrawWeights | None = None

    def __post_init__(self) -> None:
        self.rows = self.scores.rows
        self.labelled = np.zeros(len(self.rows), dtype=np.bool_)
        self.drawable = np.ones(len(self.rows), dtype=np.bool_)
        self.money = np.ones(self.rows.shape[1])
        self.richest = np.ones(self.rows.shape[1])

    @property
    def bad(self) -> float:
        """By how many items at least a bad model is worse than the best: where items count whole, one more."""
        return self.allowed + 1.0 if self.scores.whole else float(self.allowed)

    def trial(self, model: int) -> Trial:
        """The trial of a model, started if it is the first time."""
        if model not in self.trials:
            credit = np.ones_like(self.money)
            self.trials[model] = Trial(model, credit, self.richest.copy(), self.counts(model))
        return self.trials[model]

    def counts(self, model: int) -> PairCounts:
        """One model beside all others; counted once, and kept up to date from then on."""
        if model not in self.tallies:
            self.tallies[model] = tally(self.scores, self.drawable, self.labelled, model)
        return self.tallies[model]

    def beaten(self, trial: Trial, confidence: float) -> Flags:
        """The models that the one on trial need not fear: beaten by betting, or by count."""
        safe: Flags = (trial.best * (1.0 - confidence) >= 1.0) | (trial.tally.worst <= self.allowed)
        safe[trial.model] = True
        return safe

    def weights(self, trial: Trial, levels: Ints) -> DrawWeights:
        """How often each item is drawn: those on which the model differs from one that is still in play.

        Kept up to date: models seldom leave, and levels seldom change.
        """
        if self._weights is None or not self._weights.fits(trial.model, levels):
            self._weights = weigh_draws(self.scores, self.drawable, trial.model, levels)
        return self._weights

    def levels(self, trial: Trial, playing: Flags, expected: Floats, variance: Floats, confidence: float) -> Ints:
        """How hard each rival is to beat, by what is thought of x: its place in the weights of the next draw."""
        left = np.maximum(1, trial.tally.left)
        bound = (trial.tally.open - trial.tally.known - self.bad) / left
        bet = np.minimum(best_bet(expected, variance, bound), 0.9 / np.maximum(1.0 + bound, 1e-9))
        growth = np.maximum(0.5 * bet * (expected - bound), 1e-6)
        missing = 1.0 / np.maximum((1.0 - confidence) * trial.best, 1.0 / MOST)
        needed = np.maximum(doublings(missing), 0.1) / growth
        return levels_of(playing, trial.model, np.minimum(needed / left, 1.0))

    def take_out(self, item: int) -> None:
        """An item is asked for: it can no longer be drawn."""
        if self.drawable[item]:
            self.awaited[item] = self.asked
            self.asked += 1
            self._move(item, drawable=False)

    def put_back(self, item: int) -> None:
        """An item is not asked for any more: it can be drawn again."""
        if not self.drawable[item]:
            self.awaited.pop(item, None)
            self._move(item, drawable=True)

    def _move(self, item: int, *, drawable: bool) -> None:
        """Count an item among those that can be drawn, or among those that are out."""
        self.drawable[item] = drawable
        sign = 1 if drawable else -1
        if self._weights is not None:
            self._weights.move(item, self.scores.differs([item], self._weights.model)[0], sign)
        for model, counts in self.tallies.items():
            lost = self.scores.may_lose([item], model)[0]
            counts.left += sign * self.scores.differs([item], model)[0]
            counts.winnable += sign * lost
            counts.open -= sign * lost

    def draw(
        self,
        item: int,
        trial: Trial,
        playing: Flags,
        expected: Floats,
        variance: Floats,
        levels: Ints | None = None,
        control: Control | None = None,
    ) -> None:
        """Bet on an item that was drawn at random, in proportion to its weight.

        Args:
            item: that was drawn.
            trial: of the model on trial.
            playing: the models that were in play, when it was drawn.
            expected: what the mean of x over the items that are left is thought to be, one per other model.
            variance: likewise.
            levels: of the models, by which the items were weighed; None if all of them were drawn alike.
            control: what the bets take from the guess; None if nothing.
        """
        own, counts = trial.model, trial.tally
        left = np.maximum(1, counts.left).astype(np.float64)
        shortfall = counts.open - counts.known
        runner_up = int(np.argmin(np.where(playing, expected * left + counts.known, np.inf)))
        shortfall[own], left[own] = self._reversed(trial, runner_up)
        expected = expected.copy()
        expected[own] = np.clip(-expected[runner_up], -1.0, 1.0)
        mean, spread = self._draws_before(own)
        if levels is None:
            levels = levels_of(playing, own, np.zeros(len(left)))
        ratio, most_ratio = self.weights(trial, levels).shares(item, counts.left, runner_up)
        control = no_control(len(left)) if control is None else control.beside(own, runner_up)
        differs = self.scores.differs([item], own)[0]
        betting = differs & playing
        betting[own] = bool(playing[runner_up] and differs[runner_up])
        awaited = [one for one, before in self.awaited.items() if before >= self.asked - WINDOW]
        reach = np.zeros((2, len(left)))
        for one in awaited:
            reach += self._reach(one, own, runner_up)
        drawn = ProofDraw(
            number=self.asked,
            model=own,
            runner_up=runner_up,
            bad=self.bad,
            grain=1.0 if self.scores.whole else GRAIN,
            shortfall=shortfall,
            left=left,
            expected=expected,
            variance=variance * control.unexplained,
            mean=mean,
            spread=spread * control.unexplained,
            betting=betting,
            worst=-self._reach(item, own, runner_up)[1],
            fewer=reach[0],
            more=reach[1],
            awaited=set(awaited),
            above=control.above,
            highest=control.highest,
            ratio=ratio,
            most_ratio=most_ratio,
        )
        self.take_out(item)
        self.draws[item] = drawn

    def _reach(self, item: int, model: int, runner_up: int) -> Floats:
        """By how much the label of an item may lower and raise the shortfall of every model."""
        lower, more = self.scores.may_win([item], model)[0], self.scores.may_lose([item], model)[0]
        lower[model], more[model] = more[runner_up], lower[runner_up]
        return np.stack([lower, more])

    def _draws_before(self, model: int) -> tuple[Floats, Floats]:
        """The mean and the variance of x in the draws so far, against every other model."""
        scores = self.scores.at(self.drawn)
        x = np.nan_to_num(scores[:, [model]] - scores)
        count = self.scores.differs(self.drawn, model).sum(axis=0)
        mean = x.sum(axis=0) / (count + DOUBT)
        spread = ((x * x).sum(axis=0) + DOUBT * self.scores.usual_spread) / (count + DOUBT)
        return mean, np.maximum(1e-9, spread - mean * mean)

    def _reversed(self, trial: Trial, runner_up: int) -> tuple[float, int]:
        """What the items that are left must make up for if the model on trial is the best, beside the runner-up."""
        counts, model = trial.tally, trial.model
        out = np.flatnonzero(~(self.drawable | self.labelled))
        won = self.scores.may_win(out, model)[:, runner_up].sum()
        won += self.scores.never_told(model)[runner_up] + self.scores.untold(model, self.scores.may_win)[runner_up]
        return float(won + counts.known[runner_up]), max(1, int(counts.left[runner_up]))

    def give_up(self, item: int) -> None:
        """Nobody can label an item: it counts as the worst, and no draw from now on waits for it."""
        self.take_out(item)
        self.awaited.pop(item, None)

    def learn(self, item: int) -> None:
        """Take in the label of an item, drawn or not, which the scores have by now."""
        self.take_out(item)
        self.labelled[item] = True
        scores = self.scores.at([item])[0]
        for model, counts in self.tallies.items():
            x = scores[model] - scores
            counts.open -= np.where(np.isnan(x), 0.0, self.scores.may_lose([item], model)[0])
            counts.known += np.nan_to_num(x)
        self.awaited.pop(item, None)
        for drawn, draw in self.draws.items():
            if drawn == item:
                self.drawn.append(item)
                draw.turn_out(scores)
            elif item in draw.awaited:
                draw.learn(item, self._reach(item, draw.model, draw.runner_up), scores)
        self._cash_up()

    def _cash_up(self) -> None:
        """Go through the draws in their order: what was won at each point counts, whatever comes after it."""
        money = self.money.copy()
        credit = {model: trial.credit.copy() for model, trial in self.trials.items()}
        closed = True
        for item, draw in list(self.draws.items()):
            money = np.minimum(money * draw.plain, MOST)
            credit[draw.model] *= draw.credit
            np.maximum(self.richest, money, out=self.richest)
            for model, trial in self.trials.items():
                np.maximum(trial.best, money * credit[model], out=trial.best)
            closed = closed and (draw.settled or draw.number < self.asked - WINDOWS * WINDOW)
            if closed:
                self.money, self.trials[draw.model].credit = money, credit[draw.model].copy()
                del self.draws[item]

    def worse_by(self, model: int, confidence: float) -> tuple[float, bool]:
        """By how many items at most a model is worse than the best; and whether that is certain."""
        trial = self.trials.get(model)
        others = np.arange(self.rows.shape[1]) != model
        worst = np.where(others, np.maximum(0.0, self.counts(model).worst), 0.0)
        certain = float(worst.max(initial=0.0))
        best = trial.best if trial else self.richest
        enough = best * (1.0 - confidence) >= 1.0
        proved = float(np.where(enough, np.minimum(worst, self.allowed), worst).max(initial=0.0))
        return proved, proved == certain

    def least_worst(self, model: int) -> list[float]:
        """By how many items a model may still be worse than each other one, if all labels to come speak for it."""
        scores, counts = self.scores, self.counts(model)
        known = scores.never_told(model) + scores.untold(model, scores.may_lose) - counts.known
        left = (
            may_win(scores, self.labelled, model) - scores.never_told(model) - scores.untold(model, scores.may_win)
        )
        found: list[float] = (known - left).tolist()
        return found

    def confidence_in(self, model: int, share: float) -> float:
        """The largest confidence with which a model is proven to be worse by no more than is allowed.

        `share` is that of the error that may be used.
        """
        trial = self.trials.get(model)
        best = trial.best if trial else self.richest
        feared = self.counts(model).worst > self.allowed
        feared[model] = False
        return confidence_of(float(best[feared].min()), share) if feared.any() else 1.0

    def state(self) -> dict[str, Any]:
        """What cannot be counted again: the money, and the bets that are open."""
        return {
            "money": self.money.tolist(),
            "richest": self.richest.tolist(),
            "drawn": list(self.drawn),
            "trials": [[trial.model, trial.credit.tolist(), trial.best.tolist()] for trial in self.trials.values()],
            "draws": [[item, draw.state()] for item, draw in self.draws.items()],
            "awaited": [list(one) for one in self.awaited.items()],
            "asked": self.asked,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up what `state` gave; the labels are there already."""
        self.money[...], self.richest[...] = np.array(state["money"]), np.array(state["richest"])
        self.drawn = [int(item) for item in state["drawn"]]
        for model, credit, best in state["trials"]:
            trial = self.trial(int(model))
            trial.credit[...], trial.best[...] = np.array(credit), np.array(best)
        self.draws = {int(item): ProofDraw.load(draw) for item, draw in state["draws"]}
        self.awaited = {int(item): int(before) for item, before in state["awaited"]}
        self.asked = int(state["asked"])
