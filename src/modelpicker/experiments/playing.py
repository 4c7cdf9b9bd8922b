"""One method on one stream, compiled: what it bought and how far it was from the best, at a few marked rounds."""

from functools import cache

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms import Algorithm
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
from modelpicker.experiments.realizations import Realization
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import SPARE, Codes, Floats, Ints, Scratch, new_scratch

# What is recorded of a run at each mark, in whole numbers, so that sums do not depend on their order.
QUERIES, GAP, REGRET, SAMPLED = range(4)
FIELDS = ("queries", "gap", "regret", "sampled_regret")

Record = npt.NDArray[np.int32]


def play_realization(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    rows: Codes,
    labels: Codes,
    mistakes: Ints,
    best: int,
    coins: Floats,
    coin: Floats,
    scale: float,
    scratch: Scratch,
    most: int,
    marks: Ints,
    record: Record,
) -> None:
    """Play a stream; after each marked number of rounds write down labels bought, gap, regret, sampled regret.

    Labels beyond `most` are not bought. The gap is that of the model recommended then: how many more mistakes than
    the best it makes on the whole stream. Regret sums, round by round, the loss of the model recommended before the
    label minus that of the best model; sampled regret does so for what the method predicted.
    """
    first_spare = coins[0, SPARE]
    bought = regret = sampled = mark = 0
    for i in range(len(rows)):
        for c in range(4):
            coin[c] = coins[i, c]
        row, label = rows[i], labels[i]
        query, probability, recommended, predicted = observe_round(
            state, settings, clock, row, coin, first_spare, scale, scratch
        )
        inevitable = int(row[best] != label)
        regret += int(row[recommended] != label) - inevitable
        sampled += int(predicted != label) - inevitable
        if query and bought < most:
            bought += 1
            learn_label(state, settings, clock, clock[ROUNDS], row, label, probability)
        if i + 1 == marks[mark]:
            now = recommend(state, settings, coins[i, SPARE] if clock[LABELS] > 0 else first_spare)
            record[mark, 0] = bought
            record[mark, 1] = mistakes[now] - mistakes[best]
            record[mark, 2] = regret
            record[mark, 3] = sampled
            mark += 1


@cache
def compiled(kernel: Kernel) -> CompiledKernel:
    """`play_realization` of an algorithm, compiled when it is first called."""
    return CompiledKernel(play_realization, kernel.calls, f"{kernel.name} for experiments")


class Player:
    """An algorithm with its options, ready to play one stream after the other from the beginning."""

    def __init__(self, algorithm: Algorithm, classes: int, marks: Ints) -> None:
        self.play_compiled = compiled(algorithm.kernel)
        self.start = [array.copy() for array in algorithm.state]
        self.state = algorithm.state
        self.settings = algorithm.told
        self.scale = algorithm.scale
        self.clock = algorithm.clock
        self.scratch = new_scratch(len(algorithm.models), classes)
        self.coin = np.empty(4)
        self.marks = marks

    def play(self, stream: Realization, coins: Floats, most: int) -> Record:
        """A row a mark, with the fields of a record."""
        for array, start in zip(self.state, self.start, strict=True):
            array[...] = start
        self.clock[...] = 0
        record: Record = np.empty((len(self.marks), len(FIELDS)), dtype=np.int32)
        self.play_compiled(
            self.state,
            self.settings,
            self.clock,
            *stream,
            coins,
            self.coin,
            self.scale,
            self.scratch,
            most,
            self.marks,
            record,
        )
        return record
