"""The bets that rest on one item of a pool that was drawn at random, before and after its label has come.

A bet is best made when the labels of all items that were asked for before the draw are known. Some of them come
late. Until they do, the bet counts as the least that it can become. In the end as much has been won as if every
label had come in its turn.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.kernels.primitives import Codes, Floats, Ints

Flags = npt.NDArray[np.bool_]

# A bet risks at most this share of the money.
BOLDEST = 0.8
# How far x spreads, at first.
USUAL_SPREAD = 0.7
PLACES = ("number", "model", "runner_up", "allowed")
ARRAYS = ("shortfall", "left", "expected", "variance", "mean", "spread", "betting", "worst", "fewer", "more")
JUDGED = ("above", "highest")


@dataclass
class ProofDraw:
    """An item that was drawn, and the bets that rest on it: one place per model, for it and its opponent.

    The opponent is the model on trial; in that one's own place it is the runner-up.
    """

    number: int
    """How many items had been asked for before."""
    model: int
    runner_up: int
    allowed: int
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
    """By how much the judge puts x above its mean, as far as it is trusted: that is taken from x (judge.py)."""
    highest: Floats
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

    def outcome(self, right: Ints) -> Floats:
        """x, if these models are right."""
        x: Floats = (right[self.model] - right).astype(np.float64)
        x[self.model] = right[self.runner_up] - right[self.model]
        return x

    def learn(self, item: int, row: Codes, right: Ints) -> None:
        """Take in the label of an item that was awaited when this one was drawn."""
        self.awaited.discard(item)
        fewer, more = self.reach(row, self.model, self.runner_up)
        self.fewer -= fewer
        self.more -= more
        self.shortfall -= more + self.outcome(right)
        self.settle()

    @staticmethod
    def reach(row: Codes, model: int, runner_up: int) -> tuple[Floats, Floats]:
        """By how much the label of an item may lower and raise the shortfall."""
        differs, answers = row != row[model], row >= 0
        fewer = (differs & answers[model]).astype(np.float64)
        more = (differs & answers).astype(np.float64)
        apart = row[model] != row[runner_up]
        fewer[model], more[model] = float(apart and row[runner_up] >= 0), float(apart and row[model] >= 0)
        return fewer, more

    def settle(self) -> None:
        """The least that money and credit are multiplied by, whatever the labels that are awaited say."""
        x = (self.worst if self.x is None else self.x) - self.above
        steps = np.arange(1 + int((self.fewer + self.more).max(initial=0.0)))[:, None]
        shortfall = self.shortfall - np.minimum(steps, self.fewer + self.more)
        bound = shortfall / self.left
        lower = (shortfall - self.allowed - 1) / self.left
        lower[:, self.model] = bound[:, self.model]
        bets = self._bets(bound, lower)
        self.plain = (1.0 + bets * (x - bound)).min(axis=0)
        self.credited = (1.0 + bets * (x - lower)).min(axis=0)

    def _bets(self, bound: Floats, lower: Floats) -> Floats:
        """A bet on each model: half by what is expected, half by the draws so far alone."""
        most = BOLDEST / np.maximum(1.0 + bound + self.highest, 1e-9)
        total = np.zeros_like(bound)
        for middle, size in ((self.expected, self.variance), (self.mean, self.spread)):
            edge = middle - lower
            total += np.clip(edge / np.maximum(size + edge * edge, 1e-9), 0.0, most)
        bets: Floats = 0.5 * total
        own = bound[:, self.model]
        highest = BOLDEST / (1.0 + np.maximum(0.0, own) + self.highest[self.model])
        bets[:, self.model] = np.clip(self.expected[self.model] - own, 0.0, highest)
        return np.where(self.betting, bets, 0.0)

    def state(self) -> dict[str, Any]:
        """All of it, in a form that JSON can hold."""
        return {
            **{name: getattr(self, name) for name in PLACES},
            **{name: getattr(self, name).tolist() for name in ARRAYS + JUDGED},
            "awaited": sorted(self.awaited),
            "x": None if self.x is None else self.x.tolist(),
        }

    @classmethod
    def load(cls, state: dict[str, Any]) -> "ProofDraw":
        """Take up what `state` gave."""
        arrays: dict[str, Any] = {name: np.array(state[name]) for name in ARRAYS}
        for name in JUDGED:  # states that were saved before there were judges have none
            arrays[name] = np.array(state.get(name, np.zeros_like(arrays["left"])))
        x = None if state["x"] is None else np.array(state["x"])
        places: dict[str, Any] = {name: int(state[name]) for name in PLACES}
        return cls(**places, **arrays, awaited=set(state["awaited"]), x=x)
