"""The service under load, all on loopback: durable single asks, batches, latency, memory.

    python -m benchmarks.service [--requests 200000]
    python -m benchmarks.servers                        several servers on one PostgreSQL

One process serves, another sends. Each answer comes after its commit is on disk. As a baseline, the same machine's
rate of bare appends that are synced one by one.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

MODELS = 20
CLASSES = 10
CONNECTIONS = 64


class Running(NamedTuple):
    """A server that has been started."""

    port: int
    process: subprocess.Popen[str]


@contextmanager
def serving(storage: str) -> Iterator[Running]:
    """A server of its own."""
    command = [sys.executable, "-m", "modelpicker", "serve", "--port", "0", "--storage", storage]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None  # noqa: S101
    for line in process.stderr:
        found = re.search(r"http://127\.0\.0\.1:(\d+)  ", line)
        if found:
            break
    else:
        raise SystemExit("the server did not start")
    try:
        yield Running(int(found[1]), process)
    finally:
        process.terminate()
        process.wait(60)


def request(path: str, document: object) -> bytes:
    """A request as it goes over the wire."""
    body = json.dumps(document).encode()
    head = (
        f"POST /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> bytes:
    """Send a request, and read its answer."""
    writer.write(message)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    body = await reader.readexactly(length)
    if not head.startswith(b"HTTP/1.1 20"):
        raise SystemExit(f"{head.splitlines()[0]!r} {body[:500]!r}")
    return body


async def load(port: int, messages: Iterator[bytes], connections: int) -> tuple[float, list[float]]:
    """Send all messages over that many connections; the seconds it took, and those of each."""
    latencies: list[float] = []
    messages = iter(list(messages))  # made before the clock starts

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for message in messages:
            began = time.perf_counter()
            await exchange(reader, writer, message)
            latencies.append(time.perf_counter() - began)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(connections)))
    return time.perf_counter() - began, latencies


def rows(count: int, seed: int) -> list[list[str]]:
    """What models say: mostly the same."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLASSES, size=count)[:, None]
    said = np.where(rng.random((count, MODELS)) < 0.8, truth, rng.integers(CLASSES, size=(count, MODELS)))
    return [[f"class-{code}" for code in row] for row in said.tolist()]


def singles(count: int, start: int) -> Iterator[bytes]:
    """Single asks, each with a key and an item; made before they are sent."""
    made = rows(min(count, 5_000), start)
    for number in range(count):
        document = {
            "predictions": made[number % len(made)],
            "item": {"text": f"item number {number}"},
            "key": f"single-{start + number}",
        }
        yield request("/campaigns/load/rounds", document)


def batches(count: int, size: int, keyed: bool) -> Iterator[bytes]:
    """Batches, with keys that come in no order or without any."""
    made = rows(size, 0)
    for number in range(count):
        keys = [f"batch-{number}-{place}" for place in range(size)] if keyed else None
        yield request("/campaigns/load/rounds/batch", {"predictions": made, "keys": keys})


def fsync_rate(folder: Path, seconds: float = 2.0) -> float:
    """Appends of a record that are synced one by one, a second."""
    done, stop = 0, time.perf_counter() + seconds
    with (folder / "appends").open("ab") as stream:
        while time.perf_counter() < stop:
            stream.write(b"x" * 400)
            stream.flush()
            os.fsync(stream.fileno())
            done += 1
    return done / seconds


def report(what: str, count: int, rounds: int, seconds: float, latencies: list[float]) -> None:
    """One line of the table."""
    p50, p99 = np.quantile(latencies, [0.5, 0.99]) * 1000
    rates = f"{rounds / seconds:>10,.0f} rounds/s {count / seconds:>8,.0f} requests/s"
    print(f"{what:<42} {rates}   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200_000, help="single asks for the memory check")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory() as folder, serving(f"sqlite:///{folder}/load.db") as server:
        memory = psutil.Process(server.process.pid).memory_info
        document = {
            "name": "load",
            "models": [f"model-{number}" for number in range(MODELS)],
            "classes": [f"class-{number}" for number in range(CLASSES)],
        }
        asyncio.run(load(server.port, iter([request("/campaigns", document)]), 1))
        print(f"{'bare appends, each synced':<42} {fsync_rate(Path(folder)):>10,.0f} a second")
        asyncio.run(load(server.port, singles(3_000, 10**9), CONNECTIONS))
        count = 30_000 // scale
        seconds, latencies = asyncio.run(load(server.port, singles(count, 0), CONNECTIONS))
        report(f"single asks, {CONNECTIONS} connections", count, count, seconds, latencies)
        seconds, latencies = asyncio.run(load(server.port, singles(count // 10, 10**8), 1))
        report("single asks, one connection", count // 10, count // 10, seconds, latencies)
        size, count = 1_000, 300 // scale
        for keyed in (False, True):
            seconds, latencies = asyncio.run(load(server.port, batches(count, size, keyed), 2))
            what = f"batches of {size:,}{', with keys' if keyed else ''}, 2 connections"
            report(what, count, count * size, seconds, latencies)
        total = options.requests // scale
        print(f"memory over {total:,} single asks, in MB:", end="", flush=True)
        for part in range(5):
            asyncio.run(load(server.port, singles(total // 5, 10**7 * (part + 2)), CONNECTIONS))
            print(f" {memory().rss / 1e6:.0f}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
