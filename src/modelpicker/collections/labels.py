"""Labels from a file of their own."""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from modelpicker.algorithms.encoding import ClassName
from modelpicker.collections import codes
from modelpicker.collections.arrays import label_table
from modelpicker.collections.codes import ABSTAINED
from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.column_names import IDENTITIES, LABEL, ROW_NUMBERS
from modelpicker.collections.columns import Reading
from modelpicker.collections.tables import ARRAYS, Table, cell, check_ending, exists, open_table, quoted
from modelpicker.collections.vocabulary import Vocabulary
from modelpicker.collections.wide import WideReader, class_notes, plain_values, unlabelled_notes
from modelpicker.errors import InputError, NotFoundError, brief


class Labels(NamedTuple):
    """Labels in the order of their file, and which items they belong to if the file says so."""

    names: list[ClassName | None]
    identity: str | None = None
    """The item field by which they are matched."""
    items: tuple[FieldValue, ...] = ()


def add_labels(found: ModelCollection | WideReader, path: Path, reading: Reading) -> ModelCollection | WideReader:
    """The same collection, with labels from a file: matched by an identity that both have, else row by row."""
    words = any(isinstance(name, str) for name in found.classes)
    labels = read_result(path, len(found)) or read_labels(path, fields_of(found), reading, reading.text or words)
    names = _matched(labels, found, path) if labels.identity else labels.names
    if len(names) != len(found):
        raise InputError(
            f"{path} has {len(names):,} labels, but there are {len(found):,} items; give one an item, or a column "
            f"{', '.join(map(quoted, IDENTITIES))} in both files."
        )
    known = set(found.classes)
    strange = next((name for name in names if name is not None and name not in known), None)
    if reading.classes is not None and strange is not None:
        raise InputError(
            f"{path}: label {brief(strange)} is not one of the {len(found.classes)} classes (--classes)."
        )
    try:
        encoded = codes.encode_labels(np.array(names, dtype=object), found.classes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if encoded.labels is None or (encoded.labels == ABSTAINED).all():
        raise InputError(f"{path} has no label for any of the items.")
    how = f"by column {quoted(labels.identity)}" if labels.identity else "row by row"
    notes = [note for note in found.notes if not note.endswith("items have no label.")]
    notes += [f"the labels of {path} are matched {how}.", *unlabelled_notes(names.count(None), len(names))]
    notes += class_notes(known, {name for name in names if name is not None})
    if isinstance(found, WideReader):
        found.take_labels(encoded.labels, encoded.classes, notes)
        return found
    return ModelCollection.of_codes(
        found.predictions, encoded.labels, found.models, encoded.classes, found.fields, notes
    )


def fields_of(found: ModelCollection | WideReader) -> tuple[str, ...]:
    """The names of the item fields."""
    return found.roles.fields if isinstance(found, WideReader) else tuple(found.fields)


def is_result(path: Path) -> bool:
    """Whether a file is the result of a pick."""
    if path.suffix.lower() != ".jsonl" or not exists(path) or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.readline(2**24).startswith(b'{"format": "modelpicker pick')


def read_result(path: Path, items: int) -> Labels | None:
    """The labels in the result file of a pick, which names items by their places; None for any other file."""
    if not is_result(path):
        return None
    names: list[ClassName | None] = [None] * items
    with path.open("rb") as file:
        file.readline(2**24)
        for line in file:
            try:
                entry = json.loads(line)
                item, name = entry.get("item"), entry.get("label")
            except (ValueError, RecursionError, AttributeError):
                continue
            if type(item) is int and 0 <= item < items and isinstance(name, int | str):
                names[item] = name
    return Labels(names)


def read_labels(path: Path, fields: tuple[str, ...], reading: Reading, text: bool) -> Labels:
    """The labels of a file: a table with a column `label` or a single column, or an array."""
    ending = path.suffix.lower()
    if not exists(path):
        raise NotFoundError(f"{path} does not exist.")
    check_ending(path)
    table = label_table(path) if ending in ARRAYS else open_table(path)
    column, (theirs, ours) = _label_column(table, reading.label), _identity(table, fields)
    vocabulary = Vocabulary(table, reading.normalise, text)
    batches = list(table.batches([column, *([theirs] if theirs else [])]))
    row = 1
    for batch in batches:
        vocabulary.show(column, batch.column(0), row)
        row += batch.num_rows
    vocabulary.settle(None, None)
    places = [code for batch in batches for code in vocabulary.encode(batch.column(0)).tolist()]
    names = [None if code == ABSTAINED else vocabulary.classes[code] for code in places]
    items = tuple(value for batch in batches if theirs for value in plain_values(batch.column(1)))
    return Labels(names, ours, items)


def _identity(table: Table, fields: tuple[str, ...]) -> tuple[str | None, str | None]:
    """A column that names the items, and the field of the same name, whatever the case; None for none."""
    theirs, ours = ({name.lower(): name for name in names} for names in (table.columns, fields))
    found = next((name for name in IDENTITIES if name in theirs and name in ours), None)
    return (None, None) if found is None else (theirs[found], ours[found])


def _label_column(table: Table, wanted: str | None) -> str:
    """The column that was asked for, or is called `label`, or is the only one there is."""
    if wanted is not None and wanted in table.columns:
        return wanted
    named = [name for name in table.columns if name.lower() == LABEL]
    others = [name for name in table.columns if name.lower() not in (*ROW_NUMBERS, *IDENTITIES)]
    found = named or others
    if len(found) != 1:
        listed = ", ".join(map(quoted, table.columns))
        raise InputError(f"{table.path} has the columns {listed}; name the one with the labels by label (--label).")
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
        twice = Counter(items).most_common(1)[0][0]
        raise InputError(f"column {quoted(identity)}: {brief(twice)} names two items, so labels can't be matched.")
    if not by_item.keys() & set(items):
        raise InputError(f"{cell(path, None, identity)}: no value is one of the items'; are the files of one set?")
    return [by_item.get(item) for item in items]
