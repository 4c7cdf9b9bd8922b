"""Data frames, Arrow tables and mappings of arrays, read as files are: the same roles, the same doubts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.tables import BATCH_ROWS, Table, metadata_of
from modelpicker.collections.wide_tables import CollectionReader, find_roles
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError
from modelpicker.frames import Columns, as_columns, matrix_of

# What messages call a table that is not a file.
NAME = Path("the data frame")


def frame_table(source: object, name: Path = NAME) -> Table | None:
    """A data frame as a table; None for anything else."""
    columns = as_columns(source)
    if columns is None:
        return None
    if not columns:
        raise InputError(f"{name} has no columns.")
    rows = pa.table(columns)
    metadata = metadata_of(source.schema) if isinstance(source, pa.Table | pa.RecordBatch) else {}

    def read(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from rows.select(list(wanted)).to_batches(BATCH_ROWS)

    return Table(name, tuple(columns), read, metadata=metadata)


def collect_frame(
    source: object,
    labels: object,
    models: Sequence[object] | None,
    classes: Sequence[ClassName] | None,
    fields: Mapping[str, Any],
) -> ModelCollection | None:
    """The collection of a data frame, as `ModelCollection` is asked for it; None for anything else.

    Whole numbers are places in `classes` if these are strings.
    """
    table = frame_table(source)
    if table is None:
        return None
    columns = as_columns(source) or {}
    named = None if models is None else [str(name) for name in models]
    if named is not None and not set(named) & set(table.columns) and len(named) == len(table.columns):
        return ModelCollection(matrix_of(columns, table.columns), labels, named, classes, fields=fields)
    reading = Reading(models=named, classes=classes, labels_elsewhere=labels is not None)
    if classes is not None and all(isinstance(name, str) for name in classes):
        roles = find_roles(table, reading)
        if _are_numbers([columns[name] for name in roles.models]):
            return _by_place(columns, roles, labels, classes, fields)
    found = CollectionReader(table, reading).read()
    shown = {**found.fields, **fields}
    made = ModelCollection.of_codes(
        found.predictions, found.labels, found.models, found.classes, shown, found.notes
    )
    return made if labels is None else made.with_labels(labels)


def _are_numbers(columns: Sequence[pa.Array]) -> bool:
    return all(pa.types.is_integer(column.type) or pa.types.is_floating(column.type) for column in columns)


def _by_place(
    columns: Columns, roles: Any, labels: object, classes: Sequence[ClassName], fields: Mapping[str, Any]
) -> ModelCollection:
    """Predictions that are places in a list of classes."""
    told = labels
    if told is None and roles.label is not None:
        told = matrix_of(columns, [roles.label])[:, 0]
    shown = {name: columns[name].to_pylist() for name in roles.fields}
    return ModelCollection(
        matrix_of(columns, roles.models), told, roles.models, classes, fields={**shown, **fields}
    )
