"""What happens in a pool alone, as records of the history, and back."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question, make_fields
from modelpicker.campaigns.input.judges import encode_answers, judge_names
from modelpicker.campaigns.input.rows import ClassCodes, Rows, encode_many
from modelpicker.campaigns.input.slices import check_value, encode_values, value_names
from modelpicker.campaigns.input.validation import check_item, check_key
from modelpicker.campaigns.setting_options import MOST_PEOPLE
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import NOT_RUN

PoolEvent: TypeAlias = Items | ItemFields | Question

ITEM, FIELDS, QUESTION = "item", "fields", "question"
POOL_KINDS = (ITEM, FIELDS, QUESTION)


def pool_records(head: dict[str, Any], event: PoolEvent, models: Sequence[ModelName]) -> Iterator[dict[str, Any]]:
    """The records of an event, each of which begins with `head`."""
    match event:
        case Items():
            names = [*event.classes, NOT_RUN, None]  # -1 is the last
            judged = judge_names(event.judge)
            sliced = None if event.slices is None else value_names(event.slices)
            for place, codes in enumerate(event.codes.tolist()):
                said: dict[str, Any] = {} if judged is None else {"judge": judged[place]}
                said |= {} if sliced is None else {"slice": sliced[place]}
                predictions = [names[code] for code in codes]
                yield {**head, "kind": ITEM, "id": event.first + place, "predictions": predictions, **said}
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
                **({} if event.pair is None else {"pair": list(event.pair)}),
                **({} if event.own is None else {"in_slice": _told(event.own, models)}),
            }


def _told(own: dict[str, Any], models: Sequence[ModelName]) -> dict[str, Any]:
    """What a question did in a slice, with the model that led there by name."""
    return {**own, "leader": None if own["leader"] is None else models[own["leader"]]}


def pool_event(
    records: list[dict[str, Any]], models: Sequence[ModelName], settings: CampaignSettings, rounds: int
) -> PoolEvent:
    """One event from its records; there have been that many items before."""
    match records[0]["kind"]:
        case "item":
            return _items(records, models, settings, rounds)
        case "fields":
            return _fields(records, rounds)
        case _:
            return _question(records[0], models, settings, rounds)


def _items(
    records: list[dict[str, Any]], models: Sequence[ModelName], settings: CampaignSettings, first: int
) -> Items:
    if [record["id"] for record in records] != list(range(first, first + len(records))):
        raise InputError(f"item {first} was expected; records are missing or out of order.")
    rows = encode_many([record["predictions"] for record in records], models, ClassCodes(settings.classes))
    if settings.judge is None and any("judge" in record for record in records):
        raise InputError(f"item {first}: a judge answered it, but the campaign has no judge.")
    judge = None if settings.judge is None else encode_answers([record.get("judge") for record in records])
    return Items(first, rows.codes, rows.classes, settings.checksum, judge, _slices(records, settings, first))


def _slices(records: list[dict[str, Any]], settings: CampaignSettings, first: int) -> Rows | None:
    """What slices the items are in."""
    values = [record.get("slice") for record in records]
    if settings.slice is None:
        if any(value is not None for value in values):
            raise InputError(f"item {first}: it has a slice, but the campaign has none.")
        return None
    for place, value in enumerate(values):
        check_value(value, "slice", first + place)
    return encode_values(values)


def _fields(records: list[dict[str, Any]], rounds: int) -> ItemFields:
    first = records[0]["id"]
    if type(first) is not int or not 0 <= first <= rounds - len(records):
        raise InputError(f"there is no item {brief(first)} so far.")
    if [record["id"] for record in records] != list(range(first, first + len(records))):
        raise InputError(f"the fields of item {first}: records are missing or out of order.")
    items = [check_item(record.get("item")) for record in records]
    texts = [b"" if item is None else json.dumps(item).encode() for item in items]
    return make_fields(first, [check_key(record.get("key")) for record in records], texts)


def _question(
    record: dict[str, Any], models: Sequence[ModelName], settings: CampaignSettings, rounds: int
) -> Question:
    item, number, draw = record["id"], record["number"], record.get("draw")
    if type(item) is not int or not 0 <= item < rounds or type(number) is not int:
        raise InputError(f"there is no item {brief(item)} so far.")
    needed = record.get("needed", 1)
    if type(needed) is not int or not 1 <= needed <= MOST_PEOPLE:
        raise InputError(f"item {item} cannot have needed {brief(needed)} people.")
    own = _own(record, models, settings)
    pair = question_pair(record, settings, settings.ask_for == "preference")
    made = Question(item, number, models.index(record["leader"]), draw, needed, pair, own)
    question = made.question
    for found in (question.draw, None if question.own is None else question.own.draw):
        if found is not None and not found.fits(len(models)):
            raise InputError(f"item {item} cannot have been drawn by {brief(found)}.")
    return made


def _own(record: dict[str, Any], models: Sequence[ModelName], settings: CampaignSettings) -> dict[str, Any] | None:
    """What a question did in the slice of its item."""
    own = record.get("in_slice")
    if own is None:
        return None
    if settings.slice is None or not isinstance(own, dict):
        raise InputError(f"item {record['id']}: a question for a slice goes with a campaign that has slices.")
    leader = own.get("leader")
    return {"leader": None if leader is None else models.index(leader), "draw": own.get("draw")}


def question_pair(record: dict[str, Any], settings: CampaignSettings, wanted: bool) -> list[ClassName] | None:
    """The answers that were compared, where a preference was asked for."""
    if wanted != ("pair" in record):
        raise InputError(f"item {record['id']}: answers to compare go with a campaign that asks for a preference.")
    if "pair" not in record:
        return None
    names = [ClassCodes(settings.classes).name(name, "pair") for name in record["pair"]]
    pair = [name for name in names if name is not None]
    if len(pair) > 2 or len(set(pair)) != len(record["pair"]):
        raise InputError(f"item {record['id']}: {brief(record['pair'])} are not two answers.")
    return pair
