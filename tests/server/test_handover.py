"""Several servers on one PostgreSQL: one decides the rounds of a campaign, and the others can do without it."""

import json
import random
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.campaigns.storage.statements import driver
from modelpicker.server.live import handover, peers
from tests.campaigns.servers import Server, postgres
from tests.server.servers import Process, Running, serving, wait_until
from tests.server.test_faults import CLASSES, MODELS, Worker, check_nothing_lost, rows


def metric(server: Running, name: str) -> float:
    """What a server counts."""
    found = [line for line in server.http.get("/metrics").text.splitlines() if line.startswith(f"{name} ")]
    return float(found[0].split()[1])


def acquainted(servers: list[Running]) -> None:
    """Wait until all servers know one another."""
    wait_until(lambda: all(metric(one, "modelpicker_peers") == len(servers) - 1 for one in servers))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this process look for others often, and do not wait for them for long."""
    monkeypatch.setattr(peers, "BEAT", 0.05)
    monkeypatch.setattr(handover, "PATIENCE", 1.0)


@contextmanager
def fleet(url: str, size: int) -> Iterator[list[Running]]:
    """Servers that know one another."""
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(url)) for _ in range(size)]
        acquainted(servers)
        yield servers


def test_one_server_decides_what_all_are_asked_as_if_it_were_alone(postgresql: Server, quick: None) -> None:
    url = postgresql.database()
    with fleet(url, 3) as servers:
        servers[0].client().create_campaign("load", models=MODELS, classes=CLASSES, seed=3)
        said = dict(zip([f"item-{number}" for number in range(60)], rows(3), strict=False))

        def ask(place: int) -> dict[str, mp.Decision]:
            found = servers[place].client().campaign("load")
            return {key: found.ask(said[key], key=key) for key in random.Random(place).sample(list(said), 60)}

        with ThreadPoolExecutor(3) as pool:
            first, *others = pool.map(ask, range(3))
        assert others == [first, first]
        decided = [metric(one, "modelpicker_rounds_total") for one in servers]
        handed = [metric(one, "modelpicker_handed_over_total") for one in servers]
        assert sorted(decided) == [0, 0, 60]
        assert sorted(handed) == [0, 60, 60]
        assert decided.index(60) == handed.index(0)
    alone = mp.create_campaign("memory://one-server", "load", models=MODELS, classes=CLASSES, seed=3)
    for key, made in sorted(first.items(), key=lambda entry: entry[1].id):
        assert alone.ask(said[key]) == made


def test_what_is_wrong_with_a_round_is_said_by_whatever_server_was_asked(postgresql: Server, quick: None) -> None:
    with fleet(postgresql.database(), 2) as servers:
        servers[0].client().create_campaign("load", models=MODELS, classes=CLASSES)
        for server in servers:
            answers = [
                server.post("/campaigns/load/rounds", {"predictions": row, "key": "wrong"})
                for row in (["no", "maybe", "yes"], ["no", "yes"])
            ]
            assert [one.status_code for one in answers] == [422, 422]
            assert "maybe" in answers[0].json()["detail"]
            assert server.post("/campaigns/none/rounds", {"predictions": ["no"], "key": "x"}).status_code == 404
        assert sum(metric(one, "modelpicker_handed_over_total") for one in servers) == 2
        servers[0].client().campaign("load").revise(paused=True)
        refused = [
            server.post("/campaigns/load/rounds", {"predictions": ["no"] * 3, "key": "p"}) for server in servers
        ]
        assert [one.status_code for one in refused] == [409, 409]
        assert refused[0].json() == refused[1].json()


def test_rounds_without_a_key_are_decided_by_the_server_that_was_asked(postgresql: Server, quick: None) -> None:
    with fleet(postgresql.database(), 2) as servers:
        servers[0].client().create_campaign("load", models=MODELS, classes=CLASSES)
        for server in servers:
            assert server.post("/campaigns/load/rounds", {"predictions": ["no", "yes", "no"]}).status_code == 200
        assert [metric(one, "modelpicker_rounds_total") for one in servers] == [1, 1]


def test_only_servers_on_the_same_storage_may_hand_over(postgresql: Server, quick: None) -> None:
    url = postgresql.database()
    with fleet(url, 2) as servers:
        made = servers[0].client().create_campaign("load", models=MODELS, classes=CLASSES)
        with open_storage(url).reading() as connection:
            known = driver(connection).execute("SELECT port, secret FROM modelpicker_servers").fetchall()
        secret = dict(known)[servers[0].port]
        created = mp.open_campaign(url, made.name).created

        good = ["load", created, ["no"] * 3, None, "k"]

        def say(secret: str, entry: object) -> bytes:
            """What a server answers; nothing if it hangs up."""
            body, greeting = json.dumps([entry]).encode(), handover.GREETING + secret.encode() + b"\n"
            with socket.create_connection(("127.0.0.1", servers[0].port), timeout=10) as connection:
                connection.sendall(greeting + struct.pack(">I", len(body)) + body)
                return connection.recv(1_000)

        assert say("wrong", [1, good]).startswith(b"HTTP/1.1 403 ")
        assert say("é", [1, good]).startswith(b"HTTP/1.1 403 ")
        for other in (["load", 1, *good[2:]], ["none", *good[1:]]):
            assert json.loads(say(secret, [1, other])[4:]) == [[1, None]]
        for place, value in ((4, None), (4, ""), (4, 1), (0, None), (0, [])):
            assert say(secret, [1, [*good[:place], value, *good[place + 1 :]]]) == b""
        for nonsense in (1, [1], [1, 2], [1, [*good, 1]], [1, good, 2]):
            assert say(secret, nonsense) == b""
        ((number, decided),) = json.loads(say(secret, [7, good])[4:])
        assert (number, decided[0]) == (7, 0)
        assert metric(servers[0], "modelpicker_rounds_total") == 1


def test_a_server_that_cannot_be_reached_is_done_without(postgresql: Server, quick: None) -> None:
    url = postgresql.database()
    with fleet(url, 1) as (server,):
        campaign = server.client().create_campaign("load", models=MODELS, classes=CLASSES)
        with open_storage(url).writing() as connection:
            for number in range(8):  # one of them is to decide the rounds
                driver(connection).execute(
                    "INSERT INTO modelpicker_servers VALUES (%s, '', '127.0.0.1', 1, 'x', 'infinity')",
                    (f"gone {number}",),
                )
        wait_until(lambda: metric(server, "modelpicker_peers") == 8)
        made = [campaign.ask(row, key=f"{number}").id for number, row in zip(range(20), rows(1), strict=False)]
        assert made == list(range(20))
        assert metric(server, "modelpicker_handed_over_total") == 0


class Members:
    """Processes on one storage that clients work with."""

    def __init__(self, url: str, size: int, clients: int) -> None:
        self.url = url
        self.processes = [Process("--storage", url) for _ in range(size)]
        self.stop = threading.Event()
        made = self.processes[0].running.client(patience=120, timeout=60).create_campaign
        made("load", models=MODELS, classes=CLASSES)
        acquainted([one.running for one in self.processes])
        self.workers = [
            Worker(self.of(number).running.client(patience=120, timeout=60).campaign("load"), number, self.stop)
            for number in range(clients)
        ]
        for worker in self.workers:
            worker.start()

    def of(self, client: int) -> Process:
        """The server that a client works with."""
        return self.processes[client % len(self.processes)]

    def leader(self) -> int:
        """Which server decides the rounds."""
        decided = [metric(one.running, "modelpicker_rounds_total") for one in self.processes]
        return decided.index(max(decided))

    def progress(self, workers: list[Worker], steps: int = 1) -> None:
        """Wait until some of those who work have each got on."""
        before = [len(worker.decided) for worker in workers]
        wait_until(lambda: all(len(w.decided) >= b + steps for w, b in zip(workers, before, strict=True)))

    def finish(self) -> None:
        """Nothing that was answered is lost, and nothing is there twice."""
        self.stop.set()
        for worker in self.workers:
            worker.join(60)
        for process in self.processes:
            with process:
                process.stop()
        check_nothing_lost(self.url, self.workers)


@pytest.mark.slow
def test_the_server_that_decides_may_be_killed(postgresql: Server) -> None:
    members = Members(postgresql.database(), 3, 6)
    members.progress(members.workers, 5)
    for _ in range(3):
        place = members.leader()
        process, port = members.processes[place], members.processes[place].running.port
        with process:
            process.kill()
        members.progress([worker for number, worker in enumerate(members.workers) if number % 3 != place], 5)
        members.processes[place] = Process("--storage", members.url, port=port)
        members.progress(members.workers, 5)
    members.finish()


@pytest.mark.slow
def test_the_server_that_decides_may_be_frozen(postgresql: Server) -> None:
    members = Members(postgresql.database(), 2, 4)
    members.progress(members.workers, 5)
    place = members.leader()
    frozen = members.processes[place].process
    for _ in range(3):
        frozen.send_signal(signal.SIGSTOP)
        members.progress([worker for number, worker in enumerate(members.workers) if number % 2 != place], 20)
        frozen.send_signal(signal.SIGCONT)
        members.progress(members.workers, 5)
    members.finish()


@pytest.mark.slow
def test_a_database_that_is_away_for_five_seconds_costs_nothing_but_time() -> None:
    with postgres() as database:
        members = Members(database.database(), 2, 4)
        for _ in range(2):
            members.progress(members.workers, 5)
            database.kill()
            time.sleep(5)
            database.start()
            members.progress(members.workers, 5)
        members.finish()
