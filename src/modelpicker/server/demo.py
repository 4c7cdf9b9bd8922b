"""A campaign to try the page with: the shipped digits, with their pictures."""

from modelpicker.campaigns import create_campaign, list_campaigns
from modelpicker.campaigns.feeding import ROUNDS_AT_ONCE
from modelpicker.campaigns.storage import open_storage
from modelpicker.collections import load_collection

NAME = "digits"
BUDGET = 150


def ensure_demo(storage: str) -> None:
    """A campaign whose items have all come, and whose queries wait to be labelled; made if it is not there."""
    open_storage(storage, create=True)
    if NAME in {one.name for one in list_campaigns(storage)}:
        return
    collection = load_collection("digits")
    campaign = create_campaign(
        storage,
        NAME,
        models=list(collection.models),
        classes=list(collection.classes),
        budget=BUDGET,
        expected_rounds=len(collection),
    )
    for start in range(0, len(collection), ROUNDS_AT_ONCE):
        some = collection.take(range(start, min(len(collection), start + ROUNDS_AT_ONCE)))
        campaign.ask_many(
            some,
            items=[{"image": image} for image in some.fields["image"]],
            keys=[f"digit-{number}" for number in some.fields["id"]],
        )
