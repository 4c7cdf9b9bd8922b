"""`modelpicker join` and `leave`: models that take part from the next item on, or no more."""

from typing import Annotated

import typer

from modelpicker.cli.shared.campaign_options import (
    Name,
    StorageOption,
    opened,
    report,
)
from modelpicker.cli.shared.terminal import (
    Json,
    is_number,
)

Model = Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.", show_default=False)]


def join(name: Name, model: Model, storage: StorageOption = None, as_json: Json = False) -> None:
    """Add a model: it takes part from the next item on.

    It starts level with the leader.
    """
    campaign = opened(storage, name)
    numbered = is_number(model) and all(isinstance(one, int) for one in campaign.models)
    campaign.join(int(model) if numbered else model)
    report(campaign, f"{model} takes part from now on.", {"joined": model}, as_json)


def leave(name: Name, model: Model, storage: StorageOption = None, as_json: Json = False) -> None:
    """Remove a model. What is known about the others stays."""
    campaign = opened(storage, name)
    found = next((one for one in campaign.models if str(one) == model), model)
    campaign.leave(found)
    report(campaign, f"{model} no longer takes part.", {"left": found}, as_json)
