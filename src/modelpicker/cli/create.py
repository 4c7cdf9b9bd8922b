"""`modelpicker create`: begin a campaign."""

import shlex
from typing import Annotated, Any

import typer

from modelpicker.campaigns.setting_options import BY_NAME
from modelpicker.certificates.stop_rule import CONFIDENCE
from modelpicker.cli.shared import algorithm_options
from modelpicker.cli.shared.campaign_options import StorageOption, describe, storage_url, with_settings
from modelpicker.cli.shared.terminal import (
    Json,
    as_classes,
    command,
    is_number,
    listed,
    print_json,
    say,
    visible,
)

COMMAS = "Separate them with commas."


@with_settings
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)],
    models: Annotated[list[str], typer.Option(help=f"{BY_NAME['models'].help} {COMMAS}", show_default=False)],
    classes: Annotated[
        list[str] | None, typer.Option(help=f"{BY_NAME['classes'].help} {COMMAS}", show_default=False)
    ] = None,
    stop_gap: algorithm_options.StopGap = None,
    confidence: algorithm_options.Confidence = CONFIDENCE.default,
    kind: algorithm_options.KindNamed = None,
    algorithm: algorithm_options.Named = BY_NAME["algorithm"].default,
    option: algorithm_options.Options = None,
    seed: Annotated[int, typer.Option(min=0, help=BY_NAME["seed"].help)] = BY_NAME["seed"].default,
    storage: StorageOption = None,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Begin a campaign: programs ask about items, people tell labels, the best model emerges."""
    from modelpicker.campaigns import create_campaign

    algorithm_options.check_name(algorithm)
    rule = algorithm_options.stopping_rule(stop_gap, confidence, kind)
    if stop_gap is None and rule != algorithm_options.stopping_rule(None, CONFIDENCE.default, None):
        raise typer.BadParameter("--confidence and --kind are of --stop-gap; pass that as well.")
    given = algorithm_options.parse_options(option or [])
    algorithm_options.check_options(algorithm, given)
    names_given = listed(models) or []
    alone = len(names_given) == 1 and is_number(names_given[0])
    campaign = create_campaign(
        storage_url(storage),
        name,
        models=int(names_given[0]) if alone else names_given,
        classes=as_classes(classes),
        stop_when=None if stop_gap is None else rule,
        seed=seed,
        algorithm=algorithm,
        options=given,
        **settings,
    )
    if as_json:
        print_json(describe(campaign))
        return
    say(visible(f"Created {name} in {campaign.storage.url}."), "", "Next:")
    called = shlex.quote(name) if storage is None else f"{shlex.quote(name)} --storage {shlex.quote(storage)}"
    say(visible(f"  {command(f'ask {called} < items.jsonl')}  asks about items as they come"))
    say(visible(f"  {command(f'label {called}')}  lets you label what it asks for"))
