"""Whole streams: what comes in, in every form; what comes out, exactly of the design page."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream, play, same_state
from modelpicker.algorithms.stream_input import CHUNK_ROUNDS, FEW_CLASSES, MANY_CLASSES
from tests.algorithms.test_check_algorithm import FACTORIES

PREDICTIONS, LABELS = make_stream(0, rounds=300, models=6, classes=5)


def same_trace(one: mp.Trace, other: mp.Trace) -> None:
    for column in ("queried", "probability", "recommended", "predicted", "losses"):
        assert np.array_equal(getattr(one, column), getattr(other, column)), column
    assert (one.winner, one.labels_used) == (other.winner, other.labels_used)


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: rows.astype(np.int8),
        lambda rows: rows.astype(np.uint8),
        lambda rows: rows.astype(np.int16),
        lambda rows: rows.astype(np.uint16),
        lambda rows: rows.astype(np.int32),
        lambda rows: rows.astype(np.uint64),
        lambda rows: rows.astype(np.float32),
        lambda rows: rows.astype(np.float64),
        lambda rows: rows.astype(np.float16),
        lambda rows: rows.astype(np.longdouble),
        lambda rows: rows.astype(">i4"),
        lambda rows: np.asfortranarray(rows),
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
        lambda rows: np.repeat(rows, 2, axis=0)[::2],
        lambda rows: rows.tolist(),
        lambda rows: rows.astype(float).tolist(),
        lambda rows: [tuple(row) for row in rows],
        lambda rows: rows.astype(object),
    ],
)
def test_every_form_of_the_same_codes_gives_the_same_trace(form: Any) -> None:
    expected = mp.run_stream(mp.ModelPicker(6, 1), PREDICTIONS, LABELS)
    same_trace(expected, mp.run_stream(mp.ModelPicker(6, 1), form(PREDICTIONS), LABELS))


def test_a_read_only_file_in_memory_map_is_a_stream(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", PREDICTIONS.astype(np.int8))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    expected = mp.run_stream(mp.ModelPicker(6, 1), PREDICTIONS, LABELS)
    same_trace(expected, mp.run_stream(mp.ModelPicker(6, 1), mapped, LABELS))


def test_booleans_are_two_classes() -> None:
    rows, labels = PREDICTIONS % 2, LABELS % 2
    expected = mp.run_stream(mp.ModelPicker(6, 1), rows, labels)
    same_trace(expected, mp.run_stream(mp.ModelPicker(6, 1), rows.astype(bool), labels.astype(bool)))


@pytest.mark.parametrize("offset", [FEW_CLASSES - 3, 2**16, MANY_CLASSES - 2, MANY_CLASSES + 5, 2**40])
@pytest.mark.parametrize("make", [mp.ModelPicker, lambda k, seed: mp.VoteEntropy(k, seed, classes=5)])
def test_large_codes_are_codes_like_any_other(offset: int, make: Any) -> None:
    """The same classes under other numbers, large ones from the middle of a stream of two chunks on."""
    rows, labels = make_stream(3, rounds=CHUNK_ROUNDS + 500, models=6, classes=5, abstaining=0.1)
    far_rows, far_labels = rows.copy(), labels.copy()
    far_rows[700:][rows[700:] >= 0] += offset
    far_labels[700:] += offset
    near, far = make(6, 2), make(6, 2)
    expected, trace = mp.run_stream(near, rows, labels), mp.run_stream(far, far_rows, far_labels)
    same_state(near, far)
    shifted = expected.predicted.copy()
    shifted[700:][shifted[700:] >= 0] += offset
    assert np.array_equal(trace.predicted, shifted)
    assert np.array_equal(trace.queried, expected.queried)


@pytest.mark.parametrize("rounds", [0, 1, CHUNK_ROUNDS - 1, CHUNK_ROUNDS, CHUNK_ROUNDS + 1])
def test_chunks_leave_no_seam(rounds: int) -> None:
    rows, labels = make_stream(4, rounds=rounds, models=4, classes=3)
    whole, halves = mp.ModelPicker(4, 0), mp.ModelPicker(4, 0)
    trace = mp.run_stream(whole, rows, labels)
    assert len(trace) == len(trace.queried) == rounds
    for part in np.array_split(np.arange(rounds), 3):
        mp.run_stream(halves, rows[part], labels[part])
    same_state(whole, halves)


def test_an_empty_stream_changes_nothing() -> None:
    picker = mp.ModelPicker(3, 0)
    trace = mp.run_stream(picker, np.zeros((0, 3), dtype=int), [])
    assert (len(trace), trace.labels_used, trace.winner) == (0, 0, picker.recommended)


def test_the_trace_covers_its_call_and_the_picker_moves_on() -> None:
    picker, stepwise = mp.ModelPicker(6, 7), mp.ModelPicker(6, 7)
    play(picker, PREDICTIONS[:100], LABELS[:100])
    trace = mp.run_stream(picker, PREDICTIONS[100:], LABELS[100:])
    decisions = play(stepwise, PREDICTIONS, LABELS)
    assert len(trace) == 200
    assert picker.rounds == 300
    assert trace.labels_used == sum(decision.query for decision in decisions[100:]) == trace.queried.sum()
    assert [decision.recommended for decision in decisions[100:]] == trace.recommended.tolist()
    assert trace.winner == stepwise.recommended == picker.recommended


def test_recommended_is_what_stood_before_the_label_and_winner_what_stands_after() -> None:
    trace = mp.run_stream(mp.ModelPicker(2, 0, query_scale=100.0), [[0, 1]], [1])
    assert trace.queried.all()
    assert trace.winner == 1
    assert {int(mp.run_stream(mp.ModelPicker(2, s), [[0, 1]], [1]).recommended[0]) for s in range(20)} == {0, 1}


def test_a_label_of_minus_one_or_none_is_a_skip() -> None:
    skipped = LABELS.copy()
    skipped[::3] = -1
    by_code = mp.run_stream(mp.ModelPicker(6, 2, query_scale=9.0), PREDICTIONS, skipped)
    named = [None if label < 0 else int(label) for label in skipped]
    same_trace(by_code, mp.run_stream(mp.ModelPicker(6, 2, query_scale=9.0), PREDICTIONS, named))
    assert by_code.labels_used == (by_code.queried & (skipped >= 0)).sum() < by_code.queried.sum()


def test_open_queries_stay_open_while_a_stream_goes_by() -> None:
    picker = mp.ModelPicker(6, 2, query_scale=100.0)
    decision = picker.observe([0, 1, 2, 3, 4, 5])
    mp.run_stream(picker, PREDICTIONS, LABELS)
    assert picker.open_queries == (decision.round,)
    before = picker.losses
    picker.learn(decision.round, 3)
    assert (picker.losses - before).argmin() == 3


def test_classes_of_strings_are_listed_in_the_trace() -> None:
    rows = [["yes", "no", None], ["no", "no", "maybe"]] * 20
    trace = mp.run_stream(mp.ModelPicker(3, 0), rows, ["yes", "never"] * 20)
    assert trace.classes == ("yes", "no", "maybe")
    assert set(trace.predicted.tolist()) <= {-1, 0, 1, 2}
    assert mp.run_stream(mp.ModelPicker(3, 0), [[0, 1, 1]], [1]).classes is None


def test_numbers_beside_none_are_codes_still() -> None:
    trace = mp.run_stream(mp.ModelPicker(3, 0), [[7, None, 7], [None, None, 9]] * 20, [7, None] * 20)
    assert trace.classes is None
    assert set(trace.predicted.tolist()) == {-1, 7, 9}


def test_arrays_in_a_trace_have_the_length_of_the_stream_and_hold_indices() -> None:
    trace = mp.run_stream(mp.ModelPicker(list("abcdef"), 0), PREDICTIONS, LABELS)
    for column in (trace.queried, trace.probability, trace.recommended, trace.predicted):
        assert column.shape == (300,)
    assert trace.queried.dtype == bool
    assert set(trace.recommended.tolist()) <= set(range(6))
    assert trace.losses.shape == (6,)
    assert trace.winner in list("abcdef")


@pytest.mark.parametrize("code", [5, FEW_CLASSES, MANY_CLASSES, 2**53 + 1, 2**63 - 1])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
@pytest.mark.parametrize("label", ["skip", "mine", "nobody's"])
def test_skips_and_labels_are_found_beside_codes_of_any_size(code: int, dtype: type, label: str) -> None:
    rows: Any = np.array([[code, 1, code - 1], [code, 1, 1]], dtype=dtype)
    told = {"skip": -1, "mine": code, "nobody's": 3}[label]
    slow, fast = (mp.LabelEfficient(3, 0, probability=1.0) for _ in range(2))
    play(slow, rows, [told, told])
    mp.run_stream(fast, rows, [told, told])
    same_state(slow, fast)
    assert slow.losses.tolist() == {"skip": [0, 0, 0], "mine": [0, 2, 2], "nobody's": [2, 2, 2]}[label]


def test_numpys_own_strings_are_strings() -> None:
    words = [["a", "b", "b"]] * 50
    expected = mp.run_stream(mp.ModelPicker(3, 0), words, ["b"] * 50)
    variable = np.array(words, dtype=np.dtypes.StringDType())
    same_trace(expected, mp.run_stream(mp.ModelPicker(3, 0), variable, np.array(["b"] * 50)))


def test_empty_lists_are_an_empty_stream() -> None:
    assert len(mp.run_stream(mp.ModelPicker(3, 0), [], [])) == 0


def test_many_threads_run_their_own_pickers_at_once() -> None:
    expected = [mp.run_stream(mp.ModelPicker(6, seed), PREDICTIONS, LABELS) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        traces = list(pool.map(lambda seed: mp.run_stream(mp.ModelPicker(6, seed), PREDICTIONS, LABELS), range(16)))
    for one, other in zip(expected, traces, strict=True):
        same_trace(one, other)


@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_a_budget_ends_a_stream_with_the_round_that_spends_it(name: str) -> None:
    predictions, labels = make_stream(3, 300, 5, 3)
    whole = FACTORIES[name](5, 1)
    uncut = mp.run_stream(whole, predictions, labels)
    budget = uncut.labels_used // 2
    assert budget >= 2
    picker = FACTORIES[name](5, 1)
    trace = mp.run_stream(picker, predictions, labels, budget=budget)
    assert (trace.labels_used, trace.stopped) == (budget, "budget")
    last = int(np.flatnonzero(uncut.queried)[budget - 1])
    assert len(trace) == picker.rounds == last + 1
    assert trace.queried.tolist() == uncut.queried[: last + 1].tolist()
    # What is left continues as if nothing had been cut.
    rest = mp.run_stream(picker, predictions[last + 1 :], labels[last + 1 :], budget=10_000)
    assert rest.stopped in ("end", "won")
    assert (picker.losses == whole.losses).all()
    assert len(trace) + len(rest) == len(uncut)


def test_a_budget_and_a_certificate_end_a_stream_whichever_comes_first() -> None:
    predictions, labels = make_stream(3, 2_000, 3, 3)
    rule = mp.Certified(gap=0.2)
    free = mp.run_stream(mp.ModelPicker(3, query_scale=8.0), predictions, labels, stop_when=rule)
    assert free.stopped == "certified"
    less = mp.run_stream(mp.ModelPicker(3, query_scale=8.0), predictions, labels, stop_when=rule, budget=5)
    assert (less.stopped, less.labels_used, less.certificate) == ("budget", 5, None)
    more = mp.run_stream(
        mp.ModelPicker(3, query_scale=8.0), predictions, labels, stop_when=rule, budget=free.labels_used
    )
    assert (more.stopped, len(more)) == ("certified", len(free))


@pytest.mark.parametrize("budget", [0, -1, 1.5, "7", True])
def test_a_budget_that_makes_no_sense_is_refused(budget: Any) -> None:
    with pytest.raises(mp.InputError, match="budget"):
        mp.run_stream(mp.ModelPicker(2), [[0, 1]], [0], budget=budget)
