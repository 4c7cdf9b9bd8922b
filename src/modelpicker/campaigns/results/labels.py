"""Every answer as people look through them: who gave it, when, to which item, and what each model said."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from modelpicker.campaigns.events.event_store import OPEN, STATE_NAMES, EventStore, RoundState
from modelpicker.campaigns.events.event_types import Answer, Reference, Rounds
from modelpicker.campaigns.events.history import as_time
from modelpicker.campaigns.events.pool_events import Items
from modelpicker.campaigns.results.pick import GivenAnswer, LabelFilter
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.state.projection import Projection
from modelpicker.encoding import ClassName


def find_labels(store: EventStore, projection: CampaignState, wanted: LabelFilter) -> Iterator[GivenAnswer]:
    """The answers that hold now and are wanted, the newest first."""
    last: dict[int, tuple[int, int, str | None]] = {}
    for stored in store.others((Answer.kind, Reference.kind)):
        if isinstance(stored.event, Answer | Reference):
            last[stored.event.round] = stored.number, stored.at, stored.event.by
    known = [state for state in store.answered() if state.state not in OPEN and state.round in last]
    for state in sorted(known, key=lambda one: -last[one.round][0]):
        _, at, by = last[state.round]
        if _takes(wanted, state, by):
            record = _record(store, projection, state, by, at)
            if _finds(wanted, record):
                yield record


def _takes(wanted: LabelFilter, known: RoundState, by: str | None) -> bool:
    """Whether an answer is wanted, as far as that is known without its item."""
    return (
        (wanted.label is None or (known.label is not None and str(known.label) == wanted.label))
        and (wanted.annotator is None or (by or "") == wanted.annotator)
        and (wanted.state is None or STATE_NAMES[known.state] == wanted.state)
    )


def _finds(wanted: LabelFilter, record: GivenAnswer) -> bool:
    """Whether the text that is searched for is there."""
    if wanted.search is None:
        return True
    text = f"{record.key or ''}\n{'' if record.item is None else json.dumps(record.item, ensure_ascii=False)}"
    return wanted.search.casefold() in text.casefold()


def _record(
    store: EventStore, projection: CampaignState, state: RoundState, by: str | None, at: int
) -> GivenAnswer:
    stored = store.item_of(state.round)
    models = projection.models_at(state.round) if isinstance(projection, Projection) else projection.models
    return GivenAnswer(
        id=state.round,
        key=stored.key,
        state=STATE_NAMES[state.state],
        label=state.label,
        by=by,
        at=as_time(at),
        item=stored.item,
        predictions=dict(zip(models, _said(store, state.round), strict=True)),
    )


def _said(store: EventStore, number: int) -> list[ClassName | None]:
    """What each model said of an item, in the order of the models."""
    event = store.round_event(number).event
    if not isinstance(event, Rounds | Items):
        return []
    names = [*event.classes, None]  # -1 is the last
    return [names[code] for code in event.codes[number - event.first].tolist()]


def as_table(records: Iterable[GivenAnswer]) -> tuple[list[str], list[dict[str, Any]]]:
    """Answers as the rows of a table: one column per field of the items and one per model."""
    found = list(records)
    fields = list(dict.fromkeys(f"item.{name}" for one in found for name in one.item or ()))
    models = list(dict.fromkeys(f"model.{model}" for one in found for model in one.predictions))
    rows = [
        {"id": one.id, "key": one.key, "label": one.label, "state": one.state, "annotator": one.by, "time": one.at}
        | {f"item.{name}": _cell(value) for name, value in (one.item or {}).items()}
        | {f"model.{model}": said for model, said in one.predictions.items()}
        for one in found
    ]
    return ["id", "key", "label", "state", "annotator", "time", *fields, *models], rows


def _cell(value: object) -> object:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value, ensure_ascii=False)
