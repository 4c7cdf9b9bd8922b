"""Bets on paired differences: every outcome of tiny cases, and coverage in simulations with fixed seeds."""

import itertools
import math

import numpy as np
import pytest

from modelpicker.certificates.paired import (
    binomial_terms,
    evidence_path,
    first_refuted,
    highest_mean,
    items_to_go,
    share_interval,
    sign_test,
)

VALUES = (-1.0, 0.0, 1.0)


@pytest.mark.parametrize("error", [0.4, 0.2, 0.1])
@pytest.mark.parametrize(
    "pool", [(1, 1, 0, -1), (1, 0, 0, -1, -1), (1, 1, 1, 1), (0.5, 0.25, -1, 1), (1, -1, 0, 0, 0, 0)]
)
def test_a_true_claim_about_a_pool_is_seldom_refuted_over_all_orders_of_its_items(
    pool: tuple[float, ...], error: float
) -> None:
    orders = list(itertools.permutations(pool))
    truth = sum(pool) / len(pool)
    for claim in (truth, truth - 0.25, truth - 0.5):
        wrong = sum(first_refuted(np.array(order), claim, error, len(pool)) is not None for order in orders)
        assert wrong <= error * len(orders)


@pytest.mark.parametrize("error", [0.5, 0.25, 0.1])
@pytest.mark.parametrize("shares", [(0.2, 0.5, 0.3), (0.0, 0.9, 0.1), (0.45, 0.1, 0.45), (0.6, 0.0, 0.4)])
def test_a_true_claim_about_independent_items_is_seldom_refuted_over_all_streams(
    shares: tuple[float, float, float], error: float
) -> None:
    claim = shares[2] - shares[0]
    wrong = 0.0
    for places in itertools.product(range(3), repeat=7):
        if first_refuted(np.array([VALUES[place] for place in places]), claim, error) is not None:
            wrong += math.prod(shares[place] for place in places)
    assert wrong <= error


def test_the_money_is_a_martingale_if_the_claim_is_exactly_true() -> None:
    total = 0.0
    for places in itertools.product(range(3), repeat=5):
        x = np.array([VALUES[place] for place in places])
        money = np.exp(np.concatenate(list(evidence_path(x, 0.1))))
        total += math.prod((0.2, 0.5, 0.3)[place] for place in places) * money[-1]
    assert total == pytest.approx(1.0)


def test_intervals_at_any_time_hold_as_often_as_they_say() -> None:
    """Of 400 streams, with each limit at 95 %: 20 may be wrong; 32 or more would be 1 case in 100."""
    random = np.random.default_rng(1)
    wrong = 0
    for _ in range(400):
        x = random.choice(VALUES, p=(0.1, 0.75, 0.15), size=300)
        wrong += first_refuted(x, 0.05, 0.05) is not None
    assert wrong < 32


def test_intervals_of_a_pool_hold_as_often_as_they_say() -> None:
    """As before, drawn without replacement: all orders are equally likely, and one looks after every draw."""
    random = np.random.default_rng(2)
    pool = np.array([1.0] * 20 + [0.0] * 70 + [-1.0] * 10)
    wrong = sum(first_refuted(random.permutation(pool)[:90], 0.1, 0.05, 100) is not None for _ in range(400))
    assert wrong < 32


def test_a_limit_is_the_smallest_claim_that_is_refuted() -> None:
    random = np.random.default_rng(3)
    x = random.choice(VALUES, p=(0.1, 0.8, 0.1), size=200)
    high = highest_mean(x, 0.05)
    assert first_refuted(x, high + 1e-5, 0.05) is not None
    assert first_refuted(x, high - 1e-5, 0.05) is None
    high = highest_mean(x, 0.05, 1000, 0.001)
    assert first_refuted(x, high + 0.001, 0.05, 1000) is not None
    assert first_refuted(x, high, 0.05, 1000) is None


def test_no_items_say_nothing() -> None:
    assert highest_mean(np.array([]), 0.05) == 1.0
    assert first_refuted(np.array([]), 0.0, 0.05) is None
    assert share_interval(0, 0, 0.95) == (0.0, 1.0)
    assert sign_test(0, 0) == 1.0


def test_items_to_go_are_about_as_many_as_it_takes() -> None:
    random = np.random.default_rng(4)
    x = random.choice(VALUES, p=(0.15, 0.75, 0.1), size=5000)
    needed = first_refuted(x, 0.05, 0.05)
    guess = items_to_go(x[:400], 0.05, 0.05, 10**6)
    assert needed is not None
    assert guess is not None
    assert 0.3 < guess / needed < 3.0
    assert items_to_go(np.zeros(10), 0.0, 0.05, 10**6) is None


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (3, 3), (1, 9), (0, 12), (40, 60)])
def test_mcnemars_test_is_the_sum_of_its_outcomes(wins: int, losses: int) -> None:
    trials = wins + losses
    tail = sum(math.comb(trials, k) for k in range(min(wins, losses) + 1)) / 2**trials
    assert sign_test(wins, losses) == pytest.approx(min(1.0, 2 * tail))
    assert binomial_terms(trials, 0.5).sum() == pytest.approx(1.0)


def test_the_exact_interval_misses_no_share_too_often() -> None:
    """Every number of wins of 12, for many true shares: the interval misses in 5 % of the cases at most."""
    for share in np.linspace(0.01, 0.99, 50):
        likely = binomial_terms(12, float(share))
        missed = 0.0
        for wins in range(13):
            low, high = share_interval(wins, 12, 0.95)
            missed += 0.0 if low <= share <= high else likely[wins]
        assert missed <= 0.05 + 1e-9
    assert share_interval(5, 20, 0.95) == pytest.approx((0.08657, 0.49104), abs=1e-4)
