"""What else was tried for pools: the designs that lost, beside the one that was kept.

    python -m benchmarks.pool_designs [--files 40] [--case drift]

Labels until the best model of a file is named in 80, 90 and 95 % of the files, for the first time, and permanently
in brackets. Each design is PoolPicker with one part changed. The table of docs/how-it-works/pools.md.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import modelpicker as mp
from benchmarks.collections import Case
from benchmarks.pools import LEVELS, MOST, Given, file_of, needed, pool_cases
from modelpicker.algorithms.pools import gain, label_model, picker
from modelpicker.algorithms.pools.gain import weigh_models
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import Codes, Ints


def beside_leader(rows: Codes, i: int, whole: float, found: gain.ModelComparison) -> float:  # noqa: ARG001 - as worth_of
    """By the plausible rivals that differ from the leader: pairs without the leader do not count."""
    leader = int(found.leader[0])
    worth = 0.0
    for j in range(rows.shape[1]):
        if rows[i, j] != rows[i, leader]:
            worth += found.plausible[j]
    return worth


def weigh_by_guess(rows: Codes, labels: Codes, sample: Ints, found: gain.ModelComparison) -> float:
    """The same, times how uncertain the guess is who of the two is right."""
    weigh_models(rows, labels, sample, found)
    leader = int(found.leader[0])
    total = 0.0
    for s in range(len(sample)):
        i = sample[s]
        worth = 0.0
        if labels[i] == gain.UNKNOWN:
            own = found.chances[s, leader]
            for j in range(rows.shape[1]):
                if rows[i, j] != rows[i, leader]:
                    other = found.chances[s, j]
                    worth += found.plausible[j] * (own + other - (own - other) * (own - other))
        found.worth[s] = worth**4
        total += worth**4
    return total


def runner_up(rows: Codes, i: int, whole: float, found: gain.ModelComparison) -> float:  # noqa: ARG001 - as worth_of
    """Every item on which the leader and the most plausible rival differ, alike."""
    leader = int(found.leader[0])
    rival, smallest = -1, 1e300
    for j in range(rows.shape[1]):
        if j != leader and found.unsure[j] > 0.0 and found.ahead[j] < smallest:
            rival, smallest = j, found.ahead[j]
    return 1.0 if rival >= 0 and rows[i, rival] != rows[i, leader] else 0.0


def divided(rows: Codes, i: int, whole: float, found: gain.ModelComparison) -> float:  # noqa: ARG001 - as worth_of
    """By how evenly the models are divided on an item, whoever they are."""
    worth = 0.0
    for j in range(rows.shape[1]):
        for other in range(j):
            worth += 1.0 if rows[i, j] != rows[i, other] else 0.0
    return worth


def one_regression(trust: float, freedom: float) -> dict[tuple[Any, str], Any]:
    """The constants of a label model that is no mixture."""
    return {
        (label_model, "TRUST"): (trust,),
        (label_model, "FREEDOM"): (freedom,),
        (label_model, "REGRESSIONS"): 1,
    }


Parts = Mapping[Callable[..., Any], Callable[..., Any]]
DESIGNS: dict[str, tuple[dict[tuple[Any, str], Any], Parts]] = {
    "as it is": ({}, {}),
    "never the item of the highest worth": ({(gain, "FIRST"): 0}, {}),
    "the item of the highest worth 20 times": ({(gain, "FIRST"): 20}, {}),
    "always the item of the highest worth": ({(gain, "FIRST"): 10**9}, {}),
    "only pairs with the leader": ({}, {gain.worth_of: beside_leader}),
    "only pairs with the leader, by the guess": ({}, {gain.weigh_items: weigh_by_guess}),
    "leader against runner-up, at random": ({}, {gain.worth_of: runner_up}),
    "the most divided items": ({}, {gain.worth_of: divided}),
    "the guess is never put right": ({(gain, "TRUSTED"): 1e12}, {}),
    "the vote is hardly trusted": (one_regression(2.0, 2.0), {}),
    "the vote is trusted blindly": (one_regression(18.0, 0.02), {}),
}


@contextmanager
def design(constants: dict[tuple[Any, str], Any], parts: Parts) -> Iterator[None]:
    """PoolPicker with some constants and kernels changed."""
    before: dict[tuple[Any, str], Any] = {place: getattr(*place) for place in constants}
    kernels = (picker.teach, picker.compare, picker.choose)
    for (module, name), value in constants.items():
        setattr(module, name, value)
    picker.teach = CompiledKernel(label_model.learn_item, {}, "a design")
    picker.compare = CompiledKernel(gain.compare_models, {}, "a design")
    picker.choose = CompiledKernel(gain.choose_item, parts, "a design")
    try:
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)
        picker.teach, picker.compare, picker.choose = kernels


def named(case: Case, number: int) -> list[bool]:
    """Whether the best model of a file is named, before the first label and after each."""
    rows, truth = file_of(case, number)
    right = (rows == truth[:, None]).sum(axis=0)
    pool = mp.PoolPicker(rows, seed=number, tolerance=0.0)
    found = [bool(right[pool.recommended_index] == right.max())]
    while len(found) <= MOST and (items := pool.ask(1)):
        pool.tell(items[0], int(truth[items[0]]))
        found.append(bool(right[pool.recommended_index] == right.max()))
    return found + [found[-1]] * (MOST + 1 - len(found))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--case", help="one collection only, such as drift")
    given = parser.parse_args()
    cases = [
        case
        for case in pool_cases(Given(given.files, 0, given.case))
        if case.name in ("emocontext", "drift", "digits", "near tie", "10 classes, abstentions") or given.case
    ]
    print(f"| | {' | '.join(case.name for case in cases)} |")
    print(f"|---|{'---|' * len(cases)}")
    for name, (constants, parts) in DESIGNS.items():
        cells = []
        for case in cases:
            with design(constants, parts):
                shares = np.mean([named(case, number) for number in range(given.files)], axis=0)
            cells.append(" / ".join(str(needed(shares, level)) for level in LEVELS))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
