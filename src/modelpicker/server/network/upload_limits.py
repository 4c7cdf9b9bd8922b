"""What a file would become when it is read: refused while it is small, if that is out of all proportion."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from modelpicker.collections.long_tables import ITEM, MODEL, as_long
from modelpicker.collections.tables import LONGEST_LINE, open_table
from modelpicker.server.api.documents.settings import MOST_MODELS
from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import from_json

# What a table may hold: cells, columns, and cells without a byte in the file, which are missing in an honest one.
MOST_CELLS = 500_000_000
MOST_COLUMNS = 2 * MOST_MODELS
FEW_CELLS = 10_000_000
# As much as is looked at for the names of columns.
LONGEST_HEADER = 2**20
ROWS = 2**16


def check_unpacked(path: Path, largest: int) -> None:
    """Refuse a small file that would become a huge one."""
    checks: dict[str, Callable[[Path, int], None]] = {
        ".npz": _check_archive,
        ".parquet": _check_parquet,
        ".csv": _check_header,
        ".tsv": _check_header,
    }
    checks.get(path.suffix, _check_lines)(path, largest)


def _check_archive(path: Path, largest: int) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > largest:
        raise Problem(413, f"The file would unpack to {size:,} bytes; {largest:,} are taken.")


def _check_parquet(path: Path, largest: int) -> None:
    """Cells that are all the same, and strings that are stored once, take next to no room."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = pq.read_metadata(path)
    _check_columns(found.num_columns)
    _check_cells(found.num_rows * found.num_columns, MOST_CELLS)
    texts = [
        field.name
        for field in pq.read_schema(path)
        if pa.types.is_string(field.type)
        or pa.types.is_large_string(field.type)
        or pa.types.is_dictionary(field.type)
    ]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(ROWS, columns=texts) if texts else ():
            size = sum(map(_unpacked, batch.columns))
            if size > largest:
                raise Problem(
                    413, f"{batch.num_rows:,} rows would unpack to {size:,} bytes; {largest:,} are taken."
                )


def _unpacked(column: Any) -> int:
    """The bytes that strings will take when each row has its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return 0
    lengths = pc.binary_length(values).cast(pa.int64())
    if values is not column:
        lengths = lengths.take(column.indices)
    return int(pc.sum(lengths).as_py() or 0)


def _check_header(path: Path, _: int) -> None:
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        start = stream.read(LONGEST_HEADER)
    _check_columns(max(_columns(start, mark) for mark in ",;\t"))
    _check_long(path)


def _columns(start: str, mark: str) -> int:
    """How many names the first line has, which may go on after a line break in quotation marks."""
    try:
        return len(next(csv.reader(io.StringIO(start, newline=""), delimiter=mark), []))
    except csv.Error:  # a name longer than any
        return start.count(mark)


def _check_lines(path: Path, _: int) -> None:
    """Objects that have nothing in common make a table of holes."""
    names: set[str] = set()
    rows = 0
    for line in _lines(path):
        rows += 1
        try:
            found = from_json(line)
        except ValueError:
            return  # whoever reads it says so, and where
        if isinstance(found, dict):
            names.update(found)
            _check_columns(len(names))
    _check_cells(rows * len(names), max(FEW_CELLS, path.stat().st_size))
    if {ITEM, MODEL} <= {name.lower() for name in names}:
        _check_long(path)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while line := stream.readline(LONGEST_LINE):
            if line.strip():
                yield line


def _check_long(path: Path) -> None:
    """A row a prediction, each of another item and another model: a table of holes as well."""
    import pyarrow.compute as pc

    table = as_long(open_table(path))
    if table is None:
        return
    items, models = set[object](), set[object]()
    for batch in table.batches([ITEM, MODEL]):
        items.update(pc.unique(batch.column(0)).to_pylist())
        models.update(pc.unique(batch.column(1)).to_pylist())
        _check_columns(len(models))
        _check_cells(len(items) * len(models), max(FEW_CELLS, path.stat().st_size))


def _check_columns(count: int) -> None:
    if count > MOST_COLUMNS:
        raise Problem(413, f"The table has {count:,} columns or models; {MOST_COLUMNS:,} are taken.")


def _check_cells(count: int, most: int) -> None:
    if count > most:
        raise Problem(413, f"The table would have {count:,} cells; {most:,} are taken of such a file. Send parts.")
