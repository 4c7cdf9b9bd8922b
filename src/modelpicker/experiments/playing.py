"""One method on one stream, compiled: what it bought and how far it was from the best, at a few marked rounds."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.budgets import Cap
from modelpicker.algorithms.run_modes import CAPPED, trust_row
from modelpicker.algorithms.runner import (
    END,
    LABELS,
    AlgorithmSettings,
    AlgorithmState,
    KeptBudget,
    RunMode,
    after_round,
    recommend,
    runner,
    take_row,
    write,
)
from modelpicker.experiments.realizations import Realization
from modelpicker.kernels.primitives import SPARE, Codes, Floats, Ints, new_scratch

# What is recorded of a run at each mark, in whole numbers, so that sums do not depend on their order.
QUERIES, GAP, REGRET, SAMPLED = range(4)
FIELDS = ("queries", "gap", "regret", "sampled_regret")

MarkRecord = npt.NDArray[np.int32]


# The running numbers of a run: its regret, its sampled regret, and how many marks it has passed.
REGRET_SO_FAR, SAMPLED_SO_FAR, PASSED_MARKS = range(3)


class RunMetrics(NamedTuple):
    """What a run is measured by, and what came of it at each mark."""

    labels: Codes
    mistakes: Ints
    best: int
    marks: Ints
    sums: Ints
    records: MarkRecord


def add_regret(
    record: RunMetrics,
    i: int,
    row: Codes,
    query: bool,
    probability: float,
    recommended: int,
    predicted: int,
) -> tuple[bool, float]:
    """Sum the regret: the loss of what was recommended before the label, or predicted, minus the best model's."""
    label = record.labels[i]
    inevitable = int(row[record.best] != label)
    record.sums[REGRET_SO_FAR] += int(row[recommended] != label) - inevitable
    record.sums[SAMPLED_SO_FAR] += int(predicted != label) - inevitable
    return query, probability


def note_mark(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    i: int,
    row: Codes,  # noqa: ARG001 (the runner passes what any use could need)
    label: int,  # noqa: ARG001
    lost: Floats,  # noqa: ARG001
    query: bool,  # noqa: ARG001
    probability: float,  # noqa: ARG001
    coin: float,
    budget: KeptBudget,  # noqa: ARG001
    record: RunMetrics,
) -> int:
    """After a marked number of rounds, write down labels bought, gap, regret, sampled regret; play to the end.

    The gap is that of the model recommended then: on the whole stream, its mistakes minus those of the best.
    """
    mark = record.sums[PASSED_MARKS]
    if i + 1 == record.marks[mark]:
        now = recommend(state, settings, coin)
        record.records[mark, 0] = clock[LABELS]
        record.records[mark, 1] = record.mistakes[now] - record.mistakes[record.best]
        record.records[mark, 2] = record.sums[REGRET_SO_FAR]
        record.records[mark, 3] = record.sums[SAMPLED_SO_FAR]
        record.sums[PASSED_MARKS] += 1
    return END


EXPERIMENT = RunMode("for experiments", {**CAPPED, take_row: trust_row, write: add_regret, after_round: note_mark})


class Player:
    """An algorithm with its options, ready to play one stream after the other from the beginning."""

    def __init__(self, algorithm: Algorithm, classes: int, marks: Ints) -> None:
        self.runner = runner(algorithm.kernel, EXPERIMENT)
        self.start = [array.copy() for array in algorithm.state]
        self.state = algorithm.state
        self.settings = algorithm.told
        self.scale = algorithm.scale
        self.clock = algorithm.clock
        self.scratch = new_scratch(len(algorithm.models), classes)
        self.marks = marks

    def play(self, stream: Realization, coins: Floats, most: int) -> MarkRecord:
        """A row a mark, with the fields of a record; labels beyond `most`, a cap, are not bought."""
        for array, start in zip(self.state, self.start, strict=True):
            array[...] = start
        self.clock[...] = 0
        records: MarkRecord = np.empty((len(self.marks), len(FIELDS)), dtype=np.int32)
        sums = np.zeros(3, dtype=np.int64)
        self.runner.play(
            self.state,
            self.settings,
            self.clock,
            stream.rows,
            stream.labels,
            coins,
            float(coins[0, SPARE]),
            self.scale,
            self.scratch,
            Cap(most),
            RunMetrics(stream.labels, stream.mistakes, stream.best, self.marks, sums, records),
        )
        return records
