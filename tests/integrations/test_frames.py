"""Data frames in and out: pandas, polars, Arrow, and datasets of Hugging Face."""

from collections.abc import Callable
from typing import Any

import datasets
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import modelpicker as mp
from modelpicker.frames import BACKENDS, Backend
from modelpicker.integrations.hugging_face import to_dataset

ROWS = [["spam", "ham"], ["ham", None], ["ham", "ham"]]
MADE = mp.ModelCollection(ROWS, ["spam", "ham", None], ["small", "large"], fields={"id": [7, 8, 9]})


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_collection_goes_out_and_comes_back(backend: Backend) -> None:
    frame = nw.from_native(MADE.to_frame(backend))
    assert frame.implementation.value == backend
    assert frame.columns == ["id", "small", "large", "label"]
    assert nw.to_native(frame)["large"].is_null().sum() == 1 if backend == "polars" else True
    assert mp.ModelCollection(frame.to_native()) == MADE


def picked() -> mp.Pick:
    return mp.pick(mp.ModelCollection([["a", "b"]] * 9, ["b"] * 9))


def results() -> mp.Results:
    return mp.compare(mp.load_collection("digits"), methods=["label-efficient"], budgets=[20], realizations=2)


FRAMES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "trace": (
        lambda: mp.run_stream(mp.ModelPicker(2), [[0, 1]] * 5, [1] * 5),
        ["round", "queried", "probability", "recommended", "predicted"],
    ),
    "pool trace": (
        lambda: mp.run_pool(mp.PoolPicker([["a", "b"]] * 9), ["b"] * 9),
        ["item", "recommended", "gap"],
    ),
    "pick": (
        lambda: picked(),
        ["model", "estimate", "gap", "labels", "since", "covered", "low", "high", "racing"],
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FRAMES)
def test_everything_that_comes_out_is_a_frame_if_you_like(name: str, backend: Backend) -> None:
    make, columns = FRAMES[name]
    frame = nw.from_native(make().to_frame(backend), eager_only=True)
    assert (frame.implementation.value, frame.columns) == (backend, columns)
    assert len(frame) > 0


def test_the_standing_names_the_pick_first() -> None:
    found = picked()
    rows = found.to_frame("polars").rows(named=True)
    assert (rows[0]["model"], rows[0]["gap"]) == (found.model, 0.0)
    assert rows[1]["gap"] > 0.5


def test_results_of_a_comparison_are_frames_of_any_kind() -> None:
    found = results()
    frame = found.to_frame("polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame["budget"].to_list() == [20]
    assert isinstance(found.curves_to_frame("pyarrow"), pa.Table)


def test_an_empty_trace_is_an_empty_frame() -> None:
    trace = mp.run_stream(mp.ModelPicker(2), np.empty((0, 2), dtype=int), [])
    assert len(trace.to_frame("polars")) == 0


def test_an_unknown_kind_of_frame_is_refused_and_a_missing_one_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(mp.InputError, match="backend='modin': pass one of pandas, polars, pyarrow"):
        MADE.to_frame("modin")  # type: ignore[arg-type]
    monkeypatch.setattr("modelpicker.frames.find_spec", lambda name: name == "pyarrow" or None)
    with pytest.raises(mp.InputError, match="pip install polars"):
        MADE.to_frame("polars")
    assert isinstance(MADE.to_frame(), pa.Table)


def test_a_dataset_goes_out_and_comes_back() -> None:
    made = to_dataset(MADE)
    assert made.column_names == ["id", "small", "large", "label"]
    assert made.features["small"].names == ["ham", "spam"]
    assert made["large"][:] == [0, -1, 0]
    back = mp.ModelCollection(made)
    assert (back, dict(back.fields)) == (MADE, {"id": (7, 8, 9)})


def test_a_pick_takes_a_dataset_and_what_was_selected_of_it() -> None:
    right = ["yes", "no"] * 40
    columns = {"id": list(range(80)), "good": right, "bad": ["yes"] * 80, "label": right}
    whole = datasets.Dataset.from_dict(columns)
    assert mp.pick(whole).model == "good"
    part = mp.ModelCollection(whole.select(range(10)))
    assert (len(part), part.fields["id"]) == (10, tuple(range(10)))
    assert mp.PoolPicker(whole).models == ("good", "bad")


def test_splits_and_streams_of_datasets_are_refused_with_what_to_pass() -> None:
    one = datasets.Dataset.from_dict({"a": ["x"], "b": ["y"]})
    with pytest.raises(mp.InputError, match=r"pass one, such as dataset\['test'\]"):
        mp.pick(datasets.DatasetDict({"test": one}))
    with pytest.raises(mp.InputError, match="without streaming=True"):
        mp.pick(one.to_iterable_dataset())
    with pytest.raises(mp.InputError, match="is not a collection"):
        to_dataset([[1]])  # type: ignore[arg-type]
