"""What stands before every request: foreign names turned away, sizes kept in bounds, errors kept inside."""

import asyncio
import logging
import re
import secrets
import time
import zlib
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from modelpicker.errors import ModelPickerError
from modelpicker.server.access.callers import admit
from modelpicker.server.api.problems import Problem, as_problem, problem
from modelpicker.server.configuration import Configuration
from modelpicker.server.logs import log, log_event
from modelpicker.server.metrics import Metrics

# How long a body may pause, in seconds, and how many bytes of it have to come in a second on the whole.
PATIENCE = 30.0
SLOWEST = 1_000
# What a body may have that says one thing, in bytes: a long label at most.
SMALL = 2**18
LOCAL = ("localhost", "127.0.0.1", "[::1]")
UPLOAD = re.compile(r"/api/v1/(campaigns/[^/]+/)?files")
# A campaign begins with settings, or with a file of that kind.
BEGIN = "/api/v1/campaigns"
FILE_KIND = "application/octet-stream"
ONE_THING = re.compile(r"/api/v1/(session|campaigns/[^/]+/(labels|skips|retractions|leases|notes|models))")
CLOSED = re.compile(r"/api/v1/(?!session$|openapi\.json$)|/metrics$")


def policy(media_hosts: tuple[str, ...] = ()) -> str:
    """What the page may load: its own files, and pictures and audio that come with an item or from these hosts."""
    media = " ".join(("data:", *media_hosts))
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src 'self' blob: {media}",
            f"media-src {media}",
            "connect-src 'self'",
            "font-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


HEADERS = [
    (b"content-security-policy", policy().encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
API_HEADERS = [*HEADERS, (b"cache-control", b"no-store")]
# Scripts and style sheets do nothing by themselves: the policy of the page that asks for them holds. There are many
# of them, and what each carries delays the page.
FILE_HEADERS = [
    (name, value)
    for name, value in HEADERS
    if name in (b"x-content-type-options", b"cross-origin-resource-policy", b"referrer-policy")
]
FILE_TYPES = (b"text/javascript", b"text/css")


class RequestMiddleware:
    """The outermost layer of the service."""

    def __init__(self, app: ASGIApp, configuration: Configuration, metrics: Metrics) -> None:
        self.app = app
        self.configuration = configuration
        self.metrics = metrics
        self.hosts = {*LOCAL, *(name.lower() for name in configuration.allowed_hosts)}
        self.page_headers = [(HEADERS[0][0], policy(configuration.media_hosts).encode()), *HEADERS[1:]]
        self.any_host = configuration.needs_tokens and not configuration.allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = GuardedResponse(send, scope, self.page_headers)
        try:
            headers = Headers(scope=scope)
            self._check_origin(headers)
            if self.configuration.needs_tokens and CLOSED.match(scope["path"]):
                await admit(Request(scope))  # before anything of the body is read
            await self.app(_whole(scope), self._bounded(scope, headers, receive), answer)
        except Problem as error:
            await self._fail(scope, receive, answer, error)
        except ModelPickerError as error:  # while the token was looked up
            await (await as_problem(Request(scope), error))(scope, receive, answer)
        except ClientDisconnect:
            log_event(logging.INFO, "client went away", **_facts(scope))
        except Exception as error:
            number = secrets.token_hex(6)
            log.exception("failed", extra={"facts": {"incident": number, **_facts(scope)}})
            detail = f"The server's log says more, under incident {number}."
            status = 503 if isinstance(error, OSError | MemoryError) else 500  # a full disk, say
            await self._fail(scope, receive, answer, Problem(status, detail))
        finally:
            self._count(scope, answer.status, time.perf_counter() - began)

    def _check_origin(self, headers: Headers) -> None:
        """Refuse what a page of somebody else's made a browser send."""
        host = headers.get("host", "").lower()
        if len(headers.getlist("host")) > 1:
            raise Problem(400, "The request names several hosts; send one.")
        if not self.any_host and _without_port(host) not in self.hosts:
            raise Problem(
                421,
                f"This server does not have the name {host[:100]!r}; use localhost, or add it to allowed_hosts.",
            )
        for origin in headers.getlist("origin"):
            if not host or origin.lower() not in (f"http://{host}", f"https://{host}"):
                raise Problem(403, f"Pages of {origin[:100]!r} may not use this server.")
        if (
            headers.get("sec-fetch-site", "").lower() == "cross-site"
            and headers.get("sec-fetch-mode") != "navigate"
        ):
            raise Problem(403, "Pages of other sites may not use this server.")

    def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """The body, as long as it is not too large, too slow, or in a form that we do not know."""
        largest = self.configuration.largest_body
        begins = scope["path"] == BEGIN and headers.get("content-type") == FILE_KIND
        if begins or UPLOAD.fullmatch(scope["path"]):
            largest = self.configuration.largest_file
        elif ONE_THING.fullmatch(scope["path"]):
            largest = min(SMALL, largest)
        length = headers.get("content-length")
        if length is not None and length.isdigit() and int(length) > largest:
            raise _too_large(largest)
        coding = headers.get("content-encoding", "identity").lower()
        if coding not in ("identity", "gzip"):
            raise Problem(415, f"Bodies in {coding[:50]!r} are not understood; send them as they are, or in gzip.")
        return LimitedBody(receive, largest, coding == "gzip").receive

    async def _fail(self, scope: Scope, receive: Receive, answer: "GuardedResponse", error: Problem) -> None:
        if not answer.status:
            await problem(error.status_code, error.detail, error.headers)(scope, receive, answer)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        if not route.endswith("/live"):
            self.metrics.seconds.labels(_method(scope), route, status or 499).observe(seconds)
        if self.configuration.access_log:
            log_event(logging.INFO, "request", **_facts(scope), status=status, ms=round(seconds * 1000, 2))


class GuardedResponse:
    """Sends an answer, with what every answer carries, and remembers its status."""

    def __init__(self, send: Send, scope: Scope, page_headers: list[tuple[bytes, bytes]]) -> None:
        self.send = send
        self.page_headers = page_headers
        self.is_file = scope["path"].startswith("/static/")
        self.is_page = self.is_file or scope["path"] == "/"
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = list(message.get("headers", ()))
            said = {name.lower() for name, _ in own}  # a page of its own kind has a policy of its own
            more = self._more(dict(own).get(b"content-type", b""))
            message["headers"] = [*own, *(header for header in more if header[0] not in said)]
        await self.send(message)

    def _more(self, content_type: bytes) -> list[tuple[bytes, bytes]]:
        """What an answer carries beside its own headers; files of the page say themselves how long they hold."""
        if not self.is_page or self.status >= 400:
            return API_HEADERS
        return FILE_HEADERS if self.is_file and content_type.startswith(FILE_TYPES) else self.page_headers


class LimitedBody:
    """A request's body, with bounds: also on what it becomes when it is unpacked."""

    def __init__(self, receive: Receive, largest: int, packed: bool) -> None:
        self._receive = receive
        self._largest = largest
        self._left = largest
        self._came = 0
        self._waited = 0.0
        self._unpack = zlib.decompressobj(31) if packed else None
        self._more = True

    async def receive(self) -> Message:
        """The next piece."""
        message = await self._next()
        if message["type"] != "http.request":
            return message
        body = message.get("body", b"")
        self._came += len(body)
        if self._came <= self._largest and self._unpack is not None:
            body = self._unpacked(body, last=not message.get("more_body", False))
            message = {**message, "body": body}
        self._left -= len(body)
        if self._left < 0 or self._came > self._largest:
            raise _too_large(self._largest)
        return message

    async def _next(self) -> MutableMapping[str, Any]:
        """The next message; while the body lasts, it is not waited for without end."""
        if not self._more:
            return await self._receive()
        began = time.monotonic()
        late = max(0.0, self._waited - self._came / SLOWEST)
        try:
            async with asyncio.timeout(PATIENCE - late):
                message = await self._receive()
        except TimeoutError:
            detail = f"Too little of the body came in {PATIENCE:.0f} seconds."
            raise Problem(408, detail, {"Connection": "close"}) from None
        self._waited += time.monotonic() - began
        self._more = message["type"] == "http.request" and message.get("more_body", False)
        return message

    def _unpacked(self, body: bytes, *, last: bool) -> bytes:
        assert self._unpack is not None  # noqa: S101
        try:
            found = self._unpack.decompress(body, self._left + 1)
            if self._unpack.unused_data:
                raise Problem(400, "Something follows the gzip in the body; send one gzip.")
            if last and not self._unpack.eof and len(found) <= self._left:
                raise Problem(400, "The body is not gzip, or was cut off.")
        except zlib.error as error:
            raise Problem(400, f"The body is not gzip: {error}.") from error
        return found


def _too_large(largest: int) -> Problem:
    """The connection is not closed: who is still sending would be cut off, and never see this."""
    return Problem(413, f"The body is larger than the {largest:,} bytes that are taken; send less at once.")


def _whole(scope: Scope) -> Scope:
    """The request for all of something: parts of files are not served."""
    scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"range"]
    return scope


def _without_port(host: str) -> str:
    name, mark, port = host.rpartition(":")
    return name if mark and port.isascii() and port.isdigit() else host


def _method(scope: Scope) -> str:
    """The method, of it has: what a client makes up would be counted for ever."""
    method: str = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH") else "OTHER"


def _facts(scope: Scope) -> dict[str, Any]:
    client, *_ = scope.get("client") or ("unknown",)
    return {"method": _method(scope), "path": scope["path"][:300], "client": client[:100]}
