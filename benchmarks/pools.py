"""Pools: labels until a method names the best model of a file, beside the rules that others published.

    python -m benchmarks.pools [--only identification|certificates|batches|speed] [--files 60] [--case digits]

The tables of docs/how-it-works/pools.md. A file is a number of items drawn at random from a collection; all methods
play the same files. EmoContext and Drift are read from MODELPICKER_TEST_DATA, by default ../shared/data, and left
out where they are not.
"""

import argparse
import inspect
import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.collections import Case, benchmark_collections
from modelpicker.algorithms.pools.coda import MOST_CLASSES, Coda
from modelpicker.algorithms.pools.model_selector import ModelSelector
from modelpicker.algorithms.pools.peers import RandomDisagreements
from modelpicker.experiments.engines import cores
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.pool_methods import AnyPoolRule, PlayedPoolPicker
from modelpicker.experiments.realizations import draw, key_of
from modelpicker.experiments.tasks import EVALUATION

LEVELS = (0.8, 0.9, 0.95)
SIZES = {"emocontext": 1000, "drift": 750, "digits": 1000, "cifar10": 2000}
SIZE = 1000
SEED = 0
# Labels that a method may buy: whoever has not reached a level by then counts as if it had just then.
MOST = 300
EPSILONS = (0.30, 0.35, 0.38, 0.40, 0.42, 0.44, 0.46, 0.48, 0.49)
PUBLISHED = 0.46
RACE_BUDGETS = 16

Shares = npt.NDArray[np.float64]


class Needed(NamedTuple):
    """Labels until a share of the files is reached: for the first time, and permanently; infinite if never."""

    first: float
    for_good: float

    def __str__(self) -> str:
        shown = [f"{value:.0f}" if value < math.inf else f"> {MOST}" for value in self]
        return shown[0] if shown[0] == shown[1] else f"{shown[0]} ({shown[1]})"


class Given(NamedTuple):
    """What the command line says."""

    files: int
    coda_files: int
    case: str | None


def pool_cases(given: Given) -> Iterator[Case]:
    """The collections of the benchmarks, each with the size of its files."""
    for case in benchmark_collections():
        if given.case in (None, case.name):
            yield case._replace(stream_size=SIZES.get(case.name, SIZE))


def shares(case: Case, label: str, rule: AnyPoolRule, files: int) -> Shares:
    """The share of files whose best model is named, before the first label and after each."""
    pool, classes = pool_of(case.collection), len(case.collection.classes)

    def hits(number: int) -> npt.NDArray[Any]:
        file = draw(pool, case.stream_size, SEED, EVALUATION, number)
        run = rule.play(file.rows, file.labels, classes, MOST, key_of(SEED, EVALUATION, number, label))
        named = file.mistakes[run.recommended] == file.mistakes[file.best]
        return np.append(named, np.full(MOST + 1 - len(named), named[-1]))

    with ThreadPoolExecutor(cores()) as threads:
        found = []
        for one in threads.map(hits, range(files)):
            found.append(one)
            _progress(f"{case.name}: {label}, {len(found)} of {files} files")
    means: Shares = np.mean(found, axis=0)
    return means


def needed(share: Shares, level: float) -> Needed:
    """The labels at which a share is reached for the first time, and from which on it is never lost again."""
    reached = share >= level - 1e-9
    if not reached.any():
        return Needed(math.inf, math.inf)
    lost = np.flatnonzero(~reached)
    last = int(lost[-1]) if len(lost) else -1
    return Needed(int(reached.argmax()), last + 1 if last < len(share) - 1 else math.inf)


def race_needed(case: Case, files: int) -> list[Needed]:
    """Mean labels that Race needs with its patience tuned to each; its curve is made never to fall.

    A race that is won ends: some files cost more labels than others, as on streams.
    """
    codes = np.asarray(case.collection.predictions)
    contested = case.stream_size * float((codes != codes[:, :1]).any(axis=1).mean())
    budgets = sorted({round(value) for value in np.geomspace(8, 0.9 * min(contested, 400), RACE_BUDGETS)})
    results = mp.compare(
        case.collection, ["race"], budgets, case.stream_size, files, SEED, setting="pool", progress=True
    )
    return [Needed(labels, labels) for labels in (results.labels_needed(level)["race"] for level in LEVELS)]


def identification(given: Given) -> Iterator[str]:
    """Labels until the best model of the file is named in a share of the files: first time (permanently).

    The best ε of Model Selector is chosen for each number by itself: nobody knows it beforehand.
    """
    yield "| | items | k | share | pool-picker | Model Selector, best ε | at 0.46 | CODA | Race, tuned | random |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    ratios: list[list[Needed]] = []
    for case in pool_cases(given):
        ours = shares(case, "pool-picker", PlayedPoolPicker(), given.files)
        selectors = {
            epsilon: shares(case, f"model-selector {epsilon}", ModelSelector(epsilon=epsilon), given.files)
            for epsilon in EPSILONS
        }
        few = len(case.collection.classes) <= MOST_CLASSES
        coda = shares(case, "coda", Coda(), given.coda_files) if few and given.coda_files else None
        race = race_needed(case, given.files)
        random = shares(case, "label-efficient", RandomDisagreements(), given.files)
        for place, level in enumerate(LEVELS):
            found = {epsilon: needed(share, level) for epsilon, share in selectors.items()}
            first = min(found, key=lambda epsilon: found[epsilon].first)
            good = min(found, key=lambda epsilon: found[epsilon].for_good)
            best = Needed(found[first].first, found[good].for_good)
            published, at_random = found[PUBLISHED], needed(random, level)
            own = needed(ours, level)
            yield _row(
                case.name,
                f"{case.stream_size:,}",
                len(case.collection.models),
                f"{level:.0%}",
                own,
                f"{best}; ε = {first} ({good})" if best.first < math.inf else best,
                published,
                "-" if coda is None else needed(coda, level),
                race[place],
                at_random,
            )
            ratios.append([own, best, published, race[place], at_random])
    yield ""
    yield from _means(ratios)


def _means(ratios: list[list[Needed]]) -> Iterator[str]:
    """How many times more labels than pool-picker the others need, in the geometric mean."""
    names = ("Model Selector, best ε", "Model Selector, ε = 0.46", "Race, tuned", "random")
    counts = np.minimum(np.array(ratios, dtype=np.float64), MOST)
    logs = np.log(np.maximum(counts, 1.0))
    yield f"Labels over those of pool-picker, geometric mean; more than {MOST} labels count as {MOST}:"
    yield ""
    yield "| | first time | permanently |"
    yield "|---|---|---|"
    for place, name in enumerate(names, start=1):
        means = np.exp((logs[:, place] - logs[:, 0]).mean(axis=0))
        yield _row(name, f"{means[0]:.2f}", f"{means[1]:.2f}")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def file_of(case: Case, number: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A file drawn from a collection: its predictions and its labels."""
    drawn = draw(pool_of(case.collection), case.stream_size, SEED, EVALUATION, number)
    return np.asarray(drawn.rows), np.asarray(drawn.labels)


def certificates(given: Given) -> Iterator[str]:
    """Labels until the pick is certified, tolerance 1 %, confidence 95 %; and how often a certificate was false.

    False: at any moment, for somebody who looks after each label. Race plays the same files once, in their order.
    """
    yield "| | labels: median | 90 % below | certified | false | Race: certified | labels then (median) |"
    yield "|---|---|---|---|---|---|---|"
    for case in pool_cases(given):
        ended = [_certify(case, number) for number in range(given.files)]
        labels = [one[0] for one in ended]
        races = [one[3] for one in ended if one[3] is not None]
        yield _row(
            case.name,
            f"{np.median(labels):,.0f}",
            f"{np.quantile(labels, 0.9):,.0f}",
            f"{sum(one[1] for one in ended)} of {given.files}",
            f"{sum(one[2] for one in ended)} of {given.files}",
            f"{len(races)} of {given.files}",
            f"{np.median(races):,.0f}" if races else "-",
        )


def certify(pool: mp.PoolPicker, rows: npt.NDArray[Any], truth: npt.NDArray[Any]) -> bool:
    """Label a pool until its pick is certified; whether a certificate was ever false."""
    right = (rows == truth[:, None]).sum(axis=0)
    false = False
    while not pool.done:
        item = pool.ask(1)[0]
        pool.tell(item, int(truth[item]))
        worse = int(right.max() - right[pool.recommended_index])
        false = false or worse > round(pool.certificate().gap * len(pool))
    return false


def _certify(case: Case, number: int) -> tuple[int, bool, bool, int | None]:
    """How one file ended: labels, certified or not, ever falsely, and the labels of Race if that is won."""
    rows, truth = file_of(case, number)
    pool = mp.PoolPicker(rows, seed=number)
    false = certify(pool, rows, truth)
    race = mp.Race(rows.shape[1], number)
    mp.run_stream(race, rows, truth)
    _progress(f"{case.name}: certificates, {number + 1} files")
    return pool.labels_used, pool.certified, false, None if race.won is None else race.labels_used


def batches(given: Given) -> Iterator[str]:
    """Labels until 90 % of the files have their best model named, and (median) until the pick is certified.

    In batches: that many items are asked for, and when all have labels, the next. Always out: with each label that
    comes another item is asked for. Somebody looks after each label.
    """
    yield "| | 1 at a time: named, certified | batches of 10 | 10 always out: certified | batches of 30 |"
    yield "|---|---|---|---|---|"
    for case in pool_cases(given):
        cells = []
        for size in (1, 10, 30):
            runs = [_in_batches(case, number, size) for number in range(given.files)]
            named = needed(np.mean([run[0] for run in runs], axis=0), 0.9)
            cells.append(f"{named}, {np.median([run[1] for run in runs]):,.0f}")
        always = [_always_out(case, number, 10) for number in range(given.files)]
        yield _row(case.name, *cells[:2], f"{np.median(always):,.0f}", cells[2])


def _always_out(case: Case, number: int, size: int) -> int:
    """The labels until the pick is certified, with that many items out at any time."""
    rows, truth = file_of(case, number)
    pool = mp.PoolPicker(rows, seed=number)
    out = pool.ask(size)
    while not pool.done and out:
        item = out.pop(0)
        pool.tell(item, int(truth[item]))
        out += pool.ask(1)
    return pool.labels_used


def _in_batches(case: Case, number: int, size: int) -> tuple[Shares, int]:
    """Whether the best model is named after each label, and the labels until the pick is certified."""
    rows, truth = file_of(case, number)
    right = (rows == truth[:, None]).sum(axis=0)
    best = np.flatnonzero(right == right.max())
    named = np.zeros(MOST + 1)
    exact = mp.PoolPicker(rows, seed=number, tolerance=0.0)
    told = 0
    named[0] = exact.recommended_index in best
    while told < MOST and (items := exact.ask(size)):
        for item in items:
            exact.tell(item, int(truth[item]))
            told += 1
            named[told:] = exact.recommended_index in best
    pool = mp.PoolPicker(rows, seed=number)
    while not pool.done:
        for item in pool.ask(size):
            pool.tell(item, int(truth[item]))
            if pool.done:
                break
    _progress(f"{case.name}: batches of {size}, {number + 1} files")
    return named, pool.labels_used


def speed(_: Given) -> Iterator[str]:
    """How long a question takes on this machine, in milliseconds; the first one waits for kernels to compile."""
    yield "| items | models | contested | made | first | median | slowest of 30 | learn | memory, times the codes |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for items, contested in ((10_000, 1.0), (10_000, 0.3), (100_000, 1.0), (100_000, 0.3), (1_000_000, 0.3)):
        rows, truth = large_pool(items, 100, 10, contested)
        tracemalloc.start()
        begun = time.perf_counter()
        pool = mp.PoolPicker(rows)
        made = time.perf_counter() - begun
        asked, learned = [], []
        for _number in range(31):
            start = time.perf_counter()
            item = pool.ask(1)[0]
            middle = time.perf_counter()
            pool.tell(item, int(truth[item]))
            asked.append(middle - start)
            learned.append(time.perf_counter() - middle)
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        yield _row(
            f"{items:,}",
            100,
            f"{pool.contested:,}",
            f"{1e3 * made:,.0f}",
            f"{1e3 * asked[0]:,.0f}",
            f"{1e3 * float(np.median(asked[1:])):,.1f}",
            f"{1e3 * max(asked[1:]):,.1f}",
            f"{1e3 * float(np.median(learned[1:])):,.1f}",
            f"{memory / rows.nbytes:,.1f}",
        )


def large_pool(
    items: int, models: int, classes: int, contested: float
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Predictions of models of 50 to 90 % on a share of the items, and all right on the others."""
    random = np.random.default_rng(SEED)
    truth = random.integers(0, classes, items).astype(np.int8)
    easy = random.random(items) >= contested
    rows = np.empty((items, models), dtype=np.int8)
    for model, accuracy in enumerate(random.uniform(0.5, 0.9, models)):
        right = easy | (random.random(items) < accuracy)
        rows[:, model] = np.where(right, truth, random.integers(0, classes, items))
    return rows, truth


TABLES: dict[str, Callable[[Given], Iterator[str]]] = {
    "identification": identification,
    "certificates": certificates,
    "batches": batches,
    "speed": speed,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=list(TABLES))
    parser.add_argument("--files", type=int, default=60, help="files that are drawn from each collection")
    parser.add_argument("--coda-files", type=int, default=10, help="the same for CODA, which is slow; 0: none")
    parser.add_argument("--case", help="one collection only, such as digits")
    given = parser.parse_args()
    for name, table in TABLES.items():
        if given.only in (None, name):
            print(f"\n{inspect.getdoc(table)}\n")
            for line in table(Given(given.files, given.coda_files, given.case)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
