"""A campaign to try the page with: the shipped digits, with their pictures.

Digits come as they are labelled, so that whoever tries it sees how the picker learns which labels it needs.
"""

import asyncio
from contextlib import suppress

from modelpicker.campaigns import Campaign, create_campaign, list_campaigns
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.collections import ModelCollection, load_collection
from modelpicker.server.api.problems import Problem
from modelpicker.server.live.group_commit import CommitQueues

NAME = "digits"
BUDGET = 150
# Digits that come at once, as long as fewer queries wait than this.
AT_ONCE = 5
QUEUE = 8


def ensure_demo(storage: str) -> None:
    """Begin the campaign, if it is not there already."""
    open_storage(storage, create=True)
    if NAME in {one.name for one in list_campaigns(storage)}:
        return
    collection = load_collection(NAME)
    create_campaign(
        storage,
        NAME,
        models=list(collection.models),
        classes=list(collection.classes),
        budget=BUDGET,
        expected_rounds=len(collection),
    )


async def feed_demo(queues: CommitQueues) -> None:
    """Ask about more digits whenever few queries are left."""
    collection = await asyncio.to_thread(load_collection, NAME)
    queue = await queues.find(NAME)
    news = asyncio.Event()
    queue.listeners.add(news.set)
    while True:
        news.clear()
        with suppress(Problem):  # the campaign learns anew: there will be news when it is done
            while await queue.read(lambda campaign: _is_short(campaign, len(collection))):
                await queue.do(lambda campaign: _ask(campaign, collection))
        await news.wait()


def _is_short(campaign: Campaign, items: int) -> bool:
    if campaign.terms.idle:
        return False
    pick = campaign.best()
    return pick.rounds < items and pick.pending < QUEUE


def _ask(campaign: Campaign, collection: ModelCollection) -> None:
    first = campaign.rounds
    some = collection.take(range(first, min(len(collection), first + AT_ONCE)))
    campaign.ask_many(
        some,
        items=[{"image": image} for image in some.fields["image"]],
        keys=[f"digit-{number}" for number in some.fields["id"]],
    )
