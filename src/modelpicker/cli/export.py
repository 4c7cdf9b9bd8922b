"""`modelpicker export` and `import`: whole campaigns as files."""

from pathlib import Path
from typing import Annotated

import typer

from modelpicker.cli.shared.campaign_options import Name, StorageOption, opened, storage_url
from modelpicker.cli.shared.terminal import Json, count, print_json, say, visible, waiting
from modelpicker.errors import ConflictError


def export(
    name: Name,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A file ending in .jsonl or .parquet.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Write a whole campaign to a file.

    The file has the settings, the items, the decisions, the answers, and everything that happened.
    """
    from modelpicker.campaigns.export import export_campaign

    campaign = opened(storage, name)
    if out.exists() and not force:
        raise ConflictError(f"{out} already exists; pass --force to overwrite it.")
    with waiting(f"Writing {out}"):
        records = export_campaign(campaign, out)
    facts = {"campaign": name, "path": str(out), "records": records}
    print_json(facts) if as_json else say(visible(f"Wrote {name} to {out}: {count(records, 'record')}."))


def import_verb(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `export` wrote.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Another name for the campaign.", show_default=False)] = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Read a campaign from an exported file into a storage."""
    from modelpicker.campaigns.export import import_campaign

    with waiting(f"Reading {file}"):
        campaign = import_campaign(storage_url(storage), file, name)
    pick = campaign.best()
    if as_json:
        print_json({"campaign": campaign.name, "storage": campaign.storage.url, **pick.document()})
        return
    counted = f"{count(pick.rounds, 'item')}, {count(pick.labels_used, 'label')}"
    say(visible(f"{campaign.name} is in {campaign.storage.url}: {counted}."))
