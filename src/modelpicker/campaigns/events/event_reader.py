"""A campaign's events, read from a storage: in order, by kind, or by round."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from modelpicker.campaigns.events.event_types import Note, Rounds, decode
from modelpicker.campaigns.events.feed_events import FeedItems
from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question
from modelpicker.campaigns.events.recent_events import Recent, Stored
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.storage.schema import campaigns, events
from modelpicker.campaigns.storage.statements import Prepared
from modelpicker.encoding import ClassName
from modelpicker.errors import NotFoundError, StorageError, brief

# Events that are read at once, and the bytes that they may have: one may have ten thousand rounds.
PAGE = 2_000
PAGE_BYTES = 2**24


class Head(NamedTuple):
    """How far a campaign has come."""

    events: int
    rounds: int
    rebuilt: int


class StoredItem(NamedTuple):
    """What is stored of the item of a round."""

    item: Item | None
    key: str | None
    classes: tuple[ClassName, ...]
    """What models say about it."""


_MINE = events.c.campaign == sa.bindparam("mine")
_EVENT = sa.select(events.c.number, events.c.at, events.c.kind, events.c.round, events.c.body).where(_MINE)
_head = sa.select(campaigns.c.events, campaigns.c.rounds, campaigns.c.rebuilt).where(
    campaigns.c.id == sa.bindparam("mine")
)
_HEAD = Prepared(_head)
_LOCKED_HEAD = Prepared(_head.with_for_update())
_PAGE = Prepared(
    _EVENT.where(events.c.number > sa.bindparam("after"), events.c.number <= sa.bindparam("upto"))
    .order_by(events.c.number)
    .limit(PAGE)
)
_SIZES = Prepared(
    sa.select(events.c.number, sa.func.length(events.c.body))
    .where(_MINE, events.c.number > sa.bindparam("after"), events.c.number <= sa.bindparam("upto"))
    .order_by(events.c.number)
    .limit(PAGE)
)
_OF_ROUND = Prepared(
    _EVENT.where(events.c.kind == sa.bindparam("wanted_kind"), events.c.round <= sa.bindparam("wanted"))
    .order_by(events.c.round.desc())
    .limit(1)
)


class EventReader:
    """The events of one campaign, as they are within a transaction."""

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
            raise StorageError(f"the campaign's row is damaged: {brief(tuple(row))}; restore a backup.") from error

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
            raise StorageError(f"event {after + 1 + len(found)} of the campaign is missing; restore a backup.")
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
            raise StorageError(f"item {place} of the files that were kept is missing; restore a backup.")
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
            raise StorageError(f"the event of round {number} is damaged; restore a backup.")
        return event

    def said_at(self, number: int) -> tuple[tuple[ClassName, ...], list[ClassName]]:
        """The different answers of models to a round, and those to the rounds that are stored with it."""
        event = self.round_event(number).event
        return (event.said(number), event.classes) if isinstance(event, Rounds | Items) else ((), [])

    def pair_of(self, number: int) -> Sequence[ClassName] | None:
        """The two answers to compare in a round, or for an item; None where none were chosen."""
        event = self.round_event(number).event
        if isinstance(event, Rounds):
            return event.pair(number)
        asked = self.question_of(number)
        return None if asked is None else asked.pair

    def question_of(self, number: int) -> Question | None:
        """The last question about an item of a pool."""
        found = [stored.event for stored in self.others((Question.kind,), number)]
        last = found[-1] if found else None
        return last if isinstance(last, Question) else None

    def last(self) -> int:
        """The number of the last event that is there."""
        statement = sa.select(sa.func.max(events.c.number)).where(events.c.campaign == self.campaign)
        return int(self.connection.execute(statement).scalar() or 0)


def _stored(row: Any) -> Stored:
    number, at, kind, first, body = row
    try:
        return Stored(number, at, decode(kind, bytes(body), number, first, at))
    except (StorageError, TypeError) as error:
        raise StorageError(f"event {number} of the campaign: {error} Restore a backup.") from error
