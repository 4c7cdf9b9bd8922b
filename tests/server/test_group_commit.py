"""Changes that go to disk together: each as if it were alone."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.background_compiler import BackgroundCompiler
from modelpicker.campaigns.state import transactions
from modelpicker.server.live.group_commit import CommitQueue, CommitQueues
from modelpicker.server.metrics import Metrics
from tests.campaigns.streams import check, stream
from tests.server.servers import finished

MODELS = ["ant", "bee", "cat", "dog"]


def together(url: str, *makes: Callable[[CommitQueue], Any], commits: int = 1) -> list[Any]:
    """What comes of changes that wait while another is under way: they go to disk in one commit, or that many."""

    async def run() -> list[Any]:
        queues = CommitQueues(url, Metrics(), BackgroundCompiler())
        try:
            queue = await queues.find("group")
            await queue.do(lambda _: None)  # the campaign is loaded
            hold = threading.Event()
            blocker = asyncio.ensure_future(queue.do(lambda _: hold.wait(30)))
            waiting = [asyncio.ensure_future(make(queue)) for make in makes]
            await asyncio.sleep(0)
            hold.set()
            found = await asyncio.gather(*waiting, return_exceptions=True)
            await blocker
            made = queue.metrics.registry.get_sample_value("modelpicker_commit_changes_count")
            assert made == 2 + commits, "the changes did not go together"
            return found
        finally:
            queues.close()

    return finished(run())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/campaigns.db"


def ask(row: Any, key: str | None = None) -> Callable[[CommitQueue], Any]:
    return lambda queue: queue.ask(row, None, key)


def tell(number: int, label: int, **options: Any) -> Callable[[CommitQueue], Any]:
    return lambda queue: queue.do(lambda campaign: campaign.tell(number, label, **options))


def test_rounds_that_are_decided_together_are_decided_as_if_one_by_one(url: str) -> None:
    predictions, _ = stream(40)
    mp.create_campaign(url, "group", models=MODELS, budget=15)
    alone = mp.create_campaign("memory://alone", "group", models=MODELS, budget=15)
    found = together(url, *(ask(row.tolist()) for row in predictions))
    assert found == [alone.ask(row.tolist()) for row in predictions]
    check(mp.open_campaign(url, "group"), url)


def test_one_that_cannot_be_asked_does_not_keep_the_others_from_being(url: str) -> None:
    mp.create_campaign(url, "group", models=MODELS, classes=[0, 1])
    found = together(url, ask([0, 1, 1, 0], "a"), ask([0, 7, 1, 0], "b"), ask([1, 1], "c"), ask([1, 1, 0, 0], "d"))
    assert [type(one) for one in found] == [mp.Decision, mp.InputError, mp.InputError, mp.Decision]
    assert [found[0].id, found[3].id] == [0, 1]
    assert "7 is not one of the classes" in str(found[1])
    assert "2 predictions, but there are 4 models" in str(found[2])
    check(mp.open_campaign(url, "group"), url)


def test_the_same_key_twice_in_one_commit_is_one_round(url: str) -> None:
    mp.create_campaign(url, "group", models=MODELS)
    first, second, third = together(url, ask([0, 1, 1, 0], "a"), ask([0, 1, 1, 0], "a"), ask([0, 1, 1, 0], "b"))
    assert first == second
    assert third.id == 1


def test_labels_see_the_rounds_of_their_own_commit(url: str) -> None:
    campaign = mp.create_campaign(url, "group", models=MODELS)
    queried = next(made.id for made in (campaign.ask([0, 1, 1, 0]) for _ in range(50)) if made.query)
    new = campaign.best().rounds
    found = together(
        url,
        ask([1, 0, 1, 0]),
        tell(queried, 1),
        tell(queried, 1),
        tell(queried, 0),
        lambda queue: queue.do(lambda one: one.best().labels_used),
        tell(new, 1),
        tell(new + 1, 1),
    )
    assert found[0].id == new
    assert found[1:3] == [None, None]
    assert isinstance(found[3], mp.ConflictError)
    assert found[4] == 1
    assert found[5] is None
    assert isinstance(found[6], mp.NotFoundError)
    check(mp.open_campaign(url, "group"), url)


@pytest.mark.parametrize("few", [transactions.FEW_EVENTS, -1], ids=["at once", "on another thread"])
def test_a_change_that_fails_half_way_is_undone_and_the_others_are_not(
    url: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "FEW_EVENTS", few)  # what is known about the campaign is lost with the change
    campaign = mp.create_campaign(url, "group", models=MODELS)
    queries = [made.id for made in (campaign.ask([0, 1, 1, 0]) for _ in range(200)) if made.query][:3]
    first, second, third = queries
    campaign.tell(second, 1)
    found = together(
        url,
        tell(first, 0),
        lambda queue: queue.do(lambda one: one.tell_many({third: 1, second: 0})),  # the second label is a conflict
        ask([0, 0, 1, 0], "after"),
        commits=1 if few > 0 else 2,
    )
    assert found[0] is None
    assert isinstance(found[1], mp.ConflictError)
    assert isinstance(found[2], mp.Decision)
    seen = mp.open_campaign(url, "group")
    assert [list(seen.history(number))[-1]["kind"] for number in queries] == ["label", "label", "ask"]
    check(seen, url)


@pytest.mark.parametrize("few", [transactions.FEW_EVENTS, -1], ids=["at once", "on another thread"])
def test_changes_of_the_past_share_a_commit_with_those_before_them_and_the_others_follow(
    url: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "FEW_EVENTS", few)
    campaign = mp.create_campaign(url, "group", models=MODELS)
    queries = [made.id for made in (campaign.ask([0, 1, 1, 0]) for _ in range(200)) if made.query][:3]
    for number in queries:
        campaign.tell(number, 0)
    found = together(
        url,
        tell(queries[0], 1, replace=True),
        ask([0, 1, 1, 0]),
        lambda queue: queue.do(lambda one: one.retract(queries[1])),
        lambda queue: queue.do(lambda one: one.join("eel")),
        ask([0, 1, 1, 0]),
        ask([0, 1, 1, 0, 1]),
        lambda queue: queue.do(lambda one: one.leave("ant")),
        ask([1, 1, 0, 1]),
        commits=5,
    )
    assert isinstance(found[4], mp.InputError), "there were five models by then"
    assert [type(one) for one in found if one is not None] == [mp.Decision, mp.InputError, mp.Decision, mp.Decision]
    check(mp.open_campaign(url, "group"), url)


def test_a_storage_that_fails_fails_all_of_them(url: str, tmp_path: Path) -> None:
    campaign = mp.create_campaign(url, "group", models=MODELS)
    campaign.ask([0, 1, 1, 0])

    def lose(_: mp.Campaign) -> None:
        (tmp_path / "campaigns.db").rename(tmp_path / "away.db")

    found = together(url, ask([0, 1, 1, 0]), lambda queue: queue.do(lose), ask([0, 1, 1, 0]))
    assert [type(one) for one in found] == [mp.StorageError] * 3
    (tmp_path / "away.db").rename(tmp_path / "campaigns.db")
    seen = mp.open_campaign(url, "group")
    assert seen.best().rounds in (1, 3)  # nobody was told, so both are right
    check(seen, url)


def test_what_a_change_gave_up_on_is_done_all_the_same(url: str) -> None:
    mp.create_campaign(url, "group", models=MODELS)

    async def run() -> int:
        queues = CommitQueues(url, Metrics(), BackgroundCompiler())
        try:
            queue = await queues.find("group")
            gone = asyncio.ensure_future(queue.ask([0, 1, 1, 0], None, "gone"))
            await asyncio.sleep(0)
            gone.cancel()
            made = await queue.ask([0, 1, 1, 0], None, "gone")
            return made.id
        finally:
            queues.close()

    assert finished(run()) == 0
    assert mp.open_campaign(url, "group").best().rounds == 1
