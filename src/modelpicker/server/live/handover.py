"""Rounds that one server hands over to another to decide, and what comes back.

Only rounds with a key are handed over: if the answer is lost, this server decides them itself, and a key that was
decided before returns the same decision. An error of one round is what came of it. Anything that goes wrong with
the other server only means that nothing is known of what it did.
"""

import asyncio
import hmac
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from modelpicker.algorithms import Decision
from modelpicker.campaigns.input.validation import check_key
from modelpicker.errors import ModelPickerError
from modelpicker.server.api.problems import Problem, status_of
from modelpicker.server.api.responses import from_json, to_json

PATH = "/handover"
# Seconds that a connection to another server may take, and an answer of it. The first is short, as somebody waits.
REACH = 0.5
PATIENCE = 5.0
# Messages that one server may have at once, and rounds in one of them.
AT_ONCE = 2
MOST_TOGETHER = 256


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


Outcome: TypeAlias = Decision | Problem | None
"""What came of a round; None if the other server does not decide it."""


def read_message(text: bytes) -> list[HandedAsk]:
    """The rounds that a message hands over; a ValueError if it makes no sense."""
    try:
        asks = [HandedAsk(*fields) for fields in from_json(text)]
    except TypeError as error:
        raise ValueError("a round has too many parts, or too few") from error
    if any(check_key(ask.key) is None or type(ask.campaign) is not str for ask in asks):
        raise ValueError("a round without a key or a campaign is not handed over")
    return asks


def answer(outcomes: Sequence[Decision | BaseException | None], storage: str) -> bytes:
    """The answer to a message; an error that nobody has foreseen is raised."""
    racing: list[tuple[Any, ...]] = []
    found: list[Any] = []
    for outcome in outcomes:
        if isinstance(outcome, Decision):
            if not racing or racing[-1] != outcome.racing:
                racing.append(outcome.racing)
            found.append(
                [
                    outcome.round,
                    outcome.query,
                    outcome.probability,
                    outcome.prediction,
                    outcome.recommended,
                    len(racing) - 1,
                ]
            )
        elif outcome is None:
            found.append(None)
        elif isinstance(outcome, Problem):
            found.append({"status": outcome.status_code, "detail": outcome.detail, "headers": outcome.headers})
        elif isinstance(outcome, ModelPickerError):
            detail = str(outcome).replace(storage, "the storage")
            found.append({"status": status_of(outcome), "detail": detail, "headers": None})
        else:
            raise outcome
    return to_json({"racing": racing, "outcomes": found})


def read_answer(text: bytes) -> list[Outcome]:
    """What came of the rounds of a message."""
    document = from_json(text)
    racing = [tuple(models) for models in document["racing"]]
    return [_outcome(one, racing) for one in document["outcomes"]]


def _outcome(one: Any, racing: list[tuple[Any, ...]]) -> Outcome:
    if one is None:
        return None
    if isinstance(one, dict):
        return Problem(one["status"], one["detail"], one["headers"])
    number, query, probability, prediction, recommended, place = one
    return Decision(number, query, probability, prediction, recommended, racing[place])


class PeerConnection:
    """The way to another server: rounds that wait go in one message, of whatever campaigns they are."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self._waiting: list[tuple[HandedAsk, asyncio.Future[Outcome]]] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def decide(self, ask: HandedAsk) -> Outcome:
        """Have a round decided there; an AwayError if there is no answer."""
        loop = asyncio.get_running_loop()
        made: asyncio.Future[Outcome] = loop.create_future()
        self._waiting.append((ask, made))
        if len(self._waiting) == 1:
            loop.call_soon(self._send)  # with those that come at the same time
        return await made

    def _send(self) -> None:
        """Send what waits, unless enough is under way."""
        if self._waiting and len(self._under_way) < AT_ONCE:
            some, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            task = asyncio.get_running_loop().create_task(self._deliver(some))
            self._under_way.add(task)
            task.add_done_callback(self._delivered)

    def _delivered(self, task: "asyncio.Task[None]") -> None:
        self._under_way.discard(task)
        self._send()

    async def _deliver(self, some: list[tuple[HandedAsk, "asyncio.Future[Outcome]"]]) -> None:
        """One message, and what comes back."""
        found: list[Outcome] | AwayError
        try:
            found = read_answer(await self._exchange(to_json([ask for ask, _ in some])))
            if len(found) != len(some):
                raise ValueError("so many rounds were not handed over")
        except (OSError, EOFError, asyncio.LimitOverrunError, LookupError, TypeError, ValueError) as error:
            found = AwayError(f"the server at {self.peer.host} port {self.peer.port}: {error!r}")
        for place, (_, made) in enumerate(some):
            if made.done():  # whoever asked has gone
                continue
            if isinstance(found, AwayError):
                made.set_exception(found)
            else:
                made.set_result(found[place])

    async def _exchange(self, body: bytes) -> bytes:
        """Send a message, and read its answer; a connection that was closed meanwhile is opened anew."""
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.peer.secret}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        message = head.encode() + body
        while self._idle:
            reader, writer = self._idle.pop()
            if not (reader.at_eof() or writer.is_closing()):
                return await self._talk(reader, writer, message)
        async with asyncio.timeout(REACH):
            reader, writer = await asyncio.open_connection(self.peer.host, self.peer.port)
        return await self._talk(reader, writer, message)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> bytes:
        kept = False
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(message)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                body = await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise ValueError(body[:500])
            self._idle.append((reader, writer))
            kept = True
            return body
        finally:
            if not kept:
                writer.close()

    def close(self) -> None:
        """Let go of all connections."""
        for _, writer in self._idle:
            with suppress(RuntimeError):  # the loop has ended
                writer.close()
        self._idle.clear()


def is_known(secret: str, header: str) -> bool:
    """Whether a message comes from somebody who reads the storage."""
    return hmac.compare_digest(header.encode(), f"Bearer {secret}".encode())
