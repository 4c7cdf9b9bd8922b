"""What the bets on a pool take from a guess at the labels, which may be wrong (proof: docs/how-it-works/pools.md).

Let y be what the guess expects of x. Its mean over the items that are left is known, so that x less a share of what
y is above its mean has the same mean as x, however wrong the guess is. It spreads less if the guess is good, and
then the bets win faster. The share is found from the labels so far, before an item is drawn. It is 0 unless they
speak for the guess more clearly than chance would.
"""

from typing import NamedTuple

import numpy as np

from modelpicker.certificates.pool_scores import USUAL_SPREAD, Flags
from modelpicker.kernels.primitives import Floats, Ints

# The slope over all models counts as much as this sum of squares of y against each one of them.
POOLED = 2.0
# So much of the squared slope is taken for chance, in squares of its standard error.
CHANCE = 4.0
# What is usual of x counts as much as so many labels.
FEW = 20.0
# The least share of the variance of x that a guess leaves.
LEAST = 0.05


class Trust(NamedTuple):
    """How far the guess is trusted on the model on trial beside every other one."""

    share: Floats
    """Of what the guess says that is believed."""
    unexplained: Floats
    """The share of the variance of x that is left."""


class Control(NamedTuple):
    """What a bet takes from the guess: one place per model, beside the one on trial."""

    above: Floats
    """By how much the guess puts x above its mean on the item that was drawn, as far as it is trusted."""
    middle: Floats
    """The mean of y over the items that are left, times the share that is believed."""
    share: Floats
    unexplained: Floats

    @property
    def highest(self) -> Floats:
        """The most that `above` may be on any item: y is at most 1."""
        highest: Floats = self.share - self.middle
        return highest

    @property
    def possible(self) -> bool:
        """Whether y may have been between -1 and 1, and a share of it been taken."""
        shares = (self.share >= 0.0) & (self.share <= 1.0) & (self.unexplained > 0.0) & (self.unexplained <= 1.0)
        y = np.abs(self.above + self.middle) <= self.share + 1e-9
        return bool((shares & y & (np.abs(self.middle) <= self.share + 1e-9)).all())

    def beside(self, model: int, runner_up: int) -> "Control":
        """The same, with the model on trial itself set beside the runner-up."""
        found = Control(*(part.copy() for part in self))
        found.above[model], found.middle[model] = -self.above[runner_up], -self.middle[runner_up]
        found.share[model] = self.share[runner_up]
        return found

    def of(self, playing: Flags) -> "Control":
        """The places of the models in play."""
        return Control(*(part[playing] for part in self))

    def spread(self, places: Ints, models: int) -> "Control":
        """The same as it was before `of`."""
        whole = no_control(models)
        for part, values in zip(whole, self, strict=True):
            part[places] = values
        return whole


def no_control(models: int) -> Control:
    """Nothing is taken from x."""
    return Control(np.zeros(models), np.zeros(models), np.zeros(models), np.ones(models))


def trust_guess(x: Floats, y: Floats, differs: Flags, playing: Flags) -> Trust:
    """What the labels say of the guess: the slope of x on y, and how much of x it explains.

    Args:
        x: one row per label and one place per model beside the one on trial; NaN where it is not known.
        y: what the guess expected of x before the label was known.
        differs: where a label can tell the two apart.
        playing: the models that are in play, without the one on trial.
    """
    known = differs & ~np.isnan(x)
    x, y = centred(x, known), centred(y, known)
    each = x * y
    both, squares, spread = each.sum(axis=0), (y * y).sum(axis=0), (x * x).sum(axis=0)
    over_all = max(0.0, float(both[playing].sum())) / (float(squares[playing].sum()) + 0.1 * POOLED * playing.sum())
    slope = (both + POOLED * over_all) / (squares + POOLED)
    share = speaks_for_guess(each[:, playing].sum(axis=1)) * np.clip(slope, 0.0, 1.0)
    usual = FEW * USUAL_SPREAD
    rest = spread - 2.0 * share * both + share * share * squares
    return Trust(share, np.clip((rest + usual) / (spread + usual), LEAST, 1.0))


def centred(values: Floats, known: Flags) -> Floats:
    """Less their mean, and 0 where they are not known."""
    values = np.where(known, values, 0.0)
    found: Floats = np.where(known, values - values.sum(axis=0) / np.maximum(1, known.sum(axis=0)), 0.0)
    return found


def speaks_for_guess(agreement: Floats) -> float:
    """The share of the slope that chance does not explain; 0 if chance may explain all of it.

    Without that, a guess that says nothing would be trusted a little too much all the time.

    Args:
        agreement: x times y, one per label.
    """
    total = float(agreement.sum())
    if total <= 0.0:
        return 0.0
    return max(0.0, 1.0 - CHANCE * float((agreement * agreement).sum()) / (total * total))
