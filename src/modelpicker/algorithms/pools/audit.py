"""Audit draws: items drawn at random from everything that is left in a pool, to measure the accuracy of the pick.

What is kept is the order in which items were asked about, drawn and told. From it, and from the labels, the bets
about any model can be made again (`modelpicker.certificates.accuracy`), so that nothing is stored per model.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.certificates.accuracy import AuditDraw, RightCounts, guess_share
from modelpicker.encoding import Array
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN, Ints
from modelpicker.options import Option

AUDIT = Option(
    "audit",
    float,
    "The share of labels for items drawn at random, to measure how accurate the pick is.",
    0.0,
    low=0.0,
    high=1.0,
    below=True,
    wanted="a share of the labels from 0 up and below 1, such as 0.05",
)
# What happens to an item.
ASKED, DRAWN, TOLD, SKIPPED = range(4)


class Audit:
    """The share of labels for items drawn at random, and what has happened to the items; off if the share is 0."""

    def __init__(self, share: object, items: int) -> None:
        self.share = float(AUDIT.check(share))
        self.events: list[tuple[int, int]] = []
        """Items and what happened to them, in order."""
        self.favourite: tuple[int, int] | None = None
        """The model that was the pick when it was proven, and how many draws there were before."""
        self._free: npt.NDArray[np.bool_] = np.ones(items if self.share else 0, dtype=np.bool_)
        self._told: set[int] = set()
        self._skipped: set[int] = set()

    def draw(self, coin: float, always: bool = False) -> int:
        """An item drawn at random from those that are left if the coin says so, or always; -1 if there is none."""
        chance = 1.0 if always else self.share
        if not self.share or coin >= chance:
            return -1
        free = np.flatnonzero(self._free)
        if not len(free):
            return -1
        # A coin below the share is uniform once it is divided by it.
        item = int(free[min(int(coin / chance * len(free)), len(free) - 1)])
        self._note(item, DRAWN)
        return item

    def ask(self, item: int) -> None:
        """An item is asked about for another reason."""
        if self.share:
            self._note(item, ASKED)

    def tell(self, item: int, label: bool) -> None:
        """The label of an item has come, or it is said that nobody can tell it."""
        done = self._told if label else self._skipped
        if self.share and item not in done:
            done.add(item)
            self._note(item, TOLD if label else SKIPPED)

    def _note(self, item: int, what: int) -> None:
        self.events.append((item, what))
        self._free[item] = False

    def favour(self, model: int) -> None:
        """The pick is proven, and the next draws are there to measure it: half of the bets are about it."""
        if self.share and self.favourite is None:
            self.favourite = (model, sum(what == DRAWN for _, what in self.events))

    def since(self, model: int) -> int | None:
        """From which draw on half of the bets are about a model; None if they are not."""
        return self.favourite[1] if self.favourite and self.favourite[0] == model else None

    @property
    def awaited(self) -> list[int]:
        """The items that were drawn and whose labels have not come."""
        drawn = (item for item, what in self.events if what == DRAWN)
        return [item for item in drawn if item not in self._told and item not in self._skipped]

    def replay(self, said: Array, labels: Mapping[int, int]) -> list[AuditDraw]:
        """All draws as one model sees them, by what it says about every item and by the labels."""
        right = {item: bool(said[item] == code) for item, code in labels.items() if said[item] != NOT_RUN}
        for item in {item for item, _ in self.events}:
            if said[item] == ABSTAINED:  # which is always wrong
                right[item] = False
        draws: list[AuditDraw] = []
        gone: set[int] = set()  # items that have left the pool
        seen: set[int] = set()  # those of them whose labels had come
        drawn: set[int] = set()
        known = known_now = open_now = audited = hits = 0
        for item, what in self.events:
            if what == DRAWN:
                waiting = len(gone) - len(seen)
                guess = guess_share(hits, audited)
                left = len(self._free) - len(gone)
                draws.append(AuditDraw(left, known, waiting, known_now, open_now, guess, right.get(item)))
                drawn.add(item)
            if item not in gone:
                gone.add(item)
                known_now += right.get(item, False)
                open_now += item not in right
            if item in right and item not in seen and (what == TOLD or said[item] == ABSTAINED):
                seen.add(item)
                known += right[item]
                if item in drawn:
                    audited += 1
                    hits += right[item]
        return draws

    def state(self) -> dict[str, Any] | None:
        """The audit in a form that JSON can hold; None if there is none."""
        if not self.share:
            return None
        favourite = list(self.favourite) if self.favourite else None
        return {"share": self.share, "events": [list(event) for event in self.events], "favourite": favourite}

    def load(self, state: Mapping[str, Any] | None) -> None:
        """Take up what `state` gave."""
        if not state:
            return
        for item, what in state["events"]:
            self._note(int(item), int(what))
            if what in (TOLD, SKIPPED):
                (self._told if what == TOLD else self._skipped).add(int(item))
        if state["favourite"]:
            model, draws = state["favourite"]
            self.favourite = (int(model), int(draws))


def count_right(said: Array, labels: Mapping[int, int], contested: Ints) -> RightCounts:
    """What is known by counting about a model, by what it says about every item."""
    right = sum(bool(said[item] == code) for item, code in labels.items() if code >= 0)
    unknown = said >= 0
    unknown[list(labels)] = False
    unknown |= said == NOT_RUN  # no label says how it would have done
    total = int(unknown.sum())
    return RightCounts(len(said), right, total, total - int(unknown[contested].sum()))
