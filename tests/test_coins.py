"""The coins of a round depend on the seed and the round alone."""

import numpy as np
import pytest

from modelpicker.coins import check_seed, draw_coins
from modelpicker.errors import InputError


def test_one_round_or_many_give_the_same_coins() -> None:
    whole = draw_coins(seed=5, start=0, rounds=500)
    pieces = [draw_coins(5, start, rounds) for start, rounds in ((0, 1), (1, 99), (100, 400))]
    assert np.array_equal(whole, np.concatenate(pieces))


def test_coins_are_those_of_numpys_philox() -> None:
    generator = np.random.Generator(np.random.Philox(key=12, counter=0))
    assert np.array_equal(draw_coins(12, 0, 50), generator.random((50, 4)))


def test_rounds_far_out_and_large_seeds_have_coins() -> None:
    coins = draw_coins(2**128 - 1, 10**15, 3)
    assert coins.shape == (3, 4)
    assert (coins >= 0).all()
    assert (coins < 1).all()


def test_coins_are_uniform_and_independent_of_each_other() -> None:
    """The mean of 200,000 uniforms has a standard error of 0.00065, a correlation of 50,000 pairs one of 0.0045;
    each of the 10 numbers is allowed 5 of those, and the seed is fixed."""
    coins = draw_coins(0, 0, 50_000)
    assert np.abs(coins.mean(axis=0) - 0.5).max() < 5 * 0.29 / np.sqrt(50_000)
    assert np.abs(np.corrcoef(coins.T) - np.eye(4)).max() < 5 / np.sqrt(50_000)
    other = draw_coins(1, 0, 50_000)
    assert abs(np.corrcoef(coins[:, 0], other[:, 0])[0, 1]) < 5 / np.sqrt(50_000)


@pytest.mark.parametrize("seed", [-1, 2**128, 0.5, "7", None, True])
def test_a_bad_seed_is_named(seed: object) -> None:
    with pytest.raises(InputError, match=f"seed {seed!r}"):
        check_seed(seed)


def test_numpy_integers_are_seeds() -> None:
    assert check_seed(np.uint64(2**63)) == 2**63
