"""What slice each item of a pool campaign is in: a column of a file, a field of each item, a list, or a function.

Unlike what a judge says, it may be shown: it is a field of the item like any other.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from modelpicker.algorithms.pools.slice_values import SliceValues, one_per_item
from modelpicker.campaigns.input.judges import fields_at
from modelpicker.campaigns.input.rows import Rows
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.setting_options import SLICE
from modelpicker.campaigns.slicing import check_column
from modelpicker.collections import ModelCollection
from modelpicker.encoding import smallest_type
from modelpicker.errors import InputError, brief


def encode_values(values: Iterable[object]) -> Rows:
    """The names of slices, as one column of codes."""
    found = SliceValues.group(values)
    codes = found.of.astype(smallest_type(len(found.names)))
    return Rows(codes.reshape(-1, 1), list(found.names))


def value_names(rows: Rows) -> list[str]:
    """The slice of each item, by name."""
    return [str(rows.classes[code]) for code in rows.codes[:, 0].tolist()]


def no_values(items: int) -> Rows:
    """Items of which nobody said what slice they are in."""
    return encode_values([None] * items)


def field_values(items: Sequence[Item | None] | None, name: str, total: int) -> list[Any]:
    """The field that says what slice each item is in; None where it has none."""
    return [None] * total if items is None else [None if item is None else item.get(name) for item in items]


def read_field(items: Sequence[Item | None] | None, name: str, total: int) -> Rows:
    """The slices of items by their fields; a value must be text, a number, or missing."""
    values = field_values(items, name, total)
    for place, value in enumerate(values):
        check_value(value, name, place)
    return encode_values(values)


def check_has_field(name: str | None, items: Sequence[Item | None] | None) -> None:
    """An error if the items of a file lack the column of the slices."""
    if name is not None and not any(item is not None and name in item for item in items or ()):
        raise InputError(
            f"there is no column {brief(name)}, which says what slice each item is in; add it to the file, empty "
            "where that is not known.",
            parameter="slice",
        )


def check_value(value: object, name: str, place: int) -> None:
    """An error if a value names no slice."""
    if value is not None and not isinstance(value, str | int | float | bool | np.generic):
        raise InputError(
            f"item {place}: its field {brief(name)} is {brief(value)}, which names no slice; pass text or a "
            "number.",
            parameter="slice",
        )


def listed_values(
    chosen: Sequence[object] | Callable[[dict[str, Any]], object], whole: ModelCollection
) -> list[str]:
    """The slice of each item of a collection: one value per item, or a function of an item."""
    values = [chosen(fields_at(whole, place)) for place in range(len(whole))] if callable(chosen) else chosen
    found = one_per_item(values, len(whole))
    return [found.names[place] for place in found.of.tolist()]


def column_values(collection: ModelCollection, name: str) -> list[Any]:
    """The values of a column; an error if there is not one of that name."""
    check_column(name, collection)
    return list(collection.fields[name])


def slice_name(chosen: object) -> str | None:
    """The field of the items that holds their slice: the column that was named, or one of our own."""
    return chosen if chosen is None or isinstance(chosen, str) else SLICE
