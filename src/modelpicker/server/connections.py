"""Connections: none is kept for a client that sends no request, sends one without end, or reads no answer.

uvicorn leaves all of that to a proxy, and answers by itself what is no HTTP; here that answer is a problem too,
with the headers that all answers have.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from modelpicker.server.guard import HEADERS
from modelpicker.server.problems import problem

# How long the head of a request may take, and a client that reads nothing of its answer, in seconds.
PATIENCE = 30.0
# Bytes that a request may have beside its body: its head, the marks between chunks, what comes after the last.
LARGEST_HEAD = 2**16
# How long something is read of a request that was refused, in seconds.
LINGER = 2.0


class Connection(HttpToolsProtocol):
    """A client, and the requests that it sends one after the other."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.running: RequestResponseCycle | None = None
        """The request that is being answered; uvicorn knows only the last that came in."""
        self._beside = self._body = 0
        self._refused = False
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
        if self._refused:
            return
        self._beside += len(data)
        super().data_received(data)
        if self._beside > LARGEST_HEAD + self._body:
            self._refuse(431, f"The head of the request is larger than {LARGEST_HEAD:,} bytes.")

    def on_body(self, body: bytes) -> None:
        """Count what belongs to a body."""
        self._beside -= len(body)
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin to count anew."""
        super().on_message_complete()
        self._beside = self._body = 0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._clear()
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Wait for the next request: for a while if there is nothing of it, and not for ever if it comes slowly."""
        super().on_response_complete()
        if not self._under_way:
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
        """Answer what is no HTTP."""
        self._refuse(400, f"{msg} Send HTTP/1.1, with either a Content-Length or chunks.")

    def _refuse(self, status: int, detail: str) -> None:
        """Answer here, and hang up; unless there is an answer on its way, which this would garble.

        Who is still sending would be cut off, and never see the answer: what they send is read for a moment.
        """
        self._clear()
        if self._closing:
            return
        if self.running is not None and self.running.response_started and self._under_way:
            self.transport.close()
            return
        self._drop()
        made = problem(status, detail)
        head = [*self.server_state.default_headers, *made.raw_headers, *HEADERS, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d \r\n" % status, *(b"%s: %s\r\n" % pair for pair in head), b"\r\n"]
        self.transport.write(b"".join(lines) + bytes(made.body))
        self.transport.write_eof()
        self._refused = True
        self._silent = self.loop.call_later(LINGER, self.transport.close)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for WebSockets is answered as if they had not; that is no news for the log."""
