"""What the theorems promise for a collection, beside what simulation shows.

The collection is taken for the population: items are drawn from it independently, with replacement.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from modelpicker.algorithms import ModelPicker, run_stream
from modelpicker.experiments.realizations import Pool, key_of
from modelpicker.kernels.philox import draw_many
from modelpicker.kernels.primitives import Floats
from modelpicker.theory import Hardness, bounds, sharper

# Rounds played at a time, so that memory does not grow with the stream.
PIECE = 2**16
# Predictions that are played in a few seconds, and as many as a stream may have that is played unasked.
AFFORDABLE = 5 * 10**7
LONGEST = 2 * 10**7


@dataclass(frozen=True)
class Promise:
    """A quantity, what is promised of it, and what came out; None where nothing is promised or was measured."""

    quantity: str
    theorem: float | None
    sharper: float | None
    most: float
    """What it cannot exceed anyway: a bound from there on is vacuous."""
    measured: float | None
    measured_se: float | None

    def vacuous(self, bound: float | None) -> bool:
        """Whether a bound says nothing that is not certain anyway."""
        return bound is not None and bound >= self.most


@dataclass(frozen=True)
class Need:
    """How many rounds until a quantity is promised to be at most `wanted`."""

    quantity: str
    wanted: float
    theorem: int
    sharper: int


def usual_realizations(rounds: int, models: int) -> int:
    """As many streams as are played in a few seconds, from 10 to 500; none if a single one takes long."""
    if rounds * models > LONGEST:
        return 0
    return max(10, min(500, AFFORDABLE // (rounds * models)))


def make_promises(found: Hardness, rounds: int, runs: Floats) -> list[Promise]:
    """Every promise for this many rounds; `runs` are those that `measure` played."""
    divided = found.disagreement * rounds
    loosest, tightest = _theorems(found, rounds), _sharper(found, rounds)
    most = {
        "regret": divided,
        "queries": divided,
        "queries_stochastic": divided,
        "leader_regret": found.largest_gap * rounds,
        "random_round_accuracy_gap": found.largest_gap,
        "accuracy_gap": found.largest_gap,
        "misidentification": 1.0,
    }
    measured = dict(zip(MEASURED, _means(runs), strict=True))
    measured["queries_stochastic"] = measured["queries"]
    return [
        Promise(name, loosest.get(name), tightest.get(name), limit, *measured[name]) for name, limit in most.items()
    ]


def make_needs(found: Hardness, gap: float = 0.01, probability: float = 0.05) -> list[Need]:
    """How long until the promises are worth something; those that need one best model only if there is one."""
    k, rate = found.models, found.disagreement
    at_random = Need(
        "random_round_accuracy_gap",
        gap,
        bounds.rounds_for_random_round(gap, k),
        sharper.rounds_until(lambda rounds: sharper.regret(rounds, k, rate * rounds) / rounds, gap),
    )
    if found.tied:
        return [at_random]
    lead, rivals = found.closeness, found.rivals
    return [
        at_random,
        Need(
            "accuracy_gap",
            gap,
            bounds.rounds_for_accuracy_gap(gap, k, lead, found.largest_gap),
            sharper.rounds_until(lambda rounds: sharper.accuracy_gap(rounds, *rivals), gap),
        ),
        Need(
            "misidentification",
            probability,
            bounds.rounds_for_misidentification(probability, k, lead),
            sharper.rounds_until(lambda rounds: sharper.misidentification(rounds, *rivals), probability),
        ),
    ]


def _theorems(found: Hardness, rounds: int) -> dict[str, float]:
    """The paper's."""
    k, lead, most = found.models, found.closeness, found.largest_gap
    always = {
        "regret": bounds.regret(rounds, k),
        "queries": bounds.queries(rounds, k, found.mistakes / found.items * rounds),
        "random_round_accuracy_gap": bounds.random_round_accuracy_gap(rounds, k),
    }
    if found.tied:
        return always
    return always | {
        "queries_stochastic": bounds.stochastic_queries(rounds, k, found.gap, found.classes),
        "leader_regret": bounds.leader_regret(k, lead, most),
        "accuracy_gap": bounds.accuracy_gap(rounds, k, lead, most),
        "misidentification": bounds.misidentification(rounds, k, lead),
    }


def _sharper(found: Hardness, rounds: int) -> dict[str, float]:
    """Those that say more."""
    k, divided = found.models, found.disagreement * rounds
    lost = sharper.regret(rounds, k, divided)
    always = {
        "regret": lost,
        "queries": sharper.queries(rounds, k, found.mistakes / found.items * rounds, divided),
        "random_round_accuracy_gap": lost / rounds,
    }
    if found.tied:
        return always
    return always | {
        "queries_stochastic": sharper.stochastic_queries(rounds, k, found.gap, found.disagreement),
        "leader_regret": sharper.leader_regret(*found.rivals),
        "accuracy_gap": sharper.accuracy_gap(rounds, *found.rivals),
        "misidentification": sharper.misidentification(rounds, *found.rivals),
    }


MEASURED = ("regret", "queries", "leader_regret", "random_round_accuracy_gap", "accuracy_gap", "misidentification")


def measure_promises(
    pool: Pool, found: Hardness, rounds: int, realizations: int, seed: int, advance: Callable[[], Any]
) -> Floats:
    """What Model Picker does on streams drawn from the pool: one row per realization, a column each of MEASURED."""
    runs = np.empty((realizations, len(MEASURED)))
    for number in range(realizations):
        runs[number] = _play(pool, found, rounds, key_of(seed, "promises", number))
        advance()
    return runs


def _play(pool: Pool, found: Hardness, rounds: int, key: int) -> tuple[float, ...]:
    """One stream, played by Model Picker and by its variant that recommends the model of a random round."""
    picker = ModelPicker(found.models, key)
    wanderer = ModelPicker(found.models, key, recommend="random-round")
    mistakes = np.zeros(found.models, dtype=np.int64)
    wrong = bought = 0
    behind = 0.0
    for start in range(0, rounds, PIECE):
        rows, labels = _drawn(pool, start, min(PIECE, rounds - start), key)
        trace = run_stream(picker, rows, labels)
        run_stream(wanderer, rows, labels)
        mistakes += (rows != labels[:, None]).sum(axis=0)
        wrong += int((trace.predicted != labels).sum())
        bought += trace.labels_used
        behind += float(found.gaps[trace.recommended].sum())
    picked, wandered = (found.gaps[int(each.recommended)] for each in (picker, wanderer))
    return wrong - int(mistakes.min()), bought, behind, wandered, picked, picked > 0.0


def _drawn(pool: Pool, start: int, size: int, key: int) -> tuple[Any, Any]:
    """Items of a stream from one round to another, drawn with replacement."""
    coins = draw_many(key_of(key, "items"), start, size)[:, 0]
    items = (coins * len(pool.labels)).astype(np.int64)
    return pool.predictions[items], pool.labels[items]


def _means(runs: Floats) -> list[tuple[float | None, float | None]]:
    """The mean of each column and its standard error, which takes two runs to know."""
    means = runs.mean(axis=0).tolist() if len(runs) else [None] * runs.shape[1]
    errors = (runs.std(axis=0, ddof=1) / math.sqrt(len(runs))).tolist() if len(runs) > 1 else [None] * runs.shape[1]
    return list(zip(means, errors, strict=True))
