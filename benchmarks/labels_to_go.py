"""How good `labels_to_go` is: the estimate on the way to the proof, beside the labels that were needed in the end.

    python -m benchmarks.labels_to_go [--files 24] [--case digits] [--judge 0.9] [--speed]

The tables of docs/how-it-works/pools.md. Every file is played to its proof, one label at a time. At a quarter, half
and three quarters of the way the estimates are compared with the truth. A ratio of 2 is an estimate that is twice
too large. With --judge, a judge who is right on that share of the items is about all of them. With --speed: how
long an estimate takes, on large pools.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

import modelpicker as mp
from benchmarks.collections import Case
from benchmarks.judges import right_so_often
from benchmarks.pools import Given, file_of, large_pool, pool_cases
from modelpicker.algorithms.pools.forecast import play_from, start_of
from modelpicker.algorithms.pools.picker import PoolPicker

POINTS = (0.25, 0.5, 0.75)
# Estimates are made after every that many labels; the one next to a point counts.
EVERY = 5


class Guess(NamedTuple):
    """An estimate; without a range, both ends are the same."""

    low: float
    expected: float
    high: float


Estimator: TypeAlias = Callable[[PoolPicker], Guess | None]


def by_plays(pool: PoolPicker) -> Guess | None:
    """What `labels_to_go` says: the rest played forward, with gaps drawn from what is thought of them."""
    found = pool.labels_to_go()
    return None if found is None else Guess(found.low, found.expected, found.high)


def by_plays_without_doubt(pool: PoolPicker) -> Guess | None:
    """The same, but the gaps are taken to be what they are thought to be."""
    if pool.labels_used < 10:
        return None
    trial = pool._next_on_trial()
    start = start_of(pool, trial)
    forecast = play_from(pool, trial, start._replace(doubt=np.zeros_like(start.doubt)))
    found = None if forecast is None else forecast.labels_to_go(0.0)
    return None if found is None else Guess(found.low, found.expected, found.high)


def by_growth(pool: PoolPicker) -> Guess | None:
    """Money grows on as it did so far: the slowest rival decides."""
    trial = pool._next_on_trial()
    start, proof = start_of(pool, trial), pool._proof
    if trial not in proof.trials or not len(proof.drawn):
        return None
    playing = ~proof.beaten(proof.trials[trial], pool._strict(pool.confidence))
    per_label = np.log(start.wealth[playing]) / len(proof.drawn)
    if not playing.any() or per_label.min() <= 0.0:
        return None
    wanted = math.log(1.0 / (1.0 - pool._strict(pool.confidence)))
    needed = float(((wanted - np.log(start.wealth[playing])) / per_label).max())
    return Guess(needed, needed, needed)


def as_many_again(pool: PoolPicker) -> Guess:
    """As many as so far."""
    return Guess(pool.labels_used, pool.labels_used, pool.labels_used)


ESTIMATORS: dict[str, Estimator] = {
    "plays": by_plays,
    "plays, gaps as estimated": by_plays_without_doubt,
    "growth of the money": by_growth,
    "as many again": as_many_again,
}


class Record(NamedTuple):
    """An estimate at a point of the way, and the labels that were needed from there."""

    case: str
    estimator: str
    point: float
    guess: Guess | None
    truth: int


def play_file(case: Case, number: int, accuracy: float | None = None) -> list[Record]:
    """Play one file to its proof, perhaps with a judge who is right so often."""
    rows, truth = file_of(case, number)
    classes = 1 + int(max(rows.max(), truth.max()))
    said = None if accuracy is None else right_so_often(accuracy)(rows, truth, classes, number)
    pool = mp.PoolPicker(rows, seed=number, judge=None if said is None else said.tolist())
    seen: dict[int, dict[str, Guess | None]] = {}
    while not pool.done:
        item = pool.ask(1)[0]
        pool.tell(item, int(truth[item]))
        if pool.labels_used % EVERY == 0 and not pool.done:
            seen[pool.labels_used] = {name: estimate(pool) for name, estimate in ESTIMATORS.items()}
    total = pool.labels_used
    found = []
    for point in POINTS:
        labels = min(seen, key=lambda one: abs(one - point * total))
        found += [Record(case.name, name, point, guess, total - labels) for name, guess in seen[labels].items()]
    return found


def table(records: list[Record], cases: list[str]) -> Iterator[str]:
    """One row per estimator and point: of the given cases together."""
    yield "| | way | says something | estimate over truth: median | 10 % below | 90 % below | in the range |"
    yield "|---|---|---|---|---|---|---|"
    for name in ESTIMATORS:
        for point in POINTS:
            here = [one for one in records if one.case in cases and (one.estimator, one.point) == (name, point)]
            made = [(one.guess, one.truth) for one in here if one.guess is not None]
            if not made:
                yield f"| {name} | {point:.0%} | 0 of {len(here)} | - | - | - | - |"
                continue
            ratios = np.array([guess.expected / truth for guess, truth in made])
            low, middle, high = np.quantile(ratios, (0.1, 0.5, 0.9))
            ranged = any(guess.low < guess.high for guess, _ in made)
            inside = np.mean([guess.low <= truth <= guess.high for guess, truth in made])
            yield (
                f"| {name} | {point:.0%} | {len(made)} of {len(here)} | {middle:.2f} | {low:.2f} | {high:.2f} | "
                f"{f'{inside:.0%}' if ranged else '-'} |"
            )


def speed() -> Iterator[str]:
    """Milliseconds of one core for an estimate, in pools with 100 models and 10 classes: of 20 estimates."""
    yield "| items | median | slowest | its range |\n|---|---|---|---|"
    for items in (10_000, 100_000, 1_000_000):
        rows, truth = large_pool(items, 100, 10, 0.3)
        pool, times, last = mp.PoolPicker(rows), [], None
        for _ in range(120):
            item = pool.ask(1)[0]
            pool.tell(item, int(truth[item]))
            if pool.labels_used > 20 and pool.labels_used % 5 == 0:
                _ = pool.recommended  # the comparison is made for the next question anyway
                started = time.thread_time()
                last = pool.labels_to_go()
                times.append(1_000 * (time.thread_time() - started))
        yield f"| {items:,} | {np.median(times):.1f} | {max(times):.1f} | {'-' if last is None else last.words} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--case")
    parser.add_argument("--judge", type=float)
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    if given.speed:
        print(*speed(), sep="\n")
        return
    records: list[Record] = []
    for case in pool_cases(Given(given.files, 0, given.case)):
        mine = [one for number in range(given.files) for one in play_file(case, number, given.judge)]
        records += mine
        print(f"\n{case.name}:\n", *table(mine, [case.name]), sep="\n", flush=True)
    names = list(dict.fromkeys(one.case for one in records))
    print("\nAll together:\n", *table(records, names), sep="\n")


if __name__ == "__main__":
    main()
