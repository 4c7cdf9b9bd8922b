"""Servers that are killed, stopped, or several on one storage: nothing that was answered is lost."""

import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.verify import verify
from modelpicker.server.remote_campaign import RemoteCampaign
from tests.campaigns.servers import Server
from tests.server.servers import Process, serving, wait_until

MODELS = ["ant", "bee", "cat"]
CLASSES = ["no", "yes"]


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    """An SQLite file."""
    return f"sqlite:///{tmp_path}/campaigns.db"


def rows(seed: int) -> Iterator[list[str]]:
    """What models say, without end."""
    draw = random.Random(seed)
    while True:
        yield draw.choices(CLASSES, k=3)


class Worker(threading.Thread):
    """Asks and labels until it is told to stop, and remembers what it was told."""

    def __init__(self, campaign: RemoteCampaign, number: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.campaign, self.number, self.stop = campaign, number, stop
        self.decided: dict[str, mp.Decision] = {}
        self.told: dict[int, str] = {}
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            for place, row in enumerate(rows(self.number)):
                if self.stop.is_set():
                    return
                key = f"{self.number}-{place}"
                self.decided[key] = made = self.campaign.ask(row, key=key, item={"place": place})
                if made.query:
                    self.campaign.tell(made.id, row[0])
                    self.told[made.id] = row[0]
        except Exception as error:  # shown by the test
            self.failure = error


def check_nothing_lost(url: str, workers: list[Worker]) -> None:
    """Everything that was answered is there, once, and as it was answered; and the campaign is sound."""
    campaign = mp.open_campaign(url, "load")
    assert [worker.failure for worker in workers] == [None] * len(workers)
    asked = {record["key"]: record for record in campaign.history() if record["kind"] == "ask"}
    labels = {record["id"]: record["label"] for record in campaign.history() if record["kind"] == "label"}
    assert len(asked) == campaign.best().rounds
    for worker in workers:
        assert worker.decided
        for key, made in worker.decided.items():
            found = asked[key]
            assert (found["id"], found["query"], found["probability"]) == (made.id, made.query, made.probability)
            assert (found["prediction"], found["recommended"]) == (made.prediction, made.recommended)
        assert worker.told.items() <= labels.items()
    assert any(worker.told for worker in workers)
    assert verify(campaign, repair=False).wrong == []


def kill_under_load(url: str, kills: int) -> None:
    """Four clients work; the server dies again and again, and comes back at the same address."""
    process = Process("--storage", url)
    port, stop = process.running.port, threading.Event()
    client = process.running.client(patience=120, timeout=10)
    campaign = client.create_campaign("load", models=MODELS, classes=CLASSES)
    workers = [Worker(campaign, number, stop) for number in range(4)]
    for worker in workers:
        worker.start()
    draw = random.Random(7)
    for _ in range(kills):
        before = [len(worker.decided) for worker in workers]
        wait_until(lambda before=before: all(len(w.decided) > b for w, b in zip(workers, before, strict=True)))  # type: ignore[misc]
        time.sleep(draw.uniform(0.0, 0.3))  # to die anywhere
        with process:
            process.kill()
        process = Process("--storage", url, port=port)
    stop.set()
    for worker in workers:
        worker.join(60)
    with process:
        process.stop()
    check_nothing_lost(url, workers)


@pytest.mark.slow
def test_a_server_that_is_killed_under_load_loses_nothing_that_it_answered(file_url: str) -> None:
    kill_under_load(file_url, kills=2)


@pytest.mark.slow
def test_a_server_that_is_killed_twenty_times_loses_nothing_that_it_answered(file_url: str) -> None:
    kill_under_load(file_url, kills=20)


def test_a_server_that_is_told_to_stop_finishes_what_it_took_in(file_url: str) -> None:
    with Process("--storage", file_url) as process:
        campaign = process.running.client(patience=0.1).create_campaign("load", models=MODELS, classes=CLASSES)
        answered, broken = [], []

        def work(number: int) -> None:
            with closing(http.client.HTTPConnection("127.0.0.1", process.running.port, timeout=30)) as connection:
                ask_until_it_ends(connection, number)

        def ask_until_it_ends(connection: http.client.HTTPConnection, number: int) -> None:
            for place, row in enumerate(rows(number)):
                body = json.dumps({"predictions": row, "key": f"{number}-{place}"})
                headers = {"Content-Type": "application/json"}
                try:
                    connection.request("POST", f"/api/v1/campaigns/{campaign.name}/rounds", body, headers)
                    answer = connection.getresponse()
                except (ConnectionError, http.client.RemoteDisconnected):
                    return  # not taken in
                try:
                    answered.append((f"{number}-{place}", json.loads(answer.read())["id"]))
                except Exception as error:  # half an answer
                    broken.append(error)
                    return

        with ThreadPoolExecutor(8) as pool:
            for number in range(8):
                pool.submit(work, number)
            wait_until(lambda: len(answered) > 50)
            assert process.stop() == 0
    assert broken == []
    stored = {record["key"]: record["id"] for record in mp.open_campaign(file_url, "load").history()}
    assert dict(answered).items() <= stored.items()
    assert any("stopping" in line for line in process.lines)


def test_followers_are_let_go_when_the_server_stops(file_url: str) -> None:
    with Process("--storage", file_url) as process:
        process.running.client().create_campaign("load", models=MODELS)
        with process.running.http.stream("GET", "/api/v1/campaigns/load/live") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 2000"
            assert process.stop() == 0
            assert list(lines)[-1] == ""  # the end, and no error


def test_several_servers_on_one_postgresql_give_each_round_one_decision(postgresql: Server) -> None:
    url = postgresql.database()
    with serving(url) as one, serving(url) as other, serving(url) as third:
        campaign = one.client().create_campaign("load", models=MODELS, classes=CLASSES)
        keys = [f"item-{number}" for number in range(60)]
        said = dict(zip(keys, rows(3), strict=False))

        def ask(server: int) -> dict[str, mp.Decision]:
            found = (one, other, third)[server].client().campaign("load")
            mixed = random.Random(server).sample(keys, len(keys))
            return {key: found.ask(said[key], key=key) for key in mixed}

        with ThreadPoolExecutor(3) as pool:
            first, *others = pool.map(ask, range(3))
        assert others == [first, first]
        assert sorted(made.id for made in first.values()) == list(range(len(keys)))
        assert len(list(campaign.history())) == len(keys)
        labels = {made.id: "yes" for made in first.values() if made.query}
        other.client().campaign("load").tell_many(labels)
        assert {server.client().campaign("load").best().labels_used for server in (one, other, third)} == {
            len(labels)
        }
    assert verify(mp.open_campaign(url, "load"), repair=False).wrong == []


def test_a_client_that_stops_half_way_holds_nobody_up(file_url: str) -> None:
    with serving(file_url) as server:
        campaign = server.client().create_campaign("load", models=MODELS, classes=CLASSES)
        stuck = []
        for beginning in (
            b"POST /api/v1/camp",
            b"POST /api/v1/campaigns/load/rounds HTTP/1.1\r\nHost: localhost\r\n",
        ):
            for _ in range(20):
                stuck.append(socket.create_connection(("127.0.0.1", server.port)))
                stuck[-1].sendall(beginning)
        body = b"POST /api/v1/campaigns/load/rounds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        for _ in range(20):
            stuck.append(socket.create_connection(("127.0.0.1", server.port)))
            stuck[-1].sendall(body)
        for _, row in zip(range(20), rows(1), strict=False):
            campaign.ask(row)
        for connection in stuck:
            connection.close()
        assert campaign.best().rounds == 20


def test_what_a_client_asked_before_it_vanished_is_there_once_at_most(file_url: str) -> None:
    with serving(file_url) as server:
        campaign = server.client().create_campaign("load", models=MODELS, classes=CLASSES)
        body = json.dumps({"predictions": ["no", "yes", "yes"], "key": "gone"}).encode()
        head = f"POST /api/v1/campaigns/load/rounds HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        assert campaign.ask(["no", "yes", "yes"], key="gone").id == 0
        assert campaign.ask(["no", "yes", "yes"], key="next").id == 1


def test_a_storage_that_goes_away_is_said_to_and_found_again_when_it_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.db"
    with serving(f"sqlite:///{file}") as server:
        campaign = server.client(patience=0.1).create_campaign("load", models=MODELS, classes=CLASSES)
        campaign.ask(["no", "yes", "yes"], key="first")
        file.rename(tmp_path / "away.db")
        with pytest.raises(mp.StorageError, match="removed or replaced"):
            campaign.ask(["no", "yes", "yes"], key="second")
        answer = server.http.get("/ready")
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
        assert server.http.get("/health").status_code == 200
        (tmp_path / "away.db").rename(file)
        assert server.http.get("/ready").status_code == 200
        assert campaign.ask(["no", "yes", "yes"], key="second").id == 1
