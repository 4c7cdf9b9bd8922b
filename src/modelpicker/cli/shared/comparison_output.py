"""What a comparison shows.

Tables in the terminal, figures and a report in its folder, and how to continue with it.
"""

import math
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from modelpicker.cli.shared.terminal import WIDTH, print_table, say, table, visible, waiting
from modelpicker.experiments.figures import Section, caption, save_sheets, sheets_of
from modelpicker.experiments.labels_needed import without_infinities
from modelpicker.experiments.plan import middle_budget
from modelpicker.experiments.report import LEVELS, shown_labels, write_report
from modelpicker.experiments.results import Results
from modelpicker.experiments.tuning import MARKS

INTERRUPTED = 130
# What a column of the table at one budget is called.
HEADS = {
    "queries": "labels",
    "identification_probability": "identified",
    "accuracy_gap_p90": "gap p90",
    "regret": "regret",
    "sampled_regret": "sampled",
}
NO_MARK = "\u00a0"  # keeps its place, where a plain space would be cut off


@contextmanager
def interruptible(folder: Path) -> Iterator[None]:
    """Ctrl-C leaves what has been run, and says how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        kept = visible(f"Interrupted. What has been run is kept in {folder};")
        say("", kept, "run the same command to continue.")
        raise typer.Exit(INTERRUPTED) from None


def finish_comparison(results: Results, folder: Path, *, figures: bool, quiet: bool) -> dict[str, Any]:
    """Show the results, write figures and report, and give the document."""
    name = results.settings["collection"]["name"]
    if not quiet:
        print_results(results)
    if figures:
        section = Section(name, results, middle_budget(results.budgets))
        with waiting("Drawing figures and writing the report"):
            save_sheets(sheets_of(section), folder / "figures")
            write_report(folder / "report.html", f"{name}: ways of choosing a model", [section], {}, this_command())
    return {**results.document(), "labels_needed": needed_labels(results), "folder": str(folder)}


def needed_labels(results: Results) -> dict[str, dict[str, float | None]]:
    """Labels to each identification probability, by method; null if it is never reached."""
    return {f"{level:g}": without_infinities(results.labels_needed(level)) for level in LEVELS}


def this_command() -> str:
    """The command as it was given."""
    import shlex

    return shlex.join(["modelpicker", *sys.argv[1:]])


def print_results(results: Results) -> None:
    """The tables for people, in eighty columns."""
    for line in textwrap.wrap(f"{results.settings['collection']['name']}: {caption(results)}", WIDTH):
        typer.echo(visible(line))
    typer.echo("")
    rule = results.settings["budget_rule"]
    stand_in = " (stand-in)" if results.settings["collection"]["stand_in"] else ""
    typer.echo(f"Identification probability by budget{stand_in}. Budget rule: {rule}.")
    _print_by_budget(results, "identification_probability", "{:.3f}")
    typer.echo(f"Accuracy gap by budget, mean{stand_in}. Budget rule: {rule}.")
    _print_by_budget(results, "accuracy_gap", "{:.2%}")
    budget = middle_budget(results.budgets)
    typer.echo(f"At budget {budget:,}, with standard errors{stand_in}. Budget rule: {rule}.")
    _print_at(results, budget)
    _print_marks(results)
    typer.echo(f"Labels for an identification probability{stand_in}. Budget rule: {rule}.")
    made = table("method", *(f"{level:.0%}" for level in LEVELS))
    for method in results.methods:
        made.add_row(visible(method), *(shown_labels(results, method, level) for level in LEVELS))
    print_table(made)
    own = results.own_method
    if own in results.methods and len(results.methods) > 1:
        for level in LEVELS:
            found = results.factor(level)
            if math.isfinite(found.labels):
                over = f"the best other method's labels over {own}'s: " if math.isfinite(found.factor) else ""
                print_wrapped(f"For {level:.0%}, {over}{found.sentence}.")
        typer.echo("")


def print_wrapped(text: str, indent: str = "") -> None:
    """A paragraph on standard output."""
    typer.echo(textwrap.fill(visible(text), WIDTH, initial_indent=indent, subsequent_indent=indent))


def _print_by_budget(results: Results, metric: str, shown: str) -> None:
    """Budgets down, methods across."""
    made = table("budget", *(_header(method) for method in results.methods))
    made.columns[0].justify = "right"
    for budget in results.budgets:
        rows = [results.row(method, budget) for method in results.methods]
        made.add_row(
            f"{budget:,}", *(shown.format(row[metric]) + ("*" if row["mark"] else NO_MARK) for row in rows)
        )
    print_table(made)


def _print_at(results: Results, budget: int) -> None:
    """All metrics at one budget."""
    shown_metrics = [name for name in results.metrics if name != "accuracy_gap"]
    made = table("method", *(HEADS[name] for name in shown_metrics))
    for method in results.methods:
        row = results.row(method, budget)
        shown = {"identification_probability": "{:.2f}", "accuracy_gap_p90": "{:.2%}"}
        cells = [_with_error(row, name, shown.get(name, "{:,.1f}")) for name in shown_metrics]
        made.add_row(visible(method), *cells)
    print_table(made)


def _with_error(row: dict[str, Any], metric: str, shown: str) -> str:
    """A value ± its standard error; the error is unknown after a single realization."""
    error = row[f"{metric}_se"]
    value = shown.format(row[metric])
    return value if math.isnan(error) else f"{value} ±{shown.format(error)}"


def _header(method: str) -> str:
    """A name over two lines, if it is a long one."""
    first, mark, rest = visible(method).partition("-")
    return f"{first}{mark}\n{rest}{NO_MARK}" if mark else f"{first}{NO_MARK}"


def _print_marks(results: Results) -> None:
    """Why some rows have another number of labels than their budget."""
    marked = [row for row in results.rows if row["mark"]]
    if not marked:
        return
    typer.echo("* another number of labels than the budget (mean of what was bought):")
    for method in results.methods:
        for mark, why in MARKS.items():
            rows = [row for row in marked if (row["method"], row["mark"]) == (method, mark)]
            if rows:
                _print_marked(method, why, rows)
    typer.echo("")


def _print_marked(method: str, why: str, rows: Sequence[dict[str, Any]]) -> None:
    bought = ", ".join(f"{row['queries']:,.1f} for {row['budget']:,}" for row in rows)
    lines = textwrap.wrap(visible(f"{method}: {bought} ({why})"), WIDTH - 2, subsequent_indent="  ")
    typer.echo("\n".join(f"  {line}" for line in lines))
