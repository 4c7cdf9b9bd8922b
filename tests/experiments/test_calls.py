"""UCB-E and UCB-E-LRF, as the benchmark of calls has them, by hand; and how calls are counted."""

import math

import numpy as np
import pytest
from benchmarks.calls import Course, explore, reached, run_ucb_e
from benchmarks.ucb_e_lrf import choose, fit, run_ucb_e_lrf


def test_ucb_e_by_hand() -> None:
    """Three items, two models; a = 1. The first is right on items 0 and 1, the second on item 2 only.

    Each is run once: means 1 and 0. Bounds 1 + 1 and 0 + 1: the first again, 1 + sqrt(1/2) = 1.71 against 1: again,
    and wrong now: it has no item left, so the second takes the rest.
    """
    lost = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    order = np.array([[0, 1, 2], [0, 1, 2]])
    named, labels = np.zeros(6, dtype=np.int64), np.zeros(6, dtype=np.int64)
    runs, seen, sums = np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int64), np.zeros(2)
    explore(lost, order, 1.0, seen, sums, runs, named, labels)
    assert labels.tolist() == [1, 1, 2, 3, 3, 3]
    assert named.tolist() == [0] * 6
    assert sums.tolist() == [2.0, 1.0]


def test_little_exploration_stays_with_who_looks_best() -> None:
    """Both are right at first; then the first one is wrong, and a small bound sends the calls to the second."""
    lost = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    order = np.array([[0, 1, 2, 3]] * 2)
    named, labels = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
    runs = np.zeros(2, dtype=np.int64)
    explore(lost, order, 0.01, np.zeros(4, dtype=np.int64), np.zeros(2), runs, named, labels)
    # 1.1 and 1.1: the first, wrong, 0.5 + 0.07; then the second twice.
    assert runs.tolist() == [2, 3]
    assert named.tolist() == [0, 0, 1, 1, 1]


def test_after_all_calls_the_best_model_is_named() -> None:
    draw = np.random.default_rng(1)
    lost = (draw.random((40, 6)) < draw.random(6)).astype(np.float64)
    named, labels = run_ucb_e(lost, 1.0, seed=3)
    sums = lost.sum(axis=0)
    assert sums[named[-1]] == sums.min()
    assert labels[-1] == 40
    assert np.array_equal(named, run_ucb_e(lost, 1.0, seed=3)[0])


@pytest.mark.parametrize(
    ("level", "calls", "labels"), [(0.5, 4.0, 2.0), (1.0, 6.0, 2.5), (1.1, math.inf, math.inf)]
)
def test_a_share_is_reached_when_it_is_never_lost_again(level: float, calls: float, labels: float) -> None:
    """One file is right from 2 calls on except for its word at 3; the other from 6 on. The first has ended at 4."""
    one = Course(np.array([2, 3, 4]), np.array([1, 2, 3]), np.array([True, False, True]))
    other = Course(np.array([2, 4, 6]), np.array([1, 1, 2]), np.array([False, False, True]))
    assert reached([one, other], level) == (calls, labels)


def test_a_fit_by_hand() -> None:
    """Two models, two items; the second was not run on the second item. Without a ridge, 1, 0.5 and 0.5 give 0.25.

    One round from models at 1 and 1: items (1 + 0.5) / 2 = 0.75 and 0.5; then the first model
    (0.75 + 0.25) / (0.5625 + 0.25) = 16/13, the second 0.375 / 0.5625 = 2/3.
    """
    scores = np.array([[1.0, 0.5], [0.5, np.pi]])
    used = np.array([[[True, True], [True, False]]])
    scores[1, 1] = 0.0  # which is not used
    once = fit(scores, used, np.ones((1, 2)), ridge=0.0, rounds=1)
    assert once[0] == pytest.approx(np.outer([16 / 13, 2 / 3], [0.75, 0.5]))
    often = fit(scores, used, np.ones((1, 2)), ridge=0.0, rounds=400)
    assert often[0] == pytest.approx(np.array([[1.0, 0.5], [0.5, 0.25]]), abs=1e-4)
    # With a ridge of 0.5: items 1.5 / 2.5 = 0.6 and 0.5 / 1.5 = 1/3.
    ridged = fit(scores, used, np.ones((1, 2)), ridge=0.5, rounds=1)
    assert ridged[0, 0, 0] / ridged[0, 0, 1] == pytest.approx(0.6 * 3)


def test_the_next_calls_by_hand() -> None:
    """Known scores count; elsewhere the guess plus 5 doubts. The second model hopes for more: 0.4 + 5 * 0.1."""
    scores = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    run = np.array([[True, True, False], [False, True, False]])
    guess = np.array([[0.0, 0.0, 0.5], [0.4, 0.0, 0.4]])
    doubt = np.array([[0.0, 0.0, 0.1], [0.1, 0.0, 0.2]])
    # The first: (1 + 0 + 1) / 3. The second: (0.9 + 1 + 1.4) / 3.
    model, items = choose(scores, run, guess, doubt, most=1)
    assert (model, items.tolist()) == (1, [2])
    model, items = choose(scores, run, guess, doubt)
    assert (model, items.tolist()) == (1, [2, 0])
    model, items = choose(scores, np.array([run[0], [True] * 3]), guess, doubt)
    assert (model, items.tolist()) == (0, [2])


def test_ucb_e_lrf_ends_with_the_best_model() -> None:
    draw = np.random.default_rng(1)
    lost = (draw.random((60, 4)) < draw.random(4)).astype(np.float64)
    calls, labels, named = run_ucb_e_lrf(lost, seed=3)
    sums = lost.sum(axis=0)
    assert (calls[0], calls[-1], labels[-1]) == (12, 240, 60)
    assert sums[named[-1]] == sums.min()
    assert (np.diff(calls) > 0).all()
