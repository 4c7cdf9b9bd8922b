"""Files of predictions as rounds of a campaign."""

from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events import Item
from modelpicker.collections import ModelCollection, open_collection

ROUNDS_AT_ONCE = 2_000


class Batch(NamedTuple):
    """Some items of a file, as `ask_many` takes them."""

    predictions: ModelCollection
    items: list[Item | None] | None
    keys: list[str | None] | None


def batches_of(path: str | Path, campaign: Campaign) -> Iterator[Batch]:
    """The items of a file, in order; a column `key` or `id` has their keys.

    Columns that are no models of the campaign are shown with the items, but for what models said that have left.
    """
    with campaign.reading() as (_, replica):
        models = [str(model) for model in replica.picker.models]
        hidden = {str(model) for model in (*campaign.settings.models, *(one.model for one in replica.changes))}
    for found in open_collection(path, models=models).batches(fields=True):
        for start in range(0, len(found), ROUNDS_AT_ONCE):
            some = found.take(range(start, min(len(found), start + ROUNDS_AT_ONCE)))
            yield Batch(some, _items(some, hidden), _keys(some.fields))


def _keys(fields: Mapping[str, Any]) -> list[str | None] | None:
    """The keys of a collection's items, if it has a field for them."""
    found = next((fields[name] for name in ("key", "id") if name in fields), None)
    return None if found is None else [None if value is None else str(value) for value in found]


def _items(collection: ModelCollection, hidden: Set[str]) -> list[Item | None] | None:
    """What a collection has to show of each item."""
    shown = {name: values for name, values in collection.fields.items() if name not in hidden}
    if not shown:
        return None
    return [{name: _plain(values[row]) for name, values in shown.items()} for row in range(len(collection))]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
