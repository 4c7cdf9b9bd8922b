"""A campaign's events in a storage, and the tables that are found from them: all SQL about campaigns is here."""

import copy
import json
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from modelpicker.campaigns.annotators import person_of
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
    decode,
    encode,
    seal,
    unseal,
)
from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.campaigns.events.opinion_store import OpinionStore, StoredOpinion, unanswered_by
from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.storage.schema import answers, campaigns, events, keys, snapshots
from modelpicker.campaigns.storage.statements import Prepared
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError, NotFoundError, StorageError, brief

# States of an answer. Waiting queries have none yet, and those that were withdrawn need none, as the campaign is
# finished; references are labels of rounds that were never queried; of a round in conflict people said different
# things.
WAITING, LABELLED, SKIPPED, REFERENCE, WITHDRAWN, CONFLICT = range(6)
STATE_NAMES = ("waiting", "labelled", "skipped", "reference", "withdrawn", "conflict")
UNANSWERED = (WAITING, WITHDRAWN)
OPEN = (*UNANSWERED, CONFLICT)
# Keys that are looked for at once: SQLite takes some 32,000 variables.
KEYS_AT_ONCE = 10_000
# Events that are read at once, and the bytes that they may have: one may have ten thousand rounds.
PAGE = 2_000
PAGE_BYTES = 2**24
# Decoded rounds that are kept: events, and their bytes as they are stored.
RECENT = 32
RECENT_BYTES = 2**22


class Head(NamedTuple):
    """How far a campaign has come."""

    events: int
    rounds: int
    rebuilt: int


class Stored(NamedTuple):
    """An event with its number and its time, in microseconds since 1970."""

    number: int
    at: int
    event: Event


class RoundState(NamedTuple):
    """What is known of a round that was queried or answered."""

    round: int
    state: int
    label: ClassName | None
    leased_until: float | None
    leased_by: str | None


class StoredItem(NamedTuple):
    """What is stored of the item of a round."""

    item: Item | None
    key: str | None
    classes: tuple[ClassName, ...]
    """What models say of it."""


_MINE = {table.name: table.c.campaign == sa.bindparam("mine") for table in (events, answers, keys, snapshots)}
_EVENT = sa.select(events.c.number, events.c.at, events.c.kind, events.c.round, events.c.body).where(
    _MINE["events"]
)
_STATE = sa.select(
    answers.c.round,
    answers.c.state,
    answers.c.label,
    answers.c.leased_until,
    answers.c.leased_by,
).where(_MINE["answers"])
_head = sa.select(campaigns.c.events, campaigns.c.rounds, campaigns.c.rebuilt).where(
    campaigns.c.id == sa.bindparam("mine")
)
_HEAD = Prepared(_head)
_LOCKED_HEAD = Prepared(_head.with_for_update())
_MOVE = Prepared(
    sa.update(campaigns)
    .where(campaigns.c.id == sa.bindparam("mine"))
    .values(
        events=sa.bindparam("new_events"), rounds=sa.bindparam("new_rounds"), rebuilt=sa.bindparam("new_rebuilt")
    )
)
_ADD_EVENT = Prepared(sa.insert(events))
_ADD_ANSWER = Prepared(sa.insert(answers))
_ADD_KEY = Prepared(sa.insert(keys))
_KEY = Prepared(sa.select(keys.c.round).where(_MINE["keys"], keys.c.key == sa.bindparam("wanted")))
_PAGE = Prepared(
    _EVENT.where(events.c.number > sa.bindparam("after"), events.c.number <= sa.bindparam("upto"))
    .order_by(events.c.number)
    .limit(PAGE)
)
_SIZES = Prepared(
    sa.select(events.c.number, sa.func.length(events.c.body))
    .where(_MINE["events"], events.c.number > sa.bindparam("after"), events.c.number <= sa.bindparam("upto"))
    .order_by(events.c.number)
    .limit(PAGE)
)
_OF_ROUND = Prepared(
    _EVENT.where(events.c.kind == sa.bindparam("wanted_kind"), events.c.round <= sa.bindparam("wanted"))
    .order_by(events.c.round.desc())
    .limit(1)
)
_STATE_OF = Prepared(_STATE.where(answers.c.round == sa.bindparam("wanted")))
_SET_ANSWER = Prepared(
    sa.update(answers)
    .where(_MINE["answers"], answers.c.round == sa.bindparam("wanted"))
    .values(state=sa.bindparam("new_state"), label=sa.bindparam("new_label"))
)
_LEASE = Prepared(
    sa.update(answers)
    .where(_MINE["answers"], answers.c.round == sa.bindparam("wanted"))
    .values(leased_until=sa.bindparam("until"), leased_by=sa.bindparam("by"))
)
_SNAPSHOT = Prepared(sa.select(snapshots.c.body).where(_MINE["snapshots"]))
_KEEP = Prepared(sa.update(snapshots).where(_MINE["snapshots"]).values(body=sa.bindparam("new_body")))
_ADD_SNAPSHOT = Prepared(sa.insert(snapshots))
_NEW = {"label": None, "leased_until": None, "leased_by": None, "asked": None}


class Recent:
    """Rounds that were decoded last: queries of one batch are answered one after the other."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[Stored, int]] = OrderedDict()
        self.size = 0
        """The bytes of all of them, as they are stored."""

    def find(self, number: int, kind: type[Rounds | Items | ItemFields | FeedItems]) -> Stored | None:
        """The event with a round, if it was met lately."""
        for stored, _ in reversed(self._kept.values()):
            event = stored.event
            if isinstance(event, kind) and event.first <= number < event.first + len(event):
                return stored
        return None

    def keep(self, stored: Stored, size: int) -> Stored:
        """Remember an event, and forget the oldest."""
        self._forget(stored.number)
        self._kept[stored.number] = stored, size
        self.size += size
        while len(self._kept) > RECENT or (self.size > RECENT_BYTES and len(self._kept) > 1):
            self._forget(next(iter(self._kept)))
        return stored

    def _forget(self, number: int) -> None:
        _, size = self._kept.pop(number, (None, 0))
        self.size -= size


class EventStore:
    """The events of one campaign, within a transaction."""

    def __init__(self, connection: sa.Connection, campaign: int, recent: Recent | None = None) -> None:
        self.connection = connection
        self.campaign = campaign
        self.recent = recent or Recent()

    def head(self, *, lock: bool = False) -> Head:
        """How far the campaign has come; with `lock`, nobody else moves it until the transaction ends."""
        row = (_LOCKED_HEAD if lock else _HEAD).run(self.connection, {"mine": self.campaign}).fetchone()
        if row is None:
            raise NotFoundError("the campaign is no longer in its storage.")
        try:
            return Head(*map(int, row))
        except (TypeError, ValueError) as error:
            raise StorageError(
                f"the campaign's row is damaged: {brief(tuple(row))}; bring back a backup."
            ) from error

    def move(self, head: Head) -> None:
        """Note how far the campaign has come."""
        _MOVE.run(
            self.connection,
            {
                "mine": self.campaign,
                "new_events": head.events,
                "new_rounds": head.rounds,
                "new_rebuilt": head.rebuilt,
            },
        )

    def rename(self, name: str) -> None:
        """Call the campaign something else."""
        if find_campaign(self.connection, name) is not None:
            raise ConflictError(f"there is a campaign {name!r} already; choose another name.")
        mine = sa.update(campaigns).where(campaigns.c.id == self.campaign)
        self.connection.execute(mine.values(name=name))

    def add(self, number: int, at: int, event: Event) -> None:
        """Store an event, and keep the tables that are found from events up to it."""
        first = event.first if isinstance(event, Rounds | Items | ItemFields | FeedItems) else event.round
        _ADD_EVENT.run(
            self.connection,
            {
                "campaign": self.campaign,
                "number": number,
                "kind": event.kind,
                "round": first,
                "at": at,
                "body": encode(event, number, at),
            },
        )
        self.index(event)

    def index(self, event: Event) -> None:
        """Bring the tables that are found from events up to this one."""
        match event:
            case Rounds():
                self._index_rounds(event)
            case ItemFields():
                self._index_keys(event.first, event.keys)
            case Question():
                values = {"campaign": self.campaign, "round": event.round, "state": WAITING}
                _ADD_ANSWER.run(self.connection, {**_NEW, **values, "asked": event.number})
            case Answer():
                self._set_answer(event.round, SKIPPED if event.label is None else LABELLED, event.label)
            case Opinion() | Withdrawal():
                self._index_opinion(event)
            case Reference():
                self._set_reference(event)
            case Retraction():
                self._retract(event.round)
            case Revision():
                self._withdraw(event)
            case Joining() | Leaving() | Items() | FeedItems() | FeedTaken() | Note():
                pass

    def _index_rounds(self, event: Rounds) -> None:
        """Queries wait for an answer; keys lead to their rounds."""
        waiting = [
            {
                **_NEW,
                "campaign": self.campaign,
                "round": event.first + place,
                "state": WAITING,
            }
            for place in event.queried.nonzero()[0].tolist()
        ]
        if waiting:
            _ADD_ANSWER.run_many(self.connection, waiting)
        self._index_keys(event.first, event.keys)

    def _index_keys(self, first: int, given: list[str | None] | None) -> None:
        known = [
            {"campaign": self.campaign, "key": key, "round": first + place}
            for place, key in enumerate(given or ())
            if key is not None
        ]
        if known:
            _ADD_KEY.run_many(self.connection, known)

    def _set_answer(self, number: int, state: int, label: ClassName | None) -> None:
        values = {"new_state": state, "new_label": None if label is None else json.dumps(label)}
        _SET_ANSWER.run(self.connection, {"mine": self.campaign, "wanted": number, **values})

    @property
    def _opinions(self) -> OpinionStore:
        return OpinionStore(self.connection, self.campaign)

    def opinions(self, number: int) -> list[StoredOpinion]:
        """What people say of a round that several people label."""
        return self._opinions.of(number)

    def all_opinions(self) -> list[tuple[int, StoredOpinion]]:
        """What people say of all rounds that several people label, in the order of the rounds."""
        return self._opinions.all()

    def _index_opinion(self, event: Opinion | Withdrawal) -> None:
        """A person's lease ends with their opinion; opinions that differ, once all are in, are a conflict."""
        if isinstance(event, Withdrawal):
            self._opinions.drop(event)
            self._open_again(event.round)
            return
        self._opinions.set(event)
        found = [one.label for one in self.opinions(event.round)]
        alike = all(type(label) is type(found[0]) and label == found[0] for label in found)
        known = self.state(event.round)
        still = WITHDRAWN if known is not None and known.state == WITHDRAWN else WAITING
        self._set_answer(event.round, still if alike or len(found) < event.needed else CONFLICT, None)
        if known is not None and known.leased_by is not None and person_of(known.leased_by) == person_of(event.by):
            self.lease([event.round], None, None)

    def _open_again(self, number: int) -> None:
        """An opinion is missing again; if there was an answer, the next event takes it back."""
        known = self.state(number)
        if known is not None and known.state == CONFLICT:
            self._set_answer(number, WITHDRAWN if self._finished() else WAITING, None)

    def _set_reference(self, event: Reference) -> None:
        self._forget(event.round)
        _ADD_ANSWER.run(
            self.connection,
            {
                **_NEW,
                "campaign": self.campaign,
                "round": event.round,
                "state": REFERENCE,
                "label": json.dumps(event.label),
            },
        )

    def _retract(self, number: int) -> None:
        found = self.state(number)
        if found is not None and found.state == REFERENCE:
            self._forget(number)
        else:
            self._set_answer(number, WITHDRAWN if self._finished() else WAITING, None)
            self.lease([number], None, None)

    def _withdraw(self, event: Revision) -> None:
        """Withdraw the queries that wait if the result is taken, or bring them back."""
        if "finished" not in event.changes:
            return
        before, after = (WAITING, WITHDRAWN) if event.changes["finished"] else (WITHDRAWN, WAITING)
        mine = sa.update(answers).where(answers.c.campaign == self.campaign, answers.c.state == before)
        self.connection.execute(mine.values(state=after))

    def _finished(self) -> bool:
        """Whether somebody took the result."""
        found = [stored.event for stored in self.others((Revision.kind,))]
        said = [
            event.changes["finished"]
            for event in found
            if isinstance(event, Revision) and "finished" in event.changes
        ]
        return bool(said and said[-1])

    def _forget(self, number: int) -> None:
        self.connection.execute(
            sa.delete(answers).where(answers.c.campaign == self.campaign, answers.c.round == number)
        )

    def lease(self, rounds: Sequence[int], until: float | None, by: str | None) -> None:
        """Give queries to an annotator for a while, or to nobody."""
        values = {"mine": self.campaign, "until": until, "by": by}
        _LEASE.run_many(self.connection, [{**values, "wanted": number} for number in rounds])

    def waiting(self, most: int | None = None, *, pool: bool = False) -> list[RoundState]:
        """Queries that wait for an answer, oldest first: of a pool, in the order in which they were asked."""
        return self._waiting(most, pool)

    def waiting_for(self, by: str | None, most: int, *, pool: bool = False) -> list[RoundState]:
        """Those that a person has not answered, leased or not."""
        return self._waiting(most, pool, unanswered_by(by))

    def waiting_from(self, first: int) -> set[int]:
        """Which rounds wait for a label, from that one on."""
        return {state.round for state in self._waiting(None, False, answers.c.round >= first)}

    def free(self, now: float, by: str | None, most: int, *, pool: bool = False) -> list[RoundState]:
        """Those that nobody else has leased, and that this person has not answered."""
        free = sa.or_(answers.c.leased_until.is_(None), answers.c.leased_until <= now)
        mine = free if by is None else sa.or_(free, answers.c.leased_by == by)
        return self._waiting(most, pool, mine, unanswered_by(by))

    def _waiting(self, most: int | None, pool: bool, *conditions: sa.ColumnElement[bool]) -> list[RoundState]:
        order = answers.c.asked if pool else answers.c.round
        statement = _STATE.where(answers.c.state == WAITING, *conditions).order_by(order).limit(most)
        return [_state(row) for row in self.connection.execute(statement, {"mine": self.campaign})]

    def state(self, number: int) -> RoundState | None:
        """What is known of a round; None if it was neither queried nor answered."""
        row = _STATE_OF.run(self.connection, {"mine": self.campaign, "wanted": number}).fetchone()
        return None if row is None else _state(row)

    def tally(self) -> Counter[int]:
        """How many rounds are in each state, of those that were queried or answered."""
        statement = (
            sa.select(answers.c.state, sa.func.count())
            .where(answers.c.campaign == self.campaign)
            .group_by(answers.c.state)
        )
        return Counter({int(row[0]): int(row[1]) for row in self.connection.execute(statement)})

    def labels_said(self) -> list[ClassName]:
        """The different labels that there are."""
        statement = sa.select(answers.c.label).where(answers.c.campaign == self.campaign).distinct()
        return [json.loads(label) for (label,) in self.connection.execute(statement) if label is not None]

    def questions(self) -> Iterator[tuple[int, int]]:
        """The questions of a pool in the order in which they were asked: the state of each, and its item."""
        statement = sa.select(answers.c.state, answers.c.round).where(
            answers.c.campaign == self.campaign, answers.c.asked.is_not(None)
        )
        yield from (
            (int(state), int(item)) for state, item in self.connection.execute(statement.order_by(answers.c.asked))
        )

    def labels_since(self, first: int) -> int:
        """How many labels there are of rounds from `first` on."""
        statement = sa.select(sa.func.count()).where(
            answers.c.campaign == self.campaign, answers.c.state == LABELLED, answers.c.round >= first
        )
        return int(self.connection.execute(statement).scalar_one())

    def round_of(self, key: str) -> int | None:
        """The round that was asked with a key."""
        row = _KEY.run(self.connection, {"mine": self.campaign, "wanted": key}).fetchone()
        return None if row is None else int(row[0])

    def rounds_of(self, wanted: Iterable[str]) -> dict[str, int]:
        """The rounds of those keys that are known."""
        listed = list(wanted)
        found: dict[str, int] = {}
        for start in range(0, len(listed), KEYS_AT_ONCE):
            some = listed[start : start + KEYS_AT_ONCE]
            statement = sa.select(keys.c.key, keys.c.round).where(
                keys.c.campaign == self.campaign, keys.c.key.in_(some)
            )
            found.update((row.key, row.round) for row in self.connection.execute(statement))
        return found

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Stored]:
        """Events in order; memory for a page at a time."""
        last = self.head().events if upto is None else upto
        while after < last:
            for stored in self.page(after, last):
                yield stored
                after = stored.number

    def page(self, after: int, upto: int) -> list[Stored]:
        """Some events in order, at least one."""
        values = {"mine": self.campaign, "after": after, "upto": upto}
        size, last = 0, upto
        for number, length in _SIZES.run(self.connection, values).fetchall():
            size += length
            if size > PAGE_BYTES:
                last = number
                break
        page = _PAGE.run(self.connection, {**values, "upto": last}).fetchall()
        found = []
        for place, row in enumerate(page):
            if row[0] != after + 1 + place:
                break
            found.append(_stored(row))
        if len(found) < max(1, len(page)):
            raise StorageError(f"event {after + 1 + len(found)} of the campaign is missing; bring back a backup.")
        return found

    def others(
        self, kinds: Sequence[str], number: int | None = None, after: int = 0, upto: int | None = None
    ) -> Iterator[Stored]:
        """Events of some kinds, or only those about one round."""
        statement = _EVENT.where(events.c.kind.in_(kinds), events.c.number > after)
        if number is not None:
            statement = statement.where(events.c.round == number)
        if upto is not None:
            statement = statement.where(events.c.number <= upto)
        for row in self.connection.execute(statement.order_by(events.c.number), {"mine": self.campaign}):
            yield _stored(row)

    def notes(self, rounds: Iterable[int] | None = None) -> Iterator[Stored]:
        """What was noted, in order: about some rounds, or about any."""
        statement = _EVENT.where(events.c.kind == Note.kind)
        if rounds is not None:
            statement = statement.where(events.c.round.in_(list(rounds)))
        for row in self.connection.execute(statement.order_by(events.c.number), {"mine": self.campaign}):
            yield _stored(row)

    def round_event(self, number: int) -> Stored:
        """The event in which a round was decided."""
        found = self._event_with(number, Rounds) or self._event_with(number, Items)
        if found is None:
            raise NotFoundError(f"there is no round {number} in this campaign.")
        return found

    def _event_with(self, number: int, kind: type[Rounds | Items | ItemFields | FeedItems]) -> Stored | None:
        """The event of a kind that a round came with."""
        recent = self.recent.find(number, kind)
        if recent is not None:
            return recent
        values = {"mine": self.campaign, "wanted": number, "wanted_kind": kind.kind}
        row = _OF_ROUND.run(self.connection, values).fetchone()
        if row is not None:
            stored = _stored(row)
            if isinstance(stored.event, kind) and number < stored.event.first + len(stored.event):
                return self.recent.keep(stored, len(row[-1]))
        return None

    def fields_event(self, number: int) -> Stored | None:
        """The event with what is shown of an item of a pool; None if nothing is."""
        return self._event_with(number, ItemFields)

    def feed_page(self, place: int) -> FeedItems:
        """The page with the item at a place of the files that were kept."""
        found = self._event_with(place, FeedItems)
        if found is None or not isinstance(found.event, FeedItems):
            raise StorageError(f"item {place} of the files that were kept is missing; bring back a backup.")
        return found.event

    def key_of(self, number: int) -> str | None:
        """The key of a round."""
        found = self.fields_event(number) or self.round_event(number)
        return found.event.key(number) if isinstance(found.event, Rounds | ItemFields) else None

    def item_of(self, number: int) -> StoredItem:
        """The item of a round."""
        event = self.round_event(number).event
        shown = event
        if isinstance(event, Items):
            page = self.fields_event(number)
            shown = event if page is None else page.event
        said = event.said(number) if isinstance(event, Rounds | Items) else ()
        if not isinstance(shown, Rounds | ItemFields):
            return StoredItem(None, None, said)
        return StoredItem(copy.deepcopy(shown.item(number)), shown.key(number), said)

    def rounds_with(self, number: int) -> Rounds:
        """The rounds that were decided together with this one."""
        event = self.round_event(number).event
        if not isinstance(event, Rounds):
            raise StorageError(f"the event of round {number} is damaged; bring back a backup.")
        return event

    def classes_at(self, number: int) -> list[ClassName]:
        """The classes that models predict of a round, or of those stored with it."""
        event = self.round_event(number).event
        return event.classes if isinstance(event, Rounds | Items) else []

    def snapshot(self) -> dict[str, Any] | None:
        """The last state that was kept; None if there is none, or it is damaged."""
        row = _SNAPSHOT.run(self.connection, {"mine": self.campaign}).fetchone()
        try:
            found = None if row is None else json.loads(unseal(bytes(row[0])))
        except (StorageError, ValueError, TypeError):
            return None
        return found if isinstance(found, dict) else None

    def has_snapshot(self) -> bool:
        """Whether a state was ever kept, damaged or not."""
        return _SNAPSHOT.run(self.connection, {"mine": self.campaign}).fetchone() is not None

    def last(self) -> int:
        """The number of the last event that is there."""
        statement = sa.select(sa.func.max(events.c.number)).where(events.c.campaign == self.campaign)
        return int(self.connection.execute(statement).scalar() or 0)

    def keep(self, state: dict[str, Any]) -> None:
        """Keep a state."""
        values = {"mine": self.campaign, "new_body": seal(json.dumps(state).encode())}
        if _KEEP.run(self.connection, values).rowcount == 0:
            _ADD_SNAPSHOT.run(self.connection, {"campaign": self.campaign, "body": values["new_body"]})

    def answered(self, *states: int) -> Iterator[RoundState]:
        """Rounds that are in one of these states, or in any at all, in their order."""
        statement = (_STATE.where(answers.c.state.in_(states)) if states else _STATE).order_by(answers.c.round)
        for row in self.connection.execute(statement, {"mine": self.campaign}):
            yield _state(row)

    def labelled(self) -> tuple[Head, Iterable[RoundState]]:
        """How far the campaign has come, and the rounds that have a label by then, in their order."""
        return self.head(), self.answered(LABELLED)

    def indexed(self) -> dict[str, list[Any]]:
        """What is in the tables that are found from events, but for leases."""
        columns = {
            "keys": (keys.c.key, keys.c.round),
            "answers": (answers.c.round, answers.c.state, answers.c.label, answers.c.asked),
        }
        found: dict[str, list[Any]] = {
            name: list(
                self.connection.execute(
                    sa.select(*chosen).where(chosen[0].table.c.campaign == self.campaign).order_by(chosen[0])
                )
            )
            for name, chosen in columns.items()
        }
        return found | {"opinions": self._opinions.indexed()}

    def clear_index(self) -> None:
        """Empty the tables that are found from events."""
        for table in (answers, keys):
            self.connection.execute(sa.delete(table).where(table.c.campaign == self.campaign))
        self._opinions.clear()


def _state(row: Any) -> RoundState:
    number, state, label, until, by = row
    try:
        return RoundState(number, state, None if label is None else json.loads(label), until, by)
    except (TypeError, ValueError) as error:
        raise StorageError(f"the answer to round {number} is damaged; `modelpicker verify` repairs it.") from error


def _stored(row: Any) -> Stored:
    number, at, kind, first, body = row
    try:
        return Stored(number, at, decode(kind, bytes(body), number, first, at))
    except (StorageError, TypeError) as error:
        raise StorageError(f"event {number} of the campaign: {error} Bring back a backup.") from error


def find_campaign(connection: sa.Connection, name: str) -> Any:
    """The row of a campaign; None if there is none."""
    return connection.execute(sa.select(campaigns).where(campaigns.c.name == str(name))).first()


def all_campaigns(connection: sa.Connection) -> list[Any]:
    """The rows of all campaigns, by name."""
    return list(connection.execute(sa.select(campaigns).order_by(campaigns.c.name)))


def add_campaign(connection: sa.Connection, name: str, created: int, settings: CampaignSettings) -> int:
    """A campaign without events; its number."""
    taken = ConflictError(f"there is a campaign {name!r} already; open that one, or choose another name.")
    if find_campaign(connection, name) is not None:
        raise taken
    values = {
        "name": name,
        "created": created,
        "settings": json.dumps(settings.document()),
        "checksum": settings.checksum,
        "events": 0,
        "rounds": 0,
        "rebuilt": 0,
    }
    try:
        made = connection.execute(sa.insert(campaigns).returning(campaigns.c.id), values)
    except sa.exc.IntegrityError as error:  # somebody else made it at this very moment
        raise taken from error
    return int(made.scalar_one())
