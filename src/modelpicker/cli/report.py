"""`modelpicker report`: one page for the person who decides."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared.campaign_options import StorageOption, opened, storage_url
from modelpicker.cli.shared.pick_campaign import find_place
from modelpicker.cli.shared.pick_pool import find_journal
from modelpicker.cli.shared.terminal import Json, print_json, print_sentence, visible, waiting
from modelpicker.errors import ConflictError, InputError, NotFoundError, brief

if TYPE_CHECKING:
    from modelpicker.campaigns.results.report import Report

NAME = Path("pick.html")
PAGES = (".html", ".htm")
# How a page that `report` wrote begins; anything else is not overwritten.
START = b"<!doctype html>"


def report(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A campaign; or a file that `pick` wrote: NAME.pool.jsonl, NAME.pick.db, or what you passed to "
            "--out; or the file that you picked from, if your answers are beside it.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The page to be written, ending in .html.")] = NAME,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Write a page about the pick, for the person who decides.

    The page says which model is the pick, how certain that is, what it cost, and how to repeat it.

    The page is one file that needs nothing else. Open it in a browser, print it, or send it by mail.
    """
    _check_out(out, source)
    typed = getattr(context.get_parameter_source("storage"), "name", "") == "COMMANDLINE"
    from modelpicker.campaigns.results.report_page import report_page
    from modelpicker.collections.writers import replacing

    with waiting("Making the report"):
        found = _find(source, storage, campaign=typed)
        page = report_page(found)
    with replacing(out) as unfinished:
        unfinished.write_text(page, encoding="utf-8")
    if as_json:
        summary = {"headline": found.headline, "certainty": found.certainty, "cost": found.cost}
        print_json({"out": str(out), "bytes": len(page.encode()), **summary, **found.pick.document()})
        return
    print_sentence(f"{found.headline}\n{found.certainty}")
    typer.echo(visible(f"The report is in {out}."))


def _check_out(out: Path, source: str) -> None:
    """The page must not take the place of anything else."""
    if out.suffix.lower() not in PAGES:
        raise InputError(f"--out {out}: a report is a page; pass a name that ends with .html.")
    if out.absolute() == Path(source).absolute():
        raise InputError(f"--out {out} is what the report is made of; pass another.")
    if out.exists() and not out.is_file():
        raise ConflictError(f"{out} is a folder or a device; pass another --out.")
    if out.exists() and out.stat().st_size:
        with out.open("rb") as file:
            if not file.read(len(START)).lower().startswith(START):
                raise ConflictError(f"{out} exists and is not a page; pass another --out.")


def _find(source: str, storage: str | None, *, campaign: bool) -> "Report":
    """What to report on: a file if there is one, else a campaign, else what `pick` keeps under that name."""
    from modelpicker.campaigns.file_report import file_report, is_pick
    from modelpicker.campaigns.results.campaign_report import campaign_report

    path = Path(source)
    if not campaign and path.is_file():
        return file_report(path) if is_pick(path) else file_report(_kept(source))
    try:
        with opened(storage, source) as found:
            return campaign_report(found)
    except NotFoundError:
        if campaign or not (kept := _beside(source)):
            where = storage_url(storage)
            raise NotFoundError(
                f"there is no campaign {brief(source)} in {where}, and no file of that name. "
                "`modelpicker list` lists the campaigns."
            ) from None
    return file_report(kept[0])


def _beside(source: str) -> list[Path]:
    """What `pick` keeps of the answers about a file: about a pool first, as `pick` continues with that."""
    places = (find_journal(source, None, None), find_place(source, None, None, ""))
    return [place for place in places if place.is_file()]


def _kept(source: str) -> Path:
    """The answers about a file; an error that says how to get there if there are none."""
    found = _beside(source)
    if not found:
        raise NotFoundError(
            f"{source} was not written by `modelpicker pick`, and there are no answers about it. Run the pick, and "
            f"keep its result: modelpicker pick {source} --out RESULT.jsonl. Then: modelpicker report RESULT.jsonl"
        )
    return found[0]
