"""Files that are no collections: one clear sentence with file, row and column, and nothing is ever unpickled."""

import io
import json
import os
import pickle
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
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
from tests.unprivileged import unprivileged


@pytest.fixture(params=["read once", "read in passes"])
def either_road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are read into memory, large ones pass by pass: both must say the same."""
    if request.param == "read in passes":
        monkeypatch.setattr(tables, "SMALL", 0)


class Trap:
    """What runs if it is ever unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (77,)


def parquet_bytes(**columns: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def npy_bytes(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz_bytes(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


GOOD_PARQUET = parquet_bytes(a=[0, 1, 2], b=[1, 1, 1])
TRAP = np.array([[Trap(), 1]], dtype=object)
BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("x.csv", b"", "is empty"),
    "header only": ("x.csv", b"a,b\n", "columns but no rows"),
    "ragged": ("x.csv", b"a,b,label\n0,1,1\n0,1\n1,1,1\n", "row 2: 2 cells where the header has 3"),
    "ragged far down": ("x.csv", b"a,b\n" + b"0,1\n" * 5000 + b"0,1,2\n", "row 5,001: 3 cells where the header has 2"),
    "mixed types": ("x.csv", b"a,b\n0,1\n1,1\n2,spam\n", 'row 3, column "b": \'spam\' is not a whole number'),
    "fraction in csv": ("x.csv", b"a,b\n0,1\n1,0.73\n2,3\n", 'row 2, column "b": \'0.73\' is not a whole number'),
    "class below -1": ("x.csv", b"a,b\n0,1\n1,-7\n", 'row 2, column "b": -7 is not a class'),
    "number beyond all classes": ("x.csv", b"a,b\n0,1\n1,99999999999999999999\n", 'row 2, column "b": 9999'),
    "no model": ("x.csv", b"id,text,label\n1,x,1\n", "has no model column"),
    "twice the same column": ("x.csv", b"a,a\n1,2\n", 'column "a" occurs 2 times'),
    "two labels": ("x.csv", b"a,b,label,Label\n1,2,1,1\n", 'column "label": There are 2 columns called label.'),
    "not utf-8": ("x.csv", b"a,b\nx,y\nz,\xff\xfe\n", "row 2: byte 0xff is not UTF-8"),
    "utf-16": ("x.csv", "a,b\n0,1\n".encode("utf-16"), "text in UTF-16"),
    "binary": ("x.csv", b"a,b\n\0\0\0\0", "a binary file"),
    "parquet called csv": ("x.csv", GOOD_PARQUET, "ends in .csv, but by its first bytes it is a Parquet file"),
    "csv called parquet": ("x.parquet", b"a,b\n0,1\n", "ends in .parquet, but by its first bytes it is not a Parquet file"),
    "truncated parquet": ("x.parquet", GOOD_PARQUET[:-30], "is damaged or cut short"),
    "parquet with a hole": ("x.parquet", GOOD_PARQUET[:4] + bytes(60) + GOOD_PARQUET[64:], "is damaged or cut short"),
    "fraction in parquet": ("x.parquet", parquet_bytes(a=[0.0, 0.25], b=[1, 1]), 'row 2, column "a": 0.25 is not a class'),
    "list column": ("x.parquet", parquet_bytes(a=[[1]], b=[[2]]), 'column "a": Its cells are of type list'),
    "mixed columns": ("x.parquet", parquet_bytes(a=[0, 1], b=["x", "y"]), 'row 1, column "b": \'x\' is a string'),
    "label of another type": ("x.parquet", parquet_bytes(a=[0], b=[1], label=["x"]), 'row 1, column "label": \'x\''),
    "csv called arrow": ("x.arrow", b"a,b\n0,1\n", "is damaged or cut short"),
    "truncated arrow": ("x.arrow", b"ARROW1\0\0" + b"xx", "is damaged or cut short"),
    "no json": ("x.jsonl", b'{"a": 1, "b": 2}\n{"a": 1, "b":\n', "row 2: this line is not JSON"),
    "json array": ("x.jsonl", b"[1, 2]\n", "first line is not an object"),
    "json number line": ("x.jsonl", b'{"a": 1, "b": 2}\n17\n', "row 2: 17 is not an object"),
    "mixed json": ("x.jsonl", b'{"a": 1, "b": 2}\n{"a": "x", "b": 2}\n', 'row 2, column "a": \'x\' is a string, but row 1'),
    "long form twice": ("x.csv", b"item,model,prediction\n1,a,0\n1,b,1\n1,a,1\n", "row 3: model 'a' answers item '1' again, as in row 1"),
    "long form without item": ("x.csv", b"item,model,prediction\n1,a,0\n,b,1\n", 'row 2, column "item": empty'),
    "long form, two truths": ("x.csv", b"item,model,prediction,label\n1,a,0,0\n1,b,1,1\n", 'row 2, column "label": 1, but an earlier row'),
    "unknown ending": ("x.xlsx", b"PK\x03\x04", "it is not a workbook of Excel"),
    "no ending": ("x", b"a,b\n", "no ending is not known. Endings that can be read are .csv"),
    "npz that is none": ("x.npz", b"a,b\n0,1\n", "not a zip archive"),
    "truncated npz": ("x.npz", npz_bytes(predictions=np.zeros((50, 2)))[:-40], "damaged or cut short"),
    "npz without predictions": ("x.npz", npz_bytes(stuff=np.zeros((5, 2))), "has none of the arrays predictions, probabilities, labels, only ['stuff']"),
    "labels of another length": ("x.npz", npz_bytes(predictions=np.zeros((5, 2)), labels=np.zeros(4)), "5 rows of predictions, but labels of shape"),
    "one dimension": ("x.npz", npz_bytes(predictions=np.zeros(5)), "shape (5,)"),
    "no items": ("x.npz", npz_bytes(predictions=np.zeros((0, 3))), "shape (0, 3)"),
    "fraction": ("x.npz", npz_bytes(predictions=np.array([[0, 1], [1, 0.5]])), 'row 2, column "model-1": 0.5 is not a class'),
    "infinity": ("x.npz", npz_bytes(predictions=np.array([[0, np.inf]])), 'row 1, column "model-1": inf is not a class'),
    "complex": ("x.npz", npz_bytes(predictions=np.zeros((2, 2), dtype=complex)), "of type complex128"),
    "too many names": ("x.npz", npz_bytes(predictions=np.zeros((2, 2)), models=np.array(["a", "b", "c"])), "2 columns"),
    "names that are none": ("x.npz", npz_bytes(predictions=np.zeros((2, 2)), meta=np.zeros(3, np.uint8)), "not what `save` writes"),
    "pickled predictions": ("x.npz", npz_bytes(predictions=TRAP), "pickled Python objects, which are never loaded"),
    "pickled npy": ("x.npy", npy_bytes(TRAP), "pickled Python objects, which are never loaded"),
    "bare pickle": ("x.npy", pickle.dumps(Trap()), "not a NumPy array by its first bytes"),
    "header promises more": ("x.npy", npy_bytes(np.zeros((1000, 1000)))[:5000], "cut short: its header promises 8,000,000 bytes"),
    "header of nonsense": ("x.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': boom} ", "invalid header"),
    "future version": ("x.npy", b"\x93NUMPY\x09\x00", "not known here"),
    "unclosed quote": ("x.csv", b'a,b\n1,2\n1,"x\n1,2\n3,4\n', "row 2: a quotation mark is opened and never closed"),
    "scores": ("x.csv", b"a,b\n0.123,0.5\n0.2,0.7\n", 'row 1, column "a": 0.123 is a score, not a class'),
    "nameless column": ("x.csv", b"a,,b\n0,1,1\n", "column 2 has no name"),
    "beyond 2**63": ("x.parquet", parquet_bytes(a=pa.array([2**63], pa.uint64()), b=pa.array([1], pa.uint64())), 'row 1, column "a": 9223372036854775808 is not a class'),
    "half floats": ("x.parquet", parquet_bytes(a=pa.array(np.array([2.5], np.float16)), b=[1]), "x.parquet"),
    "deep json": ("x.jsonl", b'{"a": ' + b"[" * 200_000 + b"\n", "x.jsonl"),
    "no text": ("x.npz", npz_bytes(predictions=np.frombuffer(b"\xff" * 16, "<U1").reshape(2, 2)), "not text"),
    "bytes that are not text": ("x.npz", npz_bytes(predictions=np.array([[b"\xff", b"a"]])), "not written in UTF-8"),
    "two-line name": ("x.jsonl", b'{"a\\nb": 0.5, "c": 1}\n', 'column "a\\nb": 0.5 is not a class'),
}  # fmt: skip


@pytest.mark.usefixtures("either_road")
@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_gives_one_sentence_that_names_it(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(mp.ModelPickerError) as caught:
        mp.load_collection(path)
    said = str(caught.value)
    assert message in said
    assert said.startswith(str(path))
    assert "\n" not in said


def test_pickled_objects_in_a_folder_and_in_a_file_of_labels_are_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "predictions.npy").write_bytes(npy_bytes(np.zeros((1, 2))))
    (tmp_path / "oracle.npy").write_bytes(npy_bytes(np.array([Trap()], dtype=object)))
    with pytest.raises(mp.InputError, match=r"oracle.npy holds pickled"):
        mp.load_collection(tmp_path)
    with pytest.raises(mp.InputError, match=r"oracle.npy holds pickled"):
        mp.load_collection("digits", tmp_path / "oracle.npy")


def peak_of(action: Callable[[], Any]) -> tuple[str, int]:
    """What an action complains about, and the most memory that Python and NumPy took for it."""
    tracemalloc.start()
    try:
        with pytest.raises(mp.ModelPickerError) as caught:
            action()
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|i1", "fortran_order": False, "shape": (2**29, 2)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("predictions.npy", "w") as file:
        file.write(header.getvalue())
        for _ in range(1024):
            file.write(bytes(2**20))
    said, peak = peak_of(lambda: mp.load_collection(path))
    assert "would unpack to 1,074 MB" in said
    assert peak < 2**24


def test_a_header_that_lies_about_its_size_does_not_take_the_memory(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)})
    path = tmp_path / "x.npy"
    path.write_bytes(header.getvalue() + bytes(100))
    said, peak = peak_of(lambda: mp.load_collection(path))
    assert "cut short" in said
    assert peak < 2**22


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.npy", "x.npz", "x.parquet", "x.arrow"])
@pytest.mark.parametrize("start", [b"", b"a,b\n0,1\n", b'{"a": 1, "b": "'])
def test_a_line_of_two_gigabytes_is_not_read(tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(start)
        file.truncate(2**31)
    said, peak = peak_of(lambda: mp.load_collection(path))
    assert said.startswith(str(path))
    assert "\n" not in said
    assert peak < 2**28


def test_a_long_line_of_text_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n0,1\n" + b"x" * (2**24 + 2**20) * 2)
    with pytest.raises(mp.InputError, match="line longer than 16 MB"):
        mp.load_collection(path)
    other = tmp_path / "x.jsonl"
    other.write_bytes(b'{"a": "' + b"x" * (2**24 + 2**20) * 2 + b'", "b": "y"}\n')
    with pytest.raises(mp.InputError, match="line longer than 16 MB"):
        mp.load_collection(other)


def test_what_is_not_there_is_said_to_be_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        mp.NotFoundError, match=r"nothing\.csv does not exist\. Collections that ship are digits, cifar10"
    ):
        mp.load_collection(tmp_path / "nothing.csv")
    with pytest.raises(mp.NotFoundError, match=r"without predictions\.npy"):
        mp.load_collection(tmp_path)
    with pytest.raises(mp.NotFoundError, match="does not exist"):
        mp.load_collection("digits", tmp_path / "labels.csv")


def test_columns_asked_for_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n0,1\n")
    with pytest.raises(mp.InputError, match='has no column "c"; it has a, b'):
        mp.load_collection(path, models=["a", "c"])
    with pytest.raises(mp.InputError, match='has no column "c"'):
        mp.load_collection(path, fields=["c"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("label\n0\n1\n", "has 2 labels, but there are 3 items"),
        ("label\n0\n1\nx\n", "row 3.* is not a whole number"),
        ("a,b\n0,1\n", "name the one with the labels by label"),
        ("id,label\np,1\nq,0\n", "are the files of one set"),
        ("id,label\nx,1\nx,0\n", 'l.csv, column "id": .x. is in rows 1 and 2'),
        ("label\nu\nv\nw\n", "one form"),
        ("label\n\n\n\n", "no label for any"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path, labels = tmp_path / "p.csv", tmp_path / "l.csv"
    path.write_text("id,a,b\nx,0,1\ny,1,1\nz,0,0\n")
    labels.write_text(content)
    with pytest.raises(mp.InputError, match=message):
        mp.load_collection(path, labels)


def test_a_missing_permission_is_an_error_for_people() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folder is closed to others than root
        path = Path(folder) / "x.csv"
        path.write_text("a,b\n0,1\n")
        assert len(mp.load_collection(path)) == 1
        path.chmod(0)
        with unprivileged(Path(folder)), pytest.raises(mp.FileError, match="Permission denied"):
            mp.load_collection(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["parquet", "npz", "arrow", "csv", "jsonl"]),
    place=st.floats(0, 1),
    noise=st.binary(min_size=1, max_size=12),
    cut=st.booleans(),
)
def test_no_damage_gives_anything_but_a_collection_or_an_error_for_people(
    tmp_path: Path, kind: str, place: float, noise: bytes, cut: bool
) -> None:
    path = tmp_path / f"x.{kind}"
    mp.ModelCollection([["a", "b"], ["b", "b"]] * 20, ["a", "b"] * 20, fields={"text": ["t"] * 40}).save(path)
    content = path.read_bytes()
    start = int(place * len(content))
    path.write_bytes(content[:start] if cut else content[:start] + noise + content[start + len(noise) :])
    said = ""
    try:
        found = mp.load_collection(path)
    except mp.ModelPickerError as error:
        said = str(error)
    assert said.startswith(str(path)) if said else len(found.models) >= 1
    assert "\n" not in said


def test_json_lines_may_lack_models(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [{"a": "x"}, {"b": "y", "a": "x"}, {"b": None}]))
    assert mp.load_collection(path).predictions.tolist() == [[0, -1], [0, 1], [-1, -1]]


def test_pipes_and_impossible_names_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(mp.InputError, match="is a pipe or a device"):
        mp.load_collection(tmp_path / "x.csv")
    for name in ("n" * 5000 + ".csv", "a\0b.csv"):
        with pytest.raises(mp.NotFoundError):
            mp.load_collection(name)


@pytest.mark.parametrize(
    "header",
    [
        "{'shape': (3,",
        "{[1]: 2}",
        "{'descr': (), 'fortran_order': False, 'shape': (1,)}",
        "{1: 2, 'a': 3}",
        "(" * 500,
    ],
)
def test_headers_of_nonsense(tmp_path: Path, header: str) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    with pytest.raises(mp.InputError, match=r"x\.npy has an invalid header"):
        mp.load_collection(path)


@pytest.mark.parametrize(
    "metadata",
    [
        '{"models": [["a"]]}',
        '{"classes": [["x"]]}',
        '{"models": 3}',
        "[" * 100_000,
        '{"models": ["zzz"], "fields": ["b"]}',
    ],
)
def test_schema_metadata_is_not_trusted(tmp_path: Path, metadata: str) -> None:
    table = pa.table({"a": [0, 1], "b": [1, 1]}).replace_schema_metadata({"modelpicker": metadata})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert "a" in mp.load_collection(tmp_path / "x.parquet").models


def test_odd_values_of_fields_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match="neither text nor number"):
        mp.ModelCollection([[0, 1]], fields={"id": [b"x"]})
    odd = mp.ModelCollection([[0, 1]], fields={"id": ["\ud800"]})
    for ending in ("parquet", "csv", "jsonl", "arrow"):
        with pytest.raises(mp.InputError, match="not valid text"):
            odd.save(tmp_path / f"x.{ending}")
    with pytest.raises(mp.FileError, match="Not a directory"):
        odd.save(Path("/etc/passwd/x.npz"))
    assert list(tmp_path.iterdir()) == []
