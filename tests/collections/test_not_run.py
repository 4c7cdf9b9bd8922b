"""Models that were not run: read from files, kept by collections, written, and read back."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import modelpicker as mp
from modelpicker.collections.description import describe
from modelpicker.collections.preview import preview_collection
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.errors import InputError

SUFFIXES = (".npz", ".parquet", ".arrow", ".csv", ".jsonl")
WORDS: list[list[Any]] = [
    ["cat", "dog", None],
    [mp.NOT_RUN, "cat", "cat"],
    ["dog", mp.NOT_RUN, None],
    ["dog", "cat", "dog"],
]
NUMBERS: list[list[Any]] = [[0, 1, -1], [mp.NOT_RUN, 0, 0], [1, mp.NOT_RUN, -1], [1, 0, 1]]
CODES = [[0, 1, -1], [-2, 0, 0], [1, -2, -1], [1, 0, 1]]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("rows", [WORDS, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("silent", [True, False])
def test_what_is_saved_is_read_back_in_every_format(
    tmp_path: Path, suffix: str, rows: list[list[Any]], silent: bool
) -> None:
    said = rows if silent else [[rows[0][0] if said in (None, -1) else said for said in row] for row in rows]
    made = mp.ModelCollection(said, labels=[rows[0][0]] * 4, models=["a", "b", "c"])
    path = tmp_path / f"x{suffix}"
    if suffix == ".jsonl" and silent and rows is WORDS:
        with pytest.raises(InputError, match=r"use \.parquet"):  # no cell could tell the two apart
            made.save(path)
        return
    made.save(path)
    back = mp.load_collection(path, missing="not-run")
    assert back.predictions.tolist() == made.predictions.tolist()
    assert (back.classes, back.models, back.absent) == (made.classes, made.models, True)
    assert back == made
    if suffix in (".npz", ".parquet", ".arrow"):  # which say so themselves
        assert mp.load_collection(path) == made
        some = mp.load_collection(path, models=["a", "b"])
        assert some.predictions.tolist() == made.predictions[:, :2].tolist()


def test_a_collection_carries_them_through_all_that_makes_another_one() -> None:
    made = mp.ModelCollection(WORDS, labels=["cat", "cat", "dog", "dog"])
    assert made.predictions.tolist() == CODES
    assert made.take([2, 1]).predictions.tolist() == [CODES[2], CODES[1]]
    assert made.with_labels(["dog"] * 4).predictions.tolist() == CODES
    assert mp.merge_answers(made, "normalised").predictions.tolist() == CODES
    assert (
        made.fingerprint != mp.ModelCollection([[None if x == -2 else x for x in row] for row in WORDS]).fingerprint
    )
    # Right: a on 0, 2 and 3 of three; b on 1 of three; c on 1 and 3 of four.
    assert made.accuracies is not None
    assert made.accuracies.tolist() == [1.0, 1 / 3, 0.5]


def test_empty_cells_of_a_table_are_models_that_were_not_run_if_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("id,a,b,label\n1,cat,dog,cat\n2,,cat,\n3,dog,-1,dog\n")
    (tmp_path / "long.csv").write_text("item,model,prediction\n1,a,cat\n1,b,dog\n2,b,cat\n3,a,dog\n3,b,-1\n")
    wanted = [[0, 1], [-2, 0], [1, -1]]
    for name in ("wide.csv", "long.csv"):
        found = mp.load_collection(tmp_path / name, missing="not-run")
        assert found.predictions.tolist() == wanted, name
        assert any(
            "1 of 6 cells are missing or empty, and taken as models that were not run (a 1)" in note
            for note in found.notes
        )
        assert mp.load_collection(tmp_path / name).predictions.tolist() == [[0, 1], [-1, 0], [1, -1]]
    opened = mp.open_collection(tmp_path / "wide.csv", missing="not-run")
    assert isinstance(opened, CollectionReader)
    assert opened.labels_known == 2
    assert [batch.predictions.tolist() for batch in opened.batches()] == [wanted]
    assert found.labels is None
    frame = pa.table({"a": ["cat", None, "dog"], "b": ["dog", "cat", "dog"]})
    assert mp.load_collection(frame, missing="not-run").predictions.tolist() == [[0, 1], [-2, 0], [1, 1]]


def test_arrays_in_files(tmp_path: Path) -> None:
    np.save(tmp_path / "gone.npy", np.array([[0, 1], [-1, 0]]))
    np.save(tmp_path / "both.npy", np.array([[0, -2], [-1, 0]]))
    np.save(tmp_path / "nan.npy", np.array([[0.0, 1.0], [np.nan, 0.0]]))
    assert mp.load_collection(tmp_path / "gone.npy", missing="not-run").predictions.tolist() == [[0, 1], [-2, 0]]
    assert mp.load_collection(tmp_path / "both.npy", missing="not-run").predictions.tolist() == [[0, -2], [-1, 0]]
    assert mp.load_collection(tmp_path / "nan.npy", missing="not-run").predictions.tolist() == [[0, 1], [-2, 0]]
    with pytest.raises(InputError, match=r"-2 is not a class.*missing='not-run'"):
        mp.load_collection(tmp_path / "both.npy")


def test_what_counts_every_answer_says_so_and_the_rest_leaves_them_out(tmp_path: Path) -> None:
    made = mp.ModelCollection(WORDS, labels=["cat", "cat", "dog", "dog"], models=["a", "b", "c"])
    with pytest.raises(InputError, match="needs the answers of all models, but a was not run on item 1"):
        mp.compare(made, ["model-picker"], [2], stream_size=4, realizations=2)
    with pytest.raises(InputError, match=r'missing=.*pass "abstained" or "not-run"'):
        mp.load_collection("digits", missing="gone")  # type: ignore[arg-type]
    told = describe(made)
    assert (told.not_run, told.abstentions, told.hardness) == ({"a": 1, "b": 1}, {"c": 2}, None)
    # Items: a and b differ, and c is silent; b and c agree; a and c differ; b differs.
    assert (told.divided_rounds, told.telling_rounds) == (3, 3)
    # Pairs that both were run: 3 + 1 + 1 + 3, of which 1 + 1 agree.
    assert told.pairwise == pytest.approx(1.0 - 2 / 8)
    made.save(tmp_path / "x.parquet")
    assert preview_collection(tmp_path / "x.parquet").rows[1]["a"] is None
