"""The randomness of a round: Philox, keyed by the seed and addressed by the round.

Each round owns four uniforms. They depend on nothing but (seed, round), so that drawing one round or a
million, in any order and in any process, gives the same numbers; no generator state is ever stored.

>>> whole = draw_coins(seed=7, start=0, rounds=1000)
>>> bool((draw_coins(seed=7, start=400, rounds=3) == whole[400:403]).all())
True
"""

import operator

import numpy as np
import numpy.typing as npt

from modelpicker.errors import InputError, brief
from modelpicker.options import LARGEST_SEED

COINS_PER_ROUND = 4


def draw_coins(seed: int, start: int, rounds: int = 1) -> npt.NDArray[np.float64]:
    """The coins of `rounds` rounds from round `start` on: an array (rounds, 4) of uniforms in [0, 1)."""
    philox = np.random.Philox(key=seed, counter=start)
    # Raw words are fixed by the definition of Philox; the methods of Generator may change between releases.
    words = philox.random_raw(rounds * COINS_PER_ROUND)
    words >>= np.uint64(11)
    uniforms = np.multiply(words, 2.0**-53, dtype=np.float64)
    return uniforms.reshape(rounds, COINS_PER_ROUND)


def check_seed(seed: object) -> int:
    """The seed as a plain integer, if it is one that Philox can be keyed with."""
    try:
        value = operator.index(seed)  # type: ignore[arg-type]  # the check itself
    except TypeError:
        raise InputError(
            f"seed {brief(seed)} is not a whole number; pass an integer such as 0.", parameter="seed"
        ) from None
    if isinstance(seed, bool) or not 0 <= value <= LARGEST_SEED:
        raise InputError(
            f"seed {brief(seed)} is out of range; pass an integer from 0 to 2**128 - 1.", parameter="seed"
        )
    return value
