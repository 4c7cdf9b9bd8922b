"""A campaign's events for whoever reads many of them: a short transaction for every look.

Events never change, so that pages of them fit together whenever they are read. Nobody waits meanwhile: SQLite can
tidy up its files, and a storage in memory, which has room for one transaction at a time, serves others in between.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Rounds
from modelpicker.campaigns.events.pool_events import Items
from modelpicker.campaigns.events.recent_events import Recent, Stored
from modelpicker.campaigns.events.round_states import LABELLED, RoundState
from modelpicker.campaigns.storage.database import Storage

T = TypeVar("T")


class PagedEventStore(EventStore):
    """The events of one campaign, and a transaction each time that they are looked at."""

    def __init__(self, storage: Storage, campaign: int) -> None:
        self.storage = storage
        self.campaign = campaign
        self.recent = Recent()

    def _look(self, call: Callable[[EventStore], T]) -> T:
        with self.storage.reading() as connection:
            return call(EventStore(connection, self.campaign, self.recent))

    def head(self, *, lock: bool = False) -> Head:
        """How far the campaign has come; nothing can be locked from afar."""
        if lock:
            raise NotImplementedError
        return self._look(lambda store: store.head())

    def snapshot(self) -> dict[str, Any] | None:
        """The last state that was kept; None if there is none, or it is damaged."""
        return self._look(lambda store: store.snapshot())

    def page(self, after: int, upto: int) -> list[Stored]:
        """Some events in order, at least one."""
        return self._look(lambda store: store.page(after, upto))

    def others(
        self, kinds: Sequence[str], number: int | None = None, after: int = 0, upto: int | None = None
    ) -> Iterator[Stored]:
        """Events of some kinds, or only those about one round."""
        return iter(self._look(lambda store: list(store.others(kinds, number, after, upto))))

    def labelled(self) -> tuple[Head, list[RoundState]]:
        """How far the campaign has come, and the rounds that have a label by then, in their order."""
        return self._look(lambda store: (store.head(), list(store.answered(LABELLED))))

    def round_event(self, number: int) -> Stored:
        """The event in which a round was decided."""
        recent = self.recent.find(number, Rounds) or self.recent.find(number, Items)
        return recent or self._look(lambda store: store.round_event(number))
