"""`modelpicker label`: a labelling session at the terminal."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared.campaign_options import (
    AnnotatorOption,
    Name,
    StorageOption,
    called_by,
    opened,
    print_pick,
)
from modelpicker.cli.shared.label_session import ANNOTATOR, LabelSession
from modelpicker.cli.shared.terminal import Json, command, print_json, say, visible
from modelpicker.errors import ModelPickerError

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign, Pick
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
    items: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="For a stream: a file of items, as `ask` reads it. They are kept, and decided about one by one "
            "while you label. Later, `label NAME` continues where you stopped.",
            show_default=False,
        ),
    ] = None,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Label what the campaign asks for, one item at a time.

    One key per class, s to skip, u to undo, m to ask whether you may stop, q to quit.

    A campaign on a pool chooses the next item when you are ready, and ends when the pick is proven. A campaign that
    `pick` began continues with its file, if that is there.
    """
    from modelpicker.campaigns.background_compiler import compiling_beside
    from modelpicker.campaigns.kernel_needs import KernelNeed

    campaign = opened(storage, name)
    if by is None and campaign.settings.overlap != 1:
        raise typer.BadParameter("several people label each item here: say who you are.", param_hint="--by")
    who = by or (None if campaign.settings.source is None else ANNOTATOR)  # as `pick` has it
    if items is not None:
        _ask_about(campaign, items)
    feeder = _feeder_of(campaign) if items is None else None
    session = LabelSession(campaign, lease, who, wait=wait, feeder=feeder)
    with compiling_beside() as compiler:
        compiler.want(KernelNeed.of(campaign.settings))
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
        if campaign.settings.pool is not None:
            _say_next(pick, session, name, storage)


def _say_next(pick: "Pick", session: LabelSession, name: str, storage: str | None) -> None:
    """What to do with a pool that asks no more."""
    called = called_by(name, storage)
    if pick.state.name not in ("certified", "budget-spent"):
        return
    say("", "Next:", visible(f"  {command(f'report {called}')}  writes one page about the pick"))
    if session.answered:
        last = session.answered[-1][0].id
        # Without a name, it would take back what everybody said about the item.
        who = "" if session.by is None else f" --by {shlex.quote(session.by)}"
        say(visible(f"  {command(f'retract {called} {last}{who}')}  takes your last answer back"))
    if pick.state.over:
        say(visible(f"  {command(f'ask {called} FILE')}  adds more items; then it asks again"))
    else:
        say(visible(f"  {command(f'revise {called} --budget {_larger(pick)}')}  allows more labels"))


def _larger(pick: "Pick") -> int:
    """The budget that the state of a spent one offers."""
    from modelpicker.campaigns.results.pool_pick import half_again

    budget = pick.budget or 0
    return budget + (half_again(budget) if pick.more is None else pick.more.labels)


def _ask_about(campaign: "Campaign", file: str) -> None:
    """Keep the items of a file, which are then asked about one by one."""
    from modelpicker.cli.ask import keep_file

    if campaign.settings.pool is not None:
        raise typer.BadParameter(
            f"{campaign.name} is on a pool; {command(f'ask {campaign.name} {file}')} adds the items to it.",
            param_hint="--items",
        )
    keep_file(campaign, file, {})


def _feeder_of(campaign: "Campaign") -> "Feeder | None":
    """The file of a campaign that `pick` began, if it is there and the same; else what waits can be labelled."""
    from modelpicker.campaigns.file_campaign import Feeder, read_source

    source = campaign.settings.source
    if source is None:
        return None
    try:
        return Feeder(campaign, read_source(source), use_known=source.labels_there is not None)
    except ModelPickerError as error:
        say(visible(f"Its file cannot be continued here: {error}"))
        return None
