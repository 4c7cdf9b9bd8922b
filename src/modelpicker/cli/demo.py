"""`modelpicker demo`: the main job, on a collection made on the spot."""

from typing import Any

import typer

from modelpicker.cli.terminal import Json, Seed, print_json, waiting

ITEMS, CLASSES = 2_000, 4
ACCURACIES = (0.55, 0.61, 0.66, 0.70, 0.74, 0.77, 0.80, 0.82, 0.84, 0.86, 0.88, 0.92)
NAMES = [f"model-{number:02}" for number in range(1, len(ACCURACIES) + 1)]


def demo(seed: Seed = 0, as_json: Json = False) -> None:
    """Pick the best model of a small collection, in seconds.

    Until a collection ships with modelpicker, this one is synthetic: models of known accuracy that find the
    same items hard. Labels are looked up only when Model Picker asks for them.
    """
    with waiting("Preparing (the first run compiles, which takes some seconds)"):
        report = _report(seed)
    if as_json:
        print_json(report)
    else:
        _print(report)


def _report(seed: int) -> dict[str, Any]:
    """Let Model Picker pick, and put what is true beside what it found."""
    from modelpicker.algorithms import ModelPicker, run_stream
    from modelpicker.bench.streams import stream_of_accuracies

    predictions, labels = stream_of_accuracies(ITEMS, CLASSES, ACCURACIES, seed)
    trace = run_stream(ModelPicker(models=NAMES, seed=seed), predictions, labels)
    accuracy = (predictions == labels[:, None]).mean(axis=0).tolist()
    picked = NAMES.index(str(trace.winner))
    behind = ((trace.losses - trace.losses[picked]) / len(trace)).tolist()
    collection = {"kind": "synthetic", "seed": seed, "items": ITEMS, "models": len(NAMES), "classes": CLASSES}
    return {
        "collection": collection,
        "pick": trace.winner,
        "true_rank": 1 + sum(other > accuracy[picked] for other in accuracy),
        "rounds": len(trace),
        "labels_used": trace.labels_used,
        "standing": [
            {
                "model": NAMES[model],
                "behind_estimated": round(behind[model], 4),
                "behind_true": round(accuracy[picked] - accuracy[model], 4),
                "accuracy": round(accuracy[model], 4),
            }
            for model in sorted(range(len(NAMES)), key=lambda model: (behind[model], -accuracy[model]))
        ],
    }


def _print(report: dict[str, Any]) -> None:
    """The report for people, in 80 columns."""
    from rich.console import Console
    from rich.table import Table

    collection, used, rounds = report["collection"], report["labels_used"], report["rounds"]
    truth = "truly the best" if report["true_rank"] == 1 else f"truly number {report['true_rank']}"
    typer.echo(f"Which of {collection['models']} models is the best on this stream of {rounds:,} items?\n")
    typer.echo(f"The collection is synthetic (seed {collection['seed']}): none ships with modelpicker yet.")
    typer.echo(f"Model Picker saw every prediction, and bought {used} of {rounds:,} labels ({used / rounds:.1%}).")
    typer.echo(f"\nPick: {report['pick']}, {truth}.\n")
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in ("model", "gap (estimated)", "gap (true)", "accuracy (true)"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for row in report["standing"]:
        mine = row["model"] == report["pick"]
        gaps = ("-", "-") if mine else (f"{row['behind_estimated']:.1%}", f"{row['behind_true']:.1%}")
        table.add_row(row["model"], *gaps, f"{row['accuracy']:.1%}", style="bold" if mine else None)
    Console(width=80).print(table)
    typer.echo("\nThe gap is how much less accurate than the pick a model is.")
    typer.echo(
        f"Next: `modelpicker demo --seed {collection['seed'] + 1}`, or the ten lines of Python in the README."
    )
