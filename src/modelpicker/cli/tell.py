"""`modelpicker tell`, `skip` and `retract`: labels by hand or as JSON lines."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared.campaign_options import (
    AnnotatorOption,
    Name,
    StorageOption,
    as_id,
    as_label,
    opened,
    report,
)
from modelpicker.cli.shared.terminal import (
    Json,
    count,
    is_number,
    standard_input,
)
from modelpicker.errors import InputError, ModelPickerError, brief

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign


IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of a query, or its key.", show_default=False)]


KeyOption = Annotated[bool, typer.Option("--key", help="ID is a key, even if it looks like a number.")]


ReplaceOption = Annotated[bool, typer.Option("--replace", help="Replace the earlier answer, which was wrong.")]


def tell(
    name: Name,
    id: Annotated[  # noqa: A002 (the design's word)
        str | None,
        typer.Argument(
            metavar="ID",
            help="The id of a query, or its key; without it, JSON lines with id or key, and label, are read.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL",
            help="The class it is of; or a label as a JSON document, such as grades.",
            show_default=False,
        ),
    ] = None,
    key: KeyOption = False,
    replace: ReplaceOption = False,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Give the label of an item, or many labels as JSON lines."""
    campaign = opened(storage, name)
    before = campaign.best()
    if id is None:
        told = _tell_lines(campaign, replace, by)
    elif label is None:
        raise typer.BadParameter(
            f"pass the label as well; or pipe JSON lines in: modelpicker tell {name} < labels.jsonl",
            param_hint="LABEL",
        )
    else:
        number = as_id(campaign, id, key)
        campaign.tell(number, as_label(campaign, number, label), replace=replace, annotator=by)
        told = 1
    after = campaign.best()
    new = after.labels_used - before.labels_used
    facts = [count(new, "new label")]
    unasked = "for reference only: not queried"
    if campaign.settings.pool is not None:
        unasked = "learned that nobody was asked for"
    for what, number in (
        ("skipped", after.skipped - before.skipped),
        (unasked, after.references - before.references),
    ):
        if number > 0:
            facts.append(f"{number:,} {what}")
    report(campaign, f"{', '.join(facts)}.", {"told": told}, as_json)


def _tell_lines(campaign: "Campaign", replace: bool, by: str | None) -> int:
    """Labels as they come on standard input, each on disk before the next is read."""
    told = 0
    for number, line in enumerate(standard_input(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} is not JSON: {error}.") from error
        if not isinstance(entry, dict) or "label" not in entry or not {"id", "key"} & entry.keys():
            raise InputError(f'line {number}: {brief(entry)} has no label, or neither "id" nor "key".')
        try:
            called = _as_round(entry["id"]) if "id" in entry else str(entry["key"])
            campaign.tell(called, entry["label"], replace=replace, annotator=by)
        except ModelPickerError as error:
            raise type(error)(f"line {number}: {error} What came before it is told.") from error
        told += 1
    return told


def skip(
    name: Name,
    id: IdArgument,  # noqa: A002 (the design's word)
    key: KeyOption = False,
    replace: ReplaceOption = False,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Say that nobody can tell the label of a query."""
    campaign = opened(storage, name)
    number = as_id(campaign, id, key)
    campaign.skip(number, replace=replace, annotator=by)
    report(campaign, f"{id} skipped.", {"skipped_now": number}, as_json)


def retract(
    name: Name,
    id: IdArgument,  # noqa: A002 (the design's word)
    key: KeyOption = False,
    by: AnnotatorOption = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Take back an answer: the item waits for another one."""
    campaign = opened(storage, name)
    number = as_id(campaign, id, key)
    campaign.retract(number, annotator=by)
    report(campaign, f"The answer to {id} is taken back.", {"retracted": number}, as_json)


def _as_round(value: object) -> int:
    """An id of ours, which is a number, also if it is written as a string."""
    text = str(value)
    if isinstance(value, bool) or not is_number(text):
        raise InputError(f'id {brief(value)} is not a number; write "key" if you mean the key of an item.')
    return int(text)
