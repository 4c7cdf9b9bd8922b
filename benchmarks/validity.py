"""How often certificates are wrong: streams of many kinds, and somebody who looks after every round.

    python -m benchmarks.validity [--streams 2000]

A stream counts as wrong if any statement, made after any round, was false: so whoever stops at the first moment
that looks good is covered, whatever looks good to them. The share of wrong streams must be at most 5 %.
"""

import argparse
import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from modelpicker.algorithms.runner import (
    LABELS,
    ROUNDS,
    AlgorithmSettings,
    AlgorithmState,
    Kernel,
    learn_label,
    observe_round,
    recommend,
)
from modelpicker.certificates.certificate import KINDS, bar_for, late_bar_for, tables
from modelpicker.certificates.evidence import (
    ANSWERED,
    ASKED,
    PASSED,
    STEPS,
    STREAM,
    Room,
    Tables,
    challenger,
    gather_entry,
    new_room,
    no_evidence,
)
from modelpicker.certificates.evidence_kernels import AnyEvidence
from modelpicker.certificates.leader_rows import (
    FORGOTTEN,
    ROW_PARTS,
    YES,
    LeaderRows,
    bar_of,
    begin_late,
    new_rows,
    readable,
    row_of,
)
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import SPARE, Codes, Floats, Ints, Scratch, new_scratch

CONFIDENCE = 0.95
# What else may continue: nothing; labels that are skipped whenever the best model so far is wrong; labels that are
# chosen so that it is wrong.
HONEST, SPITEFUL, CONTRARY = range(3)

Array = npt.NDArray[Any]


def first_falsehood(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    rows: Codes,
    labels: Codes,
    coins: Floats,
    first_spare: float,
    scale: float,
    scratch: Scratch,
    evidence: Any,
    tables: Tables,
    room: Room,
    kind: int,
    bar: float,
    late: float,
    manner: int,
    before: int,
    accuracies: Floats,
    highest: float,
    mistakes: Ints,
) -> int:
    """The first of these rounds after which the certificate is wrong; -1 if there is none.

    There were rounds `before`; `first_spare` is the spare coin of the first of all.
    """
    rival = 0
    for i in range(len(rows)):
        row, label = rows[i], labels[i]
        spare = coins[i, SPARE]
        query, probability, recommended, _ = observe_round(
            state, settings, clock, row, coins[i], first_spare, scale, scratch
        )
        if manner == CONTRARY:
            for j in range(len(row)):
                if row[j] != row[recommended]:
                    label = row[j]
        rounds = before + i + 1
        fewest = rounds
        for j in range(len(row)):
            mistakes[j] += row[j] != label
            fewest = min(fewest, mistakes[j])
        skipped = manner == SPITEFUL and row[recommended] != label
        entry = ASKED if query else PASSED
        if query and not skipped:
            learn_label(state, settings, clock, clock[ROUNDS], row, label, probability, scratch)
            entry = ANSWERED
        gather_entry(evidence, tables, room, row, clock[ROUNDS] - 1, scratch.lost, probability, entry)
        best = recommend(state, settings, spare if clock[LABELS] > 0 else first_spare)
        if kind == STREAM:
            gap = (mistakes[best] - fewest - 1.0) / rounds
        else:
            gap = highest - accuracies[best] - 0.5 / STEPS
        # Else there is nothing to be wrong about; a smaller one is claimed if none challenges this.
        if gap >= 0.0 and readable(evidence, best) == YES:
            wanted = bar_of(evidence, best, bar, late)
            rival = challenger(evidence, tables, room, kind, best, gap, 0, wanted, max(0, rival))
            if rival < 0:
                return i
    return -1


@cache
def compiled(kernel: Kernel, rows: bool) -> CompiledKernel:
    """`first_falsehood` of an algorithm, with evidence of all pairs or in rows."""
    parts = {**kernel.calls, **(ROW_PARTS if rows else {})}
    return CompiledKernel(first_falsehood, parts, f"{kernel.name} with its falsehoods")


class Drawn(NamedTuple):
    """A stream, and the accuracies in the population that it was drawn from."""

    rows: Array
    labels: Array
    accuracies: Array


class Case(NamedTuple):
    """A kind of stream, a picker, and what continues."""

    name: str
    draw: Callable[[np.random.Generator], Drawn]
    picker: Callable[[int, int], mp.Algorithm]
    kinds: tuple[str, ...] = ("stream", "population")
    manner: int = HONEST
    fold: int = 0
    """With rows of evidence: after so many rounds a row begins for the model that leads; 0 for all pairs."""


def model_picker(scale: float = 1.0) -> Callable[[int, int], mp.Algorithm]:
    """Model Picker at a query scale."""
    return lambda models, seed: mp.ModelPicker(models, seed, query_scale=scale)


def label_efficient(probability: float) -> Callable[[int, int], mp.Algorithm]:
    """Label efficient at a probability."""
    return lambda models, seed: mp.LabelEfficient(models, seed, probability=probability)


def independent(accuracies: list[float], classes: int, rounds: int) -> Callable[[np.random.Generator], Drawn]:
    """Models that are right independently of each other, and say any other class if not."""

    def draw(rng: np.random.Generator) -> Drawn:
        labels = rng.integers(0, classes, rounds)
        shape = (rounds, len(accuracies))
        wrong = (labels[:, None] + rng.integers(1, classes, shape)) % classes
        right = rng.random(shape) < np.array(accuracies)
        return Drawn(np.where(right, labels[:, None], wrong), labels, np.array(accuracies))

    return draw


def tied(models: int, rounds: int) -> Callable[[np.random.Generator], Drawn]:
    """Models that are all equally good except for one, which is a little better."""
    return independent([0.7] * (models - 1) + [0.705], 2, rounds)


def identical(rounds: int) -> Callable[[np.random.Generator], Drawn]:
    """Three models, each of them twice."""
    draw_three = independent([0.7, 0.72, 0.74], 3, rounds)

    def draw(rng: np.random.Generator) -> Drawn:
        three = draw_three(rng)
        twice = [0, 0, 1, 1, 2, 2]
        return Drawn(three.rows[:, twice], three.labels, three.accuracies[twice])

    return draw


def imbalanced(rounds: int) -> Callable[[np.random.Generator], Drawn]:
    """One item in fifty is of the other class; one model never says so, the others do with some success."""
    hits, alarms = np.array([0.0, 0.5, 0.7, 0.9, 0.9]), np.array([0.0, 0.005, 0.008, 0.02, 0.022])

    def draw(rng: np.random.Generator) -> Drawn:
        labels = (rng.random(rounds) < 0.02).astype(np.int64)
        chances = np.where(labels[:, None] == 1, hits, alarms)
        rows = (rng.random((rounds, len(hits))) < chances).astype(np.int64)
        return Drawn(rows, labels, 0.02 * hits + 0.98 * (1.0 - alarms))

    return draw


def switching(rounds: int) -> Callable[[np.random.Generator], Drawn]:
    """The best model of the first half is the worst of the second."""
    first, second = independent([0.9, 0.8, 0.6], 3, rounds // 2), independent([0.5, 0.8, 0.9], 3, rounds // 2)

    def draw(rng: np.random.Generator) -> Drawn:
        one, other = first(rng), second(rng)
        return Drawn(
            np.concatenate([one.rows, other.rows]), np.concatenate([one.labels, other.labels]), np.zeros(3)
        )

    return draw


CASES = (
    Case("near tie of 2 models", independent([0.70, 0.705], 2, 2000), model_picker()),
    Case("near tie of 10 models", tied(10, 2000), model_picker()),
    Case("identical models", identical(1500), model_picker()),
    Case("heavy imbalance", imbalanced(3000), model_picker(4.0)),
    Case("switching adversary", switching(2000), model_picker(), ("stream",)),
    Case("contrary adversary", tied(3, 1500), model_picker(), ("stream",), CONTRARY),
    Case("tiny probabilities", independent([0.7, 0.705, 0.6], 2, 6000), label_efficient(0.01)),
    Case("a tenth of the labels", independent([0.7, 0.705], 2, 3000), label_efficient(0.1)),
    Case("all labels", independent([0.7, 0.705], 2, 2000), label_efficient(1.0)),
    Case("spiteful skips", tied(4, 2000), model_picker(2.0), manner=SPITEFUL),
    Case("rows, a tenth of the labels", independent([0.7, 0.705], 2, 3000), label_efficient(0.1), fold=50),
    Case("rows, near tie of 10 models", tied(10, 2000), model_picker(4.0), fold=50),
    Case("rows, switching adversary", switching(2000), model_picker(4.0), ("stream",), fold=50),
)


def wrong_streams(case: Case, kind: str, streams: int, confidence: float = CONFIDENCE) -> int:
    """On how many streams some statement was false at some time."""
    return sum(is_wrong(case, kind, seed, confidence) for seed in range(streams))


def is_wrong(case: Case, kind: str, seed: int, confidence: float) -> bool:
    """Whether some statement was false at some time on a stream."""
    number = KINDS[kind]
    drawn = case.draw(np.random.default_rng([seed, len(case.name)]))
    rounds, models = drawn.rows.shape
    picker = case.picker(models, seed)
    rows = np.ascontiguousarray(drawn.rows, dtype=np.int32)
    labels, coins = drawn.labels.astype(np.int32), picker.next_coins(rounds)
    evidence: AnyEvidence = new_rows(models, rows=1) if case.fold else no_evidence(models)
    scratch, mistakes = new_scratch(models, int(rows.max()) + 1), np.zeros(models, dtype=np.int64)
    first_spare = float(coins[0, SPARE])
    for start in range(0, rounds, case.fold or rounds):
        if isinstance(evidence, LeaderRows):
            evidence.course[FORGOTTEN] = 1
            leader = int(picker.recommended)
            if start and row_of(evidence, leader) < 0:
                begin_late(evidence, 0, leader, start)
        part = slice(start, start + (case.fold or rounds))
        found = compiled(picker.kernel, case.fold > 0)(
            *(picker.state, picker.told, picker.clock, rows[part], labels[part], coins[part], first_spare),
            *(picker.scale, scratch, evidence, tables(), new_room(models), number),
            *(bar_for(models, confidence, number), late_bar_for(models, confidence, number), case.manner, start),
            *(drawn.accuracies.astype(np.float64), float(drawn.accuracies.max()), mistakes),
        )
        if found >= 0:
            return True
    return False


def upper_limit(wrong: int, streams: int, confidence: float = 0.99) -> float:
    """The largest share of wrong streams that so few are compatible with (Clopper and Pearson)."""
    low, high = wrong / streams, 1.0
    for _ in range(50):
        middle = (low + high) / 2.0
        if _at_most(wrong, streams, middle) > 1.0 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(wrong: int, streams: int, share: float) -> float:
    """The probability of at most this many wrong streams."""
    if share >= 1.0:
        return float(wrong >= streams)
    logs = [
        math.lgamma(streams + 1) - math.lgamma(n + 1) - math.lgamma(streams - n + 1)
        + n * math.log(share)
        + (streams - n) * math.log1p(-share)
        for n in range(wrong + 1)
    ]  # fmt: skip
    return math.fsum(math.exp(value) for value in logs)


def main() -> None:
    """Print the table of the docs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=2000)
    streams = parser.parse_args().streams
    print(
        f"Streams of {streams:,} on which any statement was wrong at any time; at most {1 - CONFIDENCE:.0%} may be."
    )
    print(f"{'':<28}{'stream':>8}{'at most':>9}{'population':>12}{'at most':>9}  (99 % limit)")
    started = time.perf_counter()
    totals = {"stream": [0, 0], "population": [0, 0]}
    for case in CASES:
        shown = f"{case.name:<28}"
        for kind in ("stream", "population"):
            if kind not in case.kinds:
                shown += f"{'-':>12}{'':>9}"
                continue
            wrong = wrong_streams(case, kind, streams)
            totals[kind][0] += wrong
            totals[kind][1] += streams
            shown += f"{wrong:>{8 if kind == 'stream' else 12}}{upper_limit(wrong, streams):>9.2%}"
        print(shown, flush=True)
    for kind, (wrong, total) in totals.items():
        print(f"{kind}: {wrong} of {total:,} streams, {wrong / total:.3%}")
    print(f"took {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
