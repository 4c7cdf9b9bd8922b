"""How many labels each person has given that still hold: known at once, however many labels there are."""

import threading
from collections import Counter
from collections.abc import Iterable

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import EventStore, Stored
from modelpicker.campaigns.events.event_types import Answer, Retraction
from modelpicker.campaigns.state.transactions import CampaignTransactions


class AnswerCounts:
    """The labels of each person, kept in step with the events."""

    def __init__(self, campaign: CampaignTransactions) -> None:
        self._campaign = campaign
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._event = 0
        self._people: dict[int, str] = {}  # who gave the label of a round that holds
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
            before = sum(self._people.get(number) == person for number in news)
            return self._counts[person] - before + sum(who == person for who in news.values())

    def _take(self, news: dict[int, str | None], last: int) -> None:
        for number, person in news.items():
            before = self._people.pop(number, None)
            if before is not None:
                self._counts[before] -= 1
            if person is not None:
                self._people[number] = person
                self._counts[person] += 1
        self._event = last


def _events(store: EventStore, after: int, last: int) -> Iterable[Stored]:
    """Events that came since: all answers the first time, then whatever is new."""
    if after == 0:
        return store.others((Answer.kind, Retraction.kind), upto=last)
    return store.events(after, last)


def _changes(found: Iterable[Stored]) -> dict[int, str | None]:
    """Whose label each round has after some events, of those that were touched; None if nobody's."""
    changed: dict[int, str | None] = {}
    for stored in found:
        match stored.event:
            case Answer(round=number, label=label, by=by):
                changed[number] = None if label is None or by is None else person_of(by)
            case Retraction(round=number, reference=False):
                changed[number] = None
    return changed
