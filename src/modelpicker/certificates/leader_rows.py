"""Evidence about many models: only for the pairs of a few leaders with everybody else, a row for each leader.

A statement is about one model, and needs the pairs of that model alone. So a row is kept for each model that leads
or is close to it, with the same counts as in `evidence`. Rows begin in one of two ways:

* With the stream. Such a row holds what evidence of all pairs would hold, to the last bit.
* Later, because a model comes to the front when the first rounds are not remembered any more. Its bets begin there,
  with a wealth of 1. Of a stream, the contested rounds before count as closed: the worst that they could have been.

The proof is in docs/how-it-works/certificates.md. The kernels here take the place of those of the same use in
`evidence`: see ROW_PARTS.
"""

import math
from typing import NamedTuple

import numpy as np

from modelpicker.certificates.evidence import (
    ANSWERED,
    BETS,
    CLOSED,
    COMPLETE,
    CONTESTED,
    LEVELS,
    NOT_YET,
    OPEN,
    PASSED,
    ROUNDS,
    STREAM,
    TOLD,
    Counts,
    Room,
    Tables,
    gather_entry,
    level_of,
    note_round,
    place_of,
    rounds_of,
    weigh_level,
    weigh_pair,
)
from modelpicker.kernels.compiler import Function
from modelpicker.kernels.primitives import Floats, Ints

# A row that belongs to nobody.
FREE = -1
# Fields of `course`: how many rows have started late, and whether the first rounds are remembered no more.
LATE_ROWS, FORGOTTEN = range(2)
# This many rows are kept, and fewer where a row is large.
MOST_ROWS, FEWEST_ROWS, ROW_ROOM = 16, 4, 40_000


class LeaderRows(NamedTuple):
    """What is known about some models and each other one; a level is a range of query probabilities."""

    lost: Floats  # [row, level, j]: by how much more the leader has lost than j, over the rounds on which it has
    won: Floats  # likewise, by how much less
    lost_at: Floats  # likewise, the sum of where in the range of its level 1/q is, from 0 to 1
    won_at: Floats
    passed: Counts  # the rounds on which they differ that were not queried
    awaited: Counts  # likewise, queried and not answered
    closed: Counts  # [row, j]: likewise, closed beforehand
    leaders: Ints  # whose row it is, or FREE
    begun: Ints  # the first round that counts in a row
    before: Ints  # the open rounds before that
    turns: Ints  # 0 for a row that began with the stream, n for the n-th that began later
    levels: Ints  # [level]: whether there is something on it
    rates: Floats  # [j]: losses on labelled rounds, each over its query probability
    course: Ints
    since: Ints  # as in `Evidence`
    opened: Ints
    seen: Ints


def rows_for(models: int) -> int:
    """How many rows are kept for that many models."""
    return min(models, MOST_ROWS, max(FEWEST_ROWS, ROW_ROOM // models))


def new_rows(models: int, since: Ints | None = None, parts: bool = False, rows: int = 0) -> LeaderRows:
    """No leader yet, nothing seen; memory that is not touched is not given out by the system."""
    first = np.zeros(models, dtype=np.int64) if since is None else since
    rows = rows or rows_for(models)
    cells = (rows, LEVELS + 1, models)
    return LeaderRows(
        lost=np.zeros(cells),
        won=np.zeros(cells),
        lost_at=np.zeros(cells),
        won_at=np.zeros(cells),
        passed=np.zeros(cells, dtype=np.int32),
        awaited=np.zeros(cells, dtype=np.int32),
        closed=np.zeros((rows, models), dtype=np.int32),
        leaders=np.full(rows, FREE, dtype=np.int64),
        begun=np.zeros(rows, dtype=np.int64),
        before=np.zeros(rows, dtype=np.int64),
        turns=np.zeros(rows, dtype=np.int64),
        levels=np.zeros(LEVELS + 1, dtype=np.int64),
        rates=np.zeros(models),
        course=np.zeros(2, dtype=np.int64),
        since=first,
        opened=np.where(first == 0, 0, NOT_YET),
        seen=np.array([0, 0, first.max(), int(parts), 0]),
    )


CELLS = ("lost", "won", "lost_at", "won_at", "passed", "awaited")
ABOUT = ("closed", "leaders", "begun", "before", "turns")
SHARED = ("levels", "rates", "course", "since", "opened", "seen")


def copied(rows: LeaderRows) -> LeaderRows:
    """A copy that touches no memory that was not touched."""
    made = new_rows(len(rows.since), rows=len(rows.leaders))
    for field in SHARED:
        getattr(made, field)[...] = getattr(rows, field)
    for row in np.flatnonzero(rows.leaders != FREE).tolist():
        copy_row(rows, row, made, row)
    return made


def copy_row(source: LeaderRows, row: int, target: LeaderRows, place: int) -> None:
    """Copy a row to a place of another evidence, which has seen the same rounds."""
    for field in ABOUT:
        getattr(target, field)[place] = getattr(source, field)[row]
    for level in np.flatnonzero(source.levels | target.levels).tolist():
        for field in CELLS:
            getattr(target, field)[place, level] = getattr(source, field)[row, level]


def clear_row(rows: LeaderRows, row: int) -> None:
    """Nothing is known about a row, which belongs to nobody."""
    for level in np.flatnonzero(rows.levels).tolist():
        for field in CELLS:
            getattr(rows, field)[row, level] = 0
    rows.leaders[row] = FREE
    rows.closed[row] = rows.begun[row] = rows.before[row] = rows.turns[row] = 0


def begin_late(rows: LeaderRows, row: int, leader: int, number: int) -> None:
    """Begin a row with a round: of those before, contested ones count as closed."""
    clear_row(rows, row)
    rows.course[LATE_ROWS] += 1
    rows.leaders[row], rows.turns[row] = leader, rows.course[LATE_ROWS]
    rows.begun[row], rows.before[row] = number, rows.seen[OPEN]
    rows.closed[row] = rows.seen[CONTESTED]


def row_of(rows: LeaderRows, leader: int) -> int:
    """The row of a model; -1 if it has none."""
    found = -1
    for row in range(len(rows.leaders)):
        if rows.leaders[row] == leader:
            found = row
    return found


def gather_rows(
    rows: LeaderRows,
    tables: Tables,
    room: Room,
    row: Counts,
    number: int,
    lost: Floats,
    probability: float,
    kind: int,
) -> None:
    """Take in a round, the losses by its label, or both."""
    if not note_round(rows, row, number, kind):
        return
    level = level_of(tables.edges, probability)
    rows.levels[level] = 1
    complete = number >= rows.seen[COMPLETE]
    place = 0.0
    if kind in (TOLD, ANSWERED):
        place = place_of(tables.edges, level, probability)
        for j in range(len(lost)):
            if lost[j] > 0.0:
                rows.rates[j] += lost[j] / probability
    for at in range(len(rows.leaders)):
        leader = rows.leaders[at]
        if leader >= 0 and number >= rows.begun[at] and rows.since[leader] <= number:
            if kind != ANSWERED:
                note_differing(rows, at, level, row, leader, number, complete, kind)
            if kind in (TOLD, ANSWERED):
                note_losses(rows, at, level, place, row, leader, number, lost)


def note_differing(
    rows: LeaderRows, at: int, level: int, row: Counts, leader: int, number: int, complete: bool, kind: int
) -> None:
    """Count a round for each model that differs from the leader of a row."""
    said = row[leader]
    if not complete:
        for j in range(len(row)):
            if rows.since[j] <= number:
                count_one(rows, at, level, j, kind, int(row[j] != said))
    elif kind == PASSED:  # without a branch within: that compiles to a few vector instructions
        for j in range(len(row)):
            rows.passed[at, level, j] += row[j] != said
    else:
        for j in range(len(row)):
            count_one(rows, at, level, j, kind, int(row[j] != said))


def count_one(rows: LeaderRows, at: int, level: int, j: int, kind: int, differs: int) -> None:
    """Count a round for one model."""
    if kind == PASSED:
        rows.passed[at, level, j] += differs
    elif kind == CLOSED:
        rows.closed[at, j] += differs
    else:
        rows.awaited[at, level, j] += -differs if kind == TOLD else differs


def note_losses(
    rows: LeaderRows, at: int, level: int, place: float, row: Counts, leader: int, number: int, lost: Floats
) -> None:
    """Count a label for each model that loses more or less than the leader; where a loss is NaN, it is awaited."""
    mine = lost[leader]
    for j in range(len(lost)):
        if rows.since[j] <= number:
            if mine > lost[j]:
                rows.lost[at, level, j] += mine - lost[j]
                rows.lost_at[at, level, j] += place * (mine - lost[j])
            elif lost[j] > mine:
                rows.won[at, level, j] += lost[j] - mine
                rows.won_at[at, level, j] += place * (lost[j] - mine)
            elif lost[j] != mine and row[j] != row[leader]:
                rows.awaited[at, level, j] += 1


def weigh_row(rows: LeaderRows, tables: Tables, weights: Floats, kind: int, i: int, j: int) -> float:
    """The log evidence against j being better than i, a bet a place; returns by how much it might be at most."""
    at = row_of(rows, i)
    worst = 0.0
    for g in range(BETS):
        weights[g] = 0.0
    for level in range(LEVELS + 1):
        lost, won = rows.lost[at, level, j], rows.won[at, level, j]
        awaited = rows.awaited[at, level, j]
        missing = awaited + rows.passed[at, level, j]
        if rows.levels[level] == 0 or lost + won + missing == 0:
            continue
        worst += lost - won + missing
        above = rows.lost_at[at, level, j], rows.won_at[at, level, j]
        weigh_level(tables, weights, kind, level, lost, won, above[0], above[1], awaited, missing)
    if kind == STREAM:
        closed = rows.closed[at, j]
        worst += closed
        for g in range(BETS):
            weights[g] -= tables.rates[g] * closed
    return worst


def rounds_of_row(rows: LeaderRows, kind: int, i: int, j: int) -> int:
    """How many rounds two models can be compared on: as `rounds_of`; of a population, those in the row."""
    if min(rows.opened[i], rows.opened[j]) == NOT_YET:
        return 0
    if kind == STREAM:
        return int(rows.seen[ROUNDS] - max(rows.since[i], rows.since[j]))
    before = max(rows.opened[i], rows.opened[j], rows.before[row_of(rows, i)])
    return int(rows.seen[OPEN] - before)


def bar_of(evidence: object, best: int, bar: float, late: float) -> float:
    """The wealth that refutes a pair, as a logarithm: of all pairs, the same for each."""
    return bar


def bar_of_row(rows: LeaderRows, best: int, bar: float, late: float) -> float:
    """Likewise; the n-th row that began late has its own share of the error."""
    turn = rows.turns[row_of(rows, best)]
    return bar if turn == 0 else late + 2.0 * math.log(turn)


# Whether evidence of a model can be read: it is not there and never will be, it is there, it must be found first.
NO, YES, NOT_READ = range(3)


def readable(evidence: object, best: int) -> int:
    """Whether there is evidence of a model beside all others: there is, where all pairs are kept."""
    return YES


def readable_row(rows: LeaderRows, best: int) -> int:
    """Likewise, where there are rows; any row can be found as long as all rounds are remembered."""
    if row_of(rows, best) >= 0:
        return YES
    return NO if rows.course[FORGOTTEN] > 0 else NOT_READ


ROW_PARTS: dict[Function, Function] = {
    gather_entry: gather_rows,
    weigh_pair: weigh_row,
    rounds_of: rounds_of_row,
    bar_of: bar_of_row,
    readable: readable_row,
}
