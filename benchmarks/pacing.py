"""Budget pacing beside Model Picker tuned with hindsight: labels used and identification, by collection and budget.

    python -m benchmarks.pacing [DATA] [--realizations 200]

For each collection at five budgets: a campaign's pacing, told the length of the stream and nothing else, and Model
Picker whose query scale was found by the paper's grid search on streams of the same collection. Both are held to
the budget; beside it, Model Picker that is not (its mean is the budget, a run may buy more), and pacing that is not
told the length. "Short" are runs that used less than nine tenths of the budget although there was more to buy.
"""

import argparse
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

import modelpicker as mp
from modelpicker.algorithms.budgets import Budget
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.realizations import Realization, draw, key_of
from modelpicker.experiments.tasks import EVALUATION

SEED = 0
CASES = {
    "emocontext": (1000, (30, 70, 110, 150, 190)),
    "drift": (2500, (50, 200, 400, 700, 1000)),
    "digits": (748, (20, 40, 80, 120, 200)),
    "cifar10": (5000, (100, 250, 500, 1000, 2000)),
}


class Runs(NamedTuple):
    """What paced runs at one budget came to."""

    labels: np.ndarray[tuple[int], np.dtype[np.int64]]
    askable: np.ndarray[tuple[int], np.dtype[np.int64]]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def short(self, budget: int) -> int:
        """How many runs used less than nine tenths of the budget although there was more to buy."""
        return int(((self.labels < 0.9 * budget) & (self.labels < self.askable)).sum())


def play(stream: Realization, key: int, budget: int, known: bool) -> list[int]:
    """One stream, every label told at once: labels, rounds on which models disagree, gap in mistakes."""
    size, models = stream.rows.shape
    paced = Budget(budget, "paced", rounds=size if known else None)
    trace = mp.run_stream(mp.ModelPicker(models, key), stream.rows, stream.labels, budget=paced)
    divided = int((stream.rows != stream.rows[:, :1]).any(axis=1).sum())
    return [trace.labels_used, divided, int(stream.mistakes[int(trace.winner)] - stream.mistakes[stream.best])]


def measure(collection: mp.ModelCollection, size: int, budget: int, realizations: int, known: bool = True) -> Runs:
    """Paced runs on the streams that the comparison uses."""
    pool = pool_of(collection)
    runs = []
    for number in range(realizations):
        stream = draw(pool, size, SEED, EVALUATION, number)
        runs.append(play(stream, key_of(SEED, EVALUATION, number, "model-picker"), budget, known))
    labels, askable, gap = np.array(runs).T
    return Runs(labels, askable, gap == 0)


def main() -> None:
    """Print a table a collection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="a folder with emocontext/ and drift/")
    parser.add_argument("--realizations", type=int, default=200)
    given = parser.parse_args()
    for name, (size, budgets) in CASES.items():
        shipped = name in ("digits", "cifar10")
        if not shipped and given.data is None:
            continue
        report(name, mp.load_collection(name if shipped else given.data / name), size, budgets, given.realizations)


def report(
    name: str, collection: mp.ModelCollection, size: int, budgets: tuple[int, ...], realizations: int
) -> None:
    """One collection."""
    tuned = {
        rule: mp.compare(
            collection, ["model-picker"], budgets, size, realizations, SEED, budget_rule=rule, tuning="grid"
        )
        for rule in ("hard", "expected")
    }
    print(f"\n{name}, streams of {size:,}, {realizations} realizations", flush=True)
    print(
        "budget   mean    min    max  short   found  hindsight  allowed  not held (labels)  unknown length (labels)"
    )
    for budget in budgets:
        runs = measure(collection, size, budget, realizations)
        open_ended = measure(collection, size, budget, realizations, known=False)
        share = runs.found.mean()
        hard, free = tuned["hard"].row("model-picker", budget), tuned["expected"].row("model-picker", budget)
        error = math.hypot(math.sqrt(share * (1 - share) / realizations), hard["identification_probability_se"])
        print(
            f"{budget:6,} {runs.labels.mean():6.0f} {runs.labels.min():6,} {runs.labels.max():6,} "
            f"{runs.short(budget):6} {share:7.3f} {hard['identification_probability']:10.3f} {2 * error:8.3f} "
            f"{free['identification_probability']:9.3f} ({free['queries']:,.0f})"
            f"{open_ended.found.mean():18.3f} ({open_ended.labels.mean():,.0f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
