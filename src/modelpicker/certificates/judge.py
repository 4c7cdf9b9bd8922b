"""What the bets on a pool take from a judge: cheap labels that may be wrong (proof: docs/how-to/judges.md).

Let y be what x would be if the judge were right. Its mean over the items that are left is known, so that x less a
share of what y is above its mean has the same mean as x, whatever the judge says. It spreads less if the judge is
good, and then the bets win faster. The share is found from the labels so far, before an item is drawn. It is 0 for
a judge that guesses.
"""

from typing import NamedTuple

import numpy as np

from modelpicker.certificates.pool_scores import USUAL_SPREAD
from modelpicker.kernels.primitives import Codes, Floats, Ints

# The share of the judge over all models counts as much as this many labels against each one of them; before that,
# that many labels without a use of the judge are thought to have been seen against each.
POOLED, UNUSED = 20.0, 2.0
# The least share of the variance of x that a judge leaves.
LEAST = 0.05


class JudgeTrust(NamedTuple):
    """How far the judge is trusted on the model on trial beside every other one."""

    share: Floats
    """Of what the judge says that is believed."""
    unexplained: Floats
    """The share of the variance of x that is left."""


def verdicts(rows: Codes, judged: Codes, model: int) -> Ints:
    """What y is on each item, beside every other model: 1 if by the judge only the model on trial is right."""
    agrees = ((rows == judged[:, None]) & (judged[:, None] >= 0)).astype(np.int64)
    found: Ints = agrees[:, [model]] - agrees
    return found


def trust_judge(rows: Codes, scores: Floats, judged: Codes, model: int, playing: Ints) -> JudgeTrust:
    """What the labelled items say about the judge.

    Args:
        rows: what the models say about the labelled items.
        scores: of the models on them, one less their losses; NaN where that is not known.
        judged: what the judge says about them.
        model: that is on trial.
        playing: the models that are in play.
    """
    x = scores[:, [model]] - scores
    y = np.where(np.isnan(x), 0, verdicts(rows, judged, model))
    x = np.nan_to_num(x)
    both, squares, spread = (x * y).sum(axis=0), (y * y).sum(axis=0), (x * x).sum(axis=0)
    over_all = max(0.0, both[playing].sum() / (squares[playing].sum() + UNUSED * len(playing)))
    share = np.clip((both + POOLED * over_all) / (squares + POOLED), 0.0, 1.0)
    rest = spread - 2.0 * share * both + share * share * squares
    usual = POOLED * USUAL_SPREAD
    unexplained = (rest + usual * (1.0 - over_all * over_all)) / (spread + usual)
    return JudgeTrust(share, np.clip(unexplained, LEAST, 1.0))
