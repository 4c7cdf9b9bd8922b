"""A process's hold on a campaign: its replica of the state, and the transactions that move both on.

Every change is one transaction: it looks at how far the campaign has come, moves this process's replica there,
decides, stores an event and commits. So any number of processes may work on one campaign, and each sees what the
others did.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from modelpicker.campaigns.events import Event, Rounds, changes_the_past
from modelpicker.campaigns.log import Head, Log, Recent, Stored
from modelpicker.campaigns.replica import Replica, catch_up, rebuild
from modelpicker.campaigns.rows import Vocabulary
from modelpicker.campaigns.samples import Sample, add_sample, last_sample
from modelpicker.campaigns.settings import Settings
from modelpicker.campaigns.storage import Storage
from modelpicker.errors import StateError, StorageError

# Events and rounds after which the state is kept again: what opening a campaign goes through at most. With many
# models the state is large, and kept less often, up to so many times.
EVENTS_KEPT = 256
ROUNDS_KEPT = 512
FEW_MODELS, SELDOM = 32, 4


@dataclass
class Change:
    """A transaction that may add events."""

    log: Log
    replica: Replica
    head: Head
    at: int
    touched: bool = False
    """Whether what is under way, or has failed, has moved the replica: it is wrong from then on."""
    moved: bool = False
    """Whether what was finished in the same transaction has moved it: it is wrong if that fails."""

    def add(self, event: Event) -> int:
        """Store an event; its number."""
        number = self.head.events + 1
        self.log.add(number, self.at, event)
        rounds = len(event) if isinstance(event, Rounds) else 0
        rebuilt = number if changes_the_past(event) else self.head.rebuilt
        self.head = Head(number, self.head.rounds + rounds, rebuilt)
        self.replica.event = number
        return number


class Handle:
    """What a campaign is, and how this process reads and changes it."""

    def __init__(self, storage: Storage, number: int, name: str, created: int, settings: Settings) -> None:
        self.storage = storage
        self.name = name
        self.created = created
        self.settings = settings
        self.vocabulary = Vocabulary(settings.classes)
        self._number = number
        self._replica: Replica | None = None
        self._recent = Recent()
        self._kept = 0
        self._kept_rounds = 0
        self._sampled: Sample | None = None
        self._group: Change | None = None
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._closed = False
        storage.enter(self)

    @property
    def events(self) -> int:
        """How many events there have been."""
        with self.reading() as (log, _):
            return log.head().events

    def warm_up(self) -> None:
        """Compile what decides many rounds at once, beside whatever else goes on: worth it where many will come."""
        Replica.new(self.settings).warm_up()

    def stored(self, upto: int, after: int = 0) -> Iterator[Stored]:
        """Events in order, a page a transaction: they do not change, and whoever reads them may take their time."""
        while after < upto:
            with self.reading() as (log, _):
                page = log.page(after, upto)
            yield from page
            after = page[-1].number

    @contextmanager
    def writing(self) -> Iterator[Change]:
        """A transaction in which nobody else changes this campaign; when it ends, or its group, it is on disk."""
        with self._lock:
            if self._group is None:
                with self.grouped(), self.writing() as change:
                    yield change
                return
            change = self._group
            before = change.head
            change.at = int(time.time() * 1e6)
            yield change
            self._settle(change, before)
            change.moved |= change.touched
            change.touched = False

    @contextmanager
    def grouped(self) -> Iterator[Change]:
        """One transaction for all that is changed within it: everything is on disk when it ends, or nothing.

        Who catches the error of a change may go on with the next, unless the change was `touched`: then all must be
        undone, by letting the error out.
        """
        with self._lock:
            self._check_open()
            try:
                with self.storage.writing() as connection:
                    log = Log(connection, self._number, self._recent)
                    head = log.head(lock=True)
                    self._group = Change(log, self._current(log, head), head, int(time.time() * 1e6))
                    yield self._group
                self._replica = self._group.replica
            except BaseException:
                if self._group is not None and (self._group.touched or self._group.moved):
                    self._replica = None
                raise
            finally:
                self._group = None

    def _settle(self, change: Change, before: Head) -> None:
        """Note what a change came to."""
        if change.head == before:
            return
        anew = change.head.rebuilt > before.rebuilt
        if anew:
            change.replica = rebuild(change.log, self.settings, change.head.events, change.head.rebuilt)
        change.log.move(change.head)
        self._keep_if_due(change, anew=anew)
        self._sample_if_due(change)

    @contextmanager
    def exclusive(self) -> Iterator[Log]:
        """The log itself, while nobody else changes it; this process's replica is found anew afterwards."""
        with self._lock:
            self._check_open()
            self._replica = None
            with self.storage.writing() as connection:
                yield Log(connection, self._number)

    @contextmanager
    def reading(self) -> Iterator[tuple[Log, Replica]]:
        """The log and the state, as they are at one moment; within a group, as the group has them."""
        with self._lock:
            self._check_open()
            if self._group is not None:
                yield self._group.log, self._group.replica
                return
            with self.storage.reading() as connection:
                log = Log(connection, self._number, self._recent)
                replica = self._current(log, log.head())
                yield log, replica

    def _keep_if_due(self, change: Change, *, anew: bool) -> None:
        """Keep the state now and then, so that opening is quick; always if it was learned anew."""
        head = change.head
        seldom = min(SELDOM, max(1, len(change.replica.picker.models) // FEW_MODELS))
        events, rounds = head.events - self._kept, head.rounds - self._kept_rounds
        if anew or events >= EVENTS_KEPT * seldom or rounds >= ROUNDS_KEPT * seldom:
            change.log.keep(change.replica.document())
            self._kept, self._kept_rounds = head.events, head.rounds

    def _sample_if_due(self, change: Change) -> None:
        """Note how the models stand now and then, for charts."""
        last = self._sampled or last_sample(change.log)
        if last is None or last.due(change.replica):
            last = Sample.take(change.replica)
            add_sample(change.log, last)
        self._sampled = last

    def _current(self, log: Log, head: Head) -> Replica:
        """This process's replica, moved on to where the campaign is."""
        replica = self._replica
        if replica is not None and replica.event == head.events:
            return replica
        self._replica = None
        try:
            if replica is None or head.rebuilt > replica.event or head.events < replica.event:
                replica = self._load(log, head)
            catch_up(replica, log, head.events)
        except StorageError as error:
            raise StorageError(f"campaign {self.name!r}: {error}") from error
        if replica.picker.rounds != head.rounds:
            raise StorageError(
                f"campaign {self.name!r} says it has {head.rounds:,} rounds, but its events have "
                f"{replica.picker.rounds:,}; `modelpicker verify` repairs that."
            )
        self._replica = replica
        return replica

    def _load(self, log: Log, head: Head) -> Replica:
        """The state that was kept last; found from the events if there is none, or if it is damaged."""
        self._sampled = None
        self._recent = log.recent = Recent()  # the storage may have been brought back from a backup
        kept = log.snapshot()
        if kept is not None:
            try:
                replica = Replica.load(self.settings, kept)
            except StateError:
                pass
            else:
                if head.rebuilt <= replica.event <= head.events:
                    self._kept, self._kept_rounds = replica.event, replica.picker.rounds
                    return replica
        return rebuild(log, self.settings, head.events, head.rebuilt)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"campaign {self.name!r} was closed; open it again with open_campaign.")
        if self._process != os.getpid():
            raise StorageError(f"campaign {self.name!r} was opened by another process; open it anew after a fork.")

    def close(self) -> None:
        """Let go of the campaign; everything is on disk already, and it can be opened again."""
        with self._lock:
            self._closed = True
            self._replica = None
        self.storage.leave(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r} in {self.storage.url}>"
