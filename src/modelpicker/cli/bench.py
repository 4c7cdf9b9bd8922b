"""`modelpicker bench`: speed on this machine, as ratios measured in one run."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from modelpicker.cli.terminal import Json, print_json, waiting

if TYPE_CHECKING:
    from modelpicker.bench.speed import Growth, Ratio, Step


def bench(as_json: Json = False) -> None:
    """Measure speed on this machine; takes about a minute.

    Kernels run against textbook NumPy transcriptions of the paper, on the same streams and coins, in one run
    on one core. Then how time grows with the rounds, and what one round costs from Python.
    """
    from modelpicker.bench import speed

    with waiting("Model Picker, one round at a time"):
        step = speed.measure_step()
    with waiting("Kernels against textbooks (Model Picker's textbook alone takes half a minute)"):
        ratios = list(speed.measure_ratios())
    with waiting("A million rounds for each algorithm"):
        growth = list(speed.measure_growth())
    if as_json:
        print_json(_document(ratios, growth, step))
    else:
        _print(ratios, growth, step)


def _document(ratios: "list[Ratio]", growth: "list[Growth]", step: "Step") -> dict[str, Any]:
    return {
        "ratios": [asdict(ratio) for ratio in ratios],
        "growth": [asdict(row) for row in growth],
        "step": asdict(step),
    }


def _print(ratios: "list[Ratio]", growth: "list[Growth]", step: "Step") -> None:
    """Three tables for people, in 80 columns."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=80)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("kernel against textbook")
    for column in ("T x k x C", "textbook", "kernel", "times", "wanted"):
        table.add_column(column, justify="right")
    for ratio in ratios:
        table.add_row(
            ratio.method if ratio.same_decisions else f"{ratio.method} (DECISIONS DIFFER)",
            f"{ratio.rounds:,} x {ratio.models} x {ratio.classes:,}",
            f"{ratio.textbook_seconds * 1e3:,.1f} ms",
            f"{ratio.kernel_seconds * 1e3:.2f} ms",
            f"{ratio.ratio:,.0f}",
            f"{ratio.wanted:,}",
        )
    console.print(table)
    typer.echo("")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"time by rounds, k = {growth[0].models}")
    for rounds in growth[0].seconds:
        table.add_column(f"{rounds:,}", justify="right")
    table.add_column("ten times the rounds", justify="right")
    for row in growth:
        times = [f"{seconds * 1e3:,.1f} ms" for seconds in row.seconds.values()]
        table.add_row(row.method, *times, ", ".join(f"x {ratio:.1f}" for ratio in row.ratios))
    console.print(table)
    typer.echo(
        f"\nOne observe and one learn of {step.method} from Python, k = {step.models}: {step.microseconds:.0f} µs"
    )
