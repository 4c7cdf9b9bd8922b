"""Budget pacing: an algorithm's own rule, turned up or down round by round so that a budget lasts.

An algorithm says how likely it would query a round; pacing multiplies that. Above 1 the factor turns the
algorithm's dial, below 1 it thins the queries that the dial's own setting would make. The factor follows a target:
the labels that are left, shared evenly between the rounds to come that could be queried. How many those are is not
known, so it is estimated from the rounds gone by, cautiously: as long as the budget may well suffice for all of
them, all are bought.

* With a known length, the rounds to come are those that are left. Planning ends a little before the stream does,
  and what is left then is spent as fast as it goes.
* With an unknown length, half of the budget b goes to the first 4b rounds that could be queried, at a rate that
  falls with the root of their number, as Model Picker's own does. After n of them, b / (1 + √(n / 4b)) is left:
  half of it is spent by the time there are four times as many, and something is left however long the stream
  continues.

The probability of a round depends on the past and on the round itself, never on its label, so estimates stay
unbiased until the budget is spent.
"""

import math
from typing import NamedTuple

import numpy as np

from modelpicker.kernels.primitives import Floats

# Fields of a pace: labels bought or on order, rounds that could have been queried, labels wanted by now, the
# factor, the last target, and rounds that came when nothing was left.
SPENT, ASKABLE, WANTED, FACTOR, TARGET, MISSED = range(6)

RESERVE = 0.02  # the share of a stream of known length that is not planned for
LIKELY, POSSIBLE = 0.5, 2.0  # standard errors by which fewer rounds than estimated could be queried
ENOUGH, BOLD = 12.0, 0.15  # rounds, and a share of the budget, that it takes to know how many those are
PATIENCE = 8.0  # labels by which spending may err before the factor changes much
LEAST, MOST = 2.0**-30, 2.0**56


class BudgetPlan(NamedTuple):
    """What a budget is planned for; infinite numbers stand for none, and for an unknown length."""

    budget: float
    rounds: float


CLOSED = BudgetPlan(0.0, math.inf)
"""A plan under which nothing is queried."""


AT_ONCE = 0.0
"""The rounds of a plan by which labels are bought as fast as the algorithm asks, while there are any left."""


def make_plan(budget: int | None, expected_rounds: int | None, *, spread: bool = True) -> BudgetPlan:
    """The plan for a budget, if there is one, over a number of rounds, if that is known."""
    rounds = math.inf if expected_rounds is None else float(expected_rounds)
    return BudgetPlan(math.inf if budget is None else float(budget), rounds if spread else AT_ONCE)


def new_pace() -> Floats:
    """Nothing spent, nothing seen."""
    return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def aim(pace: Floats, plan: BudgetPlan, t: int) -> float:
    """The mean probability of a query that spends the budget in time, on rounds that can be queried at all."""
    left = plan.budget - float(pace[SPENT])
    if left <= 0.0:
        return 0.0
    seen = float(pace[ASKABLE]) + 1.0
    if plan.rounds == math.inf:
        return min(1.0, left / (2.0 * seen + 4.0 * math.sqrt(seen * plan.budget)))  # left = b / (1 + √(n / 4b))
    askable = (plan.rounds * (1.0 - RESERVE) - (t - 1.0)) * seen / t
    error = askable / math.sqrt(seen + 1.0)
    informed = seen >= ENOUGH or pace[SPENT] < BOLD * plan.budget
    if left >= askable or (informed and left >= askable - POSSIBLE * error):
        return 1.0
    return min(1.0, left / (askable - LIKELY * error))


def turned(pace: Floats, plan: BudgetPlan, t: int, proposed: float) -> float:
    """The probability that the budget allows, of one that the algorithm proposes; turns the factor for the next."""
    target = aim(pace, plan, t)
    if target == 0.0:
        return 0.0
    if plan.rounds == AT_ONCE:
        return proposed
    if pace[ASKABLE] == 0.0:
        pace[FACTOR] = target / proposed
    elif plan.rounds == math.inf:
        pace[FACTOR] *= min(1.0, target / pace[TARGET])  # which falls for ever: the factor must not lag behind
    pace[TARGET] = target
    thinned = min(1.0, proposed * min(1.0, pace[FACTOR]))
    pace[ASKABLE] += 1.0
    pace[WANTED] += target
    turn = min(1.0, max(-1.0, PATIENCE * (target - thinned) / (PATIENCE + pace[WANTED])))
    pace[FACTOR] = min(MOST, max(LEAST, pace[FACTOR] * ((2.0 + turn) / (2.0 - turn))))
    return 1.0 if target == 1.0 else thinned
