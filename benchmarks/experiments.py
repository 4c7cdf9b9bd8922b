"""How long the paper's experiments take here, tuning included, beside what the authors' own figures imply.

The paper's set-ups, whole: as many realizations, budgets and methods. EmoContext and Drift are read from the folder
of the authors' collections, where it is at hand; ImageNet is the synthetic collection of the same shape.

    python -m benchmarks.experiments [emocontext drift imagenet]
"""

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from modelpicker.experiments.comparison import carry_out
from modelpicker.experiments.engines import Workforce, cores
from modelpicker.experiments.setups import Setup, find_setups
from modelpicker.experiments.tuning import GRID_POINTS, GRID_REALIZATIONS

DATA = Path(os.environ.get("MODELPICKER_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


class Shape(NamedTuple):
    """What the authors' code takes for one realization on one core, in seconds, and the minutes that we allow."""

    seconds: dict[str, float]
    wanted: float


SHAPES = {
    "emocontext": Shape(
        {
            "model-picker": 0.10,
            "vote-entropy": 0.12,
            "structural-committee": 0.03,
            "label-efficient": 0.01,
            "importance-weighted": 0.06,
            "efficient-active": 0.17,
        },
        1.0,
    ),
    "drift": Shape(
        {
            "model-picker": 0.32,
            "vote-entropy": 0.32,
            "structural-committee": 0.24,
            "label-efficient": 0.03,
            "importance-weighted": 0.86,
        },
        3.0,
    ),
    # Importance weighting was not timed on this shape; it is left out of what the authors' figures imply.
    "imagenet": Shape(
        {"model-picker": 67.0, "vote-entropy": 1.7, "structural-committee": 1.4, "label-efficient": 0.16}, 25.0
    ),
}


def implied_hours(setup: Setup, seconds: dict[str, float]) -> float:
    """Core hours of the authors' code for the same work: the evaluation, and a grid search a method but one."""
    evaluation = len(setup.budgets) * setup.realizations * sum(seconds.values())
    tuned = sum(value for method, value in seconds.items() if method != "label-efficient")
    return (evaluation + GRID_POINTS * GRID_REALIZATIONS * tuned) / 3600


def main() -> None:
    """Time each set-up and print a line for it."""
    names = sys.argv[1:] or list(SHAPES)
    print(f"{cores()} cores; threads; kernels compiled before if they were used before")
    print(
        f"{'set-up':<12}{'runs':>9}{'tuning':>9}{'minutes':>9}{'wanted':>9}{'authors, core hours':>22}{'times':>9}"
    )
    for name in names:
        setup = find_setups(name)[0]
        plan, _ = setup.plan(DATA, None, 0, "expected", "search")
        start = time.perf_counter()
        results = carry_out(plan, Workforce(), progress=True)
        minutes = (time.perf_counter() - start) / 60
        runs = len(results.rows) * setup.realizations
        hours = implied_hours(setup, SHAPES[name].seconds)
        factor = hours * 60 / (minutes * cores())
        tuning = sum(results.settings["tuning_runs"].values())
        print(
            f"{name:<12}{runs:>9,}{tuning:>9,}{minutes:>9.2f}{SHAPES[name].wanted:>9.0f}{hours:>22,.1f}{factor:>9,.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
