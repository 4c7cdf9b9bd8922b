"""How many labels each person has given that still hold: known at once, however many labels there are."""

import threading
from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Opinion, Retraction, Withdrawal
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.state.transactions import CampaignTransactions

Place: TypeAlias = tuple[int, str]
"""A round, and the person whose opinion it is; empty for the one label of a round that one person labels."""


class AnswerCounts:
    """The labels of each person, kept in step with the events."""

    def __init__(self, campaign: CampaignTransactions) -> None:
        self._campaign = campaign
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._event = 0
        self._people: dict[Place, str] = {}  # who gave the labels that hold
        self._counts: Counter[str] = Counter()

    def of(self, by: str) -> int:
        """How many labels of a person hold, whatever they signed with."""
        person = person_of(by)
        with self._campaign.looking() as store, self._lock:
            last = store.head().events
            if last < self._event:  # the storage was brought back from a backup
                self._forget()
            news = _changes(_events(store, self._event, last))
            if not self._campaign.in_group:
                self._take(news, last)
                return self._counts[person]
            # What is not on disk yet is counted, but not kept: it may still be undone.
            before = sum(self._people.get(place) == person for place in news)
            return self._counts[person] - before + sum(who == person for who in news.values())

    def _take(self, news: dict[Place, str | None], last: int) -> None:
        for place, person in news.items():
            before = self._people.pop(place, None)
            if before is not None:
                self._counts[before] -= 1
            if person is not None:
                self._people[place] = person
                self._counts[person] += 1
        self._event = last


def _events(store: EventStore, after: int, last: int) -> Iterable[Stored]:
    """Events that came since: all answers the first time, then whatever is new."""
    if after == 0:
        return store.others((Answer.kind, Opinion.kind, Withdrawal.kind, Retraction.kind), upto=last)
    return store.events(after, last)


def _changes(found: Iterable[Stored]) -> dict[Place, str | None]:
    """Whose labels there are after some events, of those that were touched; None if nobody's.

    A label that opinions agreed on, or that was settled, is not one more.
    """
    changed: dict[Place, str | None] = {}
    for stored in found:
        match stored.event:
            case Answer(round=number, label=label, by=by, of_opinions=False):
                changed[number, ""] = None if label is None or by is None else person_of(by)
            case Retraction(round=number, reference=False):
                changed[number, ""] = None
            case Opinion(round=number, label=label, by=by):
                changed[number, person_of(by)] = None if label is None else person_of(by)
            case Withdrawal(round=number, whose=whose):
                changed[number, person_of(whose)] = None
    return changed
