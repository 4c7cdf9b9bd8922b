"""A collection as a notebook shows it: what is in it, how good the models are, and the first items."""

from collections.abc import Iterator, Sequence

import numpy as np

from modelpicker.collections.collection import ModelCollection
from modelpicker.encoding import Array
from modelpicker.html_pages import html_bar, html_card, html_table, html_tiles, safe

MOST_MODELS, MOST_ITEMS, MOST_COLUMNS, LONGEST = 12, 4, 6, 60


def collection_card(collection: ModelCollection) -> str:
    """The card."""
    differ = (collection.predictions != collection.predictions[:, :1]).any(axis=1)
    labels = "none" if collection.labels is None else f"{collection.labelled:,}"
    facts = {
        "items": f"{len(collection):,}",
        "models": f"{len(collection.models):,}",
        "classes": f"{len(collection.classes):,}",
        "labels": labels,
        "models differ on": f"{int(differ.sum()):,} items",
    }
    notes = [f"<p class=quiet>{safe(note)}</p>" for note in collection.notes]
    parts = (*notes, _models(collection), _items(collection))
    return html_card("Predictions of models", html_tiles(facts), *parts)


def _models(collection: ModelCollection) -> str:
    """How good each model is; without labels, how often each sides with most models."""
    scores = collection.accuracies
    what = "accuracy on the labels"
    if scores is None or np.isnan(scores).any():
        scores, what = _siding(collection.predictions), "says what most models say"
    order = np.argsort(-scores, kind="stable")
    rows = [(safe(collection.models[at]), f"{scores[at]:.1%}", html_bar(scores[at])) for at in order[:MOST_MODELS]]
    left_out = len(order) - len(rows)
    more = f", the first {len(rows):,} of {len(order):,}" if left_out else ""
    return html_table(f"Models{more}", ("model", what, ""), rows)


def _siding(codes: Array, sample: int = 2_000) -> Array:
    """How often each model says what most models say, on a sample of items."""
    some = codes[:: max(1, len(codes) // sample)]
    if not len(some):
        return np.zeros(codes.shape[1])
    votes = (some[:, :, None] == some[:, None, :]).sum(axis=2)
    most = some[np.arange(len(some)), votes.argmax(axis=1)]
    return np.asarray((some == most[:, None]).mean(axis=0))


def _items(collection: ModelCollection) -> str:
    fields = list(collection.fields)[:2]
    models = collection.models[: MOST_COLUMNS - len(fields)]
    told = [] if collection.labels is None else ["label"]
    rows = [list(_cells(collection, place, fields, models)) for place in range(min(MOST_ITEMS, len(collection)))]
    head = [safe(name) for name in (*fields, *models, *told)]
    return html_table("The first items", head, rows, "text") if rows else ""


def _cells(collection: ModelCollection, place: int, fields: Sequence[str], models: Sequence[str]) -> Iterator[str]:
    for name in fields:
        value = str(collection.fields[name][place])
        picture = value.startswith("data:image/")
        yield f'<img alt="{safe(name)}" src="{safe(value)}">' if picture else safe(_cut(value))
    codes = collection.predictions[place, : len(models)].tolist()
    if collection.labels is not None:
        codes.append(int(collection.labels[place]))
    for code in codes:
        yield "-" if code < 0 else safe(_cut(collection.classes[code]))


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
