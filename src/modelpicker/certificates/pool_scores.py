"""What labels say about the models of a pool: a score each, which is one less the loss.

And what they may still say.

Usually a model is right or wrong, and its code beside that of the label says which. Labels that say more, such as
grades, have the scores of all models beside them. A score that is not known is NaN: it counts as the worst.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.certificates.label_noise import NO_NOISE, LabelNoise
from modelpicker.kernels.primitives import Codes, Floats, Ints

Flags = npt.NDArray[np.bool_]
Places: TypeAlias = list[int] | Ints | slice
# How far x spreads at first, and items that are looked at to find out where answers cost more or less.
USUAL_SPREAD = 0.7
LOOKED_AT = 50
# Items that are read at once.
PIECE = 2**14
Most: TypeAlias = Callable[[Places, int], Floats]


@dataclass
class PoolScores:
    """The scores of the labelled items, and by how much a label may tell two models apart."""

    rows: Codes
    truth: Codes
    """Codes; what is not a label is negative, and no model says it."""
    lead: Floats | None = None
    """By how much one answer may score less than another, by code; None: by 1, if the other one is a class."""
    absent: Flags | None = None
    """Which models were not run on which items: no label says how they would have done."""
    everywhere: Flags | None = None
    """The same for all items of the pool, those on which models agree too."""
    whole: bool = True
    """Whether scores are 0 or 1."""
    noise: LabelNoise = NO_NOISE
    graded: dict[int, Floats] = field(default_factory=dict)
    """The scores of items whose label is more than one class."""
    partial: list[int] = field(default_factory=list)
    """Those on which some score is not known."""
    _never_told: dict[int, Floats] = field(default_factory=dict)
    """What was counted before, by model: it never changes."""

    @cached_property
    def usual_spread(self) -> float:
        """How far x spreads, before anything is known: what is usual, times how far two answers may be apart."""
        if self.lead is None:
            return USUAL_SPREAD
        some = self.rows[:: max(1, len(self.rows) // LOOKED_AT)]
        apart = self.lead[some[:, :, None], some[:, None, :]][some[:, :, None] != some[:, None, :]]
        return USUAL_SPREAD * float((apart * apart).mean()) if len(apart) else USUAL_SPREAD

    def grade(self, item: int, scores: Floats) -> None:
        """Note the scores of an item."""
        self.graded[item] = scores
        if np.isnan(scores).any():
            self.partial.append(item)

    def at(self, items: list[int] | Ints) -> Floats:
        """The scores of labelled items, one row per item."""
        places = np.asarray(items, dtype=np.int64)
        found: Floats = (self.rows[places] == self.truth[places][:, None]).astype(np.float64)
        if self.graded:
            for row, place in enumerate(places.tolist()):
                if place in self.graded:
                    found[row] = self.graded[place]
        if self.absent is not None:
            found[self.absent[places]] = np.nan
        return found

    def differs(self, items: Places, model: int) -> Flags:
        """On which items a label can tell a model and each other one apart."""
        block = self.rows[items]
        found: Flags = self._where_both_ran(items, model, block != block[:, [model]])
        return found

    def may_lose(self, items: Places, model: int) -> Floats:
        """By how much at most a label may say that a model scores less than each other one."""
        block = self.rows[items]
        own = block[:, [model]]
        lost = (
            self.lead[own, block] if self.lead is not None else ((block != own) & (block >= 0)).astype(np.float64)
        )
        found: Floats = self._where_both_ran(items, model, lost)
        return found

    def may_win(self, items: Places, model: int) -> Floats:
        """By how much at most a label may say that a model scores more than each other one."""
        block = self.rows[items]
        own = block[:, [model]]
        won = self.lead[block, own] if self.lead is not None else ((block != own) & (own >= 0)).astype(np.float64)
        found: Floats = self._where_both_ran(items, model, won)
        return found

    def _where_both_ran(self, items: Places, model: int, found: Any) -> Any:
        """The same, with 0 where one of the two was not run."""
        if self.absent is None:
            return found
        missing = self.absent[items]
        return np.where(missing | missing[:, [model]], found.dtype.type(0), found)

    def never_told(self, model: int) -> Floats:
        """By how many items labels may never tell whether a model is worse than each other one.

        Those on which one of the two was not run; and as many as wrong labels may mislead by.
        """
        if model not in self._never_told:
            self._never_told[model] = self._count_never_told(model)
        return self._never_told[model].copy()

    def _count_never_told(self, model: int) -> Floats:
        found = np.zeros(self.rows.shape[1])
        if self.everywhere is not None:
            found += (self.everywhere | self.everywhere[:, [model]]).sum(axis=0)
        if self.noise.probability:
            found += self.noise.misled_by(self.differing(model))
        found[model] = 0.0
        return found

    def differing(self, model: int) -> Floats:
        """On how many items labels tell a model and each other one apart."""
        found = np.zeros(self.rows.shape[1])
        for start in range(0, len(self.rows), PIECE):
            found += self.differs(slice(start, start + PIECE), model).sum(axis=0)
        return found

    def untold(self, model: int, most: Most) -> Floats:
        """What `most` says about the items that have a label which does not set a model beside each other one."""
        found = np.zeros(self.rows.shape[1])
        for item in self.partial:
            scores = self.graded[item]
            found += np.where(np.isnan(scores - scores[model]), most([item], model)[0], 0.0)
        return found
