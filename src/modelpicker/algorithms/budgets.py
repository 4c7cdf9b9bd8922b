"""A budget: at most this many labels are bought. It means the same everywhere; the ways to keep it have names.

| way       | how it is kept                                                                       | where |
|-----------|--------------------------------------------------------------------------------------|-------|
| none      | the algorithm asks as it likes                                                       | everywhere by default |
| `"cap"`   | the algorithm asks as it likes until the labels are bought; then no more are bought  | `run_stream`, `pick`, the experiments' rule `hard` |
| `"paced"` | queries are thinned or added round by round, so that the labels last for the stream  | `run_stream`, campaigns |

What counts is a label that was bought, or was asked for and has not come yet. A skip gives its label back. The rule
`expected` of the experiments is not a way to keep a budget: there the algorithm's options are tuned, so that its mean
number of labels is the budget.

Once the budget is spent, `run_stream` and `pick` end. A campaign continues without queries, because its stream continues.
An experiment plays to the end of its stream, because it measures regret on all of it.

The functions here are the parts of the runner that differ between the two ways.
"""  # noqa: E501 (a table)

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from modelpicker.algorithms.pacing import FACTOR, MISSED, SPENT, BudgetPlan, make_plan, new_pace, turned
from modelpicker.algorithms.validation import check_choice, check_count
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import Floats

NO_LIMIT = 2**62

BudgetWay: TypeAlias = Literal["cap", "paced"]


@dataclass(frozen=True, slots=True)
class Budget:
    """At most this many labels, and how that is kept.

    Args:
        labels: how many labels may be bought.
        way: "cap" buys what the algorithm asks for until the labels are bought; "paced" makes them last.
        rounds: how many rounds are to come, if that is known; for "paced" only.

    >>> Budget(200, "paced", rounds=5_000)
    Budget(labels=200, way='paced', rounds=5000)
    """

    labels: int
    way: BudgetWay = "cap"
    rounds: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", check_count("budget", self.labels))
        check_choice("way", self.way, get_args(BudgetWay))
        if self.rounds is not None:
            object.__setattr__(self, "rounds", check_count("rounds", self.rounds))
            if self.way != "paced":
                raise InputError(
                    f"rounds={self.rounds}: only a paced budget plans ahead; leave it out, or pass way='paced'.",
                    parameter="rounds",
                )


def as_budget(budget: object) -> Budget | None:
    """A budget from what a caller passed: a number is a cap."""
    return budget if budget is None or isinstance(budget, Budget) else Budget(budget)  # type: ignore[arg-type]


class Cap(NamedTuple):
    """A cap as the runner sees it: how many labels the picker may have learned in all."""

    limit: int


UNLIMITED = Cap(NO_LIMIT)


class Paced(NamedTuple):
    """A paced budget as the runner sees it."""

    pace: Floats
    plan: BudgetPlan
    first: int  # rounds that had gone by before the plan was made


def kept_by(budget: Budget | None, rounds: int, labels: int, *, spread: bool) -> Cap | Paced:
    """A budget for a picker that has seen that many rounds and labels; `spread` says if labels should last."""
    if budget is None:
        return UNLIMITED
    if budget.way == "cap":
        return Cap(labels + budget.labels)
    return Paced(new_pace(), make_plan(budget.labels, budget.rounds, spread=spread), rounds)


def turn_no_dial(budget: Cap) -> float:
    """Under a cap the dial stays where it is."""
    return 1.0


def ask_as_proposed(
    budget: Cap,
    t: int,
    coin: float,
    query: bool,
    probability: float,
) -> tuple[bool, float]:
    """Under a cap the algorithm decides."""
    return query, probability


def below_cap(budget: Cap, bought: int) -> bool:
    """Whether the cap allows another label."""
    return bought < budget.limit


def at_cap(budget: Cap, bought: int) -> bool:
    """Whether all labels that the cap allows are bought."""
    return bought >= budget.limit


def nothing_to_return(budget: Cap) -> None:
    """A cap counts labels, not queries: a skip was never counted."""


def turn_dial(budget: Paced) -> float:
    """By what the algorithm's dial is multiplied."""
    return max(1.0, float(budget.pace[FACTOR]))


def ask_at_pace(budget: Paced, t: int, coin: float, query: bool, probability: float) -> tuple[bool, float]:
    """The query and its probability, as the pace allows them; a query is spent as soon as it is made."""
    pace, plan, first = budget
    if pace[SPENT] >= plan.budget:
        pace[MISSED] += 1.0
    if plan.budget < math.inf and probability > 0.0:
        probability = turned(pace, plan, t - first, probability)
        query = coin < probability
    pace[SPENT] += 1.0 if query else 0.0
    return query, probability


def always_affordable(budget: Paced, bought: int) -> bool:
    """A query that the pace allowed is paid for."""
    return True


def pace_spent(budget: Paced, bought: int) -> bool:
    """Whether the pace has nothing left."""
    return bool(budget.pace[SPENT] >= budget.plan.budget)


def keep_on_order(budget: Paced) -> None:
    """A label that is late stays spent: it may still come."""


def give_back(budget: Paced) -> None:
    """A skip gives its label back."""
    budget.pace[SPENT] -= 1.0
