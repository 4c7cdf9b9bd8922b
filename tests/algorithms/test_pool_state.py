"""Pools that are replayed, and pools that grow."""

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.pool_state import (
    PoolQuestion,
    error_share,
    grow,
    has_bets,
    progress_of,
    put_back,
    replay_question,
    take_out,
)


def make_pool(items: int, seed: int, gap: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Two good models, the second better by a gap, and two bad ones; and the labels."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, items)
    wrong = (labels[:, None] + random.integers(1, 3, (items, 4))) % 3
    right = random.random((items, 4)) < np.array([0.7, 0.7 + gap, 0.5, 0.4])
    return np.where(right, labels[:, None], wrong), labels


def test_a_pool_replayed_with_its_questions_is_the_same_pool() -> None:
    rows, labels = make_pool(300, 0)
    live, again = mp.PoolPicker(rows, seed=5), mp.PoolPicker(rows, seed=5)
    kinds = set()
    waiting: list[int] = []
    while not live.certified:
        for question in live.questions(3):
            kinds.add(question.draw is None)
            replay_question(again, question)
            waiting.append(question.item)
        for item in waiting[:2]:  # the others come late
            live.tell(item, int(labels[item]))
            again.tell(item, int(labels[item]))
        waiting = waiting[2:]
        assert progress_of(live) == progress_of(again)
    assert kinds == {True, False}
    assert live.ask(5) == again.ask(5)


def test_an_item_is_not_asked_about_twice() -> None:
    rows, labels = make_pool(50, 0)
    pool = mp.PoolPicker(rows)
    (question,) = pool.questions(1)
    with pytest.raises(mp.StateError, match="cannot have been asked about"):
        replay_question(pool, question)
    pool.tell(question.item, int(labels[question.item]))
    with pytest.raises(mp.StateError, match="cannot have been asked about"):
        replay_question(pool, PoolQuestion(question.item, 0))


def test_an_item_taken_out_and_put_back_can_be_asked_about() -> None:
    pool = mp.PoolPicker([["a", "b"], ["b", "a"], ["a", "a"]], tolerance=0.0)
    before = progress_of(pool)
    for item in (1, 2):
        take_out(pool, item)
    assert pool.open_items == [1]
    for item in (1, 2):
        put_back(pool, item)
    after = progress_of(pool)
    assert after["proof"].pop("asked") == before["proof"].pop("asked") + 1  # which only says how long ago it was
    assert after == before
    assert sorted(pool.ask(2)) == [0, 1]


def test_to_grow_twice_is_to_grow_once_by_both() -> None:
    rows, labels = make_pool(400, 1)
    pools = [mp.PoolPicker(rows[:200], seed=2) for _ in range(2)]
    for pool in pools:
        for item in pool.ask(30):
            pool.tell(item, int(labels[item]))
        pool.ask(4)
    first, second = pools
    classes = first.classes
    grow(first, rows[200:], classes, 0.1)
    grow(second, rows[200:230], classes, 0.5)
    grow(second, rows[230:], classes, 0.1)
    assert progress_of(first) == progress_of(second)
    assert first.ask(3) == second.ask(3)
    assert first.labels_used == 30
    assert len(first) == 400


@pytest.mark.slow
def test_a_pool_that_grows_is_rarely_certified_falsely() -> None:
    """Two models that are nearly level, and items come after the first proof: somebody looks after each label.

    100 pools, an error of 20 % for all growths together. More than 35 false ones would come about with probability
    below 0.001 if all of the error were used.
    """
    false = grown = 0
    for seed in range(100):
        rows, labels = make_pool(160, seed, gap=0.03)
        pool = mp.PoolPicker(rows[:60], seed=seed, tolerance=0.02, confidence=0.8)
        pool.error_share = error_share(0)
        wrong, growths = False, 0
        for end in (110, 160, None):
            while not pool.done:
                (item,) = pool.ask(1)
                pool.tell(item, int(labels[item]))
                right = (rows[: len(pool)] == labels[: len(pool), None]).sum(axis=0)
                behind = int(right.max() - right[pool.recommended_index])
                wrong |= pool.certified and behind > 0.02 * len(pool)
            if end is not None:
                growths += has_bets(pool)
                grow(pool, rows[len(pool) : end], pool.classes, error_share(growths))
        grown += growths > 1
        false += wrong
    assert grown > 80
    assert false <= 35
