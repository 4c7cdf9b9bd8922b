"""Judges: labels until the pick of a pool is certified, with cheap labels that are right so often.

    python -m benchmarks.judges [--files 40] [--case drift]

The table of docs/how-to/judges.md. Tolerance 1 %, confidence 95 %, somebody looks after each label; all judges
judge the same files (those of benchmarks.pools). A judge that is wrong says one of the other classes, each as
likely. `vote` is what most models say. EmoContext and Drift are read from MODELPICKER_TEST_DATA, by default
../shared/data, and left out where they are not.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.collections import Case
from benchmarks.pools import Given, certify, file_of, pool_cases

ACCURACIES = (0.8, 0.9, 0.95)
Codes = npt.NDArray[Any]
Judge = Callable[[Codes, Codes, int, int], Codes | None]
"""What a judge says about a file: by its rows and labels, how many classes there are, and its number."""


def nobody(_rows: Codes, _truth: Codes, _classes: int, _number: int) -> None:
    """No judge."""


def right_so_often(accuracy: float | None) -> Judge:
    """A judge that is right so often; None: one that draws a class at random."""

    def say(_rows: Codes, truth: Codes, classes: int, number: int) -> Codes:
        random = np.random.default_rng(number)
        wrong = random.random(len(truth)) >= (1.0 / classes if accuracy is None else accuracy)
        other = (truth + random.integers(1, classes, len(truth))) % classes
        return np.where(wrong, other, truth)

    return say


def vote(rows: Codes, _truth: Codes, classes: int, _number: int) -> Codes:
    """What most models say; the first of several."""
    return np.array([np.bincount(row[row >= 0], minlength=classes).argmax() for row in rows])


JUDGES: dict[str, Judge] = {
    "none": nobody,
    "guesses": right_so_often(None),
    "vote": vote,
    **{f"{accuracy:.0%}": right_so_often(accuracy) for accuracy in ACCURACIES},
}


def play(case: Case, number: int, judge: Judge) -> tuple[int, bool]:
    """The labels that one file takes until its pick is certified, and whether a certificate was ever false."""
    rows, truth = file_of(case, number)
    said = judge(rows, truth, 1 + int(max(rows.max(), truth.max())), number)
    pool = mp.PoolPicker(rows, seed=number, judge=None if said is None else said.tolist())
    false = certify(pool, rows, truth)
    return pool.labels_used, false


def table(given: Given) -> Iterator[str]:
    """The medians, and how many times fewer than without a judge; then the geometric mean of that.

    The last row sets each file beside itself without a judge: the labels over those without it, in the geometric
    mean over the files and then over the collections, and the standard error of that.
    """
    yield "| | " + " | ".join(JUDGES) + " | false |"
    yield "|---" * (len(JUDGES) + 2) + "|"
    gains: dict[str, list[float]] = {name: [] for name in JUDGES}
    paired: dict[str, list[tuple[float, float]]] = {name: [] for name in JUDGES}
    for case in pool_cases(given):
        cells, false, alone, without = [], 0, math.nan, np.ones(given.files)
        for name, judge in JUDGES.items():
            runs = []
            for number in range(given.files):
                runs.append(play(case, number, judge))
                if sys.stderr.isatty():
                    print(f"\r{case.name}: {name}, {number + 1} of {given.files} files ", end="", file=sys.stderr)
            median = float(np.median([labels for labels, _ in runs]))
            counts = np.array([labels for labels, _ in runs], dtype=np.float64)
            alone, without = (median, counts) if judge is nobody else (alone, without)
            logs = np.log(counts / without)
            paired[name].append((float(logs.mean()), float(logs.var()) / given.files))
            gains[name].append(alone / median)
            false += sum(wrong for _, wrong in runs)
            cells.append(f"{median:,.0f}" if judge is nobody else f"{median:,.0f} ({alone / median:.2f} times)")
        yield f"| {case.name} | " + " | ".join(cells) + f" | {false} of {given.files * len(JUDGES)} |"
    means = [f"{math.exp(float(np.log(gains[name]).mean())):.2f} times" for name in JUDGES]
    yield "| geometric mean | " + " | ".join(means) + " | |"
    yield "| the same files | " + " | ".join(_paired(found) for found in paired.values()) + " | |"


def _paired(found: list[tuple[float, float]]) -> str:
    """How many times the labels, and the standard error, by the mean and its variance on each collection."""
    mean, variance = np.mean([one[0] for one in found]), np.sum([one[1] for one in found]) / len(found) ** 2
    ratio = math.exp(float(mean))
    return f"{ratio:.2f} ± {ratio * math.sqrt(float(variance)):.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=40, help="files that are drawn from each collection")
    parser.add_argument("--case", help="one collection only, such as drift")
    given = parser.parse_args()
    for line in table(Given(given.files, 0, given.case)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
