"""Rounds that one server hands over to another to decide, and what comes back.

Only rounds with a key are handed over: if the answer is lost, this server decides them itself, and a key that was
decided before returns the same decision. An error of one round is what came of it. Anything that goes wrong with
the other server only means that nothing is known of what it did.

Servers talk on the port on which they serve. Who begins with `GREETING` and the secret of the server that it calls,
which it has from the storage, continues with messages: four bytes that say how long one is, then JSON. Each has a
list of rounds, with a number for each, or a list of what came of them. What comes at one time goes in one message.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from modelpicker.algorithms import Decision
from modelpicker.campaigns.input.validation import check_key
from modelpicker.errors import ModelPickerError
from modelpicker.server.api.problems import Problem, status_of
from modelpicker.server.api.responses import from_json, to_json

# With the version of what follows: servers of two versions do without one another.
GREETING = b"modelpicker-handover/1 "
# Seconds that a connection to another server may take, and an answer of it. The first is short, as somebody waits.
REACH = 0.5
PATIENCE = 5.0
# Bytes that a message may have: items may be large.
LARGEST = 2**30
_SIZE = struct.Struct(">I")


class Peer(NamedTuple):
    """Another server on the same storage."""

    id: str
    host: str
    port: int
    secret: str


class AwayError(Exception):
    """Another server did not answer: nothing is known of what it did."""


class HandedAsk(NamedTuple):
    """A round that is handed over."""

    campaign: str
    created: int
    """When the campaign was made: another may have its name by now."""
    predictions: Any
    item: dict[str, Any] | None
    key: str

    @classmethod
    def read(cls, fields: Any) -> "HandedAsk":
        """A round of a message; an error if it is not valid."""
        ask = cls(*fields)
        if type(ask.campaign) is not str or check_key(ask.key) is None:
            raise ValueError("a round without a key or a campaign is not handed over")
        return ask


HandedOutcome: TypeAlias = Decision | ModelPickerError | Problem | None
"""What came of a round; None if the other server does not decide it."""


def _packed(outcome: HandedOutcome) -> Any:
    """What came of a round, for a message."""
    if isinstance(outcome, Decision):
        one = outcome
        return [one.round, one.query, one.probability, one.prediction, one.recommended, one.racing]
    if isinstance(outcome, Problem):
        return {"status": outcome.status_code, "detail": outcome.detail, "headers": outcome.headers}
    if isinstance(outcome, ModelPickerError):
        return {"status": status_of(outcome), "detail": str(outcome), "headers": None}
    return None


def _unpacked(outcome: Any) -> HandedOutcome:
    """What came of a round, from a message."""
    if isinstance(outcome, dict):
        return Problem(outcome["status"], outcome["detail"], outcome["headers"])
    if outcome is None:
        return None
    number, query, probability, prediction, recommended, racing = outcome
    return Decision(number, query, probability, prediction, recommended, tuple(racing))


class _Messages(asyncio.Protocol):
    """One end of a connection: messages in and out."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._came = bytearray()
        self._going: list[Any] = []

    def send(self, entry: Any) -> None:
        """Send something, in one message with what else is to be sent now."""
        self._going.append(entry)
        if len(self._going) == 1:
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Send what is to be sent, if there is a connection."""
        if self._going and self.transport is not None and not self.transport.is_closing():
            body = to_json(self._going)
            self._going = []
            self.transport.write(_SIZE.pack(len(body)) + body)

    def data_received(self, data: bytes) -> None:
        """Take in some more; the connection is closed if it is not valid."""
        self._came += data
        try:
            for message in self._messages():
                for entry in from_json(message):
                    self.take(*entry)
        except (LookupError, TypeError, ValueError):
            if self.transport is not None:
                self.transport.abort()

    def _messages(self) -> Iterator[bytes]:
        while len(self._came) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._came)
            if size > LARGEST:
                raise ValueError("the message is too large")
            end = _SIZE.size + size
            if len(self._came) < end:
                return
            message = bytes(self._came[_SIZE.size : end])
            del self._came[:end]
            yield message

    def take(self, number: int, content: Any) -> None:
        """Take one thing of a message."""
        raise NotImplementedError


class PeerConnection(_Messages):
    """The way to another server."""

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self.peer = peer
        self._numbers = count()
        self._made: dict[int, asyncio.Future[HandedOutcome]] = {}
        self._connecting: asyncio.Task[None] | None = None
        self._lost: asyncio.Future[None] | None = None

    async def decide(self, ask: HandedAsk) -> HandedOutcome:
        """Have a round decided there; an AwayError if there is no answer."""
        made: asyncio.Future[HandedOutcome] = asyncio.get_running_loop().create_future()
        number = next(self._numbers)
        self._made[number] = made
        self.send([number, ask])
        try:
            async with asyncio.timeout(PATIENCE):
                return await made
        except TimeoutError:
            if self.transport is not None:
                self.transport.abort()
            raise AwayError(f"the server at {self.peer.host} port {self.peer.port} does not answer") from None
        finally:
            self._made.pop(number, None)

    def flush(self) -> None:
        """Send what is to be sent; first there has to be a connection."""
        if self._going and self.transport is None and self._connecting is None:
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
        super().flush()

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(REACH):
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: self, self.peer.host, self.peer.port)
        except OSError as error:
            self._fail(str(error) or type(error).__name__)
        finally:
            self._connecting = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Greet, and send what waits."""
        self.transport = transport
        transport.write(GREETING + self.peer.secret.encode() + b"\n")
        self.flush()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell all who wait that nothing will come."""
        self.transport = None
        self._came.clear()
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(None)
        self._fail(str(error or "the connection ended"))

    def _fail(self, reason: str) -> None:
        self._going = []
        for made in self._made.values():
            if not made.done():
                made.set_exception(AwayError(f"the server at {self.peer.host} port {self.peer.port}: {reason}"))

    def take(self, number: int, content: Any) -> None:
        """Tell who waits what came of a round."""
        made = self._made.get(number)
        if made is not None and not made.done():
            made.set_result(_unpacked(content))

    async def close(self) -> None:
        """Hang up."""
        if self._connecting is not None:
            await self._connecting
        if self.transport is not None:
            self._lost = asyncio.get_running_loop().create_future()
            self.transport.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(REACH):
                    await self._lost


class TakingOver(_Messages):
    """The other end: rounds that a server on the same storage hands over to this one."""

    def __init__(
        self,
        transport: asyncio.Transport,
        decide: Callable[[HandedAsk], Awaitable[HandedOutcome]],
        connections: set[Any],
    ) -> None:
        super().__init__()
        self.transport = transport
        self._decide = decide
        self._connections = connections
        """Those that the server hangs up on when it stops."""
        connections.add(self)
        self._under_way: set[asyncio.Task[None]] = set()
        self._stopping = False

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """What is under way is decided all the same."""
        self.transport = None
        self._connections.discard(self)

    def take(self, number: int, content: Any) -> None:
        """Decide a round."""
        task = asyncio.get_running_loop().create_task(self._answer(number, HandedAsk.read(content)))
        self._under_way.add(task)
        task.add_done_callback(self._answered)

    async def _answer(self, number: int, ask: HandedAsk) -> None:
        outcome: HandedOutcome
        try:
            outcome = await self._decide(ask)
        except (ModelPickerError, Problem) as error:
            outcome = error
        self.send([number, _packed(outcome)])

    def _answered(self, task: "asyncio.Task[None]") -> None:
        self._under_way.discard(task)
        if not task.cancelled() and task.exception() is not None and self.transport is not None:
            self.transport.abort()  # the other server decides it itself, and meets the same error
        elif self._stopping and not self._under_way:
            self.flush()
            self.shutdown()

    def shutdown(self) -> None:
        """Hang up, once what is under way is answered: the server stops."""
        self._stopping = True
        if not self._under_way and self.transport is not None:
            self.transport.close()
