"""`modelpicker create`: begin a campaign, on a stream of items or on the pool of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.campaigns.setting_options import BY_NAME, check_overlap
from modelpicker.certificates.stop_rule import CONFIDENCE
from modelpicker.cli.shared import algorithm_options
from modelpicker.cli.shared.campaign_options import (
    GuidelinesOption,
    StorageOption,
    called_by,
    describe,
    label_command,
    read_guidelines,
    storage_url,
    with_settings,
)
from modelpicker.cli.shared.pool_costs import typed_costs
from modelpicker.cli.shared.terminal import (
    FieldsOption,
    IdColumn,
    Ignore,
    Json,
    JudgeOption,
    LabelColumn,
    LabelNoiseOption,
    LossOption,
    Normalise,
    PriceOption,
    SliceOption,
    Text,
    WarmOption,
    as_classes,
    as_same,
    command,
    count,
    how_to_read,
    is_number,
    listed,
    print_json,
    print_notes,
    say,
    storing,
    visible,
    waiting,
)
from modelpicker.errors import InputError

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign

COMMAS = "Separate them with commas."
# What goes with a stream only, and with a file only: the parameters, and how they are typed.
OF_STREAMS = {
    "algorithm": "--algorithm",
    "option": "--option",
    "kind": "--kind",
    "expected_rounds": "--expected-rounds",
    "budget_way": "--budget-way",
}
OF_POOLS = {
    "use_labels": "--use-labels",
    "judge": "--judge",
    "slice_by": "--slice",
    "warm": "--warm",
    "fields": "--fields",
    "normalise": "--normalise",
    "text": "--text",
    "label": "--label",
    "id_column": "--id",
    "ignore": "--ignore",
}


def _people(overlap: float) -> float:
    """How many people label an item; what is not valid is wrong usage."""
    try:
        return check_overlap(overlap)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


@with_settings
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the campaign.", show_default=False)],
    pool: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The items are all in this file: any file that `pick` reads. What is asked next is decided when "
            "somebody is ready to answer, and it ends when the pick is proven for exactly these items. Without "
            "it, items arrive over time, with `ask`.",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{BY_NAME['models'].help} {COMMAS} With --pool, the columns that are models; by default they are "
            "found.",
            show_default=False,
        ),
    ] = None,
    classes: Annotated[
        list[str] | None, typer.Option(help=f"{BY_NAME['classes'].help} {COMMAS}", show_default=False)
    ] = None,
    stop_gap: Annotated[
        float | None, algorithm_options.tolerance("0.01 with --pool; a stream does not stop for that")
    ] = None,
    confidence: algorithm_options.Confidence = CONFIDENCE.default,
    kind: algorithm_options.KindNamed = None,
    algorithm: algorithm_options.Named = BY_NAME["algorithm"].default,
    option: algorithm_options.Options = None,
    overlap: Annotated[float, typer.Option(help=BY_NAME["overlap"].help, callback=_people)] = BY_NAME[
        "overlap"
    ].default,
    seed: Annotated[int, typer.Option(min=0, help=BY_NAME["seed"].help)] = BY_NAME["seed"].default,
    use_labels: Annotated[
        bool,
        typer.Option(
            "--use-labels",
            help="With --pool: labels in the file are known from the start, and nobody is asked for them. By "
            "default they are left out.",
        ),
    ] = False,
    same: Annotated[
        str,
        typer.Option(
            metavar="exact|normalised|NUMBER", help=BY_NAME["same"].help, callback=lambda typed: as_same(str(typed))
        ),
    ] = BY_NAME["same"].default,
    judge: JudgeOption = None,
    slice_by: SliceOption = None,
    warm: WarmOption = None,
    loss: LossOption = None,
    price: PriceOption = None,
    label_noise: LabelNoiseOption = 0.0,
    fields: FieldsOption = None,
    normalise: Normalise = False,
    text: Text = False,
    label: LabelColumn = None,
    id_column: IdColumn = None,
    ignore: Ignore = None,
    guidelines: GuidelinesOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Create a campaign, in which people label items.

    Every label makes it clearer which model is the best.

    If all items are in a file, pass --pool FILE: it usually needs fewer labels. Options such as --label, --id and
    --fields say how the file is read. If items arrive over time, pass --models, and `ask` about each.
    """
    typed = {
        parameter
        for parameter in context.params
        if getattr(context.get_parameter_source(parameter), "name", "") == "COMMANDLINE"
    }
    if pool is None:
        _refuse(typed, OF_POOLS, "goes with --pool FILE only; pass that as well, or leave it out.")
        if overlap != 1 and settings["budget"] is not None:
            raise typer.BadParameter(
                "it does not go with a budget on a stream; pass --pool.", param_hint="--overlap"
            )
        given = _stream(models, stop_gap, confidence, kind, algorithm, option)
        given |= {**typed_costs(loss, price, label_noise)}
    else:
        _refuse(typed, OF_STREAMS, "is for streams; leave it out with --pool.")
        closed = classes if same == BY_NAME["same"].default else None  # the campaign finds them in any spelling
        read = how_to_read(models, fields, closed, normalise, text, label, id_column, ignore)
        read["missing"] = settings["missing"]
        named = set(read["fields"])
        for column in (judge, slice_by):
            if column is not None:
                read["fields"] = [*(name for name in read["fields"] if name != column), column]
        known = {"use_labels": use_labels, "judge": judge, "slice": slice_by, "warm": warm}
        known |= typed_costs(loss, price, label_noise)
        given = {"tolerance": stop_gap, "confidence": confidence, **known}
    told = "" if guidelines is None else read_guidelines(guidelines)
    where = storage_url(storage)
    more = {"classes": as_classes(classes), "overlap": overlap, "seed": seed, "guidelines": told, **settings}
    more["same"] = same
    if pool is None:
        campaign = _create_stream(where, name, given | more)
    else:
        campaign = _create_pool(where, name, pool, read, given | more, check_slice=slice_by not in named)
    if as_json:
        print_json(describe(campaign))
        return
    called = called_by(name, storage)
    if pool is None:
        say(visible(f"Created {name} in {campaign.storage.url}."), "", "Next:")
        say(visible(f"  {command(f'ask {called} < items.jsonl')}  asks about items as they come"))
        say(visible(f"  {command(label_command(called, campaign))}  lets you label what it asks for"))
    else:
        _say_pool(campaign, called, warm)


def _refuse(typed: set[str], names: dict[str, str], why: str) -> None:
    """What was typed and does not go with the rest is wrong usage."""
    for parameter, spelt in names.items():
        if parameter in typed:
            raise typer.BadParameter(f"it {why}", param_hint=spelt)


def _stream(
    models: list[str] | None,
    stop_gap: float | None,
    confidence: float,
    kind: str | None,
    algorithm: str,
    option: list[str] | None,
) -> dict[str, Any]:
    """The settings of a stream that need a closer look; what is not valid is wrong usage."""
    names_given = listed(models)
    if names_given is None:
        raise typer.BadParameter(
            "pass the models, such as --models bert,roberta; or --pool with a file that has all items.",
            param_hint="--models",
        )
    algorithm_options.check_name(algorithm)
    rule = algorithm_options.stopping_rule(stop_gap, confidence, kind)
    if stop_gap is None and rule != algorithm_options.stopping_rule(None, CONFIDENCE.default, None):
        raise typer.BadParameter("--confidence and --kind are of --stop-gap; pass that as well.")
    given = algorithm_options.parse_options(option or [])
    algorithm_options.check_options(algorithm, given)
    alone = len(names_given) == 1 and is_number(names_given[0])
    return {
        "models": int(names_given[0]) if alone else names_given,
        "stop_when": None if stop_gap is None else rule,
        "algorithm": algorithm,
        "options": given,
    }


def _create_stream(storage: str, name: str, settings: dict[str, Any]) -> "Campaign":
    from modelpicker.campaigns import create_campaign

    return create_campaign(storage, name, **settings)


def _create_pool(
    storage: str, name: str, source: str, read: dict[str, Any], settings: dict[str, Any], *, check_slice: bool
) -> "Campaign":
    """Read the file, say how it was read, and store its items; `check_slice`: whether slices may be a model."""
    from modelpicker.campaigns import create_campaign
    from modelpicker.campaigns.input.pool_source import PoolSource, late_reading
    from modelpicker.campaigns.names import check_name
    from modelpicker.campaigns.offline import check_several, known_labels
    from modelpicker.cli.shared.pick_reading import some_names
    from modelpicker.cli.shared.read_collection import read_collection
    from modelpicker.collections.files import open_with

    check_name(name)
    found = read_collection(open_with, source, None, late_reading(settings["same"], **read))
    print_notes(found.notes)
    say(f"models: {some_names(found.models)}")
    check_several(found, source)
    if check_slice:
        PoolSource.open(found, slice=settings["slice"]).check_slice()
    known = known_labels(found)
    if known and not settings["use_labels"]:
        left_out = f"{count(known, 'label')} in the file {'is' if known == 1 else 'are'} left out."
        say(f"{left_out} (To use them: --use-labels)")
    with storing(len(found)) as progress:
        return create_campaign(storage, name, pool=found, progress=progress, **settings)


def _say_pool(campaign: "Campaign", called: str, warm: Path | None) -> None:
    """What there is now, and what to do with it."""
    with waiting("Comparing the models"):
        pick, goal = campaign.best(), campaign.settings.options
    say(visible(f"Created {campaign.name} in {campaign.storage.url}: {count(pick.rounds, 'item')}."))
    if pick.references:
        whose = "of the file" if warm is None else "given"
        say(f"{count(pick.references, 'label')} {whose} {'is' if pick.references == 1 else 'are'} used.")
    most = "" if pick.budget is None else f", with at most {count(pick.budget, 'label')}"
    tolerance, confidence = 100 * goal["tolerance"], 100 * goal["confidence"]
    say(f"Goal: within {tolerance:g}% of the best model, confidence {confidence:g}%{most}.")
    for name, words in campaign.settings.facts.items():
        say(visible(f"{name.replace('_', ' ').capitalize()}: {words}."))
    if pick.state.over:
        say(visible(f"{pick.state.title}: {pick.state.reason}"), "", "Next:")
        say(visible(f"  {command(f'report {called}')}  writes one page about the pick"))
    else:
        say(
            "",
            "Next:",
            visible(f"  {command(label_command(called, campaign))}  asks about the items most worth a label"),
        )
    say(visible(f"  {command(f'ask {called} FILE')}  adds more items"))
