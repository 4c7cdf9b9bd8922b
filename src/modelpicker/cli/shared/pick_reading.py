"""The file that `modelpicker pick` was given, with the labels that are known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modelpicker.campaigns.storage.sqlite_files import is_sqlite
from modelpicker.cli.shared import pick_campaign
from modelpicker.cli.shared.pick_request import PickRequest
from modelpicker.cli.shared.read_collection import read_and_note
from modelpicker.cli.shared.terminal import say, visible
from modelpicker.errors import InputError

if TYPE_CHECKING:
    from modelpicker.campaigns.offline import CollectionSource

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
