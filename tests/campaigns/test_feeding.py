"""A file is fed to a stream as labels come: it decides as if its items came one by one, over every storage."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.feeding import FileFeed, NewItem, feed_file
from tests.campaigns.pools import collection, truth
from tests.campaigns.streams import MODELS

ITEMS = 60


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of items with keys."""
    collection(ITEMS).save(tmp_path / "items.parquet")
    return tmp_path / "items.parquet"


def make(url: str, name: str = "fed", **more: Any) -> mp.Campaign:
    return mp.create_campaign(url, name, models=MODELS, **more)


def label_all(campaign: mp.Campaign, most: int = ITEMS) -> None:
    """Somebody answers what waits."""
    for query in campaign.waiting(most):
        campaign.tell(query.id, truth(collection(ITEMS), query.id))


def decisions(campaign: mp.Campaign) -> list[tuple[Any, ...]]:
    """Everything that was decided, in order."""
    records = [one for one in campaign.history() if one["kind"] == "ask"]
    return [(one["key"], one["query"], one["probability"], one["predictions"]) for one in records]


def fed_to_the_end(campaign: mp.Campaign, feed: FileFeed) -> list[int]:
    """Feed and label in turns; how many items were decided each time."""
    sizes = []
    while made := feed.decide():
        sizes.append(len(made))
        assert campaign.counts().waiting <= 1
        label_all(campaign)
    return sizes


def test_it_decides_as_if_items_came_one_by_one(url: str, file: Path) -> None:
    fed, one_by_one = make(url), make(url, "one by one")
    sizes = fed_to_the_end(fed, feed_file(fed, file))
    items = mp.load_collection(file)
    for place, row in enumerate(items.predictions.tolist()):
        names = [None if code < 0 else items.classes[code] for code in row]
        one_by_one.ask(names, key=f"item {place}")
        label_all(one_by_one)
    assert decisions(fed) == decisions(one_by_one)
    assert fed.best() == one_by_one.best()
    assert len(sizes) > 3
    assert sum(sizes) == ITEMS


def test_feeding_again_goes_on_where_it_stopped(url: str, file: Path) -> None:
    whole, parts = make(url), make(url, "parts")
    fed_to_the_end(whole, feed_file(whole, file))
    for _ in range(4):
        feed_file(parts, file).decide()  # a new process each time: what is known is gone through again
        label_all(parts)
    with mp.open_campaign(url, "parts") as again:
        fed_to_the_end(again, feed_file(again, file))
    assert decisions(parts) == decisions(whole)


def test_nothing_new_is_decided_while_the_last_item_waits(url: str, file: Path) -> None:
    campaign = make(url)
    feed_file(campaign, file).decide()
    before = campaign.rounds
    assert campaign.counts().waiting == 1
    for _ in range(2):
        assert [one.decision.id for one in feed_file(campaign, file).decide()] == list(range(before))
    assert campaign.rounds == before


def test_items_without_keys_are_told_apart_by_row_and_content(memory: str, tmp_path: Path) -> None:
    campaign = make(memory, budget=1)
    rows = [["ham", "ham", "ham", "ham"]] * 5
    for name, some in (("a.csv", rows), ("b.csv", rows), ("c.csv", rows[:3])):
        mp.ModelCollection(some, models=MODELS).save(tmp_path / name)
    assert [len(feed_file(campaign, tmp_path / "a.csv").decide()), campaign.rounds] == [5, 5]
    feed_file(campaign, tmp_path / "b.csv").decide()
    assert campaign.rounds == 5, "the same content is the same file"
    feed_file(campaign, tmp_path / "c.csv").decide()
    assert campaign.rounds == 8


def test_a_wrong_item_is_named_after_those_before_it_are_decided(url: str) -> None:
    campaign = make(url, classes=["ham", "spam"])
    good, wrong = ["ham"] * 4, ["jam"] * 4
    feed = FileFeed(
        campaign, [NewItem(row, None, f"k{n}", f"line {n}") for n, row in enumerate([good, good, wrong, good])]
    )
    assert [one.key for one in feed.decide()] == ["k0", "k1"]
    for _ in range(2):
        with pytest.raises(mp.InputError, match=r"line 2: .*jam"):
            feed.decide()
    assert campaign.rounds == 2


def test_a_paused_campaign_takes_nothing(memory: str, file: Path) -> None:
    campaign = make(memory)
    feed = feed_file(campaign, file)
    feed.decide()
    label_all(campaign)
    before = campaign.rounds
    campaign.revise(paused=True)
    with pytest.raises(mp.ConflictError):
        feed.decide()
    assert campaign.rounds == before


def test_a_skip_lets_it_go_on(memory: str, file: Path) -> None:
    campaign = make(memory)
    feed = feed_file(campaign, file)
    feed.decide()
    campaign.skip(campaign.waiting()[0].id)
    before = campaign.rounds
    assert feed.decide()
    assert campaign.rounds > before


def test_the_classes_of_a_file_are_known_from_the_start(memory: str, file: Path) -> None:
    assert set(feed_file(make(memory), file).classes) >= {"egg", "ham", "spam"}
