"""What the bets on a pool take from the guess at its labels.

What it expected of an item is noted before the label is learned. So it is measured by labels that it had not seen.
"""

from typing import TYPE_CHECKING

import numpy as np

from modelpicker.algorithms.pools import gain_arrays
from modelpicker.algorithms.pools.gain import guess_row, sum_guesses
from modelpicker.algorithms.pools.label_model import REMEMBERED
from modelpicker.certificates.control import Control, Trust, trust_guess
from modelpicker.certificates.pool_scores import Flags
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import Floats

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker

row_of = CompiledKernel(guess_row, {}, "pool-picker guess at an item", gain_arrays.guess_row)
add_up = CompiledKernel(sum_guesses, {}, "pool-picker sum of guesses", gain_arrays.sum_guesses)


def guess_item(pool: "PoolPicker", place: int) -> Floats:
    """What is expected of each model on a contested item, by the labels so far."""
    found = np.zeros(len(pool.models))
    row_of(pool._model, pool._said[place], pool._read.worth, found)
    return found


def trust_in_guess(pool: "PoolPicker", model: int, playing: Flags) -> Trust:
    """How far the guess is trusted, by the labels before which it was noted."""
    rivals = playing.copy()
    rivals[model] = False
    items = list(pool._foreseen)[-REMEMBERED:]
    guesses = 0.01 * np.array([pool._foreseen[item] for item in items]).reshape(len(items), len(playing))
    scores = pool._proof.scores.at(items)
    differs = pool._proof.scores.differs(items, model)
    return trust_guess(scores[:, [model]] - scores, guesses[:, [model]] - guesses, differs, rivals)


def mean_guess(pool: "PoolPicker", model: int) -> Floats:
    """The mean of what the guess expects of x over the items that can be drawn, beside every other model."""
    sums = np.zeros(len(pool.models))
    whole = len(pool._sample) == len(pool._rows)
    chances = pool._found.chances if whole else pool._found.chances[:0]
    drawable = pool._proof.drawable
    add_up(pool._model, pool._rows, pool._said, drawable, pool._read.worth, model, chances, sums)
    found: Floats = sums / np.maximum(1, pool._proof.counts(model).left)
    return found


def control_of(pool: "PoolPicker", place: int, model: int, playing: Flags) -> Control | None:
    """What the bets on an item that was drawn take from the guess; None if the guess is not trusted."""
    trust = trust_in_guess(pool, model, playing)
    share = np.where(playing, trust.share, 0.0)
    share[model] = 0.0
    if not share.any():
        return None
    middle = mean_guess(pool, model)
    guesses = guess_item(pool, place)
    expected = np.where(pool._proof.scores.differs([place], model)[0], guesses[model] - guesses, 0.0)
    above = share * (np.clip(expected, -1.0, 1.0) - middle)
    return Control(above, share * middle, share, np.where(share > 0.0, trust.unexplained, 1.0))
