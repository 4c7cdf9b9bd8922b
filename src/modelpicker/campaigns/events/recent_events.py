"""Events as they are read, and those that were read last."""

from collections import OrderedDict
from typing import NamedTuple

from modelpicker.campaigns.events.event_types import Event, Rounds
from modelpicker.campaigns.events.feed_events import FeedItems
from modelpicker.campaigns.events.pool_events import ItemFields, Items

# Decoded rounds that are kept: events, and their bytes as they are stored.
RECENT = 32
RECENT_BYTES = 2**22


class Stored(NamedTuple):
    """An event with its number and its time, in microseconds since 1970."""

    number: int
    at: int
    event: Event


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
