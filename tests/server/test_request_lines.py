"""Request lines that no client would send: each is answered, and nothing is read after what is not HTTP."""

import random
import re
import string

import pytest

from tests.server.raw import connection, head, is_closed, receive, send
from tests.server.servers import API, Running

REST = b" HTTP/1.1\r\nhost: localhost\r\n\r\n"
GOOD = head("/health")
NO_HTTP = {
    "a byte above 127 in the path": b"GET /\xff" + REST,
    "UTF-8 in the path": "GET /caf\u00e9".encode() + REST,
    "a byte above 127 in the query": b"GET /health?a=\xe9" + REST,
    "a byte above 127 for a path": b"GET \xff" + REST,
    "a byte above 127 in the method": b"G\xc9T /health" + REST,
    "a byte above 127 in the version": b"GET /health HTTP/1.\xb9\r\n\r\n",
    "a null in the path": b"GET /h\x00" + REST,
    "a byte above 127 in a header's name": b"GET /health HTTP/1.1\r\nhost: localhost\r\nx\xff: a\r\n\r\n",
    "no path": b"GET" + REST,
    "a tab": b"GET\t/health" + REST,
    "no slash": b"GET health" + REST,
    "another protocol": b"GET /health HTTX/1.1\r\n\r\n",
    "a version that never was": b"GET /health HTTP/1.7\r\n\r\n",
    "an authority that is none": b"GET http://[::1/health" + REST,
    "a port that is none": b"GET http://localhost:99999/health" + REST,
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a method without end": b"A" * 200 + b" /health" + REST,
    "CONNECT": b"CONNECT localhost:80" + REST,
}


@pytest.mark.parametrize("request_bytes", NO_HTTP.values(), ids=NO_HTTP)
def test_what_is_no_http_is_answered_with_400(server: Running, request_bytes: bytes) -> None:
    with connection(server) as opened:
        opened.sendall(request_bytes)
        answer = receive(opened)
        assert answer.status == 400
        assert answer.problem["detail"].startswith("Invalid HTTP request")
        assert answer.headers["connection"] == "close"
        assert is_closed(opened)


@pytest.mark.parametrize("method", ["FOO", "get", "GETT", "PROPFIND", "M-SEARCH", "SOURCE", "X" * 64, "!"])
@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/health", "GET"), (f"{API}/campaigns", "GET, POST"), (f"{API}/campaigns/x/labels", "GET, POST")],
)
def test_an_unknown_method_is_answered_with_405_and_what_can_be_done_there(
    server: Running, method: str, path: str, allowed: str
) -> None:
    with connection(server) as opened:
        for _ in range(2):  # the connection is as good as before
            opened.sendall(head(path, method))
            answer = receive(opened)
            assert answer.status == 405
            assert answer.problem["title"]
            assert answer.headers["allow"] == allowed
        opened.sendall(GOOD)
        assert receive(opened).status == 200


def test_an_unknown_method_where_there_is_nothing_is_answered_with_404(server: Running) -> None:
    assert send(server, head("/nothing", "FOO")).status == 404


def test_a_request_that_comes_byte_by_byte_is_read_all_the_same(server: Running) -> None:
    for request, status in ((GOOD, 200), (head("/health", "FOO"), 405), (NO_HTTP["no slash"], 400)):
        with connection(server) as opened:
            for place in range(len(request)):
                opened.sendall(request[place : place + 1])
            assert receive(opened).status == status


@pytest.mark.parametrize("before", [1, 3])
@pytest.mark.parametrize("path", ["/health", f"{API}/campaigns"])
def test_requests_before_one_that_is_no_http_are_answered_first(server: Running, before: int, path: str) -> None:
    with connection(server) as opened:
        opened.sendall(head(path) * before + NO_HTTP["a byte above 127 in the path"])
        with opened.makefile("rb") as stream:
            text = stream.read()
    found = [int(status) for status in re.findall(rb"HTTP/1.1 (\d+)", text)]
    assert found == [200] * before + [400]


def test_whatever_is_sent_for_a_request_line_is_answered(server: Running) -> None:
    """Two hundred lines of all kinds, by a fixed seed: words, bytes, separators, in any order."""
    draw = random.Random(16)
    words = [
        b"GET",
        b"FOO",
        b"get",
        b"/health",
        b"/\xff",
        b"*",
        b"HTTP/1.1",
        b"HTTP/9",
        b"\x00",
        b"http://a/",
        b"%zz",
    ]
    separators = [b" ", b"  ", b"\t", b"", b"\x0b"]
    printable = string.printable.encode()
    for number in range(200):
        parts = [draw.choice(words) for _ in range(draw.randrange(1, 5))]
        if number % 3 == 0:
            parts.append(bytes(draw.randrange(256) for _ in range(draw.randrange(1, 20))))
        if number % 3 == 1:
            parts.append(bytes(draw.choice(printable) for _ in range(draw.randrange(1, 20))))
        line = b"".join(part + draw.choice(separators) for part in parts)
        with connection(server) as opened:
            opened.sendall(line.replace(b"\n", b"") + b"\r\nhost: localhost\r\n\r\n")
            answer = receive(opened)
        assert answer.status in (200, 400, 404, 405, 421), line
        if answer.status >= 400:
            assert answer.problem["status"] == answer.status
    assert send(server, GOOD).status == 200
