"""A campaign to try the page with: the shipped digits, with their pictures.

Digits are asked about as labels come, so that whoever tries it sees how the picker learns which labels it needs.
"""

from contextlib import suppress

from modelpicker.campaigns import create_campaign, has_campaign, open_campaign
from modelpicker.campaigns.feeding import ask_batches
from modelpicker.campaigns.input.batches import Batch, KeptFile
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.collections import load_collection
from modelpicker.errors import ConflictError

NAME = "digits"
BUDGET = 150


def ensure_demo(storage: str) -> None:
    """Begin the campaign, if it is not there already, and keep the digits that were not asked about yet."""
    open_storage(storage, create=True)
    collection = load_collection(NAME)
    if has_campaign(storage, NAME):
        campaign = open_campaign(storage, NAME)
    else:
        campaign = create_campaign(
            storage,
            NAME,
            models=list(collection.models),
            classes=list(collection.classes),
            budget=BUDGET,
            expected_rounds=len(collection),
        )
    items: list[Item | None] = [{"image": image} for image in collection.fields["image"]]
    keys: list[str | None] = [f"digit-{number}" for number in collection.fields["id"]]
    with campaign, suppress(ConflictError):  # it may be paused, or finished
        ask_batches(campaign, KeptFile(NAME, collection.fingerprint), [Batch(collection, items, keys)])
