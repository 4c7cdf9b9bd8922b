"""What `best()` costs beside an `ask`, by how much has happened before: python -m benchmarks.best.

Milliseconds, medians over calls in turns: an ask, then a `best()` that has to take in what the ask changed. The
campaign is in an SQLite file; an ask waits for the disk, `best()` does not, so the CPU time of both is shown too.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import modelpicker as mp
from benchmarks.campaigns import predictions

HISTORIES = (100, 10_000, 100_000)
OPTIONS: dict[str, dict[str, Any]] = {"label-efficient": {"probability": 0.5}}
LABELS = 300
TURNS = 200


class Cost(NamedTuple):
    """Milliseconds of a call."""

    wall: float
    cpu: float


def cost(call: Callable[[], object]) -> Cost:
    """What one call takes."""
    wall, cpu = time.perf_counter(), time.thread_time()
    call()
    return Cost(1e3 * (time.perf_counter() - wall), 1e3 * (time.thread_time() - cpu))


def median(costs: list[Cost]) -> Cost:
    """The middle of each."""
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def measure(url: str, algorithm: str, models: int, history: int) -> tuple[Cost, Cost]:
    """An ask and a `best()`, after that many rounds, of which some are labelled."""
    name = f"{algorithm}-{history}"
    campaign = mp.create_campaign(url, name, models=models, algorithm=algorithm, options=OPTIONS.get(algorithm))
    rows = predictions(history, models)
    for start in range(0, history, 10_000):
        campaign.ask_many(rows[start : start + 10_000])
    campaign.tell_many({query.id: int(query.classes[0]) for query in campaign.pending(LABELS)})
    campaign.best()
    asks, bests = [], []
    for row in _turns(models):
        asks.append(cost(lambda row=row: campaign.ask(row)))  # type: ignore[misc]
        bests.append(cost(campaign.best))
    campaign.close()
    return median(asks), median(bests)


def _turns(models: int) -> Iterator[list[int]]:
    yield from np.asarray(predictions(TURNS, models, seed=1)).tolist()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20)
    models = parser.parse_args().models
    print(f"{models} models{'':27}ask, ms      best, ms     best : ask     CPU: ask     best")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/best.db"
        for algorithm in ("model-picker", "race", "label-efficient"):
            for history in HISTORIES:
                ask, best = measure(url, algorithm, models, history)
                print(
                    f"{algorithm:<16}{history:>8,} rounds {ask.wall:>12.2f} {best.wall:>13.2f} "
                    f"{best.wall / ask.wall:>14.2f} {ask.cpu:>12.2f} {best.cpu:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
