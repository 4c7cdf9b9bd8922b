"""Labels from a file of their own."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from modelpicker.algorithms.encoding import ClassName
from modelpicker.collections import codes
from modelpicker.collections.arrays import label_table
from modelpicker.collections.codes import ABSTAINED
from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.tables import ENDINGS, Table, cell, open_table, quoted
from modelpicker.collections.vocabulary import Vocabulary
from modelpicker.collections.wide import LABEL, ROW_NUMBERS, WideReader, plain_values
from modelpicker.errors import InputError, NotFoundError, brief

ARRAYS = (".npz", ".npy")
# Columns by which a file of labels may name the items that they belong to.
IDENTITIES = ("id", "key", "item")


class Labels(NamedTuple):
    """Labels in the order of their file, and which items they belong to if the file says so."""

    names: list[ClassName | None]
    identity: str | None = None
    items: tuple[FieldValue, ...] = ()


def add_labels(
    found: ModelCollection | WideReader, path: Path, normalise: bool, text: bool
) -> ModelCollection | WideReader:
    """The same collection, with labels from a file: matched by an identity that both have, else row by row."""
    words = any(isinstance(name, str) for name in found.classes)
    labels = read_labels(path, fields_of(found), normalise, text or words)
    names = _matched(labels, found, path) if labels.identity else labels.names
    if len(names) != len(found):
        raise InputError(
            f"{path} has {len(names):,} labels, but there are {len(found):,} items; give one an item, or a column "
            f"{', '.join(map(quoted, IDENTITIES))} in both files."
        )
    try:
        encoded = codes.encode_labels(np.array(names, dtype=object), found.classes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if encoded.labels is None or (encoded.labels == ABSTAINED).all():
        raise InputError(f"{path} has no label for any of the items.")
    if isinstance(found, WideReader):
        found.take_labels(encoded.labels, encoded.classes)
        return found
    return ModelCollection.of_codes(
        found.predictions, encoded.labels, found.models, encoded.classes, found.fields, found.notes
    )


def fields_of(found: ModelCollection | WideReader) -> tuple[str, ...]:
    """The names of the item fields."""
    return found.roles.fields if isinstance(found, WideReader) else tuple(found.fields)


def read_labels(path: Path, fields: tuple[str, ...], normalise: bool, text: bool) -> Labels:
    """The labels of a file: a table with a column `label` or a single column, or an array."""
    ending = path.suffix.lower()
    if not path.exists():
        raise NotFoundError(f"{path} does not exist.")
    if ending not in (*ENDINGS, *ARRAYS):
        known = ", ".join([*ENDINGS, *ARRAYS])
        raise InputError(f"{path} has an ending that says nothing here; known are {known}.")
    table = label_table(path) if ending in ARRAYS else open_table(path)
    identity = next((name for name in IDENTITIES if name in table.columns and name in fields), None)
    column = _label_column(table)
    vocabulary = Vocabulary(table, normalise, text)
    wanted = [column, *([identity] if identity else [])]
    batches = list(table.batches(wanted))
    row = 1
    for batch in batches:
        vocabulary.show(column, batch.column(0), row)
        row += batch.num_rows
    vocabulary.settle(None, None)
    places = [code for batch in batches for code in vocabulary.encode(batch.column(0)).tolist()]
    names = [None if code == ABSTAINED else vocabulary.classes[code] for code in places]
    items = tuple(value for batch in batches if identity for value in plain_values(batch.column(1)))
    return Labels(names, identity, items)


def _label_column(table: Table) -> str:
    """The column called `label`, or the only one there is."""
    named = [name for name in table.columns if name.lower() == LABEL]
    others = [name for name in table.columns if name not in (*ROW_NUMBERS, *IDENTITIES)]
    found = named or others
    if len(found) != 1:
        listed = ", ".join(map(quoted, table.columns))
        raise InputError(f"{table.path} has the columns {listed}; call the one with the labels {quoted(LABEL)}.")
    return found[0]


def _matched(labels: Labels, found: ModelCollection | WideReader, path: Path) -> list[ClassName | None]:
    """A label an item, by the item's identity."""
    identity = labels.identity or ""
    by_item: dict[str, ClassName | None] = {}
    for row, (item, name) in enumerate(zip(labels.items, labels.names, strict=True), start=1):
        if by_item.setdefault(str(item), name) != name:
            raise InputError(f"{cell(path, row, identity)}: {brief(item)} has another label in an earlier row.")
    items = [str(item) for batch in found.batches(fields=True) for item in batch.fields[identity]]
    if len(set(items)) < len(items):
        twice = next(item for place, item in enumerate(items) if item in items[:place])
        raise InputError(f"column {quoted(identity)}: {brief(twice)} names two items, so labels can't be matched.")
    if not by_item.keys() & set(items):
        raise InputError(f"{cell(path, None, identity)}: no value is one of the items'; are the files of one set?")
    return [by_item.get(item) for item in items]
