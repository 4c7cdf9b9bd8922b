"""Bad input: an error that names the culprit and the remedy, and a picker that is as it was."""

import re
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream

NAN = float("nan")


@pytest.fixture
def picker() -> mp.ModelPicker:
    """A picker in mid-stream, with one query open."""
    picker = mp.ModelPicker(models=3, seed=0, query_scale=100.0)
    first, second = picker.observe([0, 1, 1]), picker.observe([0, 1, 1])
    assert first.query
    assert second.query
    picker.learn(first.round, 1)
    picker.observe([1, 1, 1])
    return picker


def refused(picker: mp.Algorithm, attempt: Callable[[], object], kind: type[Exception], *words: str) -> None:
    before = picker.state_dict()
    with pytest.raises(kind) as caught:
        attempt()
    assert isinstance(caught.value, mp.ModelPickerError)
    for word in words:
        assert word in str(caught.value)
    assert picker.state_dict() == before


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0, 1], ("2 predictions", "3 models", "pass one per model")),
        ([0, 1, 2, 0], ("4 predictions", "3 models")),
        ([], ("0 predictions",)),
        ([0, NAN, 1], ("model 1", "NaN", "-1 or None")),
        (np.array([0, np.nan, 1]), ("model 1", "NaN")),
        ([0, 1.5, 1], ("model 1", "1.5", "whole number")),
        ([0, float("inf"), 1], ("model 1", "inf")),
        ([0, 1, -3], ("model 2", "-3", "-1 or None")),
        ([0, 1, b"cat"], ("model 2", "bytes", "strings")),
        ([0, 1, [1]], ("model 2", "list")),
        (["a", 1, "b"], ("'a' is a string", "1 a whole number", "one form")),
        ({"a": 0, "b": 1, "c": 1}, ("{'a': 0", "sequence of 3", "order of the models")),
        ({0, 1, 2}, ("sequence of 3",)),
        (b"abc", ("b'abc'", "sequence of 3")),
        (np.ma.array([0, 1, 1], mask=[False, False, True]), ("sequence of 3",)),
        ([0, 1, 2**63], ("model 2", "too large")),
        ([0, 1, -(10**5000)], ("model 2", "not a class")),
        ("cat", ("'cat'", "sequence of 3")),
        (5, ("5", "sequence of 3")),
    ],
)
def test_a_bad_row_is_refused(picker: mp.ModelPicker, row: Any, words: tuple[str, ...]) -> None:
    refused(picker, lambda: picker.observe(row), mp.InputError, *words)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (2, ("round 2", "not queried", "known already")),
        (0, ("round 0", "known already")),
        (3, ("round 3", "unknown", "3 rounds")),
        (-1, ("round -1", "unknown")),
        ("1", ("'1'", "not a round")),
        (1.0, ("1.0", "not a round")),
        (None, ("None", "not a round")),
    ],
)
def test_a_label_for_a_round_without_open_query_is_refused(
    picker: mp.ModelPicker, number: Any, words: tuple[str, ...]
) -> None:
    refused(picker, lambda: picker.learn(number, 1), mp.RoundError, *words)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (NAN, ("round 1", "NaN")),
        (0.5, ("round 1", "0.5")),
        (-3, ("round 1", "-3")),
        ("dog", ("'dog'", "whole numbers", "same form")),
        (b"dog", ("bytes",)),
    ],
)
def test_a_bad_label_is_refused_and_the_query_stays_open(
    picker: mp.ModelPicker, label: Any, words: tuple[str, ...]
) -> None:
    refused(picker, lambda: picker.learn(1, label), mp.InputError, *words)
    picker.learn(1, 0)


def test_a_label_told_twice_is_refused(picker: mp.ModelPicker) -> None:
    picker.learn(1, 1)
    refused(picker, lambda: picker.learn(1, 1), mp.RoundError, "round 1", "known already")


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (1, ("at least two",)),
        (0, ("at least two",)),
        (-4, ("at least two",)),
        (["only"], ("at least two",)),
        ([], ("at least two",)),
        (["a", "b", "a"], ("'a'", "twice")),
        ([0, 1, 0], ("0", "twice")),
        ("ab", ("'ab'", "list of their names")),
        (2.0, ("2.0", "how many")),
        (None, ("None", "how many")),
        ({"a": 1, "b": 2}, ("how many", "list of their names")),
        (2**70, ("at most 1,000,000",)),
        (["a", None], ("None", "NoneType")),
        ([True, False], ("True", "bool")),
    ],
)
def test_bad_models_are_refused(models: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(mp.InputError) as caught:
        mp.ModelPicker(models)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mp.LabelEfficient(3, probability=0.0), ("probability=0.0", "above 0")),
        (lambda: mp.LabelEfficient(3, probability=1.1), ("probability=1.1", "at most 1")),
        (lambda: mp.LabelEfficient(3, probability=NAN), ("probability=nan",)),
        (lambda: mp.LabelEfficient(3, probability="half"), ("probability='half'", "not a number")),  # type: ignore[arg-type]
        (lambda: mp.ModelPicker(3, query_scale=-1.0), ("query_scale=-1.0",)),
        (lambda: mp.ModelPicker(3, query_scale=float("inf")), ("query_scale=inf", "finite")),
        (lambda: mp.ModelPicker(3, predict="guess"), ("predict='guess'", "'sample'", "'leader'")),  # type: ignore[arg-type]
        (lambda: mp.ModelPicker(3, recommend="best"), ("recommend='best'", "'random-round'")),  # type: ignore[arg-type]
        (lambda: mp.VoteEntropy(3, classes=0), ("classes=0",)),
        (lambda: mp.VoteEntropy(3, classes=2.5), ("classes=2.5",)),  # type: ignore[arg-type]
        (lambda: mp.StructuralCommittee(3, beta=NAN), ("beta=nan",)),
        (lambda: mp.StructuralCommittee(3, beta=1, disagreement_scale=-2), ("disagreement_scale=-2",)),
        (lambda: mp.ImportanceWeighted(3, delta=0), ("delta=0",)),
        (lambda: mp.EfficientActive(3, c0=-1e-9), ("c0=-1e-09",)),
        (lambda: mp.EfficientActive(3, c0=1, threshold_scale=True), ("threshold_scale=True",)),
        (lambda: mp.ModelPicker(3, seed=-5), ("seed -5",)),
        (lambda: mp.ModelPicker(3, seed=10**5000), ("seed", "out of range")),
        (lambda: mp.ModelPicker(3, query_scale=10**400), ("query_scale", "finite")),
        (lambda: mp.ModelPicker(3, predict=np.array(["sample"])), ("predict=", "'leader'")),  # type: ignore[arg-type]
    ],
)
def test_a_bad_option_is_refused(make: Callable[[], object], words: tuple[str, ...]) -> None:
    with pytest.raises(mp.InputError) as caught:
        make()
    assert all(word in str(caught.value) for word in words)


def spoilt(row: int, model: int, value: object) -> Any:
    predictions = make_stream(0, rounds=5_000, models=3, classes=3)[0].astype(
        object if isinstance(value, str | bytes) else type(value)
    )
    predictions[row, model] = value
    return predictions


GOOD, LABELS = make_stream(0, rounds=5_000, models=3, classes=3)


@pytest.mark.parametrize(
    ("predictions", "labels", "words"),
    [
        (GOOD[:, :2], LABELS, ("2 columns", "3 models")),
        (GOOD[0], LABELS, ("shape (3,)", "row per round")),
        (GOOD[None], LABELS, ("shape (1, 5000, 3)",)),
        (GOOD, LABELS[:-1], ("5000 rows", "4999 labels")),
        (GOOD, LABELS[:, None], ("shape (5000, 1)", "one label per round")),
        (GOOD.astype(complex), LABELS, ("complex128", "whole numbers or strings")),
        (spoilt(4_500, 2, NAN), LABELS, ("row 4500", "model 2", "NaN")),
        (spoilt(4_500, 1, 0.25), LABELS, ("row 4500", "model 1", "0.25")),
        (spoilt(4_500, 1, -3), LABELS, ("row 4500", "model 1", "-3")),
        (spoilt(3, 0, -9), LABELS, ("row 3", "model 0", "-9")),
        (spoilt(4_999, 0, b"x"), LABELS, ("row 4999", "model 0", "bytes")),
        (spoilt(0, 0, np.uint64(2**63)), LABELS, ("row 0", "too large")),
        (GOOD, np.where(np.arange(5_000) == 4_700, np.nan, LABELS), ("labels", "row 4700", "NaN")),
        (GOOD, np.where(np.arange(5_000) == 7, -2, LABELS), ("labels", "row 7", "-2")),
        (GOOD, LABELS.astype(str), ("labels", "row 0", "string", "whole numbers")),
        (GOOD.astype(str), LABELS, ("labels", "row 0", "whole number", "strings")),
        ([[0, 1, 1], [0, 1]], [0, 1], ("row 1 has 2 entries",)),
        ([[0, 1, 1], 5], [0, 1], ("do not form a table",)),
        ("predictions.csv", [0], ("'predictions.csv'", "not a table")),
        (None, [0], ("None", "not a table")),
        (GOOD, None, ("labels", "None", "not a table")),
        (GOOD, (label for label in LABELS), ("labels", "generator", "pass an array")),
        (GOOD[:4].T, LABELS[:3], ("4 columns", "transposed?")),
        (np.zeros((5, 3, 2)), LABELS[:5], ("shape (5, 3, 2)", "argmax")),
        (np.where(GOOD > 0, 1, -1), np.where(LABELS > 0, 1, -1), ("-1 or 1", "recode")),
        ([["a", 1, "b"]], ["a"], ("row 0", "'a' is a string", "1 a whole number")),
        (np.ma.array(GOOD), LABELS, ("masked", "filled(-1)")),
        (GOOD, [2**64] * 5_000, ("labels", "row 0", "too large")),
        ([["a", "b", "b"], [1, 2, 2]], ["a", "b"], ("labels", "row 1", "string", "whole numbers")),
        (spoilt(4_999, 2, np.uint64(2**63)), LABELS, ("row 4999", "model 2", "too large")),
    ],
)
def test_a_bad_stream_is_refused(
    picker: mp.ModelPicker, predictions: Any, labels: Any, words: tuple[str, ...]
) -> None:
    refused(picker, lambda: mp.run_stream(picker, predictions, labels), mp.InputError, *words)


def test_only_a_picker_can_run_a_stream() -> None:
    with pytest.raises(mp.InputError, match="'model-picker' is not a picker"):
        mp.run_stream("model-picker", GOOD, LABELS)  # type: ignore[arg-type]


def test_after_a_refused_stream_the_picker_goes_on_as_if_it_had_never_been(picker: mp.ModelPicker) -> None:
    other = mp.ModelPicker.from_state_dict(picker.state_dict())
    with pytest.raises(mp.InputError):
        mp.run_stream(picker, spoilt(4_999, 0, -3), LABELS)
    mp.run_stream(picker, GOOD, LABELS)
    mp.run_stream(other, GOOD, LABELS)
    assert picker.state_dict() == other.state_dict()
    assert picker.recommended == other.recommended


def test_a_state_of_another_algorithm_or_version_is_refused() -> None:
    blob = mp.ModelPicker(3).state_dict()
    with pytest.raises(mp.StateError, match="not a state of label-efficient, but of 'model-picker'"):
        mp.LabelEfficient.from_state_dict(blob)
    with pytest.raises(mp.StateError, match="version 99"):
        mp.ModelPicker.from_state_dict({**blob, "version": 99})


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda blob: blob.pop("clock"), "it has no entry 'clock'"),
        (lambda blob: blob.pop("checksum"), "it has no entry 'checksum'"),
        (lambda blob: blob["state"].pop("losses"), "it lacks losses"),
        (lambda blob: blob["state"].update(losses=[0.0, 1.0]), "losses has shape (2,), not (3,)"),
        (lambda blob: blob["state"].update(losses=["a", "b", "c"]), "could not convert"),
        (lambda blob: blob["state"].update(more=[0]), "it has no entry 'more'"),
        (lambda blob: blob["state"].update(standing=[77, 1]), "its checksum is wrong"),
        (lambda blob: blob["clock"].__setitem__(0, 10**6), "its checksum is wrong"),
        (lambda blob: blob["clock"].__setitem__(0, 2**70), "too large"),
        (lambda blob: blob.update(open=[[0.5, 0.5, [0, 1, 1], [0, 1]]]), "no query of round 0.5"),
        (lambda blob: blob.update(open=[[True, 0.5, [0, 1, 1], [0, 1]]]), "no query of round True"),
        (lambda blob: blob.update(open=[[1, 0.5, [0, 1, 1], [0, 0]]]), "no query of round 1 "),
        (lambda blob: blob.update(open=2 * blob["open"]), "no query of round 1 "),
        (lambda blob: blob.update(models=4), "losses has shape (3,), not (4,)"),
        (lambda blob: blob.update(seed="x"), "seed 'x'"),
        (lambda blob: blob.update(options={"query_scale": -1.0}), "query_scale=-1.0"),
        (lambda blob: blob.update(options={"unheard_of": 1}), "unheard_of"),
        (lambda blob: blob.update(open=[[0]]), "missing 3"),
        (lambda blob: blob.update(open=[[0, 2.0, [0, 1, 1], [0, 1]]]), "no query of round 0 "),
        (lambda blob: blob.update(open=[[0, 0.5, [0, 5, 1], [0, 1]]]), "no query of round 0 "),
        (lambda blob: blob.update(open=[[99, 0.5, [0, 1, 1], [0, 1]]]), "no query of round 99"),
    ],
)
def test_a_damaged_state_is_refused(
    damage: Callable[[dict[str, Any]], object], words: str, picker: mp.ModelPicker
) -> None:
    blob = picker.state_dict()
    damage(blob)
    with pytest.raises(mp.StateError, match=f"is damaged: .*{re.escape(words)}"):
        mp.ModelPicker.from_state_dict(blob)


@pytest.mark.parametrize("blob", [None, [], "state", {}])
def test_what_is_no_state_is_refused(blob: Any) -> None:
    with pytest.raises(mp.StateError, match=r"a state is a mapping|not a state of model-picker, but of None"):
        mp.ModelPicker.from_state_dict(blob)


def test_a_state_that_could_lead_a_kernel_astray_is_refused_even_with_the_right_checksum() -> None:
    for field, value in (("standing", [77, 1]), ("standing", [0, 0]), ("losses", [-1.0, 0, 0]), ("kept", [3])):
        picker = mp.ModelPicker(3)
        getattr(picker.state, field)[:] = value
        with pytest.raises(mp.StateError, match="damaged"):
            mp.ModelPicker.from_state_dict(picker.state_dict())
    for field, value in (("alive", [0, 1, 1]), ("alive", [1, 2, 1]), ("survivors", [1])):
        weighted = mp.ImportanceWeighted(3)
        getattr(weighted.state, field)[:] = value
        with pytest.raises(mp.StateError, match="damaged"):
            mp.ImportanceWeighted.from_state_dict(weighted.state_dict())


def test_the_base_class_restores_nothing() -> None:
    with pytest.raises(mp.StateError, match="on the class that saved"):
        mp.Algorithm.from_state_dict(mp.ModelPicker(3).state_dict())


def test_a_frame_with_its_columns_in_another_order_is_taken_by_their_names() -> None:
    frame = pd.DataFrame({"b": [0] * 5, "a": [1] * 5})
    for models in (["a", "b"], ["b", "a"]):
        assert mp.run_stream(mp.ModelPicker(models, query_scale=99.0), frame, [1] * 5).winner == "a"


def test_a_dial_that_names_no_option_is_refused() -> None:
    class Mistyped(mp.LabelEfficient):
        dial = "probabilty"

    with pytest.raises(TypeError, match=r"'probabilty', but its options are \['probability'\]"):
        Mistyped(3, probability=0.5)


def test_pickers_and_traces_show_themselves_in_a_line(picker: mp.ModelPicker) -> None:
    assert "ModelPicker(3 models, seed=0" in repr(picker)
    assert "3 rounds, 1 labels" in repr(picker)
    assert repr(mp.run_stream(picker, GOOD, LABELS)).startswith("Trace(rounds=5000, labels_used=")


def test_a_saved_state_is_a_copy(picker: mp.ModelPicker) -> None:
    blob = picker.state_dict()
    blob["open"][0][2][:] = [0, 0, 0]
    blob["state"]["losses"][:] = [9.0, 9.0, 9.0]
    blob["models"].append("another")
    picker.learn(1, 1)
    assert picker.losses.argmax() == 0
    assert len(picker.models) == 3


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupt_leaves_the_picker_as_it_was_before_or_after_the_call() -> None:
    """Alarms at random moments within a call of some tens of microseconds; whatever they hit, no half is left."""
    row = np.random.default_rng(0).integers(0, 5, 40).tolist()
    before = signal.signal(signal.SIGALRM, interrupt)

    def observe(picker: mp.Algorithm) -> object:
        return picker.observe(row)

    def learn(picker: mp.Algorithm) -> object:
        return picker.learn(0, row[0])  # type: ignore[func-returns-value]

    draw = np.random.default_rng(1)
    hit = 0
    try:
        for trial in range(400):
            picker = mp.VoteEntropy(40, 0, classes=5, query_scale=50.0)
            assert picker.observe(row).query
            untouched = picker.state_dict()
            finished = mp.VoteEntropy.from_state_dict(untouched)
            act: Callable[[mp.Algorithm], object] = observe if trial % 2 else learn
            act(finished)
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-6, 1e-4))
                act(picker)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                hit += 1
            assert picker.state_dict() in (untouched, finished.state_dict())
            twin = mp.VoteEntropy.from_state_dict(picker.state_dict())
            assert picker.observe(row) == twin.observe(row)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert hit > 50
