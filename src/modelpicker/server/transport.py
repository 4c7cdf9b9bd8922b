"""Calls over HTTP that are tried again until they are answered."""

import json
import random
import re
import ssl
import threading
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
from modelpicker.extras import require

if TYPE_CHECKING:
    import httpx2

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
# Of these, a proxy's own: what it has passed on may be done.
UNSURE = (502, 504)
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
# The longest that is waited because a server asks for it, and that a call may take: a year.
LONGEST_WISH = 600.0
LONGEST = 31_536_000.0


class Transport:
    """Calls to one server; may be used by several threads, and keeps as many connections open."""

    def __init__(
        self,
        url: str,
        token: str | None,
        timeout: float,
        patience: float,
        http_client: "httpx2.Client | None" = None,
    ) -> None:
        require("client")
        self.url = _check_url(url)
        self._headers = {"Authorization": f"Bearer {_check_token(token)}"} if token else {}
        self._timeout = _seconds("timeout", timeout)
        self._patience = _seconds("patience", patience, least=0.0)
        self._given = _check_http_client(http_client)
        self._own: httpx2.Client | None = None
        self._lock = threading.Lock()

    def call(self, method: str, path: str, body: Any = None, done: type[ModelPickerError] | None = None) -> Any:
        """One call with JSON in and out.

        If a try fails without an answer and a later one fails with `done`, the first has done it.
        """
        content = None if body is None else json.dumps(body, default=_plain).encode()
        found = self._try(method, path, content, "application/json", done)
        return json.loads(found) if found else None

    def send(self, path: str, content: bytes, done: type[ModelPickerError] | None = None) -> Any:
        """Send a file; `done` as for `call`."""
        found = self._try("POST", path, content, "application/octet-stream", done)
        return json.loads(found) if found else None

    def fetch(self, path: str) -> bytes:
        """Fetch a file."""
        return self._try("GET", path, None, "application/json", None)

    def _try(
        self, method: str, path: str, content: bytes | None, kind: str, done: type[ModelPickerError] | None
    ) -> bytes:
        import httpx2

        unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
        headers = self._headers | ({} if content is None else {"Content-Type": kind})
        stop = monotonic() + self._patience
        pause, unsure = FIRST_PAUSE, False
        while True:
            wait = 0.0
            try:
                answer = self._http().request(method, f"{self.url}/api/v1{path}", content=content, headers=headers)
            except httpx2.RequestError as error:
                failure: ModelPickerError = StorageError(
                    f"{self.url} does not answer: {str(error) or type(error).__name__}."
                )
                if _is_untrusted(error):
                    raise failure from error
                unsure |= not isinstance(error, unsent)
            else:
                if answer.is_success:
                    return answer.content
                failure = _failure(answer.status_code, answer.content)
                if unsure and done is not None and isinstance(failure, done):
                    return b""
                if answer.status_code not in AGAIN:
                    raise failure
                unsure |= answer.status_code in UNSURE
                wait = _wish(answer.headers.get("Retry-After"))
            pause = min(LONGEST_PAUSE, pause * 2)
            wait = max(wait, pause * random.uniform(0.5, 1.0))  # noqa: S311  # not a secret
            if monotonic() + wait > stop:
                raise failure
            sleep(wait)

    def _http(self) -> "httpx2.Client":
        """What sends requests: what the user has given, or one made for the first call."""
        if self._given is not None:
            return self._given
        with self._lock:
            if self._own is None:
                import httpx2

                self._own = httpx2.Client(timeout=self._timeout, limits=httpx2.Limits())
            return self._own

    def close(self) -> None:
        """Close its connections; calls open others. What the user has given stays open."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.close()

    def __del__(self) -> None:
        if getattr(self, "_own", None) is not None:
            self.close()


def _check_url(url: object) -> str:
    """Where a server is, without a slash at the end."""
    import httpx2

    try:
        parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
        found = httpx2.URL(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", port=parts.port)
    except (ValueError, httpx2.InvalidURL):  # a port that is none, a name that is none
        found = httpx2.URL("")
    if found.scheme not in ("http", "https") or not found.host:
        raise InputError(
            f"url {brief(url)}: pass where the server is, such as http://127.0.0.1:8000.", parameter="url"
        )
    return str(found).rstrip("/")


def _check_token(token: object) -> str:
    """A token that can be sent; an error does not show it, as it is a secret."""
    if not isinstance(token, str) or not re.fullmatch(r"[!-~]+", token):
        raise InputError(
            "token: pass the text that `modelpicker tokens create` printed, without spaces.", parameter="token"
        )
    return token


def _check_http_client(given: Any) -> "httpx2.Client | None":
    """Something that sends requests and waits for the answers."""
    import httpx2

    if given is None or isinstance(given, httpx2.Client):
        return given
    raise InputError(f"http_client {brief(given)}: pass an httpx2.Client, or nothing.", parameter="http_client")


def _is_untrusted(error: BaseException) -> bool:
    """Whether a certificate was refused: it will be the next time, too."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, ssl.SSLCertVerificationError):
        found = found.__cause__ or found.__context__
    return found is not None


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
