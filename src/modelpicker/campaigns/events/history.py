"""What happened in a campaign, as records that JSON can hold: the history, and what is exported and imported."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from modelpicker.algorithms.pacing import new_pace
from modelpicker.algorithms.validation import check_models
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import (
    Answer,
    Event,
    Joining,
    Leaving,
    Note,
    Opinion,
    Reference,
    Retraction,
    Revision,
    Rounds,
    Withdrawal,
    rounds_in,
)
from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.campaigns.events.feed_history import feed_event, feed_records
from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question
from modelpicker.campaigns.events.pool_history import POOL_KINDS, pool_event, pool_records, question_pair
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.input.labels import stored_label
from modelpicker.campaigns.input.rows import ClassCodes, encode_many
from modelpicker.campaigns.input.validation import check_item, check_key, check_note
from modelpicker.campaigns.names import check_name
from modelpicker.campaigns.setting_options import MOST_PEOPLE
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.feed import FeedState
from modelpicker.campaigns.state.projection import ModelChange, members
from modelpicker.campaigns.terms import check_changes
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, StorageError, brief
from modelpicker.kernels.primitives import NOT_RUN
from modelpicker.label import as_document

HistoryRecord: TypeAlias = dict[str, Any]
"""An event, or one round of it: `event`, `at`, `kind`, `id` or `round`, and what is particular to its kind."""

ASK = "ask"
ANSWERS = (Question.kind, Answer.kind, Opinion.kind, Withdrawal.kind, Reference.kind, Retraction.kind, Note.kind)
# Records of answers, which streams and pools both have.
ANSWERED = ("label", "skip", "opinion", "withdraw", "reference", "retract")


def as_time(microseconds: int) -> str:
    """A time as ISO 8601 has it, in UTC, to the microsecond."""
    seconds, rest = divmod(microseconds, 10**6)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest).isoformat(timespec="microseconds")


def from_time(text: str) -> int:
    """Microseconds since 1970."""
    moment = datetime.fromisoformat(text)
    return int(moment.replace(microsecond=0).timestamp()) * 10**6 + moment.microsecond


def records_of(
    events: Iterable[Stored], settings: CampaignSettings, before: Iterable[ModelChange] = ()
) -> Iterator[HistoryRecord]:
    """The records of events in order; `before` are the models that joined or left before the first of them."""
    changes: list[ModelChange] = list(before)
    for stored in events:
        yield from _records(stored, members(settings, changes))
        if isinstance(stored.event, Joining | Leaving):
            changes.append(stored.event)


def records_of_round(store: EventStore, settings: CampaignSettings, number: int) -> Iterator[HistoryRecord]:
    """What happened to one round, in order."""
    found = [stored.event for stored in store.others((Joining.kind, Leaving.kind))]
    models = members(settings, [event for event in found if isinstance(event, Joining | Leaving)], number)
    for stored in (store.round_event(number), store.fields_event(number)):
        if stored is not None:
            yield next(record for record in _records(stored, models) if record["id"] == number)
    for stored in store.others(ANSWERS, number):
        yield from _records(stored, models)


def _records(stored: Stored, models: Sequence[ModelName]) -> Iterator[HistoryRecord]:
    """The records of one event, whose rounds had these models."""
    head: HistoryRecord = {"event": stored.number, "at": as_time(stored.at)}
    match stored.event:
        case Rounds() as rounds:
            yield from _rounds(head, rounds, models)
        case Items() | ItemFields() | Question() as event:
            yield from pool_records(head, event, models)
        case FeedItems() | FeedTaken() as event:
            yield from feed_records(head, event)
        case Answer() | Opinion() | Withdrawal() | Reference() | Retraction() | Note() as said:
            yield {**head, **_said(said)}
        case Joining(round=number, model=model, heir_of=heir_of):
            yield {**head, "kind": "join", "round": number, "model": model, "heir_of": heir_of}
        case Leaving(round=number, model=model):
            yield {**head, "kind": "leave", "round": number, "model": model}
        case Revision(round=number, changes=changes, by=by):
            yield {**head, "kind": "revise", "round": number, "changes": dict(changes), "by": by}


def _said(event: Answer | Opinion | Withdrawal | Reference | Retraction | Note) -> HistoryRecord:
    """What somebody said about a round, noted about it, or took back."""
    match event:
        case Answer(round=number, label=label, by=by, replaces=replaces, of_opinions=of_opinions):
            said = (
                {"kind": "skip", "id": number}
                if label is None
                else {"kind": "label", "id": number, "label": as_document(label)}
            )
            return {**said, "by": by, "replaces": replaces, **({"of_opinions": True} if of_opinions else {})}
        case Opinion(round=number, label=label, by=by, needed=needed, replaces=replaces):
            said = {"kind": "opinion", "id": number, "label": as_document(label)}
            return {**said, "by": by, "needed": needed, "replaces": replaces}
        case Withdrawal(round=number, whose=whose, by=by):
            return {"kind": "withdraw", "id": number, "whose": whose, "by": by}
        case Reference(round=number, label=label, by=by, replaces=replaces):
            return {"kind": "reference", "id": number, "label": as_document(label), "by": by, "replaces": replaces}
        case Retraction(round=number, by=by, reference=reference):
            return {"kind": "retract", "id": number, "by": by, "reference": reference}
        case Note(round=number, text=text, flagged=flagged, by=by):
            return {"kind": Note.kind, "id": number, "text": text, "flagged": flagged, "by": by}


def _rounds(head: HistoryRecord, rounds: Rounds, models: Sequence[ModelName]) -> Iterator[HistoryRecord]:
    names = [*rounds.classes, NOT_RUN, None]  # -1 is the last
    last = rounds.first + len(rounds) - 1
    for place, codes in enumerate(rounds.codes.tolist()):
        number = rounds.first + place
        record = {
            **head,
            "kind": ASK,
            "id": number,
            "key": rounds.key(number),
            "item": copy.deepcopy(rounds.item(number)),
            "predictions": [names[code] for code in codes],
            "query": bool(rounds.queried[place]),
            "probability": float(rounds.probability[place]),
            "prediction": names[int(rounds.predicted[place])],
            "recommended": models[int(rounds.recommended[place])],
        }
        if (pair := rounds.pair(number)) is not None:
            record["pair"] = list(pair)
        yield record | {"pace": list(rounds.pace)} if number == last else record


def events_of(records: Iterable[HistoryRecord], settings: CampaignSettings) -> Iterator[Stored]:
    """The events that records stand for, checked."""
    changes: list[ModelChange] = []
    feed = FeedState()
    rounds = 0
    for expected, (number, group) in enumerate(groupby(records, key=lambda record: record.get("event")), start=1):
        together = list(group)
        if number != expected:
            raise InputError(
                f"event {brief(number)} comes where event {expected} was expected; records are missing."
            )
        try:
            event = _event(together, settings, changes, rounds)
            at = from_time(together[0]["at"])
            feed.follow(event)
        except (InputError, StorageError) as error:
            raise InputError(f"event {expected}: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise InputError(f"event {expected} cannot be read: {error!r}.") from error
        if isinstance(event, Joining | Leaving):
            changes.append(event)
        rounds += rounds_in(event)
        yield Stored(expected, at, event)


def _event(
    records: list[HistoryRecord], settings: CampaignSettings, changes: list[ModelChange], rounds: int
) -> Event:
    """One event from its records."""
    record = records[0]
    models = members(settings, changes)
    if record["kind"] in (*ANSWERED, Note.kind):
        return _answer(record, settings, rounds)
    if record["kind"] == "revise":
        return _revision(record, settings, rounds)
    if (settings.pool is not None) != (record["kind"] in POOL_KINDS):
        raise InputError(f"events of kind {brief(record['kind'])} do not go with such a campaign.")
    match record["kind"]:
        case "ask":
            return _asked(records, models, settings, rounds)
        case "item" | "fields" | "question":
            return pool_event(records, models, settings, rounds)
        case "feed" | "fed":
            return feed_event(records, models, settings, rounds)
        case "join" | "leave":
            return _model_change(record, models, rounds)
        case other:
            raise InputError(f"there are no events of kind {brief(other)}.")


def _model_change(record: HistoryRecord, models: Sequence[ModelName], rounds: int) -> ModelChange:
    """A model that joined or left."""
    model = record["model"]
    if record["kind"] == "join":
        if model in models or record["heir_of"] not in models or record["round"] != rounds:
            raise InputError(f"{brief(model)} cannot join there as the heir of {brief(record['heir_of'])}.")
        check_models([*models, model])
        return Joining(rounds, model, record["heir_of"])
    if model not in models or len(models) == 2 or record["round"] != rounds:
        raise InputError(f"{brief(model)} cannot leave there.")
    return Leaving(rounds, model)


def _revision(record: HistoryRecord, settings: CampaignSettings, rounds: int) -> Revision:
    """Settings that hold from there on, or a new name; what was spent by then is checked at the end."""
    given = dict(record["changes"])
    name = given.pop("name", None)
    if name is not None:
        check_name(name)
    checked = check_changes(settings, given, 0)
    return Revision(rounds, checked if name is None else {**checked, "name": name}, check_key(record["by"], "by"))


def _answer(record: HistoryRecord, settings: CampaignSettings, rounds: int) -> Event:
    """A label, a skip, a reference, or one taken back; or a note."""
    number, by = record["id"], check_key(record["by"], "by")
    if type(number) is not int or not 0 <= number < rounds:
        raise InputError(f"there is no round {brief(number)} so far.")
    if record["kind"] == Note.kind:
        return Note(number, *check_note(record["text"], record["flagged"]), by)
    if record["kind"] == "retract":
        return Retraction(number, by, record["reference"] is True)
    if record["kind"] == "withdraw":
        return Withdrawal(number, check_key(record["whose"], "whose"), by)
    if record["kind"] == "opinion":
        return _opinion(record, settings, number, by)
    of_opinions = record.get("of_opinions") is True
    if record["kind"] == "skip":
        return Answer(number, None, by, record["replaces"] is True, of_opinions)
    label = stored_label(record["label"], settings, number, reference=record["kind"] == "reference")
    if label is None:
        raise InputError(f"the label of {number} is missing.")
    if record["kind"] == "reference":
        return Reference(number, label, by, record["replaces"] is True)
    return Answer(number, label, by, record["replaces"] is True, of_opinions)


def _opinion(record: HistoryRecord, settings: CampaignSettings, number: int, by: str | None) -> Opinion:
    """What one of several people said."""
    needed, label = record["needed"], record["label"]
    if type(needed) is not int or not 2 <= needed <= MOST_PEOPLE:
        raise InputError(f"round {number} cannot have needed {brief(needed)} people.")
    if label is not None:
        label = stored_label(label, settings, number)
    return Opinion(number, label, by, needed, record["replaces"] is True)


def _asked(
    records: list[HistoryRecord], models: Sequence[ModelName], settings: CampaignSettings, first: int
) -> Rounds:
    """The rounds that were decided together."""
    if [record["id"] for record in records] != list(range(first, first + len(records))):
        raise InputError(f"round {first} was expected; records are missing or out of order.")
    rows = encode_many([record["predictions"] for record in records], models, ClassCodes(settings.classes))
    place = {name: code for code, name in enumerate(rows.classes)}
    said = [record["prediction"] for record in records]
    items = [check_item(record["item"]) for record in records]
    keys = [check_key(record["key"]) for record in records]
    pace = np.array(records[-1]["pace"], dtype=np.float64)
    if pace.shape != new_pace().shape or not np.isfinite(pace).all() or (pace < 0.0).any():
        raise InputError(f"pace {brief(records[-1]['pace'])} is none.")
    return Rounds(
        first=first,
        codes=rows.codes,
        classes=rows.classes,
        queried=np.array([record["query"] is True for record in records], dtype=np.bool_),
        probability=np.array([_chance(record) for record in records]),
        recommended=np.array([models.index(record["recommended"]) for record in records], dtype=np.int32),
        predicted=np.array([-1 if name is None else place[name] for name in said], dtype=np.int32),
        items=items if any(item is not None for item in items) else None,
        keys=keys if any(key is not None for key in keys) else None,
        pace=pace.tolist(),
        settings=settings.checksum,
        pairs=[_pair(record, settings) for record in records] if settings.ask_for == "preference" else None,
    )


def _pair(record: HistoryRecord, settings: CampaignSettings) -> list[ClassName] | None:
    """The answers that somebody was to compare in a round: there are some if it was queried."""
    pair = question_pair(record, settings, record["query"] is True)
    if pair is not None and not set(pair) <= set(record["predictions"]):
        raise InputError(f"round {record['id']}: {brief(record['pair'])} are not answers of models.")
    return pair


def _chance(record: HistoryRecord) -> float:
    """A query probability: above 0 if there was a query."""
    chance = record["probability"]
    if type(chance) not in (int, float) or not 0.0 <= chance <= 1.0 or (record["query"] is True and chance == 0.0):
        raise InputError(f"round {record['id']}: {brief(chance)} is not the probability of its query.")
    return float(chance)
