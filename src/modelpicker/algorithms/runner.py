"""A round and a stream, for every algorithm: one source, interpreted or compiled.

An algorithm brings three kernels: `decide`, `recommend` and `learn`; one that stops by itself brings `finished` as
well. The functions here call empty ones of these names; `Kernel` puts the algorithm's own in their place, as they
are or compiled.
"""

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.kernels.compiler import CompiledKernel, Function, check_kernel, code_digits, with_parts
from modelpicker.kernels.primitives import (
    ABSTAINED,
    FOLLOW,
    QUERY,
    SKIPPED,
    SPARE,
    Codes,
    Floats,
    Ints,
    Scratch,
)

# Fields of a picker's clock: rounds observed, labels learned.
ROUNDS, LABELS = range(2)

AlgorithmState: TypeAlias = Any  # an algorithm's own NamedTuple of arrays
AlgorithmSettings: TypeAlias = Any  # an algorithm's own NamedTuple of numbers


def decide(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """An algorithm's own: the query probability of round t, counted from 1, and the model that predicts.

    The model may be FOLLOW: then the recommended one predicts.
    """
    raise NotImplementedError


def recommend(state: AlgorithmState, settings: AlgorithmSettings, coin: float) -> int:
    """An algorithm's own: the best model so far; the coin decides between equals."""
    raise NotImplementedError


def learn(
    state: AlgorithmState, settings: AlgorithmSettings, t: int, row: Codes, label: int, probability: float
) -> None:
    """An algorithm's own: take in the label of round t, which was queried with this probability."""
    raise NotImplementedError


def finished(state: AlgorithmState, settings: AlgorithmSettings) -> bool:
    """An algorithm's own: whether it needs no more rounds."""
    raise NotImplementedError


def never(state: AlgorithmState, settings: AlgorithmSettings) -> bool:
    """Most algorithms go on for as long as there are rounds."""
    return False


EMPTY: tuple[Function, ...] = (decide, recommend, learn, finished)


class Outcome(NamedTuple):
    """What a picker decided over the rounds of one call, an array per column."""

    queried: npt.NDArray[np.bool_]
    probability: Floats
    recommended: Codes
    predicted: Ints


def observe_round(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    row: Codes,
    coins: Floats,
    first_spare: float,
    scale: float,
    scratch: Scratch,
) -> tuple[bool, float, int, int]:
    """Decide one round: whether to query, with what probability, the recommended model, the prediction."""
    clock[ROUNDS] += 1
    if clock[LABELS] == 0:
        coins[SPARE] = first_spare  # without a label nothing has changed, so neither does a tie
    probability, speaker = decide(state, settings, clock[ROUNDS], row, coins, scale, scratch)
    recommended = recommend(state, settings, coins[SPARE])
    if speaker == FOLLOW:
        speaker = recommended
    return coins[QUERY] < probability, probability, recommended, row[speaker]


def learn_label(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    t: int,
    row: Codes,
    label: int,
    probability: float,
) -> None:
    """Take in the label of round t, which was queried, now or later."""
    clock[LABELS] += 1
    learn(state, settings, t, row, label, probability)


def take_row(rows: Codes, i: int, row: Codes, classes: int) -> bool:
    """Copy row `i`; false if it holds anything but an abstention and codes below `classes`."""
    lowest = largest = rows[i, 0]
    for model in range(len(row)):
        code = rows[i, model]
        row[model] = code
        lowest = min(lowest, code)
        largest = max(largest, code)
    return bool(lowest >= ABSTAINED and largest < classes)


def play_stream(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    rows: Codes,
    labels: Codes,
    coins: Floats,
    first_spare: float,
    scale: float,
    scratch: Scratch,
    outcome: Outcome,
    limit: int,
) -> int:
    """Decide many rounds, each queried label learned before the next; how many were decided.

    It stops before a row that cannot be played, and after the round in which the algorithm has finished or the
    number of labels has reached the limit.
    """
    queried, probabilities, recommendations, predictions = outcome
    row = scratch.row
    classes = len(scratch.tally) - 1
    for i in range(len(rows)):
        if not take_row(rows, i, row, classes):
            return i
        query, probability, recommended, predicted = observe_round(
            state, settings, clock, row, coins[i], first_spare, scale, scratch
        )
        queried[i] = query
        probabilities[i] = probability
        recommendations[i] = recommended
        predictions[i] = predicted
        if query and labels[i] != SKIPPED:
            learn_label(state, settings, clock, clock[ROUNDS], row, labels[i], probability)
        if clock[LABELS] >= limit or finished(state, settings):
            return i + 1
    return len(rows)


class Kernel:
    """The functions of an algorithm, ready to run at either speed."""

    def __init__(self, decide: Function, recommend: Function, learn: Function, finished: Function = never) -> None:
        self.parts = {"decide": decide, "recommend": recommend, "learn": learn, "finished": finished}
        for part in self.parts.values():
            check_kernel(part)
        self.calls = dict(zip(EMPTY, self.parts.values(), strict=True))
        """What takes the place of the empty functions."""
        self.name = "an algorithm"
        """Whose kernel it is."""

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.name = str(getattr(owner, "name", owner.__name__))

    @cached_property
    def observe(self) -> Function:
        """`observe_round` of this algorithm, interpreted."""
        return with_parts(observe_round, self.calls)

    @cached_property
    def learn(self) -> Function:
        """`learn_label` of this algorithm, interpreted."""
        return with_parts(learn_label, self.calls)

    @property
    def recommend(self) -> Function:
        """The algorithm's own `recommend`, interpreted."""
        return self.parts["recommend"]

    @cached_property
    def stream(self) -> CompiledKernel:
        """`play_stream` of this algorithm, compiled when it is first called."""
        return CompiledKernel(play_stream, self.calls, self.name)

    @cached_property
    def digits(self) -> str:
        """Digits that stand for all that this algorithm's kernels do."""
        return code_digits(play_stream, self.calls)
