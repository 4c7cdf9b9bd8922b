"""Slices of a collection: the column, the list or the function that a user gave, and the pool with them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.slices import SlicePicker
from modelpicker.campaigns.input.judges import fields_at
from modelpicker.collections import ModelCollection
from modelpicker.collections.column_name_hints import LABEL
from modelpicker.errors import InputError, brief

SliceChoice: TypeAlias = str | Sequence[object] | Callable[[dict[str, Any]], object]
"""What the slices are: a column, one value per item, or a function of an item's fields and place."""


def fields_with_slice(reading: Mapping[str, Any], column: object) -> dict[str, Any]:
    """How a file is read, so that the column of the slices is a field of the items."""
    given = dict(reading)
    if not isinstance(column, str):
        return given
    if column == (given.get("label") or LABEL):
        raise InputError(
            f"slice: column {brief(column)} has the labels, which are not known before they are asked for. "
            "Name a column that is known for every item.",
            parameter="slice",
        )
    named = {*given.get("fields", ()), given.get("id"), *given.get("columns", {})}
    return given if column in named else {**given, "fields": [*given.get("fields", ()), column]}


def slice_values(whole: ModelCollection, chosen: object, reading: Mapping[str, Any]) -> tuple[object, str]:
    """The value of every item, and what the values are called.

    Args:
        whole: the collection, read with `fields_with_slice`.
        chosen: a column, one value per item, or a function of an item.
        reading: what the user said about columns.
    """
    if callable(chosen):
        return [chosen(fields_at(whole, place)) for place in range(len(whole))], ""
    if not isinstance(chosen, str):
        return chosen, ""
    check_column(chosen, whole)
    if chosen not in reading.get("fields", ()):
        check_no_model(chosen, whole)
    return list(whole.fields[chosen]), chosen


def check_column(column: str, whole: ModelCollection) -> None:
    """An error if a collection has no such field."""
    if column in whole.models:
        raise InputError(_is_a_model(column), parameter="slice")
    if column not in whole.fields:
        known = ", ".join(whole.fields) or "none"
        raise InputError(
            f"slice: there is no column {brief(column)}; the fields of the items are: {known}.", parameter="slice"
        )


def check_no_model(column: str, whole: ModelCollection) -> None:
    """An error if the values of a column are classes, which nobody said are none."""
    if _say_classes(list(whole.fields[column]), whole):
        raise InputError(_is_a_model(column), parameter="slice")


def _say_classes(values: list[Any], whole: ModelCollection) -> bool:
    """Whether most values of a column are classes: then it is a model, and not a column to slice by."""
    found = {str(value) for value in values if value not in (None, "")}
    classes = {str(name) for name in whole.classes}
    return 2 * len(found & classes) > len(found)


def _is_a_model(column: str) -> str:
    return (
        f"slice: column {brief(column)} looks like a model: its values are classes. Name a column such as a "
        f"language or a customer. If it is one, say so with --fields {column} (fields=[{column!r}])."
    )


def make_pool(
    whole: ModelCollection, chosen: object, reading: Mapping[str, Any], *, judge: object = None, **goal: Any
) -> PoolPicker:
    """The pool of a collection, with slices if these are wanted; `goal` has the seed and what is to be proven."""
    if chosen is None:
        return PoolPicker(whole, judge=judge, **goal)
    values, column = slice_values(whole, chosen, reading)
    return SlicePicker(whole, values, judge=judge, column=column, **goal)
