"""Prices: labels until the cheapest model that is good enough is certified, and how often it is found at all.

    python -m benchmarks.prices [--files 20] [--case digits]

The table of docs/how-to/losses.md. All models of a file cost the same but one, which costs a tenth: the third best.
The tolerance is chosen so that this model is behind the best one by a given share of it, from 25 % (well within) to
130 % (not good enough). Three rules are compared: only models that are thought to be within half the tolerance are
tried; the rule that pools have; and all that are thought to be within it. 300 labels at most.
"""

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.collections import Case
from benchmarks.pools import MOST, Given, file_of, pool_cases
from modelpicker.algorithms.pools import prices

CASES = ("digits", "cifar10", "emocontext")
SHARES = (0.25, 0.6, 0.75, 0.9, 1.1, 1.3)
# What is tried at once and later, and how many times the labels so far that may take.
RULES: dict[str, tuple[float, float, float]] = {
    "half": (0.5, 0.5, 0.0),
    "as it is": (prices.CLOSE, prices.FARTHER, prices.WORTH),
    "all": (1.0, 1.0, 0.0),
}
RANK = 2
Codes = npt.NDArray[Any]


class Outcome(NamedTuple):
    """How a file ended."""

    labels: int
    cheap: bool
    """Whether the cheap model is the pick, and certified."""
    certified: bool
    false: bool


def play(case: Case, number: int, share: float, rule: tuple[float, float, float]) -> Outcome:
    """One file, with one rule."""
    rows, truth = file_of(case, number)
    right = (rows == truth[:, None]).sum(axis=0)
    cheap = int(np.argsort(-right, kind="stable")[RANK])
    behind = int(right.max() - right[cheap])
    price = np.full(rows.shape[1], 1.0)
    price[cheap] = 0.1
    with used(rule):
        pool = mp.PoolPicker(
            rows, seed=number, tolerance=min(0.5, max(1, behind) / share / len(rows)), price=price.tolist()
        )
        while not pool.done and pool.labels_used < MOST:
            item = pool.ask(1)[0]
            pool.tell(item, int(truth[item]))
        pick = pool.recommended_index
        false = right.max() - right[pick] > round(pool.certificate().gap * len(rows))
        return Outcome(pool.labels_used, pool.certified and pick == cheap, pool.certified, bool(false))


class used:  # noqa: N801  # a context, as in the standard library
    """A rule while it is tried."""

    def __init__(self, rule: tuple[float, float, float]) -> None:
        self.rule = rule

    def __enter__(self) -> None:
        self.before = (prices.CLOSE, prices.FARTHER, prices.WORTH)
        prices.CLOSE, prices.FARTHER, prices.WORTH = self.rule

    def __exit__(self, *_: object) -> None:
        prices.CLOSE, prices.FARTHER, prices.WORTH = self.before


def table(given: Given, rules: dict[str, tuple[float, float, float]]) -> Iterator[str]:
    """Mean labels, in how many files the cheap model is the certified pick, and how many have no certificate."""
    yield "| collection | behind, as a share of the tolerance | " + " | ".join(rules) + " |"
    yield "|---|---|" + "---|" * len(rules)
    for case in pool_cases(given):
        if case.name not in CASES:
            continue
        for share in SHARES:
            cells = []
            for rule in rules.values():
                runs = [play(case, number, share, rule) for number in range(given.files)]
                labels, found = np.mean([run.labels for run in runs]), sum(run.cheap for run in runs)
                false, open_ones = sum(run.false for run in runs), sum(not run.certified for run in runs)
                more = (f", {open_ones} open" if open_ones else "") + (f", {false} FALSE" if false else "")
                cells.append(f"{labels:.0f}, {found} of {len(runs)}{more}")
            yield f"| {case.name} | {share:.0%} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--case", choices=CASES)
    given = parser.parse_args()
    for line in table(Given(given.files, 0, given.case), RULES):
        print(line, flush=True)


if __name__ == "__main__":
    main()
