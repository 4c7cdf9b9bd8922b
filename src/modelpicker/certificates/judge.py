"""What the bets on a pool take from a judge: cheap labels that may be wrong (proof: docs/judges.md).

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
# so many labels without a use of the judge are thought to have been seen against each.
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


def surely(agreement: Floats) -> float:
    """The share of what labels say for a judge that chance does not explain; 0 if chance may explain all of it.

    It is what James and Stein leave of a mean. Without that, a judge that guesses would be trusted a little too
    much all the time.

    Args:
        agreement: x times y, one per label.
    """
    total = float(agreement.sum())
    return max(0.0, 1.0 - float((agreement * agreement).sum()) / (total * total)) if total > 0.0 else 0.0


def trust_judge(rows: Codes, scores: Floats, judged: Codes, model: int, playing: Ints) -> JudgeTrust:
    """What the labelled items say of the judge.

    Args:
        rows: what the models say of the labelled items.
        scores: of the models on them, one less their losses; NaN where that is not known.
        judged: what the judge says of them.
        model: that is on trial.
        playing: the models that are in play.
    """
    x = scores[:, [model]] - scores
    y = np.where(np.isnan(x), 0, verdicts(rows, judged, model))
    x = np.nan_to_num(x)
    each = x * y
    both, squares, spread = each.sum(axis=0), (y * y).sum(axis=0), (x * x).sum(axis=0)
    over_all = max(0.0, both[playing].sum() / (squares[playing].sum() + UNUSED * len(playing)))
    over_all *= surely(each[:, playing].sum(axis=1))
    share = np.clip((both + POOLED * over_all) / (squares + POOLED), 0.0, 1.0)
    rest = spread - 2.0 * share * both + share * share * squares
    usual = POOLED * USUAL_SPREAD
    unexplained = (rest + usual * (1.0 - over_all * over_all)) / (spread + usual)
    return JudgeTrust(share, np.clip(unexplained, LEAST, 1.0))
