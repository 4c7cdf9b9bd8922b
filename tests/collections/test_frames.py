"""Data frames, Arrow tables and mappings of arrays are read by the same rules as files, wherever they are taken."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modelpicker as mp

CSV = "id,text,bert,gpt,label\n7,hello,spam,ham,spam\n8,you,ham,,ham\n9,there,ham,ham,spam\n"
COLUMNS: dict[str, list[Any]] = {
    "id": [7, 8, 9],
    "text": ["hello", "you", "there"],
    "bert": ["spam", "ham", "ham"],
    "gpt": ["ham", None, "ham"],
    "label": ["spam", "ham", "spam"],
}


def from_csv(tmp_path: Path) -> pd.DataFrame:
    (tmp_path / "x.csv").write_text(CSV)
    return pd.read_csv(tmp_path / "x.csv")


FRAMES: dict[str, Callable[[Path], object]] = {
    "pandas, read from our CSV": from_csv,
    "pandas, objects": lambda _: pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in COLUMNS.items()}
    ),
    "pandas, categories": lambda path: from_csv(path).astype(dict.fromkeys(("bert", "gpt", "label"), "category")),
    "pandas, pd.NA": lambda path: from_csv(path).astype({"bert": "string", "gpt": "string"}),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars, lazy": lambda _: pl.LazyFrame(COLUMNS),
    "Arrow table": lambda _: pa.table(COLUMNS),
    "Arrow batch": lambda _: pa.record_batch(COLUMNS),
    "mapping of lists": lambda _: COLUMNS,
    "mapping of arrays": lambda _: {name: np.array(values, dtype=object) for name, values in COLUMNS.items()},
    "mapping of series": lambda _: {name: pl.Series(values) for name, values in COLUMNS.items()},
}
NUMBERS: dict[str, Callable[[], object]] = {
    "pandas, floats with NaN": lambda: pd.DataFrame({"a": [0, 1, 2], "b": [1.0, np.nan, 2.0], "label": [0, 1, 1]}),
    "pandas, Int64": lambda: pd.DataFrame({"a": [0, 1, 2], "b": [1, None, 2], "label": [0, 1, 1]}).astype("Int64"),
    "pandas, None among objects": lambda: pd.DataFrame(
        {"a": [0, 1, 2], "b": [1, None, 2], "label": [0, 1, 1]}, dtype=object
    ),
    "polars": lambda: pl.DataFrame({"a": [0, 1, 2], "b": [1, None, 2], "label": [0, 1, 1]}),
    "Arrow": lambda: pa.table({"a": [0, 1, 2], "b": [1, None, 2], "label": [0, 1, 1]}),
    "mapping": lambda: {"a": np.array([0, 1, 2]), "b": [1, -1, 2], "label": np.array([0, 1, 1])},
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
@pytest.mark.parametrize(
    "read", [mp.load_collection, mp.ModelCollection], ids=["load_collection", "ModelCollection"]
)
def test_a_frame_gives_the_collection_of_the_file(
    tmp_path: Path, frame: Callable[[Path], object], read: Callable[[object], mp.ModelCollection]
) -> None:
    (tmp_path / "file.csv").write_text(CSV)
    whole = mp.load_collection(tmp_path / "file.csv")
    made = read(frame(tmp_path))
    assert made.models == ("bert", "gpt")
    assert made.fingerprint == whole.fingerprint
    assert made.notes == whole.notes
    assert list(map(str, made.fields["id"])) == ["7", "8", "9"]
    assert made.fields["text"] == ("hello", "you", "there")


@pytest.mark.parametrize("frame", NUMBERS.values(), ids=NUMBERS.keys())
@pytest.mark.parametrize(
    "read", [mp.load_collection, mp.ModelCollection], ids=["load_collection", "ModelCollection"]
)
def test_missing_cells_are_abstentions_among_numbers_too(
    frame: Callable[[], object], read: Callable[[object], mp.ModelCollection]
) -> None:
    made = read(frame())
    assert made.predictions.tolist() == [[0, 1], [1, -1], [2, 2]]
    assert made.classes == (0, 1, 2)
    assert made.labels is not None
    assert made.labels.tolist() == [0, 1, 1]


def test_truth_values_are_the_classes_0_and_1() -> None:
    frame = pd.DataFrame({"a": [True, False, True], "b": pd.array([True, None, False], dtype="boolean")})
    assert mp.load_collection(frame).predictions.tolist() == [[1, 1], [0, -1], [1, 0]]


def test_open_collection_plays_a_frame(tmp_path: Path) -> None:
    source = mp.open_collection(from_csv(tmp_path))
    trace = mp.run_stream(mp.ModelPicker(source.models, seed=0), source)
    assert len(trace) == 3


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_stream_is_played_from_a_frame_as_from_the_collection(
    tmp_path: Path, frame: Callable[[Path], object]
) -> None:
    traces = [
        mp.run_stream(mp.LabelEfficient(["gpt", "bert"], seed=1, probability=1.0), source)
        for source in (frame(tmp_path), mp.load_collection(COLUMNS, models=["gpt", "bert"]))
    ]
    assert traces[0].losses.tolist() == traces[1].losses.tolist() == [2.0, 0.0]
    assert traces[0].winner == traces[1].winner == "bert"


def test_a_stream_of_numbered_models_leaves_out_what_is_no_model() -> None:
    frame = pd.DataFrame({"id": [1, 2], "x": [0, 1], "y": [1, 1], "label": [1, 1]})
    trace = mp.run_stream(mp.LabelEfficient(2, seed=0, probability=1.0), frame)
    assert trace.losses.tolist() == [1.0, 0.0]
    with pytest.raises(mp.InputError, match="there are 3 models, but 2 columns"):
        mp.run_stream(mp.LabelEfficient(3, seed=0, probability=1.0), frame)
    with pytest.raises(mp.InputError, match="no column is called 'bert'"):
        mp.run_stream(mp.LabelEfficient(["bert", "x"], seed=0, probability=1.0), frame)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_campaign_takes_a_frame_with_keys_and_fields(tmp_path: Path, frame: Callable[[Path], object]) -> None:
    with mp.create_campaign(
        f"memory://{uuid.uuid4().hex}",
        "c",
        models=["gpt", "bert"],
        algorithm="label-efficient",
        options={"probability": 1.0},
    ) as campaign:
        campaign.ask_many(frame(tmp_path))
        campaign.ask_many(frame(tmp_path))  # the same keys again bring nothing new
        waiting = campaign.pending()
        assert [(query.key, query.item["text"]) for query in waiting] == [("7", "hello"), ("8", "you")]  # type: ignore[index]
        assert campaign.best().rounds == 3


def test_compare_takes_a_frame() -> None:
    made = mp.synthetic_collection(200, 3, 3, [0.5, 0.6, 0.9], seed=1)
    columns = {name: made.predictions[:, place] for place, name in enumerate(made.models)}
    results = mp.compare(
        pd.DataFrame({"id": range(200), **columns, "label": made.labels}), ["label-efficient"], [20], realizations=2
    )
    assert results.settings["collection"]["models"] == 3


@pytest.mark.parametrize(
    "read", [mp.load_collection, mp.ModelCollection, mp.compare], ids=["load", "make", "compare"]
)
def test_a_column_in_doubt_is_refused_in_a_frame_as_in_a_file(
    tmp_path: Path, read: Callable[[object], object]
) -> None:
    frame = from_csv(tmp_path).assign(confidence=[0.5, 0.25, 0.75])
    with pytest.raises(mp.UnclearColumnsError, match=r'column "confidence".*--ignore confidence') as caught:
        read(frame)
    assert [column["name"] for column in caught.value.columns] == ["confidence"]
    assert mp.load_collection(frame, ignore=["confidence"]).models == ("bert", "gpt")
    assert mp.load_collection(frame, columns={"confidence": "shown"}).fields["confidence"] == (0.5, 0.25, 0.75)


def test_numbers_are_places_in_the_classes_that_are_given() -> None:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 1], "label": [1, 1]})
    made = mp.ModelCollection(frame, classes=["no", "yes"])
    assert made.classes == ("no", "yes")
    assert made.accuracies is not None
    assert made.accuracies.tolist() == [0.5, 1.0]


def test_labels_of_their_own_come_in_any_form(tmp_path: Path) -> None:
    frame = from_csv(tmp_path).drop(columns="label")
    by_id = pd.DataFrame({"id": [9, 7], "label": ["spam", "ham"]})
    assert mp.load_collection(frame, by_id).labels.tolist() == [0, -1, 1]  # type: ignore[union-attr]
    for told in (
        ["ham", None, "spam"],
        np.array(["ham", None, "spam"], dtype=object),
        pl.Series(["ham", None, "spam"]),
    ):
        assert mp.load_collection(frame, told).labels.tolist() == [0, -1, 1]  # type: ignore[union-attr]
        assert mp.ModelCollection(frame, told).labels.tolist() == [0, -1, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "column 'a' has 2 values, but 'b' has 1"),
        ({"a": "spam", "b": "ham"}, "column 'a': 'spam' is not a column"),
        ({"a": [1, "x"], "b": [1, 2]}, "column 'a' cannot be read"),
        ({}, "has no columns"),
        ({"a": [], "b": []}, "no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a'"),
    ],
)
def test_a_bad_frame_gives_one_sentence(source: object, message: str) -> None:
    for read in (mp.load_collection, mp.ModelCollection):
        with pytest.raises(mp.InputError, match=message):
            read(source)
