"""Every run, once: what its tasks found is written to Parquet as it comes, and never played again."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.collections.writers import replacing
from modelpicker.errors import FileError
from modelpicker.experiments.playing import FIELDS, MarkRecord
from modelpicker.experiments.tasks import Block, ComparisonCell, Task
from modelpicker.kernels.primitives import Ints

# Seconds of work that a killed process may lose.
AT_RISK = 2.0
UNKNOWN = -1
ASKED = len(FIELDS)


class Ledger:
    """What is known about every run, in memory except for the marks before the last, which are on the disk."""

    def __init__(self, folder: Path, realizations: int) -> None:
        self.folder = folder
        self.realizations = realizations
        self.finals: dict[ComparisonCell, npt.NDArray[np.int32]] = {}
        """By cell: one row per realization, the fields at the last mark and the labels asked for."""
        self._unwritten: list[tuple[Task, Block]] = []
        self._written_at = -AT_RISK  # the first block is written at once, so that a bad disk shows early
        self._read()

    def missing(self, cell: ComparisonCell, numbers: Sequence[int]) -> list[int]:
        """Which of these realizations have not been played."""
        if cell not in self.finals:
            return list(numbers)
        known = self.finals[cell][:, ASKED] != UNKNOWN
        return [number for number in numbers if number >= len(known) or not known[number]]

    def asked(self, cell: ComparisonCell, numbers: Sequence[int]) -> Ints:
        """The labels that each of these runs of a cell asked for."""
        asked: Ints = self.finals[cell][np.array(numbers), ASKED].astype(np.int64)
        return asked

    def add(self, task: Task, block: Block) -> None:
        """Take in what a task found; on the disk within two seconds of the next one."""
        for cell, asked, records in zip(task.cells, *block, strict=True):
            self._note(cell, np.array(task.numbers), asked, records[:, -1])
        self._unwritten.append((task, block))
        if time.monotonic() - self._written_at > AT_RISK:
            self.write()

    def _note(self, cell: ComparisonCell, numbers: Ints, asked: npt.NDArray[Any], last: MarkRecord) -> None:
        finals = self.finals.get(cell)
        if finals is None or len(finals) <= numbers.max():
            room = max(self.realizations, int(numbers.max()) + 1)
            self.finals[cell] = np.full((room, ASKED + 1), UNKNOWN, dtype=np.int32)
            if finals is not None:
                self.finals[cell][: len(finals)] = finals
        self.finals[cell][numbers, :ASKED] = last
        self.finals[cell][numbers, ASKED] = asked

    def write(self) -> None:
        """Put on the disk what is not there yet."""
        if self._unwritten:
            import pyarrow.parquet as pq

            table = _table(self._unwritten)
            number = 1 + max((int(path.stem.split("-")[1]) for path in self._parts()), default=-1)
            path = self.folder / f"part-{number:06d}.parquet"
            with replacing(path) as unfinished:
                pq.write_table(table, unfinished, compression="zstd")
            self._unwritten = []
        self._written_at = time.monotonic()

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _read(self) -> None:
        """The runs of an earlier process."""
        for leftover in self.folder.glob(".part-*"):  # of a process that was killed while it wrote
            leftover.unlink(missing_ok=True)
        for cells, numbers, asked, records in self._written():
            rows: dict[ComparisonCell, list[int]] = {}
            for row, cell in enumerate(cells):
                rows.setdefault(cell, []).append(row)
            for cell, mine in rows.items():
                last = np.array([records[row][-1] for row in mine])
                self._note(cell, numbers[mine], asked[mine], last)

    def _written(self) -> Iterator[tuple[list[ComparisonCell], Ints, Ints, list[MarkRecord]]]:
        """The content of every part: cell, realization, labels asked for and records of each run."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for path in self._parts():
            try:
                table = pq.read_table(path)
                names = (table[name].to_pylist() for name in ("method", "value", "most", "streams"))
                cells = [ComparisonCell(*parts) for parts in zip(*names, strict=True)]
                lists = [table[name].combine_chunks() for name in FIELDS]
                ends = lists[0].offsets.to_numpy()
                flat = np.stack([column.values.to_numpy(zero_copy_only=False) for column in lists], axis=1)
            except (pa.ArrowException, OSError, KeyError, ValueError) as error:
                raise FileError(
                    f"{path} cannot be read: {error}. Delete it: its runs will be played again."
                ) from error
            records = [flat[start:stop] for start, stop in pairwise(ends)]
            yield cells, table["realization"].to_numpy(), table["asked"].to_numpy(), records

    def records(self, cells: Iterable[ComparisonCell]) -> Iterator[tuple[ComparisonCell, int, MarkRecord]]:
        """The whole record of every run of some cells, a part of the ledger at a time."""
        self.write()
        wanted = set(cells)
        seen: set[tuple[ComparisonCell, int]] = set()
        for found, numbers, _, records in self._written():
            for cell, number, record in zip(found, numbers.tolist(), records, strict=True):
                if cell in wanted and (cell, number) not in seen:
                    seen.add((cell, number))
                    yield cell, number, record


def _table(done: Sequence[tuple[Task, Block]]) -> Any:
    """A row a run."""
    import pyarrow as pa

    columns: dict[str, list[Any]] = {name: [] for name in ("method", "value", "most", "streams", "realization")}
    for task, _ in done:
        for cell in task.cells:
            for number in task.numbers:
                for name, entry in zip(columns, (*cell, number), strict=True):
                    columns[name].append(entry)
    records = [record for _, block in done for runs in block.records for record in runs]
    ends = np.cumsum([0, *(len(record) for record in records)]).astype(np.int32)
    flat = np.concatenate(records)
    lists = {
        name: pa.ListArray.from_arrays(ends, np.ascontiguousarray(flat[:, i])) for i, name in enumerate(FIELDS)
    }
    asked = np.concatenate([block.asked.reshape(-1) for _, block in done])
    return pa.table(
        {
            "method": pa.array(columns["method"]).dictionary_encode(),
            "value": pa.array(columns["value"], pa.float64()),
            "most": pa.array(columns["most"], pa.int32()),
            "streams": pa.array(columns["streams"]).dictionary_encode(),
            "realization": pa.array(columns["realization"], pa.int32()),
            "asked": asked,
            **lists,
        }
    )
