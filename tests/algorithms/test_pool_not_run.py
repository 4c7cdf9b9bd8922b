"""Models that were not run, in pools: left out of guess and estimate, as the worst in the proof."""

import zlib
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.slices import SlicePicker


def collection(share: float, seed: int = 0, items: int = 400) -> tuple[mp.ModelCollection, mp.ModelCollection]:
    """Items with all answers, and the same with a share of the answers of each model not there."""
    whole = mp.synthetic_collection(items, 5, 4, [0.9, 0.8, 0.7, 0.6, 0.85], seed)
    codes = np.array(whole.predictions)
    codes[np.random.default_rng(seed).random(codes.shape) < share] = mp.NOT_RUN
    return whole, mp.ModelCollection(codes, whole.labels, whole.models, whole.classes)


def asked(pool: mp.PoolPicker, labels: Any, most: int = 120, out: int = 0) -> int:
    """A checksum of what was asked and recommended, with that many labels out at a time."""
    seen: list[int] = []
    waiting: list[int] = []
    while not pool.done and len(seen) < most:
        waiting += pool.ask(1)
        while len(waiting) > out:
            item = waiting.pop(0)
            pool.tell(item, pool.classes[labels[item]])
            seen += [item, pool.recommended_index]
        if not pool.left:
            break
    numbers = np.array(seen, dtype="<i8").tobytes() + pool._proof.money.astype("<f8").tobytes()
    return zlib.crc32(numbers)


def test_a_pool_whose_models_were_all_run_asks_as_it_always_did() -> None:
    """The checksums were written down before models could be absent. Who changes the choice or
    the bets on purpose writes them down again.
    """
    whole = collection(0.0)[0]
    found = [
        asked(mp.PoolPicker(whole, seed=1, tolerance=0.02), whole.labels),
        asked(mp.PoolPicker(whole, seed=2, tolerance=0.0), whole.labels, out=3),
        asked(mp.PoolPicker(whole, seed=3, judge=np.roll(np.asarray(whole.labels), 1)), whole.labels),
    ]
    assert found == CHECKSUMS


CHECKSUMS = [3938697505, 2894860904, 3728120964]


def test_the_best_model_is_named_and_proved_where_few_answers_are_missing() -> None:
    whole, some = collection(0.01)
    pool = mp.PoolPicker(some, tolerance=0.1, seed=2)
    trace = mp.run_pool(pool)
    assert (trace.winner, trace.stopped) == ("model-0", "certified")
    assert sum(pool.never_run.values()) == int((some.predictions == mp.NOT_RUN).sum())
    assert pool.unprovable == ()
    right = (whole.predictions == np.asarray(whole.labels)[:, None]).sum(axis=0)
    assert right.max() - right[0] <= trace.certificate.gap * len(pool)


def test_a_model_that_ran_on_half_of_the_items_is_judged_by_these() -> None:
    whole, _ = collection(0.0)
    codes = np.array(whole.predictions)
    codes[::2, 0] = mp.NOT_RUN  # the best one
    pool = mp.PoolPicker(mp.ModelCollection(codes, whole.labels, whole.models, whole.classes), tolerance=0.01)
    mp.run_pool(pool, budget=150)
    assert pool.recommended == "model-0"
    # On the items where both were run, it is about 20 points better than model-2.
    assert 0.1 < pool.standing["model-2"] < 0.3
    assert not pool.certified
    assert pool.unprovable == tuple(whole.models[1:])
    silent = mp.PoolPicker(np.where(codes == mp.NOT_RUN, -1, codes), tolerance=0.01)
    mp.run_pool(silent, np.asarray(whole.labels), budget=150)
    assert silent.recommended == 4  # not run is not wrong


def test_items_on_which_the_models_that_ran_agree_are_not_asked_about() -> None:
    pool = mp.PoolPicker([["a", "a", mp.NOT_RUN], ["a", "b", mp.NOT_RUN], [mp.NOT_RUN, mp.NOT_RUN, "a"]])
    assert (pool.contested, pool.ask(5)) == (1, [1])
    pool.tell(1, "b")
    assert pool.done
    assert not pool.certified
    assert pool.certificate().gap == 1.0  # the second model may be wrong wherever the third was not run


def test_a_pool_with_absent_models_is_kept_and_gone_on_with() -> None:
    _, some = collection(0.05)
    pool = mp.PoolPicker(some, tolerance=0.05, audit=0.1)
    mp.run_pool(pool, budget=25)
    again = mp.PoolPicker.from_state_dict(pool.state_dict(), some)
    assert again.state_dict() == pool.state_dict()
    assert again.ask(3) == pool.ask(3)
    assert again.standing == pool.standing
    assert set(pool.macro_f1()) == set(pool.models)
    interval, true = pool.accuracy(), some.accuracies
    assert true is not None
    assert interval.low <= true[pool.recommended_index] <= interval.high
    with pytest.raises(mp.StateError):
        mp.PoolPicker.from_state_dict(pool.state_dict(), collection(0.05, seed=1)[1])


def test_other_labels_and_slices_take_absent_models_too() -> None:
    _, some = collection(0.05)
    pool = mp.PoolPicker(some, tolerance=0.2, loss="grades")
    for item in pool.ask(10):
        said = {code for code in some.predictions[item].tolist() if code >= 0}
        pool.tell(item, mp.Label.graded({some.classes[code]: code / 4 for code in said}))
    assert set(pool.standing) == set(some.models)
    sliced = SlicePicker(some, ["x", "y"] * 200, tolerance=0.3)
    mp.run_pool(sliced)
    assert [row.certified for row in sliced.slices] == [True, True]
