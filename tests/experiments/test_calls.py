"""UCB-E, as the benchmark of calls has it, by hand; and how calls are counted."""

import math

import numpy as np
import pytest
from benchmarks.calls import Course, explore, reached, run_ucb_e


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
    """One file is right from 2 calls on but for its word at 3; the other from 6 on. The first has ended at 4."""
    one = Course(np.array([2, 3, 4]), np.array([1, 2, 3]), np.array([True, False, True]))
    other = Course(np.array([2, 4, 6]), np.array([1, 1, 2]), np.array([False, False, True]))
    assert reached([one, other], level) == (calls, labels)
