"""`modelpicker collections`: which there are, what is in them, and new ones."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from modelpicker.cli.shared.read_collection import read_collection, with_reading
from modelpicker.cli.shared.terminal import (
    Json,
    LabelsOption,
    Seed,
    SourceArgument,
    command,
    count,
    print_json,
    print_notes,
    print_table,
    table,
    visible,
    waiting,
)
from modelpicker.errors import ConflictError, InputError
from modelpicker.extras import require

if TYPE_CHECKING:
    from modelpicker.collections import ModelCollection
    from modelpicker.collections.description import Description

FIRST_MODELS = 12

Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]

app = typer.Typer(
    help="Collections of predictions: list, show, make, convert.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command("list")
def list_collections(as_json: Json = False) -> None:
    """List the collections that ship, and presets."""
    from modelpicker.collections.presets import PRESETS
    from modelpicker.collections.shipped import SHIPPED, shipped_collection

    shipped = {name: shipped_collection(name) for name in SHIPPED}
    sizes = [
        {"name": name, "kind": "shipped", **_size(collection), "about": SHIPPED[name]}
        for name, collection in shipped.items()
    ] + [
        {
            "name": name,
            "kind": "preset",
            "items": preset.items,
            "models": preset.models,
            "classes": preset.classes,
            "about": f"synthetic, with the accuracies recorded on {name.removesuffix('-like')}",
        }
        for name, preset in PRESETS.items()
    ]
    if as_json:
        print_json({"collections": sizes})
        return
    for kind, title in (("shipped", "ships with modelpicker"), ("preset", "preset of `collections make`")):
        made = table(title, "items", "models", "classes")
        for entry in sizes:
            if entry["kind"] == kind:
                made.add_row(str(entry["name"]), *(f"{entry[key]:,}" for key in ("items", "models", "classes")))
        print_table(made)
    typer.echo(f"Next: {command('collections show digits')}.")


def _size(collection: "ModelCollection") -> dict[str, int]:
    return {"items": len(collection), "models": len(collection.models), "classes": len(collection.classes)}


@app.command()
@with_reading
def show(
    source: SourceArgument,
    labels: LabelsOption = None,
    reading: Any = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw it, into a .png, .svg or .pdf file.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Print all models, not only the first.")] = False,
    card: Annotated[bool, typer.Option("--card", help="Print how a collection that ships was made.")] = False,
    as_json: Json = False,
) -> None:
    """Describe a collection: its size, and how models differ."""
    from modelpicker.collections.description import describe
    from modelpicker.collections.files import load_with
    from modelpicker.collections.shipped import SHIPPED, collection_card

    if card:
        if source not in SHIPPED:
            raise InputError(f"{source} does not ship, so it has no card; those that do are {', '.join(SHIPPED)}.")
        text_of_card = collection_card(source)
        print_json({"card": text_of_card}) if as_json else typer.echo(text_of_card)
        return
    if plot is not None:
        require("figures")
    collection = read_collection(load_with, source, labels, reading)
    with waiting(f"Describing {source}"):
        description = describe(collection, Path(source).stem)
    if plot is not None:
        from modelpicker.collections.plots import plot_collection

        with waiting(f"Drawing {plot}"):
            plot_collection(collection, description, plot)
    if as_json:
        print_json(_document(description, collection) | {"plot": None if plot is None else str(plot)})
    else:
        _print(description, collection, everything)
        if plot is not None:
            typer.echo(f"Drawn: {plot}")


def _document(description: "Description", collection: "ModelCollection") -> dict[str, Any]:
    """The description with the paper's symbols spelt out."""
    document = asdict(description)
    hard = document.pop("hardness")
    document["hardness"] = hard and {
        "best": hard["best"],
        "tied": hard["tied"],
        "delta": hard["gap"],
        "lambda": hard["closeness"],
        "rival": hard["rival"],
        "rival_delta": hard["rival_gap"],
        "theta": hard["rival_difference"],
    }
    return document | {"model_names": collection.models, "fields": list(collection.fields)}


def _print(found: "Description", collection: "ModelCollection", everything: bool) -> None:
    """The description for people, in 80 columns."""
    sizes = (count(found.items, "item"), count(found.models, "model"))
    classes = "1 class" if found.classes == 1 else f"{found.classes:,} classes"
    typer.echo(f"{visible(found.name)}: {', '.join(sizes)}, {classes}\n")
    facts = table("", "")
    facts.show_header = False
    facts.columns[1].justify = "left"
    facts.columns[1].no_wrap = False
    known = "all" if found.labelled == found.items else f"{found.labelled:,} of {found.items:,}"
    facts.add_row("models", _some(collection.models))
    facts.add_row("classes", _some(collection.classes))
    if collection.fields:
        facts.add_row("shown with an item", _some(tuple(collection.fields)))
    facts.add_row("labels", known if found.labelled else "none")
    if found.graded:
        facts.add_row("grades", f"{found.graded:,} items have them: score {visible(found.score)}")
    facts.add_row(
        "models disagree on",
        f"{found.divided_rounds:,} items ({found.disagreement:.1%}): only there can a label matter",
    )
    if found.telling_rounds is not None:
        facts.add_row("", f"{found.telling_rounds:,} of them tell models apart: some are right and some wrong")
    facts.add_row("two models differ on", f"{found.pairwise:.1%} of the items, on average")
    facts.add_row("abstentions", _abstentions(found))
    for group in found.identical:
        facts.add_row("identical", f"{visible(', '.join(group))} give the same answer to every item: keep one")
    if found.unsaid:
        facts.add_row("never predicted", f"{len(found.unsaid)} classes of labels: {_some(found.unsaid)}")
    if found.unlabelled:
        facts.add_row(
            "never true", f"{len(found.unlabelled)} classes that models predict: {_some(found.unlabelled)}"
        )
    facts.add_row("fingerprint", found.fingerprint)
    print_table(facts)
    _print_accuracies(found, everything)
    _print_hardness(found)
    print_notes(found.notes)


def _abstentions(found: "Description") -> str:
    if not found.abstentions:
        return "none"
    total = sum(found.abstentions.values())
    worst = sorted(found.abstentions.items(), key=lambda entry: -entry[1])[:3]
    listing = ", ".join(f"{model} {count:,}" for model, count in worst)
    more = ", …" if len(found.abstentions) > len(worst) else ""
    return f"{total:,} of {found.items * found.models:,} predictions ({listing}{more})"


def _some(names: Sequence[int | str]) -> str:
    listed = visible(", ".join(str(name) for name in names[:6]))
    return f"{listed[:150]}, …" if len(names) > 6 or len(listed) > 150 else listed


def _print_accuracies(found: "Description", everything: bool) -> None:
    means = found.grades if found.accuracies is None else found.accuracies
    if means is None:
        return
    ranked = sorted(means.items(), key=lambda entry: -entry[1])
    best = ranked[0][1]
    shown = ranked if everything else ranked[:FIRST_MODELS]
    made = table("model", "mean grade" if found.accuracies is None else "accuracy", "behind the best")
    for model, accuracy in shown:
        made.add_row(visible(model), f"{accuracy:.2%}", "-" if accuracy == best else f"{best - accuracy:.2%}")
    print_table(made)
    if len(shown) < len(ranked):
        typer.echo(f"… and {len(ranked) - len(shown)} more, down to {ranked[-1][1]:.2%} (--all shows them).\n")


def _print_hardness(found: "Description") -> None:
    hard = found.hardness
    if hard is None:
        if found.labelled:
            needed = "two models" if found.models < 2 else "answers of all models to all items"
            typer.echo(f"λ, Δ and θ need {needed}.")
        else:
            typer.echo("Without labels nothing is known about accuracies.")
            bought = "looks up the few grades" if found.graded else "asks for the few"
            typer.echo(f"Next: {command('pick FILE')} {bought} that matter.")
        return
    typer.echo("How hard is the best to find? (the paper's measures, on the labelled items)")
    typer.echo(f"  Δ = {hard.gap:.4f}   how far the best is ahead of the second")
    typer.echo(f"  θ = {hard.rival_difference:.4f}   how often just one of it and its rival {hard.rival} is right")
    typer.echo(f"  λ = {hard.closeness:.6f} = {hard.rival_gap:.4f}² / θ   the larger, the easier")
    if hard.tied:
        typer.echo(f"  {hard.best} ties with {', '.join(hard.tied)}: no number of labels can tell which is better.")


@app.command()
def make(
    out: Annotated[
        Path, typer.Argument(help="The file to write: .npz, .parquet, .arrow, .csv or .jsonl.", show_default=False)
    ],
    preset: Annotated[
        str | None, typer.Option(help="A synthetic copy of one of the paper's collections: see `list`.")
    ] = None,
    items: Annotated[int | None, typer.Option(help="How many items.  [default: 10000]", show_default=False)] = None,
    models: Annotated[
        int | None, typer.Option(max=1_000_000, help="How many models.  [default: 10]", show_default=False)
    ] = None,
    classes: Annotated[
        int | None, typer.Option(max=1_000_000, help="How many classes.  [default: 10]", show_default=False)
    ] = None,
    accuracies: Annotated[
        str | None,
        typer.Option(
            help="One per model, separated by commas; or LOW:HIGH, evenly spread.  [default: 0.5:0.9]",
            show_default=False,
        ),
    ] = None,
    difficulty: Annotated[
        float, typer.Option(help="How far the same items are hard for all models, 0 to 1.")
    ] = 0.5,
    kinship: Annotated[float, typer.Option(help="How far the same items are hard for a family only.")] = 0.2,
    temptation: Annotated[float, typer.Option(help="How often wrong answers are the same wrong answer.")] = 0.6,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make a synthetic collection, with errors as real ones."""
    from modelpicker.collections import synthetic_collection
    from modelpicker.collections.presets import preset_collection

    _check_free(out, force)
    if preset is not None and (models, classes, accuracies) != (None, None, None):
        raise typer.BadParameter("a preset has its own models, classes and accuracies.", param_hint="--preset")
    with waiting(f"Making {out}"):
        if preset is not None:
            collection = preset_collection(preset, seed, items)
        else:
            collection = synthetic_collection(
                10_000 if items is None else items,
                models or 10,
                classes or 10,
                _accuracies(accuracies or "0.5:0.9", models or 10),
                seed,
                difficulty=difficulty,
                kinship=kinship,
                temptation=temptation,
            )
        collection.save(out)
    _report(collection, out, as_json)


def _check_free(out: Path, force: bool) -> None:
    """What is there is overwritten only if that is meant."""
    if out.exists() and not force:
        raise ConflictError(f"{out} exists; pass --force to overwrite it.")


def _accuracies(text: str, models: int) -> list[float]:
    """A list of shares, or an even spread between two."""
    try:
        if ":" not in text:
            return [float(part) for part in text.split(",")]
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        raise InputError(
            f"--accuracies {text}: pass numbers such as 0.5,0.7,0.9, or a range such as 0.5:0.9."
        ) from None
    return [low + (high - low) * place / max(1, models - 1) for place in range(models)]


@app.command()
@with_reading
def convert(
    source: SourceArgument,
    out: Annotated[
        Path, typer.Argument(help="The file to write: .npz, .parquet, .arrow, .csv or .jsonl.", show_default=False)
    ],
    labels: LabelsOption = None,
    reading: Any = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Convert a collection from one file format to another."""
    from modelpicker.collections.files import load_with

    _check_free(out, force)
    collection = read_collection(load_with, source, labels, reading)
    with waiting(f"Writing {out}"):
        collection.save(out)
    _report(collection, out, as_json)


def _report(collection: "ModelCollection", out: Path, as_json: bool) -> None:
    """What was written, and where."""
    if as_json:
        document = _size(collection) | {"labelled": collection.labelled, "fingerprint": collection.fingerprint}
        print_json({"path": str(out)} | document | {"notes": list(collection.notes)})
        return
    print_notes(collection.notes)
    typer.echo(
        f"{out}: {len(collection):,} items, {len(collection.models)} models, {len(collection.classes):,} classes."
    )
    typer.echo(f"Next: {command(f'collections show {out}')}.")
