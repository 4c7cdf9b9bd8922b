"""How often the 95 % intervals about a judge hold, for labels drawn at random.

    python -m benchmarks.judge_intervals

The table of docs/judges.md. Beside ours stands the interval of Cohen's kappa by its large-sample standard error
(Fleiss, Cohen and Everitt, 1969).
"""

import numpy as np

from modelpicker.campaigns.results.judge_quality import QUANTILE, JudgeQuality

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
            held += (found.low <= accuracy <= found.high, True, True)  # nothing is said of kappa
            continue
        table = np.bincount(drawn, minlength=classes**2).reshape(classes, classes) / labels
        reach = QUANTILE * standard_error(table, labels)
        held += (
            found.low <= accuracy <= found.high,
            found.kappa_low <= true <= found.kappa_high,
            abs(found.kappa - true) <= reach,
        )
    return tuple((held / REPEATS).tolist())


def main() -> None:
    """Print the table."""
    print("| classes | judge right | labels | first class | agreement | κ | κ by its standard error |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        classes, accuracy, labels, first = case
        share = "alike" if first is None else f"{first:.0%}"
        cells = " | ".join(f"{100 * one:.1f} %" for one in coverage(*case))
        print(f"| {classes} | {accuracy:.0%} | {labels} | {share} | {cells} |")


if __name__ == "__main__":
    main()
