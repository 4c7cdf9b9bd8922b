"""Bounds beside measurements over the length of the stream: regret, queries, misidentification.

    python -m benchmarks.bounds [--realizations 2000] [--out docs/images/bounds.png]

Four streams. Independent items: four models, one ahead, drawn from a synthetic population. Guessers: four models
that toss coins, which makes the regret largest. Alternating: the appendix's example, two models that are right in
turn. A third and the rest: one of two models is right on the first third, the other on the rest, on which the model
of a random round stays behind. Prints the tables of docs/how-it-works/bounds.md and draws its figure.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import modelpicker as mp
from modelpicker.experiments.figures import INK, QUIET
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.promises import make_promises, measure_promises
from modelpicker.theory import bounds, hardness_of, sharper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
ACCURACIES = (0.75, 0.65, 0.6, 0.55)
# Long streams are played less often, but at least so often.
AFFORDABLE, FEWEST = 2 * 10**7, 100
THEOREM, SHARPER = "#D55E00", "#E69F00"
DRAWN, TURNS, GUESSED = "#0072B2", "#009E73", "#CC79A7"

# The order of the legend, by a part of the label.
LEGEND = (
    "theorem",
    "bound, ind",
    "measured, ind",
    "guess",
    "bound, two",
    "measured, two",
    "never",
    "label",
    "certain",
)


class Point(NamedTuple):
    """What is promised of a quantity at one length, and what came out."""

    rounds: int
    theorem: float
    sharper: float
    measured: float
    error: float
    runs: int


Curves = dict[str, list[Point]]


def affordable(rounds: int, realizations: int) -> int:
    """How often a stream of this length is played."""
    return max(FEWEST, min(realizations, AFFORDABLE // rounds))


def independent(realizations: int) -> Curves:
    """Four models, one ahead."""
    pool = pool_of(mp.synthetic_collection(10_000, len(ACCURACIES), 4, list(ACCURACIES), 0))
    found = hardness_of(*pool)
    print(f"independent items: Δ = {found.gap:.3f}, θ = {found.differences[found.rival]:.3f}, ", end="")
    print(f"λ = {found.closeness:.3f}, k = {found.models}")
    curves: Curves = {}
    for rounds in LENGTHS:
        runs = measure_promises(pool, found, rounds, affordable(rounds, realizations), 0, lambda: None)
        for promise in make_promises(found, rounds, runs):
            figures = (promise.theorem, promise.sharper, promise.measured, promise.measured_se)
            curves.setdefault(promise.quantity, []).append(Point._make((rounds, *figures, len(runs))))
    return curves


def better(one: list[Point], other: list[Point]) -> list[Point]:
    """The smaller of two bounds on the same quantity."""
    pairs = zip(one, other, strict=True)
    return [a._replace(theorem=min(a.theorem, b.theorem), sharper=min(a.sharper, b.sharper)) for a, b in pairs]


def guessers(realizations: int) -> list[Point]:
    """The regret where nobody is better than a coin."""
    points = []
    for rounds in LENGTHS:
        draw = np.random.default_rng(0)
        runs = affordable(rounds, realizations)
        regrets = []
        for seed in range(runs):
            rows = draw.integers(0, 2, (rounds, 4))
            trace = mp.run_stream(mp.ModelPicker(4, seed), rows, np.zeros(rounds, dtype=int))
            regrets.append(trace.predicted.sum() - rows.sum(axis=0).min())
        promised = bounds.regret(rounds, 4), sharper.regret(rounds, 4, 0.875 * rounds)
        points.append(Point(rounds, *promised, *_mean(regrets), runs))
    return points


def alternating(realizations: int) -> list[Point]:
    """The queries where two models are right in turn."""
    points = []
    for rounds in LENGTHS:
        rows, labels = np.tile([0, 1], (rounds, 1)), (np.arange(rounds) + 1) % 2
        runs, least = affordable(rounds, realizations), rounds // 2
        asked = [mp.run_stream(mp.ModelPicker(2, seed), rows, labels).labels_used for seed in range(runs)]
        promised = bounds.queries(rounds, 2, least), sharper.queries(rounds, 2, least)
        points.append(Point(rounds, *promised, *_mean(asked), runs))
    return points


def third_then_rest(realizations: int) -> Iterator[tuple[int, float, float, float]]:
    """The gap of the model of a random round, which no length of stream closes."""
    for rounds in (300, 3_000, 30_000, 300_000):
        first = np.arange(rounds) < rounds // 3
        rows, labels = np.column_stack([~first, first]).astype(int), np.zeros(rounds, dtype=int)
        behind = rows.mean(axis=0) - rows.mean(axis=0).min()
        gaps = []
        for seed in range(affordable(rounds, realizations)):
            picker = mp.ModelPicker(2, seed, recommend="random-round")
            gaps.append(behind[int(mp.run_stream(picker, rows, labels).winner)])
        yield rounds, bounds.random_round_accuracy_gap(rounds, 2), *_mean(gaps)


def _mean(values: Any) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))


def tabulate(columns: Curves) -> None:
    """A row a length: theorem, sharper bound, measured."""
    print(f"\n| T | runs | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    for row in zip(*columns.values(), strict=True):
        print(f"| {row[0].rounds:,} | {row[0].runs:,} | {' | '.join(map(_cell, row))} |")


def _cell(point: Point) -> str:
    measured = f"{_short(point.measured)} ± {_short(point.error)}" if point.error else "none"
    return f"{_short(point.theorem)} / {_short(point.sharper)} / {measured}"


def _short(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1e-3 else f"{value:.0e}"


def plot(curves: Curves, out: Path) -> None:
    """Three panels, log-log."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 10, "axes.labelcolor": INK}):
        figure = Figure(figsize=(13.2, 5.6), layout="constrained")
        regret, queries, missed = figure.subplots(1, 3)
        for axes, title, quantity in (
            (regret, "Regret", "regret"),
            (queries, "Labels asked for", "queries"),
            (missed, "Chance to miss the best model", "misidentification"),
        ):
            _panel(axes, title, curves[quantity])
        _dots(regret, curves["guessers: regret"], GUESSED, "D", "measured, four guessers")
        _bound(queries, curves["alternating: queries"], 2, TURNS, "--", "sharper bound, two models right in turn")
        _dots(queries, curves["alternating: queries"], TURNS, "s", "measured, two models right in turn")
        queries.plot(LENGTHS, LENGTHS, color=QUIET, linewidth=1, linestyle=":", label="a label a round")
        _never(missed, curves["misidentification"])
        missed.axhline(1.0, color=QUIET, linewidth=1, linestyle=":", label="certain anyway")
        missed.set_ylim(1e-5, 30)
        _legend(figure, (regret, queries, missed))
        figure.savefig(out, dpi=150)


def _legend(figure: "Figure", panels: Sequence["Axes"]) -> None:
    """One for all panels, one column per kind of stream."""
    known: dict[str, Any] = {}
    for axes in panels:
        known |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    ordered = sorted(known, key=lambda label: [part in label for part in LEGEND].index(True))
    figure.legend(
        [known[label] for label in ordered],
        ordered,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=10,
    )


def _never(axes: "Axes", points: list[Point]) -> None:
    """Where no run missed the best model, the chance is below 3 over the runs (95 % confidence)."""
    most = max(point.runs for point in points)  # of fewer runs there is less to say
    seen = [point for point in points if point.measured == 0 and point.runs == most]
    axes.plot(
        [point.rounds for point in seen],
        [3 / point.runs for point in seen],
        color=DRAWN,
        marker="v",
        markerfacecolor="white",
        markersize=7,
        linestyle="none",
        label="never seen: below 3 over the runs",
    )


def _panel(axes: "Axes", title: str, points: list[Point]) -> None:
    axes.set_title(title, fontsize=12, color=INK, loc="left")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rounds T")
    axes.grid(visible=True, color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    _bound(axes, points, 1, THEOREM, "-", "theorem, independent items")
    _bound(axes, points, 2, SHARPER, "-", "sharper bound, independent items")
    _dots(axes, points, DRAWN, "o", "measured, independent items")


def _bound(axes: "Axes", points: list[Point], field: int, colour: str, line: str, label: str) -> None:
    axes.plot([p.rounds for p in points], [p[field] for p in points], line, color=colour, linewidth=2, label=label)


def _dots(axes: "Axes", points: list[Point], colour: str, marker: str, label: str) -> None:
    """Means that are above 0, with two standard errors."""
    seen = [point for point in points if point.measured > 0]
    axes.errorbar(
        [point.rounds for point in seen],
        [point.measured for point in seen],
        yerr=[[min(2 * p.error, 0.9 * p.measured) for p in seen], [2 * p.error for p in seen]],
        color=colour,
        marker=marker,
        markersize=5.5,
        linewidth=1.2,
        capsize=2,
        label=label,
    )


def main() -> None:
    """Print the tables, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--realizations", type=int, default=2000, help="at most; fewer of long streams")
    parser.add_argument("--out", type=Path, default=Path("docs/images/bounds.png"))
    given = parser.parse_args()
    drawn = independent(given.realizations)
    curves = {
        "regret": drawn["regret"],
        "guessers: regret": guessers(given.realizations),
        "queries": better(drawn["queries"], drawn["queries_stochastic"]),
        "alternating: queries": alternating(given.realizations),
        "misidentification": drawn["misidentification"],
    }
    tabulate(curves)
    print("\na third and the rest: accuracy gap of the model of a random round\n")
    print("| T | the paper's promise | measured |\n|---|---|---|")
    for rounds, promised, mean, error in third_then_rest(given.realizations):
        print(f"| {rounds:,} | {promised:.2%} | {mean:.2%} ± {error:.2%} |")
    plot(curves, given.out)


if __name__ == "__main__":
    main()
