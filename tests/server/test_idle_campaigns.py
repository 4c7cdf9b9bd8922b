"""Campaigns that nobody uses: what is kept of them has a bound, is let go, and comes back when it is wanted."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from benchmarks.idle_campaigns import Client, use

import modelpicker as mp
from modelpicker.campaigns.background_compiler import BackgroundCompiler
from modelpicker.server.live import group_commit
from modelpicker.server.live.group_commit import CommitQueue, CommitQueues
from modelpicker.server.metrics import Metrics
from tests.campaigns.streams import MODELS, play, stream
from tests.server.servers import Running, finished, serving
from tests.server.test_live import following

MANY = 12
FEW = 3


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/campaigns.db"


def within(url: str, work: Callable[[CommitQueues], Coroutine[Any, Any, Any]]) -> Any:
    """What comes of work with the campaigns of a storage."""

    async def run() -> Any:
        opened = CommitQueues(url, Metrics(), BackgroundCompiler())
        try:
            return await work(opened)
        finally:
            opened.close()

    return finished(run())


async def _look(queue: CommitQueue) -> None:
    await queue.read(lambda _: (queue.dashboard.standing(), queue.dashboard.charts()))


def create(url: str, count: int = MANY) -> list[str]:
    names = [f"campaign-{number}" for number in range(count)]
    for name in names:
        play(mp.create_campaign(url, name, models=MODELS), *stream(20))
    return names


def test_no_more_campaigns_are_kept_than_there_may_be(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "MOST_OPEN", FEW)
    names = create(url)

    async def work(opened: CommitQueues) -> None:
        for _ in range(2):
            for name in names:
                queue = await opened.find(name)
                assert await queue.read(lambda campaign: campaign.rounds) == 20
                assert len(list(opened)) <= FEW
            assert [queue.campaign.name for queue in opened] == names[-FEW:], "those that were used last are kept"

    within(url, work)


def test_no_more_bytes_are_kept_than_there_may_be(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = create(url)

    async def work(opened: CommitQueues) -> None:
        first = await opened.find(names[0])
        before = first.nbytes
        await _look(first)
        assert first.nbytes > before, "what is kept is counted"
        bound = FEW * first.nbytes
        monkeypatch.setattr(group_commit, "MOST_BYTES", bound)
        for name in names:
            queue = await opened.find(name)
            await _look(queue)
            opened.let_go()
            assert sum(one.nbytes for one in opened) <= bound
        assert len(list(opened)) < MANY
        assert first.nbytes <= before, "what was let go takes no memory, whoever still has it in hand"

    within(url, work)


def test_a_campaign_that_nobody_has_used_for_long_is_let_go(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = create(url, 2)
    monkeypatch.setattr(group_commit, "SWEEP", 0.01)

    async def work(opened: CommitQueues) -> None:
        for name in names:
            await (await opened.find(name)).read(lambda campaign: campaign.rounds)
        sweeping = asyncio.ensure_future(opened.sweep())
        await asyncio.sleep(0.1)
        assert len(list(opened)) == 2
        monkeypatch.setattr(group_commit, "IDLE", 0.0)
        async with asyncio.timeout(30):
            while list(opened):
                await asyncio.sleep(0.01)
        sweeping.cancel()

    within(url, work)


def test_one_that_was_let_go_goes_on_where_it_was_for_who_has_it_in_hand_and_for_others(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MOST_OPEN", 1)
    names = create(url, 2)
    alone = mp.create_campaign("memory://idle", "alone", models=MODELS)
    predictions, labels = stream(20)
    play(alone, predictions, labels)

    async def work(opened: CommitQueues) -> list[Any]:
        mine = await opened.find(names[0])
        made = [await mine.ask([0, 1, 1, 0], None, None)]
        await opened.find(names[1])
        made.append(await mine.ask([0, 1, 1, 0], None, None))
        again = await opened.find(names[0])
        assert again is not mine
        made.append(await again.ask([0, 1, 1, 0], None, None))
        made.append(await mine.ask([0, 1, 1, 0], None, None))
        return made

    assert within(url, work) == [alone.ask([0, 1, 1, 0]) for _ in range(4)]


def test_one_in_use_is_not_let_go(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "MOST_OPEN", 1)
    names = create(url, 3)
    with serving(url) as server, following(server, names[0]) as news:
        news.next("standing")
        for name in names[1:]:
            assert server.get(f"/campaigns/{name}/standing").status_code == 200
        server.client().campaign(names[0]).ask([0, 1, 1, 0])
        assert news.until("standing", rounds=21)


def test_a_list_of_campaigns_opens_none_that_it_has_seen_before(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "MOST_OPEN", FEW)
    names = create(url)
    with serving(url) as server:
        rows = server.get("/campaigns").json()["campaigns"]
        assert [one["name"] for one in rows] == sorted(names)
        server.client().campaign(names[0]).ask([0, 1, 1, 0])
        again = server.get("/campaigns").json()["campaigns"]
        assert [one["rounds"] for one in again] == [21 if one["name"] == names[0] else 20 for one in again]
        opened = server.http.get("/metrics").text
        assert f'campaign="{names[0]}"' in opened, "it was the last that was used, whoever lists them all"


def test_the_benchmark_leaves_no_more_campaigns_open_than_there_may_be(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MOST_OPEN", FEW)
    with serving(url) as server, closing(Client(server.port)) as client:
        for number in range(MANY):
            use(client, number, rounds=10)
        assert _opened(server) == FEW


def _opened(server: Running) -> int:
    """How many campaigns are open, by what is counted of those that are."""
    return server.http.get("/metrics").text.count("modelpicker_pending_queries{")
