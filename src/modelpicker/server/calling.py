"""Calls over HTTP that are tried again until they are answered."""

import http.client
import json
import random
import ssl
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from modelpicker.errors import (
    AccessError,
    ConflictError,
    InputError,
    ModelPickerError,
    NotFoundError,
    StorageError,
    brief,
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


class Caller:
    """Calls to one server; a connection a thread is kept open."""

    def __init__(self, url: str, token: str | None, timeout: float, patience: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"url {brief(url)}: pass where the server is, such as http://127.0.0.1:8000.")
        self.url = url
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._base = f"{parts.path.rstrip('/')}/api/v1"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout, self._patience = timeout, patience
        self._own = threading.local()

    def call(self, method: str, path: str, body: Any = None, done: type[ModelPickerError] | None = None) -> Any:
        """One call with JSON in and out.

        If a try fails without an answer and a later one fails with `done`, the first has done it.
        """
        content = None if body is None else json.dumps(body).encode()
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
                self._close()
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
                wait = float(headers.get("Retry-After") or 0)
            pause = min(LONGEST_PAUSE, pause * 2)
            wait = max(wait, pause * random.uniform(0.5, 1.0))  # noqa: S311  # not a secret
            if time.monotonic() + wait > stop:
                raise failure
            time.sleep(wait)

    def _once(self, method: str, path: str, content: bytes | None, kind: str) -> tuple[int, Any, bytes]:
        connection = self._connection()
        headers = self._headers | ({} if content is None else {"Content-Type": kind})
        connection.request(method, f"{self._base}{path}", content, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def _connection(self) -> http.client.HTTPConnection:
        found: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if found is None:
            if self._secure:
                context = ssl.create_default_context()
                found = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)
            else:
                found = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
            self._own.connection = found
        return found

    def _close(self) -> None:
        found = getattr(self._own, "connection", None)
        if found is not None:
            found.close()
        self._own.connection = None


def _failure(status: int, body: bytes) -> ModelPickerError:
    """The error that a problem stands for."""
    try:
        detail = str(json.loads(body)["detail"])
    except (ValueError, LookupError, TypeError):
        detail = f"the server answered with status {status}."
    return KINDS.get(status, StorageError)(detail)
