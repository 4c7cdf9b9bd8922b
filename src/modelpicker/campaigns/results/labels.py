"""Every answer as people look through them: who gave it, when, to which item, and what each model said."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import OPEN, STATE_NAMES, EventStore, RoundState, Stored
from modelpicker.campaigns.events.event_types import Answer, Note, Reference, Rounds
from modelpicker.campaigns.events.history import as_time
from modelpicker.campaigns.events.pool_events import Items
from modelpicker.campaigns.results.pick import GivenAnswer, ItemNote, LabelFilter
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.state.projection import Projection
from modelpicker.encoding import ClassName


def find_labels(store: EventStore, projection: CampaignState, wanted: LabelFilter) -> Iterator[GivenAnswer]:
    """The answers that hold now and are wanted, the newest first."""
    last: dict[int, tuple[int, int, str | None]] = {}
    for stored in store.others((Answer.kind, Reference.kind)):
        if isinstance(stored.event, Answer | Reference):
            last[stored.event.round] = stored.number, stored.at, stored.event.by
    notes, flags = _notes_and_flags(store.notes())
    known = [state for state in store.answered() if state.state not in OPEN and state.round in last]
    if wanted.flagged:
        waiting = [state for state in store.waiting() if state.round in flags]
        last |= {state.round: (*flags[state.round], None) for state in waiting}
        known += waiting
    for state in sorted(known, key=lambda one: -last[one.round][0]):
        _, at, by = last[state.round]
        if _takes(wanted, state, by) and wanted.flagged in (None, state.round in flags):
            record = _record(store, projection, state, by, at, tuple(notes.get(state.round, ())))
            if _finds(wanted, record):
                yield record


def find_notes(store: EventStore, rounds: Iterable[int] | None = None) -> dict[int, list[ItemNote]]:
    """The notes that hold now, by round: the last one of each person, unless it is empty."""
    return _notes_and_flags(store.notes(rounds))[0]


def _notes_and_flags(found: Iterable[Stored]) -> tuple[dict[int, list[ItemNote]], dict[int, tuple[int, int]]]:
    """The notes that hold now, by round; and of rounds that are flagged, the last flag's event and time."""
    last: dict[tuple[int, str], tuple[Stored, ItemNote]] = {}
    for stored in found:
        match stored.event:
            case Note(round=number, text=text, flagged=flagged, by=by):
                note = ItemNote(number, text, flagged, by, as_time(stored.at))
                last.pop(mine := (number, person_of(by or "")), None)
                if text or flagged:
                    last[mine] = stored, note
    notes: dict[int, list[ItemNote]] = {}
    flags: dict[int, tuple[int, int]] = {}
    for stored, note in last.values():
        notes.setdefault(note.id, []).append(note)
        if note.flagged:
            flags[note.id] = stored.number, stored.at
    return notes, flags


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
    item = "" if record.item is None else json.dumps(record.item, ensure_ascii=False)
    text = "\n".join((record.key or "", item, *(note.text for note in record.notes)))
    return wanted.search.casefold() in text.casefold()


def _record(
    store: EventStore,
    projection: CampaignState,
    state: RoundState,
    by: str | None,
    at: int,
    notes: tuple[ItemNote, ...],
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
        notes=notes,
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
        | {"flagged": one.flagged, "note": "\n".join(note.text for note in one.notes if note.text)}
        | {f"item.{name}": _cell(value) for name, value in (one.item or {}).items()}
        | {f"model.{model}": said for model, said in one.predictions.items()}
        for one in found
    ]
    return ["id", "key", "label", "state", "annotator", "time", "flagged", "note", *fields, *models], rows


def _cell(value: object) -> object:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value, ensure_ascii=False)
