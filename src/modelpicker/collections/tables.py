"""Tables in files, batch by batch: CSV, Parquet, Arrow and JSON lines, through pyarrow.

A table is opened by its ending, but believed only by its first bytes; every way in which pyarrow can fail becomes
one sentence that names the file, and where it can be known the row and the column.
"""

import gzip
import io
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from modelpicker.errors import FileError, InputError, NotFoundError, brief

BATCH_ROWS = 2**16
# Columns are read a megabyte at a time, so that a file of one large row group does not fill the memory.
PARQUET: dict[str, Any] = {"page_checksum_verification": True, "pre_buffer": False, "buffer_size": 2**20}
# The longest line of a text file that is believed to be one.
LONGEST_LINE = 2**24
# As much of a text file as is read for its first rows.
FIRST_BLOCK = 2**20
# Text files up to this size are read once, into memory; larger ones are opened again for every pass.
SMALL = 2**23
# A column of the CSV files of promptfoo, which have one per model.
REASON = "Grader Reason"
# What stands for a missing cell in a CSV file, unless it is in quotes.
MISSING = ["", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"]
RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive, as .npz files are",
    b"\x93NUMPY": "a NumPy array, as .npy files hold them",
    b"\x1f\x8b": "compressed with gzip",
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an old Excel sheet",
}
ENDINGS = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON",
    ".xlsx": "Excel",
    ".csv.gz": "CSV",
    ".tsv.gz": "CSV",
    ".jsonl.gz": "JSON lines",
}
PACKED = ".gz"
# What Python raises about a file that cannot be unpacked.
UNPACKING = (EOFError, zlib.error, gzip.BadGzipFile)
# Kinds of which a file is read once, and then as if it were lines of text.
DOCUMENTS = ("JSON", "Excel")


ARRAYS = (".npz", ".npy")
# What to do with files that are often tried.
ADVICE = {
    ".xls": "Save the sheet as .xlsx, or as CSV.",
    ".gz": "Unpack it first, or save it as Parquet.",
    ".eval": "It is not a log of inspect_ai.",
    ".pkl": "Pickles are never loaded; save it as Parquet.",
    ".pickle": "Pickles are never loaded; save it as Parquet.",
}


@dataclass(frozen=True)
class TextFile:
    """A file of lines, which several passes go through."""

    path: Path
    content: bytes | None = None
    """All of it, if it is small: then the file itself is opened once."""

    def open(self) -> BinaryIO:
        """The file from its beginning, unpacked."""
        return open_binary(self.path) if self.content is None else io.BytesIO(self.content)

    def for_arrow(self) -> Any:
        """The file as pyarrow takes it, which also unpacks it."""
        return str(self.path) if self.content is None else pa.BufferReader(self.content)


@dataclass(frozen=True)
class Table:
    """The columns of a file, and a way to read some of them, batch by batch, as often as needed."""

    path: Path
    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    typed: bool = True
    """Whether cells have a type; those of CSV files are strings that may stand for numbers."""
    metadata: Mapping[str, list[Any]] = field(default_factory=dict)
    """What `save` wrote down beside the cells: models, fields, classes. The cells may have changed since."""
    head: Callable[[Sequence[str], int], pa.RecordBatch | None] | None = None
    """A way to read only the first rows, where that costs less; None if it cannot be done so."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, in the order asked for, all rows."""
        with explained(self.path):
            for batch in self.read(columns):
                if batch.num_rows:
                    chosen = batch.select(list(columns))
                    chosen.validate(full=True)  # Arrow trusts what it reads: damage could crash the process
                    yield chosen

    def first(self, columns: Sequence[str], rows: int) -> pa.RecordBatch | None:
        """The first rows of some columns, read for little; fewer, where rows are long."""
        with explained(self.path):
            found = None if self.head is None else self.head(columns, rows)
        if found is None:
            found = next(self.batches(columns), None)
        if found is None:
            return None
        chosen = found.select(list(columns)).slice(0, rows)
        chosen.validate(full=True)
        return chosen

    def renamed(self, names: Mapping[str, str]) -> "Table":
        """The same table with some columns called otherwise."""
        before = {new: old for old, new in names.items()}

        def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            for batch in self.read([before.get(name, name) for name in columns]):
                yield batch.rename_columns([names.get(name, name) for name in batch.schema.names])

        columns = tuple(names.get(name, name) for name in self.columns)
        return replace(self, columns=columns, read=read, head=None)

    def place_of(self, column: str, value: object) -> str:
        """Where a value stands first, as errors say it."""
        return cell(self.path, self.find(column, value), column)

    def find(self, column: str, value: object) -> int | None:
        """The first row of a column that holds a value, for an error to name."""
        rows = 0
        for batch in self.batches([column]):
            values = batch.column(0)
            if pa.types.is_dictionary(values.type):
                values = values.dictionary_decode()
            try:
                place = pc.index(values, pa.scalar(value, values.type)).as_py()
            except (pa.ArrowException, OverflowError, ValueError, TypeError):
                return None
            if place >= 0:
                return int(rows + place + 1)
            rows += batch.num_rows
        return None


def open_table(path: Path) -> Table:
    """A table, opened as its ending says, if it is what its ending says."""
    kind = ENDINGS[ending_of(path)]
    small = kind in ("CSV", "JSON lines") and path.is_file() and path.stat().st_size <= SMALL
    if not small:
        check_readable(path)
    file = TextFile(path, _content(path) if small else None)
    if kind in DOCUMENTS:
        from modelpicker.collections.document_tables import as_lines

        file, kind = as_lines(path, kind)
    else:
        with explained(path):
            _check_magic(file, kind)
    with explained(path):
        match kind:
            case "CSV":
                table = _open_csv(file)
            case "JSON lines":
                table = _open_json(file)
            case "Parquet":
                table = _open_parquet(path)
            case _:
                table = _open_arrow(path)
    for name, count in Counter(table.columns).items():
        if count > 1:
            hint = (
                " Tables of promptfoo are read as JSON: --output results.json." if REASON in table.columns else ""
            )
            raise InputError(f"{path}: column {quoted(name)} occurs {count} times; names must differ.{hint}")
    return table


def ending_of(path: Path) -> str:
    """The ending of a name, in lower case; of a file that is packed the one before it too."""
    ending = path.suffix.lower()
    if ending != PACKED:
        return ending
    inner = path.with_suffix("").suffix.lower() + ending
    return inner if inner in ENDINGS else ending


def open_binary(path: Path) -> BinaryIO:
    """A file, unpacked if its ending says that it is packed."""
    return cast("BinaryIO", gzip.open(path)) if path.suffix.lower() == PACKED else path.open("rb")


def exists(path: Path) -> bool:
    """Whether there is anything of that name; a name that cannot be one names nothing."""
    try:
        str(path).encode()
        return path.exists()
    except (OSError, ValueError):
        return False


def check_ending(path: Path) -> None:
    """Refuse a file whose ending says nothing, and say what to do with it."""
    ending = ending_of(path)
    if ending not in (*ENDINGS, *ARRAYS):
        advice = ADVICE.get(ending, f"Endings that can be read are {', '.join([*ENDINGS, *ARRAYS])}.")
        raise InputError(f"{path} cannot be read: {ending or 'no ending'} is not known. {advice}")


def check_readable(path: Path) -> None:
    """Refuse what is not there, or is not a file, or is empty."""
    try:
        if not exists(path):
            raise NotFoundError(f"{path} does not exist.")
        if path.is_dir():
            raise InputError(f"{path} is a folder; pass a file.")
        if not path.is_file():
            raise InputError(f"{path} is a pipe or a device, but is read more than once; save it as a file.")
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError(f"{path} is empty.")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _content(path: Path) -> bytes | None:
    """All of a small file, read once; None if it is not small when it is unpacked."""
    with explained(path), open_binary(path) as file:
        content = file.read(SMALL + 1)
    if not content:
        raise InputError(f"{path} is empty.")
    return content if len(content) <= SMALL else None


def quoted(name: object) -> str:
    """A name as messages show it."""
    text = json.dumps(str(name), ensure_ascii=False)
    return text if len(text) <= 80 else f'{text[:76]}…"'


def cell(path: Path, row: int | None = None, column: str | None = None) -> str:
    """Where something is wrong: the file, the row counted from 1 (a header is no row), the column."""
    parts = [str(path)]
    if row is not None:
        parts.append(f"row {row:,}")
    if column is not None:
        parts.append(f"column {quoted(column)}")
    return ", ".join(parts)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises about a file into one sentence."""
    try:
        yield
    except MemoryError as error:
        raise FileError(
            f"{path} does not fit into memory; save it as Parquet, which is read in batches."
        ) from error
    except UNPACKING as error:
        raise InputError(f"{path} is damaged or cut short: gzip cannot unpack it ({error}).") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(f"{path} cannot be read: {os.strerror(error.errno)}.") from error
        said = "UTF8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise InputError(f"{path} {_complaint(path, said)}") from error


def _complaint(path: Path, said: str) -> str:
    """What pyarrow said, as one sentence after the name of the file."""
    first = said.strip().splitlines()[0] if said.strip() else "no reason given"
    if "straddling" in first:
        return f"has a line longer than {LONGEST_LINE >> 20} MB, so it is not a table; write one item per line."
    kind = ENDINGS.get(ending_of(path), "")
    if "not implemented" in first.lower() or "no kernel" in first.lower() or "unsupported" in first.lower():
        return f"holds cells of a type that no class can have ({first})."
    if "zlib" in first or "compressed stream" in first:
        return f"is damaged or cut short: gzip cannot unpack it ({first})."
    if "UTF8" in first and kind not in ("Parquet", "Arrow"):
        return "is not written in UTF-8; save it as UTF-8 (in a spreadsheet: CSV UTF-8) and try again."
    if kind in ("Parquet", "Arrow"):
        return f"is damaged or cut short: no {kind} reader can read it ({first}). Write it again."
    return f"cannot be read as {kind}: {first}."


def _check_magic(file: TextFile, kind: str) -> None:
    """A file that is not what its ending says is named for what it is."""
    path = file.path
    with file.open() as stream:
        head = stream.read(4096)
    found = next((what for magic, what in MAGIC.items() if head.startswith(magic)), None)
    wanted = {"Parquet": "a Parquet file", "Arrow": "an Arrow file"}.get(kind)
    if kind in ("CSV", "JSON lines"):
        if found is None and b"\0" in head:
            utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
            found = "text in UTF-16; save it as UTF-8" if utf16 else "a binary file"
        if found is None and (kind == "JSON lines") and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
            found = "not a JSON lines file: its first line is not an object"
    elif found is None and kind == "Parquet":
        found = "not a Parquet file"
    if found not in (None, wanted):
        raise InputError(f"{path} ends in {path.suffix}, but by its first bytes it is {found}.")


def _open_parquet(path: Path) -> Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path, **PARQUET) as file:
        schema = file.schema_arrow

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with parquet.ParquetFile(path, **PARQUET) as file:
            yield from file.iter_batches(BATCH_ROWS, columns=list(columns))

    def head(columns: Sequence[str], rows: int) -> pa.RecordBatch | None:
        with parquet.ParquetFile(path, **PARQUET) as file:
            return next(file.iter_batches(rows, columns=list(columns)), None)

    return Table(path, tuple(schema.names), read, metadata=metadata_of(schema), head=head)


def _open_arrow(path: Path) -> Table:
    with _arrow_reader(path) as reader:
        schema = reader.schema

    def read(_: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _arrow_reader(path) as reader:
            in_file = isinstance(reader, pa.RecordBatchFileReader)
            found = map(reader.get_batch, range(reader.num_record_batches)) if in_file else reader
            for batch in found:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)

    return Table(path, tuple(schema.names), read, metadata=metadata_of(schema))


@contextmanager
def _arrow_reader(path: Path) -> Iterator[Any]:
    """An Arrow file in either of its two forms.

    It is not mapped into memory: a file that shrinks meanwhile would end the process.
    """
    with pa.OSFile(str(path), "rb") as source:
        opened = pa.ipc.open_file if source.read(6) == b"ARROW1" else pa.ipc.open_stream
        source.seek(0)
        with opened(source) as reader:
            yield reader


def metadata_of(schema: pa.Schema) -> Mapping[str, list[Any]]:
    """What `save` wrote into the schema; nothing, if another program wrote the file."""
    try:
        found = json.loads((schema.metadata or {}).get(b"modelpicker", b"{}"))
    except (ValueError, RecursionError):
        found = {}
    lists = found.items() if isinstance(found, dict) else ()
    return {
        name: entries
        for name, entries in lists
        if isinstance(entries, list) and all(type(entry) in (str, int) for entry in entries)
    }


def _open_csv(file: TextFile) -> Table:
    from pyarrow import csv

    path = file.path
    delimiter, single = _delimiter(file)

    def reader(columns: Sequence[str], block: int = LONGEST_LINE) -> csv.CSVStreamingReader:
        return csv.open_csv(
            file.for_arrow(),
            read_options=csv.ReadOptions(block_size=block, use_threads=False),
            parse_options=csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=not single,
            ),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in columns},
                include_columns=list(columns),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=MISSING,
            ),
        )

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows, last = 0, None
        try:
            for batch in reader([written[name] for name in columns]):
                yield batch.rename_columns(list(columns))
                rows += batch.num_rows
                last = batch if batch.num_rows else last
            _check_quotes(file, rows, last)
        except pa.ArrowInvalid as error:
            _find_ragged(path, str(error))
            _find_bad_text(file, header=True)
            raise

    def head(columns: Sequence[str], _: int) -> pa.RecordBatch | None:
        try:
            batch = next(iter(reader([written[name] for name in columns], FIRST_BLOCK)), None)
        except pa.ArrowInvalid:  # a long line, or a bad one, which is told by who reads it whole
            return None
        return None if batch is None or not batch.num_rows else batch.rename_columns(list(columns))

    try:
        names = reader(()).schema.names
    except pa.ArrowInvalid as error:
        _find_ragged(path, str(error))
        raise
    written = {name.strip(): name for name in names}
    return Table(path, tuple(name.strip() for name in names), read, typed=False, head=head)


def _check_quotes(file: TextFile, rows: int, last: pa.RecordBatch | None) -> None:
    """A quotation mark that is never closed swallows the rest of the file, which its last cell then holds."""
    if last is None or "\n" not in str(last.column(last.num_columns - 1)[last.num_rows - 1]):
        return
    with file.open() as stream:
        marks = sum(piece.count(b'"') for piece in iter(lambda: stream.read(LONGEST_LINE), b""))
    if marks % 2:
        raise InputError(f"{cell(file.path, rows)}: a quotation mark is opened and never closed.")


def _find_ragged(path: Path, said: str) -> None:
    """Raise an error for the row that pyarrow says has too few cells, or too many."""
    found = RAGGED.search(said)
    if found:
        line, wanted, cells = (int(number) for number in found.groups())
        raise InputError(f"{cell(path, line - 1)}: {cells} cells where the header has {wanted}.") from None


def _delimiter(file: TextFile) -> tuple[str, bool]:
    """What separates the cells, and whether there is but one column, whose empty lines are missing cells.

    It is a comma, or what some spreadsheets write instead of it.
    """
    with file.open() as stream:
        header = stream.readline(LONGEST_LINE)
    marks = "\t" if ending_of(file.path).startswith(".tsv") else ",;\t"
    found = next((mark for mark in marks if mark.encode() in header), None)
    return found or marks[0], found is None


def _lines(file: TextFile) -> Iterator[bytes]:
    """The lines of a file, up to one that is too long to be one."""
    with file.open() as stream:
        while line := stream.readline(LONGEST_LINE):
            yield line
            if len(line) == LONGEST_LINE:
                return


def _find_bad_text(file: TextFile, header: bool) -> None:
    """Raise an error for the first line that is not UTF-8."""
    path = file.path
    for number, line in enumerate(_lines(file), start=0 if header else 1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            where = cell(path, number) if number else f"{path}, header"
            raise InputError(
                f"{where}: byte {line[error.start]:#x} is not UTF-8; save the file as UTF-8 and try again."
            ) from None


def _open_json(file: TextFile) -> Table:
    from pyarrow import json as arrow_json

    options = arrow_json.ReadOptions(block_size=LONGEST_LINE)
    try:
        table = arrow_json.read_json(file.for_arrow(), read_options=options)
        dates = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
        if dates:  # strings that look like dates are strings here
            strings = arrow_json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in dates]))
            table = arrow_json.read_json(file.for_arrow(), read_options=options, parse_options=strings)
    except pa.ArrowInvalid:
        _find_bad_text(file, header=False)
        _find_bad_json(file)
        raise

    def read(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from table.select(list(columns)).to_batches(BATCH_ROWS)

    return Table(file.path, tuple(table.column_names), read)


def _find_bad_json(file: TextFile) -> None:
    """Raise an error for the first line that is not an object, or whose values are of another type than before."""
    path = file.path
    kinds: dict[str, tuple[str, int]] = {}
    row = 0
    for line in _lines(file):
        if not line.strip():
            continue
        row += 1
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            if len(line) == LONGEST_LINE:
                return
            raise InputError(f"{cell(path, row)}: this line is not JSON ({error}).") from None
        if not isinstance(found, dict):
            raise InputError(f"{cell(path, row)}: {brief(found)} is not an object; write one object per item.")
        for name, value in found.items():
            kind = _json_kind(value)
            before, first = kinds.setdefault(name, (kind, row)) if value is not None else (kind, row)
            if kind != before:
                raise InputError(
                    f"{cell(path, row, name)}: {brief(value)} is a {kind}, but row {first:,} has a {before}; "
                    "let a column be of one type."
                )


def _json_kind(value: object) -> str:
    kinds = {bool: "truth value", int: "number", float: "number", str: "string", list: "list", dict: "object"}
    return kinds.get(type(value), "missing value")
