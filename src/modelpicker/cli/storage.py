"""`modelpicker backup`, `verify` and `storage`: the storage that campaigns live in."""

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared.campaign_options import StorageOption, storage_url
from modelpicker.cli.shared.terminal import Json, count, print_json, progress, say, visible, waiting
from modelpicker.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

    from modelpicker.campaigns.storage.verify import Verification


storage_app = typer.Typer(help="The storage of campaigns: upgrade it, or copy it.", no_args_is_help=True)


def backup(
    destination: Annotated[
        Path, typer.Argument(metavar="DESTINATION", help="The file to be made.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Copy a whole SQLite storage to a file.

    Tokens are copied too. Others can use the storage meanwhile.
    """
    from modelpicker.campaigns.storage.backup import back_up
    from modelpicker.campaigns.storage.database import find_storage

    with closing(find_storage(storage_url(storage))) as found, progress("Copying", 0) as bar:
        made = back_up(found, destination, overwrite=force, progress=_shown(bar))
    if as_json:
        print_json({"storage": found.url, **asdict(made)})
        return
    holds = f"{count(made.campaigns, 'campaign')}, {count(made.tokens, 'token')}, {made.bytes:,} bytes"
    say(visible(f"Backed up {found.url} to {made.path}: {holds}. The copy was checked."))


def _shown(bar: "Progress") -> "Callable[[int, int], None]":
    """What moves a bar on."""
    return lambda done, total: bar.update(bar.task_ids[0], completed=done, total=total)


def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One campaign; all by default.", show_default=False)
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only look; repair nothing.")] = False,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Check campaigns against their events, and repair them."""
    from modelpicker.campaigns.storage.database import open_storage
    from modelpicker.campaigns.storage.verify import all_names, check_file, verify_named

    found = open_storage(storage_url(storage))
    with waiting(f"Looking at {found.url}"):
        damage = check_file(found)
    if damage:
        raise StorageError(f"{found.url} is damaged: {damage[0]}. Restore a backup.")
    names = [name] if name is not None else all_names(found)
    verdicts = []
    for one in names:
        with waiting(f"Verifying {one}"):
            verdicts.append(verify_named(found, one, repair=not check))
        if not as_json:
            typer.echo(visible(_sentence(verdicts[-1])))
    if as_json:
        print_json({"storage": found.url, "campaigns": [vars(verdict) for verdict in verdicts]})
    if any(verdict.wrong and not verdict.repaired for verdict in verdicts):
        raise typer.Exit(1)


def _sentence(verdict: "Verification") -> str:
    """What was found of one campaign."""
    found = "; ".join(verdict.wrong) or "the state is that of its events, to the last bit"
    repaired = " (repaired)" if verdict.repaired else ""
    if verdict.labels is None:
        return f"{verdict.name}: {found}."
    return f"{verdict.name}: {count(verdict.rounds, 'item')}, {count(verdict.labels, 'label')}: {found}{repaired}."


@storage_app.command()
def upgrade(storage: StorageOption = None, as_json: Json = False) -> None:
    """Bring a storage to the schema of this version; every event stays as it is. Make a backup first."""
    from modelpicker.campaigns.storage.database import find_storage
    from modelpicker.campaigns.storage.upgrade import upgrade as upgrade_storage

    with closing(find_storage(storage_url(storage))) as found, waiting(f"Upgrading {found.url}"):
        before, after = upgrade_storage(found)
    if as_json:
        print_json({"storage": found.url, "before": before, "after": after})
    elif before == after:
        say(f"{found.url} has schema {after} already.")
    else:
        say(f"{found.url} is upgraded from schema {before or 'none'} to {after}.")


@storage_app.command("copy")
def copy_verb(
    destination: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="An empty storage: sqlite:///file.db or postgresql://…", show_default=False
        ),
    ],
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Copy everything into an empty storage, also of another kind.

    From SQLite to PostgreSQL, or back. Tokens are copied too.
    """
    from modelpicker.campaigns.storage.copy import copy_storage
    from modelpicker.campaigns.storage.database import open_storage

    source = open_storage(storage_url(storage))
    target = open_storage(destination, create=True)
    with progress("Copying", 0) as bar:
        made = copy_storage(source, target, _shown(bar))
    if as_json:
        print_json({"storage": source.url, "destination": target.url, **asdict(made)})
        return
    holds = f"{count(made.campaigns, 'campaign')}, {count(made.events, 'event')}, {count(made.tokens, 'token')}"
    say(visible(f"Copied {source.url} to {target.url}: {holds}."))
