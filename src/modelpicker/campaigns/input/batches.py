"""Collections and data frames as rounds of a campaign: predictions, what is shown of the items, and their keys."""

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from modelpicker.campaigns.results.pick import Item
from modelpicker.collections import ModelCollection, load_collection
from modelpicker.collections.column_roles import Role
from modelpicker.encoding import Missing
from modelpicker.frames import Columns


class KeptFile(NamedTuple):
    """A file whose items are asked about."""

    name: str
    mark: str
    """What tells its content from that of others."""


class Batch(NamedTuple):
    """Some items, as `ask_many` takes them."""

    predictions: Any
    """A collection, or a list of what `ask` takes."""
    items: list[Item | None] | None
    keys: list[str | None] | None


def batch_of(collection: ModelCollection, hidden: Set[str], chosen: Mapping[str, Role]) -> Batch:
    """A collection as rounds; what models said that have left is `hidden`."""
    return Batch(collection, items_of(collection, hidden), _keys(collection.fields, chosen))


def frame_batch(
    columns: Columns, models: Sequence[object], hidden: Set[str] = frozenset(), missing: Missing = "abstained"
) -> Batch:
    """The columns of a data frame as rounds of a campaign with these models.

    The models are known by name, so no column is in doubt: the others are shown, and `key` or `id` has the keys.
    Models that were not run may have no column, if that is what is missing.
    """
    names = [str(model) for model in models]
    if missing == "not-run":
        names = [name for name in names if name in columns] or names
    return batch_of(load_collection(columns, models=names, missing=missing), hidden, {})


def _keys(fields: Mapping[str, Any], chosen: Mapping[str, Role]) -> list[str | None] | None:
    """The keys of a collection's items, if it has a field for them."""
    named = [name for name, role in chosen.items() if role == "id"]
    usual = [name for name in ("key", "id") if name not in chosen]
    found = next((fields[name] for name in [*named, *usual] if name in fields), None)
    return None if found is None else [None if value is None else str(value) for value in found]


def items_of(collection: ModelCollection, hidden: Set[str] = frozenset()) -> list[Item | None] | None:
    """What a collection has to show of each item."""
    shown = {name: values for name, values in collection.fields.items() if name not in hidden}
    if not shown:
        return None
    return [{name: _plain(values[row]) for name, values in shown.items()} for row in range(len(collection))]


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: a number that is missing is none, and an infinite one is text."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
