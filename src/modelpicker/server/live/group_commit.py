"""Group commit: changes to a campaign that come while others go to disk wait, and then go together.

A change is answered once it is on disk. What one commit costs is shared by all that came while the last was under
way, so that the more clients there are, the less each pays. Decisions do not depend on who shares a commit: a round
is decided from what stands before it, and its coins are those of its number.

After a change of the past (an answer replaced or taken back, a model that joins or leaves) a campaign learns
everything again, which may take a while. That change itself is on disk, and answered, before. Whoever reads is
shown how it stood until then; whoever wants to change it waits for a moment, and is then asked to come again.
"""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from modelpicker.algorithms import Decision
from modelpicker.campaigns import (
    Added,
    BehindError,
    Campaign,
    Dashboard,
    Pick,
    WriteGroup,
    has_campaign,
    open_campaign,
)
from modelpicker.campaigns.background_compiler import BackgroundCompiler
from modelpicker.campaigns.kernel_needs import KernelNeed
from modelpicker.campaigns.storage.database import Storage, open_storage
from modelpicker.encoding import ModelName
from modelpicker.errors import ModelPickerError, NotFoundError, StorageError, brief
from modelpicker.server.api.problems import Problem
from modelpicker.server.live.handover import AwayError, HandedAsk, Peer
from modelpicker.server.live.peers import Peers
from modelpicker.server.metrics import Metrics

T = TypeVar("T")
# Changes that go to disk together at most, and those that may wait.
MOST_TOGETHER = 256
MOST_WAITING = 10_000
# The part of the time of the last commit for which those are waited for who shared it, and the longest in seconds.
GATHERING = 0.3
LONGEST_GATHERING = 0.005
# Campaigns that are kept in memory, the bytes that they may take there, and seconds after which one that nobody
# uses is let go; and how often that is looked at.
MOST_OPEN = 100
MOST_BYTES = 2**27
IDLE = 600.0
SWEEP = 30.0
# Those who read may take long, and must not keep those who write from a thread; nor, if they all wait for one
# campaign, those who read another.
WRITERS = 8
READERS = 16
# Campaigns that be rebuilt at once: they have threads of their own.
LEARNERS = 4
# Seconds after which whoever wants to see all campaigns no longer waits for one.
BUSY = 0.5
# Seconds that a change waits for a campaign that is rebuilt, and the longest pause that is asked for then.
PATIENCE = 1.5
MOMENT = 0.25
LONGEST_PAUSE = 30


class Pools(NamedTuple):
    """The threads on which campaigns are changed, read, and rebuilt."""

    writers: ThreadPoolExecutor
    readers: ThreadPoolExecutor
    learners: ThreadPoolExecutor


@dataclass(slots=True)
class WriteOutcome:
    """What came of some changes that were to go to disk."""

    added: list[Added] = field(default_factory=list)
    behind: bool = False
    """Whether the campaign has to be rebuilt before anything else can be changed."""


@dataclass(slots=True, eq=False)
class QueuedWrite(Generic[T]):
    """Something that changes a campaign, and whoever waits for it."""

    call: Callable[[Campaign], T]
    waiting: "asyncio.Future[T]"
    outcome: T | BaseException | None = None
    tried: bool = False
    """Whether something came of it: a result or an error. Otherwise its turn is yet to come."""
    alone: bool = False
    """Whether it goes to disk by itself, as one that it was to go with failed half-way."""

    def perform(self, campaign: Campaign) -> None:
        """Do it; what comes of it is told later, when it is on disk."""
        self.settle(self.call(campaign))

    def settle(self, outcome: T | BaseException) -> None:
        """Note what came of it."""
        self.outcome, self.tried = outcome, True


@dataclass(slots=True, eq=False)
class QueuedAsk(QueuedWrite[Decision]):
    """One round to be decided: several in a row are decided as a batch."""

    predictions: Any = None
    item: dict[str, Any] | None = None
    key: str | None = None


class CommitQueue:
    """One campaign, and the changes that wait for their turn."""

    def __init__(self, campaign: Campaign, pools: "Pools", metrics: Metrics, peers: Peers) -> None:
        self.campaign = campaign
        self.campaign.shows_last_known = True
        self.dashboard = Dashboard(campaign)
        self.metrics = metrics
        self.broken = False
        """Whether the storage failed: the campaign is opened again for the next request."""
        self.listeners: set[Callable[[], None]] = set()
        self.used = time.monotonic()
        """When it was last asked for."""
        self._pools = pools
        self._peers = peers
        self._handed = 0
        self._reading = asyncio.Semaphore(READERS // 4)
        self._readers = 0
        self._waiting: list[QueuedWrite[Any]] = []
        self._busy = False
        self._expected = 0
        self._gathering: asyncio.TimerHandle | None = None
        self._learning: asyncio.Future[None] | None = None
        self._learning_since = 0.0
        self._look: asyncio.Future[tuple[int, Pick]] | None = None
        self._last: tuple[int, Pick] | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is under way here."""
        busy = self._busy or self._waiting or self._learning or self._readers or self._handed
        return not (busy or self.listeners)

    @property
    def nbytes(self) -> int:
        """The memory that it takes, roughly."""
        return self.campaign.nbytes + self.dashboard.nbytes

    async def ask(
        self, predictions: Any, item: dict[str, Any] | None, key: str | None, *, here: bool = False
    ) -> Decision:
        """Decide a round, or have it decided by the server that decides those of this campaign; not if `here`."""
        peer = None if here or key is None else self._peers.leader_of(self.campaign.name)
        if peer is not None and key is not None:
            made = await self._hand_over(
                peer, HandedAsk(self.campaign.name, self.campaign.created, predictions, item, key)
            )
            if made is not None:
                return made
        return await self._wait_for(
            QueuedAsk(
                lambda campaign: campaign.ask(own_names(campaign, [predictions])[0], item=item, key=key),
                asyncio.get_running_loop().create_future(),
                predictions=predictions,
                item=item,
                key=key,
            )
        )

    async def _hand_over(self, peer: Peer, ask: HandedAsk) -> Decision | None:
        """Have a round decided by another server; None if it does not."""
        self._handed += 1
        try:
            made = await self._peers.connection(peer).decide(ask)
        except AwayError as error:
            self._peers.avoid(peer, str(error))
            return None
        finally:
            self._handed -= 1
        if made is not None:
            self.metrics.handed_over.inc()
            self._announce()
        if isinstance(made, Exception):
            raise made
        return made

    async def do(self, call: Callable[[Campaign], T]) -> T:
        """Change the campaign; back when that is on disk."""
        return await self._wait_for(QueuedWrite(call, asyncio.get_running_loop().create_future()))

    async def read(self, call: Callable[[Campaign], T]) -> T:
        """Look something up, without waiting for those who change it."""
        self._readers += 1
        try:
            async with self._reading:
                found = await asyncio.get_running_loop().run_in_executor(self._pools.readers, call, self.campaign)
            if self.campaign.behind:
                self._learn()
            return found
        except StorageError:
            self.broken = True
            raise
        except BehindError:  # there is nothing to show in the meantime
            self._learn()
            raise self._come_again() from None
        finally:
            self._readers -= 1

    async def look(self) -> tuple[int, Pick]:
        """How the campaign stands as of an event; while it is busy for long, how it stood at the last look."""
        if self._look is None or self._look.done():
            self._look = asyncio.ensure_future(self.read(lambda campaign: campaign.best_at()))
        await asyncio.wait({self._look}, timeout=None if self._last is None else BUSY)
        if self._look.done():
            self._last = self._look.result()
        if self._last is None:
            raise Problem(503, "The campaign is busy; try again in a moment.")
        return self._last

    async def _wait_for(self, change: QueuedWrite[T]) -> T:
        if len(self._waiting) >= MOST_WAITING:
            raise Problem(503, f"{MOST_WAITING:,} changes wait already; try again in a moment.")
        self._waiting.append(change)
        self.metrics.queue.inc()
        self._start()
        seconds = PATIENCE
        while not change.waiting.done():
            await asyncio.wait({change.waiting}, timeout=seconds)
            seconds = MOMENT
            if self._learning is not None and change in self._waiting and not change.waiting.done():
                self._waiting.remove(change)
                self.metrics.queue.dec()
                raise self._come_again()
        return change.waiting.result()

    def _come_again(self) -> Problem:
        """The answer to who wants something of a campaign that is rebuilt: nothing about it was done."""
        gone = math.ceil(time.monotonic() - self._learning_since)
        seconds = min(LONGEST_PAUSE, max(1, gone))
        detail = (
            f"Campaign {self.campaign.name!r} is being rebuilt from its events. Nothing was done: try again in "
            f"{seconds} seconds."
        )
        return Problem(503, detail, {"Retry-After": str(seconds)})

    def _learn(self) -> None:
        """Have the campaign be rebuilt, on a thread of those who do; then continue with the changes that wait."""
        if self._learning is not None:
            return
        self._learning_since = time.monotonic()
        loop = asyncio.get_running_loop()
        self._learning = loop.run_in_executor(self._pools.learners, self.campaign.learn)
        self._learning.add_done_callback(self._learned)

    def _learned(self, done: "asyncio.Future[None]") -> None:
        self._learning = None
        failure = None if done.cancelled() else done.exception()
        if failure is not None:  # whoever waits is told, and whoever comes next tries again
            self.broken |= isinstance(failure, StorageError)
            some, self._waiting = self._waiting, []
            self.metrics.queue.dec(len(some))
            self._tell(some, failure)
        self._start()
        self._announce()

    def _start(self) -> None:
        """Take what waits to disk, on another thread; unless that is under way, or cannot be for now."""
        if self._busy or self._learning is not None or not self._waiting:
            return
        if self._gathering is not None:
            if len(self._waiting) < self._expected:
                return
            self._stop_gathering()
        self._busy = True
        some, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        loop, began = asyncio.get_running_loop(), time.monotonic()
        self._pools.writers.submit(self._work, some).add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._finish, some, done, began)
        )

    def _gather(self, together: int, seconds: float) -> None:
        """Wait a moment for those who were just answered: who asks without a pause mostly asks again at once.

        Otherwise the first of them would go to disk alone, and all others would wait for that.
        """
        if together > 1:
            self._expected = together
            wait = min(LONGEST_GATHERING, seconds * GATHERING)
            self._gathering = asyncio.get_running_loop().call_later(wait, self._gathered)

    def _gathered(self) -> None:
        self._stop_gathering()
        self._start()

    def _stop_gathering(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
        self._gathering = None

    def _finish(self, some: list[QueuedWrite[Any]], done: Future["WriteOutcome"], began: float) -> None:
        """Tell everyone what came of it, and continue with those who came meanwhile."""
        failure = done.exception()
        self._busy = False
        tried = [change for change in some if change.tried or failure is not None]
        self._waiting[:0] = [change for change in some if not change.tried and failure is None]
        self.metrics.queue.dec(len(tried))
        if tried:
            self.metrics.group.observe(len(tried))
        if failure is None:
            for added in done.result().added:
                self.metrics.take(asdict(added))
            if done.result().behind:
                self._learn()
        self._gather(len(tried), time.monotonic() - began)
        self._start()
        self._tell(tried, failure)
        self._announce()

    def _tell(self, some: list[QueuedWrite[Any]], failure: BaseException | None) -> None:
        """Tell those who wait what came of their changes."""
        for change in some:
            outcome = failure or change.outcome
            if change.waiting.done():  # whoever asked has gone; what was done is done
                continue
            if isinstance(outcome, BaseException):
                change.waiting.set_exception(outcome)
            else:
                change.waiting.set_result(outcome)

    def _announce(self) -> None:
        for listener in self.listeners:
            listener()

    def _work(self, some: list[QueuedWrite[Any]]) -> "WriteOutcome":
        """All changes in one transaction; if one of them had to be undone half-way, each in its own."""
        outcome = WriteOutcome()
        if not any(change.alone for change in some):
            try:
                self._together(some, outcome)
                return outcome
            except StorageError:
                self.broken = True
                raise
            except BehindError:
                outcome.behind = True
                return outcome
            except Exception:  # whatever one of them did, the others should not suffer for it
                for change in some:
                    change.outcome, change.tried, change.alone = None, False, True
        for change in some:
            if not outcome.behind:
                self._alone(change, outcome)
        return outcome

    def _alone(self, change: QueuedWrite[Any], outcome: "WriteOutcome") -> None:
        try:
            self._together([change], outcome)
        except BehindError:
            outcome.behind = True
        except Exception as error:
            self.broken |= isinstance(error, StorageError)
            change.settle(error)

    def _together(self, some: list[QueuedWrite[Any]], outcome: "WriteOutcome") -> None:
        """Changes in one transaction, up to the first that changes the past."""
        with self.campaign.together() as group:
            for asks, run in groupby(some, key=lambda change: isinstance(change, QueuedAsk)):
                together = list(run)
                if asks and len(together) > 1 and _ask_together(together, self.campaign, group):
                    continue
                for change in together:
                    if not group.changed_the_past:
                        _perform(change, self.campaign, group)
        outcome.added.append(group.added)
        outcome.behind = group.changed_the_past

    def let_go(self) -> None:
        """Keep nothing in memory; whoever still has it in hand may continue, and finds it in the storage."""
        self.dashboard = Dashboard(self.campaign)
        self.campaign.forget()

    def close(self) -> None:
        """Let go of the campaign permanently."""
        self.campaign.close()


def _perform(change: QueuedWrite[Any], campaign: Campaign, group: WriteGroup) -> None:
    """Do one change; an error that has undone nothing is what came of it."""
    try:
        change.perform(campaign)
    except StorageError:
        raise
    except BehindError as error:  # only who enters a group may be behind: here others would be undone
        raise RuntimeError("a change of the past was followed by another in the same request") from error
    except ModelPickerError as error:
        if group.touched:
            raise
        change.settle(error)


def _ask_together(asks: list[Any], campaign: Campaign, group: WriteGroup) -> bool:
    """Decide several rounds as a batch; False if one of them cannot be asked, and nothing was done."""
    if group.changed_the_past:
        return False
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
        ask.settle(decision)
    return True


def own_names(campaign: Campaign, rows: list[Any]) -> list[Any]:
    """Predictions by the models' own names: those that are numbers are strings in JSON."""
    if not any(type(row) is dict for row in rows):
        return rows
    own: dict[str, ModelName] = {str(model): model for model in campaign.models if type(model) is int}
    if not own:
        return rows
    return [{own.get(name, name): said for name, said in row.items()} if type(row) is dict else row for row in rows]


def reach(url: str) -> Storage:
    """The storage, which was there when the server began: if it is not, that will pass or must be repaired."""
    try:
        return open_storage(url)
    except NotFoundError as error:
        raise StorageError(f"the storage is gone: {error} Restore it, and the server continues.") from error


class CommitQueues:
    """The campaigns of a storage that are in use."""

    def __init__(self, url: str, metrics: Metrics, compiler: BackgroundCompiler) -> None:
        self.url = url
        self.metrics = metrics
        self.compiler = compiler
        self.peers = Peers(open_storage(url, create=True), metrics.peers)
        self.pools = Pools(
            ThreadPoolExecutor(WRITERS, "writer"),
            ThreadPoolExecutor(READERS, "reader"),
            ThreadPoolExecutor(LEARNERS, "learner"),
        )
        self._open: OrderedDict[str, CommitQueue] = OrderedDict()
        self._opening: dict[str, asyncio.Future[CommitQueue]] = {}

    async def find(self, name: str) -> CommitQueue:
        """The queue of a campaign."""
        queue = self._open.get(name)
        if queue is not None and not queue.broken:
            queue.used = time.monotonic()
            self._open.move_to_end(name)
            return queue
        if name in self._opening:
            return await asyncio.shield(self._opening[name])
        loop = asyncio.get_running_loop()
        future = self._opening[name] = loop.create_future()
        try:
            campaign = await loop.run_in_executor(self.pools.readers, self._open_one, name)
            self.compiler.want(KernelNeed.of(campaign.settings))
            queue = self._open[name] = CommitQueue(campaign, self.pools, self.metrics, self.peers)
            future.set_result(queue)
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # somebody has seen it: us
            raise
        finally:
            del self._opening[name]
        self.let_go(keeping=queue)
        return queue

    async def decide(self, ask: HandedAsk) -> Decision | None:
        """Decide a round for another server; None if its campaign is gone, or is called something else by now."""
        try:
            queue = await self.find(ask.campaign)
        except NotFoundError:
            return None
        if queue.campaign.created != ask.created:
            return None
        return await queue.ask(ask.predictions, ask.item, ask.key, here=True)

    def _open_one(self, name: str) -> Campaign:
        reach(self.url)
        if not has_campaign(self.url, name):
            raise NotFoundError(f"there is no campaign {brief(name)} here.")
        return open_campaign(self.url, name)

    def forget(self, name: str) -> None:
        """Let go of a campaign that was deleted, or is called something else by now."""
        queue = self._open.pop(name, None)
        if queue is not None:
            queue.let_go()

    async def run(self, work: Callable[[], T]) -> T:
        """Do something that writes and belongs to no campaign that is open."""
        return await asyncio.get_running_loop().run_in_executor(self.pools.writers, work)

    def let_go(self, keeping: CommitQueue | None = None) -> None:
        """Keep those campaigns in memory that were used last: that many, and that many bytes, for so long."""
        sizes = {name: queue.nbytes for name, queue in self._open.items()}
        total, late = sum(sizes.values()), time.monotonic() - IDLE
        for name, queue in list(self._open.items()):  # those that were used longest ago come first
            if queue is keeping or not queue.idle:
                continue
            if len(self._open) <= MOST_OPEN and total <= MOST_BYTES and queue.used > late:
                break
            total -= sizes[name]
            del self._open[name]
            queue.let_go()

    async def sweep(self) -> None:
        """Let go of campaigns that nobody uses any more, now and then."""
        while True:
            await asyncio.sleep(SWEEP)
            self.let_go()

    def __iter__(self) -> Iterator[CommitQueue]:
        return iter(list(self._open.values()))

    def close(self) -> None:
        """Finish what is under way, and let go of everything."""
        self.pools.learners.shutdown(wait=True, cancel_futures=True)  # nothing is lost that is not learned yet
        for pool in self.pools:
            pool.shutdown(wait=True)
        for queue in self:
            queue.close()
