"""Campaigns: rounds a second into a durable storage, beside what the disk can do.

    python -m benchmarks.campaigns [FOLDER] [--only storages]

The storage is an SQLite file in FOLDER, by default a temporary one; every commit is on disk before it counts. The
bare sync is an append of four kilobytes and an fsync, on the same disk, in turns with the asks. PostgreSQL comes
from the wheel that the tests use, with its usual settings; batches with keys and items take turns with SQLite.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.servers import postgresql

MODELS = 20
BATCH = 1_000
TURN = 200
PROCESSES = 16
HISTORIES = (100, 10_000, 100_000)


def predictions(rounds: int, models: int = MODELS, seed: int = 0) -> npt.NDArray[np.int64]:
    """Models of four classes that agree on most rounds."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 4, (rounds, 1))
    return np.where(draw.random((rounds, models)) < 0.9, truth, draw.integers(0, 4, (rounds, models)))


def batches(url: str) -> float:
    """Rounds a second of `ask_many`, a durable commit a batch; the median of five, after one that compiles."""
    campaign = mp.create_campaign(url, "batches", models=MODELS, budget=1_000, expected_rounds=10**6)
    rows = predictions(30 * BATCH)
    rates = []
    for turn in range(6):
        started = time.perf_counter()
        for start in range(0, len(rows), BATCH):
            campaign.ask_many(rows[start : start + BATCH])
        if turn:
            rates.append(len(rows) / (time.perf_counter() - started))
    return statistics.median(rates)


def keyed_batches(urls: list[str]) -> list[float]:
    """The same with a key and an item for each round, on several storages in turn."""
    made = [mp.create_campaign(url, "keyed", models=MODELS, budget=1_000, expected_rounds=10**6) for url in urls]
    rows = predictions(10 * BATCH)
    rates: list[list[float]] = [[] for _ in urls]
    for turn in range(6):
        for campaign, found in zip(made, rates, strict=True):
            started = time.perf_counter()
            for start in range(0, len(rows), BATCH):
                names = [f"turn {turn} item {start + place}" for place in range(BATCH)]
                items = [{"text": f"The text of {name}"} for name in names]
                campaign.ask_many(rows[start : start + BATCH], keys=names, items=items)
            found.append(len(rows) / (time.perf_counter() - started))
    return [statistics.median(found[1:]) for found in rates]


def looks(url: str) -> Iterator[tuple[int, float, float]]:
    """Rounds there are, and seconds of an `ask` and of a `best` after it: medians."""
    campaign = mp.create_campaign(url, "looks", models=MODELS, budget=1_000, expected_rounds=10**6)
    rows, done = predictions(HISTORIES[-1]), 0
    for history in HISTORIES:
        campaign.ask_many(rows[done:history])
        campaign.tell_many({query.id: 0 for query in campaign.pending(30)})
        done = history
        asks, bests = [], []
        for row in rows[:TURN].tolist():
            started = time.perf_counter()
            campaign.ask(row)
            asked = time.perf_counter()
            campaign.best()
            bests.append(time.perf_counter() - asked)
            asks.append(asked - started)
        yield history, statistics.median(asks), statistics.median(bests)


def storages(urls: dict[str, str]) -> None:
    """SQLite beside PostgreSQL."""
    sqlite, postgres = keyed_batches(list(urls.values()))
    print(
        f"ask_many with keys and items, batches of {BATCH:,}: {sqlite:,.0f} rounds/s on SQLite, {postgres:,.0f} on "
        f"PostgreSQL: ratio {postgres / sqlite:.2f} (wanted: 0.5)",
        flush=True,
    )
    for name, url in urls.items():
        for history, ask, best in looks(url):
            print(
                f"{name}, after {history:,} rounds: ask {ask * 1e3:.2f} ms, best {best * 1e3:.2f} ms: ratio "
                f"{best / ask:.2f} (wanted: at most 1)",
                flush=True,
            )


def singles(url: str, folder: Path) -> tuple[float, float, float]:
    """Single asks a second, bare syncs a second, and their ratio: medians over turns."""
    campaign = mp.create_campaign(url, "singles", models=MODELS, budget=1_000, expected_rounds=10**6)
    rows = predictions(12 * TURN).tolist()
    asks, syncs, ratios = [], [], []
    for turn in range(12):
        started = time.perf_counter()
        for row in rows[turn * TURN : (turn + 1) * TURN]:
            campaign.ask(row)
        ask = TURN / (time.perf_counter() - started)
        sync = bare_syncs(folder / f"bare-{turn}")
        asks.append(ask)
        syncs.append(sync)
        ratios.append(ask / sync)
    return statistics.median(asks), statistics.median(syncs), statistics.median(ratios)


def bare_syncs(path: Path) -> float:
    """Appends of four kilobytes a second, each synced."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    started = time.perf_counter()
    for _ in range(TURN):
        os.write(file, b"x" * 4096)
        os.fsync(file)
    rate = TURN / (time.perf_counter() - started)
    os.close(file)
    path.unlink()
    return rate


def member(url: str, who: int) -> int:
    """One of many processes: ask for ten seconds."""
    campaign = mp.open_campaign(url, "crowd")
    rows = predictions(1_000, seed=who).tolist()
    stop = time.monotonic() + 10
    asked = 0
    while time.monotonic() < stop:
        campaign.ask(rows[asked % len(rows)])
        asked += 1
    return asked


def crowd(url: str) -> list[int]:
    """How many asks each of sixteen processes got through in ten seconds; an error in any ends the benchmark."""
    mp.create_campaign(url, "crowd", models=MODELS, budget=1_000, expected_rounds=10**6).storage.close()
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        return pool.starmap(member, [(url, who) for who in range(PROCESSES)])


def opening(url: str) -> tuple[float, float]:
    """Seconds to open a campaign of a million rounds, and to change the label of one of its first queries."""
    campaign = mp.create_campaign(url, "long", models=MODELS, budget=1_000, expected_rounds=10**6)
    rows = predictions(10_000)
    for _ in range(100):
        campaign.ask_many(rows)
    campaign.tell_many({query.id: 0 for query in campaign.pending(100)})
    started = time.perf_counter()
    opened = mp.open_campaign(url, "long")
    rounds = opened.best().rounds
    seconds = time.perf_counter() - started
    if rounds != 10**6:
        raise SystemExit(f"there are {rounds:,} rounds, not a million")
    first = next(record["id"] for record in opened.history() if record["kind"] == "ask" and record["query"])
    started = time.perf_counter()
    opened.tell(first, 1, replace=True)
    return seconds, time.perf_counter() - started


def main() -> None:
    """Print what was measured, beside what is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", choices=["storages"], help="SQLite beside PostgreSQL, and nothing else")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place, postgresql() as (postgres, _):
        folder = Path(place)
        url = f"sqlite:///{folder}/campaigns.db"
        storages({"SQLite": url, "PostgreSQL": postgres})
        if options.only:
            return
        print(f"SQLite, {MODELS} models, every commit synced")
        print(f"ask_many, batches of {BATCH:,}: {batches(url):,.0f} rounds/s (wanted: 100,000)", flush=True)
        ask, sync, ratio = singles(url, folder)
        print(f"single asks: {ask:,.0f}/s beside {sync:,.0f} bare syncs/s: ratio {ratio:.2f} (wanted: 0.5)")
        each = crowd(url)
        print(
            f"{PROCESSES} processes on one file, 10 s: {sum(each):,} asks without an error, "
            f"{min(each):,} to {max(each):,} a process",
            flush=True,
        )
        seconds, change = opening(url)
        print(f"a campaign of 1,000,000 rounds opens in {seconds * 1e3:.0f} ms (wanted: below a second)")
        print(f"replacing one of its first labels takes {change:.1f} s")


if __name__ == "__main__":
    main()
