"""The state of a pool is kept now and then: whoever opens it continues from there, to the last bit."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.state import transactions
from modelpicker.campaigns.storage.database import open_storage
from tests.campaigns.pools import collection, label, make, truth
from tests.campaigns.streams import check, rebuilt, state
from tests.campaigns.test_checkpoints import copied, in_log
from tests.server.servers import Process

SECOND = (80, 1, 120)
"""The second file: how many items, their seed, and the number of the first."""


def person(place: int) -> str:
    """What a person says about an item of either file."""
    return truth(collection(), place) if place < 120 else truth(collection(*SECOND), place - 120)


def labelled(campaign: mp.Campaign | mp.RemoteCampaign) -> list[int]:
    return [one.id for one in campaign.answers() if one.state == "labelled"]


def late(campaign: mp.Campaign) -> None:
    """Eight items are out; the labels of some come in another order, and of others not at all."""
    out = [query.id for query in campaign.pending(8, lease=600, annotator="bob")]
    for place in (5, 1, 6, 0):
        campaign.tell(out[place], person(out[place]))


def later(campaign: mp.Campaign) -> None:
    """The labels that did not come then come now, long after others were asked about."""
    for query in campaign.waiting():
        campaign.tell(query.id, person(query.id))


def correct(campaign: mp.Campaign) -> None:
    told = labelled(campaign)
    campaign.tell(told[2], "toast", replace=True)
    campaign.retract(told[7])


def more(campaign: mp.Campaign) -> None:
    campaign.add_items(collection(*SECOND))


def work(campaign: mp.Campaign) -> None:
    """One person labels on, whatever is next, of either file."""
    for _ in range(12):
        for query in campaign.pending(1, lease=600, annotator="ann"):
            campaign.tell(query.id, person(query.id), annotator="ann")


def skip(campaign: mp.Campaign) -> None:
    for query in campaign.pending(1):
        campaign.skip(query.id)


def finish(campaign: mp.Campaign) -> None:
    campaign.pending(3, lease=600)
    campaign.finish()


def reopen(campaign: mp.Campaign) -> None:
    campaign.revise(finished=False, budget=500)


def loosen(campaign: mp.Campaign) -> None:
    campaign.revise(stop_when=mp.Certified(gap=0.03))


LIFE: tuple[Callable[[mp.Campaign], None], ...] = (
    *(late, work, later, correct, work, more, late, work),
    *(correct, skip, finish, reopen, work, loosen, work),
)


@pytest.fixture(autouse=True)
def kept_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is kept after every five events; usually after 256."""
    monkeypatch.setattr(transactions, "EVENTS_KEPT", 5)


@pytest.mark.slow
def test_a_pool_opened_from_its_kept_state_has_the_bits_that_its_events_give(url: str) -> None:
    campaign = make(url, tolerance=0.0)
    for happens in LIFE:
        happens(campaign)
        here = state(campaign)
        with campaign.looking() as store:
            kept, head = store.snapshot(), store.head()
        assert kept is not None
        assert head.events - kept["event"] < 5, "it is not found from the first event on"
        assert state(mp.open_campaign(url, "pool")) == here == rebuilt(campaign), happens.__name__
    check(campaign, url)


def test_a_pool_that_is_opened_again_after_every_step_is_the_pool_that_stayed_open(memory: str) -> None:
    stayed = make(memory, "stayed", tolerance=0.0)
    make(memory, "opened", tolerance=0.0)
    for happens in LIFE:
        happens(stayed)
        happens(mp.open_campaign(memory, "opened"))
        twin = mp.open_campaign(memory, "opened")
        assert state(twin) == state(stayed) == rebuilt(twin), happens.__name__
        assert [query.id for query in twin.waiting()] == [query.id for query in stayed.waiting()]
        assert twin.best() == stayed.best()


# Servers.


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "campaigns.db"
    yield path
    open_storage(f"sqlite:///{path}").close()


@pytest.mark.slow
def test_a_server_that_is_killed_and_one_that_is_stopped_go_on_where_they_were(file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{file}"
    collection().save(tmp_path / "first.csv")
    collection(*SECOND).save(tmp_path / "second.csv")
    with Process("--storage", url) as process:
        there = process.running.client().create_campaign(
            "pool", pool=tmp_path / "first.csv", tolerance=0.0, seed=3, use_labels=False
        )
        out = [query.id for query in there.pending(8, lease=600, annotator="bob")]
        for place in (5, 1, 6):
            there.tell(out[place], person(out[place]))
        process.kill()
    assert in_log(file) > 0
    with Process("--storage", url) as process:
        there = process.running.client().campaign("pool")
        assert sorted(query.id for query in there.pending(50)) == sorted(set(out) - {out[5], out[1], out[6]})
        there.tell(out[0], person(out[0]))
        there.tell(out[5], "toast", replace=True)
        there.upload(tmp_path / "second.csv")
        for _ in range(20):
            for query in there.pending(1, lease=600, annotator="ann"):
                there.tell(query.id, person(query.id), annotator="ann")
        before = there.best()
        process.kill()
    check(mp.open_campaign(url, "pool"), url)
    with Process("--storage", url) as process:
        there = process.running.client().campaign("pool")
        assert there.best() == before
        there.finish()
        there.revise(finished=False)
        process.process.send_signal(signal.SIGTERM)
        assert process.process.wait(60) == 0
    assert in_log(file) == 0
    with copied(file) as copy:
        twin = mp.open_campaign(copy, "pool")
        check(twin, copy)
        assert (twin.rounds, twin.best().labels_used) == (200, 24)
        label(twin, collection(), 1)
