"""The compiled Philox is NumPy's, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelpicker.coins import draw_coins
from modelpicker.kernels.philox import draw_many, fill


@given(seed=st.integers(0, 2**128 - 1), start=st.integers(0, 2**62), rounds=st.integers(0, 40))
@settings(max_examples=300, deadline=None)
def test_the_compiled_coins_are_numpys(seed: int, start: int, rounds: int) -> None:
    assert np.array_equal(draw_many(seed, start, rounds), draw_coins(seed, start, rounds))


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1, 2**64, 2**128 - 1])
def test_long_runs_of_coins_are_numpys_too(seed: int) -> None:
    assert np.array_equal(draw_many(seed, 12345, 20_000), draw_coins(seed, 12345, 20_000))


def test_the_same_source_interpreted_gives_the_same_coins() -> None:
    coins = np.empty((3, 4))
    with np.errstate(over="ignore"):
        fill(np.uint64(7), np.uint64(9), np.uint64(41), coins)
    assert np.array_equal(coins, draw_coins(7 + 9 * 2**64, 41, 3))
