"""Small pools, and people who label them."""

from typing import Any

import modelpicker as mp
from tests.campaigns.streams import MODELS, stream


def collection(items: int = 120, seed: int = 0, first: int = 0, labelled: bool = True) -> mp.ModelCollection:
    """Items with keys, texts, predictions of four models, and labels: `first` numbers their keys."""
    predictions, labels = stream(items, seed=seed)
    names = ["ham", "spam", "egg"]
    known = [names[label] if 0 <= label < 3 else "toast" for label in labels.tolist()]
    return mp.ModelCollection(
        [[None if code < 0 else names[code] for code in row] for row in predictions.tolist()],
        labels=known if labelled else None,
        models=MODELS,
        fields={
            "id": [f"item {first + place}" for place in range(items)],
            "text": [f"text {first + place}" for place in range(items)],
        },
    )


def truth(items: mp.ModelCollection, place: int) -> str:
    """What a person says about an item."""
    assert items.labels is not None
    return str(items.classes[int(items.labels[place])])


def make(url: str, name: str = "pool", items: int = 120, **more: Any) -> mp.Campaign:
    """A campaign on a small pool."""
    return mp.create_campaign(url, name, pool=collection(items), **{"tolerance": 0.02, "seed": 3} | more)


def label(campaign: mp.Campaign, items: mp.ModelCollection, most: int = 10_000, by: str = "ann") -> list[int]:
    """Label whatever is asked, one item after the other; the items."""
    done: list[int] = []
    while len(done) < most:
        queries = campaign.pending(1, lease=600, annotator=by)
        if not queries:
            break
        campaign.tell(queries[0].id, truth(items, queries[0].id), annotator=by)
        done.append(queries[0].id)
    return done
