"""A first look at a file: what each column seems to be, and the first rows, for a person to decide."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.column_name_hints import IDENTITIES, LABEL
from modelpicker.collections.column_roles import Column, Reading, guess_columns
from modelpicker.collections.evaluation_tools import is_evaluation
from modelpicker.collections.files import open_with, several_files
from modelpicker.collections.long_tables import as_long
from modelpicker.collections.table_files import open_files
from modelpicker.collections.tables import ENDINGS, Table, ending_of, open_table
from modelpicker.collections.wide_tables import CollectionReader, plain_values
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import ABSTAINED

ROWS = 5
# The longest text of a cell that is shown whole.
LONGEST = 200
# Letters of a value that are enough to recognise it.
GLANCE = 40


@dataclass(frozen=True)
class Preview:
    """What a person needs to see in order to decide what each column is."""

    columns: tuple[Column, ...]
    """In the order of the file; of the long form and of arrays, in the order of the wide table they amount to."""
    rows: tuple[dict[str, FieldValue], ...]
    """The first rows, by column; long texts are shortened."""
    collection: ModelCollection | CollectionReader | None
    """The file, read as the columns say; None if it cannot be read so."""
    problem: str = ""
    """Why it cannot be read so; that may change with the roles of the columns that are in doubt."""


def preview_collection(path: Path, reading: Reading | None = None) -> Preview:
    """Look into a file; columns in doubt are no error here, and are taken for what they seem to be."""
    reading = reading or Reading()
    table = open_table(path) if ending_of(path) in ENDINGS and not is_evaluation(path) else None
    if table is None or as_long(table) is not None:
        found = open_with(path, None, reading)
        return Preview(_columns_of(found), _rows_of(found), found)
    guessed = guess_columns(table, reading)
    rows = _first_rows(table)
    unclear = any(column.doubt for column in guessed)
    try:
        found = open_with(path, None, replace(reading, columns={column.name: column.role for column in guessed}))
    except InputError as error:
        if not unclear:
            raise
        return Preview(guessed, rows, None, str(error))
    return Preview(guessed, rows, found)


def _first_rows(table: Table) -> tuple[dict[str, FieldValue], ...]:
    """The first rows of a table, cells as they are."""
    few = table.first(table.columns, ROWS)
    if few is None:
        return ()
    values = {name: list(map(_short, plain_values(few.column(name)))) for name in table.columns}
    return tuple({name: column[row] for name, column in values.items()} for row in range(few.num_rows))


def first_values(path: Path) -> dict[str, list[str]]:
    """The first values of each column of a table, for a person to recognise it."""
    several = several_files(path)
    table = open_files(path, several) if several else open_table(path) if ending_of(path) in ENDINGS else None
    rows = () if table is None else _first_rows(table)
    names = rows[0] if rows else ()
    return {name: [str(row[name])[:GLANCE] for row in rows[:3] if row[name] is not None] for name in names}


def _columns_of(found: ModelCollection | CollectionReader) -> tuple[Column, ...]:
    """The columns of a table that was turned, or of arrays: nothing is in doubt there."""
    first = next(iter(found.batches(fields=True)))
    identity = next((name for name in IDENTITIES if name in first.fields), None)
    fields = [Column(name, "id" if name == identity else "shown") for name in first.fields]
    labels = [Column(LABEL, "label")] if found.labelled else []
    return (*fields, *(Column(name, "model") for name in found.models), *labels)


def _rows_of(found: ModelCollection | CollectionReader) -> tuple[dict[str, FieldValue], ...]:
    """The first items with their fields, predictions and label, by name."""
    first = next(iter(found.batches(fields=True)))
    classes = [*first.classes, None]
    rows: list[dict[str, FieldValue]] = []
    for item in range(min(ROWS, len(first))):
        row: dict[str, FieldValue] = {name: _short(values[item]) for name, values in first.fields.items()}
        for model, code in zip(first.models, first.predictions[item].tolist(), strict=True):
            row[model] = _short(classes[code] if code >= 0 else None)
        if found.labelled:
            row[LABEL] = _short(classes[ABSTAINED if first.labels is None else int(first.labels[item])])
        rows.append(row)
    return tuple(rows)


def _short(value: FieldValue) -> FieldValue:
    """A cell as it is shown; what is not a number is missing."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return f"{value[: LONGEST - 1]}…" if isinstance(value, str) and len(value) > LONGEST else value
