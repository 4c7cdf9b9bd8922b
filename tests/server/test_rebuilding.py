"""While a campaign is rebuilt, others are served, its readers see how it stood, and its writers are answered."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state import transactions
from modelpicker.campaigns.state.projection import Projection, rebuild
from modelpicker.server.live import group_commit
from tests.campaigns.streams import MODELS, check, estimates, play, stream
from tests.server.servers import Running, serving, wait_until

SEED = 77
"""The seed of campaigns that wait at the gate."""


class Gate:
    """Where a campaign that is rebuilt waits, on the thread that does so, until it is let through."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.open = threading.Event()
        self.reached = threading.Event()

    def shut(self) -> None:
        """From now on whatever has to be learned counts as much, and waits here; nobody waits for it for long."""
        self.patch.setattr(transactions, "rebuild", self.rebuild)
        self.patch.setattr(transactions, "FEW_EVENTS", -1)
        self.patch.setattr(group_commit, "PATIENCE", 0.05)

    def rebuild(self, log: EventStore, settings: CampaignSettings, upto: int, rebuilt: int) -> Projection:
        if settings.seed == SEED and rebuilt > 0:
            self.reached.set()
            assert self.open.wait(60), "nobody has opened the gate"
        return rebuild(log, settings, upto, rebuilt)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(monkeypatch)
    yield made
    made.open.set()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/campaigns.db"


@pytest.fixture
def running(url: str, gate: Gate) -> Iterator[Running]:
    """A server with a campaign that has learned something, and another; then the gate is shut.

    It opens before the server stops.
    """
    for name, seed in (("slow", SEED), ("other", 1)):
        play(mp.create_campaign(url, name, models=MODELS, seed=seed), *stream(40))
    with serving(url) as server:
        for name in ("slow", "other"):
            server.client().campaign(name).best()  # it is loaded
        wait_until(lambda: server.http.get("/ready").status_code == 200)  # what is compiled elsewhere is there
        gate.shut()
        yield server
        gate.open.set()


def labelled(server: Running, name: str) -> int:
    """A query that has a label."""
    answers = server.get(f"/campaigns/{name}/answers").json()["answers"]
    return int(next(one["id"] for one in answers if one["state"] == "labelled"))


Change = Callable[[Running, str, int], Any]
CHANGES: dict[str, Change] = {
    "retract": lambda server, name, number: server.post(f"/campaigns/{name}/retractions", {"id": number}),
    "replace": lambda server, name, number: server.post(
        f"/campaigns/{name}/labels", {"id": number, "label": 9, "replace": True}
    ),
    "skip": lambda server, name, number: server.post(f"/campaigns/{name}/skips", {"id": number, "replace": True}),
    "join": lambda server, name, _: server.post(f"/campaigns/{name}/models", {"model": "eel"}),
    "leave": lambda server, name, _: server.http.delete(f"/api/v1/campaigns/{name}/models/ant"),
}
SAME: dict[str, Callable[[mp.Campaign, int], None]] = {
    "retract": lambda campaign, number: campaign.retract(number),
    "replace": lambda campaign, number: campaign.tell(number, 9, replace=True),
    "skip": lambda campaign, number: campaign.skip(number, replace=True),
    "join": lambda campaign, _: campaign.join("eel"),
    "leave": lambda campaign, _: campaign.leave("ant"),
}
WRITES: dict[str, Callable[[Running], Any]] = {
    "ask": lambda server: server.post("/campaigns/slow/rounds", {"predictions": [0, 1, 1, 0]}),
    "ask many": lambda server: server.post("/campaigns/slow/rounds/batch", {"predictions": [[0, 1, 1, 0]]}),
    "lease": lambda server: server.post("/campaigns/slow/leases", {}),
    "skip": lambda server: server.post("/campaigns/slow/skips", {"id": 0}),
    "join": lambda server: server.post("/campaigns/slow/models", {"model": "fox"}),
    "upload": lambda server: server.http.post(
        "/api/v1/campaigns/slow/files?filename=a.csv", content=b"ant,bee,cat,dog\n0,1,1,0\n"
    ),
}
READS = (
    "/api/v1/campaigns",
    "/api/v1/campaigns/slow",
    "/api/v1/campaigns/slow/standing",
    "/api/v1/campaigns/slow/charts",
    "/api/v1/campaigns/slow/certificate",
    "/api/v1/campaigns/slow/report",
    "/api/v1/campaigns/slow/queries",
    "/api/v1/campaigns/slow/history",
    "/api/v1/campaigns/slow/answers",
    "/api/v1/campaigns/slow/export",
    "/api/v1/campaigns/slow/classes",
    "/api/v1/campaigns/other/standing",
    "/metrics",
    "/ready",
    "/health",
)


@pytest.mark.parametrize("kind", CHANGES)
def test_while_a_campaign_learns_anew_nobody_but_its_own_writers_waits(
    running: Running, gate: Gate, url: str, kind: str
) -> None:
    alone = mp.create_campaign("memory://undisturbed", f"slow {kind}", models=MODELS, seed=SEED)
    play(alone, *stream(40))
    number = labelled(running, "slow")
    before = running.get("/campaigns/slow/standing").json()

    assert CHANGES[kind](running, "slow", number).status_code == 200, "the change itself is on disk, and answered"
    assert gate.reached.wait(60)
    for path in READS:
        assert running.http.get(path).status_code == 200, path
    assert running.get("/campaigns/slow/standing").json() == before
    listed = {one["name"]: one for one in running.get("/campaigns").json()["campaigns"]}
    assert listed["slow"]["pick"] == before["pick"]
    for name, write in WRITES.items():
        answer = write(running)
        assert answer.status_code == 503, name
        assert answer.headers["content-type"] == "application/problem+json"
        assert 1 <= int(answer.headers["retry-after"]) <= group_commit.LONGEST_PAUSE
        assert "Nothing was done" in answer.json()["detail"]
    assert running.post("/campaigns/other/rounds", {"predictions": [0, 1, 1, 0]}).status_code == 200
    assert running.post("/campaigns/other/retractions", {"id": labelled(running, "other")}).status_code == 200
    assert running.post("/campaigns", {"name": "new", "models": 3}).status_code == 201

    gate.open.set()
    row = [0, 1, 1, 0, 1][: 4 + (kind == "join") - (kind == "leave")]
    made = running.client().campaign("slow").ask(row)  # tries again by itself, for as long as it takes
    SAME[kind](alone, number)
    assert made == alone.ask(row)
    assert {
        one["model"]: one["estimate"] for one in running.get("/campaigns/slow/standing").json()["standing"]
    } == (estimates(alone))
    check(mp.open_campaign(url, "slow"), url)


def test_one_who_waits_is_answered_when_the_campaign_has_learned(running: Running, gate: Gate) -> None:
    number = labelled(running, "slow")
    running.post("/campaigns/slow/retractions", {"id": number}).raise_for_status()
    assert gate.reached.wait(60)
    found: list[mp.Decision] = []
    client = threading.Thread(
        target=lambda: found.append(running.client().campaign("slow").ask([0, 1, 1, 0], key="k"))
    )
    client.start()
    gate.open.set()
    client.join(60)
    assert [one.round for one in found] == [40]
    assert running.get("/campaigns/slow").json()["rounds"] == 41, "it was asked once, however often it was sent"


def test_a_server_that_was_killed_before_it_had_learned_leaves_nothing_undone(url: str, gate: Gate) -> None:
    campaign = mp.create_campaign(url, "slow", models=MODELS, seed=SEED)
    play(campaign, *stream(40))
    answered = next(record["id"] for record in campaign.history() if record["kind"] == "label")
    with campaign.grouped():
        campaign.retract(answered)  # on disk, and then nothing follows, as if the process were gone
    gate.shut()
    with serving(url) as server:
        answer = server.get("/campaigns/slow/standing")
        assert answer.status_code == 503, "nothing is known yet, and nobody is kept waiting for it"
        assert gate.reached.wait(60)
        (row,) = server.get("/campaigns").json()["campaigns"]
        assert (row["rounds"], row["pick"], row["pending"]) == (40, None, 1)
        assert server.get("/campaigns/slow/history").status_code == 200
        assert server.http.get("/metrics").status_code == 200
        gate.open.set()
        assert server.client().campaign("slow").best().pending == 1
        (row,) = server.get("/campaigns").json()["campaigns"]
        assert row["pick"] is not None
    check(mp.open_campaign(url, "slow"), url)


def test_what_another_process_changes_in_the_past_is_learned_beside_whoever_reads(
    running: Running, gate: Gate, url: str
) -> None:
    before = running.get("/campaigns/slow/standing").json()
    elsewhere = mp.open_campaign(url, "slow")
    with elsewhere.grouped():
        elsewhere.retract(labelled(running, "slow"))
    assert running.get("/campaigns/slow/standing").json() == before
    assert gate.reached.wait(60), "whoever looks has it learned"
    answer = running.post("/campaigns/slow/rounds", {"predictions": [0, 1, 1, 0]})
    assert answer.status_code == 503
    gate.open.set()
    wait_until(lambda: running.get("/campaigns/slow/standing").json()["labels_used"] == before["labels_used"] - 1)


@pytest.mark.slow
def test_many_campaigns_that_learn_anew_at_once_leave_threads_for_the_others(url: str, gate: Gate) -> None:
    names = [f"slow-{number}" for number in range(group_commit.LEARNERS + group_commit.WRITERS)]
    for name in ("other", *names):
        play(mp.create_campaign(url, name, models=MODELS, seed=SEED), *stream(20))
    with serving(url) as running:
        for name in ("other", *names):
            running.client().campaign(name).best()  # it is loaded
        gate.shut()
        for name in names:
            running.post(f"/campaigns/{name}/retractions", {"id": labelled(running, name)}).raise_for_status()
        assert running.post(f"/campaigns/{names[-1]}/leases", {}).status_code == 503
        assert running.post("/campaigns/other/rounds", {"predictions": [0, 1, 1, 0]}).status_code == 200
        assert len(running.get("/campaigns").json()["campaigns"]) == len(names) + 1
        gate.open.set()
        for name in names:
            running.client().campaign(name).ask([0, 1, 1, 0])
