"""Rounds that one server hands over to another to decide, and what comes back.

Only rounds with a key are handed over: if the answer is lost, this server decides them itself, and whoever has
decided a key before returns the same decision. What goes wrong with one round is what came of it; whatever goes
wrong with the other server only means that nothing is known of what it did.
"""

import asyncio
import hmac
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from modelpicker.algorithms import Decision
from modelpicker.campaigns.input.validation import check_key
from modelpicker.errors import ModelPickerError
from modelpicker.server.api.problems import Problem, status_of
from modelpicker.server.api.responses import from_json, to_json
from modelpicker.server.live.peers import Peer

PATH = "/handover"
# Seconds that a connection to another server may take, and an answer of it. The first is short, as somebody waits.
REACH = 0.5
PATIENCE = 5.0
# Connections to one server that are kept for the next message.
KEPT = 8


class AwayError(Exception):
    """Another server did not answer: nothing is known of what it did."""


class RefusedError(Exception):
    """Another server is there, but could not do it."""


class HandedAsk(NamedTuple):
    """A round that is handed over."""

    predictions: Any
    item: dict[str, Any] | None
    key: str


class Handover(NamedTuple):
    """Rounds of one campaign."""

    campaign: str
    created: int
    """When the campaign was made: another may have its name by now."""
    asks: list[HandedAsk]

    @classmethod
    def read(cls, document: Any) -> "Handover":
        """What a message says."""
        asks = [HandedAsk(*fields) for fields in document["asks"]]
        if any(check_key(ask.key) is None for ask in asks):
            raise ValueError("a round without a key is not handed over")
        return cls(document["campaign"], document["created"], asks)

    def document(self) -> dict[str, Any]:
        """The message."""
        return {"campaign": self.campaign, "created": self.created, "asks": self.asks}


def answer(outcomes: Sequence[Decision | BaseException], storage: str) -> bytes:
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
        elif isinstance(outcome, Problem):
            found.append({"status": outcome.status_code, "detail": outcome.detail, "headers": outcome.headers})
        elif isinstance(outcome, ModelPickerError):
            detail = str(outcome).replace(storage, "the storage")
            found.append({"status": status_of(outcome), "detail": detail, "headers": None})
        else:
            raise outcome
    return to_json({"racing": racing, "outcomes": found})


def read_answer(text: bytes) -> list[Decision | Problem]:
    """What came of the rounds of a message."""
    document = from_json(text)
    racing = [tuple(models) for models in document["racing"]]
    return [_outcome(one, racing) for one in document["outcomes"]]


def _outcome(one: Any, racing: list[tuple[Any, ...]]) -> Decision | Problem:
    if isinstance(one, dict):
        return Problem(one["status"], one["detail"], one["headers"])
    number, query, probability, prediction, recommended, place = one
    return Decision(number, query, probability, prediction, recommended, racing[place])


class PeerClient:
    """Connections to other servers."""

    def __init__(self) -> None:
        self._idle: dict[str, list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]] = {}

    async def hand_over(self, peer: Peer, message: Handover) -> list[Decision | Problem]:
        """Have rounds decided by another server."""
        body = to_json(message.document())
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {peer.secret}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            found = read_answer(await self._exchange(peer, head.encode() + body))
        except (OSError, EOFError, asyncio.LimitOverrunError, LookupError, TypeError, ValueError) as error:
            raise AwayError(f"the server at {peer.host} port {peer.port}: {error!r}") from error
        if len(found) != len(message.asks):
            raise AwayError(f"the server at {peer.host} port {peer.port} answered something else")
        return found

    async def _exchange(self, peer: Peer, message: bytes) -> bytes:
        """Send a message, and read its answer; a connection that was closed meanwhile is opened anew."""
        idle = self._idle.setdefault(peer.id, [])
        while idle:
            streams = idle.pop()
            if not streams[0].at_eof() and not streams[1].is_closing():
                return await self._talk(peer, streams, message)
        async with asyncio.timeout(REACH):
            streams = await asyncio.open_connection(peer.host, peer.port)
        return await self._talk(peer, streams, message)

    async def _talk(
        self, peer: Peer, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], message: bytes
    ) -> bytes:
        reader, writer = streams
        kept = False
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(message)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                body = await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise RefusedError(f"the server at {peer.host} port {peer.port}: {body[:500]!r}")
            idle = self._idle.setdefault(peer.id, [])
            kept = len(idle) < KEPT
            if kept:
                idle.append(streams)
            return body
        finally:
            if not kept:
                writer.close()

    def close(self) -> None:
        """Let go of all connections."""
        for idle in self._idle.values():
            for _, writer in idle:
                with suppress(RuntimeError):  # the loop has ended
                    writer.close()
        self._idle.clear()


def is_known(secret: str, header: str) -> bool:
    """Whether a message comes from somebody who reads the storage."""
    return hmac.compare_digest(header.encode(), f"Bearer {secret}".encode())
