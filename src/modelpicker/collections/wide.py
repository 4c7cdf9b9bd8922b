"""Tables in wide form: a row an item, a column a model, an optional label, other columns for a person to see."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modelpicker.algorithms.encoding import ClassName
from modelpicker.collections.codes import ABSTAINED, Array, smallest_type
from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.fingerprint import Fingerprint
from modelpicker.collections.tables import Table, quoted
from modelpicker.collections.vocabulary import UNIFORM, Vocabulary, uniform
from modelpicker.errors import InputError

LABEL = "label"
# Columns that are no models, whatever they hold; capitals do not matter.
NOT_MODELS = ("id", "key", "item", "text", "image", "url")
# Names under which labels are kept; a model called so is asked about.
LIKE_LABELS = ("truth", "target", "gold", "y", "y_true", "true_label", "labels", "ground_truth", "answer", "oracle")
# Below this, a model may well say something else of every item.
MANY_ITEMS = 20
# What data frames call the numbers of their rows when they are written to a file.
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")


@dataclass(frozen=True)
class Reading:
    """How a file should be read, where that is not plain from the file itself."""

    models: Sequence[str] | None = None
    fields: Sequence[str] = ()
    classes: Sequence[ClassName] | None = None
    normalise: bool = False
    text: bool = False
    label: str | None = None


@dataclass(frozen=True)
class Roles:
    """What each column is for."""

    models: tuple[str, ...]
    label: str | None
    fields: tuple[str, ...]
    ignored: tuple[str, ...]


def find_roles(table: Table, reading: Reading) -> Roles:
    """Models are the columns that are named as such, or else those that nothing else is known of."""
    check_columns(table, (*(reading.models or ()), *reading.fields, *([reading.label] if reading.label else [])))
    both = set(reading.models or ()) & set(reading.fields)
    if both:
        raise InputError(f"column {quoted(min(both))} cannot be both a model and an item field.")
    labels, ignored = _find_labels(table, reading), _find_row_numbers(table)
    models = reading.models
    if models is None:
        sure = set(table.metadata.get("models", ())) - set(reading.fields)
        taken = {*labels, *ignored, *reading.fields, *table.metadata.get("fields", ())}
        models = [
            name for name in table.columns if name in sure or (name not in taken and name.lower() not in NOT_MODELS)
        ]
    if not models:
        found = ", ".join(map(quoted, table.columns))
        raise InputError(f"{table.path} has no model column, only {found}. List the models in models (--models).")
    if len(set(models)) < len(models):
        raise InputError(f"models (--models) names a column twice: {', '.join(models)}.")
    label = next((name for name in labels if name not in models), None)
    others = {*models, label, *ignored}
    fields = tuple(name for name in table.columns if name not in others)
    return Roles(tuple(models), label, fields, ignored)


def _find_labels(table: Table, reading: Reading) -> list[str]:
    """The column that holds the labels, if there is one."""
    if reading.label is not None:
        return [reading.label]
    labels = [name for name in table.columns if name.lower() == LABEL and name not in reading.fields]
    if len(labels) > 1:
        raise InputError(f"{table.path} has {len(labels)} label columns: {', '.join(map(quoted, labels))}.")
    return labels


def _find_row_numbers(table: Table) -> tuple[str, ...]:
    """The column of row numbers that a data frame wrote; any other without a name is an error."""
    if "" in table.columns[1:]:
        place = table.columns.index("", 1) + 1
        raise InputError(f"{table.path}: column {place} has no name; name it, or drop it.")
    first = tuple(name for name in table.columns[:1] if name in ROW_NUMBERS)
    return first + tuple(name for name in table.columns[1:] if name == ROW_NUMBERS[-1])


def check_columns(table: Table, names: Sequence[str]) -> None:
    """Columns that are asked for must be there."""
    for name in names:
        if name not in table.columns:
            listed = ", ".join(table.columns[:12]) + (", …" if len(table.columns) > 12 else "")
            raise InputError(f"{table.path} has no column {quoted(name)}; it has {listed}.")


class WideReader:
    """A wide table that is read twice: once to know its classes, then batch by batch as often as needed.

    So a table larger than memory can be played by `run_stream`, and gives what it would give in one piece.
    """

    def __init__(self, table: Table, reading: Reading) -> None:
        self.table = table
        self.roles = find_roles(table, reading)
        self.models = self.roles.models
        self.vocabulary = Vocabulary(table, reading.normalise, reading.text)
        self._items = self._scan()
        self.vocabulary.settle(reading.classes, table.metadata.get("classes"))
        self.classes = self.vocabulary.classes
        self.notes = self._notes()
        self._labels: Array | None = None

    def __len__(self) -> int:
        return self._items

    def __repr__(self) -> str:
        return f"<{self.table.path}: {len(self):,} items, {len(self.models)} models, {len(self.classes):,} classes>"

    def _coded(self) -> list[str]:
        return [*self.models, *([self.roles.label] if self.roles.label else [])]

    def _scan(self) -> int:
        """Show every cell to the vocabulary, and count the rows."""
        names, rows = self._coded(), 0
        for batch in self.table.batches(names):
            for name, values in zip(names, batch.columns, strict=True):
                self.vocabulary.show(name, values, rows + 1)
            rows += batch.num_rows
        if not rows:
            raise InputError(f"{self.table.path} has columns but no rows.")
        return rows

    def _notes(self) -> tuple[str, ...]:
        """What was decided while reading, for the user to know."""
        silent = {name: self.vocabulary.abstentions(name) for name in self.models}
        notes = abstention_notes(silent, self._items * len(self.models))
        if self.roles.label is not None:
            notes += unlabelled_notes(self.vocabulary.abstentions(self.roles.label), self._items)
        if self.vocabulary.merged is not None:
            notes.append(merged_note(*self.vocabulary.merged))
        told = self.vocabulary.names_in([self.roles.label] if self.roles.label else [])
        notes += class_notes(self.vocabulary.names_in(self.models), told)
        notes += self._doubts()
        if self.roles.ignored:
            notes.append("the column of row numbers was left out.")
        return tuple(notes)

    def _doubts(self) -> list[str]:
        """Models that may be none: called like labels, or with an answer of their own for most items."""
        notes = [
            f"column {quoted(name)} is taken for a model; if it holds the labels, say so with label (--label)."
            for name in self.models
            if name.lower() in LIKE_LABELS and self.roles.label is None
        ]
        for name in self.models:
            different = len(self.vocabulary.columns[name].cells)
            if self._items >= MANY_ITEMS and different > self._items / 2:
                notes.append(
                    f"column {quoted(name)} is taken for a model, but has {different:,} different answers to "
                    f"{self._items:,} items; if it is none, list it in fields (--fields)."
                )
        return notes

    @property
    def labelled(self) -> bool:
        """Whether any label is known."""
        said = self.vocabulary.columns[self.roles.label].cells if self.roles.label else ()
        return self._labels is not None or any(self.vocabulary.code_of(value) != ABSTAINED for value in said)

    @property
    def labels_known(self) -> int:
        """How many items have a label."""
        if self._labels is not None:
            return int((self._labels != ABSTAINED).sum())
        return self._items - self.vocabulary.abstentions(self.roles.label) if self.roles.label else 0

    def take_labels(self, codes: Array, classes: tuple[ClassName, ...], notes: Sequence[str]) -> None:
        """Take labels from elsewhere, one an item; the classes may have grown by them."""
        self._labels, self.classes, self.notes = codes, classes, tuple(notes)

    def batches(self, fields: bool = False) -> Iterator[ModelCollection]:
        """The table as collections of consecutive items, with item fields if these are wanted."""
        extra = list(self.roles.fields) if fields else []
        names, start = self._coded(), 0
        dtype = smallest_type(len(self.classes))
        for batch in self.table.batches([*names, *extra]):
            count = batch.num_rows
            codes = np.empty((count, len(self.models)), dtype=dtype)
            for place in range(len(self.models)):
                codes[:, place] = self.vocabulary.encode(batch.column(place))
            labels = self.vocabulary.encode(batch.column(len(self.models))) if self.roles.label else None
            if self._labels is not None:
                labels = self._labels[start : start + count]
            values = {name: plain_values(batch.column(name)) for name in extra}
            codes.flags.writeable = False
            yield ModelCollection.of_codes(codes, labels, self.models, self.classes, values)
            start += count

    @cached_property
    def fingerprint(self) -> str:
        """What the fingerprint of the whole collection is, without ever holding it."""
        whole = Fingerprint()
        for batch in self.batches():
            whole.add(batch.predictions, batch.labels)
        return whole.digits(self.models, self.classes)

    def read(self) -> ModelCollection:
        """The whole collection, with item fields."""
        predictions = np.empty((len(self), len(self.models)), dtype=smallest_type(len(self.classes)))
        labels = np.full(len(self), ABSTAINED, dtype=predictions.dtype)
        fields: dict[str, list[FieldValue]] = {name: [] for name in self.roles.fields}
        start = 0
        for batch in self.batches(fields=True):
            stop = start + len(batch)
            predictions[start:stop] = batch.predictions
            if batch.labels is not None:
                labels[start:stop] = batch.labels
            for name, values in batch.fields.items():
                fields[name] += values
            start = stop
        predictions.flags.writeable = False
        return ModelCollection.of_codes(predictions, labels, self.models, self.classes, fields, self.notes)


def class_notes(said: set[ClassName], told: set[ClassName]) -> list[str]:
    """Labels that no model ever says, and names that may be meant to be the same."""
    notes = []
    unsaid = sorted(told - said, key=str)
    if unsaid:
        listed = ", ".join(quoted(name) for name in unsaid[:3]) + (", …" if len(unsaid) > 3 else "")
        notes.append(f"{len(unsaid):,} of the {len(told):,} classes of labels are never predicted: {listed}.")
    alike: dict[str, list[ClassName]] = {}
    for name in sorted(said | told, key=str):
        alike.setdefault(uniform(str(name)), []).append(name)
    merged = [names for names in alike.values() if len(names) > 1]
    if merged:
        listed = " and ".join(quoted(name) for name in merged[0][:2])
        more = f" (and {len(merged) - 1:,} more such)" if len(merged) > 1 else ""
        notes.append(f"{listed}{more} are different classes; normalise (--normalise) takes them for the same.")
    return notes


def unlabelled_notes(missing: int, items: int) -> list[str]:
    """How many items have no label."""
    return [f"{missing:,} of {items:,} items have no label."] if missing else []


def abstention_notes(missing: dict[str, int], cells: int) -> list[str]:
    """How many cells are missing, and in which columns most."""
    total = sum(missing.values())
    if not total:
        return []
    worst = sorted((name for name in missing if missing[name]), key=lambda name: -missing[name])
    listed = ", ".join(f"{name} {missing[name]:,}" for name in worst[:3]) + (", …" if len(worst) > 3 else "")
    return [f"{total:,} of {cells:,} cells are missing, empty or -1, and taken as abstentions ({listed})."]


def merged_note(before: int, after: int) -> str:
    """What the normaliser did."""
    return f"answers are normalised ({UNIFORM}): {before:,} different answers became {after:,}."


def plain_values(values: Any) -> list[FieldValue]:
    """Item fields as plain values; what is neither text nor number is shown as text."""
    return [
        value if value is None or isinstance(value, str | int | float) else str(value)
        for value in values.to_pylist()
    ]
