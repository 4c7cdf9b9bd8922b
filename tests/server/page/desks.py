"""Campaigns to label, and what a test does and sees on the page."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from playwright.sync_api import Locator, Page, expect

import modelpicker as mp
from modelpicker.campaigns import Campaign
from tests.server.page.serving import Serving

MODELS = ("bert", "roberta", "gpt")
SPAM = ("spam", "ham", "urgent")
UNSEEN = 260  # milliseconds after which a new item may be answered, and a little more


def campaign_of(
    storage: str,
    name: str,
    items: Sequence[Mapping[str, Any] | None],
    *,
    classes: Sequence[str | int] | None = SPAM,
    rows: Sequence[Sequence[str | int]] | None = None,
    models: Sequence[str] = MODELS,
) -> Campaign:
    """A campaign in which every item is queried: the models differ, and the coin always says yes."""
    said = list(classes or SPAM)[:3]
    campaign = mp.create_campaign(
        storage,
        name,
        models=list(models),
        classes=classes,
        algorithm="label-efficient",
        options={"probability": 1.0},
    )
    predictions = rows or [
        [said[(place + model) % len(said)] for model in range(len(models))] for place in range(len(items))
    ]
    campaign.ask_many(
        [dict(zip(models, row, strict=True)) for row in predictions],
        items=list(items),
        keys=[f"msg-{place}" for place in range(len(items))],
    )
    return campaign


def messages(count: int) -> list[dict[str, Any]]:
    """Items that are told apart by their text."""
    return [{"text": f"Message number {place}"} for place in range(count)]


def digits_campaign(storage: str, name: str, items: int, *, labelled: int = 0) -> tuple[Campaign, dict[int, int]]:
    """The shipped digits with their pictures, some labelled already; and the labels of all."""
    collection = mp.load_collection("digits").take(range(items))
    campaign = mp.create_campaign(
        storage, name, models=collection.models, classes=collection.classes, budget=100, expected_rounds=items
    )
    pictures = [{"image": picture} for picture in collection.fields["image"]]
    campaign.ask_many(collection, items=pictures, keys=[f"digit-{place}" for place in range(items)])
    assert collection.labels is not None
    truth = {place: int(label) for place, label in enumerate(collection.labels)}
    for query in campaign.pending()[:labelled]:
        campaign.tell(query.id, truth[query.id])
    return campaign, truth


def answers(campaign: Campaign) -> dict[int, Any]:
    """What the storage holds, by round: None is a skip."""
    told: dict[int, Any] = {}
    for record in campaign.history():
        if record["kind"] in ("label", "skip"):
            told[record["id"]] = record.get("label")
        elif record["kind"] == "retract":
            del told[record["id"]]
    return told


class Person(NamedTuple):
    """Somebody who is signed in."""

    page: Page
    server: Serving
    role: str

    def desk(self, name: str) -> "Desk":
        """The labelling view of a campaign, with its first item."""
        return Desk(self.page, self.server.url, name).open()


class Desk:
    """The labelling view of a campaign."""

    def __init__(self, page: Page, url: str, name: str) -> None:
        self.page = page
        self.address = f"{url}/#/c/{name}/label"

    def open(self) -> "Desk":
        """Go there and wait for the first item."""
        self.page.goto(self.address)
        expect(self.item).to_be_visible()
        return self

    @property
    def item(self) -> Locator:
        """What is to be labelled."""
        return self.page.get_by_role("article")

    @property
    def status(self) -> Locator:
        """What was done last."""
        return self.page.locator(".last-action")

    def class_button(self, name: str) -> Locator:
        """The button of a class."""
        return self.page.locator(".class-button").filter(has_text=re.compile(rf"^{re.escape(name)}"))

    def press(self, *keys: str) -> None:
        """Press keys, each once the item on screen may be answered."""
        for key in keys:
            self.page.wait_for_timeout(UNSEEN)
            self.page.keyboard.press(key)

    def click(self, name: str) -> None:
        """Click on a class, once the item on screen may be answered."""
        self.page.wait_for_timeout(UNSEEN)
        self.class_button(name).click()

    def sees(self, text: str) -> None:
        """The item on screen has this text."""
        expect(self.item).to_contain_text(text)

    def settled(self) -> None:
        """Nothing waits to be sent any more."""
        settled(self.page)


def settled(page: Page) -> None:
    """Nothing waits to be sent any more."""
    until(page, "!Object.keys(localStorage).some((key) => key.startsWith('modelpicker:outbox:'))")


def until(page: Page, expression: str) -> None:
    """Wait until it holds. (The page's policy forbids what `wait_for_function` does.)"""
    for _ in range(500):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"this never came true: {expression}")
