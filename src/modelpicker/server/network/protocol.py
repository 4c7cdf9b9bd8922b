"""Connections: none is kept for a client that sends no request, sends one without end, or reads no answer.

uvicorn leaves all of that to a proxy, and answers by itself what is not HTTP; here that answer is a problem too,
with the headers that all answers have. What is not HTTP is answered in its turn: after the requests before it.
"""

import asyncio
import re
from http import HTTPStatus
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from modelpicker.server.api.problems import problem
from modelpicker.server.live.group_commit import CommitQueues
from modelpicker.server.live.handover import GREETING, TakingOver
from modelpicker.server.network.middleware import HEADERS

# How long the head of a request may take, and a client that reads nothing about its answer, in seconds.
PATIENCE = 30.0
# Bytes that a request may have beside its body: its head, the marks between chunks, what comes after the last.
LARGEST_HEAD = 2**16
# How long something is read of a request that was refused, in seconds.
LINGER = 2.0
# The parser knows some methods, and takes a request with any other for no HTTP. It is given one that it knows, and
# that is allowed nowhere, so that the answer is that of the address: 405, and what can be done there.
METHOD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
LONGEST_METHOD = 64
USUAL = (b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT", b"PRI")
STAND_IN = b"PROPFIND"
# Where the application's state has its queues.
QUEUES = "queues"


class Refusal(NamedTuple):
    """An answer that is given here, and not by the application."""

    status: int
    detail: str


class Connection(HttpToolsProtocol):
    """A client, and the requests that it sends one after the other."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.running: RequestResponseCycle | None = None
        """The request that is being answered; uvicorn knows only the last that came in."""
        self._beside = self._body = 0
        self._between = True
        """Whether the next byte begins a request."""
        self._held = b""
        self._method: str | None = None
        self._refused = False
        self._first = True
        self._refusal: Refusal | None = None
        self._silent: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody calls; they should say what they want."""
        super().connection_made(transport)
        self._expect(PATIENCE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever still answers: with two requests at once, uvicorn tells only the second."""
        super().connection_lost(exc)
        self._clear()
        self.resume_writing()
        self._drop()

    def _drop(self) -> None:
        """Whatever is under way is for nobody any more."""
        self.pipeline.clear()
        if self.running is not None and not self.running.response_complete:
            self.running.disconnected = True
            self.running.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Take in some more, unless it is too much of what no body is."""
        if self._refused or self._is_server(data):
            return
        self._beside += len(data)
        data = self._with_known_method(data)
        if data:
            super().data_received(data)
        if self._beside > LARGEST_HEAD + self._body:
            self._refuse(431, f"The headers of the request are larger than {LARGEST_HEAD:,} bytes.")

    def _is_server(self, data: bytes) -> bool:
        """Whether another server on the same storage calls: from here on, it hands over rounds."""
        queues: CommitQueues | None = self.app_state.get(QUEUES)
        if queues is None or not (self._first and data.startswith(GREETING)):
            self._first = False
            return False
        greeting, _, rest = data.partition(b"\n")
        if not queues.peers.is_greeted(greeting):
            self._refuse(403, "This is for other servers on the same storage.")
            return True
        self._clear()
        self.connections.discard(self)
        other: TakingOver = TakingOver(self.transport, queues.decide, self.connections)
        self.transport.set_protocol(other)
        other.data_received(rest)
        return True

    def _with_known_method(self, data: bytes) -> bytes:
        """The beginning of a request, with a method that the parser knows; nothing until the method is there."""
        if not self._between:
            return data
        start = (self._held + data).lstrip(b"\r\n")
        self._held, self._method = b"", None
        method, space, rest = start.partition(b" ")
        if not METHOD.fullmatch(method) or len(method) > LONGEST_METHOD:
            return start
        if not space:
            self._held = start
            return b""
        if method in USUAL:
            return start
        self._method = method.decode("ascii")
        return STAND_IN + space + rest

    def on_message_begin(self) -> None:
        """A request begins."""
        self._between = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head of a request is there; the application is told about the method that was sent."""
        super().on_headers_complete()
        if self._method is not None:
            self.scope["method"], self._method = self._method, None

    def on_body(self, body: bytes) -> None:
        """Count what belongs to a body."""
        self._beside -= len(body)
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin to count again."""
        super().on_message_complete()
        self._between = True
        self._beside = self._body = 0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._clear()
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Wait for the next request.

        For a while if there is nothing about it, and not for ever if it comes slowly.
        """
        super().on_response_complete()
        if self._under_way:
            return
        if self._refusal is not None:
            self._hang_up(self._refusal)
        else:
            self._expect(self.timeout_keep_alive + PATIENCE)

    @property
    def _closing(self) -> bool:
        return self._refused or self.transport.is_closing()

    @property
    def _under_way(self) -> bool:
        return self.running is not None and not self.running.response_complete

    def _expect(self, seconds: float) -> None:
        self._clear()
        if not self.transport.is_closing():
            self._silent = self.loop.call_later(seconds, self._give_up)

    def _clear(self) -> None:
        if self._silent is not None:
            self._silent.cancel()
            self._silent = None

    def _give_up(self) -> None:
        if self._beside > 0 and self._body == 0:
            self._refuse(408, f"The request did not come within {PATIENCE:.0f} seconds.")
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """The client is slow to read; wait, but not for ever."""
        super().pause_writing()
        if self._stuck is None:
            self._stuck = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads on."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._refuse(400, f"{msg} Send HTTP/1.1, with either a Content-Length or chunks.")

    def _refuse(self, status: int, detail: str) -> None:
        """Answer here, and hang up, once the requests before it are answered.

        A request whose own body is not HTTP is given up; unless its answer is on its way, which this would garble.
        """
        self._clear()
        if self._closing:
            return
        self._refused = True
        refusal = Refusal(status, detail)
        last: RequestResponseCycle | None = self.cycle
        if last is not None and last.more_body and not self._between:
            if last is self.running and last.response_started and self._under_way:
                self.transport.close()
                return
            if last is self.running:
                self._drop()
                self._hang_up(refusal)
                return
            if self.pipeline and self.pipeline[0][0] is last:
                self.pipeline.popleft()
        if self._under_way:
            self._refusal = refusal
        else:
            self._hang_up(refusal)

    def _hang_up(self, refusal: Refusal) -> None:
        """Give the last answer; what is still sent is read for a while, or the sender would never see it."""
        if self.transport.is_closing():
            return
        made = problem(*refusal)
        head = [*self.server_state.default_headers, *made.raw_headers, *HEADERS, (b"connection", b"close")]
        phrase = HTTPStatus(refusal.status).phrase.encode()
        lines = [
            b"HTTP/1.1 %d %s\r\n" % (refusal.status, phrase),
            *(b"%s: %s\r\n" % pair for pair in head),
            b"\r\n",
        ]
        self.transport.write(b"".join(lines) + bytes(made.body))
        self.transport.write_eof()
        self._silent = self.loop.call_later(LINGER, self.transport.close)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for WebSockets is answered as if they had not; that is no news for the log."""
