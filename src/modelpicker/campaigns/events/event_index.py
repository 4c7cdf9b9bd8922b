"""The tables that are found from a campaign's events: answers, opinions and keys, kept in step with the events."""

import json
from typing import Any

import sqlalchemy as sa

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.answer_table import AnswerTable
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
)
from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.campaigns.events.opinion_store import OpinionStore, StoredOpinion
from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question
from modelpicker.campaigns.events.round_states import CONFLICT, LABELLED, REFERENCE, SKIPPED, WAITING, WITHDRAWN
from modelpicker.campaigns.storage.schema import answers, keys
from modelpicker.campaigns.storage.statements import Insert, Prepared
from modelpicker.label import AnyLabel, as_document

_ADD_ANSWER = Insert(answers)
_SET_ANSWER = Prepared(
    sa.update(answers)
    .where(answers.c.campaign == sa.bindparam("mine"), answers.c.round == sa.bindparam("wanted"))
    .values(state=sa.bindparam("new_state"), label=sa.bindparam("new_label"))
)
_ADD_KEY = Insert(keys)
_NEW = {"label": None, "leased_until": None, "leased_by": None, "asked": None}


class EventIndex(AnswerTable):
    """The tables that follow from the events of one campaign."""

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

    def _set_answer(self, number: int, state: int, label: AnyLabel | None) -> None:
        values = {"new_state": state, "new_label": None if label is None else json.dumps(as_document(label))}
        _SET_ANSWER.run(self.connection, {"mine": self.campaign, "wanted": number, **values})

    @property
    def _opinions(self) -> OpinionStore:
        return OpinionStore(self.connection, self.campaign)

    def opinions(self, number: int) -> list[StoredOpinion]:
        """What people say about a round that several people label."""
        return self._opinions.of(number)

    def all_opinions(self) -> list[tuple[int, StoredOpinion]]:
        """What people say about all rounds that several people label, in the order of the rounds."""
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
                "label": json.dumps(as_document(event.label)),
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

    def indexed(self) -> dict[str, list[Any]]:
        """What is in the tables that are found from events, except for leases."""
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
