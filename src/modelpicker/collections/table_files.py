"""Several files of one kind as one table, in the order of their names: a folder, or all that a pattern names."""

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from modelpicker.collections.tables import ENDINGS, Table, ending_of, exists, open_table, quoted
from modelpicker.collections.vocabulary import MISSING
from modelpicker.errors import InputError, NotFoundError

# Kinds of files that a folder may be made of; JSON in folders is what evaluation tools write.
KINDS = ("Parquet", "CSV", "Arrow")
WILD = "*?["


@dataclass(frozen=True)
class FilesTable(Table):
    """The rows of several files, one file after the other."""

    files: tuple[Table, ...] = ()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, in the order asked for, all rows of all files."""
        for file in self.files:
            yield from file.batches(columns)

    def first(self, columns: Sequence[str], rows: int) -> pa.RecordBatch | None:
        """The first rows of some columns, of as many files as they take."""
        found: list[pa.RecordBatch] = []
        for file in self.files:
            missing = rows - sum(batch.num_rows for batch in found)
            if missing <= 0:
                break
            head = file.first(columns, missing)
            if head is not None:
                found.append(head)
        if not found:
            return None
        tables = [pa.Table.from_batches([batch]) for batch in found]
        whole = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
        return whole.to_batches()[0]

    def renamed(self, names: Mapping[str, str]) -> "FilesTable":
        """The same table with some columns called otherwise."""
        columns = tuple(names.get(name, name) for name in self.columns)
        return replace(self, columns=columns, files=tuple(file.renamed(names) for file in self.files))

    def place_of(self, column: str, value: object) -> str:
        """Where a value stands first: the file, and the row in it."""
        for file in self.files:
            if file.find(column, value) is not None:
                return file.place_of(column, value)
        return super().place_of(column, value)


def is_pattern(source: object) -> bool:
    """Whether a source names files by a pattern, such as `folder/*.parquet`."""
    if not isinstance(source, str | Path) or not any(mark in str(source) for mark in WILD):
        return False
    return not exists(Path(source))


def files_of_pattern(pattern: str) -> list[Path]:
    """The files that a pattern names, in the order of their names; an error if there is none."""
    found = [path for path in map(Path, glob.glob(pattern, recursive=True)) if path.is_file()]  # noqa: PTH207
    if not found:
        raise NotFoundError(f"{pattern}: no file has such a name. Is the folder right, and the ending?")
    return sorted(found)


def files_of_folder(folder: Path) -> list[Path]:
    """The tables of a folder, in the order of their names; `_` and `.` begin the names of programs' own files."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.name[0] not in "._" and ENDINGS.get(ending_of(path)) in KINDS
    )


def open_files(source: str | Path, paths: Sequence[Path]) -> FilesTable:
    """Files as one table: they must be of one kind, and have the same columns."""
    kinds = {path: ENDINGS.get(ending_of(path), "") for path in paths}
    for path, kind in kinds.items():
        if kind not in KINDS:
            raise InputError(f"{source}: {path} is not {_either(KINDS)}; let the pattern name files of one kind.")
    first = paths[0]
    other = next((path for path in paths if kinds[path] != kinds[first]), None)
    if other is not None:
        raise InputError(
            f"{source}: {first} is {kinds[first]}, but {other} is {kinds[other]}; let all be of one kind."
        )
    files = tuple(open_table(path) for path in paths)
    for file in files[1:]:
        _check_columns(files[0], file)
    return FilesTable(
        path=Path(source),
        columns=files[0].columns,
        read=lambda columns: (batch for file in files for batch in file.read(columns)),
        typed=files[0].typed,
        metadata=_common(files),
        files=files,
    )


def _check_columns(first: Table, file: Table) -> None:
    """An error if a file has other columns than the first; their order does not matter."""
    for here, there in ((first, file), (file, first)):
        missing = next((name for name in here.columns if name not in there.columns), None)
        if missing is not None:
            raise InputError(
                f"{there.path} has no column {quoted(missing)}, but {here.path} has. All files of a collection "
                "must have the same columns."
            )


def _common(files: Sequence[Table]) -> Mapping[str, list[Any]]:
    """What all files note about their cells; an error if they say different things of missing cells."""
    noted = files[0].metadata
    for file in files[1:]:
        if file.metadata.get(MISSING) != noted.get(MISSING):
            raise InputError(
                f"{files[0].path} and {file.path} say different things about empty cells: in one of them they "
                "stand for models that were not run. Write all files the same way."
            )
    return {
        name: entries
        for name, entries in noted.items()
        if all(file.metadata.get(name) == entries for file in files)
    }


def _either(kinds: Sequence[str]) -> str:
    return f"{', '.join(kinds[:-1])} or {kinds[-1]}"


def stamp(path: Path) -> tuple[int, int]:
    """What changes when a file is written again: its size, and the time of the last change."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns
