"""Labels from a file of their own."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from modelpicker import encoding
from modelpicker.collections.array_files import label_table
from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.column_name_hints import IDENTITIES, LABEL, ROW_NUMBERS
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.data_frames import frame_table
from modelpicker.collections.evaluation_tools import is_evaluation, read_evaluation
from modelpicker.collections.label_checks import check_common
from modelpicker.collections.tables import ARRAYS, Table, cell, check_ending, exists, open_table, quoted
from modelpicker.collections.unique_ids import check_different
from modelpicker.collections.vocabulary import ClassVocabulary
from modelpicker.collections.wide_tables import CollectionReader, class_notes, plain_values, unlabelled_notes
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, NotFoundError, brief
from modelpicker.kernels.primitives import ABSTAINED

# What messages call labels that are not a file.
NAME = Path("labels")

# Predictions in the result of a pick that are compared with those here.
SOME = 2_000


class Labels(NamedTuple):
    """Labels in the order of their file, and which items they belong to if the file says so."""

    names: list[ClassName | None]
    identity: str | None = None
    """The item field by which they are matched."""
    items: tuple[FieldValue, ...] = ()


def add_labels(
    found: ModelCollection | CollectionReader, given: object, reading: Reading
) -> ModelCollection | CollectionReader:
    """The same collection, with labels from elsewhere: matched by an identity that both have, else row by row."""
    words = any(isinstance(name, str) for name in found.classes)
    path = Path(given) if isinstance(given, str | Path) else NAME
    labels = read_result(path, found) if path is not NAME else None
    if labels is None:
        table = open_labels(given, reading)
        labels = read_labels(table, fields_of(found), reading, reading.as_text or words)
    names, strays = _matched(labels, found, path) if labels.identity else (labels.names, 0)
    if len(names) != len(found):
        raise InputError(
            f"{path} has {len(names):,} labels, but there are {len(found):,} items; give one per item, or a column "
            f"{', '.join(map(quoted, IDENTITIES))} in both files (--id, or id=, if it has another name in both)."
        )
    known = set(found.classes)
    strange = next((name for name in names if name is not None and name not in known), None)
    if reading.classes is not None and strange is not None:
        raise InputError(
            f"{path}: label {brief(strange)} is not one of the {len(found.classes)} classes (--classes)."
        )
    try:
        encoded = encoding.encode_labels(np.array(names, dtype=object), found.classes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    told = [name for name in names if name is not None]
    if reading.compares_labels:  # otherwise they are compared when it is known which answers are the same
        check_common(str(path), _said(found), set(told), len(told))
    if encoded.labels is None or (encoded.labels == ABSTAINED).all():
        raise InputError(f"{path} has no label for any of the items.")
    how = f"by column {quoted(labels.identity)}" if labels.identity else "row by row"
    notes = [note for note in found.notes if not note.endswith("items have no label.")]
    notes += [f"the labels of {path} are matched {how}.", *_stray_notes(strays, len(labels.names), path)]
    notes += unlabelled_notes(names.count(None), len(names))
    notes += class_notes(known, set(told)) if reading.compares_labels else []
    if isinstance(found, CollectionReader):
        found.take_labels(encoded.labels, encoded.classes, notes)
        return found
    labelled = ModelCollection.of_codes(
        found.predictions, encoded.labels, found.models, encoded.classes, found.fields, notes
    )
    return labelled.with_measured(found.measured)


def _said(found: ModelCollection | CollectionReader) -> set[ClassName]:
    """The classes that models predict."""
    if isinstance(found, CollectionReader):
        return found.vocabulary.names_in(found.models)
    return {found.classes[code] for code in np.unique(found.predictions).tolist() if code >= 0}


def fields_of(found: ModelCollection | CollectionReader) -> tuple[str, ...]:
    """The names of the item fields."""
    return found.roles.fields if isinstance(found, CollectionReader) else tuple(found.fields)


def is_result(path: Path) -> bool:
    """Whether a file is the result of a pick."""
    if path.suffix.lower() != ".jsonl" or not exists(path) or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.readline(2**24).startswith(b'{"format": "modelpicker pick')


def read_result(path: Path, found: ModelCollection | CollectionReader) -> Labels | None:
    """The labels in the result file of a pick, which names items by their places; None for any other file."""
    if not is_result(path):
        return None
    names: list[ClassName | None] = [None] * len(found)
    predicted: dict[int, ClassName] = {}
    with path.open("rb") as file:
        _check_header(path, file.readline(2**24), found)
        for line in file:
            try:
                entry = json.loads(line)
                item, name, said = entry.get("item"), entry.get("label"), entry.get("prediction")
            except (ValueError, RecursionError, AttributeError):
                continue
            if type(item) is int and 0 <= item < len(found):
                if isinstance(name, dict):
                    raise InputError(
                        f"{path} has grades or preferences, which only the pick that asked for them can use. Go on "
                        "with the same command as before."
                    )
                if isinstance(name, int | str):
                    names[item] = name
                if isinstance(said, int | str) and len(predicted) < SOME:
                    predicted[item] = said
    _check_predictions(path, predicted, found)
    return Labels(names)


def _check_header(path: Path, line: bytes, found: ModelCollection | CollectionReader) -> None:
    """The result must be of a file with the same models and as many items: it names items by their places."""
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return
    for key, here in (("models", list(found.models)), ("items", len(found))):
        if key in header and header[key] != here:
            raise InputError(
                f"{path} belongs to another file: its {key} are {brief(header[key])}, here they are {brief(here)}. "
                "Answers belong to items by their places, so the file must be the same."
            )


def _check_predictions(
    path: Path, predicted: dict[int, ClassName], found: ModelCollection | CollectionReader
) -> None:
    """What was predicted then must be what some model says about the item now."""
    start = 0
    for batch in found.batches(fields=False):
        for item in (item for item in predicted if start <= item < start + len(batch)):
            said = {batch.classes[code] for code in batch.predictions[item - start].tolist() if code >= 0}
            if predicted[item] not in said:
                raise InputError(
                    f"{path} belongs to other items: it says that {brief(predicted[item])} was predicted for item "
                    f"{item}, which no model says about it here. Answers belong to items by their places, so "
                    "the file "
                    "must be the same, in the same order."
                )
        start += len(batch)


def _evaluated(path: Path, reading: Reading) -> Table | None:
    """The labels in the results of an evaluation tool; None for anything else."""
    if path is NAME or not exists(path) or not (path.is_dir() or is_evaluation(path)):
        return None
    found = read_evaluation(path, Reading(task=reading.task, same=reading.same, same_later=reading.same_later))
    if found is None:
        return None
    if found.labels is None:
        raise InputError(f"{path} has no labels: it is the result of an evaluation tool, and has grades at most.")
    names = [found.classes[code] if code >= 0 else None for code in found.labels.tolist()]
    return frame_table({"id": found.fields["id"], LABEL: names}, path)


def open_labels(given: object, reading: Reading) -> Table:
    """Labels as a table: from a file, the results of an evaluation tool, a data frame, an array or a list."""
    path = Path(given) if isinstance(given, str | Path) else NAME
    found = _evaluated(path, reading)
    if found is not None:
        return found
    if path is NAME:
        table = frame_table(given, NAME) or frame_table({LABEL: given}, NAME)
        if table is None:
            raise InputError(f"labels {brief(given)}: pass a file, a data frame, or one label per item.")
        return table
    if not exists(path):
        raise NotFoundError(f"{path} does not exist.")
    check_ending(path)
    return label_table(path) if path.suffix.lower() in ARRAYS else open_table(path)


def read_labels(table: Table, fields: tuple[str, ...], reading: Reading, text: bool) -> Labels:
    """The labels of a table with a column `label` or a single column."""
    column, (theirs, ours) = _label_column(table, reading.label), _identity(table, fields, reading)
    vocabulary = ClassVocabulary(table, reading.normalise, text)
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


def _identity(table: Table, fields: tuple[str, ...], reading: Reading) -> tuple[str | None, str | None]:
    """A column that names the items, and the field of the same name, whatever the case; None for none."""
    said = reading.said()
    named = [name for name, role in said.items() if role == "id"]
    usual = [name for name in fields if name.lower() in IDENTITIES and said.get(name, "id") == "id"]
    theirs, ours = ({name.lower(): name for name in names} for names in (table.columns, (*usual, *named)))
    wanted = (*(name.lower() for name in named), *IDENTITIES)
    found = next((name for name in wanted if name in theirs and name in ours), None)
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


def _stray_notes(strays: int, rows: int, path: Path) -> list[str]:
    """How many labels are of other items: many of them hint at a wrong file."""
    belong = "belongs" if strays == 1 else "belong"
    return [f"{strays:,} of {rows:,} rows of {path} {belong} to no item of this collection."] if strays else []


def _matched(
    labels: Labels, found: ModelCollection | CollectionReader, path: Path
) -> tuple[list[ClassName | None], int]:
    """One label per item, by the item's identity; and how many labels belong to no item."""
    identity = labels.identity or ""
    check_different(cell(path, None, identity), labels.items)
    by_item = {str(item): name for item, name in zip(labels.items, labels.names, strict=True) if item is not None}
    values = [item for batch in found.batches(fields=True) for item in batch.fields[identity]]
    check_different(f"column {quoted(identity)}", values)
    items = [None if item is None else str(item) for item in values]
    matched = by_item.keys() & set(items)
    if not matched:
        raise InputError(f"{cell(path, None, identity)}: no value is one of the items'; are the files of one set?")
    return [None if item is None else by_item.get(item) for item in items], len(labels.names) - len(matched)
