"""HTTP by hand, for what no library would send."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.server.servers import Running


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        """The body, which must be a problem as RFC 9457 has it."""
        assert self.headers["content-type"] == "application/problem+json"
        found: dict[str, Any] = json.loads(self.body)
        assert found["type"].startswith("urn:modelpicker:problem:")
        assert found["title"]
        assert found["detail"]
        assert found["status"] == self.status
        return found


@contextmanager
def connection(server: Running, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """A connection to a server, from an address of this machine."""
    with socket.create_connection(("127.0.0.1", server.port), 20, (source, 0)) as opened:
        yield opened


def head(path: str = "/health", method: str = "GET", **headers: str) -> bytes:
    """The head of a request; underlines in the names of headers stand for dashes."""
    given = {"host": "localhost", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1")


def send(server: Running, request: bytes) -> Answer:
    """The answer to some bytes."""
    with connection(server) as opened:
        opened.sendall(request)
        return receive(opened, bodiless=request.startswith(b"HEAD "))


def receive(opened: socket.socket, *, bodiless: bool = False) -> Answer:
    """One answer."""
    with opened.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers: dict[str, str] = {}
        while line := stream.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        length = 0 if bodiless else int(headers.get("content-length", 0))
        return Answer(status, headers, stream.read(length))


def is_closed(opened: socket.socket) -> bool:
    """Whether the server has hung up, or does so soon."""
    try:
        while opened.recv(2**16):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True
