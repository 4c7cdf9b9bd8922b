"""What a certificate costs: labels until the pick is certified within 1 % at 95 %, and time per round.

    python -m benchmarks.certificates [--streams 20] [--only population|stream|speed]

The tables of docs/how-it-works/certificates.md. EmoContext and Drift are read from MODELPICKER_TEST_DATA, by
default ../shared/data, and left out where they are not.
"""

import argparse
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from modelpicker.bench.streams import make_stream

DATA = Path(os.environ.get("MODELPICKER_TEST_DATA", "../shared/data"))
GAP, CONFIDENCE = 0.01, 0.95
LONGEST, LONGEST_TEST = 200_000, 30_000
RUNS = 5
SCALES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)

Array = npt.NDArray[Any]
Maker = Callable[[int, int], mp.Algorithm]


def collections() -> Iterator[tuple[str, mp.ModelCollection]]:
    """Those that are here."""
    for name in ("emocontext", "drift"):
        if (DATA / name).exists():
            yield name, mp.load_collection(DATA / name)
    for name in ("digits", "cifar10"):
        yield name, mp.load_collection(name)


def replaced(collection: mp.ModelCollection, seed: int, rounds: int) -> tuple[Array, Array]:
    """A stream drawn from a collection with replacement."""
    items = np.random.default_rng(seed).integers(0, len(collection), rounds)
    return np.asarray(collection.predictions)[items], np.asarray(collection.labels)[items]


def shuffled(collection: mp.ModelCollection, seed: int) -> tuple[Array, Array]:
    """All items of a collection, in random order."""
    items = np.random.default_rng(seed).permutation(len(collection))
    return np.asarray(collection.predictions)[items], np.asarray(collection.labels)[items]


def pickers() -> Iterator[tuple[str, str, Maker]]:
    """Model Picker at several scales, and queries at random among the rounds on which models disagree."""

    def model_picker(scale: float) -> Maker:
        return lambda models, seed: mp.ModelPicker(models, seed, query_scale=scale)

    def random(share: float) -> Maker:
        return lambda models, seed: mp.LabelEfficient(models, seed, probability=share)

    for scale in SCALES:
        yield "Model Picker", f"β = {scale:g}", model_picker(scale)
    for share in SHARES:
        yield "random", f"ε = {share:g}", random(share)


def labels_to_stop(collection: mp.ModelCollection, make: Maker, streams: int) -> tuple[float, float, float]:
    """The median labels and rounds until a population is certified, and the share of picks that truly are so."""
    accuracies = np.asarray(collection.accuracies)
    rule = mp.Certified(GAP, CONFIDENCE, "population")
    labels, rounds, good = [], [], 0
    for seed in range(streams):
        picker = make(len(collection.models), seed)
        trace = mp.run_stream(picker, *replaced(collection, seed, LONGEST), stop_when=rule)
        stopped = trace.certificate is not None
        labels.append(float(trace.labels_used) if stopped else math.inf)
        rounds.append(float(len(trace)) if stopped else math.inf)
        good += bool(accuracies.max() - accuracies[int(trace.winner)] <= GAP)
    return statistics.median(labels), statistics.median(rounds), good / streams


def gap_at_end(collection: mp.ModelCollection, make: Maker, streams: int) -> tuple[float, float]:
    """The median labels over all items of a collection, and the median gap of the stream certificate at its end."""
    labels, gaps = [], []
    for seed in range(streams):
        picker = make(len(collection.models), seed)
        labels.append(mp.run_stream(picker, *shuffled(collection, seed)).labels_used)
        gaps.append(picker.certificate(CONFIDENCE, "stream").gap)
    return statistics.median(labels), statistics.median(gaps)


def fixed_size(collection: mp.ModelCollection, streams: int, tests: int, whole: int | None) -> float:
    """How many labels at random a test at one look needs in the median, if somebody had told how many.

    A paired z-test of every other model against the one with the fewest mistakes: is it better by 1 %? With
    `whole`, labels are drawn without replacement from that many items, and the test is about these.
    """
    z = NormalDist().inv_cdf(1.0 - (1.0 - CONFIDENCE) / tests)
    sizes = np.unique(np.geomspace(20, whole or LONGEST_TEST, 80).astype(int))
    passed = np.zeros(len(sizes))
    for seed in range(streams):
        rows, labels = shuffled(collection, seed) if whole else replaced(collection, seed, LONGEST_TEST)
        wrong = (rows != labels[:, None]).astype(np.int32)
        sums = np.add.accumulate(wrong, axis=0)[sizes - 1].astype(np.float64)
        for place, size in enumerate(sizes.tolist()):
            passed[place] += _passes(wrong[:size], sums[place], size, z, whole)
    enough = np.flatnonzero(passed >= streams / 2)
    return float(sizes[enough[0]]) if len(enough) else math.inf


def _passes(wrong: Array, sums: Array, size: int, z: float, whole: int | None) -> bool:
    best = int(sums.argmin())
    means = (sums[best] - sums) / size
    differ = (wrong != wrong[:, [best]]).mean(axis=0)
    correction = 1.0 - size / whole if whole else 1.0
    errors = np.sqrt(np.maximum(differ - means**2, 1.0 / size) / size * correction)
    others = np.arange(len(sums)) != best
    return bool((means + z * errors <= GAP)[others].all())


def shown(number: float) -> str:
    """A count, or that it was not reached."""
    return "never" if math.isinf(number) else f"{number:,.0f}"


def tell_population(streams: int) -> None:
    """Labels until a population certificate."""
    print(
        f"Labels until the pick is within {GAP:.0%} of the best at {CONFIDENCE:.0%}: median of {streams} streams,"
    )
    print("drawn with replacement; for pickers, the setting that needs the fewest, and how many items it saw.")
    for name, collection in collections():
        k = len(collection.models)
        print(f"\n{name} ({k} models)")
        print(f"  one look, all labels, no correction  {shown(fixed_size(collection, streams, 1, None)):>9}")
        print(f"  one look, all labels, Bonferroni     {shown(fixed_size(collection, streams, k - 1, None)):>9}")
        found: dict[str, tuple[float, float, float, str]] = {}
        for kind, setting, make in pickers():
            labels, rounds, good = labels_to_stop(collection, make, streams)
            if setting == "ε = 1":
                print(f"  certificate, every item labelled     {shown(rounds):>9}")
                print(f"  certificate, every disagreement      {shown(labels):>9}  {shown(rounds):>9} items")
            if setting == "β = 1":
                print(f"  certificate, Model Picker, β = 1     {shown(labels):>9}  {shown(rounds):>9} items")
            if kind not in found or labels < found[kind][0]:
                found[kind] = (labels, rounds, good, setting)
        for kind, (labels, rounds, good, setting) in found.items():
            named = f"certificate, {kind}, {setting}"
            print(f"  {named:<36} {shown(labels):>9}  {shown(rounds):>9} items, {good:.0%} of picks truly so")


def tell_stream(streams: int) -> None:
    """Labels for a stream certificate over a whole collection."""
    print(f"\nLabels for a stream certificate within {GAP:.0%} at {CONFIDENCE:.0%} over all items of a collection,")
    print(f"median of {streams} orders; for pickers, the first setting that gets there.")
    for name, collection in collections():
        k, n = len(collection.models), len(collection)
        divided = int(
            (np.asarray(collection.predictions) != np.asarray(collection.predictions)[:, :1]).any(1).sum()
        )
        print(f"\n{name} ({k} models, {n:,} items, models disagree on {divided:,})")
        print(f"  one look, labels at random, no correction  {shown(fixed_size(collection, streams, 1, n)):>9}")
        print(f"  one look, labels at random, Bonferroni     {shown(fixed_size(collection, streams, k - 1, n)):>9}")
        done: set[str] = set()
        for kind, setting, make in pickers():
            if kind in done:
                continue
            labels, gap = gap_at_end(collection, make, streams)
            if setting == "β = 1" or gap <= GAP:
                named = f"certificate, {kind}, {setting}"
                print(f"  {named:<42} {shown(labels):>9}  gap {gap:.2%}")
            if gap <= GAP:
                done.add(kind)


def tell_speed() -> None:
    """What evidence costs, as a factor of the picker's own time."""
    print("\nTime of a round, microseconds: deciding alone; with evidence and a certificate at the end; and with a")
    print("stop rule that is looked at after every round and never holds. The factors are over deciding alone.")
    titles = (("k", 6), ("classes", 8), ("β", 4), ("labels", 7), ("alone", 8), ("evidence", 9), ("factor", 7))
    print(" ".join(f"{title:>{width}}" for title, width in (*titles, ("rule", 8), ("factor", 7))))
    for k, classes in ((8, 4), (30, 2), (30, 10), (100, 10), (100, 1_000), (300, 10), (1_000, 10), (10_000, 10)):
        rounds = max(1_000, min(20_000, 4_000_000 // k))
        rows, labels = make_stream(rounds, k, classes)
        for scale in (1.0, 4.0):
            alone, evidence, rule, used = _quickest(rows, labels, k, scale)
            found = f"{k:>6} {classes:>8} {scale:>4g} {used:>7,} {alone:>8.3f} {evidence:>9.3f}"
            print(f"{found} {evidence / alone:>7.2f} {rule:>8.3f} {rule / alone:>7.2f}", flush=True)


def _quickest(rows: Array, labels: Array, k: int, scale: float) -> tuple[float, float, float, int]:
    """Microseconds a round in each of three ways, in turns, the best of some runs; and the labels."""
    best, used = [math.inf] * 3, 0
    never = mp.Certified(0.000_001)
    for _ in range(1 + RUNS):  # the first compiles
        for way in range(3):
            picker = mp.ModelPicker(k, query_scale=scale)
            picker.recorder.watches = way > 0
            begun = time.process_time()  # of this process alone: others may be busy
            used = mp.run_stream(picker, rows, labels, stop_when=never if way == 2 else None).labels_used
            if way == 1:
                picker.certificate()
                picker.certificate(kind="population")
            best[way] = min(best[way], 1e6 * (time.process_time() - begun) / len(rows))
    return best[0], best[1], best[2], used


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--only", choices=("population", "stream", "speed"))
    given = parser.parse_args()
    if given.only in (None, "population"):
        tell_population(given.streams)
    if given.only in (None, "stream"):
        tell_stream(given.streams)
    if given.only in (None, "speed"):
        tell_speed()


if __name__ == "__main__":
    main()
