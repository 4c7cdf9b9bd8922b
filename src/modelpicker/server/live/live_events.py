"""Server-sent events: how a campaign stands, whenever something has changed.

A follower is sent the latest, and never what it was too slow to read: news is made once for all followers of a
campaign, and a slow one misses what lies between.
"""

import asyncio
import contextlib
import time
import zlib
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import StreamingResponse

from modelpicker.errors import ModelPickerError
from modelpicker.server.access.callers import is_welcome
from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import to_json
from modelpicker.server.context import ServerContext
from modelpicker.server.live.group_commit import CommitQueue, CommitQueues
from modelpicker.server.logs import log
from modelpicker.server.network.compression import accepts_gzip

# Seconds between news at least, between charts at least, between looks for what other servers did, and heartbeats.
PACE = 0.4
CHARTS = 2.0
LOOK = 1.0
HEARTBEAT = 15.0
MOST_FOLLOWERS = 500
# How a gzip begins that says nothing about a file, and the empty block that ends it.
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
GZIP_END = b"\x03\x00"


class Piece(NamedTuple):
    """Some bytes of a stream: as they are, and compressed so that any stream can continue with them."""

    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, plain: bytes) -> "Piece":
        """Compress the bytes, with no reference to what comes before: it is done once for all followers."""
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        return cls(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


BEGINNING = Piece.of(b"retry: 2000\n\n")
STILL_HERE = Piece.of(b": still here\n\n")


class Feed:
    """The news of one campaign, made while somebody follows it."""

    def __init__(self, queue: CommitQueue, queues: CommitQueues) -> None:
        self.queue = queue
        self.queues = queues
        self.number = 0
        self.latest: dict[str, tuple[int, Piece]] = {}
        self.followers = 0
        self.news = asyncio.Condition()
        self._hint = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """One follower more; the first begins the looking."""
        self.followers += 1
        if self._task is None:
            self.queue.listeners.add(self._hint.set)
            self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """One follower less; nobody looks for news that nobody wants."""
        self.followers -= 1
        if self.followers == 0 and self._task is not None:
            self.queue.listeners.discard(self._hint.set)
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        drawn = -CHARTS
        while True:
            self._hint.clear()
            try:
                await self._find_again()
                await self._publish("standing", self.queue.dashboard.standing)
                due = time.monotonic() - drawn >= CHARTS
                if due and await self._publish("charts", self.queue.dashboard.charts):
                    drawn = time.monotonic()
            except ModelPickerError:
                pass  # a storage that is away comes back, or not
            except Exception:
                log.exception("news failed", extra={"facts": {"campaign": self.queue.campaign.name}})
            await asyncio.sleep(PACE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hint.wait(), LOOK - PACE)

    async def _find_again(self) -> None:
        """Where the storage has failed, the campaign is opened again."""
        if self.queue.broken:
            self.queue.listeners.discard(self._hint.set)
            self.queue = await self.queues.find(self.queue.campaign.name)
            self.queue.listeners.add(self._hint.set)

    async def _publish(self, kind: str, make: Any) -> bool:
        """Tell the followers, if there is anything new."""
        events = await self.queue.read(lambda campaign: campaign.events)
        known = self.latest.get(kind)
        if known is not None and known[0] == events:
            return False
        document = await self.queue.read(lambda _: make())
        event = document["event"]
        if known is not None and known[0] == event:  # the campaign is rebuilt: this is how it stood before
            return False
        body = b"event: %s\nid: %d\ndata: %s\n\n" % (kind.encode(), event, to_json(document))
        piece = Piece.of(body)
        async with self.news:
            self.number += 1
            self.latest[kind] = (event, piece)
            self.news.notify_all()
        return True


async def stream(request: Request, queue: CommitQueue, service: ServerContext) -> StreamingResponse:
    """Follow a campaign until the client goes, its token is revoked, or the server stops."""
    if sum(feed.followers for feed in service.feeds.values()) >= MOST_FOLLOWERS:
        raise Problem(503, f"{MOST_FOLLOWERS} pages follow campaigns already; close some.")
    headers = {"X-Accel-Buffering": "no", "Vary": "Accept-Encoding"}
    pieces = _follow(request, queue, service)
    if not accepts_gzip(request):
        return StreamingResponse(_plain(pieces), 200, headers, "text/event-stream")
    return StreamingResponse(_packed(pieces), 200, {**headers, "Content-Encoding": "gzip"}, "text/event-stream")


async def _plain(pieces: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield piece.plain


async def _packed(pieces: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    """One gzip of all pieces, each of which can be read as soon as it has come."""
    check, length = 0, 0
    yield GZIP_HEAD
    async for piece in pieces:
        check, length = zlib.crc32(piece.plain, check), length + len(piece.plain)
        yield piece.packed
    yield GZIP_END + check.to_bytes(4, "little") + (length % 2**32).to_bytes(4, "little")


async def _follow(request: Request, queue: CommitQueue, service: ServerContext) -> AsyncIterator[Piece]:
    name = queue.campaign.name
    feed = service.feeds.setdefault(name, Feed(queue, service.queues))
    sent: dict[str, int] = {}
    spoke = time.monotonic()
    feed.start()
    service.metrics.listeners.inc()
    try:
        yield BEGINNING
        while not service.stopping.is_set() and await is_welcome(request):
            news = [(kind, event, piece) for kind, (event, piece) in feed.latest.items() if sent.get(kind) != event]
            for kind, event, piece in news:
                sent[kind] = event
                yield piece
            if news or await _wait(feed, service):
                spoke = time.monotonic()
            elif time.monotonic() - spoke >= HEARTBEAT:
                spoke = time.monotonic()
                yield STILL_HERE
    finally:
        service.metrics.listeners.dec()
        feed.stop()
        if feed.followers == 0:
            service.feeds.pop(name, None)


async def _wait(feed: Feed, service: ServerContext) -> bool:
    """Wait for news, or the end; False if there is none for a while."""
    number = feed.number
    seconds = min(HEARTBEAT, LOOK) if service.configuration.needs_tokens else HEARTBEAT

    async def wait() -> None:
        async with feed.news:
            await feed.news.wait_for(lambda: feed.number != number)

    tasks = {asyncio.ensure_future(wait()), asyncio.ensure_future(service.stopping.wait())}
    try:
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for task in tasks:
            task.cancel()
