"""Slices: the best model of each part of a file, with shared labels and a shared error."""

import json

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.slice_values import MISSING, read_slices
from modelpicker.algorithms.pools.slices import CHEAP


def two_markets(items: int = 400) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Model a is the best in one half of the items, model b in the other; c is worse in both."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 4, items)
    slices = np.where(np.arange(items) % 2 == 0, "en", "de")
    accuracy = np.where((slices == "en")[:, None], [0.95, 0.7, 0.6], [0.7, 0.95, 0.6])
    right = random.random((items, 3)) < accuracy
    rows = np.where(right, truth[:, None], (truth[:, None] + random.integers(1, 4, (items, 3))) % 4)
    return rows, truth, slices.tolist()


def play(pool: mp.SlicePicker, truth: np.ndarray) -> mp.SlicePicker:
    """Label until it is done."""
    mp.run_pool(pool, truth.tolist())
    return pool


def right_in(rows: np.ndarray, truth: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.asarray((rows[places] == truth[places][:, None]).sum(axis=0))


def test_each_slice_gets_its_own_model_and_every_label_counts_twice() -> None:
    rows, truth, slices = two_markets()
    pool = play(mp.SlicePicker(rows, slices, ["a", "b", "c"], tolerance=0.02), truth)
    assert pool.done
    assert pool.certified
    assert {row.value: row.model for row in pool.slices} == {"en": "a", "de": "b"}
    assert all(row.certified and row.state == "certified" and row.gap <= 0.02 for row in pool.slices)
    assert sum(row.labels for row in pool.slices) == pool.labels_used
    assert pool.slices.same_everywhere is False
    other = next(row for row in pool.slices if row.model != pool.recommended)
    assert other.same is False
    assert other.behind > 0.1
    assert pool.slices.sentence.startswith("Not the same everywhere: ")


def test_one_model_that_is_the_best_in_all_slices_is_the_same_everywhere() -> None:
    rows = np.array([[0, 1, 2]] * 150 + [[0, 0, 0]] * 150)
    truth = np.zeros(300, dtype=int)
    pool = play(mp.SlicePicker(rows, ["x", "y", "z"] * 100, tolerance=0.02), truth)
    assert pool.slices.same_everywhere is True
    assert pool.slices.sentence == (
        "The same everywhere: 0 is within 2 points of the best model in all 3 slices "
        "(95% confidence for all slices together)."
    )


def test_the_whole_file_is_asked_about_first_as_without_slices() -> None:
    """The same questions, until the draws for the proof are fewer: half of the error is for the slices."""
    rows, truth, slices = two_markets()
    sliced, plain = mp.SlicePicker(rows, slices, tolerance=0.02), mp.PoolPicker(rows, tolerance=0.02)
    for _ in range(20):
        asked = sliced.ask(1)
        assert asked == plain.ask(1)
        for pool in (sliced, plain):
            pool.tell(asked[0], int(truth[asked[0]]))


def test_a_state_that_was_saved_goes_on_with_the_same_questions() -> None:
    rows, truth, slices = two_markets()
    pool = mp.SlicePicker(rows, slices, tolerance=0.02)
    mp.run_pool(pool, truth.tolist(), budget=120)
    pool.ask(2)
    blob = json.loads(json.dumps(pool.state_dict()))
    again = mp.SlicePicker.from_state_dict(blob, rows, slices=slices)
    assert again.slices == pool.slices
    assert again.open_items == pool.open_items
    for _ in range(40):
        asked = pool.ask(1)
        assert again.ask(1) == asked
        for one in (pool, again) if asked else ():
            one.tell(asked[0], int(truth[asked[0]]))
    assert again.slices == pool.slices


def test_a_state_of_other_slices_is_refused() -> None:
    rows, _, slices = two_markets()
    blob = mp.SlicePicker(rows, slices).state_dict()
    with pytest.raises(mp.StateError, match="other predictions, slices"):
        mp.SlicePicker.from_state_dict(blob, rows, slices=slices[::-1])
    with pytest.raises(mp.StateError, match="not the state of a pool with slices"):
        mp.SlicePicker.from_state_dict(mp.PoolPicker(rows).state_dict(), rows, slices=slices)


def test_labels_in_any_order_asked_for_or_not_leave_the_same_counts() -> None:
    rows, truth, slices = two_markets(60)
    pool = mp.SlicePicker(rows, slices, tolerance=0.05)
    asked = pool.ask(8)
    assert len(set(asked)) == 8
    for item in [*reversed(asked), *range(60)]:
        pool.tell(item, int(truth[item]))
    places = np.array([place for place, value in enumerate(slices) if value == "en"])
    found = right_in(rows, truth, places)
    assert pool.slices["en"].model == int(found.argmax())
    assert pool.slices["en"].gap == 0.0
    assert pool.done
    assert pool.labels_used == 60
    assert pool.open_items == []
    with pytest.raises(mp.ConflictError):
        pool.tell(0, int(truth[0] + 1) % 4)


def test_a_small_slice_is_said_to_be_undecided_and_gets_no_labels_of_its_own() -> None:
    rows, truth, slices = two_markets(600)
    slices[:30] = ["fr"] * 30
    pool = play(mp.SlicePicker(rows, slices, tolerance=0.02), truth)
    row = pool.slices["fr"]
    assert pool.done
    assert row.state == "undecided"
    assert row.labels < row.contested
    assert "30 items are too few for a tolerance of 2 points: 50 are needed." in row.reason
    assert row.same is None
    assert pool.slices["en"].certified
    assert "fr: 30 items are too few" in str(pool.slices)


def test_a_small_slice_is_settled_by_counting_if_that_is_cheap() -> None:
    rows, truth, slices = two_markets(600)
    slices[:CHEAP] = ["fr"] * CHEAP
    pool = play(mp.SlicePicker(rows, slices, tolerance=0.02), truth)
    assert pool.slices["fr"].certified
    assert pool.slices["fr"].gap == 0.0


def test_a_slice_on_which_all_models_agree_is_certain_without_a_label() -> None:
    rows = np.array([[0, 1]] * 60 + [[1, 1]] * 40)
    row = mp.SlicePicker(rows, ["a"] * 60 + ["b"] * 40, tolerance=0.05).slices["b"]
    assert (row.certified, row.gap, row.labels, row.reason) == (True, 0.0, 0, "All models give the same answers.")


def test_a_slice_of_one_item_and_missing_values_are_slices() -> None:
    rows, truth, _ = two_markets(100)
    values = [None] * 50 + [""] * 20 + [float("nan")] * 9 + ["  "] * 20 + ["one"]
    pool = play(mp.SlicePicker(rows, values, tolerance=0.05), truth)
    assert pool.values == (MISSING, "one")
    assert pool.slices[MISSING].items == 99
    assert pool.slices["one"].certified


def test_one_slice_is_the_file() -> None:
    rows, truth, _ = two_markets()
    sliced = play(mp.SlicePicker(rows, ["en"] * 400, tolerance=0.02), truth)
    plain = mp.PoolPicker(rows, tolerance=0.02)
    mp.run_pool(plain, truth.tolist())
    assert sliced.labels_used == plain.labels_used
    row = sliced.slices["en"]
    assert (row.model, row.certified, row.labels, row.same) == (plain.recommended, True, plain.labels_used, True)


def test_labels_that_are_missing_leave_slices_undecided() -> None:
    rows, truth, slices = two_markets(120)
    pool = mp.SlicePicker(rows, slices, tolerance=0.05)
    labels = [None if value == "de" else int(label) for value, label in zip(slices, truth, strict=True)]
    mp.run_pool(pool, labels)
    assert pool.done
    assert pool.slices["en"].certified
    assert pool.slices["de"].state == "undecided"
    assert "labels are missing" in pool.slices["de"].reason


def test_when_the_budget_is_spent_slices_are_not_yet_decided() -> None:
    rows, truth, slices = two_markets()
    pool = mp.SlicePicker(rows, slices, tolerance=0.02)
    mp.run_pool(pool, truth.tolist(), budget=5)
    assert [row.state for row in pool.slices] == ["not yet", "not yet"]
    assert pool.slices.same_everywhere is None
    assert "2 are open." in pool.slices.sentence


def test_hundreds_of_slices_share_the_error() -> None:
    rows, truth, _ = two_markets(2_000)
    pool = mp.SlicePicker(rows, [str(place % 200) for place in range(2_000)], tolerance=0.2)
    shares = [part.error_share for part in pool._parts]
    assert pool.error_share + sum(shares) == pytest.approx(1.0)
    mp.run_pool(pool, truth.tolist(), budget=10)
    assert len(pool.slices) == 200
    assert pool.ask(3)


def test_shares_of_the_error_never_exceed_it() -> None:
    rows, _, slices = two_markets(600)
    slices[:30] = ["fr"] * 30
    for tolerance in (0.0, 0.001, 0.02, 0.5):
        pool = mp.SlicePicker(rows, slices, tolerance=tolerance)
        assert pool.error_share + sum(part.error_share for part in pool._parts) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("slices", "told"),
    [
        ("language", "not one value per item"),
        (["en"] * 3, "3 values, but 40 items"),
        (None, "not one value per item"),
        ([str(place) for place in range(40)], "every item has another value"),
    ],
)
def test_slices_that_make_no_sense_are_an_error(slices: object, told: str) -> None:
    with pytest.raises(mp.ModelPickerError, match=told):
        mp.SlicePicker([[0, 1]] * 40, slices)


def test_too_many_slices_are_an_error() -> None:
    with pytest.raises(mp.ModelPickerError, match="2,000 values"):
        read_slices([str(place // 2) for place in range(4_000)], 4_000, "user")


def test_a_slice_that_is_not_there_is_named() -> None:
    rows, _, slices = two_markets(40)
    with pytest.raises(mp.NotFoundError, match="there are de, en"):
        mp.SlicePicker(rows, slices).slices["fr"]


def test_a_judge_helps_in_every_slice() -> None:
    rows, truth, slices = two_markets()
    alone = play(mp.SlicePicker(rows, slices, tolerance=0.02), truth)
    judged = play(mp.SlicePicker(rows, slices, tolerance=0.02, judge=truth.tolist()), truth)
    assert judged.labels_used < alone.labels_used


def test_slices_speak_of_the_loss_of_the_pool() -> None:
    """Mistakes on class 0 cost nothing: a is as good as b in both slices, however often it takes 0 for 1."""
    rows = np.array([[1, 0], [1, 1]] * 100)
    slices, truth = ["x", "y"] * 100, np.array([0, 1] * 100)
    pool = play(mp.SlicePicker(rows, slices, ["a", "b"], tolerance=0.05, loss={0: 0.0, 1: 1.0}), truth)
    assert pool.slices.same_everywhere is True
    assert pool.certificate().loss != "accuracy"
    again = mp.SlicePicker.from_state_dict(pool.state_dict(), rows, slices=slices)
    assert again.slices == pool.slices
