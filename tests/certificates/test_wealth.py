"""The bets behind Race: their mean over everything that can happen, to the last case."""

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelpicker.certificates import wealth
from modelpicker.certificates.credit import NO_ROW, credit_against

ROUNDS = 6
BEST, FIRST, SECOND = range(3)


def new_state(models: int = 3) -> Any:
    """Nothing bet yet; everybody's opponent is the model FIRST, and that one's the best."""
    return SimpleNamespace(
        money=np.zeros((models, len(wealth.BETS))),
        earned=np.ones(models),
        credit=np.ones((0, models)),
        place=np.full(models, NO_ROW),
        single=np.zeros(9),
        pair=np.zeros((9, 2), dtype=np.int64),
        given=np.zeros(2, dtype=np.int64),
        opponent=np.array([FIRST, BEST, FIRST]),
        begun=np.full(models, wealth.NEVER),
        until=np.full(models, wealth.NEVER),
        apart=np.zeros(models, dtype=np.int64),
        over=np.zeros(models, dtype=np.int64),
    )


def new_settings(tolerance: float) -> Any:
    bets = np.array(wealth.BETS)
    return SimpleNamespace(
        bets=bets, trust=np.array(wealth.TRUST), growth=1.0 / (1.0 - bets * tolerance), tolerance=tolerance
    )


# Items of a population, equally likely: what the three models say where the label is 1.
TIED = [(1, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1)]
AHEAD = [(1, 0, 0), (1, 1, 0), (0, 1, 1), (1, 0, 1)]  # FIRST and SECOND are each behind the best by a quarter


def play(items: Any, tolerance: float, missing: set[int], changes: bool) -> Any:
    """The state after a sequence of items; the best model's opponent changes by what was seen before."""
    state, settings = new_state(), new_settings(tolerance)
    for i in range(3):
        wealth.begin(state, settings, i, 0)
    mistakes = np.zeros(3)
    for t, row in enumerate(items, 1):
        wealth.foresee(state, settings, row, t)
        if t not in missing:
            wealth.put_right(state, settings, row, t, (np.array(row) != 1).astype(float))
        mistakes += np.array(row) != 1
        wanted = FIRST if mistakes[FIRST] <= mistakes[SECOND] else SECOND
        if changes and state.opponent[BEST] != wanted:
            wealth.oppose(state, settings, BEST, wanted, t)
    return state, settings


@pytest.mark.parametrize("changes", [False, True], ids=["one opponent", "opponents that change"])
def test_the_wealth_against_the_best_model_is_a_martingale_where_all_are_equal(changes: bool) -> None:
    """Over all 4,096 streams, exactly: no error is allowed but that of rounding."""
    total = 0.0
    for items in itertools.product(TIED, repeat=ROUNDS):
        state, settings = play(items, 0.0, set(), changes)
        total += state.earned[BEST] * wealth.grown(state, settings, BEST, 0)
    assert total / len(TIED) ** ROUNDS == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("changes", [False, True], ids=["one opponent", "opponents that change"])
def test_credit_up_to_the_true_gap_leaves_a_supermartingale_for_all_bad_leaders_at_once(changes: bool) -> None:
    """With the credit of both opponents together, which is more than either alone is ever given."""
    total = 0.0
    for items in itertools.product(AHEAD, repeat=ROUNDS):
        state, settings = play(items, 0.25, set(), changes)
        rounds = wealth.rounds_bet(state, BEST, ROUNDS)
        credit = credit_against(state, BEST, FIRST) * credit_against(state, BEST, SECOND)
        total += state.earned[BEST] * credit * wealth.grown(state, settings, BEST, rounds)
        for leader in (FIRST, SECOND):
            alone = wealth.wealth_against(state, settings, BEST, leader, ROUNDS)
            assert alone <= state.earned[BEST] * credit * wealth.grown(state, settings, BEST, rounds) * (1 + 1e-12)
    assert 0.9 < total / len(AHEAD) ** ROUNDS <= 1.0 + 1e-12


def test_a_label_that_is_missing_never_makes_wealth_larger() -> None:
    for items in itertools.product(AHEAD, repeat=4):
        full, settings = play(items, 0.1, set(), changes=False)
        for missing in ({1}, {2, 3}, {1, 2, 3, 4}):
            less, _ = play(items, 0.1, missing, changes=False)
            for i in range(3):
                assert wealth.grown(less, settings, i, 4) <= wealth.grown(full, settings, i, 4) * (1 + 1e-12)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 17, 1_000, 123_457])
def test_whole_powers_are_powers(exponent: int) -> None:
    assert wealth.power(1.0003, exponent) == pytest.approx(1.0003**exponent, rel=1e-10)


def test_the_shares_of_the_bets_add_up() -> None:
    assert sum(wealth.TRUST) == pytest.approx(1.0)
    assert max(wealth.BETS) < 1.0


# The same with items on which all models agree: a filter drops these before anybody counts a round.
AGREED = [(1, 1, 1), (0, 0, 0)]


def passed(items: Any) -> list[Any]:
    """The rows that pass a filter: by all models at first, then by those that the past says are still in it."""
    found, mistakes = [], np.zeros(3)
    for place, row in enumerate(items):
        out = place >= 2 and mistakes[SECOND] > mistakes[FIRST]  # chosen for a batch of three, and stale within it
        if place % 3 == 2 or not place:
            among = (BEST, FIRST) if out else (BEST, FIRST, SECOND)
        if len({row[model] for model in among}) > 1:
            found.append(row)
            mistakes += np.array(row) != 1
    return found


@pytest.mark.parametrize(
    ("population", "tolerance"), [(TIED, 0.0), (AHEAD, 1 / 6)], ids=["equal", "ahead by a sixth"]
)
def test_rows_that_a_stale_filter_drops_leave_a_supermartingale(population: Any, tolerance: float) -> None:
    """Rounds are counted of the rows that pass only; the gaps are those of all rows."""
    total, everything = 0.0, [*population, *AGREED]
    for items in itertools.product(everything, repeat=5):
        rows = passed(items)
        state, settings = play(rows, tolerance, set(), changes=False)
        credit = credit_against(state, BEST, FIRST)
        rounds = wealth.rounds_bet(state, BEST, len(rows))
        total += state.earned[BEST] * credit * wealth.grown(state, settings, BEST, rounds)
    mean = total / len(everything) ** 5
    assert mean <= 1.0 + 1e-12
    if not tolerance:
        assert mean == pytest.approx(1.0, abs=1e-12)
