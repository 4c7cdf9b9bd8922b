"""Campaigns: rounds a second into a durable storage, beside what the disk can do.

    python -m benchmarks.campaigns [FOLDER]

The storage is an SQLite file in FOLDER, by default a temporary one; every commit is on disk before it counts. The
bare sync is an append of four kilobytes and an fsync, on the same disk, in turns with the asks.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import modelpicker as mp

MODELS = 20
BATCH = 1_000
TURN = 200
PROCESSES = 16


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
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as place:
        folder = Path(place)
        url = f"sqlite:///{folder}/campaigns.db"
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
