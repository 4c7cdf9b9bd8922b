"""`modelpicker create`: begin a campaign."""

import shlex
from typing import Annotated

import typer

from modelpicker.cli.shared import algorithm_options
from modelpicker.cli.shared.campaign_options import (
    StorageOption,
    describe,
    storage_url,
)
from modelpicker.cli.shared.terminal import (
    Json,
    Seed,
    as_classes,
    command,
    is_number,
    listed,
    print_json,
    say,
    visible,
)


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
    stop_gap: algorithm_options.StopGap = None,
    confidence: algorithm_options.Confidence = 0.95,
    kind: algorithm_options.KindNamed = None,
    algorithm: algorithm_options.Named = "model-picker",
    option: algorithm_options.Options = None,
    seed: Seed = 0,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Begin a campaign: programs ask about items, people tell labels, the best model emerges."""
    from modelpicker.campaigns import create_campaign

    algorithm_options.check_name(algorithm)
    rule = algorithm_options.stopping_rule(stop_gap, confidence, kind)
    if stop_gap is None and rule != algorithm_options.stopping_rule(None, 0.95, None):
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
