"""Files of predictions as rounds of a campaign."""

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events import Item
from modelpicker.collections import ModelCollection, open_collection
from modelpicker.collections.columns import Role
from modelpicker.errors import InputError, brief

ROUNDS_AT_ONCE = 2_000


class Batch(NamedTuple):
    """Some items of a file, as `ask_many` takes them."""

    predictions: ModelCollection
    items: list[Item | None] | None
    keys: list[str | None] | None


def batches_of(path: str | Path, campaign: Campaign, columns: Mapping[str, Role] | None = None) -> Iterator[Batch]:
    """The items of a file, in order; a column `key` or `id` has their keys.

    The campaign knows its models, so no column is in doubt. The others are shown with the items, except what models
    said that have left. `columns` may say otherwise: that one is the id, or is left out.
    """
    with campaign.reading() as (_, replica):
        models = [str(model) for model in replica.picker.models]
        hidden = {str(model) for model in (*campaign.settings.models, *(one.model for one in replica.changes))}
    chosen = dict(columns or {})
    for name, role in chosen.items():
        if role == "model" and name not in models:
            raise InputError(f"column {brief(name)} cannot be a model: this campaign has no model of that name.")
    for found in open_collection(path, models=models, columns=chosen).batches(fields=True):
        for start in range(0, len(found), ROUNDS_AT_ONCE):
            some = found.take(range(start, min(len(found), start + ROUNDS_AT_ONCE)))
            yield Batch(some, _items(some, hidden), _keys(some.fields, chosen))


def _keys(fields: Mapping[str, Any], chosen: Mapping[str, Role]) -> list[str | None] | None:
    """The keys of a collection's items, if it has a field for them."""
    named = [name for name, role in chosen.items() if role == "id"]
    usual = [name for name in ("key", "id") if name not in chosen]
    found = next((fields[name] for name in [*named, *usual] if name in fields), None)
    return None if found is None else [None if value is None else str(value) for value in found]


def _items(collection: ModelCollection, hidden: Set[str]) -> list[Item | None] | None:
    """What a collection has to show of each item."""
    shown = {name: values for name, values in collection.fields.items() if name not in hidden}
    if not shown:
        return None
    return [{name: _plain(values[row]) for name, values in shown.items()} for row in range(len(collection))]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
