"""`modelpicker conflicts` and `settle`: items on which people disagree, and what they are."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared.campaign_options import (
    AnnotatorOption,
    Name,
    StorageOption,
    as_id,
    as_label,
    called_by,
    opened,
    report,
)
from modelpicker.cli.shared.terminal import Json, command, count, print_json, print_table, say, table, visible
from modelpicker.cli.tell import IdArgument, KeyOption

if TYPE_CHECKING:
    from modelpicker.campaigns import Agreement, Conflict, GivenOpinion

CANNOT_TELL = "cannot tell"
LONGEST_TEXT = 60
FIRST_PAIRS = 10


def conflicts(name: Name, storage: StorageOption = None, as_json: Json = False) -> None:
    """List the items on which people disagree."""
    campaign = opened(storage, name)
    found, agreement = campaign.conflicts(), campaign.agreement()
    if as_json:
        listed = [asdict(conflict) for conflict in found]
        print_json({"campaign": name, "conflicts": listed, "agreement": agreement.document()})
        return
    typer.echo(f"{count(len(found), 'conflict')} to settle.")
    for conflict in found:
        typer.echo(visible(_line(conflict)))
    typer.echo("")
    _print_agreement(agreement)
    if found:
        say("", visible(f"{command(f'settle {called_by(name, storage)} ID LABEL')} says what an item is."))


def _line(conflict: "Conflict") -> str:
    """An item and who said what."""
    shown = " ".join(str(value) for value in (conflict.item or {}).values()).replace("\n", " ")
    text = shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 3]}..."
    return f"  {conflict.id}  {', '.join(map(_said, conflict.opinions))}  {text}"


def _said(opinion: "GivenOpinion") -> str:
    from modelpicker.label import label_text

    label = CANNOT_TELL if opinion.label is None else label_text(opinion.label)
    return f"{opinion.by or 'somebody without a name'}: {label}"


def _print_agreement(agreement: "Agreement") -> None:
    """How far people agree: all of them, every two, and on every class."""
    from modelpicker.label import label_text

    if agreement.agreed is None:
        typer.echo("No item has been labelled by two people yet.")
        return
    items = count(agreement.items, "item")
    typer.echo(
        f"{items} labelled by several people: all agree on {agreement.agreed:.0%}; "
        f"Fleiss' kappa {_kappa(agreement.kappa)}."
    )
    made = table("two people", "items", "agreed", "Cohen's kappa")
    for pair in agreement.pairs[:FIRST_PAIRS]:
        names = " and ".join(one or "somebody without a name" for one in pair.annotators)
        made.add_row(visible(names), f"{pair.items:,}", f"{pair.agreed:.0%}", _kappa(pair.kappa))
    print_table(made)
    made = table("class", "said", "kappa")
    for one in agreement.classes[:FIRST_PAIRS]:
        label = CANNOT_TELL if one.label is None else label_text(one.label)
        made.add_row(visible(label), f"{one.opinions:,}", _kappa(one.kappa))
    print_table(made)


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def settle(
    name: Name,
    id: IdArgument,  # noqa: A002 (the design's word)
    label: Annotated[
        str | None,
        typer.Argument(metavar="LABEL", help="What it is; leave it out with --cannot-tell.", show_default=False),
    ] = None,
    cannot_tell: Annotated[
        bool, typer.Option("--cannot-tell", help="Nobody can tell: the item has no label.")
    ] = False,
    key: KeyOption = False,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Decide what an item is on which people disagree."""
    if (label is None) != cannot_tell:
        raise typer.BadParameter("pass either a label or --cannot-tell.", param_hint="LABEL")
    campaign = opened(storage, name)
    number = as_id(campaign, id, key)
    said = None if label is None else as_label(campaign, number, label)
    campaign.settle(number, said, annotator=by)
    left = count(campaign.counts().conflicts, "conflict")
    facts = {"settled": campaign.number_of(number), "label": said}
    report(campaign, f"{id} is settled. {left} left.", facts, as_json)
