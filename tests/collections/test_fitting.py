"""Labels that fit no prediction, models that are the same, ids that occur twice: by name, in every face."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelpicker as mp
from modelpicker.collections.description import describe

WORDS = [["cat", "dog"], ["dog", "dog"], ["owl", "cat"]]
MIXED_UP = "Labels are 0, 1, 2; predictions are cat, dog, owl."


def wide(tmp_path: Path, ending: str = "csv") -> Path:
    path = tmp_path / f"x.{ending}"
    pd.DataFrame(WORDS, columns=["a", "b"]).assign(label=["0", "1", "2"]).to_csv(path, index=False)
    return path


def from_labels_file(tmp_path: Path) -> object:
    pd.DataFrame(WORDS, columns=["a", "b"]).to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "l.csv").write_text("label\n0\n1\n2\n")
    return mp.load_collection(tmp_path / "p.csv", tmp_path / "l.csv")


def from_long_form(tmp_path: Path, labels: object = None) -> object:
    rows = [
        f"{item},{model},{said},{item}"
        for item, row in enumerate(WORDS)
        for model, said in zip("ab", row, strict=True)
    ]
    (tmp_path / "x.csv").write_text("\n".join(["item,model,prediction,label", *rows]))
    return mp.load_collection(tmp_path / "x.csv", labels)


def from_arrays(tmp_path: Path, labels: object = None) -> object:
    np.savez(tmp_path / "x.npz", predictions=np.array(WORDS), labels=np.array(["0", "1", "2"]))
    return mp.load_collection(tmp_path / "x.npz", labels)


FACES: dict[str, Callable[[Path], object]] = {
    "label column": lambda path: mp.load_collection(wide(path)),
    "batch by batch": lambda path: mp.open_collection(wide(path)),
    "labels file": from_labels_file,
    "long form": from_long_form,
    "archive": from_arrays,
    "ModelCollection": lambda _: mp.ModelCollection(WORDS, ["0", "1", "2"]),
    "with_labels": lambda _: mp.ModelCollection(WORDS).with_labels(["0", "1", "2"]),
    "data frame": lambda _: mp.ModelCollection(pd.DataFrame(WORDS, columns=["a", "b"]), ["0", "1", "2"]),
    "compare": lambda path: mp.compare(str(wide(path))),
}


@pytest.mark.parametrize("face", FACES.values(), ids=FACES.keys())
def test_labels_that_no_model_ever_predicts_are_refused_with_both_named(
    tmp_path: Path, face: Callable[[Path], object]
) -> None:
    with pytest.raises(mp.InputError) as caught:
        face(tmp_path)
    assert MIXED_UP in str(caught.value)
    assert "is not guessed" in str(caught.value)


GOOD = ["cat", "dog", "cat"]


def labelled_folder(path: Path) -> Path:
    codes = [[0, 1], [1, 1], [2, 0]]
    np.save(path / "predictions.npy", np.array(codes))
    np.save(path / "oracle.npy", np.array([7, 8, 9]))
    return path


RELABELLED: dict[str, Callable[[Path], Any]] = {
    "label column": lambda path: mp.load_collection(wide(path), GOOD),
    "label column of scores": lambda path: mp.load_collection(
        pd.read_csv(wide(path)).assign(label=[0.25, 0.5, 0.75]), GOOD
    ),
    "batch by batch": lambda path: mp.open_collection(wide(path), GOOD),
    "long form": lambda path: from_long_form(path, GOOD),
    "archive": lambda path: from_arrays(path, GOOD),
    "folder": lambda path: mp.load_collection(labelled_folder(path), [0, 1, 0]),
    "data frame": lambda path: mp.ModelCollection(pd.read_csv(wide(path)), GOOD),
}


@pytest.mark.parametrize("face", RELABELLED.values(), ids=RELABELLED.keys())
def test_labels_of_a_file_are_not_looked_at_where_others_are_given(
    tmp_path: Path, face: Callable[[Path], Any]
) -> None:
    found = face(tmp_path)
    assert found.models in (("a", "b"), ("model-0", "model-1"))
    assert len(found.classes) == 3
    whole = next(iter(found.batches()))
    assert whole.labels is not None
    assert whole.labels.tolist() == [0, 1, 0]


def test_codes_that_share_nothing_are_refused_too() -> None:
    with pytest.raises(mp.InputError, match="Labels are 3, 4; predictions are 0, 1"):
        mp.ModelCollection([[0, 1], [1, 0]], [3, 4])


def test_a_class_that_is_missing_among_others_stays_a_note(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,label\ncat,dog,cat\ndog,dog,owl\n")
    notes = mp.load_collection(tmp_path / "x.csv").notes
    assert '1 of the 2 classes of labels are never predicted: "owl".' in notes


def test_a_few_labels_of_a_class_that_all_models_miss_are_no_mix_up() -> None:
    assert mp.ModelCollection([["cat", "dog"], ["dog", "dog"]], ["owl", None]).labelled == 1


SAME = "a and copy give the same answer to every item: no label can tell them apart."
THREE = "a,b,copy,label\nx,y,x,x\ny,,y,y\nx,x,x,y\n"


def test_models_that_are_the_same_are_named_in_notes_everywhere(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(THREE)
    from_file = mp.load_collection(tmp_path / "x.csv")
    codes = [[0, 1, 0], [1, -1, 1], [0, 0, 0]]
    rows = [
        f"{item},{model},{row[place]}"
        for item, row in enumerate(codes)
        for place, model in enumerate(("a", "b", "copy"))
    ]
    (tmp_path / "long.csv").write_text("\n".join(["item,model,prediction", *rows]))
    found = [
        from_file,
        mp.open_collection(tmp_path / "x.csv"),
        mp.ModelCollection(codes, models=["a", "b", "copy"]),
        mp.ModelCollection(pd.read_csv(tmp_path / "x.csv")),
        mp.load_collection(tmp_path / "long.csv"),
    ]
    for collection in found:
        assert SAME in collection.notes
        assert collection.identical == (("a", "copy"),)
    assert describe(from_file).identical == (("a", "copy"),)
    assert SAME in describe(from_file).notes


def test_models_with_equal_counts_but_other_answers_are_not_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,c\nx,y,x.\ny,x,Y\n")
    assert mp.open_collection(tmp_path / "x.csv", models=["a", "b"]).identical == ()
    assert mp.open_collection(tmp_path / "x.csv", normalise=True).identical == (("a", "c"),)


IDS = "id,a,b\n7,x,y\n8,y,y\n7,x,x\n9,x,y\n8,y,y\n"


@pytest.mark.parametrize("read", [mp.load_collection, mp.open_collection])
@pytest.mark.parametrize("name", ["id", "key", "item", "ID"])
def test_ids_that_occur_twice_are_refused_with_their_rows(
    tmp_path: Path, read: Callable[[object], object], name: str
) -> None:
    (tmp_path / "x.csv").write_text(IDS.replace("id", name))
    for source in (tmp_path / "x.csv", pd.read_csv(tmp_path / "x.csv")):
        with pytest.raises(mp.InputError) as caught:
            read(source)
        assert f"column \"{name}\": '7' is in rows 1 and 3, '8' is in rows 2 and 5." in str(caught.value)
        assert "(--fields)" in str(caught.value)
    assert len(mp.load_collection(tmp_path / "x.csv", fields=[name])) == 5
    assert len(mp.load_collection(tmp_path / "x.csv", ignore=[name])) == 5


def test_another_column_can_be_the_id_and_missing_ids_are_not_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("uid,a,b\nu,x,y\n,y,y\n,x,x\n")
    assert mp.load_collection(tmp_path / "x.csv", id="uid").fields["uid"] == ("u", None, None)
    (tmp_path / "y.csv").write_text("uid,a,b\nu,x,y\nu,y,y\n")
    with pytest.raises(mp.InputError, match=r'column "uid": .u. is in rows 1 and 2'):
        mp.load_collection(tmp_path / "y.csv", id="uid")
    (tmp_path / "l.csv").write_text("uid,label\nu,y\n")
    assert mp.load_collection(tmp_path / "x.csv", tmp_path / "l.csv", id="uid").labelled == 1


def test_ids_that_occur_twice_among_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,a,b\n7,x,y\n8,y,y\n")
    (tmp_path / "l.csv").write_text("id,label\n7,x\n8,y\n7,x\n")
    with pytest.raises(mp.InputError, match=r'l\.csv, column "id": .7. is in rows 1 and 3'):
        mp.load_collection(tmp_path / "x.csv", tmp_path / "l.csv")


def with_label_file(tmp_path: Path, ids: list[object]) -> tuple[Path, Path]:
    """Predictions for the items 0 to 59, and labels for some ids."""
    rows = [f"{number},{'xy'[number % 2]},{'xy'[number // 30]}" for number in range(60)]
    (tmp_path / "p.csv").write_text("\n".join(["id,a,b", *rows]))
    (tmp_path / "l.csv").write_text(
        "\n".join(["id,label", *(f"{one},{'xy'[place % 2]}" for place, one in enumerate(ids))])
    )
    return tmp_path / "p.csv", tmp_path / "l.csv"


@pytest.mark.parametrize("read", [mp.load_collection, mp.open_collection])
@pytest.mark.parametrize(
    ("ids", "note"),
    [
        ([*range(30, 3030)], "2,970 of 3,000 rows of {} belong to no item of this collection."),
        ([*range(60), ""], "1 of 61 rows of {} belongs to no item of this collection."),
        ([*range(60)], None),
        ([*range(10)], None),
    ],
    ids=["many", "one without id", "none", "items without a label"],
)
def test_rows_of_a_label_file_that_belong_to_no_item_are_counted_in_a_note(
    tmp_path: Path, read: Callable[..., Any], ids: list[object], note: str | None
) -> None:
    predictions, labels = with_label_file(tmp_path, ids)
    strays = [said for said in read(predictions, labels).notes if "no item" in said]
    assert strays == ([] if note is None else [note.format(labels)])


def test_a_label_file_of_which_no_row_belongs_to_an_item_is_refused(tmp_path: Path) -> None:
    predictions, labels = with_label_file(tmp_path, [*range(100, 160)])
    with pytest.raises(mp.InputError, match="no value is one of the items'"):
        mp.load_collection(predictions, labels)
