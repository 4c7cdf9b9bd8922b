"""What happens in a pool alone, as records of the history, and back."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question, make_fields
from modelpicker.campaigns.input.rows import ClassCodes, check_all_run, encode_many
from modelpicker.campaigns.input.validation import check_item, check_key
from modelpicker.campaigns.setting_options import MOST_PEOPLE
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.encoding import ModelName
from modelpicker.errors import InputError, brief

PoolEvent: TypeAlias = Items | ItemFields | Question

ITEM, FIELDS, QUESTION = "item", "fields", "question"
POOL_KINDS = (ITEM, FIELDS, QUESTION)


def pool_records(head: dict[str, Any], event: PoolEvent, models: Sequence[ModelName]) -> Iterator[dict[str, Any]]:
    """The records of an event, each of which begins with `head`."""
    match event:
        case Items():
            names = [*event.classes, None]  # -1 is the last
            for number, codes in enumerate(event.codes.tolist(), event.first):
                yield {**head, "kind": ITEM, "id": number, "predictions": [names[code] for code in codes]}
        case ItemFields():
            for number in range(event.first, event.first + len(event)):
                yield {**head, "kind": FIELDS, "id": number, "key": event.key(number), "item": event.item(number)}
        case Question():
            yield {
                **head,
                "kind": QUESTION,
                "id": event.round,
                "number": event.number,
                "leader": models[event.leader],
                "draw": event.draw,
                **({"needed": event.needed} if event.needed > 1 else {}),
            }


def pool_event(
    records: list[dict[str, Any]], models: Sequence[ModelName], settings: CampaignSettings, rounds: int
) -> PoolEvent:
    """One event from its records; there have been so many items before."""
    match records[0]["kind"]:
        case "item":
            return _items(records, models, settings, rounds)
        case "fields":
            return _fields(records, rounds)
        case _:
            return _question(records[0], models, rounds)


def _items(
    records: list[dict[str, Any]], models: Sequence[ModelName], settings: CampaignSettings, first: int
) -> Items:
    if [record["id"] for record in records] != list(range(first, first + len(records))):
        raise InputError(f"item {first} was expected; records are missing or out of order.")
    rows = check_all_run(
        encode_many([record["predictions"] for record in records], models, ClassCodes(settings.classes))
    )
    return Items(first, rows.codes, rows.classes, settings.checksum)


def _fields(records: list[dict[str, Any]], rounds: int) -> ItemFields:
    first = records[0]["id"]
    if type(first) is not int or not 0 <= first <= rounds - len(records):
        raise InputError(f"there is no item {brief(first)} so far.")
    if [record["id"] for record in records] != list(range(first, first + len(records))):
        raise InputError(f"the fields of item {first}: records are missing or out of order.")
    items = [check_item(record.get("item")) for record in records]
    texts = [b"" if item is None else json.dumps(item).encode() for item in items]
    return make_fields(first, [check_key(record.get("key")) for record in records], texts)


def _question(record: dict[str, Any], models: Sequence[ModelName], rounds: int) -> Question:
    item, number, draw = record["id"], record["number"], record.get("draw")
    if type(item) is not int or not 0 <= item < rounds or type(number) is not int:
        raise InputError(f"there is no item {brief(item)} so far.")
    needed = record.get("needed", 1)
    if type(needed) is not int or not 1 <= needed <= MOST_PEOPLE:
        raise InputError(f"item {item} cannot have needed {brief(needed)} people.")
    made = Question(item, number, models.index(record["leader"]), draw, needed)
    found = made.question.draw
    if found is not None and not found.fits(len(models)):
        raise InputError(f"item {item} cannot have been drawn by {brief(draw)}.")
    return made
