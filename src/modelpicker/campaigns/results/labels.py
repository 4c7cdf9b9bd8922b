"""Every answer as people look through them: who gave it, when, to which item, and what each model said."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Note, Opinion, Reference, Rounds
from modelpicker.campaigns.events.history import ANSWERED, HistoryRecord, as_time
from modelpicker.campaigns.events.pool_events import Items
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.events.round_states import CONFLICT, OPEN, STATE_NAMES, UNANSWERED, RoundState
from modelpicker.campaigns.results.pick import Conflict, GivenAnswer, GivenOpinion, ItemNote, LabelFilter
from modelpicker.campaigns.setting_options import OverlapRule
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.state.projection import Projection
from modelpicker.encoding import ClassName
from modelpicker.label import AnyLabel, Label, classes_of, label_text, read_label


def find_labels(store: EventStore, projection: CampaignState, wanted: LabelFilter) -> Iterator[GivenAnswer]:
    """The answers that hold now and are wanted, the newest first."""
    last: dict[int, tuple[int, int, str | None]] = {}
    for stored in store.others((Answer.kind, Opinion.kind, Reference.kind)):
        if isinstance(stored.event, Answer | Opinion | Reference):
            last[stored.event.round] = stored.number, stored.at, stored.event.by
    notes, flags = _notes_and_flags(store.notes())
    several = _all_opinions(store)
    known = {
        state.round: state
        for state in store.answered()
        if state.round in last and (state.state not in OPEN or state.round in several)
    }
    if wanted.flagged:
        waiting = {state.round: state for state in store.answered(*UNANSWERED) if state.round in flags}
        last |= {number: (*flags[number], None) for number in waiting if number not in known}
        known = waiting | known
    for state in sorted(known.values(), key=lambda one: -last[one.round][0]):
        _, at, by = last[state.round]
        opinions = several.get(state.round, ())
        if _takes(wanted, state, by, opinions) and wanted.flagged in (None, state.round in flags):
            noted = tuple(notes.get(state.round, ()))
            record = _record(store, projection, state, by, at, noted, opinions)
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
                last.pop(mine := (number, person_of(by)), None)
                if text or flagged:
                    last[mine] = stored, note
    notes: dict[int, list[ItemNote]] = {}
    flags: dict[int, tuple[int, int]] = {}
    for stored, note in last.values():
        notes.setdefault(note.id, []).append(note)
        if note.flagged:
            flags[note.id] = stored.number, stored.at
    return notes, flags


def _all_opinions(store: EventStore) -> dict[int, tuple[GivenOpinion, ...]]:
    """What people say about each item that several people label, in the order in which they said it."""
    return _given(store, {(number, one.person) for number, one in store.all_opinions()})


def _given(
    store: EventStore, standing: set[tuple[int, str]], number: int | None = None
) -> dict[int, tuple[GivenOpinion, ...]]:
    """The opinions that stand, with their times."""
    last: dict[tuple[int, str], GivenOpinion] = {}
    for stored in store.others((Opinion.kind,), number) if standing else ():
        if isinstance(stored.event, Opinion):
            key = stored.event.round, person_of(stored.event.by)
            last.pop(key, None)
            last[key] = GivenOpinion(stored.event.by, stored.event.label, as_time(stored.at))
    found: dict[int, tuple[GivenOpinion, ...]] = {}
    for (item, person), opinion in last.items():
        if (item, person) in standing:
            found[item] = (*found.get(item, ()), opinion)
    return found


def opinions_of(store: EventStore, number: int) -> tuple[GivenOpinion, ...]:
    """What people say about one item, in the order in which they said it."""
    standing = {(number, one.person) for one in store.opinions(number)}
    return _given(store, standing, number).get(number, ())


def is_settled(history: Iterable[HistoryRecord], said: Sequence[GivenOpinion], rule: OverlapRule) -> bool:
    """Whether the label of an item is not what its opinions came to: somebody settled it, or corrected it."""
    answers = [record for record in history if record["kind"] in ANSWERED]
    if not answers or answers[-1]["kind"] not in ("label", "skip"):
        return False
    by, label = answers[-1]["by"], read_label(answers[-1].get("label"))
    alike = sum(one.label == label for one in said)
    agreed = alike == len(said) if rule == "all" else 2 * alike > len(said)
    return person_of(by) not in {person_of(one.by) for one in said} or not agreed


def find_conflicts(store: EventStore) -> list[Conflict]:
    """The items on which people disagree, in the order of the items."""
    several = _all_opinions(store)
    found = []
    for state in list(store.answered(CONFLICT)):
        stored = store.item_of(state.round)
        found.append(Conflict(state.round, stored.key, stored.item, several.get(state.round, ())))
    return found


def _takes(wanted: LabelFilter, known: RoundState, by: str | None, opinions: Sequence[GivenOpinion]) -> bool:
    """Whether an answer is wanted, as far as that is known without its item."""
    signed = {by or "", *(one.by or "" for one in opinions)}
    people = signed | {person_of(one) for one in signed}  # of all their tabs
    labels = {known.label, *(one.label for one in opinions if known.state in OPEN)}
    return (
        (
            wanted.label is None
            or wanted.label in {text for label in labels if label is not None for text in _texts(label)}
        )
        and (wanted.annotator is None or wanted.annotator in people)
        and (wanted.state is None or STATE_NAMES[known.state] == wanted.state)
    )


def _texts(label: AnyLabel) -> set[str]:
    """What a label can be found by: its class, each of its classes, or the whole of it as JSON."""
    return {label_text(label), *map(str, classes_of(label))}


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
    opinions: tuple[GivenOpinion, ...],
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
        opinions=opinions,
    )


def _said(store: EventStore, number: int) -> list[ClassName | None]:
    """What each model said about an item, in the order of the models."""
    event = store.round_event(number).event
    if not isinstance(event, Rounds | Items):
        return []
    names = [*event.classes, None, None]  # -1 and -2: no answer
    return [names[code] for code in event.codes[number - event.first].tolist()]


def as_table(records: Iterable[GivenAnswer]) -> tuple[list[str], list[dict[str, Any]]]:
    """Answers as the rows of a table: one column per field of the items and one per model.

    Where several people label items, what each of them said is in one more column, as JSON.
    """
    found = list(records)
    several = ["opinions"] if any(one.opinions for one in found) else []
    fields = list(dict.fromkeys(f"item.{name}" for one in found for name in one.item or ()))
    models = list(dict.fromkeys(f"model.{model}" for one in found for model in one.predictions))
    rows = [
        {
            "id": one.id,
            "key": one.key,
            "label": label_cell(one.label),
            "state": one.state,
            "annotator": one.by,
            "time": one.at,
        }
        | {"flagged": one.flagged, "note": "\n".join(note.text for note in one.notes if note.text)}
        | {name: _cell([asdict(opinion) for opinion in one.opinions]) for name in several}
        | {f"item.{name}": _cell(value) for name, value in (one.item or {}).items()}
        | {f"model.{model}": said for model, said in one.predictions.items()}
        for one in found
    ]
    return ["id", "key", "label", "state", "annotator", "time", "flagged", "note", *several, *fields, *models], rows


def label_cell(label: AnyLabel | None) -> ClassName | None:
    """A label in a table: a class as it is, all others as JSON."""
    return label_text(label) if isinstance(label, Label) else label


def _cell(value: object) -> object:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value, ensure_ascii=False)
