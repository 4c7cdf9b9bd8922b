"""A server whose kernels are not compiled yet, under load from its first second: python -m benchmarks.cold_server.

Each run is a real server on a copy of the package without machine code. Eight clients ask one round after another
for a minute, and a ninth labels what they query. Shown are the asks of each of the first seconds, and the slowest.

    python -m benchmarks.cold_server [--source SRC] [--seconds 60] [STATE ...]
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import modelpicker
from benchmarks.service import exchange, request, rows

MODELS, CLASSES = 20, 10
CLIENTS = 8
SHOWN = 30
STREAMS: dict[str, dict[str, Any]] = {
    "model-picker": {},
    "race": {},
    "label-efficient": {"probability": 0.5},
    "vote-entropy": {"classes": CLASSES},
    "structural-committee": {"beta": 0.3},
    "importance-weighted": {},
    "efficient-active": {"c0": 0.001},
}
STATES = {
    "no campaign, then one of Model Picker": (0, "model-picker"),
    "no campaign, then one of Race": (0, "race"),
    "one campaign of Race": (1, "race"),
    "fifty campaigns of all algorithms": (50, "model-picker"),
}


class Asked(NamedTuple):
    """One ask: when it was sent, and how long its answer took, in seconds."""

    at: float
    took: float


def copy_of(source: Path, site: Path) -> Path:
    """A copy of the package without machine code, but with Python's own."""
    shutil.copytree(source / "modelpicker", site / "modelpicker", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(site)], check=True)
    return site


def settings_of(name: str, algorithm: str) -> dict[str, Any]:
    """A campaign as the API makes it."""
    return {
        "name": name,
        "models": [f"model-{number}" for number in range(MODELS)],
        "classes": [f"class-{number}" for number in range(CLASSES)],
        "algorithm": algorithm,
        "options": STREAMS[algorithm],
    }


@contextmanager
def serving(site: Path, storage: str) -> Iterator[int]:
    """A server on that copy; its port."""
    command = [sys.executable, "-m", "modelpicker", "serve", "--port", "0", "--storage", storage]
    settings = os.environ | {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(site / "cache")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=settings, cwd=site)
    assert process.stderr is not None  # noqa: S101
    port = next((found[1] for line in process.stderr if (found := re.search(r"127\.0\.0\.1:(\d+)", line))), None)
    if port is None:
        raise SystemExit("the server did not start")
    try:
        yield int(port)
    finally:
        process.terminate()
        process.wait(60)


def make(site: Path, storage: str, campaigns: int, algorithm: str) -> None:
    """Campaigns that are there before the server starts: pools are every fifth."""
    code = """
import json, sys
import modelpicker as mp
storage, campaigns, algorithm, streams = json.loads(sys.argv[1])
names = list(streams) if campaigns > 1 else [algorithm]
for number in range(campaigns):
    name = names[number % len(names)]
    if campaigns > 1 and number % 5 == 4:
        mp.create_campaign(storage, f"c{number}", pool=mp.ModelCollection([["x", "y"]] * 20))
    else:
        models = [f"model-{n}" for n in range(20)]
        mp.create_campaign(storage, f"c{number}", models=models, algorithm=name, options=streams[name])
"""
    given = json.dumps([storage, campaigns, algorithm, STREAMS])
    environment = os.environ | {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(site / "cache")}
    subprocess.run([sys.executable, "-c", code, given], env=environment, cwd=site, check=True)


def seconds_until_ready(port: int, began: float) -> float:
    """When the server says that it is ready."""
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=60):
                return time.perf_counter() - began
        except OSError:
            time.sleep(0.05)


async def ask_on(port: int, name: str, seconds: float) -> list[Asked]:
    """Eight clients ask, a ninth labels."""
    asked: list[Asked] = []
    made, began = rows(2_000, 0), time.perf_counter()
    answer: asyncio.Queue[int] = asyncio.Queue()

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (sent := time.perf_counter() - began) < seconds:
            row = made[(len(asked) * CLIENTS + number) % len(made)]
            told = await exchange(reader, writer, request(f"/campaigns/{name}/rounds", {"predictions": row}))
            asked.append(Asked(sent, time.perf_counter() - began - sent))
            decision = json.loads(told)
            if decision["query"]:
                answer.put_nowait(decision["id"])
        writer.close()

    async def annotator() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            told = {"id": await answer.get(), "label": "class-1"}
            await exchange(reader, writer, request(f"/campaigns/{name}/labels", told))

    labelling = asyncio.ensure_future(annotator())
    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    labelling.cancel()
    return asked


def run(source: Path, campaigns: int, algorithm: str, seconds: float) -> tuple[float, list[Asked]]:
    """Seconds until it is ready, and the asks from the moment that it can be reached."""
    with tempfile.TemporaryDirectory() as folder:
        site = copy_of(source, Path(folder))
        storage = f"sqlite:///{folder}/cold.db"
        if campaigns:
            make(site, storage, campaigns, algorithm)
        began = time.perf_counter()
        with serving(site, storage) as port:
            name = "c0"
            if not campaigns:
                ready = seconds_until_ready(port, began)
                asyncio.run(_create(port, settings_of(name, algorithm)))
                return ready, asyncio.run(ask_on(port, name, seconds))
            ready = seconds_until_ready(port, began)
            return ready, asyncio.run(ask_on(port, name, seconds))


async def _create(port: int, document: dict[str, Any]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await exchange(reader, writer, request("/campaigns", document))
    writer.close()


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("states", nargs="*", default=list(STATES), metavar="STATE")
    parser.add_argument("--source", type=Path, default=Path(str(modelpicker.__file__)).parents[1])
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    for state in given.states:
        ready, asked = run(given.source, *STATES[state], given.seconds)
        slowest = max(asked, key=lambda one: one.took)
        counts = [sum(second <= one.at < second + 1 for one in asked) for second in range(SHOWN)]
        print(
            f"{state}: ready after {ready:.1f} s; slowest ask {slowest.took * 1e3:,.0f} ms, at {slowest.at:.1f} s"
        )
        print("  asks by the second:", *counts)
        last = [one for one in asked if one.at >= given.seconds - 10]
        print(f"  in the last ten seconds: {len(last) / 10:,.0f} a second", flush=True)


if __name__ == "__main__":
    main()
