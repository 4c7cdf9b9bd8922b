"""What three shortcuts bring: statements that go straight to the driver, fast routes, our own HTTP protocol.

    python -m benchmarks.shortcuts [--requests 6000] [--repeats 3]

Each is switched off in turn, and the same load is run with and without it, turn by turn in one run, so that a busy
machine slows both down. The protocol class is not for speed: it is shown what becomes of clients that send half a
request and then nothing, and of clients that ask for much and read nothing.
"""

import argparse
import asyncio
import multiprocessing
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from typing import Any

import psutil

from benchmarks.service import CLASSES, CONNECTIONS, MODELS, load, request, rows, singles

IDLE, DEAF = 200, 20
PATIENCE = 3.0
"""Seconds in which a request must come in this benchmark; 30 in the product."""


def without_prepared_statements() -> None:
    """Run every statement by SQLAlchemy's own road."""
    from modelpicker.campaigns.storage.statements import Prepared

    def run(self: Any, connection: Any, values: Any) -> Any:
        return connection.execute(self.statement, values)

    def run_many(self: Any, connection: Any, values: Any) -> None:
        connection.execute(self.statement, list(values))

    Prepared.run, Prepared.run_many = run, run_many  # type: ignore[method-assign]


def without_fast_routes() -> None:
    """Let FastAPI find the parameters of every route."""
    from fastapi.routing import APIRoute

    from modelpicker.server.api.fast_route import FastRoute

    FastRoute.get_route_handler = APIRoute.get_route_handler  # type: ignore[method-assign]


def without_our_protocol() -> None:
    """Use uvicorn's own protocol class."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    from modelpicker.server.network import run

    run.Connection = HttpToolsProtocol  # type: ignore[assignment,attr-defined]


def as_it_is() -> None:
    """Change nothing."""


def _serve(change: Callable[[], None], storage: str, pipe: Pipe) -> None:
    change()  # before the routes are made, which is when their module is imported
    from modelpicker.server.configuration import Configuration
    from modelpicker.server.network import protocol, run

    protocol.PATIENCE = PATIENCE
    run.serve(Configuration(storage=storage, port=0), pipe.send)


@contextmanager
def serving(change: Callable[[], None], folder: str) -> Iterator[tuple[int, psutil.Process]]:
    """A server of its own, with something changed."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(change, f"sqlite:///{folder}/{change.__name__}.db", theirs))
    process.start()
    port = int(ours.recv().rpartition(":")[2])
    try:
        yield port, psutil.Process(process.pid or 0)
    finally:
        process.terminate()
        process.join(60)


def begin(port: int) -> None:
    """A campaign for the load, and what it compiles."""
    document = {
        "name": "load",
        "models": [f"model-{number}" for number in range(MODELS)],
        "classes": [f"class-{number}" for number in range(CLASSES)],
    }
    asyncio.run(load(port, iter([request("/campaigns", document)]), 1))
    asyncio.run(load(port, singles(1_500, 10**9), CONNECTIONS))


def settle(process: psutil.Process) -> None:
    """Wait until the server has nothing to do: it compiles kernels beside its work once many rounds have come."""
    quiet = 0
    while quiet < 3:
        quiet = quiet + 1 if process.cpu_percent(0.3) < 5 else 0


def requests_over_http(folder: str, changes: list[Callable[[], None]], count: int, repeats: int) -> None:
    """Single asks over many connections, with and without each shortcut: rate, and processor time of the server."""
    rates: dict[str, list[float]] = {change.__name__: [] for change in changes}
    costs: dict[str, list[float]] = {change.__name__: [] for change in changes}
    for repeat in range(repeats):
        for change in changes[repeat:] + changes[:repeat]:
            with tempfile.TemporaryDirectory(dir=folder) as place, serving(change, place) as (port, process):
                begin(port)
                settle(process)
                before = sum(process.cpu_times()[:2])
                seconds, _latencies = asyncio.run(load(port, singles(count, 10**6 * (repeat + 1)), CONNECTIONS))
                rates[change.__name__].append(count / seconds)
                costs[change.__name__].append((sum(process.cpu_times()[:2]) - before) / count * 1e6)
    usual = statistics.median(costs["as_it_is"])
    print(f"single asks over HTTP, {CONNECTIONS} connections, median of {repeats}")
    for name in rates:
        rate, cost = statistics.median(rates[name]), statistics.median(costs[name])
        shown = f"{name.replace('_', ' '):<32} {rate:>8,.0f} a second"
        print(f"  {shown}   {cost:>5,.0f} µs of processor each, {cost / usual:.2f} of as it is", flush=True)


def asks_a_second(folder: str, repeats: int, count: int = 1_500) -> None:
    """`campaign.ask` in this process, one by one, each on disk, with and without prepared statements."""
    import modelpicker as mp
    from modelpicker.campaigns.storage.statements import Prepared

    prepared = Prepared.run, Prepared.run_many
    made = rows(count, 1)
    rates: dict[str, list[float]] = {"prepared": [], "SQLAlchemy's road": []}
    for repeat in range(repeats):
        for name, found in rates.items():
            if name == "prepared":
                Prepared.run, Prepared.run_many = prepared  # type: ignore[method-assign]
            else:
                without_prepared_statements()
            campaign = mp.create_campaign(f"sqlite:///{folder}/asks-{repeat}-{name[0]}.db", "c", models=MODELS)
            began = time.perf_counter()
            for row in made:
                campaign.ask(row)
            found.append(count / (time.perf_counter() - began))
            campaign.close()
    Prepared.run, Prepared.run_many = prepared  # type: ignore[method-assign]
    usual = statistics.median(rates["prepared"])
    print("campaign.ask, one by one, each on disk")
    for name, found in rates.items():
        rate = statistics.median(found)
        print(f"  {name:<32} {rate:>8,.0f} a second   {rate / usual:5.2f} of prepared", flush=True)


def attack(folder: str, change: Callable[[], None]) -> tuple[int, int]:
    """How many of the idle and of the deaf clients the server still keeps after a while."""
    with tempfile.TemporaryDirectory(dir=folder) as place, serving(change, place) as (port, process):
        begin(port)
        before = len(process.net_connections())
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(IDLE)]
        for client in idle:
            client.sendall(b"GET /health HTTP/1.1\r\nHost: local")
        time.sleep(PATIENCE * 3)
        kept_idle = sum(one.status == "ESTABLISHED" for one in process.net_connections()) - before
        for client in idle:
            client.close()
        deaf = []
        for _ in range(DEAF):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(b"GET /static/vendor/preact.mjs HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
            deaf.append(client)
        time.sleep(PATIENCE * 5)
        kept_deaf = sum(one.status == "ESTABLISHED" for one in process.net_connections()) - before
        for client in deaf:
            client.close()
        return max(kept_idle, 0), max(kept_deaf, 0)


def main() -> None:
    """Print what each shortcut brings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=6_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        changes = [as_it_is, without_fast_routes, without_prepared_statements, without_our_protocol]
        requests_over_http(folder, changes, options.requests, options.repeats)
        asks_a_second(folder, options.repeats)
        print(f"clients that the server still keeps after a while, where {PATIENCE:.0f} s are allowed")
        for change in (as_it_is, without_our_protocol):
            idle, deaf = attack(folder, change)
            name = change.__name__.replace("_", " ")
            print(f"  {name:<32} {idle:>4} of {IDLE} with half a request   {deaf:>4} of {DEAF} that read nothing")


if __name__ == "__main__":
    main()
