"""The uses of the runner: how each keeps its budget, what it writes down, when it stops.

| mode                     | budget       | stops when                 | labels             | used by |
|--------------------------|--------------|----------------------------|--------------------|---------|
| `STREAM`                 | none or cap  | won, spent                 | known or looked up | `run_stream`, `pick` |
| `CERTIFIED_STREAM`       | none or cap  | certified, won, spent      | known or looked up | `run_stream(stop_when=)`, `pick(tolerance=)` |
| `PACED_STREAM`           | paced        | won, spent                 | known or looked up | `run_stream(budget=Budget(…, "paced"))` |
| `PACED_CERTIFIED_STREAM` | paced        | certified, won, spent      | known or looked up | both |
| `CAMPAIGN`               | none, paced  | never: the stream continues  | late               | campaigns |

The experiments have one of their own, with a cap, which plays to the end and writes down metrics.
"""  # noqa: E501 (a table)

from typing import NamedTuple

from modelpicker.algorithms.budgets import (
    always_affordable,
    ask_as_proposed,
    ask_at_pace,
    at_cap,
    below_cap,
    give_back,
    keep_on_order,
    nothing_to_return,
    pace_spent,
    turn_dial,
    turn_no_dial,
)
from modelpicker.algorithms.runner import (
    BUDGET,
    CERTIFIED,
    END,
    LABELS,
    ROUNDS,
    UNREAD,
    WON,
    AlgorithmSettings,
    AlgorithmState,
    KeptBudget,
    Outcome,
    Parts,
    Record,
    RunMode,
    affords,
    after_round,
    allow,
    finished,
    missing,
    recommend,
    spent,
    take_row,
    turn,
    write,
)
from modelpicker.certificates.evidence import ANSWERED, ASKED, PASSED
from modelpicker.certificates.leader_rows import NO, ROW_PARTS, YES
from modelpicker.certificates.stop_rules import Watch, is_certified
from modelpicker.kernels.primitives import NOT_RUN, SKIPPED, Codes, Floats, Ints, place_code


def check_row(rows: Codes, i: int, room: Codes, classes: int) -> tuple[Codes, bool]:
    """Copy row `i`; it is not playable if it holds anything but codes below `classes`, ABSTAINED and NOT_RUN."""
    lowest = largest = rows[i, 0]
    for model in range(len(room)):
        code = rows[i, model]
        room[model] = place_code(code, model)
        lowest = min(lowest, code)
        largest = max(largest, code)
    return room, bool(lowest >= NOT_RUN and largest < classes)


def trust_row(rows: Codes, i: int, room: Codes, classes: int) -> tuple[Codes, bool]:
    """Row `i` as it is, for rows that were checked before."""
    return rows[i], True


def write_outcome(
    record: Outcome, i: int, row: Codes, query: bool, probability: float, recommended: int, predicted: int
) -> tuple[bool, float]:
    """Write down all that was decided."""
    record.queried[i] = query
    record.probability[i] = probability
    record.recommended[i] = recommended
    record.predicted[i] = predicted
    return query, probability


class Watched(NamedTuple):
    """An outcome, with what it takes to check a stop rule."""

    outcome: Outcome
    watch: Watch


def write_watched(
    record: Watched, i: int, row: Codes, query: bool, probability: float, recommended: int, predicted: int
) -> tuple[bool, float]:
    """Write down all that was decided, beside a stop rule."""
    return write_outcome(record.outcome, i, row, query, probability, recommended, predicted)


class Replay(NamedTuple):
    """An outcome that is to be written, or that was decided before."""

    outcome: Outcome
    decided: bool


def write_or_replay(
    record: Replay, i: int, row: Codes, query: bool, probability: float, recommended: int, predicted: int
) -> tuple[bool, float]:
    """Write down what was decided; what was decided before stands, whatever would be decided now."""
    if record.decided:
        return record.outcome.queried[i], record.outcome.probability[i]
    return write_outcome(record.outcome, i, row, query, probability, recommended, predicted)


def to_the_end(
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
    """Play all rounds."""
    return END


def until_won(
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
    """Stop when the algorithm has finished, or the budget is spent."""
    if finished(state, settings):
        return WON
    return BUDGET if spent(budget, clock[LABELS]) else END


def until_certified(
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
    record: Watched,
) -> int:
    """Stop when the recommended model is certified, the algorithm has finished, or the budget is spent."""
    entry = PASSED
    if query:
        entry = ASKED if label == SKIPPED else ANSWERED
    best = recommend(state, settings, coin)
    found = is_certified(record.watch, row, clock[ROUNDS] - 1, lost, probability, entry, best)
    if found != NO:
        return CERTIFIED if found == YES else UNREAD
    if finished(state, settings):
        return WON
    return BUDGET if spent(budget, clock[LABELS]) else END


CAPPED: Parts = {
    turn: turn_no_dial,
    allow: ask_as_proposed,
    affords: below_cap,
    spent: at_cap,
    missing: nothing_to_return,
}
PACED: Parts = {
    turn: turn_dial,
    allow: ask_at_pace,
    affords: always_affordable,
    spent: pace_spent,
    missing: give_back,
}
LATE_LABELS: Parts = {missing: keep_on_order}
STOP_WHEN_WON: Parts = {take_row: check_row, write: write_outcome, after_round: until_won}
STOP_WHEN_CERTIFIED: Parts = {take_row: check_row, write: write_watched, after_round: until_certified}
PLAY_TO_THE_END: Parts = {take_row: check_row, write: write_or_replay, after_round: to_the_end}

STREAM = RunMode("", {**CAPPED, **STOP_WHEN_WON})
CERTIFIED_STREAM = RunMode("with a stop rule", {**CAPPED, **STOP_WHEN_CERTIFIED})
CERTIFIED_ROWS = RunMode("with a stop rule for many models", {**CERTIFIED_STREAM.parts, **ROW_PARTS})
PACED_STREAM = RunMode("with a paced budget", {**PACED, **STOP_WHEN_WON})
PACED_CERTIFIED_STREAM = RunMode("with a paced budget and a stop rule", {**PACED, **STOP_WHEN_CERTIFIED})
PACED_CERTIFIED_ROWS = RunMode(
    "with a paced budget and a stop rule for many models", {**PACED_CERTIFIED_STREAM.parts, **ROW_PARTS}
)
CAMPAIGN = RunMode("for campaigns", {**PACED, **LATE_LABELS, **PLAY_TO_THE_END})
