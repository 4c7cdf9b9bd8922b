"""How often the 95 % intervals about a judge hold: for labels drawn at random, and for the labels that pools buy.

    python -m benchmarks.judge_intervals [--pools 40]

The tables of docs/how-to/judges.md. Beside ours stands the interval of Cohen's kappa by its large-sample standard
error (Fleiss, Cohen and Everitt, 1969). The second table is of pools (the collection `digits`, tolerance 2 %): on
what share of all items the judge is right, on what share of the labels bought, and how often the interval holds the
first. A judge errs anywhere, or mostly where fewer than nine tenths of the models agree.
"""

import argparse

import numpy as np

import modelpicker as mp
from modelpicker.campaigns.results.judge_quality import QUANTILE, JudgeQuality
from modelpicker.campaigns.results.pool_pick import measure_judge

REPEATS = 4_000
# Classes, the share on which the judge is right, labels, and the share of the first class; None: all alike.
CASES = (
    (2, 0.8, 20, None),
    (2, 0.8, 50, None),
    (2, 0.9, 50, 0.8),
    (2, 0.95, 30, None),
    (2, 0.5, 50, None),
    (4, 0.8, 20, None),
    (4, 0.5, 40, 0.8),
    (4, 0.95, 30, None),
    (10, 0.9, 50, None),
    (10, 0.1, 50, None),
)


def confusion(classes: int, accuracy: float, first: float | None) -> np.ndarray:
    """The chance of each label with each answer of the judge."""
    shares = np.full(classes, 1 / classes)
    if first is not None:
        shares[:] = (1 - first) / (classes - 1)
        shares[0] = first
    found = np.outer(shares, np.full(classes, (1 - accuracy) / (classes - 1)))
    np.fill_diagonal(found, shares * accuracy)
    return found


def kappa_of(table: np.ndarray) -> float:
    """Cohen's kappa of the chances, or shares, of labels with answers."""
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    return (float(np.trace(table)) - chance) / (1 - chance)


def standard_error(table: np.ndarray, labels: int) -> float:
    """The large-sample standard error of kappa."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kappa, chance = kappa_of(table), float(rows @ columns)
    own = float((np.diag(table) * (1 - (rows + columns) * (1 - kappa)) ** 2).sum())
    others = table * (columns[:, None] + rows[None, :]) ** 2
    mixed = (1 - kappa) ** 2 * float(others.sum() - np.trace(others))
    spread = own + mixed - (kappa - chance * (1 - kappa)) ** 2
    return float(np.sqrt(max(0.0, spread) / labels) / (1 - chance))


def coverage(classes: int, accuracy: float, labels: int, first: float | None) -> tuple[float, float, float]:
    """How often the intervals hold: of the agreement, of kappa, and of kappa by its standard error."""
    random = np.random.default_rng(0)
    chances = confusion(classes, accuracy, first)
    true, held = kappa_of(chances), np.zeros(3)
    for _ in range(REPEATS):
        drawn = random.choice(classes**2, labels, p=chances.ravel())
        pairs = zip((drawn // classes).tolist(), (drawn % classes).tolist(), strict=True)
        found = JudgeQuality.measure(pairs, items=labels, silent=0)
        if found.kappa is None or found.kappa_low is None or found.kappa_high is None:
            held += (found.low <= accuracy <= found.high, True, True)  # nothing is said about kappa
            continue
        table = np.bincount(drawn, minlength=classes**2).reshape(classes, classes) / labels
        reach = QUANTILE * standard_error(table, labels)
        held += (
            found.low <= accuracy <= found.high,
            found.kappa_low <= true <= found.kappa_high,
            abs(found.kappa - true) <= reach,
        )
    return tuple((held / REPEATS).tolist())


def erring(hard: bool, number: int, digits: mp.ModelCollection) -> np.ndarray:
    """What a judge says who errs on a tenth of the items, or on a third of the hard ones and on few others."""
    random, labels = np.random.default_rng(number), np.asarray(digits.labels)
    votes = np.array([np.bincount(row[row >= 0]).max() for row in digits.predictions])
    is_hard = votes < 0.9 * len(digits.models)
    chance = np.where(is_hard, 1 / 3, 0.02) if hard else np.full(len(labels), 0.1)
    other = (labels + random.integers(1, len(digits.classes), len(labels))) % len(digits.classes)
    return np.where(random.random(len(labels)) < chance, other, labels)


def pools(hard: bool, files: int) -> tuple[float, float, float]:
    """On what share of items, and of labels bought, the judge is right; how often the interval holds the first."""
    digits = mp.load_collection("digits")
    found = []
    for number in range(files):
        said = erring(hard, number, digits)
        pool = mp.PoolPicker(digits, seed=number, tolerance=0.02, judge=said)
        mp.run_pool(pool)
        quality = measure_judge(pool)
        share = float((said == np.asarray(digits.labels)).mean())
        if quality is not None and quality.share is not None:
            found.append((share, quality.share, quality.low <= share <= quality.high))
    return tuple(np.mean(found, axis=0).tolist())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="How often the intervals about a judge hold.")
    parser.add_argument("--pools", type=int, default=40, help="How many pools of the second table.")
    files = parser.parse_args().pools
    print("| classes | judge right | labels | first class | agreement | κ | κ by its standard error |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        classes, accuracy, labels, first = case
        share = "alike" if first is None else f"{first:.0%}"
        cells = " | ".join(f"{100 * one:.1f} %" for one in coverage(*case))
        print(f"| {classes} | {accuracy:.0%} | {labels} | {share} | {cells} |")
    print()
    print("| the judge's mistakes are | right on all items | right on labels bought | interval holds the first |")
    print("|---|---|---|---|")
    for hard in (False, True):
        cells = " | ".join(f"{100 * one:.1f} %" for one in pools(hard, files))
        print(f"| {'mostly on hard items' if hard else 'anywhere'} | {cells} |")


if __name__ == "__main__":
    main()
