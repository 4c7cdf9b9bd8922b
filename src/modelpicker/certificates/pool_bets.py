"""The bets that rest on one item of a pool that was drawn at random, before and after its label has come.

A bet is best made when the labels of all items that were asked for before the draw are known. Some of them come
late. Until they do, the bet counts as the least that it can become. In the end as much has been won as if every
label had come in its turn.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modelpicker.certificates.pool_scores import Flags
from modelpicker.kernels.primitives import Floats

# A bet risks at most this share of the money.
BOLDEST = 0.95
# A bet is made so far by what is expected of x, and for the rest by the draws so far.
BY_GUESS = 0.5
# The mean of x is thought to be at least so far from what would make a bet safe; x is 1 or -1 at least so often.
NEAREST, SELDOM = 1e-6, 0.01
# Where losses are not 0 or 1, what must be made up for is rounded up to a multiple of this: so there are few cases
# while labels are awaited. Being more, it is no less true.
GRAIN = 0.25
PLACES = ("number", "model", "runner_up")
ARRAYS = ("shortfall", "left", "expected", "variance", "mean", "spread", "betting", "worst", "fewer", "more")
GUESSED = ("above", "highest")
WEIGHTED = ("ratio", "most_ratio")


def best_bet(mean: Any, variance: Any, bound: Any) -> Any:
    """The bet on x against `bound` that lets money grow fastest, if x is 1, 0 or -1 with such a mean and variance.

    Works for arrays and, compiled, for numbers. It is the root of a quadratic equation
    (docs/how-it-works/pools.md).
    """
    bound = np.minimum(np.maximum(bound, NEAREST - 1.0), 1.0 - NEAREST)
    often = np.minimum(np.maximum(variance + mean * mean, np.maximum(np.abs(mean), SELDOM)), 1.0)
    up, down = 0.5 * (often + mean), np.maximum(0.5 * (often - mean), SELDOM)
    zero = 1.0 - up - down
    won, kept, lost = 1.0 - bound, -bound, 1.0 + bound
    edge = up * won + zero * kept - down * lost
    slope = up * won * (kept - lost) + zero * kept * (won - lost) - down * lost * (won + kept)
    root = np.sqrt(np.maximum(0.0, slope * slope + 4.0 * won * kept * lost * edge))
    return 2.0 * np.maximum(edge, 0.0) / np.maximum(root - slope, 1e-9)


@dataclass
class ProofDraw:
    """An item that was drawn, and the bets that rest on it: one place per model, for it and its opponent.

    The opponent is the model on trial; in that one's own place it is the runner-up.
    """

    number: int
    """How many items had been asked for before."""
    model: int
    runner_up: int
    bad: float
    """By how many items at least a bad model is worse than the best."""
    grain: float
    """Of what the shortfall is a multiple: 1 if losses are 0 or 1."""
    shortfall: Floats
    """What the items that are left must make up for if the model is the best: what is out, less what is known."""
    left: Floats
    """How many items are left on which the two differ, this one among them."""
    expected: Floats
    """What x is expected to be, and its variance, by what is thought of the models."""
    variance: Floats
    mean: Floats
    """The same by the draws before."""
    spread: Floats
    betting: Flags
    """Whether there is a bet."""
    worst: Floats
    """The worst x."""
    fewer: Floats
    """By how much the labels that are awaited may lower the shortfall still, ..."""
    more: Floats
    """... of which so much was taken for granted at worst."""
    above: Floats
    """By how much the guess puts x above its mean, as far as it is trusted: that is taken from x (control.py)."""
    highest: Floats
    """The most that this may be, on any item that could have been drawn."""
    ratio: Floats
    """What x is multiplied by, for the item was drawn more often or more seldom than others (pool_draws.py)."""
    most_ratio: Floats
    """The most that this may be, on any item that could have been drawn."""
    awaited: set[int] = field(default_factory=set)
    """The items that were asked for before and have no label yet."""
    x: Floats | None = None
    """How the item turned out."""
    plain: Floats = field(init=False)
    """What the money is multiplied by, at least."""
    credited: Floats = field(init=False)
    """The same, if the opponent is bad as well."""

    def __post_init__(self) -> None:
        self.settle()

    @property
    def credit(self) -> Floats:
        """What the credit of the model on trial is multiplied by."""
        return self.credited / self.plain

    @property
    def settled(self) -> bool:
        """Whether nothing can change any more."""
        return self.x is not None and not self.awaited

    def outcome(self, scores: Floats) -> Floats:
        """x, if the models score so on the item; NaN where that is not known."""
        x: Floats = scores[self.model] - scores
        x[self.model] = scores[self.runner_up] - scores[self.model]
        return x

    def turn_out(self, scores: Floats) -> None:
        """The label of the item has come; what it does not say counts as the worst."""
        x = self.outcome(scores)
        self.x = np.where(np.isnan(x), self.worst, x)
        self.settle()

    def learn(self, item: int, reach: Floats, scores: Floats) -> None:
        """Take in the label of an item that was awaited when this one was drawn.

        Args:
            item: that was awaited.
            reach: by how much its label could lower and raise the shortfall.
            scores: of the models on it.
        """
        self.awaited.discard(item)
        fewer, more = reach
        self.fewer -= fewer
        self.more -= more
        x = self.outcome(scores)
        self.shortfall -= np.where(np.isnan(x), 0.0, more + x)
        self.settle()

    def settle(self) -> None:
        """The least that money and credit are multiplied by, whatever the labels that are awaited say."""
        x = self.ratio * ((self.worst if self.x is None else self.x) - self.above)
        most, least = self._rounded(self.shortfall), self._rounded(self.shortfall - self.fewer - self.more)
        steps = np.arange(1 + round(float((most - least).max(initial=0.0)) / self.grain))[:, None]
        shortfall = np.maximum(most - steps * self.grain, least)
        bound = shortfall / self.left
        lower = (shortfall - self.bad) / self.left
        lower[:, self.model] = bound[:, self.model]
        bets = self._bets(bound, lower)
        self.plain = (1.0 + bets * (x - bound)).min(axis=0)
        self.credited = (1.0 + bets * (x - lower)).min(axis=0)

    def _rounded(self, shortfall: Floats) -> Floats:
        up: Floats = np.ceil(shortfall / self.grain) * self.grain
        return up

    def _bets(self, bound: Floats, lower: Floats) -> Floats:
        """A bet on each model."""
        furthest = self.most_ratio * (1.0 + self.highest)
        most = BOLDEST / np.maximum(furthest + bound, 1e-9)
        # Weights let x spread more: about half-way between not at all and as far as it may go.
        wider, unit = 0.5 * (1.0 + self.most_ratio), self.most_ratio
        bets: Floats = np.zeros_like(bound)
        by_draws = (1.0 - BY_GUESS, self.mean, self.spread)
        for share, middle, size in ((BY_GUESS, self.expected, self.variance), by_draws):
            spread = wider * (size + middle * middle) - middle * middle
            bet = best_bet(middle / unit, spread / (unit * unit), lower / unit) / unit
            bets += share * np.minimum(bet, most)
        own = bound[:, self.model]
        highest = BOLDEST / (np.maximum(0.0, own) + furthest[self.model])
        bets[:, self.model] = np.clip(self.expected[self.model] - own, 0.0, highest)
        return np.where(self.betting, bets, 0.0)

    def state(self) -> dict[str, Any]:
        """All of it, in a form that JSON can hold."""
        return {
            **{name: getattr(self, name) for name in (*PLACES, "bad", "grain")},
            **{name: getattr(self, name).tolist() for name in ARRAYS + GUESSED + WEIGHTED},
            "awaited": sorted(self.awaited),
            "x": None if self.x is None else self.x.tolist(),
        }

    @classmethod
    def load(cls, state: dict[str, Any]) -> "ProofDraw":
        """Take up what `state` gave."""
        arrays: dict[str, Any] = {name: np.array(state[name]) for name in ARRAYS}
        for name in GUESSED:  # the oldest states took nothing from a guess
            arrays[name] = np.array(state.get(name, np.zeros_like(arrays["left"])))
        for name in WEIGHTED:  # as long as all items were drawn alike
            arrays[name] = np.array(state.get(name, np.ones_like(arrays["left"])))
        x = None if state["x"] is None else np.array(state["x"])
        places: dict[str, Any] = {name: int(state[name]) for name in PLACES}
        bad = float(state["bad"] if "bad" in state else state["allowed"] + 1)  # what it was called at first
        grain = float(state.get("grain", 1.0))
        return cls(**places, bad=bad, grain=grain, **arrays, awaited=set(state["awaited"]), x=x)
