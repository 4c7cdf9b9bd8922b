"""The one runner: rounds are played here, for every algorithm and every use, interpreted or compiled.

An algorithm brings three kernels: `decide`, `recommend` and `learn`; one that stops by itself brings `finished` as
well. A use of the runner brings a `RunMode`: how the budget is kept, what is written down, when to stop, and
whether a missing label was skipped or is late. `run_modes` has the modes. The functions here call empty ones of
these names; `Kernel` and `runner` put others in their place. So there is one loop, `play_rounds`, and each use pays
only for what it needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
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
    find_losses,
)

# Fields of a picker's clock: rounds observed, labels learned.
ROUNDS, LABELS = range(2)

# Why `play_rounds` returned: no more rounds, the budget is spent, the stop rule holds, the algorithm has finished,
# evidence of the model that stands best must be found first.
END, BUDGET, CERTIFIED, WON, UNREAD = range(5)

# Rounds that take about as long, interpreted, as it takes to call compiled code, and to load Numba.
FEW = 8
MANY = 20_000

AlgorithmState: TypeAlias = Any  # an algorithm's own NamedTuple of arrays
AlgorithmSettings: TypeAlias = Any  # an algorithm's own NamedTuple of numbers
KeptBudget: TypeAlias = Any  # a `Cap` or a `Paced`
Record: TypeAlias = Any  # what a use writes down of the rounds


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
    state: AlgorithmState, settings: AlgorithmSettings, t: int, row: Codes, lost: Floats, probability: float
) -> None:
    """An algorithm's own: take in what the label of round t, queried with this probability, says about each model.

    Losses go from 0 (right) to 1 (wrong). NaN stands for one that is not known.
    """
    raise NotImplementedError


def finished(state: AlgorithmState, settings: AlgorithmSettings) -> bool:
    """An algorithm's own: whether it needs no more rounds."""
    raise NotImplementedError


def never(state: AlgorithmState, settings: AlgorithmSettings) -> bool:
    """Most algorithms continue for as long as there are rounds."""
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
    return coins[QUERY] < probability, probability, recommended, max(row[speaker], ABSTAINED)


def learn_label(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    t: int,
    row: Codes,
    label: int,
    probability: float,
    scratch: Scratch,
) -> None:
    """Take in the label of round t, which was queried, now or later."""
    clock[LABELS] += 1
    find_losses(scratch.lost, row, label, scratch.graded)
    learn(state, settings, t, row, scratch.lost, probability)


def take_row(rows: Codes, i: int, room: Codes, classes: int) -> tuple[Codes, bool]:
    """A source's own: row `i`, and whether it can be played; it may be copied to the room."""
    raise NotImplementedError


def turn(budget: KeptBudget) -> float:
    """A budget's own: by what the dial of the algorithm is multiplied in this round."""
    raise NotImplementedError


def allow(budget: KeptBudget, t: int, coin: float, query: bool, probability: float) -> tuple[bool, float]:
    """A budget's own: the query of round t, and its probability, of those that the algorithm proposes."""
    raise NotImplementedError


def affords(budget: KeptBudget, bought: int) -> bool:
    """A budget's own: whether a label may be bought when that many have been."""
    raise NotImplementedError


def spent(budget: KeptBudget, bought: int) -> bool:
    """A budget's own: whether nothing is left when that many labels have been bought."""
    raise NotImplementedError


def missing(budget: KeptBudget) -> None:
    """A budget's own: the label of a query is not there."""
    raise NotImplementedError


def write(
    record: Record, i: int, row: Codes, query: bool, probability: float, recommended: int, predicted: int
) -> tuple[bool, float]:
    """A record's own: note what was decided in round i of this call; the query and the probability that count."""
    raise NotImplementedError


def after_round(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    i: int,
    row: Codes,
    label: int,
    lost: Floats,
    query: bool,
    probability: float,
    coin: float,
    budget: KeptBudget,
    record: Record,
) -> int:
    """A stop rule's own: whether to stop after round i, and why; END if not. The coin decides between equals.

    If there is a label, `lost` has the losses that it stands for.
    """
    raise NotImplementedError


def observe_within(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    row: Codes,
    coins: Floats,
    first_spare: float,
    scale: float,
    scratch: Scratch,
    budget: KeptBudget,
) -> tuple[bool, float, int, int]:
    """`observe_round` within a budget."""
    query, probability, recommended, predicted = observe_round(
        state, settings, clock, row, coins, first_spare, scale * turn(budget), scratch
    )
    query, probability = allow(budget, clock[ROUNDS], coins[QUERY], query, probability)
    return query, probability, recommended, predicted


def play_rounds(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    rows: Codes,
    labels: Codes,
    coins: Floats,
    first_spare: float,
    scale: float,
    scratch: Scratch,
    budget: KeptBudget,
    record: Record,
) -> tuple[int, int]:
    """Decide many rounds, and learn each label that is bought before the next; how many, and why it ended.

    A label is looked at only if it is bought. The run ends before a row that cannot be played, and after the round
    in which the stop rule says so.
    """
    classes = len(scratch.tally) - 1
    for i in range(len(rows)):
        row, playable = take_row(rows, i, scratch.row, classes)
        if not playable:
            return i, END
        for c in range(4):
            scratch.coins[c] = coins[i, c]
        query, probability, recommended, predicted = observe_within(
            state, settings, clock, row, scratch.coins, first_spare, scale, scratch, budget
        )
        query, probability = write(record, i, row, query, probability, recommended, predicted)
        label = labels[i] if query and affords(budget, clock[LABELS]) else SKIPPED
        if label != SKIPPED:
            learn_label(state, settings, clock, clock[ROUNDS], row, label, probability, scratch)
        elif query:
            missing(budget)
        coin = coins[i, SPARE] if clock[LABELS] > 0 else first_spare
        stop = after_round(
            state, settings, clock, i, row, label, scratch.lost, query, probability, coin, budget, record
        )
        if stop != END:
            return i + 1, stop
    return len(rows), END


Parts: TypeAlias = Mapping[Function, Function]


@dataclass(frozen=True, eq=False)
class RunMode:
    """What one use of the runner puts in place of the empty functions; `name` is told while it compiles."""

    name: str
    parts: Parts


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
    def digits(self) -> str:
        """Digits that stand for all that this algorithm's kernels do."""
        return code_digits(play_rounds, self.calls)


class Runner:
    """`play_rounds` of an algorithm in one mode, interpreted and compiled."""

    def __init__(self, kernel: Kernel, mode: RunMode) -> None:
        self.calls = {**kernel.calls, **mode.parts}
        self.play = CompiledKernel(play_rounds, self.calls, f"{kernel.name} {mode.name}".rstrip())
        """Many rounds, compiled when it is first called."""
        self._interpreted = 0

    @cached_property
    def observe(self) -> Function:
        """One round, interpreted: `observe_within`."""
        return with_parts(observe_within, self.calls)

    @cached_property
    def play_interpreted(self) -> Function:
        """Many rounds, interpreted."""
        return with_parts(play_rounds, self.calls)

    def worth_compiling(self, rounds: int) -> bool:
        """Whether compiled code is quicker for that many more rounds, the wait for Numba included."""
        self._interpreted += rounds
        waited = self._interpreted >= MANY and not self.play.on_its_way
        return rounds >= FEW and (self.play.ready or waited)


@cache
def runner(kernel: Kernel, mode: RunMode) -> Runner:
    """The runner of an algorithm in one mode, made once."""
    return Runner(kernel, mode)


def new_outcome(rounds: int) -> Outcome:
    """Room for what is decided over that many rounds."""
    return Outcome(
        queried=np.empty(rounds, dtype=np.bool_),
        probability=np.empty(rounds),
        recommended=np.empty(rounds, dtype=np.int32),
        predicted=np.empty(rounds, dtype=np.int64),
    )


def first_rounds(outcome: Outcome, rounds: int) -> Outcome:
    """What was decided over the first rounds."""
    return Outcome(
        outcome.queried[:rounds],
        outcome.probability[:rounds],
        outcome.recommended[:rounds],
        outcome.predicted[:rounds],
    )


def no_labels(rounds: int) -> npt.NDArray[np.int32]:
    """Labels of rounds none of which is known yet."""
    return np.full(rounds, SKIPPED, dtype=np.int32)
