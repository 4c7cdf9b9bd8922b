"""Tables in long form: one row per prediction, with the columns item, model and prediction."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from modelpicker.collections.collection import FieldValue, ModelCollection
from modelpicker.collections.column_name_hints import LABEL, ROW_NUMBERS
from modelpicker.collections.column_roles import Reading, check_columns
from modelpicker.collections.label_checks import check_common, identical_notes
from modelpicker.collections.tables import Table, cell, quoted
from modelpicker.collections.vocabulary import ClassVocabulary
from modelpicker.collections.wide_tables import merged_note, missing_notes, plain_values
from modelpicker.encoding import Array
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

ITEM, MODEL, PREDICTION = "item", "model", "prediction"


def as_long(table: Table) -> Table | None:
    """A table that has the three columns of the long form, in whatever case, with their names in lower case."""
    found = {name.lower() for name in table.columns}
    if (
        {ITEM, MODEL} <= found
        and PREDICTION not in found
        and len(table.columns) <= len((ITEM, MODEL, PREDICTION, LABEL))
    ):
        listed = ", ".join(map(quoted, table.columns))
        raise InputError(f"{table.path} looks like the long form, but no column is called {PREDICTION}: {listed}.")
    spelt = {name: name.lower() for name in table.columns if name.lower() in (ITEM, MODEL, PREDICTION, LABEL)}
    if not {ITEM, MODEL, PREDICTION} <= set(spelt.values()) or "models" in table.metadata:
        return None
    if len(set(spelt.values())) < len(spelt):
        raise InputError(f"{table.path} has two columns whose names differ in case only; rename one.")
    return table.renamed({name: lower for name, lower in spelt.items() if name != lower})


class Names(NamedTuple):
    """The different values of a column, in the order in which they come, and which of them each row has."""

    values: list[object]
    places: Array


def read_long(table: Table, reading: Reading) -> ModelCollection:
    """The collection of a long table; items and models in the order in which they first come."""
    unread = (*ROW_NUMBERS, *([LABEL] if reading.labels_elsewhere else []))
    columns = [name for name in table.columns if name not in unread]
    check_columns(table, reading.fields)
    batches = list(table.batches(columns))
    if not batches:
        raise InputError(f"{table.path} has columns but no rows.")
    rows = pa.Table.from_batches(batches).combine_chunks()
    items, models = (_names(table, rows, name) for name in (ITEM, MODEL))
    _check_pairs(table, items, models)
    coded = [PREDICTION, *([LABEL] if LABEL in columns else [])]
    vocabulary = ClassVocabulary(table, reading.normalise, reading.as_text, reading.missing)
    for name in coded:
        vocabulary.show(name, _whole(rows, name), 1)
    vocabulary.settle(reading.classes, None)
    predictions = np.full((len(items.values), len(models.values)), vocabulary.empty, dtype=np.int64)
    predictions[items.places, models.places] = vocabulary.encode(_whole(rows, PREDICTION))
    labels = _labels(table, rows, vocabulary, items) if LABEL in columns else None
    fields: dict[str, list[FieldValue]] = {ITEM: plain_values(pa.array(items.values))}
    others = [name for name in columns if name not in (ITEM, MODEL, PREDICTION, LABEL)]
    fields |= {name: values for name in others if (values := _field(rows, name, items)) is not None}
    said = plain_names(models.values)
    notes = _missing(predictions, said)
    if vocabulary.merged is not None:
        notes.append(merged_note(*vocabulary.merged))
    notes += [
        f"column {quoted(name)} varies within an item and was left out." for name in others if name not in fields
    ]
    if labels is not None and reading.compares_labels:
        spoken, told = (vocabulary.names_in([name]) for name in coded)
        check_common(str(table.path), spoken, told, int((labels != ABSTAINED).sum()))
    collection = ModelCollection.of_codes(predictions, labels, said, vocabulary.classes, fields, notes)
    return _chosen(table, collection, reading)


def _chosen(table: Table, collection: ModelCollection, reading: Reading) -> ModelCollection:
    """Only the models and item fields that were asked for, with a note on models that are the same."""
    roles = reading.said()
    for name, role in roles.items():
        if role == "model" and name not in collection.models:
            raise InputError(f"{table.path}, column {quoted(MODEL)} never names {quoted(name)}.")
    wanted = [str(name) for name in reading.models or collection.models if roles.get(str(name), "model") == "model"]
    if not wanted:
        raise InputError(f"{table.path}: every model is left out.")
    places = [collection.models.index(name) for name in wanted]
    fields = {name: values for name, values in collection.fields.items() if roles.get(name) != "left out"}
    labels = None if roles.get(LABEL, "label") != "label" else collection.labels
    kept = (collection.predictions[:, places], labels, wanted, collection.classes, fields)
    notes = (*collection.notes, *identical_notes(ModelCollection.of_codes(*kept).identical))
    return ModelCollection.of_codes(*kept, notes)


def plain_names(values: list[object]) -> list[str]:
    """The names of the models as text."""
    return [name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in values]


def _whole(rows: pa.Table, name: str) -> pa.Array:
    column = rows[name]
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _names(table: Table, rows: pa.Table, name: str) -> Names:
    """The items or the models; each row must name one."""
    column = _whole(rows, name)
    if column.null_count:
        row = 1 + pc.index(column.is_null(), True).as_py()
        raise InputError(f"{cell(table.path, row, name)}: empty; every prediction needs its {name}.")
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    return Names(encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))


def _check_pairs(table: Table, items: Names, models: Names) -> None:
    """No model may answer an item twice."""
    pairs = items.places * len(models.values) + models.places
    order = np.argsort(pairs, kind="stable")
    again = np.flatnonzero(pairs[order][1:] == pairs[order][:-1])
    if len(again):
        first, second = sorted(int(order[again[0] + step]) for step in (0, 1))
        item, model = items.values[items.places[second]], models.values[models.places[second]]
        raise InputError(
            f"{cell(table.path, second + 1)}: model {brief(model)} answers item {brief(item)} again, as in row "
            f"{first + 1:,}; keep one of the two."
        )


def _labels(table: Table, rows: pa.Table, vocabulary: ClassVocabulary, items: Names) -> Array:
    """The label of each item, which all its rows must agree on."""
    said = vocabulary.encode_labels(_whole(rows, LABEL))
    labels = np.full(len(items.values), ABSTAINED, dtype=np.int64)
    known = said != ABSTAINED
    labels[items.places[known][::-1]] = said[known][::-1]  # of several, the first stays
    wrong = np.flatnonzero(known & (labels[items.places] != said))
    if len(wrong):
        row = int(wrong[0])
        names = [vocabulary.classes[code] for code in (said[row], labels[items.places[row]])]
        raise InputError(
            f"{cell(table.path, row + 1, LABEL)}: {brief(names[0])}, but an earlier row of item "
            f"{brief(items.values[items.places[row]])} says {brief(names[1])}."
        )
    return labels


def _field(rows: pa.Table, name: str, items: Names) -> list[FieldValue] | None:
    """The value of each item, if all its rows have the same."""
    values = plain_values(rows[name])
    found: list[FieldValue] = [None] * len(items.values)
    for place, value in zip(items.places[::-1].tolist(), reversed(values), strict=True):
        found[place] = value
    same = all(found[place] == value for place, value in zip(items.places.tolist(), values, strict=True))
    return found if same else None


def _missing(predictions: Array, models: list[str]) -> list[str]:
    silent, absent = (
        dict(zip(models, (predictions == code).sum(axis=0).tolist(), strict=True)) for code in (ABSTAINED, NOT_RUN)
    )
    return missing_notes(silent, absent, predictions.size)
