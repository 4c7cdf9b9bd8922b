"""`modelpicker tasks` and `annotations`: items for people who label in another tool, and what they say there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from modelpicker.cli.shared.campaign_options import AnnotatorOption, Name, StorageOption, called_by, opened, report
from modelpicker.cli.shared.terminal import Json, command, count, print_json, say, visible, waiting

if TYPE_CHECKING:
    from modelpicker.campaigns.annotating.annotation import TakenAnnotations

SHOWN = 10


def tasks(
    name: Name,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="The file to write: .csv, .tsv, .xlsx, .json or .jsonl, by the format.",
            show_default=False,
        ),
    ],
    format: Annotated[  # noqa: A002 - as users say it
        Literal["csv", "xlsx", "label-studio", "prodigy", "argilla"] | None,
        typer.Option(
            help="The tool that people label in.  [default: csv or xlsx, by the name of FILE]", show_default=False
        ),
    ] = None,
    how_many: Annotated[int, typer.Option("--count", min=1, help="At most this many items.")] = 20,
    hours: Annotated[
        float,
        typer.Option(
            min=0,
            max=8760,
            help="For how long nobody else is asked about these items, so that the next tasks are others. "
            "0 keeps none. An annotation counts whenever it comes.",
        ),
    ] = 24.0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Write the next items as tasks for another tool.

    The tool is a spreadsheet, Label Studio, Prodigy or Argilla.

    For Label Studio the labelling interface is written beside the tasks, for Argilla the questions. Take the labels
    back with `modelpicker annotations NAME FILE`.
    """
    from modelpicker.integrations.annotation_files import write_tasks

    campaign = opened(storage, name)
    chosen = format or _by_name(out)
    with waiting("Choosing the items"):
        found, paths = write_tasks(campaign, out, chosen, count=how_many, hours=hours, force=force)
    if as_json:
        facts = {"tasks": len(found.tasks), "format": chosen, "paths": [str(path) for path in paths]}
        ids = [task.id for task in found.tasks]
        print_json({"campaign": name, **facts, "ids": ids, "state": campaign.best().state.document()})
        return
    if not found.tasks:
        state = campaign.best().state
        say(visible(f"No item is free now, so no file was written. {state.title}: {state.reason}"))
        if state.name == "waiting-for-labels":
            say("Items of earlier tasks are reserved for the people who have them, by default for 24 hours.")
        return
    say(visible(f"Wrote {count(len(found.tasks), 'task')} to {' and '.join(map(str, paths))}."))
    say(visible(f"  {command(f'annotations {called_by(name, storage)} FILE')}  takes the labels back"))


def _by_name(out: Path) -> Literal["csv", "xlsx"]:
    ending = out.suffix.lower()
    if ending in (".csv", ".tsv"):
        return "csv"
    if ending == ".xlsx":
        return "xlsx"
    raise typer.BadParameter(
        "say which tool the tasks are for: label-studio, prodigy, argilla, csv or xlsx.", param_hint="--format"
    )


def annotations(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Label Studio's JSON export, Prodigy's JSON lines, records of Argilla, or a table.",
            show_default=False,
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="An answer takes the place of another one by the same person.")
    ] = False,
    label: Annotated[
        str | None,
        typer.Option(help="For a table: the column with the labels.  [default: label]", show_default=False),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="For a table: the column that says which item it is.  [default: modelpicker_id, id, key or item]",
            show_default=False,
        ),
    ] = None,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Read labels that people gave in another tool.

    The content shows which tool it is.

    The same file twice changes nothing. If anything in the file cannot be understood, nothing is taken. Items that
    are not in the campaign, and answers that contradict others, are named, and the rest is taken; the exit code is
    then 3 or 4.
    """
    from modelpicker.integrations.annotation_files import read_annotations

    campaign = opened(storage, name)
    with waiting(f"Reading {file}"):
        taken = read_annotations(campaign, file, replace=replace, label=label, id=id_column, annotator=by)
    for item, error in taken.problems[:SHOWN]:
        say(visible(f"item {item}: {error}"))
    if len(taken.problems) > SHOWN:
        say(f"… and {len(taken.problems) - SHOWN:,} more.")
    report(campaign, _sentence(taken), taken.document(), as_json)
    if taken.problems:
        raise typer.Exit(taken.problems[0][1].exit_code)


def _sentence(taken: "TakenAnnotations") -> str:
    """What came of the file."""
    parts = [count(taken.labels, "new label")]
    parts += [f"{taken.skips:,} skipped"] if taken.skips else []
    parts += [f"{taken.known:,} there already"] if taken.known else []
    parts += [f"{taken.empty:,} not annotated yet"] if taken.empty else []
    parts += [f"{len(taken.problems):,} not taken"] if taken.problems else []
    return f"{', '.join(parts)}."
