"""A desk for each campaign: changes that come while others go to disk wait there, and then go together.

A change is answered once it is on disk. What one commit costs is shared by all that came while the last was under
way, so that the more clients there are, the less each pays. Decisions do not depend on who shares a commit: a round
is decided from what stands before it, and its coins are those of its number.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeVar

from modelpicker.algorithms import Decision
from modelpicker.campaigns import Campaign, open_campaign
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
THREADS = 8


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

    def __init__(self, campaign: Campaign, pool: ThreadPoolExecutor, metrics: Metrics) -> None:
        self.campaign = campaign
        self.board = Board(campaign)
        self.metrics = metrics
        self.broken = False
        """Whether the storage failed: the campaign is opened anew for the next request."""
        self.feed: Any = None
        """The news of this campaign, once somebody has asked for it."""
        self.listeners: set[Callable[[], None]] = set()
        self._pool = pool
        self._waiting: list[Change[Any]] = []
        self._busy = False

    @property
    def idle(self) -> bool:
        """Whether nothing is under way here."""
        return not (self._busy or self._waiting or self.listeners)

    async def ask(self, predictions: Any, item: dict[str, Any] | None, key: str | None) -> Decision:
        """Decide a round."""
        return await self._wait_for(
            Ask(
                lambda campaign: campaign.ask(predictions, item=item, key=key),
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
            return await asyncio.get_running_loop().run_in_executor(self._pool, call, self.campaign)
        except StorageError:
            self.broken = True
            raise

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
        self._pool.submit(self._work, some).add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._finish, some, done.exception())
        )

    def _finish(self, some: list[Change[Any]], failure: BaseException | None) -> None:
        """Tell everyone what came of it, and go on with those who came meanwhile."""
        self._busy = False
        self.metrics.queue.add(-len(some))
        self.metrics.group.see(len(some))
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

    def _work(self, some: list[Change[Any]]) -> None:
        """All changes in one transaction; if one of them had to be undone half-way, each in its own."""
        try:
            self._together(some)
        except StorageError:
            self.broken = True
            raise
        except ModelPickerError:
            for change in some:
                _perform_alone(change, self.campaign)

    def _together(self, some: list[Change[Any]]) -> None:
        with self.campaign.grouped() as group:
            for asks, run in groupby(some, key=lambda change: isinstance(change, Ask)):
                together = list(run)
                if asks and len(together) > 1 and _ask_together(together, self.campaign):
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

    def close(self) -> None:
        """Let go of the campaign."""
        self.campaign.close()


def _ask_together(asks: list[Any], campaign: Campaign) -> bool:
    """Decide several rounds as a batch; False if one of them cannot be asked, and nothing was done."""
    try:
        made = campaign.ask_many(
            [ask.predictions for ask in asks], items=[ask.item for ask in asks], keys=[ask.key for ask in asks]
        )
    except StorageError:
        raise
    except ModelPickerError:
        return False
    for ask, decision in zip(asks, made, strict=True):
        ask.outcome = decision
    return True


def _perform_alone(change: Change[Any], campaign: Campaign) -> None:
    try:
        change.perform(campaign)
    except ModelPickerError as error:
        change.outcome = error


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
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="campaign")
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
            campaign = await loop.run_in_executor(self.pool, self._open_one, name)
            desk = self._open[name] = Desk(campaign, self.pool, self.metrics)
            threading.Thread(target=campaign.warm_up, name="warm-up", daemon=True).start()
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
        self.pool.shutdown(wait=True)
        for desk in self:
            desk.close()
