"""Calls over HTTP that are tried again until they are answered."""

import http.client
import json
import random
import ssl
import threading
import time
from typing import Any
from urllib.parse import SplitResult, urlsplit

from modelpicker.errors import (
    AccessError,
    ConflictError,
    InputError,
    ModelPickerError,
    NotFoundError,
    StorageError,
    brief,
    is_number,
)

KINDS: dict[int, type[ModelPickerError]] = {
    400: InputError,
    401: AccessError,
    403: AccessError,
    404: NotFoundError,
    409: ConflictError,
    413: InputError,
    415: InputError,
    421: AccessError,
    422: InputError,
    429: AccessError,
}
AGAIN = (408, 429, 502, 503, 504)
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
# The longest that is waited because a server asks for it, and that a call may take: a year.
LONGEST_WISH = 600.0
LONGEST = 31_536_000.0


class Caller:
    """Calls to one server; may be used by several threads, and keeps as many connections open."""

    def __init__(self, url: str, token: str | None, timeout: float, patience: float) -> None:
        parts, port = _split(url)
        self.url = url
        self._host, self._port, self._secure = parts.hostname or "", port, parts.scheme == "https"
        self._base = f"{parts.path.rstrip('/')}/api/v1"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = _seconds("timeout", timeout)
        self._patience = _seconds("patience", patience, least=0.0)
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def call(self, method: str, path: str, body: Any = None, done: type[ModelPickerError] | None = None) -> Any:
        """One call with JSON in and out.

        If a try fails without an answer and a later one fails with `done`, the first has done it.
        """
        content = None if body is None else json.dumps(body, default=_plain).encode()
        found = self._try(method, path, content, "application/json", done)
        return json.loads(found) if found else None

    def send(self, path: str, content: bytes) -> Any:
        """Send a file."""
        return json.loads(self._try("POST", path, content, "application/octet-stream", None))

    def fetch(self, path: str) -> bytes:
        """Fetch a file."""
        return self._try("GET", path, None, "application/json", None)

    def _try(
        self, method: str, path: str, content: bytes | None, kind: str, done: type[ModelPickerError] | None
    ) -> bytes:
        stop = time.monotonic() + self._patience
        pause, unsure = FIRST_PAUSE, False
        while True:
            wait = 0.0
            try:
                status, headers, body = self._once(method, path, content, kind)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                unsure = True
                failure: ModelPickerError = StorageError(
                    f"{self.url} does not answer: {str(error) or type(error).__name__}."
                )
            else:
                if status < 300:
                    return body
                failure = _failure(status, body)
                if unsure and done is not None and isinstance(failure, done):
                    return b""
                if status not in AGAIN:
                    raise failure
                wait = _wish(headers.get("Retry-After"))
            pause = min(LONGEST_PAUSE, pause * 2)
            wait = max(wait, pause * random.uniform(0.5, 1.0))  # noqa: S311  # not a secret
            if time.monotonic() + wait > stop:
                raise failure
            time.sleep(wait)

    def _once(self, method: str, path: str, content: bytes | None, kind: str) -> tuple[int, Any, bytes]:
        headers = self._headers | ({} if content is None else {"Content-Type": kind})
        connection = self._connection()
        try:
            connection.request(method, f"{self._base}{path}", content, headers)
            answer = connection.getresponse()
            found = answer.status, answer.headers, answer.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return found

    def _connection(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)

    def close(self) -> None:
        """Close the connections that nobody uses; calls open others."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        for connection in getattr(self, "_idle", ()):
            connection.close()


def _split(url: object) -> tuple[SplitResult, int | None]:
    """Where a server is, and its port if one is given."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
        port = parts.port
    except ValueError:  # a port that is none
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            f"url {brief(url)}: pass where the server is, such as http://127.0.0.1:8000.", parameter="url"
        )
    return parts, port


def _seconds(name: str, value: Any, least: float = 0.001) -> float:
    """How long something may take."""
    if not is_number(value) or not least <= value <= LONGEST:
        raise InputError(
            f"{name}={brief(value)}: pass a number of seconds, from {least:g} to {LONGEST:,.0f}.", parameter=name
        )
    return float(value)


def _wish(given: str | None) -> float:
    """For how many seconds a server asks to wait; nothing if it says so in another form."""
    try:
        seconds = float(given or 0)
    except ValueError:
        return 0.0
    return min(seconds, LONGEST_WISH) if seconds > 0 else 0.0


def _failure(status: int, body: bytes) -> ModelPickerError:
    """The error that a problem stands for."""
    try:
        detail = str(json.loads(body)["detail"])
    except (ValueError, LookupError, TypeError):
        detail = f"the server answered with status {status}."
    return KINDS.get(status, StorageError)(detail)


def _plain(value: Any) -> Any:
    """A number of NumPy's as Python has it."""
    if hasattr(value, "item"):
        return value.item()
    raise InputError(f"{brief(value)} cannot be sent as JSON; pass strings, whole numbers or None.")
