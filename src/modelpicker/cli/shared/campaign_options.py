"""What the verbs about campaigns share: where campaigns are, and how a pick is printed."""

import inspect
import json
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from modelpicker.campaigns.setting_options import PLAIN
from modelpicker.cli.shared.terminal import (
    count,
    is_number,
    print_json,
    print_sentence,
    print_table,
    table,
    visible,
)
from modelpicker.errors import ConflictError, FileError, InputError, NotFoundError, brief
from modelpicker.options import Option

if TYPE_CHECKING:
    from modelpicker.algorithms import SliceTable
    from modelpicker.campaigns import Campaign, Pick

SETTINGS = Path("modelpicker.toml")
USUAL = "sqlite:///modelpicker.db"
FIRST_MODELS = 10
# What the gap between models is, by the loss.
COSTS_MORE = (
    "The gap is how much more than the pick a model is estimated to cost, of the cost of the worst mistake,"
)
GAPS = {
    "accuracy": "The gap is how much less accurate than the pick a model is estimated to be,",
    "grades": "The gap is how much lower than the pick's a model's mean grade is estimated to be,",
    "preference": "The gap is the share of items on which the pick beats a model, minus that on which it loses,",
    "weighted accuracy": COSTS_MORE,
    "balanced accuracy": "The gap is how much lower than the pick's the balanced accuracy is estimated to be,",
    "cost": COSTS_MORE,
}

StorageOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="MODELPICKER_STORAGE",
        metavar="URL",
        help="Where campaigns are: sqlite:///file.db or postgresql://user@host/database; also `storage` in "
        f"modelpicker.toml.  [default: {USUAL}]",
        show_default=False,
    ),
]
Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The campaign.", show_default=False)]
AnnotatorOption: TypeAlias = Annotated[
    str | None, typer.Option("--by", metavar="WHO", help="Who answers; kept with the answer.", show_default=False)
]
GuidelinesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--guidelines",
        metavar="FILE_OR_TEXT",
        help="What annotators read beside the item: the text itself, or a file that has it.",
        show_default=False,
    ),
]


def read_guidelines(given: str) -> str:
    """The text of guidelines, or that of the file with this name."""
    try:
        found = Path(given).is_file()
    except OSError:  # too long for the name of a file
        found = False
    if not found:
        return given
    try:
        return Path(given).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{given} cannot be read: {error}.") from error


def with_settings(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb one option per plain setting of campaigns, in place of its `**settings`."""
    signature = inspect.signature(verb)
    *own, _ = signature.parameters.values()
    plain = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=Annotated[_type(option), _typer_option(option)],
        )
        for option in PLAIN
    ]
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    after = next(place for place, parameter in enumerate(keyword) if parameter.name == "stop_gap")
    verb.__signature__ = signature.replace(  # type: ignore[attr-defined]  # Typer reads it
        parameters=[*keyword[:after], *plain, *keyword[after:]]
    )
    return verb


def _type(option: Option) -> Any:
    """The type of an option on the command line."""
    choices: Any = option.choices
    kind = Literal[choices] if choices else option.type
    return kind | None if option.default is None else kind


def _typer_option(option: Option) -> Any:
    limits: dict[str, Any] = (
        {} if option.choices else {"min": option.low, "max": None if option.type is int else option.high}
    )
    return typer.Option(help=option.help, show_default=option.default is not None, **limits)


# What [serve] in modelpicker.toml may hold.
SERVER_SETTINGS: dict[str, type | tuple[type, ...]] = {
    "host": str,
    "port": int,
    "tokens": bool,
    "allowed_hosts": list,
    "media_hosts": list,
    "label_studio_secret": str,
    "webhooks": list,
    "webhook_secret": str,
    "webhook_idle": (int, float),
    "largest_body": int,
    "largest_file": int,
    "log_format": str,
    "access_log": bool,
}


def storage_url(given: str | None) -> str:
    """The command line over MODELPICKER_STORAGE over modelpicker.toml over a file in the current folder."""
    if given:
        return given
    found = _settings().get("storage", USUAL)
    if not isinstance(found, str):
        raise InputError(f"{SETTINGS}: storage is {brief(found)}; pass a URL as a string.")
    return found


def server_settings() -> dict[str, Any]:
    """What modelpicker.toml says about the server, under [serve]."""
    found = _settings().get("serve", {})
    if not isinstance(found, dict):
        raise InputError(f"{SETTINGS}: serve is {brief(found)}; write its settings under [serve].")
    for name, value in found.items():
        kind = SERVER_SETTINGS.get(name)
        if kind is None:
            raise InputError(
                f"{SETTINGS}: [serve] has no setting {name!r}; those are {', '.join(SERVER_SETTINGS)}."
            )
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f"{SETTINGS}: {name} under [serve] is {brief(value)}, which it cannot be.")
    if found.get("log_format", "text") not in ("text", "json"):
        raise InputError(f"{SETTINGS}: log_format is {brief(found['log_format'])}; pass text or json.")
    hosts = {name: found[name] for name in ("allowed_hosts", "media_hosts", "webhooks") if name in found}
    for name, listed in hosts.items():
        if not all(isinstance(host, str) for host in listed):
            raise InputError(f"{SETTINGS}: {name} is {brief(listed)}; pass a list of names.")
    return found | {name: tuple(listed) for name, listed in hosts.items()}


def _settings() -> dict[str, Any]:
    """What modelpicker.toml in the current folder says."""
    try:
        found = tomllib.loads(SETTINGS.read_text(encoding="utf-8")) if SETTINGS.exists() else {}
    except (OSError, ValueError) as error:
        raise InputError(f"{SETTINGS} cannot be read: {error}.") from error
    for name in found:
        if name not in ("storage", "serve"):
            raise InputError(f"{SETTINGS} has no setting {brief(name)}; there are storage, and the table [serve].")
    return found


def opened(storage: str | None, name: str) -> "Campaign":
    """A campaign by its name."""
    from modelpicker.campaigns import open_campaign

    return open_campaign(storage_url(storage), name)


def called_by(name: str, storage: str | None) -> str:
    """How a campaign is named in a command that is shown to be typed."""
    return shlex.quote(name) if storage is None else f"{shlex.quote(name)} --storage {shlex.quote(storage)}"


def label_command(called: str, campaign: "Campaign") -> str:
    """The command that labels a campaign; where several people label an item, each says who they are."""
    return f"label {called}{'' if campaign.settings.overlap == 1 else ' --by WHO'}"


def as_id(campaign: "Campaign", text: str, key: bool) -> int | str:
    """What a round is called on the command line: its id if it is a number, else its key."""
    if key or not is_number(text):
        return text
    try:
        meant = int(next(campaign.history(text))["id"])
    except NotFoundError:
        return int(text)
    if int(text) >= campaign.rounds:
        return text
    if meant != int(text):
        raise ConflictError(
            f"{text} is the id of a round, and the key of another, {meant}; pass --key for the key."
        )
    return meant


def as_label(campaign: "Campaign", number: int | str, text: str) -> int | str | dict[str, Any]:
    """A label as it was typed: a JSON document, or a class, which is a whole number where classes are."""
    classes = campaign.known_classes()
    if text in classes:
        return text
    document = _document(text)
    if document is not None:
        return document
    alike = [name for name in classes if str(name).casefold() == text.strip().casefold()]
    if len(alike) == 1:
        return alike[0]
    said = [name for name in next(campaign.history(number))["predictions"] if name is not None]
    numbers = bool(said or classes) and isinstance((said or classes)[0], int)
    return int(text) if numbers and is_number(text) else text


def _document(text: str) -> dict[str, Any] | None:
    """The document of a label; None if the text is none."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def leader(pick: "Pick") -> str:
    """Which model leads, in a few words."""
    if not pick.named:
        return "no label known yet" if pick.labels_used else "no label yet"
    return f"{pick.model} leads" if len(pick.tied) == 1 else f"{len(pick.tied)} models tied"


def print_pick(pick: "Pick", *, seen: str | None = None, step: str | None = None, goal: str = "") -> None:
    """The pick and how all models stand, for people.

    Args:
        pick: what there is to say.
        seen: how far it has come, if that is to be said in other words.
        step: what to do next, if it is not what the state says.
        goal: a sentence about the goal.
    """
    if not pick.named:
        typer.echo(pick.no_label_sentence)
    else:
        tied = [str(name) for name in pick.tied if name != pick.model]
        more = f" (tied with {', '.join(tied[:3])}{', …' if len(tied) > 3 else ''})" if tied else ""
        typer.echo(visible(f"Pick: {pick.model}{more}"))
        print_sentence(pick.certificate.sentence)
    typer.echo("")
    typer.echo(_counted(pick) if seen is None else seen)
    print_sentence(in_words(pick, step))
    if pick.calls_sentence:
        print_sentence(pick.calls_sentence)
    typer.echo("")
    if goal:
        print_sentence(goal)
        typer.echo("")
    if pick.named:
        if pick.remark and pick.state.name != "won":  # which the state has said
            print_sentence(pick.remark)
            typer.echo("")
        print_standing(pick)
    if pick.judge is not None:
        typer.echo("")
        print_sentence(pick.judge.sentence)
    if pick.slices is not None and pick.named:
        print_slices(pick.slices)


def print_slices(table: "SliceTable") -> None:
    """The best model of each slice, and whether it is the pick, for people."""
    typer.echo("")
    for line in table.lines:
        typer.echo(visible(line))
    typer.echo("")
    for sentence in (table.sentence, *table.reasons):
        print_sentence(sentence)
    typer.echo("")


def decided(pick: "Pick") -> str:
    """How many slices are decided; empty if there are none."""
    if pick.slices is None:
        return ""
    return f" · {sum(row.certified for row in pick.slices):,} of {len(pick.slices):,} slices certified"


def _counted(pick: "Pick") -> str:
    """How many items and labels there are."""
    budget = "" if pick.budget is None else f" of {pick.budget:,}"
    labels = f"{pick.labels_used:,}{budget} bought, {pick.pending:,} waiting, {pick.skipped:,} skipped"
    if pick.certificate.kind != "pool":
        return f"{count(pick.rounds, 'item')} seen; labels: {labels}."
    known = f", {pick.references:,} known without asking" if pick.references else ""
    return f"{count(pick.rounds, 'item')} in the pool; labels: {labels}{known}."


def in_words(pick: "Pick", step: str | None = None) -> str:
    """Where a campaign stands, why, and what to do next."""
    return f"{pick.state.title}: {pick.state.reason} {pick.state.next if step is None else step}"


def print_standing(pick: "Pick") -> None:
    """The first models, with what their estimates rest on."""
    made = table("model", "gap (estimated)" if pick.weighted else "mistakes", "labels")
    for entry in pick.standing[:FIRST_MODELS]:
        gap = entry.estimate if entry.gap is None else entry.gap
        shown = f"{gap:,.0f}" if entry.gap is None else _percent(gap)
        first = entry is pick.standing[0] and entry.gap is not None
        made.add_row(visible(str(entry.model)), "-" if first else shown, f"{entry.labels:,}")
    print_table(made)
    if len(pick.standing) > FIRST_MODELS:
        typer.echo(f"… and {len(pick.standing) - FIRST_MODELS} more.")
    if pick.weighted:
        typer.echo(GAPS.get(pick.certificate.loss, GAPS["accuracy"]))
    if pick.certificate.kind == "pool":
        typer.echo("from the labels, and from what all models say about the other items.")
    elif pick.weighted:
        typer.echo(f"judged by {pick.covered:,} of {count(pick.rounds, 'item')}; with few labels, it is rough.")


def _percent(gap: float) -> str:
    """A gap; one that is next to nothing has no sign."""
    return "over 100%" if gap > 1 else f"{0.0 if abs(gap) < 5e-5 else gap:.2%}"


def describe(campaign: "Campaign") -> dict[str, Any]:
    """A campaign for programs."""
    settings = campaign.settings.document()
    return {
        "name": campaign.name,
        "storage": campaign.storage.url,
        **settings,
        **campaign.terms.document(),
        "seed": campaign.settings.seed,
        "models": list(campaign.models),
        "waiting_items": campaign.waiting_items(),
        **{key: value for key, value in campaign.best().document().items() if key != "standing"},
    }


def report(campaign: "Campaign", sentence: str, facts: dict[str, Any], as_json: bool) -> None:
    """What was done, and where that leaves the campaign."""
    pick = campaign.best()
    if as_json:
        print_json({"campaign": campaign.name, **facts, **pick.document()})
        return
    labels = f"{count(pick.labels_used, 'label')} in all"
    if pick.certificate.kind == "pool" and pick.references:
        labels = f"{count(pick.labels_used, 'label')} asked for, {pick.references:,} known without asking"
    typer.echo(visible(f"{sentence} {labels}, {pick.pending:,} waiting; {leader(pick)}."))
