"""The coins of many rounds at once, compiled: the very numbers of `modelpicker.coins`, and faster.

Philox 4x64-10 (Salmon et al., 2011), as NumPy has it: the counter of round r is r + 1, the key is the seed.
"""

import numpy as np

from modelpicker.coins import draw_coins
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import Floats

MULTIPLY_FIRST = np.uint64(0xD2E7470EE14C6C93)
MULTIPLY_SECOND = np.uint64(0xCA5A826395121157)
RAISE_LOW = np.uint64(0x9E3779B97F4A7C15)
RAISE_HIGH = np.uint64(0xBB67AE8584CAA73B)
HALF = np.uint64(32)
LOWER_HALF = np.uint64(0xFFFFFFFF)
SPARE_BITS = np.uint64(11)
STEP = 2.0**-53


def high_word(one: np.uint64, other: np.uint64) -> np.uint64:
    """The upper 64 of the 128 bits of a product, from the products of halves."""
    one_low, one_high = one & LOWER_HALF, one >> HALF
    other_low, other_high = other & LOWER_HALF, other >> HALF
    middle = one_high * other_low + ((one_low * other_low) >> HALF)
    carry = one_low * other_high + (middle & LOWER_HALF)
    return one_high * other_high + (middle >> HALF) + (carry >> HALF)


def fill(low_key: np.uint64, high_key: np.uint64, start: np.uint64, coins: Floats) -> None:
    """Fill in the coins of the rounds from `start` on, a row per round."""
    for i in range(len(coins)):
        first, second = start + np.uint64(i) + np.uint64(1), np.uint64(0)
        third, fourth = np.uint64(0), np.uint64(0)
        low, high = low_key, high_key
        for _ in range(10):
            upper, lower = high_word(MULTIPLY_FIRST, first), MULTIPLY_FIRST * first
            first = high_word(MULTIPLY_SECOND, third) ^ second ^ low
            second = MULTIPLY_SECOND * third
            third, fourth = upper ^ fourth ^ high, lower
            low, high = low + RAISE_LOW, high + RAISE_HIGH
        coins[i, 0] = (first >> SPARE_BITS) * STEP
        coins[i, 1] = (second >> SPARE_BITS) * STEP
        coins[i, 2] = (third >> SPARE_BITS) * STEP
        coins[i, 3] = (fourth >> SPARE_BITS) * STEP


_fill = CompiledKernel(fill, {}, "random numbers")


def draw_many(seed: int, start: int, rounds: int) -> Floats:
    """What `draw_coins` draws."""
    if _fill.on_its_way:
        return draw_coins(seed, start, rounds)
    coins = np.empty((rounds, 4))
    with np.errstate(over="ignore"):  # words wrap; with Numba's compiler switched off NumPy would remark on it
        _fill(np.uint64(seed % 2**64), np.uint64(seed >> 64), np.uint64(start), coins)
    return coins
