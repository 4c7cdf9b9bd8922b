"""Files of predictions as rounds of a campaign."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from modelpicker.algorithms.options import ModelName
from modelpicker.campaigns.events import Item
from modelpicker.collections import ModelCollection, open_collection

ROUNDS_AT_ONCE = 2_000


class Batch(NamedTuple):
    """Some items of a file, as `ask_many` takes them."""

    predictions: ModelCollection
    items: list[Item | None] | None
    keys: list[str | None] | None


def batches_of(path: str | Path, models: Sequence[ModelName]) -> Iterator[Batch]:
    """The items of a file, in order; a column `key` or `id` has their keys."""
    for found in open_collection(path, models=[str(model) for model in models]).batches(fields=True):
        for start in range(0, len(found), ROUNDS_AT_ONCE):
            some = found.take(range(start, min(len(found), start + ROUNDS_AT_ONCE)))
            yield Batch(some, _items(some), _keys(some.fields))


def _keys(fields: Mapping[str, Any]) -> list[str | None] | None:
    """The keys of a collection's items, if it has a field for them."""
    found = next((fields[name] for name in ("key", "id") if name in fields), None)
    return None if found is None else [None if value is None else str(value) for value in found]


def _items(collection: ModelCollection) -> list[Item | None] | None:
    """What a collection has to show of each item."""
    if not collection.fields:
        return None
    return [
        {name: _plain(values[row]) for name, values in collection.fields.items()} for row in range(len(collection))
    ]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
