"""How many labels it takes to know the accuracy of a pool's pick to within 3 %.

    python -m benchmarks.accuracy [--files 20]

The table of docs/how-it-works/accuracy.md. Each file is 1,000 items drawn at random from EmoContext or `digits`.
Labels are bought until the pick is proven (tolerance 1 %), and then until the interval of its accuracy is at most 6
% wide. EmoContext is read from MODELPICKER_TEST_DATA, by default ../shared/data, and left out where absent.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import modelpicker as mp
from benchmarks.collections import Case, benchmark_collections

NAMES = ("emocontext", "digits")
ITEMS, WIDTH, STEP = 1_000, 0.06, 5
SHARES = (0.0, 0.05, 0.2, 0.5)


class Course(NamedTuple):
    """How one file went; labels that were never enough are infinitely many."""

    proved: float
    width: float
    """Of the interval, when the pick was proven."""
    labels: float
    """In all, until the interval was narrow."""
    agreed: float
    """Those of them on items on which all models agree."""
    false: bool
    """Whether any interval did not hold the truth."""


def play(case: Case, seed: int, share: float) -> Course:
    """One file."""
    codes, labels = np.asarray(case.collection.predictions), np.asarray(case.collection.labels)
    chosen = np.random.default_rng(seed).permutation(len(codes))[:ITEMS]
    codes, labels = codes[chosen], labels[chosen]
    agreed = (codes == codes[:, :1]).all(axis=1)
    truth = (codes == labels[:, None]).mean(axis=0)
    pool = mp.PoolPicker(mp.ModelCollection(codes, labels), seed=seed, audit=share)
    bought = list(mp.run_pool(pool).items)
    proved, found = len(bought), pool.accuracy()
    width = found.high - found.low
    false = not found.low <= truth[pool.recommended_index] <= found.high
    while share and found.high - found.low > WIDTH:
        for item in pool.ask(STEP):
            pool.tell_code(item, int(labels[item]))
            bought.append(item)
        found = pool.accuracy()
        false |= not found.low <= truth[pool.recommended_index] <= found.high
    if not share:
        return Course(proved, width, np.inf, np.inf, false)
    return Course(proved, width, len(bought), int(agreed[bought].sum()), false)


def table(files: int) -> Iterator[str]:
    """One row per collection and share; medians over the files."""
    yield "| | audit | labels until proved | interval then | labels until ± 3 % | of them on agreed items |"
    yield "|---|---|---|---|---|---|"
    for case in benchmark_collections():
        if case.name not in NAMES:
            continue
        for share in SHARES:
            print(f"{case.name}, audit={share:g}: {files} files", file=sys.stderr)
            courses = [play(case, seed, share) for seed in range(files)]
            proved, width, labels, agreed, _ = np.median(np.array(courses, dtype=np.float64), axis=0)
            narrow = (f"{labels:.0f}", f"{agreed:.0f}") if share else ("not without an audit", "")
            wrong = sum(course.false for course in courses)
            yield f"| {case.name} | {share:g} | {proved:.0f} | ± {50 * width:.1f} % | {' | '.join(narrow)} |"
            print(f"{wrong} of {files} files saw a false interval", file=sys.stderr)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20)
    for line in table(parser.parse_args().files):
        print(line, flush=True)


if __name__ == "__main__":
    main()
