"""Whatever type of integers predictions have, kernels get one, and are compiled once."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.algorithms.run_modes import CAMPAIGN, CERTIFIED_STREAM, STREAM
from modelpicker.algorithms.runner import RunMode, runner
from modelpicker.certificates.evidence_kernels import evidence_kernels
from modelpicker.experiments.playing import EXPERIMENT
from modelpicker.kernels.compiler import CompiledKernel

Matrix = npt.NDArray[Any]

TYPES = (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    ">i4",
    ">i8",
    "float32",
    "float64",
)
MODELS = 4


def drawn(rounds: int, classes: int = 2) -> tuple[Matrix, Matrix]:
    """Predictions and labels of a stream; of two classes, so that they may also be truth values."""
    chance = np.random.default_rng(5)
    labels = chance.integers(0, classes, rounds)
    wrong = chance.integers(0, classes, (rounds, MODELS))
    return np.where(chance.random((rounds, MODELS)) < [0.5, 0.6, 0.7, 0.9], labels[:, None], wrong), labels


def memory_mapped(folder: Path, values: Matrix) -> Matrix:
    """The same values in a file that is not read before it is used."""
    np.save(folder / "values.npy", values)
    mapped: Matrix = np.load(folder / "values.npy", mmap_mode="r")
    return mapped


def as_all_types(folder: Path, values: Matrix) -> list[Matrix]:
    """The same values in every type, order and place that an array of whole numbers can have."""
    made = [values.astype(kind) for kind in TYPES]
    locked = values.astype(np.int32)
    locked.flags.writeable = False
    return [
        *made,
        values.astype(np.bool_),
        locked,
        np.asfortranarray(values),
        np.asfortranarray(values.astype(np.int32)),
        values.repeat(2, axis=0)[::2],
        memory_mapped(folder, values.astype(np.int64)),
    ]


def count_of(kernel: CompiledKernel) -> int:
    """For how many combinations of types a kernel was compiled in this process, or loaded."""
    dispatcher: Any = kernel.dispatcher()
    return len(dispatcher.signatures)


def as_bytes(trace: mp.Trace) -> list[bytes]:
    columns: tuple[Matrix, ...] = (
        trace.queried,
        trace.probability,
        trace.recommended,
        trace.predicted,
        trace.losses,
    )
    return [column.tobytes() for column in columns]


def played(picker: mp.Algorithm, rows: Matrix, labels: Matrix) -> list[bytes]:
    return as_bytes(mp.run_stream(picker, rows, labels))


def stopped(picker: mp.Algorithm, rows: Matrix, labels: Matrix) -> list[bytes]:
    trace = mp.run_stream(picker, rows, labels, stop_when=mp.Certified(gap=0.2))
    assert trace.certificate is not None
    return as_bytes(trace)


@pytest.mark.parametrize(("run", "mode"), [(played, STREAM), (stopped, CERTIFIED_STREAM)], ids=["whole", "stopped"])
def test_a_stream_of_any_type_gives_the_same_bits_and_is_compiled_once(
    tmp_path: Path,
    run: Callable[[mp.Algorithm, Matrix, Matrix], list[bytes]],
    mode: RunMode,
) -> None:
    rows, labels = drawn(600)
    expected = run(mp.ModelPicker(MODELS), rows, labels)
    for same in as_all_types(tmp_path, rows):
        assert run(mp.ModelPicker(MODELS), same, labels) == expected, same.dtype
        assert run(mp.ModelPicker(MODELS), same, labels.astype(same.dtype)) == expected, same.dtype
    assert count_of(runner(mp.ModelPicker.kernel, mode).play) == 1


def test_evidence_of_streams_of_any_type_is_the_same_and_is_compiled_once(tmp_path: Path) -> None:
    evidence_kernels().warm_up()
    rows, labels = drawn(600)
    found = set()
    for same in as_all_types(tmp_path, rows):
        picker = mp.ModelPicker(MODELS)
        mp.run_stream(picker, same, labels)
        found.add((picker.certificate(kind="stream").gap, picker.recorder.document()))
    assert len(found) == 1
    assert count_of(evidence_kernels().gather) == 1
    assert count_of(evidence_kernels().read) == 1


@pytest.mark.parametrize("classes", [2, 100, 1_000, 100_000])
def test_campaigns_take_any_type_and_are_compiled_once(tmp_path: Path, classes: int) -> None:
    rows, _ = drawn(50, classes)
    kept = memory_mapped(tmp_path, rows)
    kernel = runner(mp.ModelPicker.kernel, CAMPAIGN)
    found = set()
    for number, same in enumerate((rows, kept, rows.astype(np.int32), np.asfortranarray(rows))):
        url = f"sqlite:///{tmp_path}/{number}.db"
        campaign = mp.create_campaign(url, "any", models=["a", "b", "c", "d"], budget=20, seed=3)
        campaign.warm_up()
        assert kernel.play.ready
        decisions = campaign.ask_many(same)
        campaign.tell(next(one.id for one in decisions if one.query), int(same[0, 0]))
        campaign.close()
        again = mp.open_campaign(url, "any")  # what comes from the storage is read-only
        found.add((tuple(one.probability for one in decisions), again.best().model))
        again.close()
    assert len(found) == 1
    assert count_of(kernel.play) == 1


def test_experiments_take_any_type_and_are_compiled_once(tmp_path: Path) -> None:
    rows, labels = drawn(300)
    found = set()
    for same in (
        *(rows.astype(kind) for kind in TYPES[:8]),
        np.asfortranarray(rows),
        memory_mapped(tmp_path, rows),
    ):
        collection = mp.ModelCollection(same, labels)
        results = mp.compare(
            collection, methods=["label-efficient"], budgets=[20], stream_size=100, realizations=3, seed=0
        )
        found.add(str(results.to_frame()))
    assert len(found) == 1
    assert count_of(runner(mp.LabelEfficient.kernel, EXPERIMENT).play) == 1


def test_codes_too_large_for_the_kernels_type_are_still_told_apart() -> None:
    """Of 4,096 rounds by 300 models, each answer another: more codes than a kernel addresses directly."""
    rows = 2**40 + np.arange(4_096 * 300).reshape(4_096, 300)
    trace = mp.run_stream(mp.LabelEfficient(300, probability=1.0), rows, rows[:, 299])
    assert trace.losses.tolist() == [4_096.0] * 299 + [0.0]
    assert trace.predicted[-1] == rows[-1, 299]
    beyond = np.array([[2**32, 2**32 + 1, 2**31, -1]] * 3)  # as int32 these would be 0, 1 and an abstention or less
    trace = mp.run_stream(mp.LabelEfficient(4, probability=1.0), beyond, [2**32] * 3)
    assert trace.losses.tolist() == [0.0, 3.0, 3.0, 3.0]
    with pytest.raises(mp.InputError, match="row 1, model 0"):
        mp.run_stream(mp.LabelEfficient(2, probability=1.0), np.array([[0, 1], [-(2**32), 1]]), [0, 0])


@pytest.mark.parametrize("signs", [False, True])
def test_a_memory_mapped_file_is_never_whole_in_memory(tmp_path: Path, signs: bool) -> None:
    """128 MB of int64, also where all labels look like signs; as int32 it would still be 64 MB."""
    rounds, models = 400_000, 40
    values = np.lib.format.open_memmap(tmp_path / "large.npy", "w+", np.int64, (rounds, models))
    values[:] = 1
    values[:, 0] = -1 if signs else 0
    values[-1, 1] = 0
    values.flush()
    del values
    mapped = np.load(tmp_path / "large.npy", mmap_mode="r")
    labels = np.ones(rounds, dtype=np.int64)
    labels[0] = -1
    mp.run_stream(mp.ModelPicker(models), mapped[:10], labels[:10])  # what compiles or loads is not counted
    tracemalloc.start()
    try:
        mp.run_stream(mp.ModelPicker(models), mapped, labels)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60e6
