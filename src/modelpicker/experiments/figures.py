"""The figures of the paper's experiments, for any comparison, legible in grey and for the colour-blind.

Every method has a colour (Okabe and Ito's), a line and a marker of its own, so that none of them has to be seen.
Bands are one standard error to either side. A hollow marker is a budget that the method cannot buy: it stands where
the labels that it did buy are.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modelpicker.algorithms import ALGORITHMS
from modelpicker.collections.writers import replacing
from modelpicker.experiments.results import Results
from modelpicker.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET = "#1f2937", "#6b7280"
KINDS = ("png", "svg")
STYLE: Any = {"font.size": 10, "axes.labelcolor": INK, "svg.hashsalt": "modelpicker", "svg.fonttype": "none"}


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    line: Any
    marker: str
    width: float = 1.4


LOOKS = dict(
    zip(
        ALGORITHMS,
        (
            Look("#0072B2", "-", "o", 2.4),
            Look("#E69F00", "--", "s"),
            Look("#009E73", "-.", "^"),
            Look("#CC79A7", ":", "D"),
            Look("#D55E00", (0, (5, 1, 1, 1, 1, 1)), "v"),
            Look("#56B4E9", (0, (1, 1)), "P"),
            Look("#000000", (0, (6, 2)), "X", 2.0),
        ),
        strict=False,  # an algorithm more takes one of the others
    )
)
OTHERS = (
    Look("#882255", "-", "h"),
    Look("#7f7f7f", "--", "*"),
    Look("#4d4d4d", "-.", "<"),
    Look("#a6761d", ":", ">"),
)

# Metrics: what the axis says, and whether it is a share.
AXES = {
    "identification_probability": ("identification probability", True),
    "accuracy_gap": ("accuracy gap (mean)", True),
    "accuracy_gap_p90": ("accuracy gap (90th percentile)", True),
    "regret": ("regret", False),
    "sampled_regret": ("sampled regret", False),
}


# What a realization is, by setting.
DRAWN = {"stream": "realizations", "pool": "files (pools)"}


class Section(NamedTuple):
    """A comparison as it is shown: what it is called, its results, and the budget of the curves by round."""

    title: str
    results: Results
    round_budget: int


def looks_of(methods: Sequence[str]) -> dict[str, Look]:
    """A look for every method; those that have none of their own take what is left."""
    others = [method for method in methods if method not in LOOKS]
    return {method: LOOKS.get(method) or OTHERS[others.index(method) % len(OTHERS)] for method in methods}


def caption(results: Results) -> str:
    """What every figure and table says about how it was made."""
    made = results.settings
    parts = [
        f"budget rule: {made['budget_rule']}",
        f"{made['realizations']:,} {DRAWN[made['setting']]} of {made['stream_size']:,} items",
        f"tuning: {made['tuning']}",
    ]
    if made["collection"]["stand_in"]:
        parts.append(f"STAND-IN: {made['collection']['stand_in']}")
    return " · ".join(parts)


def figure_caption(results: Results) -> str:
    """The same, and what a hollow marker is, if there is one."""
    hollow = " · hollow: budget not met" if any(row["mark"] for row in results.rows) else ""
    return caption(results) + hollow


def off_budget(results: Results, method: str, budget: int) -> str:
    """How many labels a method bought, where that is not the budget."""
    row = results.row(method, budget)
    return f" ({row['queries']:,.0f} labels)" if row["mark"] else ""


def plot_by_budget(axes: "Axes", results: Results, metric: str, methods: Sequence[str] | None = None) -> None:
    """A metric by the labels that were bought."""
    for method, look in looks_of(results.methods).items():
        if methods is not None and method not in methods:
            continue
        rows = [results.row(method, budget) for budget in sorted(results.budgets)]
        labels = np.array([row["queries"] for row in rows])
        values, errors = (np.array([row[name] for row in rows]) for name in (metric, f"{metric}_se"))
        order = np.argsort(labels, kind="stable")
        axes.plot(
            labels[order], values[order], color=look.colour, linestyle=look.line, linewidth=look.width, zorder=2
        )
        band = np.nan_to_num(errors[order])
        axes.fill_between(
            labels[order], values[order] - band, values[order] + band, color=look.colour, alpha=0.15, linewidth=0
        )
        for hollow in (False, True):
            chosen = np.array([bool(row["mark"]) == hollow for row in rows])
            axes.plot(
                labels[chosen],
                values[chosen],
                color=look.colour,
                marker=look.marker,
                linestyle="none",
                markersize=5,
                markerfacecolor="white" if hollow else look.colour,
                zorder=3,
            )
    _dress(axes, metric, "labels bought (mean)")


def plot_by_round(axes: "Axes", results: Results, metric: str, budget: int) -> None:
    """A metric by round, at one budget."""
    for place, (method, look) in enumerate(looks_of(results.methods).items()):
        curve = results.curves[method, budget]
        values, band = curve[metric], np.nan_to_num(curve[f"{metric}_se"])
        axes.plot(
            results.rounds,
            values,
            color=look.colour,
            linestyle=look.line,
            linewidth=look.width,
            marker=look.marker,
            markersize=4.5,
            markevery=(3 + 2 * place, 18),
        )
        axes.fill_between(results.rounds, values - band, values + band, color=look.colour, alpha=0.15, linewidth=0)
    off = [method + found for method in results.methods if (found := off_budget(results, method, budget))]
    _dress(axes, metric, "\n".join([f"round (budget {budget:,})", *off]))


def plot_accuracies(axes: "Axes", results: Results) -> None:
    """How many models have which accuracy."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes.hist(
        results.accuracies, bins=min(20, max(5, len(results.accuracies) // 3)), color="#8fb4d9", edgecolor=INK
    )
    axes.set_xlabel("accuracy")
    axes.set_ylabel("models")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _frame(axes)


def _dress(axes: "Axes", metric: str, below: str) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    name, share = AXES[metric]
    axes.set_xlabel(below)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_ylabel(name)
    if share:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlim(left=0)
    if not metric.endswith("regret"):
        axes.set_ylim(bottom=0)
    _frame(axes)


def _frame(axes: "Axes") -> None:
    axes.grid(visible=True, color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


Draw = Callable[["Axes"], None]


class Sheet(NamedTuple):
    """A figure: panels row by row, each with a title."""

    title: str
    caption: str
    panels: list[list[tuple[str, Draw]]]
    methods: tuple[str, ...] = ()


def sheets_of(section: Section) -> dict[str, Sheet]:
    """The figures of one comparison, by the name of their files."""
    title, results, budget = section
    how, names = figure_caption(results), tuple(results.methods)

    def one(metric: str) -> list[list[tuple[str, Draw]]]:
        return [[("", lambda axes: plot_by_budget(axes, results, metric))]]

    regrets: list[tuple[str, Draw]] = [
        ("of the recommended model", lambda axes: plot_by_round(axes, results, "regret", budget)),
        ("of what was predicted", lambda axes: plot_by_round(axes, results, "sampled_regret", budget)),
    ]
    sheets = {
        "accuracy-gap": Sheet(f"{title}: accuracy gap by budget", how, one("accuracy_gap"), names),
        "identification": Sheet(
            f"{title}: identification probability by budget", how, one("identification_probability"), names
        ),
        "accuracy-gap-p90": Sheet(
            f"{title}: 90th percentile of the gap by budget", how, one("accuracy_gap_p90"), names
        ),
        "accuracies": Sheet(
            f"{title}: accuracies of the models", how, [[("", lambda axes: plot_accuracies(axes, results))]]
        ),
        "overview": Sheet(title, how, overview(section), names),
    }
    if "regret" in results.metrics:
        sheets["regret-by-round"] = Sheet(f"{title}: regret by round", how, [regrets], names)
    rivals = tuple(name for name in ("importance-weighted", "efficient-active") if name in names)
    if len(rivals) == 2:
        sheets["importance-against-efficient"] = Sheet(
            f"{title}: importance weighted against efficient active", how, [duel(results, rivals)], rivals
        )
    return sheets


def overview(section: Section) -> list[list[tuple[str, Draw]]]:
    """Four panels that say most; without rounds, there are accuracies in place of regret."""
    _, results, budget = section
    third: Draw = (
        (lambda axes: plot_by_round(axes, results, "regret", budget))
        if "regret" in results.metrics
        else (lambda axes: plot_accuracies(axes, results))
    )
    return [
        [
            ("", lambda axes: plot_by_budget(axes, results, "identification_probability")),
            ("", lambda axes: plot_by_budget(axes, results, "accuracy_gap")),
        ],
        [("", third), ("", lambda axes: plot_by_budget(axes, results, "accuracy_gap_p90"))],
    ]


def duel(results: Results, rivals: Sequence[str], title: str = "") -> list[tuple[str, Draw]]:
    """Two methods, by identification probability and gap."""
    return [
        (title, lambda axes: plot_by_budget(axes, results, "identification_probability", rivals)),
        (title, lambda axes: plot_by_budget(axes, results, "accuracy_gap", rivals)),
    ]


def paper_sheets(sections: Mapping[str, Section]) -> dict[str, Sheet]:
    """The paper's own figures, over all its collections that were run, by the name of the set-up."""
    main = [section for name, section in sections.items() if name != "cifar10-v2"]
    everyone = tuple(dict.fromkeys(name for section in sections.values() for name in section.results.methods))
    how = "; ".join(f"{section.title}: {figure_caption(section.results)}" for section in sections.values())

    def row(plot: Callable[[Section, "Axes"], None], shown: Sequence[Section]) -> list[tuple[str, Draw]]:
        return [(section.title, partial(plot, section)) for section in shown]

    def by_budget(metric: str) -> list[tuple[str, Draw]]:
        return row(lambda section, axes: plot_by_budget(axes, section.results, metric), main)

    def regret(section: Section, axes: "Axes") -> None:
        plot_by_round(axes, section.results, "regret", section.round_budget)

    performance = [row(regret, main), by_budget("accuracy_gap"), by_budget("identification_probability")]
    accuracies = row(lambda section, axes: plot_accuracies(axes, section.results), list(sections.values()))
    sheets = {"paper-figure-accuracies": Sheet("Counts of model accuracies", how, [accuracies])}
    if main:
        title = "Performance on the collections of the paper"
        sheets["paper-figure-performance"] = Sheet(title, how, performance, everyone)
        worst = [by_budget("accuracy_gap_p90")]
        sheets["paper-figure-worst-case"] = Sheet("90th percentile of the accuracy gap", how, worst, everyone)
    both = [s for name, s in sections.items() if name in ("emocontext", "cifar10")]
    if both:
        rivals = ("importance-weighted", "efficient-active")
        sheets["paper-figure-importance"] = Sheet(
            "Importance weighted against efficient active",
            how,
            [duel(section.results, rivals, section.title) for section in both],
            rivals,
        )
    if "cifar10-v2" in sections:
        low = sections["cifar10-v2"]
        sheets["paper-figure-low-accuracy"] = Sheet(low.title, how, overview(low), tuple(low.results.methods))
    return sheets


def save_sheets(sheets: Mapping[str, Sheet], folder: Path) -> list[Path]:
    """Write every figure as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, sheet in sheets.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # a letter that the font lacks is drawn as a box
            paths += _save(draw_figures(sheet), folder, name)
    return paths


def _save(figure: "Figure", folder: Path, name: str) -> list[Path]:
    """One figure in every form."""
    from matplotlib import rc_context

    paths = [folder / f"{name}.{kind}" for kind in KINDS]
    for kind, path in zip(KINDS, paths, strict=True):
        metadata = {"Date": None} if kind == "svg" else None
        with replacing(path) as unfinished, rc_context(STYLE):
            figure.savefig(unfinished, format=kind, dpi=150, metadata=metadata)
    return paths


def draw_figures(sheet: Sheet) -> "Figure":
    """A figure, with one legend for all its panels and a caption below."""
    require("figures")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows, columns = len(sheet.panels), max(len(row) for row in sheet.panels)
    with rc_context(STYLE):
        size = (max(6.4, 4.3 * columns), 3.4 * rows + 1.3)
        figure = Figure(figsize=size, layout="constrained")
        grid: Any = figure.subplots(rows, columns, squeeze=False)
        for row, panels in zip(grid, sheet.panels, strict=True):
            for axes, (title, plot) in zip(row, panels, strict=True):
                plot(axes)
                axes.set_title(title, fontsize=10, color=INK, parse_math=False)
        figure.suptitle(_printable(sheet.title), fontsize=13, color=INK, parse_math=False)
        if sheet.methods:
            figure.legend(
                handles=method_keys(sheet.methods),
                loc="outside lower center",
                ncols=min(len(sheet.methods), 3 if columns < 3 else 6),
                frameon=False,
                fontsize=9,
                title=_wrapped(sheet.caption, size[0]),
                title_fontproperties={"size": 8},
            )
        else:
            figure.supxlabel(_wrapped(sheet.caption, size[0]), fontsize=8, color=QUIET, parse_math=False)
    return figure


def _printable(text: str) -> str:
    """Text without control characters, which no SVG may hold."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _wrapped(text: str, inches: float) -> str:
    """A caption in lines that fit."""
    import textwrap

    return "\n".join(textwrap.wrap(text.replace("$", r"\$"), int(inches * 16)))


def method_keys(methods: Sequence[str]) -> list[Any]:
    """The entries of the legend."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [], [], color=look.colour, linestyle=look.line, linewidth=look.width, marker=look.marker, label=method
        )
        for method, look in looks_of(methods).items()
    ]
