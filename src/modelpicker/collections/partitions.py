"""Parts of a large table, each of which can be scanned anywhere: what its cells are, and the rows that decide.

A row on which all cells are the same decides nothing, whatever the classes turn out to be. The others are kept,
with codes that mean something only within the part: the classes are known when all parts have been scanned.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modelpicker.collections.table_files import stamp
from modelpicker.collections.tables import BATCH_ROWS, ENDINGS, PARQUET, Table, ending_of, explained, open_table
from modelpicker.collections.vocabulary import Cell, ClassVocabulary, CodedColumn
from modelpicker.encoding import Array, Missing, smallest_type
from modelpicker.errors import ConflictError
from modelpicker.kernels.primitives import NOT_RUN, Ints

# Cells that are scanned in one task, unless a row group alone has more.
PART_CELLS = 2**25
# The code of a cell that is missing; those of the others count from 1.
NO_CELL = 0
# An odd number whose powers spread the bits of ids.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Ids that are longer are hashed one by one.
LONG_ID = 64


class Partition(NamedTuple):
    """Some consecutive rows of one file."""

    number: int
    path: Path
    first: int
    """The first row, in the file."""
    groups: tuple[int, ...] | None
    """The row groups of a Parquet file; None: the whole file."""
    stamp: tuple[int, int]
    """What the file was when it was divided."""

    def __str__(self) -> str:
        return f"{self.path}, row {self.first + 1:,} and those after it"


class PartitionFound(NamedTuple):
    """What a scan found in a part."""

    rows: int
    columns: dict[str, CodedColumn]
    cells: list[Cell]
    """What the codes stand for: 1 is the first of them."""
    places: Ints
    """The rows that are kept, counted from the first of the part."""
    codes: Array
    """What the models say about them."""
    labels: Array
    """The codes of the labels of all rows, if the table has some."""
    agreed: Array
    """What all models say about each row; of one that is kept, what the first one says."""
    ids: npt.NDArray[np.uint64]
    """Hashes of the ids of all rows that have one."""


def divide(files: Sequence[Table], models: int) -> list[Partition]:
    """The parts of some files: row groups of Parquet files, and other files whole."""
    parts: list[Partition] = []
    for file in files:
        with explained(file.path):
            mark = stamp(file.path)
            for first, groups in _groups(file.path, models):
                parts.append(Partition(len(parts), file.path, first, groups, mark))
    return parts


def _groups(path: Path, models: int) -> Iterator[tuple[int, tuple[int, ...] | None]]:
    """Consecutive row groups that are scanned together, and the first row of each such part."""
    if ENDINGS[ending_of(path)] != "Parquet":
        yield 0, None
        return
    from pyarrow import parquet

    with parquet.ParquetFile(path, **PARQUET) as file:
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    start, first, rows = 0, 0, 0
    for group, size in enumerate(sizes):
        if rows and (rows + size) * models > PART_CELLS:
            yield first, tuple(range(start, group))
            start, first, rows = group, first + rows, 0
        rows += size
    if rows:
        yield first, tuple(range(start, len(sizes)))


def read_part(part: Partition, columns: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Some columns of a part, batch by batch; those that are coded may come as places in a dictionary."""
    if part.groups is None:
        yield from open_table(part.path).batches(columns)
        return
    from pyarrow import parquet

    with (
        explained(part.path),
        parquet.ParquetFile(part.path, read_dictionary=list(coded), **PARQUET) as file,
    ):
        for batch in file.iter_batches(BATCH_ROWS, row_groups=list(part.groups), columns=list(columns)):
            if batch.num_rows:
                chosen = batch.select(list(columns))
                chosen.validate(full=True)
                yield chosen


def check_unchanged(path: Path, before: tuple[int, int]) -> None:
    """An error if a file was written since it was divided."""
    with explained(path):
        now = stamp(path)
    if now != before:
        raise ConflictError(
            f"{path} has changed since it was scanned; run the same command again to read it again."
        )


@dataclass(frozen=True)
class PartitionScan:
    """How parts are scanned: sent to every worker once."""

    models: tuple[str, ...]
    label: str | None
    id: str | None
    metadata: Mapping[str, list[Any]]
    normalise: bool
    text: bool
    missing: Missing

    @property
    def coded(self) -> tuple[str, ...]:
        """The columns whose cells are classes."""
        return (*self.models, *([self.label] if self.label else []))

    def vocabulary(self, table: Table) -> ClassVocabulary:
        """One that has not seen a cell."""
        return ClassVocabulary(table, self.normalise, self.text, self.missing)

    def play(self, part: Partition) -> PartitionFound:
        """Scan a part."""
        check_unchanged(part.path, part.stamp)
        table = open_table(part.path)
        codes = PartCodes(self.vocabulary(table))
        kept = KeptCells(codes, len(self.models))
        ids: list[npt.NDArray[np.uint64]] = [np.zeros(0, dtype=np.uint64)]
        for batch in read_part(part, [*self.coded, *([self.id] if self.id else [])], self.coded):
            at = part.first + kept.rows + 1
            columns = [codes.encode(name, batch.column(place), at) for place, name in enumerate(self.coded)]
            kept.add(columns)
            if self.id is not None:
                ids.append(hash_ids(batch.column(len(self.coded)).drop_null()))
        check_unchanged(part.path, part.stamp)
        return kept.found(codes, np.concatenate(ids))


class PartCodes:
    """Codes of the cells of a part, in the order in which they come; missing cells are 0."""

    def __init__(self, vocabulary: ClassVocabulary) -> None:
        self.vocabulary = vocabulary
        self._codes: dict[Cell, int] = {}

    @property
    def cells(self) -> list[Cell]:
        """The cells, in the order of their codes."""
        return list(self._codes)

    def encode(self, name: str, values: pa.Array, row: int) -> npt.NDArray[np.int32]:
        """The codes of some cells of a column, the first of which is in this row; the vocabulary is shown them."""
        encoded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
        dictionary: list[Cell] = encoded.dictionary.to_pylist()
        places = pc.fill_null(encoded.indices, len(dictionary)) if encoded.indices.null_count else encoded.indices
        indices = places.to_numpy(zero_copy_only=False)
        counts = np.bincount(indices, minlength=len(dictionary) + 1).tolist()

        def find(cell: Cell) -> int:
            return row + int(np.argmax(indices == dictionary.index(cell)))

        self.vocabulary.count(name, encoded.dictionary.type, zip([*dictionary, None], counts, strict=True), find)
        used = [self._code(cell) if count else NO_CELL for cell, count in zip(dictionary, counts, strict=False)]
        codes = np.array([*used, NO_CELL], dtype=np.int32)
        found: npt.NDArray[np.int32] = codes[indices]
        return found

    def _code(self, cell: Cell) -> int:
        missing = cell is None or cell != cell
        return NO_CELL if missing else self._codes.setdefault(cell, len(self._codes) + 1)

    def absent(self) -> npt.NDArray[np.bool_]:
        """Which codes may stand for a model that was not run."""
        marks = (not str(cell).strip() or str(cell).strip() == str(NOT_RUN) for cell in self._codes)
        return np.array([True, *marks], dtype=np.bool_)


class KeptCells:
    """The rows of a part on which some cells differ, or that have one of a model that was not run."""

    def __init__(self, codes: PartCodes, models: int) -> None:
        self.rows = 0
        self._codes = codes
        self._models = models
        vocabulary = codes.vocabulary
        self._may_be_absent = NOT_RUN in (vocabulary.empty, vocabulary.blank) or vocabulary.absent
        self._places: list[Ints] = [np.zeros(0, dtype=np.int64)]
        self._said: list[Array] = []
        self._labels: list[Array] = [np.zeros(0, dtype=np.int8)]
        self._agreed: list[Array] = [np.zeros(0, dtype=np.int8)]

    def add(self, columns: Sequence[npt.NDArray[np.int32]]) -> None:
        """The next rows, column by column: the models, then the labels if there are some."""
        first, count = columns[0], len(columns[0])
        keep = np.zeros(count, dtype=np.bool_)
        for column in columns[1 : self._models]:
            keep |= column != first
        if self._may_be_absent:
            absent = self._codes.absent()
            for column in columns[: self._models]:
                keep |= absent[column]
        places = np.flatnonzero(keep)
        dtype = smallest_type(len(self._codes.cells) + 1)
        said = np.empty((len(places), self._models), dtype=dtype)
        for place, column in enumerate(columns[: self._models]):
            said[:, place] = column[places]
        self._said.append(said)
        self._agreed.append(first.astype(dtype))
        self._places.append(self.rows + places)
        if len(columns) > self._models:
            self._labels.append(columns[-1].astype(dtype))
        self.rows += count

    def found(self, codes: "PartCodes", ids: npt.NDArray[np.uint64]) -> PartitionFound:
        """All that was found in the part."""
        return PartitionFound(
            rows=self.rows,
            columns=codes.vocabulary.columns,
            cells=codes.cells,
            places=np.concatenate(self._places),
            codes=np.concatenate([np.zeros((0, self._models), dtype=np.int8), *self._said]),
            labels=np.concatenate(self._labels),
            agreed=np.concatenate(self._agreed),
            ids=ids,
        )


def hash_ids(values: pa.Array) -> npt.NDArray[np.uint64]:
    """Ids as numbers that are the same on every machine; equal ids, as text, have equal numbers."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    texts = values if pa.types.is_large_string(values.type) else _as_text(values)
    sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset : texts.offset + len(texts)]
    data = texts.buffers()[2]
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(1, dtype=np.uint8)
    hashes: npt.NDArray[np.uint64] = sizes.astype(np.uint64)
    for place in range(min(LONG_ID, int(sizes.max(initial=0)))):
        more = np.flatnonzero(sizes > place)
        hashes[more] = (hashes[more] ^ content[offsets[more] + place]) * SPREAD
        hashes[more] ^= hashes[more] >> np.uint64(29)
    for row in np.flatnonzero(sizes > LONG_ID).tolist():
        rest = content[offsets[row] + LONG_ID : offsets[row] + sizes[row]].tobytes()
        hashes[row] ^= np.uint64(zlib.crc32(rest) << 31)
    return hashes


def _as_text(values: pa.Array) -> pa.Array:
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_integer(kind):
        return values.cast(pa.large_string())
    return pa.array([str(value) for value in values.to_pylist()], type=pa.large_string())
