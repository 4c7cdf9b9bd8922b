"""A process's hold on a campaign: its projection of the state, and the transactions that move both on.

Every change is one transaction: it looks at how far the campaign has come, moves this process's projection there,
decides, stores an event and commits. So any number of processes may work on one campaign, and each sees what the
others did.

A change of the past (a replaced answer, one taken back, a model that joins or leaves) is stored at once. What
follows from it is learned from the events afterwards, in no transaction: a large campaign takes seconds for that,
and nobody else who uses the storage should wait for it.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Event, Opinion, Rounds, changes_the_past, rounds_in
from modelpicker.campaigns.events.paged_store import PagedEventStore
from modelpicker.campaigns.events.pool_events import Items, Question
from modelpicker.campaigns.events.recent_events import Recent, Stored
from modelpicker.campaigns.input.rows import ClassCodes
from modelpicker.campaigns.results.chart_samples import Sample, add_sample, last_sample
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.states import as_pool, as_stream, load_state, new_state, rebuild
from modelpicker.campaigns.storage.database import Storage
from modelpicker.errors import StateError, StorageError

# Events and rounds after which the state is kept again: what opening a campaign goes through at most. With many
# models the state is large, and kept less often, up to that many times.
EVENTS_KEPT = 256
ROUNDS_KEPT = 512
FEW_MODELS, SELDOM = 32, 4
# Events that are learned from the start without much ado, and seconds that are waited for somebody who does.
FEW_EVENTS = 1_000
MOMENT = 0.2
# What decoded rounds take in memory, as a multiple of what they take in the storage; and what anything else does.
DECODED = 5
REST = 20_000


class BehindError(Exception):
    """What was learned is of a past that has changed since; to rebuild it takes longer than the caller waits."""


@dataclass(slots=True)
class Added:
    """What a transaction has added; nothing is counted that was there before."""

    rounds: int = 0
    queries: int = 0
    labels: int = 0
    skips: int = 0

    def count(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Rounds():
                self.rounds += len(event)
                self.queries += int(event.queried.sum())
            case Items():
                self.rounds += len(event)
            case Question():
                self.queries += 1
            case Opinion(label=None) | Answer(label=None, of_opinions=False):
                self.skips += 1
            case Opinion() | Answer(of_opinions=False):
                self.labels += 1
            case _:
                pass


class WriteGroup(Protocol):
    """Changes that go to disk together, as those see them who are not the campaign itself."""

    @property
    def added(self) -> Added:
        """What the changes came to so far."""

    @property
    def touched(self) -> bool:
        """Whether a change that failed half-way has spoilt the group: then all of it must be undone."""

    @property
    def changed_the_past(self) -> bool:
        """Whether nothing else can follow in this group."""


@dataclass
class Transaction:
    """A transaction that may add events."""

    store: EventStore
    state: CampaignState
    head: Head
    at: int
    touched: bool = False
    """Whether what is under way, or has failed, has moved the projection: it is wrong from then on."""
    moved: bool = False
    """Whether what was finished in the same transaction has moved it: it is wrong if that fails."""
    added: Added = field(default_factory=Added)
    before: CampaignState | None = None
    """How it stood before the past was changed. From then on `state` only counts, and nothing else may follow
    in the same transaction: what it would be decided from has yet to be learned."""

    @property
    def projection(self) -> Projection:
        """The state of a stream."""
        return as_stream(self.state)

    @property
    def pool(self) -> PoolProjection:
        """The state of a pool."""
        return as_pool(self.state)

    @property
    def changed_the_past(self) -> bool:
        """Whether everything has to be rebuilt before anything else can follow."""
        return self.before is not None

    def add(self, event: Event) -> int:
        """Store an event; its number."""
        number = self.head.events + 1
        past = changes_the_past(event, pool=self.state.settings.pool is not None)
        if past and self.before is None:
            self.state.before_the_past_changes(self.store)
        self.store.add(number, self.at, event)
        self.added.count(event)
        rounds = rounds_in(event)
        rebuilt = self.head.rebuilt
        if past:
            rebuilt = number
            if self.before is None:
                self.before, self.state = self.state, self.state.counting()
        self.head = Head(number, self.head.rounds + rounds, rebuilt)
        self.state.event = number
        return number


class CampaignTransactions:
    """What a campaign is, and how this process reads and changes it."""

    def __init__(self, storage: Storage, number: int, name: str, created: int, settings: CampaignSettings) -> None:
        self.storage = storage
        self.name = name
        self.created = created
        self.settings = settings
        self.vocabulary = ClassCodes(settings.classes, settings.rule, settings.missing)
        self._number = number
        self._projection: CampaignState | None = None
        self._recent = Recent()
        self._kept = 0
        self._kept_rounds = 0
        self._sampled: Sample | None = None
        self._group: Transaction | None = None
        self._lock = threading.RLock()
        self._learning = threading.Lock()
        """Held by whoever finds the state from the storage; never asked for while holding the other."""
        self.shows_last_known = False
        """Whether readers are shown how it stood before the past was changed, while that is learned for long."""
        self.behind = False
        """Whether that is what they are shown."""
        self._process = os.getpid()
        self._closed = False
        storage.enter(self)

    @property
    def events(self) -> int:
        """How many events there have been."""
        with self.looking() as store:
            return store.head().events

    @property
    def in_group(self) -> bool:
        """Whether changes are under way in this thread that are not on disk yet."""
        return self._group is not None

    def warm_up(self) -> None:
        """Compile what decides many rounds at once, beside whatever else continues.

        Worth it where many will come.
        """
        new_state(self.settings).warm_up()

    def stored(self, upto: int, after: int = 0) -> Iterator[Stored]:
        """Events in order, a page a transaction: they do not change, and whoever reads them may take their time."""
        while after < upto:
            with self.looking() as store:
                page = store.page(after, upto)
            yield from page
            after = page[-1].number

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction in which nobody else changes this campaign; when it ends, or its group, it is on disk."""
        with self._lock:
            change = self._group
            if change is not None:
                if change.before is not None:
                    raise BehindError(f"campaign {self.name!r} has not yet learned what its last change means.")
                before = change.head
                change.at = int(time.time() * 1e6)
                yield change
                self._settle(change, before)
                change.moved |= change.touched
                change.touched = False
                return
        with self.grouped() as group, self.writing() as change:
            yield change
        if group.before is not None:
            with suppress(StorageError):  # the change is on disk; whoever comes next tries again
                self.learn()

    @contextmanager
    def grouped(self, *, patient: bool = True) -> Iterator[Transaction]:
        """One transaction for all that is changed within it: everything is on disk when it ends, or nothing.

        Who catches the error of a change may continue with the next, unless the change was `touched`: then all
        must be
        undone, by letting the error out. After a change of the past (`before` is set) there can be no other.
        Unless `patient`, a BehindError is raised at once where much has to be learned first.
        """
        while True:
            with self._lock:
                self._check_open()
                try:
                    with self.storage.writing() as connection:
                        store = EventStore(connection, self._number, self._recent)
                        head = store.head(lock=True)
                        projection = self._near(store, head)
                        if projection is not None:
                            self._group = Transaction(store, projection, head, int(time.time() * 1e6))
                            yield self._group
                    if self._group is not None:
                        self._projection = self._group.before or self._group.state
                        return
                except BaseException:
                    if self._group is not None and (self._group.touched or self._group.moved):
                        self._projection = None
                    raise
                finally:
                    self._group = None
            self.learn(patient=patient)

    def _settle(self, change: Transaction, before: Head) -> None:
        """Note what a change came to."""
        if change.head == before:
            return
        change.store.move(change.head)
        if change.before is None:
            self._keep_if_due(change)
            self._sample_if_due(change)

    @contextmanager
    def exclusive(self) -> Iterator[EventStore]:
        """The event store itself, while nobody else changes it; the projection is found again afterwards."""
        with self._lock:
            self._check_open()
            self._projection = None
            with self.storage.writing() as connection:
                yield EventStore(connection, self._number)

    @contextmanager
    def looking(self) -> Iterator[EventStore]:
        """The event store alone, for readers that need nothing that was learned."""
        with self._lock:
            self._check_open()
            if self._group is not None:
                yield self._group.store
                return
            with self.storage.reading() as connection:
                yield EventStore(connection, self._number, self._recent)

    @contextmanager
    def reading(self) -> Iterator[tuple[EventStore, Projection]]:
        """The event store and the state of a stream, as they are at one moment."""
        with self.reading_state() as (store, state):
            yield store, as_stream(state)

    @contextmanager
    def reading_state(self) -> Iterator[tuple[EventStore, CampaignState]]:
        """The event store and the state, as they are at one moment; within a group, as the group has them."""
        while True:
            with self._lock:
                self._check_open()
                if self._group is not None:
                    yield self._group.store, self._group.state
                    return
                with self.storage.reading() as connection:
                    store = EventStore(connection, self._number, self._recent)
                    projection = self._near(store, store.head())
                    if projection is None and self.behind:
                        projection = self._projection
                    if projection is not None:
                        yield store, projection
                        return
            self._find()

    def _find(self) -> None:
        """Learn what there is to learn, or note that the last known state is to be shown in the meantime."""
        if not (self.shows_last_known and self._projection is not None):
            self.learn(patient=not self.shows_last_known)
            return
        try:
            self.learn(patient=False)
        except BehindError:
            self.behind = True

    def distant(self) -> PagedEventStore:
        """The event store for readers that go through much of it, and should keep nobody waiting."""
        return PagedEventStore(self.storage, self._number)

    def learn(self, *, patient: bool = True) -> None:
        """Find the state from what is stored, in no transaction; nothing happens if it is known already.

        Unless `patient`, a BehindError is raised where that would take long, or somebody is at it for long.
        """
        if not self._learning.acquire(timeout=-1 if patient else MOMENT):
            raise BehindError(f"campaign {self.name!r} is being rebuilt.")
        try:
            anew = self._learn(patient)
        finally:
            self._learning.release()
        if anew:
            # Only so that the next to open it need not do the same: a storage may be full, or read-only.
            with suppress(BehindError, StorageError), self.grouped(patient=False) as change:
                self._keep(change)
                self._sample_if_due(change)

    def _learn(self, patient: bool) -> bool:
        """Whether the state was rebuilt, and should be kept."""
        store = self.distant()
        with self._lock:
            self._check_open()
            known = self._projection
        head = store.head()
        if known is not None and _follows(known, head):
            return False
        with self._named():
            projection = self._load(store, head)
        kept = (0, 0) if projection is None else (projection.event, projection.rounds)
        anew = projection is None and head.rebuilt > 0
        if projection is None:
            if not patient and head.events > FEW_EVENTS:
                raise BehindError(f"campaign {self.name!r} has to be rebuilt.")
            with self._named():
                projection = rebuild(store, self.settings, head.events, head.rebuilt)
        with self._lock:
            self._check_open()
            self._projection, self._sampled, self.behind = projection, None, False
            self._recent = Recent()  # the storage may have been brought back from a backup
            self._kept, self._kept_rounds = kept
        return anew

    @contextmanager
    def _named(self) -> Iterator[None]:
        """An error in the events names the campaign."""
        try:
            yield
        except StorageError as error:
            raise StorageError(f"campaign {self.name!r}: {error}") from error

    def _load(self, store: EventStore, head: Head) -> CampaignState | None:
        """The state that was kept last; None if there is none, or it is damaged or of another past."""
        kept = store.snapshot()
        if kept is None:
            return None
        try:
            projection = load_state(self.settings, kept, store)
        except StateError:
            return None
        return projection if _follows(projection, head) else None

    def _keep_if_due(self, change: Transaction) -> None:
        """Keep the state now and then, so that opening is quick."""
        seldom = min(SELDOM, max(1, len(change.state.models) // FEW_MODELS))
        events, rounds = change.head.events - self._kept, change.head.rounds - self._kept_rounds
        if events >= EVENTS_KEPT * seldom or rounds >= ROUNDS_KEPT * seldom:
            self._keep(change)

    def _keep(self, change: Transaction) -> None:
        change.store.keep(change.state.document())
        self._kept, self._kept_rounds = change.head.events, change.head.rounds

    def _sample_if_due(self, change: Transaction) -> None:
        """Note how the models stand now and then, for charts."""
        if not change.state.sample_ready:
            return
        last = self._sampled or last_sample(change.store)
        if last is None or last.due(change.state):
            last = Sample.take(change.state)
            add_sample(change.store, last)
        self._sampled = last

    def _near(self, store: EventStore, head: Head) -> CampaignState | None:
        """This process's projection, moved on to where the campaign is; None if it has to be learned."""
        projection = self._projection
        if projection is None or not _follows(projection, head):
            return None
        if projection.event < head.events:
            self._projection = None
            with self._named():
                projection.catch_up(store, head.events)
            self._projection = projection
        if projection.rounds != head.rounds:
            self._projection = None
            raise StorageError(
                f"campaign {self.name!r} says it has {head.rounds:,} rounds, but its events have "
                f"{projection.rounds:,}; `modelpicker verify` repairs that."
            )
        return projection

    @property
    def nbytes(self) -> int:
        """The memory that this process keeps for the campaign, roughly."""
        learned = 0 if self._projection is None else self._projection.nbytes
        return learned + DECODED * self._recent.size + REST

    def forget(self) -> None:
        """Let go of all that is kept in memory; whoever comes next finds it in the storage."""
        with self._lock:
            self._projection = self._sampled = None
            self._recent = Recent()

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"campaign {self.name!r} was closed; open it again with open_campaign.")
        if self._process != os.getpid():
            raise StorageError(f"campaign {self.name!r} was opened by another process; open it again after a fork.")

    def close(self) -> None:
        """Let go of the campaign; everything is on disk already, and it can be opened again.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://close", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.close()
        """
        with self._lock:
            self._closed = True
            self._projection = None
        self.storage.leave(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r} in {self.storage.url}>"


def _follows(projection: CampaignState, head: Head) -> bool:
    """Whether the campaign has only continued since, and its past is still the one that was learned."""
    return head.rebuilt <= projection.event <= head.events
