"""`modelpicker revise`, `rename` and `delete`: what changes while a campaign continues."""

from typing import Annotated, Any

import typer

from modelpicker.certificates.stop_rule import CONFIDENCE
from modelpicker.cli.shared import algorithm_options
from modelpicker.cli.shared.campaign_options import (
    AnnotatorOption,
    GuidelinesOption,
    Name,
    StorageOption,
    opened,
    read_guidelines,
    report,
    storage_url,
)
from modelpicker.cli.shared.terminal import Json, print_json, say, visible

NewName = Annotated[str, typer.Argument(metavar="NEW", help="The new name.", show_default=False)]


def revise(
    name: Name,
    budget: Annotated[
        int | None, typer.Option(min=0, help="How many labels may be bought from now on.", show_default=False)
    ] = None,
    no_budget: Annotated[bool, typer.Option("--no-budget", help="Buy as many as the algorithm asks for.")] = False,
    stop_gap: algorithm_options.StopGap = None,
    confidence: algorithm_options.Confidence = CONFIDENCE.default,
    kind: algorithm_options.KindNamed = None,
    no_goal: Annotated[bool, typer.Option("--no-goal", help="Set no goal: it does not stop by itself.")] = False,
    paused: Annotated[
        bool | None,
        typer.Option("--pause/--resume", help="Pause: ask nobody for labels. Or resume.", show_default=False),
    ] = None,
    archived: Annotated[
        bool | None,
        typer.Option(
            "--archive/--bring-back", help="Archive: take no items and no labels. Or restore.", show_default=False
        ),
    ] = None,
    finished: Annotated[
        bool | None,
        typer.Option(
            "--finished/--no-finished",
            help="Finish: withdraw open questions. Or continue with them.",
            show_default=False,
        ),
    ] = None,
    guidelines: GuidelinesOption = None,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Change the budget or the goal; pause, finish or archive.

    The history keeps every change.
    """
    if budget is not None and no_budget:
        raise typer.BadParameter("pass --budget or --no-budget.")
    if stop_gap is not None and no_goal:
        raise typer.BadParameter("pass --stop-gap or --no-goal.")
    rule = algorithm_options.stopping_rule(stop_gap, confidence, kind)
    told = None if guidelines is None else read_guidelines(guidelines)
    given = {"paused": paused, "archived": archived, "finished": finished, "guidelines": told}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if budget is not None or no_budget:
        changes["budget"] = budget
    if stop_gap is not None or no_goal:
        changes["stop_when"] = None if no_goal else rule
    if not changes:
        raise typer.BadParameter("say what to change: --budget, --stop-gap, --pause, --finished, --guidelines, …")
    campaign = opened(storage, name)
    before = campaign.terms.document()
    campaign.revise(annotator=by, **changes)
    now = campaign.terms.document()
    changed = sorted(name for name in changes if now[name] != before[name])
    told = f"Changed: {', '.join(changed)}." if changed else "Nothing changed: the settings were like this already."
    report(campaign, told, {"revised": changed}, as_json)


def rename(
    name: Name, new: NewName, by: AnnotatorOption = None, storage: StorageOption = None, as_json: Json = False
) -> None:
    """Rename a campaign. Programs need the new name."""
    campaign = opened(storage, name)
    campaign.rename(new, annotator=by)
    report(campaign, f"{name} is called {new} from now on.", {"renamed": new}, as_json)


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask to confirm the name.")] = False,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Delete a campaign permanently. Export it first.

    All its items and labels are deleted.
    """
    from modelpicker.campaigns import delete_campaign

    campaign = opened(storage, name)
    facts = f"{campaign.rounds:,} items and {campaign.counts().labels:,} labels would be deleted permanently."
    campaign.close()
    if not yes:
        say(visible(facts), visible(f"To keep a copy: modelpicker export {name} {name}.jsonl"))
        if typer.prompt("Type the name of the campaign to delete it", err=True) != name:
            raise typer.BadParameter("that is not its name; nothing was deleted.", param_hint="NAME")
    delete_campaign(storage_url(storage), name)
    print_json({"deleted": name}) if as_json else say(visible(f"Deleted {name}."))
