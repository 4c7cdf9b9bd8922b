"""How far wrong labels may mislead: that many of them, at most, on the items on which two models differ.

Each label is wrong with at most a given probability, independently of the others. A wrong label moves the
difference between two models by two items at most: one was right and is not, the other was not and is.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from modelpicker.kernels.primitives import Floats

# The share of the error that is kept for this.
NOISE_SHARE = 0.1
# Models that are looked at, of many, to find out how far statements must be widened.
LOOKED_AT = 32


def most_wrong(labels: int, noise: float, error: float) -> int:
    """The smallest number of wrong labels that is exceeded with at most this probability."""
    if labels <= 0 or noise <= 0.0:
        return 0
    odds = math.log(noise) - math.log1p(-noise)
    chance = labels * math.log1p(-noise)  # of exactly that many, as a logarithm
    within = math.exp(chance)
    wrong = 0
    while wrong < labels and 1.0 - within > error:
        chance += math.log(labels - wrong) - math.log(wrong + 1) + odds
        within += math.exp(chance)
        wrong += 1
    return wrong


class LabelNoise(NamedTuple):
    """How many labels may be wrong."""

    probability: float
    """That a label is wrong, at most."""
    error: float
    """That a statement may make."""

    def misled_by(self, differing: Floats) -> Floats:
        """By how many items at most wrong labels may mislead about a model beside each other one.

        `differing` is on how many items they differ. It holds for all pairs together.
        """
        each = NOISE_SHARE * self.error / max(1, len(differing) * (len(differing) - 1))
        counts = set(differing.tolist())
        known = {count: 2.0 * most_wrong(int(count), self.probability, each) for count in counts}
        return np.array([known[count] for count in differing.tolist()])

    def usual(self, differing: Callable[[int], Floats], models: int) -> float:
        """By how many items statements are wider: what wrong labels may mislead by, beside most other models.

        That of the model for which it is the least. Models that differ on more items than most are far worse,
        usually, and then it is proven without this.
        """
        if not self.probability or models < 2:
            return 0.0
        looked_at = range(0, models, max(1, models // LOOKED_AT))
        return min(float(np.median(np.delete(self.misled_by(differing(one)), one))) for one in looked_at)


NO_NOISE = LabelNoise(0.0, 1.0)
