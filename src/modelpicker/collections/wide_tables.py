"""Tables in wide form: one row per item, one column per model, perhaps labels, and columns for a person to see."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.column_name_hints import ROW_NUMBERS
from modelpicker.collections.column_roles import ROLES, Reading, guess_columns, refuse_unclear
from modelpicker.collections.fingerprint import Fingerprint
from modelpicker.collections.label_checks import check_common, identical_notes, listed_models
from modelpicker.collections.spelling import uniform
from modelpicker.collections.tables import Table, quoted
from modelpicker.collections.unique_ids import Identities
from modelpicker.collections.vocabulary import UNIFORM, ClassVocabulary
from modelpicker.encoding import Array, ClassName, smallest_type
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import ABSTAINED

# From that many items on, a model that always says the same is worth a note.
MANY_ITEMS = 20


@dataclass(frozen=True)
class Roles:
    """What each column is for."""

    models: tuple[str, ...]
    label: str | None
    fields: tuple[str, ...]
    """What is shown with an item, its id among it."""
    ignored: tuple[str, ...]
    id: str | None = None


def find_roles(table: Table, reading: Reading) -> Roles:
    """The roles of all columns; an error where a column is in doubt, or none is a model."""
    if reading.models is not None and len(set(reading.models)) < len(reading.models):
        raise InputError(f"models (--models) names a column twice: {', '.join(reading.models)}.")
    columns = guess_columns(table, reading)
    refuse_unclear(table, columns)
    named = {role: tuple(column.name for column in columns if column.role == role) for role in ROLES}
    models = named["model"] if reading.models is None else tuple(reading.models)
    if not models:
        found = ", ".join(map(quoted, table.columns))
        raise InputError(f"{table.path} has no model column, only {found}. List the models in models (--models).")
    fields = tuple(column.name for column in columns if column.role in ("shown", "id"))
    label, identity = (next(iter(named[role]), None) for role in ("label", "id"))
    if reading.labels_elsewhere:
        return Roles(models, None, fields, (*named["left out"], *named["label"]), identity)
    return Roles(models, label, fields, named["left out"], identity)


class CollectionReader:
    """A wide table that is read twice: once to know its classes, then batch by batch as often as needed.

    So a table larger than memory can be played by `run_stream`, and gives what it would give in one piece.

    >>> import modelpicker as mp
    >>> source = mp.open_collection("digits")
    >>> len(source)
    1497
    """

    def __init__(self, table: Table, reading: Reading) -> None:
        self.table = table
        self.roles = find_roles(table, reading)
        self.models = self.roles.models
        self.vocabulary = ClassVocabulary(table, reading.normalise, reading.as_text, reading.missing)
        self.reading = reading
        self._compares_labels = reading.compares_labels
        self._items = self._scan()
        self.vocabulary.settle(reading.classes, table.metadata.get("classes"))
        self.classes = self.vocabulary.classes
        self.identical = self._find_identical()
        self.notes = self._notes()
        self._labels: Array | None = None

    def __len__(self) -> int:
        return self._items

    def __repr__(self) -> str:
        return f"<{self.table.path}: {len(self):,} items, {len(self.models)} models, {len(self.classes):,} classes>"

    def _coded(self) -> list[str]:
        return [*self.models, *([self.roles.label] if self.roles.label else [])]

    def _scan(self) -> int:
        """Show every cell to the vocabulary, count the rows, and see that ids differ."""
        names, rows, identity = self._coded(), 0, self.roles.id
        identities = None if identity is None else Identities(self.table, identity)
        for batch in self.table.batches([*names, *([identity] if identity else [])]):
            for name, values in zip(names, batch.columns, strict=False):
                self.vocabulary.show(name, values, rows + 1)
            if identities is not None:
                identities.add(batch.column(len(names)))
            rows += batch.num_rows
        if not rows:
            raise InputError(f"{self.table.path} has columns but no rows.")
        if identities is not None:
            identities.check()
        return rows

    def _find_identical(self) -> tuple[tuple[str, ...], ...]:
        """Groups of models that give the same answer to every item.

        Such models give each answer equally often, and few others do: only these are read again.
        """
        alike: dict[tuple[tuple[int, int], ...], list[str]] = {}
        for name in self.models:
            alike.setdefault(self.vocabulary.answers(name), []).append(name)
        names = [name for group in alike.values() if len(group) > 1 for name in group]
        digests = {name: hashlib.sha256() for name in names}
        for batch in self.table.batches(names) if names else ():
            for name, values in zip(names, batch.columns, strict=True):
                digests[name].update(self.vocabulary.encode(values).tobytes())
        groups: dict[bytes, list[str]] = {}
        for name, digest in digests.items():
            groups.setdefault(digest.digest(), []).append(name)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def _notes(self) -> tuple[str, ...]:
        """What was decided while reading, for the user to know."""
        absent = {name: self.vocabulary.absences(name) for name in self.models}
        silent = {name: self.vocabulary.abstentions(name) - absent[name] for name in self.models}
        notes = missing_notes(silent, absent, self._items * len(self.models))
        if self.roles.label is not None:
            notes += unlabelled_notes(self.vocabulary.abstentions(self.roles.label), self._items)
        if self.vocabulary.merged is not None:
            notes.append(merged_note(*self.vocabulary.merged))
        told = self.vocabulary.names_in([self.roles.label] if self.roles.label else [])
        said = self.vocabulary.names_in(self.models)
        if self._compares_labels:  # otherwise they are compared when it is known which answers are the same
            check_common(str(self.table.path), said, told, self._labels_in_file())
            notes += class_notes(said, told)
        notes += identical_notes(self.identical)
        notes += self._constant_notes()
        if any(name in ROW_NUMBERS for name in self.roles.ignored):
            notes.append("the column of row numbers was left out.")
        return tuple(notes)

    def _constant_notes(self) -> list[str]:
        """Models that always say the same: they may be meant, or be no models."""
        answers = {name: self.vocabulary.answers(name) for name in self.models}
        constant = [name for name, found in answers.items() if found and found[0][1] == self._items]
        if self._items < MANY_ITEMS or len(self.classes) < 2 or not constant:
            return []
        what = "always gives the same answer." if len(constant) == 1 else "always give the same answer each."
        return [f"{listed_models(constant)} {what}"]

    def _labels_in_file(self) -> int:
        """How many items have a label in the table itself."""
        return 0 if self.roles.label is None else self._items - self.vocabulary.abstentions(self.roles.label)

    @property
    def labelled(self) -> bool:
        """Whether any label is known."""
        said = self.vocabulary.columns[self.roles.label].cells if self.roles.label else ()
        return self._labels is not None or any(self.vocabulary.code_of(value) >= 0 for value in said)

    @property
    def labels_known(self) -> int:
        """How many items have a label."""
        if self._labels is not None:
            return int((self._labels != ABSTAINED).sum())
        return self._items - self.vocabulary.abstentions(self.roles.label) if self.roles.label else 0

    def take_labels(self, codes: Array, classes: tuple[ClassName, ...], notes: Sequence[str]) -> None:
        """Take labels from elsewhere, one per item; the classes may have grown by them."""
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
            labels = self.vocabulary.encode_labels(batch.column(len(self.models))) if self.roles.label else None
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
        notes.append(f"{listed}{more} are different classes; normalise (--normalise) treats them as the same.")
    return notes


def unlabelled_notes(missing: int, items: int) -> list[str]:
    """How many items have no label."""
    return [f"{missing:,} of {items:,} items have no label."] if missing else []


def missing_notes(silent: dict[str, int], absent: dict[str, int], cells: int) -> list[str]:
    """How many cells stand for abstentions, and how many for models that were not run."""
    notes = [_cell_note(silent, cells, "are missing, empty or -1, and taken as abstentions")]
    notes += [_cell_note(absent, cells, "are missing or empty, and taken as models that were not run")]
    return [note for note in notes if note]


def _cell_note(missing: dict[str, int], cells: int, what: str) -> str:
    """How many cells are missing, and in which columns most; empty if none is."""
    total = sum(missing.values())
    if not total:
        return ""
    worst = sorted((name for name in missing if missing[name]), key=lambda name: -missing[name])
    listed = ", ".join(f"{name} {missing[name]:,}" for name in worst[:3]) + (", …" if len(worst) > 3 else "")
    return f"{total:,} of {cells:,} cells {what} ({listed})."


def merged_note(before: int, after: int) -> str:
    """What the normaliser did."""
    return f"answers are normalised ({UNIFORM}): {before:,} different answers became {after:,}."


def plain_values(values: Any) -> list[FieldValue]:
    """Item fields as plain values; what is neither text nor number is shown as text."""
    return [
        value if value is None or isinstance(value, str | int | float) else str(value)
        for value in values.to_pylist()
    ]
