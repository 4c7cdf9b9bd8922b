"""Tables that are one document: JSON with rows or columns, and sheets of Excel."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from modelpicker.collections.json_stream import open_json
from modelpicker.collections.tables import TextFile, cell
from modelpicker.errors import FileError, InputError, brief
from modelpicker.extras import require

# As many cells of a sheet are read: a small workbook may say that it has 17,000,000,000.
MOST_CELLS = 50_000_000


def as_lines(path: Path, kind: str) -> tuple[TextFile, str]:
    """A document as a file of lines that has the same rows, and of what kind that is."""
    if kind == "Excel":
        return TextFile(path, _csv_of(path)), "CSV"
    with open_json(path, longest=None) as stream:
        document = stream.value()
        if stream.peek():
            raise InputError(
                f"{path} holds more than one JSON document; if each line is an object, call it .jsonl."
            )
    lines = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in _rows(path, document))
    if not lines:
        raise InputError(f"{path} has no rows.")
    return TextFile(path, lines), "JSON lines"


def _rows(path: Path, document: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a document: a list of objects, an object of columns, or names of columns with rows of cells."""
    if isinstance(document, list):
        return _objects(path, document)
    if not isinstance(document, dict) or not document:
        raise InputError(
            f"{path}: {brief(document)} is not a table; write a list of objects, or an object of lists."
        )
    if isinstance(document.get("data"), list):
        names = document.get("columns")
        rows = document["data"]
        return _objects(path, rows) if names is None else _split(path, names, rows)
    return _columns(path, document)


def _objects(path: Path, rows: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    for row, found in enumerate(rows, start=1):
        if not isinstance(found, dict):
            raise InputError(f"{cell(path, row)}: {brief(found)} is not an object; write one object per item.")
        yield found


def _split(path: Path, names: Any, rows: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    for row, found in enumerate(rows, start=1):
        if not isinstance(names, list) or not isinstance(found, list) or len(found) != len(names):
            raise InputError(f'{cell(path, row)}: {brief(found)} does not have one cell per name in "columns".')
        yield dict(zip(map(str, names), found, strict=True))


def _columns(path: Path, columns: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows of columns that are lists, or objects with the same keys, as data frames write them."""
    lists = {name: list(found.values()) if isinstance(found, dict) else found for name, found in columns.items()}
    first, cells = next(iter(lists.items()))
    for name, found in lists.items():
        if not isinstance(found, list):
            raise InputError(
                f"{path}: {brief(name)} is {brief(found)}, which is not a column. No evaluation tool that is known "
                "wrote this file; write a list of objects, one per item, or an object of lists, one per column."
            )
        if len(found) != len(cells):
            raise InputError(
                f"{path}: column {brief(name)} has {len(found):,} cells, but column {brief(first)} has "
                f"{len(cells):,}."
            )
    return (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True))


def _csv_of(path: Path) -> bytes:
    """The first sheet of a workbook as CSV."""
    require("excel")
    from zipfile import BadZipFile

    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except (BadZipFile, KeyError, ValueError) as error:
        raise InputError(f"{path} ends in .xlsx, but it is not a workbook of Excel ({error}).") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    try:
        rows = _rows_of_sheet(path, book.worksheets[0]) if book.worksheets else []
        if not rows:
            raise InputError(f"{path}: its first sheet is empty.")
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(rows)
        return written.getvalue().encode()
    finally:
        book.close()


def _rows_of_sheet(path: Path, sheet: Any) -> list[list[str]]:
    """The rows of a sheet as texts, without empty rows and columns around them."""
    sheet.reset_dimensions()  # what the file says about them may be wrong
    found: list[list[str]] = []
    cells = width = 0
    for row in sheet.iter_rows(values_only=True):
        cells += len(row)
        texts = [_shown(value) for value in row]
        while texts and not texts[-1]:
            texts.pop()
        width = max(width, len(texts))
        if texts:
            found.append(texts)
        if max(cells, len(found) * width) > MOST_CELLS:
            raise InputError(
                f"{path}: its first sheet has more than {MOST_CELLS:,} cells; save it as CSV or Parquet."
            )
    return [row + [""] * (width - len(row)) for row in found]


def _shown(value: Any) -> str:
    """A cell as text: whole numbers without a point, truth values and dates as people write them in CSV."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
