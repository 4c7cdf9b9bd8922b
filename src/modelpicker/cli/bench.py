"""`modelpicker bench`: speed on this machine, as ratios measured in one run."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from modelpicker.cli.shared.terminal import Json, print_json, print_table, table, waiting

if TYPE_CHECKING:
    from modelpicker.bench.speed import Growth, Ratio


def bench(as_json: Json = False) -> None:
    """Measure speed on this machine; takes a minute or two.

    Kernels run against textbook NumPy transcriptions of the paper, on the same streams and coins, in one run
    on one core. Then how time grows with the rounds and with the models, and what one round costs from Python.
    """
    from modelpicker.bench import speed

    with waiting("Kernels against textbooks (Model Picker's textbook alone takes half a minute)"):
        ratios = list(speed.measure_ratios())
    if not as_json:
        _print_ratios(ratios)
    with waiting("A million rounds for each algorithm"):
        growth = list(speed.measure_growth())
    if not as_json:
        _print_growth("time by rounds, 20 models", "ten times the rounds", growth)
    with waiting("Five hundred models for each algorithm"):
        width = list(speed.measure_width())
    if not as_json:
        _print_growth("time by models, 5,000 rounds", "ten times the models", width)
    with waiting("Model Picker, one round at a time"):
        step = speed.measure_step()
    if not as_json:
        typer.echo(f"One observe and one learn of {step.method}, {step.models} models: {step.microseconds:.0f} µs")
        return
    print_json(
        {
            "ratios": [asdict(row) for row in ratios],
            "growth": [asdict(row) for row in growth],
            "width": [asdict(row) for row in width],
            "step": asdict(step),
        }
    )


def _print_ratios(ratios: "list[Ratio]") -> None:
    made = table("against its textbook", "T x k x C", "textbook", "kernel", "times", "wanted")
    for ratio in ratios:
        made.add_row(
            ratio.method if ratio.same_decisions else f"{ratio.method} DIFFERS",
            f"{ratio.rounds:,} x {ratio.models} x {ratio.classes:,}",
            f"{ratio.textbook_seconds * 1e3:,.0f} ms",
            f"{ratio.kernel_seconds * 1e3:.2f} ms",
            f"{ratio.ratio:,.0f}",
            f"{ratio.wanted:,}{' !' if ratio.ratio < ratio.wanted else ''}",
        )
    print_table(made)


def _print_growth(title: str, ratio: str, rows: "list[Growth]") -> None:
    made = table(title, *(f"{size:,}" for size in rows[0].seconds), ratio)
    for row in rows:
        times = [f"{seconds * 1e3:,.1f} ms" for seconds in row.seconds.values()]
        made.add_row(row.method, *times, ", ".join(f"x {value:.1f}" for value in row.ratios))
    print_table(made)
