"""Which model of a pool is worth a proof, if models have prices: the cheapest that is thought to be good enough.

First comes the cheapest that is thought to be well within the tolerance: that takes few labels. Once it is proven,
cheaper ones are tried that are thought to be within the tolerance with less room to spare, as long as a proof
is thought to take not many more labels than were told already.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from modelpicker.certificates.pool_scores import Flags
from modelpicker.kernels.primitives import Floats

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker

# A model is tried at once if it is thought to be behind the leader by at most this share of what is allowed; ...
CLOSE = 0.75
# ... and when that is proven, a cheaper one if it is by at most this share, ...
FARTHER = 0.95
# ... and if its proof is thought to take at most this many times the labels of contested items so far.
WORTH = 1.0


def cheap_favourite(pool: "PoolPicker", leader: int) -> int:
    """The model to prove: the cheapest that is thought to be close enough to the leader."""
    price = pool.price
    if price is None or not len(pool._rows):
        return leader if price is None else int(np.argmin(price))
    ahead, allowed = pool._found.ahead, pool._proof.allowed
    if not pool._unlabelled().any():
        return _cheapest(pool, price, ahead <= allowed + 1e-9, leader)
    near = _cheapest(pool, price, ahead <= CLOSE * allowed + 1e-9, leader)
    cheaper: Flags = (price < price[near]) & (ahead <= FARTHER * allowed)
    if not cheaper.any() or not pool._certified(near):
        return near
    for model in np.flatnonzero(cheaper).tolist():
        cheaper[model] = pool._certified(model) or labels_needed(pool, model) <= WORTH * len(pool._learned)
    return _cheapest(pool, price, cheaper, near)


def _cheapest(pool: "PoolPicker", price: Floats, wanted: Flags, at_least: int) -> int:
    """The cheapest of some models and one more."""
    wanted = wanted.copy()
    wanted[at_least] = True
    return int(np.argmin(np.where(wanted, price + pool._jitter * 1e-9, np.inf)))


def labels_needed(pool: "PoolPicker", model: int) -> float:
    """About how many draws a proof of a model takes, by what is thought of it: the hardest rival decides.

    Of a draw against a rival, x is thought to have a mean and a variance. The best bet then wins half of the
    squared distance from the bound over the variance, in the logarithm.
    """
    found, proof = pool._found, pool._proof
    slack = np.maximum(1e-9, found.ahead - found.ahead[model] + proof.allowed)
    wanted = math.log(1.0 / (1.0 - pool._strict(pool.confidence)))
    drawn = max(1.0, float(found.split.max()))
    trial = proof.trials.get(model)
    done = np.zeros_like(slack) if trial is None else np.log(np.maximum(1.0, trial.best))
    needed = 2.0 * np.maximum(0.0, wanted - done) * found.unsure * drawn / (slack * slack)
    needed[model] = 0.0
    return float(needed.max())
