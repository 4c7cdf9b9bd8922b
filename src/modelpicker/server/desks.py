"""A desk for each campaign: changes that come while others go to disk wait there, and then go together.

A change is answered once it is on disk. What one commit costs is shared by all that came while the last was under
way, so that the more clients there are, the less each pays. Decisions do not depend on who shares a commit: a round
is decided from what stands before it, and its coins are those of its number.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from modelpicker.algorithms import Decision
from modelpicker.algorithms.options import ModelName
from modelpicker.campaigns import Campaign, Pick, open_campaign
from modelpicker.campaigns.events import Answer
from modelpicker.campaigns.handle import Change as Group
from modelpicker.campaigns.log import find_campaign
from modelpicker.campaigns.opening import NAME
from modelpicker.campaigns.storage import Storage, open_storage
from modelpicker.errors import ModelPickerError, NotFoundError, StorageError, brief
from modelpicker.server.board import Board
from modelpicker.server.metrics import Metrics
from modelpicker.server.problems import Problem

T = TypeVar("T")
# Changes that go to disk together at most, and those that may wait.
MOST_TOGETHER = 256
MOST_WAITING = 10_000
MOST_DESKS = 200
# Those who read may take long, and must not keep those who write from a thread; nor, if they all wait for one
# campaign, those who read another.
WRITERS = 8
READERS = 16
# Rounds after which it is worth to compile what decides many at once.
MANY = 1_000
# Seconds after which whoever wants to see all campaigns no longer waits for one.
BUSY = 0.5


class Pools(NamedTuple):
    """The threads on which campaigns are changed, and read."""

    writers: ThreadPoolExecutor
    readers: ThreadPoolExecutor


class Tally(NamedTuple):
    """What some changes came to: nothing is counted that was there before."""

    rounds: int
    queries: int
    labels: int
    skips: int


@dataclass(slots=True)
class Change(Generic[T]):
    """Something that changes a campaign, and whoever waits for it."""

    call: Callable[[Campaign], T]
    waiting: "asyncio.Future[T]"
    outcome: T | BaseException | None = None

    def perform(self, campaign: Campaign) -> None:
        """Do it; what comes of it is told later, when it is on disk."""
        self.outcome = self.call(campaign)


@dataclass(slots=True)
class Ask(Change[Decision]):
    """One round to be decided: several in a row are decided as a batch."""

    predictions: Any = None
    item: dict[str, Any] | None = None
    key: str | None = None


class Desk:
    """One campaign, and the changes that wait for their turn."""

    def __init__(self, campaign: Campaign, pools: "Pools", metrics: Metrics) -> None:
        self.campaign = campaign
        self.board = Board(campaign)
        self.metrics = metrics
        self.broken = False
        """Whether the storage failed: the campaign is opened anew for the next request."""
        self.listeners: set[Callable[[], None]] = set()
        self._pools = pools
        self._reading = asyncio.Semaphore(READERS // 4)
        self._waiting: list[Change[Any]] = []
        self._busy = False
        self._decided = 0
        self._look: asyncio.Future[Pick] | None = None
        self._last: Pick | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is under way here."""
        return not (self._busy or self._waiting or self.listeners)

    async def ask(self, predictions: Any, item: dict[str, Any] | None, key: str | None) -> Decision:
        """Decide a round."""
        return await self._wait_for(
            Ask(
                lambda campaign: campaign.ask(own_names(campaign, [predictions])[0], item=item, key=key),
                asyncio.get_running_loop().create_future(),
                None,
                predictions,
                item,
                key,
            )
        )

    async def do(self, call: Callable[[Campaign], T]) -> T:
        """Change the campaign; back when that is on disk."""
        return await self._wait_for(Change(call, asyncio.get_running_loop().create_future()))

    async def read(self, call: Callable[[Campaign], T]) -> T:
        """Look something up, without waiting for those who change it."""
        try:
            async with self._reading:
                return await asyncio.get_running_loop().run_in_executor(self._pools.readers, call, self.campaign)
        except StorageError:
            self.broken = True
            raise

    async def pick(self) -> Pick:
        """How the campaign stands; while it is busy for long, how it stood when that was last looked at."""
        if self._look is None or self._look.done():
            self._look = asyncio.ensure_future(self.read(lambda campaign: campaign.best()))
        await asyncio.wait({self._look}, timeout=None if self._last is None else BUSY)
        if self._look.done():
            self._last = self._look.result()
        if self._last is None:
            raise Problem(503, "The campaign is busy; try again in a moment.")
        return self._last

    async def _wait_for(self, change: Change[T]) -> T:
        if len(self._waiting) >= MOST_WAITING:
            raise Problem(503, f"{MOST_WAITING:,} changes wait already; try again in a moment.")
        self._waiting.append(change)
        self.metrics.queue.add(1)
        if not self._busy:
            self._start()
        return await change.waiting

    def _start(self) -> None:
        """Take what waits to disk, on another thread."""
        self._busy = True
        some, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        loop = asyncio.get_running_loop()
        self._pools.writers.submit(self._work, some).add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._finish, some, done)
        )

    def _finish(self, some: list[Change[Any]], done: Future[list[Tally]]) -> None:
        """Tell everyone what came of it, and go on with those who came meanwhile."""
        failure = done.exception()
        self._busy = False
        self.metrics.queue.add(-len(some))
        self.metrics.group.see(len(some))
        for tally in done.result() if failure is None else ():
            self.metrics.take(tally._asdict())
            self._warm_up(tally.rounds)
        if self._waiting:
            self._start()
        for change in some:
            outcome = failure or change.outcome
            if change.waiting.done():  # whoever asked has gone; what was done is done
                continue
            if isinstance(outcome, BaseException):
                change.waiting.set_exception(outcome)
            else:
                change.waiting.set_result(outcome)
        for listener in self.listeners:
            listener()

    def _warm_up(self, rounds: int) -> None:
        """Compile what decides many rounds, beside whatever else goes on, once it is clear that many come."""
        if self._decided < MANY <= self._decided + rounds:
            threading.Thread(target=self.campaign.warm_up, name="warm-up").start()
        self._decided += rounds

    def _work(self, some: list[Change[Any]]) -> list[Tally]:
        """All changes in one transaction; if one of them had to be undone half-way, each in its own."""
        try:
            return [self._together(some)]
        except StorageError:
            self.broken = True
            raise
        except Exception:  # whatever one of them did, the others should not suffer for it
            return [tally for change in some for tally in self._alone(change)]

    def _alone(self, change: Change[Any]) -> list[Tally]:
        try:
            return [self._together([change])]
        except Exception as error:
            self.broken |= isinstance(error, StorageError)
            change.outcome = error
            return []

    def _together(self, some: list[Change[Any]]) -> Tally:
        with self.campaign.grouped() as group:
            before, queries = group.head, _queries(group)
            for asks, run in groupby(some, key=lambda change: isinstance(change, Ask)):
                together = list(run)
                if asks and len(together) > 1 and _ask_together(together, self.campaign, group):
                    continue
                for change in together:
                    try:
                        change.perform(self.campaign)
                    except StorageError:
                        raise
                    except ModelPickerError as error:
                        if group.touched:
                            raise
                        change.outcome = error
            only_asks = all(isinstance(change, Ask) for change in some)
            labels, skips = (0, 0) if only_asks else _answers(group, before.events)
            return Tally(group.head.rounds - before.rounds, _queries(group) - queries, labels, skips)

    def close(self) -> None:
        """Let go of the campaign."""
        self.campaign.close()


def _ask_together(asks: list[Any], campaign: Campaign, group: Group) -> bool:
    """Decide several rounds as a batch; False if one of them cannot be asked, and nothing was done."""
    try:
        made = campaign.ask_many(
            own_names(campaign, [ask.predictions for ask in asks]),
            items=[ask.item for ask in asks],
            keys=[ask.key for ask in asks],
        )
    except StorageError:
        raise
    except ModelPickerError:
        if group.touched:
            raise
        return False
    for ask, decision in zip(asks, made, strict=True):
        ask.outcome = decision
    return True


def own_names(campaign: Campaign, rows: list[Any]) -> list[Any]:
    """Predictions by the models' own names: those that are numbers are strings in JSON."""
    if not any(type(row) is dict for row in rows):
        return rows
    own: dict[str, ModelName] = {str(model): model for model in campaign.models if type(model) is int}
    if not own:
        return rows
    return [{own.get(name, name): said for name, said in row.items()} if type(row) is dict else row for row in rows]


def _queries(group: Group) -> int:
    """How many queries there have been, answered or not."""
    counts = group.replica.counts
    return counts.waiting + counts.labels + counts.skipped


def _answers(group: Group, after: int) -> tuple[int, int]:
    """How many labels and skips came after an event."""
    if group.head.events == after:
        return 0, 0
    found = [stored.event for stored in group.log.others((Answer.kind,), after=after)]
    skips = sum(isinstance(event, Answer) and event.label is None for event in found)
    return len(found) - skips, skips


def reach(url: str) -> Storage:
    """The storage, which was there when the server began: if it is not, that will pass or must be mended."""
    try:
        return open_storage(url)
    except NotFoundError as error:
        raise StorageError(f"the storage is gone: {error} Bring it back, and the server goes on.") from error


class Desks:
    """The campaigns of a storage that are in use."""

    def __init__(self, url: str, metrics: Metrics) -> None:
        self.url = url
        self.metrics = metrics
        self.pools = Pools(ThreadPoolExecutor(WRITERS, "writer"), ThreadPoolExecutor(READERS, "reader"))
        self._open: OrderedDict[str, Desk] = OrderedDict()
        self._opening: dict[str, asyncio.Future[Desk]] = {}

    async def find(self, name: str) -> Desk:
        """The desk of a campaign."""
        desk = self._open.get(name)
        if desk is not None and not desk.broken:
            self._open.move_to_end(name)
            return desk
        if name in self._opening:
            return await asyncio.shield(self._opening[name])
        loop = asyncio.get_running_loop()
        future = self._opening[name] = loop.create_future()
        try:
            campaign = await loop.run_in_executor(self.pools.readers, self._open_one, name)
            desk = self._open[name] = Desk(campaign, self.pools, self.metrics)
            future.set_result(desk)
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # somebody has seen it: us
            raise
        finally:
            del self._opening[name]
        self._let_go()
        return desk

    def _open_one(self, name: str) -> Campaign:
        with reach(self.url).reading() as connection:
            if not NAME.fullmatch(name) or find_campaign(connection, name) is None:
                raise NotFoundError(f"there is no campaign {brief(name)} here.")
        return open_campaign(self.url, name)

    def _let_go(self) -> None:
        """Keep so many campaigns open, those that were used last."""
        for name in [name for name, desk in self._open.items() if desk.idle][
            : max(0, len(self._open) - MOST_DESKS)
        ]:
            del self._open[name]

    def __iter__(self) -> Iterator[Desk]:
        return iter(list(self._open.values()))

    def close(self) -> None:
        """Finish what is under way, and let go of everything."""
        for pool in self.pools:
            pool.shutdown(wait=True)
        for desk in self:
            desk.close()
