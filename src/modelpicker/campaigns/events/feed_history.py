"""Items of files that wait, and those that were taken, as records of the history, and back."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.campaigns.input.rows import ClassCodes, encode_many
from modelpicker.campaigns.input.validation import check_item, check_key
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.encoding import ModelName
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import NOT_RUN


def feed_records(head: dict[str, Any], event: FeedItems | FeedTaken) -> Iterator[dict[str, Any]]:
    """The records of an event, each of which begins with `head`."""
    if isinstance(event, FeedTaken):
        facts = {"round": event.round, "items": event.items, "dropped": event.dropped, "by": event.by}
        yield {**head, "kind": "fed", **facts}
        return
    names = [*event.classes, NOT_RUN, None]  # -1 is the last
    for place, codes in enumerate(event.codes.tolist()):
        yield {
            **head,
            "kind": "feed",
            "place": event.first + place,
            "file": event.file,
            "mark": event.mark,
            "upto": event.upto,
            "key": event.keys[place],
            "item": event.item(place),
            "predictions": [names[code] for code in codes],
        }


def feed_event(
    records: list[dict[str, Any]], models: Sequence[ModelName], settings: CampaignSettings, rounds: int
) -> FeedItems | FeedTaken:
    """One event from its records; there have been that many rounds before. Counts are checked with the state."""
    record = records[0]
    if record["kind"] == "fed":
        if type(record["items"]) is not int or record["items"] < 0 or record["round"] != rounds:
            raise InputError(f"{brief(record['items'])} items cannot have been taken there.")
        return FeedTaken(rounds, record["items"], record["dropped"] is True, check_key(record["by"], "by"))
    first, file, mark, upto = (record[name] for name in ("place", "file", "mark", "upto"))
    if [one["place"] for one in records] != list(range(first, first + len(records))):
        raise InputError(f"item {first} of {brief(file)} was expected; records are missing or out of order.")
    if any((one["file"], one["mark"], one["upto"]) != (file, mark, upto) for one in records):
        raise InputError(f"items of other files come between those of {brief(file)}.")
    if type(file) is not str or type(mark) is not str or type(upto) is not int:
        raise InputError(f"{brief((file, mark, upto))} is not a part of a file.")
    rows = encode_many([one["predictions"] for one in records], models, ClassCodes(settings.classes))
    items = [check_item(one.get("item")) for one in records]
    texts = [b"" if item is None else json.dumps(item).encode() for item in items]
    keys = [check_key(one["key"]) or "" for one in records]
    shown = tuple(texts) if any(texts) else None
    return FeedItems(first, file, mark, upto, list(models), rows.codes, rows.classes, keys, shown)
