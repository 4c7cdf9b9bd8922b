"""Which items of a pool are drawn for the proof: more often those that tell rivals apart that are hard to beat.

A rival has a level: how much of what is left is probably needed to beat it, beside the others. An item weighs one
more than the highest level among the models in play that differ from the model on trial there. It is drawn in
proportion to its weight. A bet on the item counts x by how much too seldom the item is drawn
(docs/how-it-works/pools.md).

Weights are whole numbers, so that sums of them are exact, in whatever order they are added up.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.certificates.pool_scores import PIECE, Flags, PoolScores
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import Codes, Floats, Ints

# The level of the rival that is hardest to beat; of all others, a share of it.
HARDEST = 4
# From that many items on, weighing them is compiled; for fewer, that would take longer than it saves.
MANY = 2**18


class DrawShares(NamedTuple):
    """By how much too seldom an item is drawn among those that tell the model on trial from each other one."""

    ratio: Floats
    """The mean weight of those items over the weight of the one that was drawn: what x is multiplied by."""
    most: Floats
    """The largest that this may be."""


@dataclass
class DrawWeights:
    """The weights of all items, for a model on trial and the levels of the others."""

    model: int
    levels: Ints
    by_item: npt.NDArray[np.int8]
    """0 where the model on trial differs from nobody in play."""
    sums: Floats
    """For each model, what the items weigh that can be drawn and tell it from the model on trial."""

    def fits(self, model: int, levels: Ints) -> bool:
        """Whether these are the weights for such a draw."""
        return self.model == model and np.array_equal(self.levels, levels)

    def move(self, item: int, differs: Flags, sign: int) -> None:
        """An item can be drawn from now on, or no more."""
        self.sums += sign * float(self.by_item[item]) * differs

    def draw(self, drawable: Flags, coin: float) -> int:
        """An item that can be drawn, in proportion to its weight; -1 if there is none."""
        cumulated = np.cumsum(np.where(drawable, self.by_item, 0), dtype=np.int64)
        whole = int(cumulated[-1]) if len(cumulated) else 0
        return int(np.searchsorted(cumulated, int(coin * whole), side="right")) if whole else -1

    def shares(self, item: int, left: Ints, runner_up: int) -> DrawShares:
        """What the bets on an item are multiplied by; the model on trial is set beside the runner-up."""
        least = 1.0 + np.maximum(self.levels, 0)
        means = np.maximum(self.sums / np.maximum(1, left), least)  # less only where nothing is left
        means[self.model], least[self.model] = means[runner_up], least[runner_up]
        ratio = means / max(1.0, float(self.by_item[item]))
        return DrawShares(ratio, np.maximum(ratio, means / least))


def weigh_draws(scores: PoolScores, drawable: Flags, model: int, levels: Ints) -> DrawWeights:
    """The weights of all items, in one pass over them."""
    by_item = np.zeros(len(drawable), dtype=np.int8)
    sums = np.zeros(len(levels))
    value = (1 + levels).astype(np.int8)
    if len(by_item) >= MANY and scores.absent is None:
        weigh(scores.rows, drawable, model, value, by_item, sums)
        return DrawWeights(model, levels.copy(), by_item, sums)
    for start in range(0, len(by_item), PIECE):
        piece = slice(start, start + PIECE)
        differs = scores.differs(piece, model)
        by_item[piece] = (differs * value).max(axis=1, initial=0)
        sums += (by_item[piece] * drawable[piece]).astype(np.float64) @ differs
    return DrawWeights(model, levels.copy(), by_item, sums)


def weigh_rows(
    rows: Codes,
    drawable: Flags,
    model: int,
    value: npt.NDArray[np.int8],
    by_item: npt.NDArray[np.int8],
    sums: Floats,
) -> None:
    """The same, row by row; weights are whole numbers, so that the sums are the same."""
    for i in range(rows.shape[0]):
        own, most = rows[i, model], 0
        for j in range(rows.shape[1]):
            if rows[i, j] != own and value[j] > most:
                most = value[j]
        by_item[i] = most
        if drawable[i] and most > 0:
            for j in range(rows.shape[1]):
                if rows[i, j] != own:
                    sums[j] += most


weigh = CompiledKernel(weigh_rows, {}, "pool-picker weights")


def levels_of(playing: Flags, model: int, needed: Floats) -> Ints:
    """The level of each model in play, by the share of its items that beating it probably needs; -1 of others."""
    rivals = playing.copy()
    rivals[model] = False
    highest = float(needed[rivals].max(initial=0.0))
    found: Ints = np.where(rivals, np.rint(HARDEST * needed / max(highest, 1e-9)), -1).astype(np.int64)
    return found
