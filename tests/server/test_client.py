"""The client: the words of a campaign, and retries that do nothing twice."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.export import import_campaign
from modelpicker.server import transport
from tests.server.servers import Running

MODELS = ["ant", "bee", "cat"]


@pytest.fixture(autouse=True)
def no_time_to_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """What breaks here is repaired at once."""
    monkeypatch.setattr(transport, "LONGEST_PAUSE", 0.01)


class Flaky(threading.Thread):
    """A connection to a server that breaks: before a request arrives, after, or not at all."""

    def __init__(self, port: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.port, self.draw = port, random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.fates: list[str] = []
        self.script: list[str] = []

    def run(self) -> None:
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            with caller:
                self.fates.append(self.script.pop(0) if self.script else self.draw.choice(["lost", "deaf", "fine"]))
                request = read_message(caller)
                if self.fates[-1] == "lost" or not request:
                    continue
                with socket.create_connection(("127.0.0.1", self.port)) as server:
                    server.sendall(request)
                    answer = read_message(server)
                if self.fates[-1] == "fine":
                    caller.sendall(answer)


def read_message(connection: socket.socket) -> bytes:
    """A request or an answer, whole."""
    found = b""
    while b"\r\n\r\n" not in found:
        piece = connection.recv(65536)
        if not piece:
            return b""
        found += piece
    head, _, body = found.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def flaky(server: Running, seed: int = 0, script: list[str] | None = None) -> Iterator[tuple[Flaky, mp.Client]]:
    """A client behind a connection that breaks."""
    between = Flaky(server.port, seed)
    between.script = script or []
    between.start()
    try:
        with mp.Client(between.url, patience=60) as client:
            yield between, client
    finally:
        between.listener.close()


def test_whatever_breaks_on_the_way_everything_happens_once(server: Running, name: str) -> None:
    with flaky(server) as (between, client):
        campaign = client.create_campaign(name, models=MODELS, classes=["no", "yes"], seed=4)
        alone = mp.create_campaign(f"memory://{name}", name, models=MODELS, classes=["no", "yes"], seed=4)
        draw = random.Random(1)
        rows = [draw.choices(["no", "yes"], k=3) for _ in range(25)]
        for row in rows[:15]:
            made = campaign.ask(row)
            assert made == alone.ask(row)
            if made.query:
                campaign.tell(made.id, "yes")
                alone.tell(made.id, "yes")
        assert campaign.ask_many(rows[15:]) == list(alone.ask_many(rows[15:]))
        assert campaign.best() == alone.best()
    assert {"lost", "deaf", "fine"} == set(between.fates)
    found = list(server.client().campaign(name).history())
    assert [record["kind"] for record in found] == [record["kind"] for record in alone.history()]


@pytest.mark.parametrize("fate", ["lost", "deaf"])
def test_what_is_no_longer_possible_the_second_time_was_done_the_first(
    server: Running, name: str, fate: str
) -> None:
    with flaky(server, script=[fate, *["fine"] * 3]) as (between, client):
        campaign = client.create_campaign(name, models=MODELS, budget=5)
        between.script = [fate, *["fine"] * 3]
        campaign.join("dog")
        between.script = [fate, *["fine"] * 3]
        campaign.leave("ant")
        between.script = ["fine"] * 100
        made = next(made for made in (campaign.ask([0, 1, 0]) for _ in range(50)) if made.query)
        campaign.tell(made.id, 1)
        between.script = [fate, *["fine"] * 10]
        campaign.retract(made.id)
        assert campaign.describe()["models"] == ["bee", "cat", "dog"]
        assert [query.id for query in campaign.pending(5)] == [made.id]


def test_a_campaign_of_somebody_else_is_not_taken_for_ones_own(server: Running, name: str) -> None:
    server.client().create_campaign(name, models=MODELS, budget=7)
    with pytest.raises(mp.ConflictError, match="already"):
        server.client().create_campaign(name, models=MODELS, budget=7)
    with (
        flaky(server, script=["lost", *["fine"] * 3]) as (_, client),
        pytest.raises(mp.ConflictError, match="already"),
    ):
        client.create_campaign(name, models=MODELS, budget=8)


def test_errors_are_those_of_the_library(server: Running, name: str) -> None:
    client = server.client()
    with pytest.raises(mp.NotFoundError, match="there is no campaign"):
        client.campaign(name)
    campaign = client.create_campaign(name, models=MODELS, classes=["no", "yes"])
    with pytest.raises(mp.InputError, match="'maybe' is not one of the classes"):
        campaign.ask(["no", "maybe", "no"])
    with pytest.raises(mp.InputError, match="no prediction of cat"):
        campaign.ask({"ant": "no", "bee": "no"})
    with pytest.raises(mp.NotFoundError, match="there is no round 7"):
        campaign.tell(7, "no")
    with pytest.raises(mp.InputError, match="pass where the server is"):
        mp.Client("localhost:8000")


def test_a_server_that_is_not_there_is_said_to_after_the_patience_is_spent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(mp.StorageError, match="does not answer"):
        mp.Client(f"http://127.0.0.1:{port}", patience=0.2).campaigns()


def test_a_walk_through_everything(server: Running, name: str, tmp_path: Path) -> None:
    with server.client() as client:
        campaign = client.create_campaign(name, models=MODELS, classes=["no", "yes"], budget=30, expected_rounds=40)
        assert name in {one["name"] for one in client.campaigns()}
        made = campaign.ask_many([{"ant": "no", "bee": "yes", "cat": None}] * 40)
        queries = [one.id for one in made if one.query]
        assert [query.id for query in campaign.pending(3)] == queries[:3]
        mine = campaign.pending(2, lease=60)
        assert [query.id for query in mine] == queries[:2]
        assert [query.id for query in campaign.pending(1, lease=60, annotator="other")] == queries[2:3]
        campaign.release(queries[0])
        assert [query.id for query in campaign.pending(1, lease=60, annotator="other")] == queries[:1]
        campaign.tell(queries[0], "yes", annotator="me")
        campaign.tell_many({queries[1]: "no", queries[2]: None})
        campaign.skip(queries[3])
        with pytest.raises(mp.ConflictError):
            campaign.tell(queries[0], "no")
        campaign.tell(queries[3], None)  # skipped already
        assert [query.id for query in campaign.pending()] == queries[4:]
        with pytest.raises(mp.InputError):
            campaign.ask(["no", "no", "yes"], key="")
        campaign.tell(queries[0], "no", replace=True)
        pick = campaign.best()
        assert (pick.rounds, pick.labels_used, pick.skipped) == (40, 2, 2)
        assert pick.model == "ant"
        for file in (tmp_path / "all.jsonl", tmp_path / "all.parquet"):
            campaign.export(file)
            again = import_campaign(f"memory://{name}-{file.suffix}", file)
            assert list(again.history()) == list(campaign.history())
        table = tmp_path / "more.csv"
        table.write_text("key,text,ant,bee,cat\na,hello,no,yes,no\nb,there,yes,yes,yes\n")
        assert campaign.upload(table, at_once=True)["rounds"] == 2
        assert campaign.upload(table) == {"rounds": 0, "known": 2, "queries": 0, "waiting": 0}
        campaign.leave("cat")
        table.write_text("key,text,ant,bee,cat\nc,again,no,yes,secret\n")
        campaign.upload(table, at_once=True)
        record = list(campaign.history())[-1]
        assert (record["key"], record["item"]) == ("c", {"key": "c", "text": "again"}), "what cat said is not shown"


def test_numbers_of_numpy_are_numbers(server: Running, name: str) -> None:
    campaign = server.client().create_campaign(name, models=3, classes=[0, 1])
    said = np.array([0, 1, 1])
    assert campaign.ask(said) == server.client().campaign(name).ask(list(said), key=next(campaign.history())["key"])
    with pytest.raises(mp.InputError, match="cannot be sent as JSON"):
        campaign.ask([0, 1, object()])  # type: ignore[list-item]
