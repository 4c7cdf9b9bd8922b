"""Race beside Model Picker: labels to find the best model, labels to a certified stop, and a best that changes.

    python -m benchmarks.race [--only identification|stopping|change] [--realizations 300] [--streams 1000]

The tables of docs/how-it-works/race.md. EmoContext and Drift are read from MODELPICKER_TEST_DATA, by default
../shared/data, and left out where they are not.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.collections import Case, benchmark_collections

LEVELS = (0.8, 0.9, 0.95)
BUDGETS = 16
TOLERANCE, CONFIDENCE = 0.01, 0.95
LONGEST = 120_000
ROUNDS, CHANGED, RUNS = 20_000, 10_000, 100

Array = npt.NDArray[Any]


def identification(realizations: int) -> Iterator[str]:
    """Labels that Model Picker, tuned to its best, and Race need to name the best model of a stream."""
    yield "| | k | T | Model Picker 80, 90, 95 % | Race 80, 90, 95 % | times fewer | the two best differ on |"
    yield "|---|---|---|---|---|---|---|"
    ratios = []
    for case in benchmark_collections():
        results = mp.compare(
            case.collection,
            ["model-picker", "race"],
            budgets(case),
            case.stream_size,
            realizations,
            progress=True,
        )
        needed = [results.labels_needed(level) for level in LEVELS]
        times = [one["model-picker"] / one["race"] for one in needed]
        ratios.append(times)
        shown = (", ".join(_labels(one[name]) for one in needed) for name in ("model-picker", "race"))
        yield _row(
            case.name,
            len(case.collection.models),
            f"{case.stream_size:,}",
            *shown,
            ", ".join(f"{ratio:.2f}" for ratio in times),
            f"{rivals_differ(case):,.0f} rounds",
        )
    means = np.exp(np.log(ratios).mean(axis=0))
    yield _row("geometric mean", "", "", "", "", ", ".join(f"{mean:.2f}" for mean in means), "")


def budgets(case: Case) -> list[int]:
    """Numbers of labels from few to all that could tell models apart."""
    codes = np.asarray(case.collection.predictions)
    most = case.stream_size * float((codes != codes[:, :1]).any(axis=1).mean())
    return sorted({round(value) for value in np.geomspace(12, 0.9 * min(most, 2_500), BUDGETS)})


def rivals_differ(case: Case) -> float:
    """On how many rounds of a stream the two most accurate models differ."""
    codes = np.asarray(case.collection.predictions)
    first, second = np.argsort(-np.asarray(case.collection.accuracies))[:2]
    return case.stream_size * float((codes[:, first] != codes[:, second]).mean())


class Stop(NamedTuple):
    """How a race ended."""

    labels: float
    rounds: float
    false: bool


def stop_of(codes: Array, truth: Array, accuracies: Array, seed: int) -> Stop:
    """A race on a stream drawn with replacement, as long as needed."""
    rounds = 4_000
    while True:
        items = np.random.default_rng(seed).integers(0, len(truth), rounds)
        picker = mp.Race(codes.shape[1], seed, tolerance=TOLERANCE, confidence=CONFIDENCE)
        mp.run_stream(picker, codes[items], truth[items])
        if picker.won is not None:
            gap = accuracies.max() - accuracies[int(picker.recommended)]
            return Stop(picker.labels_used, picker.won, bool(gap > TOLERANCE + 1e-9))
        if rounds >= LONGEST:
            return Stop(math.inf, math.inf, False)
        rounds *= 3


def stopping(streams: int) -> Iterator[str]:
    """Labels until Race stops, and how often it stops with a model that is not within the tolerance."""
    yield "| | labels: median | 90 % below | items seen = labels if every item is labelled | false stops |"
    yield "|---|---|---|---|---|"
    for case in benchmark_collections():
        codes, truth = np.asarray(case.collection.predictions), np.asarray(case.collection.labels)
        accuracies = np.asarray(case.collection.accuracies)
        stops = []
        for seed in range(streams):
            stops.append(stop_of(codes, truth, accuracies, seed))
            if sys.stderr.isatty():
                print(f"\r{case.name}: {seed + 1} of {streams}", end="", file=sys.stderr)
        labels, rounds, false = (np.array(column) for column in zip(*stops, strict=True))
        yield _row(
            case.name,
            f"{np.median(labels):,.0f}",
            f"{np.quantile(labels, 0.9, method='higher'):,.0f}",
            f"{np.median(rounds):,.0f}",
            f"{false.sum()} of {streams:,}",
        )


def change(_: int) -> Iterator[str]:
    """The best and the worst of eight models change places half-way: who notices, and at what price."""
    makers: dict[str, Callable[[int], mp.Algorithm]] = {
        "Race": lambda seed: mp.Race(8, seed),
        "Race, exploration 1 %": lambda seed: mp.Race(8, seed, exploration=0.01),
        "Race, exploration 5 %": lambda seed: mp.Race(8, seed, exploration=0.05),
        "Model Picker": lambda seed: mp.ModelPicker(8, seed),
        "Model Picker, window 2,000": lambda seed: mp.ModelPicker(8, seed, window=2000),
        "label efficient, 2 %": lambda seed: mp.LabelEfficient(8, seed, probability=0.02),
        "vote entropy, 2 %": lambda seed: mp.VoteEntropy(8, seed, classes=4, query_scale=0.02),
        "importance weighted": lambda seed: mp.ImportanceWeighted(8, seed, query_scale=0.05),
    }
    yield "| | labels | names the new best 1,000, 3,000, 10,000 rounds after | noticed after (median) |"
    yield "|---|---|---|---|"
    for name, make in makers.items():
        labels, right, noticed = [], np.zeros(3), []
        for seed in range(RUNS):
            codes, truth, best = changing_stream(seed)
            picker = make(seed)
            trace = mp.run_stream(picker, codes, truth)
            labels.append(trace.labels_used)
            # A race that is won ends there, and stands by its winner.
            named = np.append(trace.recommended, int(trace.winner))
            right += named[np.minimum(CHANGED + np.array([999, 2_999, 9_999]), len(trace))] == best
            seen = picker.drifted if isinstance(picker, mp.Race) else None
            noticed.append(math.inf if seen is None else seen - CHANGED)
        when = float(np.median(noticed))
        yield _row(
            name,
            f"{np.mean(labels):,.0f}",
            ", ".join(f"{100 * share / RUNS:.0f} %" for share in right),
            f"{when:,.0f}" if when < math.inf else "-",
        )
    alarms = sum(_false_alarm(seed) for seed in range(RUNS))
    yield ""
    yield f"False alarms of Race with exploration 5 % where nothing changes, {ROUNDS:,} rounds: {alarms} of {RUNS}."


def changing_stream(seed: int, changed: int = CHANGED) -> tuple[Array, Array, int]:
    """Eight models of 60 to 81 %; from a round on the first and the last have changed places."""
    accuracies = [0.60, 0.63, 0.66, 0.69, 0.72, 0.75, 0.78, 0.81]
    made = mp.synthetic_collection(ROUNDS, 8, 4, accuracies, seed=seed)
    codes = np.asarray(made.predictions).copy()
    codes[changed:, [0, 7]] = codes[changed:, [7, 0]]
    return codes, np.asarray(made.labels), 0


def _false_alarm(seed: int) -> bool:
    codes, truth, _ = changing_stream(seed, changed=ROUNDS)
    picker = mp.Race(8, seed, exploration=0.05)
    mp.run_stream(picker, codes, truth)
    return picker.drifted is not None


def _labels(number: float) -> str:
    return f"{number:,.0f}" if number < math.inf else "never"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    tables: dict[str, Callable[[int], Iterator[str]]] = {
        "identification": identification,
        "stopping": stopping,
        "change": change,
    }
    parser.add_argument("--only", choices=list(tables))
    parser.add_argument("--realizations", type=int, default=300)
    parser.add_argument("--streams", type=int, default=1_000)
    given = parser.parse_args()
    for name, table in tables.items():
        if given.only in (None, name):
            print(f"\n{table.__doc__}\n")
            for line in table(given.streams if name == "stopping" else given.realizations):
                print(line, flush=True)


if __name__ == "__main__":
    main()
