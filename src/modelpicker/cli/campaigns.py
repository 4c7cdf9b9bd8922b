"""`modelpicker create`, `list`, `show`, `best`, `tell`, `skip`, `retract`, `join`, `leave`: campaigns by hand."""

import json
import shlex
import textwrap
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.cli import choosing
from modelpicker.cli.campaigning import (
    Annotator,
    Name,
    StorageOption,
    as_id,
    as_label,
    in_words,
    leader,
    opened,
    print_pick,
    storage_url,
)
from modelpicker.cli.terminal import (
    WIDTH,
    Json,
    Seed,
    as_classes,
    command,
    count,
    is_number,
    listed,
    print_json,
    print_table,
    say,
    standard_input,
    table,
    visible,
)
from modelpicker.errors import InputError, ModelPickerError, NotFoundError, StorageError, brief

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign, Listed
    from modelpicker.campaigns.status import Status
    from modelpicker.guarantees.certificate import Certified

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a query, or its key.", show_default=False)]
Key = Annotated[bool, typer.Option("--key", help="ID is a key, even if it looks like a number.")]
Replace = Annotated[bool, typer.Option("--replace", help="The answer that is there was wrong.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.", show_default=False)]


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)],
    models: Annotated[
        list[str], typer.Option(help="The models, separated by commas; or how many.", show_default=False)
    ],
    classes: Annotated[
        list[str] | None,
        typer.Option(
            help="The classes that may occur, separated by commas.  [default: whatever is said]",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many labels may be bought; they are spread over the stream.", show_default=False
        ),
    ] = None,
    expected_rounds: Annotated[
        int | None, typer.Option(min=1, help="How many items will come, if that is known.", show_default=False)
    ] = None,
    stop_gap: choosing.StopGap = None,
    confidence: choosing.Confidence = 0.95,
    kind: choosing.KindNamed = None,
    algorithm: choosing.Named = "model-picker",
    option: choosing.Options = None,
    seed: Seed = 0,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Begin a campaign: programs ask about items, people tell labels, the best model emerges."""
    from modelpicker.campaigns import create_campaign

    choosing.check_name(algorithm)
    rule = choosing.stopping_rule(stop_gap, confidence, kind)
    if stop_gap is None and rule != choosing.stopping_rule(None, 0.95, None):
        raise typer.BadParameter("--confidence and --kind are of --stop-gap; pass that as well.")
    given = choosing.parse_options(option or [])
    choosing.check_options(algorithm, given)
    names_given = listed(models) or []
    alone = len(names_given) == 1 and is_number(names_given[0])
    campaign = create_campaign(
        storage_url(storage),
        name,
        models=int(names_given[0]) if alone else names_given,
        classes=as_classes(classes),
        budget=budget,
        expected_rounds=expected_rounds,
        stop_when=None if stop_gap is None else rule,
        seed=seed,
        algorithm=algorithm,
        options=given,
    )
    if as_json:
        print_json(describe(campaign))
        return
    say(visible(f"Created {name} in {campaign.storage.url}."), "", "Next:")
    called = shlex.quote(name) if storage is None else f"{shlex.quote(name)} --storage {shlex.quote(storage)}"
    say(visible(f"  {command(f'ask {called} < items.jsonl')}  asks about items as they come"))
    say(visible(f"  {command(f'label {called}')}  lets you label what it asks for"))


def describe(campaign: "Campaign") -> dict[str, Any]:
    """A campaign for programs."""
    settings = campaign.settings.document()
    return {
        "name": campaign.name,
        "storage": campaign.storage.url,
        **settings,
        "seed": campaign.settings.seed,
        "models": list(campaign.models),
        **{key: value for key, value in campaign.best().document().items() if key != "standing"},
    }


def list_verb(storage: StorageOption = None, as_json: Json = False) -> None:
    """List the campaigns of a storage."""
    from modelpicker.campaigns import list_campaigns
    from modelpicker.campaigns.records import as_time

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
    """Describe a campaign: what it is made with, how far it has come, who leads."""
    campaign = opened(storage, name)
    if as_json:
        print_json(describe(campaign))
        return
    pick = campaign.best()
    settings = campaign.settings
    options = ", ".join(f"{key}={value}" for key, value in settings.options.items())
    budget = "none" if settings.budget is None else f"{settings.budget:,} labels"
    if settings.expected_rounds is not None:
        budget += f" over {settings.expected_rounds:,} items"
    classes = "whatever is said" if settings.classes is None else ", ".join(map(str, settings.classes))
    facts = {
        "campaign": f"{campaign.name} in {campaign.storage.url}",
        "models": f"{len(campaign.models):,}: {', '.join(map(str, campaign.models))}",
        "classes": classes,
        "algorithm": f"{settings.kind.name}{f' ({options})' if options else ''}, seed {settings.seed}",
        "budget": budget,
        **_stopping(settings.stop_when, pick.certified),
        "state": in_words(pick),
        "items": f"{pick.rounds:,} seen",
        "labels": f"{pick.labels_used:,} bought, {pick.pending:,} waiting, {pick.skipped:,} skipped, "
        f"{pick.references:,} for reference",
        "pick": leader(pick),
        "certificate": pick.certificate.sentence,
    }
    for key, value in facts.items():
        short = value if len(value) <= 300 else f"{value[:297]}..."
        typer.echo(visible(f"{key:<11} {short}"))


def _stopping(rule: "Certified | None", certified: bool) -> dict[str, str]:
    """When a campaign asks for no more labels, and whether that is so."""
    if rule is None:
        return {}
    now = "which it has now" if certified else "which it has not yet"
    certificate = f"{rule.kind} certificate within {100 * rule.gap:g}%, confidence {100 * rule.confidence:g}%"
    return {"stops": f"while the pick has a {certificate}, {now}"}


def best(name: Name, storage: StorageOption = None, as_json: Json = False) -> None:
    """Name the best model so far, and how all models stand."""
    campaign = opened(storage, name)
    pick = campaign.best()
    print_json({"campaign": name, **pick.document()}) if as_json else print_pick(pick)


def tell(
    name: Name,
    id: Annotated[  # noqa: A002 (the design's word)
        str | None,
        typer.Argument(
            metavar="ID",
            help="The id of a query, or its key; without it, JSON lines with id or key, and label, are read.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Argument(metavar="LABEL", help="The class it is of.", show_default=False)
    ] = None,
    key: Key = False,
    replace: Replace = False,
    by: Annotator = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Tell the label of a query, or many labels as JSON lines on standard input."""
    campaign = opened(storage, name)
    before = campaign.best()
    if id is None:
        told = _tell_lines(campaign, replace, by)
    elif label is None:
        raise typer.BadParameter(
            f"pass the label as well; or pipe JSON lines in: modelpicker tell {name} < labels.jsonl",
            param_hint="LABEL",
        )
    else:
        number = as_id(campaign, id, key)
        campaign.tell(number, as_label(campaign, number, label), replace=replace, annotator=by)
        told = 1
    after = campaign.best()
    new = after.labels_used - before.labels_used
    facts = [count(new, "new label")]
    for what, number in (
        ("skipped", after.skipped - before.skipped),
        ("for reference only: not queried", after.references - before.references),
    ):
        if number > 0:
            facts.append(f"{number:,} {what}")
    _report(campaign, f"{', '.join(facts)}.", {"told": told}, as_json)


def _tell_lines(campaign: "Campaign", replace: bool, by: str | None) -> int:
    """Labels as they come on standard input, each on disk before the next is read."""
    told = 0
    for number, line in enumerate(standard_input(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} is no JSON: {error}.") from error
        if not isinstance(entry, dict) or "label" not in entry or not {"id", "key"} & entry.keys():
            raise InputError(f'line {number}: {brief(entry)} has no label, or neither "id" nor "key".')
        try:
            called = _as_round(entry["id"]) if "id" in entry else str(entry["key"])
            campaign.tell(called, entry["label"], replace=replace, annotator=by)
        except ModelPickerError as error:
            raise type(error)(f"line {number}: {error} What came before it is told.") from error
        told += 1
    return told


def _as_round(value: object) -> int:
    """An id of ours, which is a number, also if it is written as a string."""
    text = str(value)
    if isinstance(value, bool) or not is_number(text):
        raise InputError(f'id {brief(value)} is no number; write "key" if you mean the key of an item.')
    return int(text)


def skip(
    name: Name,
    id: Id,  # noqa: A002 (the design's word)
    key: Key = False,
    replace: Replace = False,
    by: Annotator = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Say that nobody can tell the label of a query."""
    campaign = opened(storage, name)
    number = as_id(campaign, id, key)
    campaign.skip(number, replace=replace, annotator=by)
    _report(campaign, f"{id} skipped.", {"skipped_now": number}, as_json)


def retract(
    name: Name,
    id: Id,  # noqa: A002 (the design's word)
    key: Key = False,
    by: Annotator = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Take back the answer to a query; it waits for another."""
    campaign = opened(storage, name)
    number = as_id(campaign, id, key)
    campaign.retract(number, annotator=by)
    _report(campaign, f"The answer to {id} is taken back.", {"retracted": number}, as_json)


def join(name: Name, model: Model, storage: StorageOption = None, as_json: Json = False) -> None:
    """Let another model take part from the next item on; it starts level with the leader."""
    campaign = opened(storage, name)
    numbered = is_number(model) and all(isinstance(one, int) for one in campaign.models)
    campaign.join(int(model) if numbered else model)
    _report(campaign, f"{model} takes part from now on.", {"joined": model}, as_json)


def leave(name: Name, model: Model, storage: StorageOption = None, as_json: Json = False) -> None:
    """Let a model take no part any more; what is known of the others stays."""
    campaign = opened(storage, name)
    found = next((one for one in campaign.models if str(one) == model), model)
    campaign.leave(found)
    _report(campaign, f"{model} takes no part any more.", {"left": found}, as_json)


def _report(campaign: "Campaign", sentence: str, facts: dict[str, Any], as_json: bool) -> None:
    """What was done, and where that leaves the campaign."""
    pick = campaign.best()
    if as_json:
        print_json({"campaign": campaign.name, **facts, **pick.document()})
        return
    typer.echo(
        visible(f"{sentence} {count(pick.labels_used, 'label')} in all, {pick.pending:,} waiting; {leader(pick)}.")
    )
