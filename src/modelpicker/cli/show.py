"""`modelpicker list`, `show` and `best`: campaigns, where they stand, and which model leads."""

import textwrap
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING

import typer

from modelpicker.cli.shared.campaign_options import (
    Name,
    StorageOption,
    describe,
    in_words,
    leader,
    opened,
    print_pick,
    print_slices,
    storage_url,
)
from modelpicker.cli.shared.terminal import (
    WIDTH,
    Json,
    command,
    count,
    print_json,
    print_table,
    say,
    table,
    visible,
)
from modelpicker.errors import NotFoundError, StorageError

if TYPE_CHECKING:
    from modelpicker.campaigns import Listed, Pick
    from modelpicker.campaigns.results.status import Status
    from modelpicker.campaigns.settings import CampaignSettings
    from modelpicker.campaigns.sources import FileSource
    from modelpicker.certificates.certificate import Certified


def list_verb(storage: StorageOption = None, as_json: Json = False) -> None:
    """List the campaigns of a storage."""
    from modelpicker.campaigns import list_campaigns
    from modelpicker.campaigns.events.history import as_time

    looked_at = [_look(storage, one) for one in list_campaigns(storage_url(storage))]
    found = [one for one, _ in looked_at]
    if as_json:
        rows = [
            {
                "name": one.name,
                "created": as_time(one.created),
                "rounds": one.rounds,
                "models": one.models,
                "algorithm": one.algorithm,
                "budget": one.budget,
                "state": None if state is None else state.document(),
                "damage": one.damage or None,
            }
            for one, state in looked_at
        ]
        print_json({"campaigns": rows})
        return
    if not found:
        say(f"There is no campaign there yet; {command('create')} begins one.")
        return
    made = table("campaign", "state", "models", "items", "budget", "created (UTC)")
    made.columns[1].justify = "left"
    for one, state in looked_at:
        budget = "-" if one.budget is None else f"{one.budget:,}"
        made.add_row(
            visible(one.name),
            "damaged" if one.damage else "-" if state is None else state.title,
            "-" if one.damage else f"{one.models:,}",
            f"{one.rounds:,}",
            budget,
            as_time(one.created)[:16].replace("T", " "),
        )
    print_table(made)
    for one in found:
        if one.damage:
            say(*textwrap.wrap(visible(one.damage), WIDTH - 1))


def _look(storage: str | None, listed: "Listed") -> tuple["Listed", "Status | None"]:
    """A campaign and where it stands; None if it is damaged, which is noted, or its algorithm is not known here."""
    if listed.damage:
        return listed, None
    try:
        return listed, opened(storage, listed.name).best().state
    except NotFoundError:
        return listed, None
    except StorageError as error:
        return replace_fields(listed, damage=str(error)), None


def show(name: Name, storage: StorageOption = None, as_json: Json = False) -> None:
    """Describe a campaign: its settings, and where it stands."""
    campaign = opened(storage, name)
    if as_json:
        print_json(describe(campaign))
        return
    pick = campaign.best()
    settings, terms = campaign.settings, campaign.terms
    options = ", ".join(f"{key}={value}" for key, value in settings.plain_options.items())
    classes = "whatever is said" if settings.classes is None else ", ".join(map(str, settings.classes))
    facts = {
        "campaign": f"{campaign.name} in {campaign.storage.url}",
        "models": f"{len(campaign.models):,}: {', '.join(map(str, campaign.models))}",
        "classes": classes,
        "algorithm": f"{settings.kind.name}{f' ({options})' if options else ''}, seed {settings.seed}",
        "budget": _budget(settings, terms.budget),
        **{name.replace("_", " "): words for name, words in settings.facts.items()},
        **_questions(settings),
        **_overlap(settings, pick.conflicts),
        **_stopping(settings, terms.stop_when, pick.certified),
        "state": in_words(pick),
        "items": _items(settings, pick),
        "labels": f"{pick.labels_used:,} bought, {pick.pending:,} waiting, {pick.skipped:,} skipped, "
        f"{pick.references:,} {'for reference' if settings.pool is None else 'known without asking'}",
        **({"calls": pick.calls_sentence} if pick.calls_sentence else {}),
        "pick": leader(pick),
        "certificate": " ".join(pick.certificate.sentence.splitlines()),
        **({"remark": pick.remark} if pick.remark and settings.pool is not None else {}),
    }
    for key, value in facts.items():
        short = value if len(value) <= 300 else f"{value[:297]}..."
        typer.echo(visible(f"{key:<11} {short}"))
    if pick.slices is not None and pick.named:
        print_slices(pick.slices)


def _budget(settings: "CampaignSettings", budget: int | None) -> str:
    """How many labels may be bought, and how they are spread."""
    if budget is None:
        return "none"
    if settings.pool is not None:
        return f"at most {budget:,} labels"
    if settings.budget_way == "cap":
        return f"{budget:,} labels, as a cap"
    over = "" if settings.expected_rounds is None else f" over {settings.expected_rounds:,} items"
    return f"{budget:,} labels, spread{over or ' over the stream'}"


def _questions(settings: "CampaignSettings") -> dict[str, str]:
    """What people are asked for, and which answers are the same, where that is not as usual."""
    same = {} if settings.rule.plain else {"same answer": str(settings.same)}
    return same if settings.ask_for == "class" else {"asks for": settings.ask_for, **same}


def _overlap(settings: "CampaignSettings", conflicts: int) -> dict[str, str]:
    """How many people label an item, and whether they disagree; nothing if one person labels each."""
    overlap = settings.overlap
    if overlap == 1:
        return {}
    people = f"{overlap} people label each item" if overlap > 1 else f"two people label {overlap:.0%} of the items"
    rule = ", the majority decides" if settings.overlap_rule == "majority" else ""
    return {"overlap": f"{people}{rule}; {count(conflicts, 'conflict')} to settle"}


def _items(settings: "CampaignSettings", pick: "Pick") -> str:
    """How many items there are."""
    if settings.pool is not None:
        return f"{pick.rounds:,} in the pool"
    return f"{pick.rounds:,} seen" if settings.source is None else _of_file(settings.source, pick)


def _of_file(source: "FileSource", pick: "Pick") -> str:
    """How many items of a file were seen, and how to continue."""
    more = f"; to continue: {source.command}" if pick.state.name in ("running", "waiting-for-labels") else ""
    return f"{pick.rounds:,} seen of {source.file}{more}"


def _stopping(settings: "CampaignSettings", rule: "Certified | None", certified: bool) -> dict[str, str]:
    """When a campaign asks for no more labels, and whether that is so."""
    from modelpicker.campaigns.results.report import ProofGoal, goal_in_words
    from modelpicker.certificates.wording import how_certain, points

    now = "which is so now" if certified else "which is not so yet"
    if settings.pool is not None:
        goal = goal_in_words(ProofGoal(settings.pool.tolerance, settings.pool.confidence))
        return {"stops": f"once it is proven that the pick is {goal}, {now}"}
    if rule is None:
        return {}
    certificate = f"{rule.kind} certificate within {points(rule.gap)} ({how_certain(rule.confidence)})"
    return {"stops": f"while the pick has a {certificate}, {now}"}


def best(name: Name, storage: StorageOption = None, as_json: Json = False) -> None:
    """Name the best model so far, with the ranking of all."""
    campaign = opened(storage, name)
    pick = campaign.best()
    print_json({"campaign": name, **pick.document()}) if as_json else print_pick(pick)
