"""Collections from files and back: every form in which predictions arrive."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import modelpicker as mp
from modelpicker.collections import tables
from tests.shared_data import need

ENDINGS = ("npz", "parquet", "arrow", "csv", "jsonl")


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("words", [False, True])
def test_what_is_saved_is_loaded(tmp_path: Path, ending: str, words: bool) -> None:
    names: list[Any] = ["cat", "dog, hot", "naïve", 'the "best"'] if words else [0, 1, 2, 3]
    codes = np.random.default_rng(0).integers(-1, 4, (50, 3))
    collection = mp.ModelCollection(
        codes,
        np.random.default_rng(1).integers(0, 4, 50),
        ["a", "b b", "ç"],
        names,
        fields={"id": [f"n{number}" for number in range(50)], "text": ["two\nlines", None] * 25},
    )
    path = tmp_path / f"x.{ending}"
    collection.save(path)
    back = mp.load_collection(path)
    assert back == collection
    assert back.classes == collection.classes
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(st.sampled_from(["a", "b", "12", "-", None]), min_size=2, max_size=2), min_size=1),
    ending=st.sampled_from(["parquet", "arrow", "npz", "jsonl"]),
)
def test_typed_files_give_any_strings_back(tmp_path: Path, rows: list[list[str | None]], ending: str) -> None:
    classes = ["-", "12", "a", "b"]
    collection = mp.ModelCollection(
        np.array(rows, dtype=object), [one or other or "a" for one, other in rows], classes=classes
    )
    collection.save(tmp_path / f"x.{ending}")
    said: dict[str, Any] = {"classes": classes, "models": collection.models} if ending == "jsonl" else {}
    back = mp.load_collection(tmp_path / f"x.{ending}", **said)
    assert back.fingerprint == collection.fingerprint


def test_parquet_keeps_classes_that_nobody_says_and_models_with_the_names_of_fields(tmp_path: Path) -> None:
    collection = mp.ModelCollection([[0, 1]], [1], ["text", "b"], ["x", "y", "z"])
    collection.save(tmp_path / "x.parquet")
    assert mp.load_collection(tmp_path / "x.parquet") == collection
    with pytest.raises(mp.InputError, match="taken for an item field"):
        collection.save(tmp_path / "x.csv")


def test_a_wide_csv_has_a_column_a_model_a_label_and_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.csv", "id,text,bert,gpt,source,label\n7,hello,spam,ham,web,spam\n8,you,ham,,mail,ham\n"
    )
    collection = mp.load_collection(path, fields=["source"])
    assert collection.models == ("bert", "gpt")
    assert collection.classes == ("ham", "spam")
    assert collection.predictions.tolist() == [[1, 0], [0, -1]]
    assert dict(collection.fields) == {"id": ("7", "8"), "text": ("hello", "you"), "source": ("web", "mail")}
    assert collection.notes == ("1 of 4 cells are missing, empty or -1, and taken as abstentions (gpt 1).",)
    assert mp.load_collection(path, models=["gpt"]).models == ("gpt",)
    assert "bert" in mp.load_collection(path, models=["gpt"]).fields


def test_the_label_is_found_in_capitals_and_row_numbers_are_no_model(tmp_path: Path) -> None:
    collection = mp.load_collection(write(tmp_path / "x.csv", ",ID,a,b,Label\n0,x,1,2,1\n1,y,2,2,2\n"))
    assert collection.models == ("a", "b")
    assert collection.labelled == 2
    assert "the column of row numbers was left out." in collection.notes


@pytest.mark.parametrize(
    "content", ["a;b\n0;1\n", "a, b\n0, 1\n", "\ufeffa,b\n0,1\n", "a,b\r\n0,1\r\n", "a,b\n0.0,1.\n"]
)
def test_csv_as_spreadsheets_write_it(tmp_path: Path, content: str) -> None:
    collection = mp.load_collection(write(tmp_path / "x.csv", content))
    assert collection.models == ("a", "b")
    assert collection.predictions.tolist() == [[0, 1]]


def test_csv_cells_are_numbers_only_if_all_are(tmp_path: Path) -> None:
    words = mp.load_collection(write(tmp_path / "x.csv", "a,b\nyes,1\nno,yes\n"))
    assert words.classes == ("1", "no", "yes")
    numbers = mp.load_collection(write(tmp_path / "y.csv", "a,b\n1,2\n3,NA\n"))
    assert numbers.classes == (1, 2, 3)
    assert numbers.predictions.tolist() == [[0, 1], [2, -1]]
    text = mp.load_collection(write(tmp_path / "z.csv", "a,b\n1,2\n3,4\n"), text=True)
    assert text.classes == ("1", "2", "3", "4")


def test_minus_one_and_floats_with_gaps_are_abstentions(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([1.0, None, float("nan")]), "b": pa.array([-1, 0, 1], pa.int8())})
    parquet.write_table(table, tmp_path / "x.parquet")
    collection = mp.load_collection(tmp_path / "x.parquet")
    assert collection.predictions.tolist() == [[1, -1], [-1, 0], [-1, 1]]
    assert collection.notes == ("3 of 6 cells are missing, empty or -1, and taken as abstentions (a 2, b 1).",)


def test_columns_of_many_types_are_understood(tmp_path: Path) -> None:
    table = pa.table(
        {"a": pa.array([True, False]), "b": pa.array([1, 0], pa.uint64()), "c": pa.array([0, 0], pa.int16())}
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    assert mp.load_collection(tmp_path / "x.parquet").predictions.tolist() == [[1, 1, 0], [0, 0, 0]]
    words = pa.array(["x", None, "y"]).dictionary_encode()
    parquet.write_table(
        pa.table({"a": words, "b": pa.array(["y", "y", "x"], pa.large_string())}), tmp_path / "y.parquet"
    )
    assert mp.load_collection(tmp_path / "y.parquet").predictions.tolist() == [[0, 1], [-1, 1], [1, 0]]


def test_the_long_form_is_turned(tmp_path: Path) -> None:
    rows = [
        "item,model,prediction,label,text,latency",
        "1,a,x,x,one,5",
        "1,b,y,x,one,6",
        "2,b,y,,two,7",
        "3,a,,y,three,8",
    ]
    collection = mp.load_collection(write(tmp_path / "x.csv", "\n".join(rows)))
    assert collection.models == ("a", "b")
    assert collection.predictions.tolist() == [[0, 1], [-1, 1], [-1, -1]]
    assert collection.labels is not None
    assert collection.labels.tolist() == [0, -1, 1]
    assert dict(collection.fields) == {"item": ("1", "2", "3"), "text": ("one", "two", "three")}
    assert any("3 of 6 cells are missing" in note for note in collection.notes)
    assert any('"latency" varies within an item' in note for note in collection.notes)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv", "arrow"])
def test_long_and_wide_form_give_the_same_collection(tmp_path: Path, ending: str) -> None:
    wide = mp.synthetic_collection(40, 3, 4, [0.5, 0.6, 0.7], seed=2)
    assert wide.labels is not None
    rows = [
        {
            "item": item,
            "model": model,
            "prediction": int(wide.predictions[item, place]),
            "label": int(wide.labels[item]),
        }
        for item in range(40)
        for place, model in enumerate(wide.models)
    ]
    path = tmp_path / f"x.{ending}"
    table = pa.Table.from_pylist(rows)
    if ending == "parquet":
        parquet.write_table(table, path)
    elif ending == "arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text(
            "item,model,prediction,label\n" + "".join(",".join(map(str, row.values())) + "\n" for row in rows)
        )
    assert mp.load_collection(path).fingerprint == wide.fingerprint


def test_answers_of_language_models_are_made_uniform_on_request_and_said(tmp_path: Path) -> None:
    answers = [
        {"id": 1, "gpt": " Paris.", "llama": "**paris**", "mistral": "I don't know", "label": "Paris"},
        {"id": 2, "gpt": "(B)", "llama": "b", "mistral": "...", "label": "B"},
    ]
    path = write(tmp_path / "x.jsonl", "".join(json.dumps(answer) + "\n" for answer in answers))
    with pytest.raises(mp.InputError, match=r"no class in common.* differ only in spelling: normalise"):
        mp.load_collection(path)
    as_is = mp.load_collection(path, ignore=["label"])
    assert as_is.notes[-1].startswith('" Paris." and "**paris**" (and 1 more such) are different classes;')
    collection = mp.load_collection(path, normalise=True)
    assert collection.classes == ("b", "i don't know", "paris")
    assert collection.accuracies.tolist() == [1.0, 1.0, 0.0]  # type: ignore[union-attr]
    assert collection.predictions[1, 2] == -1
    assert any("8 different answers became 3" in note and "lower case" in note for note in collection.notes)


def test_answers_in_arrays_are_made_uniform_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", predictions=np.array([["A.", "a"], [" b", "B"]]), labels=np.array(["a", "b"]))
    collection = mp.load_collection(tmp_path / "x.npz", normalise=True)
    assert collection.classes == ("a", "b")
    assert collection.accuracies.tolist() == [1.0, 1.0]  # type: ignore[union-attr]


def authors_folder(folder: Path, predictions: Any, oracle: Any = None) -> Path:
    folder.mkdir()
    np.save(folder / "predictions.npy", predictions)
    if oracle is not None:
        np.save(folder / "oracle.npy", oracle)
    return folder


def test_the_authors_layout_floats_columns_and_classes_from_one(tmp_path: Path) -> None:
    folder = authors_folder(tmp_path / "x", np.array([[1.0, 6.0], [2.0, 2.0]]), np.array([[1.0], [2.0]]))
    collection = mp.load_collection(folder)
    assert collection.classes == (1, 2, 3, 4, 5, 6)
    assert collection.predictions.tolist() == [[0, 5], [1, 1]]
    assert collection.accuracies.tolist() == [1.0, 0.5]  # type: ignore[union-attr]
    assert mp.load_collection(authors_folder(tmp_path / "y", np.array([[1.0, 2.0]]))).labels is None


def test_imagenets_background_is_a_class_that_no_label_has(tmp_path: Path) -> None:
    predictions = np.array([[0.0, 1.0], [2.0, 2.0], [0.0, 3.0]])
    collection = mp.load_collection(authors_folder(tmp_path / "x", predictions, np.array([1.0, 2.0, 3.0])))
    assert collection.classes == (0, 1, 2, 3)
    assert collection.accuracies.tolist() == [1 / 3, 1.0]  # type: ignore[union-attr]


def test_repeated_columns_of_the_authors_are_left_out_and_named(tmp_path: Path) -> None:
    predictions = np.array([[1.0, 2.0, 1.0], [1.0, 3.0, 1.0]])
    collection = mp.load_collection(authors_folder(tmp_path / "x", predictions, np.array([1.0, 3.0])))
    assert collection.models == ("model-0", "model-1")
    assert any("model-2 (as model-0)" in note for note in collection.notes)


def test_imagenets_three_repeated_columns_are_left_out_and_no_others(tmp_path: Path) -> None:
    predictions = np.random.default_rng(0).integers(1, 1001, (50, 105)).astype(float)
    for copy, first in ((22, 3), (55, 80), (92, 12), (101, 7)):
        predictions[:, copy] = predictions[:, first]
    collection = mp.load_collection(authors_folder(tmp_path / "x", predictions))
    assert len(collection.models) == 102
    assert not {"model-22", "model-55", "model-92"} & set(collection.models)


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [("emocontext", (5509, 8), (0, 1, 2, 3)), ("drift", (3600, 9), (1, 2, 3, 4, 5, 6))],
)
def test_the_authors_collections_are_read(name: str, shape: tuple[int, int], classes: tuple[int, ...]) -> None:
    folder = need(name)
    collection = mp.load_collection(folder)
    assert collection.predictions.shape == shape
    assert collection.predictions.dtype == np.int8
    assert collection.classes == classes
    raw, oracle = np.load(folder / "predictions.npy"), np.load(folder / "oracle.npy").ravel()
    assert collection.accuracies is not None
    assert np.array_equal(collection.accuracies, (raw == oracle[:, None]).mean(axis=0))


@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_probabilities_in_files(tmp_path: Path, ending: str) -> None:
    chances = np.random.default_rng(0).random((20, 3, 4))
    chances[0, 0] = np.nan
    path = tmp_path / f"x.{ending}"
    np.savez(path, probabilities=chances, labels=np.zeros(20)) if ending == "npz" else np.save(path, chances)
    collection = mp.load_collection(path)
    assert collection.predictions[0, 0] == -1
    assert np.array_equal(collection.predictions[1:], chances[1:].argmax(axis=2))
    assert any("NaN" in note for note in collection.notes)


def test_labels_of_another_file_by_row_or_by_identity(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "id,a,b\nx,0,1\ny,1,1\nz,0,0\n")
    by_row = mp.load_collection(path, write(tmp_path / "l.csv", "label\n0\n1\n\n"))
    by_id = mp.load_collection(
        path, write(tmp_path / "m.jsonl", '{"id": "y", "label": 1}\n{"id": "x", "label": 0}\n')
    )
    np.save(tmp_path / "n.npy", np.array([[0.0], [1.0], [-1.0]]))
    by_array = mp.load_collection(path, tmp_path / "n.npy")
    for collection in (by_row, by_id, by_array):
        assert collection.labels is not None
        assert collection.labels.tolist() == [0, 1, -1]


def test_labels_of_another_file_may_name_new_classes_and_be_uniform(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "a,b\nYes,no\nno,NO\n")
    labels = write(tmp_path / "l.csv", "truth\nyes.\nmaybe\n")
    collection = mp.load_collection(path, labels, normalise=True)
    assert collection.classes == ("no", "yes", "maybe")
    assert collection.labels is not None
    assert collection.labels.tolist() == [1, 2]


def test_classes_may_be_fixed(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "a,b\n0,7\n1,1\n")
    assert mp.load_collection(path, classes=range(8)).classes == tuple(range(8))
    with pytest.raises(
        mp.InputError, match=r'p.csv, row 1, column "b": .?7.? is not one of the 6 classes \(0 to 5\)'
    ):
        mp.load_collection(path, classes=range(6))


def big_table(rows: int) -> pa.Table:
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 5, rows)
    words = np.array([f"class {number}" for number in range(5)])
    columns: dict[str, Any] = {"id": np.arange(rows)}
    for model, accuracy in enumerate((0.6, 0.7, 0.8)):
        said = np.where(draw.random(rows) < accuracy, labels, draw.integers(0, 5, rows))
        columns[f"m{model}"] = pa.array(words[said], mask=draw.random(rows) < 0.01)
    return pa.table(columns | {"label": pa.array(words[labels], mask=draw.random(rows) < 0.02)})


def test_a_parquet_file_is_played_in_batches_as_in_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(big_table(200_000), path, row_group_size=7_000)
    whole = mp.load_collection(path)
    reader = mp.open_collection(path)
    assert not isinstance(reader, mp.ModelCollection)
    sizes = [len(batch) for batch in reader.batches()]
    assert len(sizes) > 3
    assert sum(sizes) == len(reader) == len(whole) == 200_000
    assert reader.fingerprint == whole.fingerprint
    traces = [mp.run_stream(mp.ModelPicker(whole.models, seed=3), source) for source in (whole, reader)]
    for column in ("queried", "probability", "recommended", "predicted"):
        assert np.array_equal(getattr(traces[0], column), getattr(traces[1], column)), column
    assert np.array_equal(traces[0].losses, traces[1].losses)
    assert traces[0].winner == traces[1].winner == "m2"
    assert traces[0].labels_used == traces[1].labels_used
    by_hand = mp.ModelPicker(whole.models, seed=3)
    used = sum(mp.run_stream(by_hand, batch).labels_used for batch in reader.batches())
    assert (used, by_hand.recommended) == (traces[0].labels_used, "m2")


def test_an_error_in_a_late_batch_leaves_the_picker_as_it_was(tmp_path: Path) -> None:
    class Broken:
        models = ("a", "b")
        classes = (0, 1)

        def batches(self) -> Any:
            yield mp.ModelCollection([[0, 1]] * 100, [0] * 100, ["a", "b"])
            raise mp.FileError("gone")

    picker = mp.ModelPicker(["a", "b"])
    with pytest.raises(mp.FileError):
        mp.run_stream(picker, Broken())
    assert picker.rounds == 0
    assert picker.labels_used == 0


def test_saving_to_an_unknown_ending_or_a_missing_folder_says_so(tmp_path: Path) -> None:
    collection = mp.ModelCollection([[0, 1]])
    with pytest.raises(mp.InputError, match=r"use \.npz, \.parquet"):
        collection.save(tmp_path / "x.xlsx")
    with pytest.raises(mp.FileError, match="cannot be written: No such file"):
        collection.save(tmp_path / "nowhere" / "x.parquet")
    with pytest.raises(mp.InputError, match="would be read as something else"):
        mp.ModelCollection([["1", "2"]]).save(tmp_path / "x.csv")
    with pytest.raises(mp.InputError, match="taken for a model"):
        mp.ModelCollection([["a", "x"]], fields={"source": ["web"]}).save(tmp_path / "x.csv")


def test_a_full_disk_leaves_no_half_a_file(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / f".x.unfinished-{os.getpid()}.npz").symlink_to(full)
    with pytest.raises(mp.FileError, match="No space left"):
        mp.ModelCollection(np.zeros((100_000, 3), dtype=np.int8)).save(tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


def test_columns_that_were_added_to_or_dropped_from_a_saved_file_are_noticed(tmp_path: Path) -> None:
    collection = mp.ModelCollection([["x", "y"]], ["x"], ["a", "b"], fields={"source": ["web"]})
    collection.save(tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet")
    parquet.write_table(table.append_column("c", pa.array(["z"])).drop_columns(["a"]), tmp_path / "y.parquet")
    changed = mp.load_collection(tmp_path / "y.parquet")
    assert changed.models == ("b", "c")
    assert changed.classes == ("x", "y", "z")
    assert dict(changed.fields) == {"source": ("web",)}


def test_item_columns_in_any_case_match_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "ID,a,b\n1,x,y\n2,y,y\n3,x,x\n")
    collection = mp.load_collection(path, write(tmp_path / "l.csv", "Id,label\n3,x\n1,y\n2,y\n"))
    assert collection.labels is not None
    assert [collection.classes[code] for code in collection.labels] == ["y", "y", "x"]
    assert any('matched by column "ID"' in note for note in collection.notes)


def test_empty_and_blank_cells_and_minus_one_are_abstentions_in_every_file(tmp_path: Path) -> None:
    csv = mp.load_collection(write(tmp_path / "x.csv", 'a,b\nx,-1\ny,"  "\nz,""\n'))
    jsonl = mp.load_collection(
        write(tmp_path / "x.jsonl", '{"a":"x","b":null}\n{"a":"y","b":"  "}\n{"a":"z","b":""}\n')
    )
    numbers = mp.load_collection(write(tmp_path / "y.csv", "a,b\n1,-1\n2, \n3,\n"))
    for collection in (csv, jsonl, numbers):
        assert collection.predictions[:, 1].tolist() == [-1, -1, -1]
        assert collection.notes[0].startswith("3 of 6 cells are missing, empty or -1")


def test_strings_that_look_like_dates_stay_strings(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", '{"id": "2020-01-01", "a": "2020-01-01", "b": "x"}\n')
    collection = mp.load_collection(path)
    assert collection.classes == ("2020-01-01", "x")
    assert collection.fields["id"] == ("2020-01-01",)


def test_the_long_form_in_capitals(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "Item,Model,Prediction,Label\n1,a,x,x\n1,b,y,x\n")
    collection = mp.load_collection(path)
    assert collection.models == ("a", "b")
    assert collection.labelled == 1
    with pytest.raises(mp.InputError, match="no column is called prediction"):
        mp.load_collection(write(tmp_path / "y.csv", "item,model,pred\n1,a,x\n"))


def test_models_with_the_names_of_the_long_form_come_back(tmp_path: Path) -> None:
    collection = mp.ModelCollection([["x", "y"]], None, ["model", "prediction"], fields={"item": ["1"]})
    collection.save(tmp_path / "x.parquet")
    assert mp.load_collection(tmp_path / "x.parquet") == collection


def test_labels_of_probabilities_are_names(tmp_path: Path) -> None:
    chances = np.eye(3)[[[0, 0], [1, 1], [1, 0]]]
    np.savez(tmp_path / "x.npz", probabilities=chances, classes=[1, 2, 3], labels=np.array([1, 2, np.nan]))
    collection = mp.load_collection(tmp_path / "x.npz")
    assert collection.classes == (1, 2, 3)
    assert collection.accuracies.tolist() == [1.0, 1.0]  # type: ignore[union-attr]
    assert collection.labelled == 2


def test_arrays_of_others_with_names_of_models_and_classes(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "x.npz",
        predictions=np.array([[0.0, 1.0]]),
        classes=np.array(["no", "yes"]),
        models=np.array([b"a", b"b"]),
    )
    collection = mp.load_collection(tmp_path / "x.npz")
    assert (collection.models, collection.classes) == (("a", "b"), ("no", "yes"))
    np.savez(
        tmp_path / "y.npz",
        predictions=np.array([[1, 6]]),
        classes=np.arange(1, 7),
        unrelated=np.array([{}], dtype=object),
    )
    assert mp.load_collection(tmp_path / "y.npz").predictions.tolist() == [[0, 5]]


def test_labels_by_name_beside_codes_are_kept_whatever_is_asked_for(tmp_path: Path) -> None:
    names = np.array(["no", "yes"])
    np.savez(tmp_path / "x.npz", predictions=np.array([[0, 1], [1, 1]]), classes=names, labels=names)
    for options in ({}, {"text": True}):
        assert mp.load_collection(tmp_path / "x.npz", **options).accuracies.tolist() == [1.0, 0.5]  # type: ignore[arg-type,union-attr]


def test_options_hold_for_arrays_and_for_what_ships_too(tmp_path: Path) -> None:
    assert mp.load_collection("digits", models=["tree", "ridge"]).models == ("tree", "ridge")
    with pytest.raises(mp.InputError, match='has no column "zzz"'):
        mp.load_collection("digits", models=["zzz"])
    with pytest.raises(mp.InputError, match="both a model and an item field"):
        mp.load_collection("digits", models=["tree"], fields=["tree"])
    labels = write(tmp_path / "l.csv", "label\n" + "zzz\n" * 3)
    path = write(tmp_path / "p.csv", "a,b\nx,y\ny,y\nx,x\n")
    with pytest.raises(mp.InputError, match="label 'zzz' is not one of the 2 classes"):
        mp.load_collection(path, labels, classes=["x", "y"])


def test_answers_of_any_length_come_back_from_npz(tmp_path: Path) -> None:
    answers = [[f"answer {number}", "x" * 50_000 if number == 7 else "short\0"] for number in range(1500)]
    collection = mp.ModelCollection(answers)
    collection.save(tmp_path / "x.npz")
    assert mp.load_collection(tmp_path / "x.npz") == collection


def test_an_arrow_file_is_read_in_batches(tmp_path: Path) -> None:
    mp.synthetic_collection(150_000, 2, 3, [0.5, 0.6]).save(tmp_path / "x.arrow")
    source = mp.open_collection(tmp_path / "x.arrow")
    assert [len(batch) for batch in source.batches()] == [65536, 65536, 18928]


def test_a_small_text_file_is_read_once_and_may_change_afterwards(tmp_path: Path) -> None:
    source = mp.open_collection(write(tmp_path / "x.csv", "a,b\nx,y\n"))
    write(tmp_path / "x.csv", "a,b\nx,z\n")
    assert [piece.predictions.tolist() for piece in source.batches()] == [[[0, 1]]]


def test_a_large_file_that_changes_while_it_is_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SMALL", 0)
    source = mp.open_collection(write(tmp_path / "x.csv", "a,b\nx,y\n"))
    write(tmp_path / "x.csv", "a,b\nx,z\n")
    with pytest.raises(mp.InputError, match="has changed while it was read: 'z'"):
        list(source.batches())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": None}, "pass the path of a file"),
        ({"source": "digits", "labels": [1, 2]}, "has 2 labels, but there are 1,497 items"),
        ({"source": "digits", "labels": 7}, "is not a column"),
        ({"source": "digits", "models": "tree"}, "pass a list of names"),
        ({"source": "digts"}, "Did you mean digits"),
    ],
)
def test_plausible_mistakes_are_answered(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mp.ModelPickerError, match=message):
        mp.load_collection(**arguments)
