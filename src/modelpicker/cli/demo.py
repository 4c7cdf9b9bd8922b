"""`modelpicker demo`: the main job, on a collection that ships, with labels that are looked up one by one."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.cli.shared.terminal import WIDTH, Json, Seed, command, print_json, print_table, table, waiting

if TYPE_CHECKING:
    from rich.console import RenderableType

    from modelpicker.cli.shared.demo_run import Moment

BOARD = 8
WAYS = {
    "pool": "Pool: all items at once",
    "race": "Race on the stream",
    "model-picker": "Model Picker on the stream",
    "random": "labels at random",
}
# A live demo should be long enough to watch, and short enough not to wait for.
SECONDS = 6.0


def demo(
    collection: Annotated[str, typer.Option(help="A collection that ships: cifar10 or digits.")] = "cifar10",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show how it works on a collection that ships.

    It picks the best model live and in other ways. Then it measures how often that works.

    Every label is known, but only those that are asked for are looked up. The live part is a stream: the items come
    in random order. The table compares it with a race, with the same items as a pool, and with labels at random.
    """
    from modelpicker.cli.shared.demo_run import Demonstration

    with waiting("Preparing"):
        shown = Demonstration(collection, seed)
    if not as_json:
        _introduce(shown.facts())
        _play_live(shown)
    for _ in shown.moments():
        pass
    with waiting(f"Measuring: {shown.realizations} streams in other orders, with Model Picker and at random"):
        report = shown.report()
    if as_json:
        print_json(report)
    else:
        _print(report)


def _introduce(facts: dict[str, Any]) -> None:
    typer.echo(f"Which of {facts['models']} models is the best on this stream of {facts['items']:,} items?")
    typer.echo(f"Collection {facts['name']}: {facts['about']}.\n")


def _play_live(shown: Any) -> None:
    """The leader board while the stream goes by, if anybody is looking."""
    from rich.console import Console
    from rich.live import Live

    console = Console(width=min(WIDTH, Console().width), highlight=False)
    if not console.is_terminal:
        return
    pause = SECONDS / shown.pieces
    with Live(console=console, refresh_per_second=20, transient=True) as live:
        for moment in shown.moments():
            live.update(_board(moment))
            time.sleep(pause)


def _board(moment: "Moment") -> "RenderableType":
    """Progress, labels bought, and the leaders."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    seen = Text(f"{moment.rounds:,} of {moment.items:,} items seen, {moment.labels_used:,} labels bought", "bold")
    made = table("leaders", "gap (estimated)", "")
    made.columns[2].justify = "left"
    worst = max((gap for _, gap in moment.leaders), default=0.0)
    for model, gap in moment.leaders:
        length = 0 if worst == 0.0 else round(24 * gap / worst)
        made.add_row(model, f"{gap:.2%}", Text("▇" * length, "cyan"))
    return Group(seen, ProgressBar(total=moment.items, completed=moment.rounds, width=60), Text(""), made)


def _print(report: dict[str, Any]) -> None:
    """The report for people, in 80 columns."""
    used, rounds = report["labels_used"], report["rounds"]
    truth = "truly the best" if report["true_rank"] == 1 else f"truly number {report['true_rank']}"
    typer.echo(f"Pick: {report['pick']}, {truth} of {report['collection']['models']}.")
    typer.echo(f"Model Picker saw {rounds:,} items and bought {used:,} labels ({used / rounds:.1%}).\n")
    made = table("model", "gap (estimated)", "gap (true)", "accuracy (true)")
    for row in report["standing"][:BOARD]:
        mine = row["model"] == report["pick"]
        gaps = ("-", "-") if mine else (f"{row['gap_estimated']:.2%}", f"{row['gap_true']:.2%}")
        made.add_row(row["model"], *gaps, f"{row['accuracy']:.2%}", style="bold" if mine else None)
    print_table(made)
    typer.echo("The gap is how much less accurate than the pick a model is.\n")
    _print_ways(report)
    _print_costs(report["confidence"])
    typer.echo(f"Next: {command('collections show digits')}")
    typer.echo(f"      {command('pick predictions.csv')}, with your own predictions")


def _print_ways(report: dict[str, Any]) -> None:
    """What each way of picking costs on the same items, and whether it proves its pick."""
    from modelpicker.certificates.wording import how_certain, points

    goal = report["goal"]
    typer.echo("The same items in other ways. Rank is the true rank of the pick. Proven means")
    typer.echo(f"within {points(goal['gap'])} of the best model ({how_certain(goal['confidence'])}).\n")
    made = table("", "labels", "pick", "rank", "proven")
    made.columns[2].justify = "left"
    for way in report["ways"]:
        proved = "yes" if way["reached"] else "no"
        made.add_row(WAYS[way["way"]], f"{way['labels_used']:,}", way["pick"], str(way["true_rank"]), proved)
    print_table(made)


def _print_costs(measured: dict[str, Any]) -> None:
    """What the same confidence costs in other ways."""
    runs, share = measured["realizations"], measured["identification_probability"]
    typer.echo(f"Was it luck? On {runs} streams in other orders,")
    typer.echo(f"Model Picker found the best model {share * runs:.0f} times.")
    typer.echo("Labels for the same confidence, measured just now:\n")
    made = table("", "labels", "times as many")
    ours = measured["model_picker_labels"]
    made.add_row("Model Picker", f"{ours:,.0f}", "1.0")
    random = measured["random_labels"]
    made.add_row("labelling items at random", f"{random:,}", f"{random / ours:.1f}")
    whole = measured["all_labels"]
    made.add_row("labelling everything (certain)", f"{whole:,}", f"{whole / ours:.1f}")
    print_table(made)
