"""JSON documents, sheets of Excel and packed files: the same tables in other clothes."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.collections import tables
from tests.cli.running import run

ROWS: list[dict[str, Any]] = [
    {"id": "a", "bert": "spam", "gpt": "ham", "label": "spam"},
    {"id": "b", "bert": "ham", "gpt": None, "label": "ham"},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
CSV = "id,bert,gpt,label\na,spam,ham,spam\nb,ham,,ham\n"
DOCUMENTS: list[Any] = [
    ROWS,
    COLUMNS,
    {name: dict(zip("01", values, strict=True)) for name, values in COLUMNS.items()},
    {"columns": list(COLUMNS), "index": [0, 1], "data": [list(row.values()) for row in ROWS]},
    {"schema": {}, "data": ROWS},
]


def expected(folder: Path) -> mp.ModelCollection:
    (folder / "plain.csv").write_text(CSV)
    return mp.load_collection(folder / "plain.csv")


@pytest.mark.parametrize("document", DOCUMENTS, ids=["rows", "columns", "pandas", "split", "table"])
def test_a_json_document_holds_rows_or_columns(document: Any, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(document, indent=1))
    assert mp.load_collection(tmp_path / "x.json") == expected(tmp_path)


@pytest.mark.parametrize("ending", ["csv.gz", "tsv.gz", "jsonl.gz"])
@pytest.mark.parametrize("small", [True, False])
def test_a_packed_file_is_unpacked(
    ending: str, small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(tables, "SMALL", 10)
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    content = {"csv.gz": CSV, "tsv.gz": CSV.replace(",", "\t"), "jsonl.gz": lines}[ending]
    path = tmp_path / f"x.{ending}"
    path.write_bytes(gzip.compress(content.encode()))
    assert mp.load_collection(path) == expected(tmp_path)
    assert run("collections", "show", path).returncode == 0


@pytest.mark.parametrize("small", [True, False])
def test_a_packed_file_that_is_cut_off_or_not_packed_is_an_error(
    small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(tables, "SMALL", 10)
    path = tmp_path / "x.csv.gz"
    for content in (gzip.compress(CSV.encode() * 50)[:-30], CSV.encode(), b""):
        path.write_bytes(content)
        with pytest.raises(mp.ModelPickerError, match=r"x\.csv\.gz"):
            mp.load_collection(path)


def sheet(path: Path, rows: list[list[Any]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_sheet_of_excel_is_read(tmp_path: Path) -> None:
    rows: list[list[Any]] = [list(COLUMNS), *(list(row.values()) for row in ROWS)]
    path = sheet(tmp_path / "x.xlsx", rows)
    assert mp.load_collection(path) == expected(tmp_path)
    assert run("pick", path, "--json").returncode == 0


def test_numbers_in_a_sheet_are_classes(tmp_path: Path) -> None:
    path = sheet(tmp_path / "x.xlsx", [["a", "b", "label"], [1, 2.0, 1], [2, 2, 2], [None, None, None]])
    found = mp.load_collection(path)
    assert found.classes == (1, 2)
    assert len(found) == 2


def test_a_sheet_that_is_none_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_text(CSV)
    with pytest.raises(mp.InputError, match="it is not a workbook of Excel"):
        mp.load_collection(path)
    with pytest.raises(mp.InputError, match="its first sheet is empty"):
        mp.load_collection(sheet(path, []))


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([1], "row 1: 1 is not an object"),
        ({"a": [1, 2], "b": [1]}, "column 'b' has 1 cells, but column 'a' has 2"),
        ({"columns": ["a"], "data": [[1, 2]]}, 'row 1: .* one cell per name in "columns"'),
        ("text", "is not a table"),
        ([], "has no rows"),
        ([{"a": "x"}, {"a": 1}], 'row 2, column "a": 1 is a number'),
    ],
)
def test_a_json_document_that_is_no_table_is_an_error(document: Any, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    with pytest.raises(mp.InputError, match=complaint):
        mp.load_collection(path)
