"""Losses: labels until the pick of a pool is certified, for labels and costs that say more than right and wrong.

    python -m benchmarks.losses [--files 20] [--case drift]

The table of docs/how-to/losses.md. Tolerance 1 %, confidence 95 %, somebody looks after each label; the files are
those of benchmarks.pools. A false certificate is one whose gap was smaller than the true one at any look.
EmoContext and Drift are read from MODELPICKER_TEST_DATA, by default ../shared/data, and left out where they are
not.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.collections import Case
from benchmarks.pools import Given, file_of, pool_cases
from modelpicker import Label, Loss

Codes = npt.NDArray[Any]
NOISE = 0.02


class Setting(NamedTuple):
    """What a pool is told, and how."""

    options: dict[str, Any]
    tell: Callable[[int], Any]


def half_right(rows: Codes, truth: Codes) -> Setting:
    """Grades: the class after the right one is half right."""
    classes = 1 + int(max(rows.max(), truth.max()))

    def tell(item: int) -> Label:
        right = int(truth[item])
        return Label.graded({right: 1.0, (right + 1) % classes: 0.5}, otherwise=0.0)

    return Setting({"loss": "grades"}, tell)


def by_class(loss: Loss) -> Callable[[Codes, Codes], Setting]:
    """One class is the label."""
    return lambda _, truth: Setting({"loss": loss}, lambda item: int(truth[item]))


def balanced(_: Codes, truth: Codes) -> Setting:
    """All classes count the same."""
    counts = np.bincount(truth)
    shares = {int(code): float(counts[code]) for code in np.flatnonzero(counts)}
    return Setting({"loss": Loss.balanced(shares)}, lambda item: int(truth[item]))


def wrong_labels(rows: Codes, truth: Codes) -> Setting:
    """Some labels are wrong, and that is admitted."""
    random = np.random.default_rng(len(truth))
    classes = 1 + int(max(rows.max(), truth.max()))
    told = np.where(random.random(len(truth)) < NOISE, random.integers(0, classes, len(truth)), truth)
    return Setting({"label_noise": NOISE}, lambda item: int(told[item]))


def prices(rows: Codes, truth: Codes) -> Setting:
    """Better models cost more; the pick may be 2 % worse than the best."""
    accuracy = (rows == truth[:, None]).mean(axis=0)
    order = np.argsort(np.argsort(accuracy))
    return Setting({"price": (1.0 + order).tolist(), "tolerance": 0.02}, lambda item: int(truth[item]))


SETTINGS: dict[str, Callable[[Codes, Codes], Setting]] = {
    "accuracy": by_class(Loss()),
    "grades": half_right,
    "class 0 costs 5": by_class(Loss.weights({0: 5})),
    "balanced": balanced,
    f"{NOISE:.0%} of labels wrong": wrong_labels,
    "cheapest within 2%": prices,
}


def true_gaps(rows: Codes, truth: Codes, setting: Setting) -> npt.NDArray[np.float64]:
    """By how much each model is worse than the best, by all right labels."""
    loss = Loss.of(setting.options.get("loss"))
    noisy = "label_noise" in setting.options
    total = np.zeros(rows.shape[1])
    for item, row in enumerate(rows.tolist()):
        label = int(truth[item]) if noisy else setting.tell(item)
        total += loss.losses(label, [None if code < 0 else code for code in row])
    means: npt.NDArray[np.float64] = (total - total.min()) * loss.unit / len(rows)
    return means


def play(case: Case, number: int, make: Callable[[Codes, Codes], Setting]) -> tuple[int, float, bool]:
    """Labels until the pick is certified, the gap that is stated then, and whether one was ever false."""
    rows, truth = file_of(case, number)
    setting = make(rows, truth)
    gaps = true_gaps(rows, truth, setting)
    pool = mp.PoolPicker(rows, seed=number, **setting.options)
    false = False
    while not pool.done:
        item = pool.ask(1)[0]
        pool.tell(item, setting.tell(item))
        false |= bool(gaps[pool.recommended_index] > pool.certificate().gap + 1e-9)
    return pool.labels_used, pool.certificate().gap, false


def table(given: Given) -> Iterator[str]:
    """The medians, with the gap that is stated in the end."""
    yield "| | " + " | ".join(SETTINGS) + " | false |"
    yield "|---" * (len(SETTINGS) + 2) + "|"
    for case in pool_cases(given):
        cells, false = [], 0
        for name, make in SETTINGS.items():
            runs = []
            for number in range(given.files):
                runs.append(play(case, number, make))
                if sys.stderr.isatty():
                    print(f"\r{case.name}: {name}, {number + 1} of {given.files} files ", end="", file=sys.stderr)
            labels, gap = (float(np.median([run[place] for run in runs])) for place in (0, 1))
            false += sum(run[2] for run in runs)
            cells.append(f"{labels:,.0f} ({gap:.1%})")
        yield f"| {case.name} | " + " | ".join(cells) + f" | {false} of {given.files * len(SETTINGS)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20, help="files that are drawn from each collection")
    parser.add_argument("--case", help="one collection only, such as drift")
    given = parser.parse_args()
    for line in table(Given(given.files, 0, given.case)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
