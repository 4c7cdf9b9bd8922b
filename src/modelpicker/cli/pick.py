"""`modelpicker pick`: the best model of one collection, with labels from a file or from a person."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli import choosing
from modelpicker.cli.reading import check_choice, read_collection
from modelpicker.cli.terminal import (
    Classes,
    Fields,
    IdColumn,
    Ignore,
    Json,
    Label,
    Labels,
    Models,
    Normalise,
    Seed,
    Source,
    Text,
    count,
    how_to_read,
    print_json,
    print_notes,
    print_sentence,
    print_table,
    say,
    table,
    visible,
)

if TYPE_CHECKING:
    from modelpicker.cli.picking import Pick

FIRST_MODELS = 10


def pick(
    source: Source,
    labels: Labels = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask at the terminal even where labels are known.")] = False,
    algorithm: choosing.Named = "model-picker",
    option: choosing.Options = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Stop once so many labels have been bought.", show_default=False)
    ] = None,
    stop_gap: choosing.StopGap = None,
    confidence: choosing.Confidence = 0.95,
    kind: choosing.KindNamed = None,
    seed: Seed = 0,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Take the items in random order.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Where every decision is written.  [default: NAME.pick.jsonl]", show_default=False),
    ] = None,
    models: Models = None,
    fields: Fields = None,
    classes: Classes = None,
    normalise: Normalise = False,
    text: Text = False,
    label: Label = None,
    id_column: IdColumn = None,
    ignore: Ignore = None,
    as_json: Json = False,
) -> None:
    """Pick the best model of a collection, buying only the labels that are needed.

    Labels are looked up in the file, or in the file given by --labels, but only those that the algorithm asks for.
    Where there are none, you are asked: a key a class, s to skip, u to undo, q to quit. The same command goes on
    where you were.

    Which algorithm? If items are drawn from one population, take --algorithm race: it needs the fewest labels and
    stops by itself with a proof. If they may drift, or their order may have been chosen, stay with model-picker.
    The others are there to compare.
    """
    from modelpicker.cli.picking import Settings, look_up
    from modelpicker.cli.session import ask_person
    from modelpicker.collections import open_collection

    choosing.check_name(algorithm)
    options = choosing.parse_options(option or [])
    if algorithm == "race":  # which stops by itself: the rule is its own
        options = {"confidence": confidence, **({} if stop_gap is None else {"tolerance": stop_gap}), **options}
        stop_gap, confidence, kind = None, float(options["confidence"]), kind or "population"
    rule = choosing.stopping_rule(stop_gap, confidence, kind)
    reading = how_to_read(models, fields, classes, normalise, text, label, id_column, ignore)
    collection = read_collection(open_collection, source, labels, reading)
    print_notes(collection.notes)
    say(f"models: {_some(collection.models)}")
    check_choice(collection, source)
    settings = Settings(
        source=source,
        algorithm=algorithm,
        options=options,
        budget=budget,
        stop_when=None if stop_gap is None else rule,
        wanted=rule,
        seed=seed,
        shuffle=shuffle,
        out=out or Path(f"{Path(source).stem}.pick.jsonl"),
    )
    known = collection.labelled and not ask
    result = look_up(collection, settings) if known else ask_person(collection, settings)
    print_json(result.document()) if as_json else _print(result)


def _some(names: Sequence[str]) -> str:
    """The first names, as many as fit into a line."""
    shown = visible(", ".join(names[:6]))
    return f"{shown[:64]}{', …' if len(names) > 6 or len(shown) > 64 else ''} ({len(names)})"


def _print(result: "Pick") -> None:
    """What came of it, for people."""
    share = f"{result.labels_used / result.rounds:.1%}" if result.rounds else "0%"
    typer.echo("")
    if not result.labels_used:
        typer.echo("No label was bought, so nothing can be said of the models yet.")
    else:
        tied = [name for name in result.tied() if name != result.picker.recommended]
        more = f" (tied with {', '.join(tied[:3])}{', …' if len(tied) > 3 else ''})" if tied else ""
        typer.echo(visible(f"Pick: {result.picker.recommended}{more}"))
        typer.echo("")
    of_all = f"{result.rounds:,} of {result.items:,}" if result.rounds < result.items else f"{result.items:,}"
    typer.echo(f"{result.algorithm} saw {of_all} items and bought {count(result.labels_used, 'label')} ({share}).")
    for line in result.remarks():
        typer.echo(line)
    typer.echo("")
    if result.labels_used:
        print_sentence(result.certificate.sentence)
        typer.echo("")
    if result.labels_used:
        _print_standing(result)
    typer.echo(f"Every decision is in {result.out}.")


def _print_standing(result: "Pick") -> None:
    standing = list(result.standing())
    title = "gap (estimated)" if result.weighted else f"mistakes on {result.labels_used:,} labels"
    made = table("model", title)
    for entry in standing[:FIRST_MODELS]:
        value = entry["gap"] if result.weighted else entry["loss"]
        shown = f"{value:,.0f}" if not result.weighted else f"{value:.2%}" if value <= 1 else "over 100%"
        made.add_row(visible(entry["model"]), "-" if result.weighted and entry is standing[0] else shown)
    print_table(made)
    if len(standing) > FIRST_MODELS:
        typer.echo(f"… and {len(standing) - FIRST_MODELS} more.")
    if result.weighted:
        typer.echo("The gap is how much less accurate than the pick a model is estimated to be;")
        typer.echo("with few labels, estimates are rough.")
