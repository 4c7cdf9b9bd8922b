"""`modelpicker label`: a labelling session at the terminal."""

from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared.campaign_options import AnnotatorOption, Name, StorageOption, opened, print_pick
from modelpicker.cli.shared.label_session import ANNOTATOR, LabelSession
from modelpicker.cli.shared.terminal import Json, print_json, say, visible
from modelpicker.errors import ModelPickerError

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign
    from modelpicker.campaigns.file_campaign import Feeder

Lease = Annotated[
    float, typer.Option(min=1, help="For how many seconds an item is yours before others may get it.")
]


def label(
    name: Name,
    lease: Lease = 600.0,
    wait: Annotated[
        bool, typer.Option("--wait", help="When nothing is left to label, wait for more until you quit.")
    ] = False,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Label what the campaign asks for, one item at a time.

    One key per class, s to skip, u to undo, m to ask whether you may stop, q to quit.

    A campaign that `pick` began goes on with its file, if that is there.
    """
    campaign = opened(storage, name)
    who = by or (None if campaign.settings.source is None else ANNOTATOR)  # as `pick` has it
    session = LabelSession(campaign, lease, who, wait=wait, feeder=_feeder_of(campaign))
    try:
        session.converse()
    except KeyboardInterrupt:
        say("", "Stopped. Every answer is saved.")
        raise
    finally:
        session.give_back()
    pick = campaign.best()
    if as_json:
        print_json(
            {"campaign": name, "labelled": session.labelled, "skipped_now": session.skipped, **pick.document()}
        )
    else:
        typer.echo("")
        print_pick(pick)


def _feeder_of(campaign: "Campaign") -> "Feeder | None":
    """The file of a campaign that `pick` began, if it is there and the same; else what waits can be labelled."""
    from modelpicker.campaigns.file_campaign import Feeder, read_source

    source = campaign.settings.source
    if source is None:
        return None
    try:
        return Feeder(campaign, read_source(source), use_known=source.labels_there is not None)
    except ModelPickerError as error:
        say(visible(f"Its file cannot be gone on with here: {error}"))
        return None
