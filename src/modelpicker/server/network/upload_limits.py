"""What a file would become when it is read: refused while it is small, if that is out of all proportion."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from modelpicker.collections.document_tables import as_lines
from modelpicker.collections.evaluation_tools import find_runs, is_evaluation
from modelpicker.collections.long_tables import ITEM, MODEL, as_long
from modelpicker.collections.tables import LONGEST_LINE, PACKED, ending_of, open_binary, open_table
from modelpicker.errors import InputError
from modelpicker.server.api.documents.settings import MOST_MODELS
from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import from_json
from modelpicker.server.network.unpacked_folder import check_size

# What a table may hold: cells, columns, and cells without a byte in the file, which are missing in an honest one.
MOST_CELLS = 500_000_000
MOST_COLUMNS = 2 * MOST_MODELS
FEW_CELLS = 10_000_000
# As much as is looked at for the names of columns.
LONGEST_HEADER = 2**20
# The largest table that is one JSON document, which is read whole: in memory it takes many times its size.
LARGEST_DOCUMENT = 2**25
ROWS = 2**16
# Logs of inspect_ai, which are archives.
LOG = ".eval"


def check_unpacked(path: Path, largest: int) -> None:
    """Refuse a small file that would become a huge one; of a folder, all logs in it together."""
    if path.is_dir():
        logs = sorted(path.rglob(f"*{LOG}"))  # other files of evaluation tools are read piece by piece
        check_size([entry for log in logs if log.is_file() for entry in _members(log)], largest)
        if not find_runs(path):
            raise InputError(f"{path} has no results of an evaluation tool that is known; send a table as it is.")
        return
    if path.suffix == PACKED:
        _check_packed(path, largest)
    CHECKS[ending_of(path)](path, largest)


def _members(path: Path) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(path) as archive:
        return archive.infolist()


def _check_archive(path: Path, largest: int) -> None:
    check_size(_members(path), largest)


def _check_packed(path: Path, largest: int) -> None:
    """As much of it as is taken is unpacked, and thrown away."""
    size = 0
    with open_binary(path) as stream:
        while size <= largest and (piece := stream.read(ROWS)):
            size += len(piece)
    if size > largest:
        raise Problem(413, f"The file would unpack to more than the {largest:,} bytes that are taken.")


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
    with open_binary(path) as stream:
        start = stream.read(LONGEST_HEADER).decode("utf-8", "replace")
    _check_columns(max(_columns(start, mark) for mark in ",;\t"))
    _check_long(path)


def _columns(start: str, mark: str) -> int:
    """How many names the first line has, which may continue after a line break in quotation marks."""
    try:
        return len(next(csv.reader(io.StringIO(start, newline=""), delimiter=mark), []))
    except csv.Error:  # a name longer than any
        return start.count(mark)


def _check_lines(path: Path, _: int) -> None:
    """Objects that have nothing in common make a table of holes."""
    with open_binary(path) as stream:
        _check_rows(path, stream)


def _check_document(path: Path, _: int) -> None:
    """The same of a table that is one document; evaluation tools write files that are read piece by piece."""
    if is_evaluation(path):
        return
    if path.stat().st_size > LARGEST_DOCUMENT:
        raise Problem(
            413, f"A table in JSON may have {LARGEST_DOCUMENT:,} bytes; send JSON lines (.jsonl), CSV or Parquet."
        )
    with as_lines(path, "JSON")[0].open() as stream:
        _check_rows(path, stream)


def _check_rows(path: Path, stream: BinaryIO) -> None:
    names: set[str] = set()
    rows = 0
    for line in _lines(stream):
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


def _lines(stream: BinaryIO) -> Iterator[bytes]:
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


# What is looked at of each kind of file. All others are not taken.
CHECKS: dict[str, Callable[[Path, int], None]] = {
    ".csv": _check_header,
    ".tsv": _check_header,
    ".csv.gz": _check_header,
    ".tsv.gz": _check_header,
    ".jsonl": _check_lines,
    ".ndjson": _check_lines,
    ".jsonl.gz": _check_lines,
    ".json": _check_document,
    ".parquet": _check_parquet,
    ".pq": _check_parquet,
    ".xlsx": _check_archive,
    ".npz": _check_archive,
    LOG: _check_archive,
}
