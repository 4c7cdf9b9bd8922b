"""The credit that opponents have earned in `Race`: a row per leader, and single entries for everybody else.

When a model gets another opponent, what the old one was credited is noted with its name. Nearly all of that belongs
to leaders, who are everybody's opponent at once, so each leader has a row with a place per model. Only the leader's
own opponent, the runner-up, is another: of that a single entry is kept. A runner-up that takes the lead gets a row,
and its entries move there.

Rows and entries are given out in turn; if there are no more, the oldest is given out again, and the credit in it is
lost. Credit only makes wealth larger, so less of it proves less, and nothing that is false.
"""

from typing import Any, TypeAlias

Book: TypeAlias = Any  # has the arrays credit, place, owner, single, pair, given

# This many rows and single entries there are, or as many as the models can ever need.
MOST_ROWS, MOST_SINGLES = 1_024, 4_096
# Fields of `given`: rows and single entries, since the beginning.
ROWS, SINGLES = range(2)
MODEL, OPPONENT = range(2)
NO_ROW = -1
MOST = 1e250  # more wealth than this is not counted


def credit_against(state: Book, i: int, opponent: int) -> float:
    """By how much the credit of an opponent has multiplied the wealth of a model, while it was its opponent."""
    row = state.place[opponent]
    if row != NO_ROW:
        return float(state.credit[row, i])
    entry = single_of(state, i, opponent)
    return float(state.single[entry]) if entry >= 0 else 1.0


def give_credit(state: Book, i: int, opponent: int, factor: float) -> None:
    """Multiply what an opponent has earned against a model."""
    row = state.place[opponent]
    if row != NO_ROW:
        state.credit[row, i] = min(MOST, state.credit[row, i] * factor)
        return
    entry = single_of(state, i, opponent)
    if entry < 0:
        entry = state.given[SINGLES] % len(state.single)
        state.given[SINGLES] += 1
        state.pair[entry, MODEL], state.pair[entry, OPPONENT] = i, opponent
        state.single[entry] = 1.0
    state.single[entry] = min(MOST, state.single[entry] * factor)


def single_of(state: Book, i: int, opponent: int) -> int:
    """Where the single entry of two models is; -1 if there is none."""
    for entry in range(min(state.given[SINGLES], len(state.single))):
        if state.pair[entry, MODEL] == i and state.pair[entry, OPPONENT] == opponent:
            return entry
    return -1


def open_row(state: Book, leader: int, spared: int) -> None:
    """Give a leader a row, unless it has one; not that of the model that is spared."""
    if state.place[leader] != NO_ROW:
        return
    row = state.given[ROWS] % len(state.credit)
    if state.given[ROWS] >= len(state.credit):
        if state.owner[row] == spared:
            state.given[ROWS] += 1
            row = state.given[ROWS] % len(state.credit)
        state.place[state.owner[row]] = NO_ROW
    state.given[ROWS] += 1
    state.owner[row], state.place[leader] = leader, row
    for i in range(len(state.place)):
        state.credit[row, i] = 1.0
    for entry in range(min(state.given[SINGLES], len(state.single))):
        if state.pair[entry, OPPONENT] == leader:
            state.credit[row, state.pair[entry, MODEL]] = state.single[entry]
            state.single[entry] = 1.0
