"""The file that `modelpicker pick` was given, with the labels that are known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from modelpicker.campaigns.storage.sqlite_files import is_sqlite
from modelpicker.cli.shared import pick_campaign
from modelpicker.cli.shared.pick_request import PickRequest
from modelpicker.cli.shared.read_collection import read_and_note
from modelpicker.cli.shared.terminal import progress, say, visible
from modelpicker.errors import InputError

if TYPE_CHECKING:
    from modelpicker.campaigns.offline import CollectionSource
    from modelpicker.collections import ModelCollection
    from modelpicker.collections.column_roles import Reading

SHOWN = 6


def read_labelled(request: PickRequest) -> "tuple[CollectionSource, PickRequest]":
    """The collection, with labels from a file or from the campaign of an earlier pick; and how it was read."""
    from modelpicker.collections.files import open_with

    answers = request.labels if request.labels is not None and is_sqlite(request.labels) else None
    labels = None if answers is not None else request.labels
    found, reading = read_and_note(open_with, request.source, labels, request.reading)
    request = replace(request, reading=reading)
    if answers is None:
        return found, request
    from modelpicker.campaigns.file_campaign import with_answers
    from modelpicker.campaigns.offline import read_whole

    return with_answers(read_whole(found), answers), request


def read_scanned(request: PickRequest, ask: bool) -> "tuple[CollectionSource, PickRequest]":
    """The items of files that are larger than memory, with their labels; and how they were read."""
    from modelpicker.campaigns.offline_large import refuse_with_engine, scan_items, with_told
    from modelpicker.experiments.engines import Workforce

    refuse_with_engine(
        {
            "--judge": request.judge is not None,
            "--warm": request.warm is not None,
            "--slice": request.slice is not None,
            "--same": request.reading.free,
            "--ask": ask and request.labels is not None,
            "--labels": is_answers(request.labels),
            "--loss balanced": request.costs.get("loss") == "balanced",
        }
    )
    how = request.how or Workforce()

    def read(source: object, labels: object, reading: "Reading") -> "ModelCollection":
        named = replace(reading, labels_elsewhere=labels is not None)
        with progress(f"Scanning {source}", 1) as bar:

            def watch(done: int, total: int) -> None:
                bar.update(bar.task_ids[0], completed=done, total=total)

            items = scan_items(source, named, how, watch)
        found = items if labels is None else with_told(items, labels, reading)
        return cast("ModelCollection", found)  # as far as a pool needs it

    found, reading = read_and_note(read, request.source, request.labels, request.reading, quiet=True)
    return found, replace(request, reading=reading)


def with_old_answers(
    request: PickRequest, collection: "CollectionSource"
) -> "tuple[PickRequest, CollectionSource]":
    """The answers that an older version of modelpicker kept in a file of its own are used, if they fit."""
    found = pick_campaign.old_answers(request.source)
    if found is None:
        return request, collection
    wanted = replace(request, labels=found)
    try:
        found_again, wanted = read_labelled(wanted)
        return wanted, found_again
    except InputError as error:
        say(visible(f"{found} has answers of an earlier pick, which cannot be used: {error}"))
        return request, collection


def is_answers(labels: Path | None) -> bool:
    """Whether labels are the answers of an earlier pick: then the others are asked for."""
    from modelpicker.campaigns import offline

    return labels is not None and offline.is_answers(labels)


def some_names(names: Sequence[str]) -> str:
    """The first names, as many as fit into a line."""
    shown = visible(", ".join(names[:SHOWN]))
    if len(shown) > 64:
        shown = shown[:64].rpartition(", ")[0] or shown[:64]
    return f"{shown}{', …' if len(shown.split(', ')) < len(names) else ''} ({len(names)})"
