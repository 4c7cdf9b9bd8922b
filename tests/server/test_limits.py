"""What is too large, too slow, or is not valid: every answer is a problem, and nobody else is held up."""

import gzip
import io
import json
import re
import socket
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modelpicker.campaigns import Campaign
from modelpicker.errors import InputError
from modelpicker.server.live.group_commit import CommitQueue, QueuedWrite
from modelpicker.server.network import middleware, protocol, upload_limits
from tests.server.raw import Answer, connection, head, is_closed, receive, send
from tests.server.servers import API, Running, serving

BODY, FILE = 20_000, 50_000
JSON = {"content_type": "application/json"}


@pytest.fixture(scope="session")  # a worker may come back to this file
def small() -> Iterator[Running]:
    """A server that takes little, with a campaign."""
    with serving("memory://limits", largest_body=BODY, largest_file=FILE) as running:
        made = {"name": "c", "models": ["ant", "bee"]}
        assert running.post("/campaigns", made).status_code == 201
        yield running


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for something that will happen."""
    stop = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < stop, "it did not happen"
        time.sleep(0.005)


def with_body(path: str, body: bytes, **headers: str) -> bytes:
    return head(f"{API}{path}", "POST", content_length=str(len(body)), **{**JSON, **headers}) + body


def in_chunks(path: str, *chunks: bytes, **headers: str) -> bytes:
    start = head(f"{API}{path}", "POST", transfer_encoding="chunked", **{**JSON, **headers})
    return start + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def of_size(size: int) -> bytes:
    """A round of exactly that many bytes."""
    start, end = b'{"predictions":["x","y"],"item":{"text":"', b'"}}'
    return start + b"a" * (size - len(start) - len(end)) + end


# Sizes.


def test_a_body_may_be_as_large_as_is_allowed_and_no_larger(small: Running) -> None:
    for make in (with_body, in_chunks):
        assert send(small, make("/campaigns/c/rounds", of_size(BODY))).status == 200
        answer = send(small, make("/campaigns/c/rounds", of_size(BODY + 1)))
        assert answer.status == 413
        assert f"{BODY:,}" in answer.problem["detail"]


def test_a_body_that_promises_to_be_too_large_is_refused_before_it_comes(small: Running) -> None:
    for path in ("/campaigns", "/campaigns/c/rounds", "/files?filename=a.csv", "/nowhere"):
        answer = send(small, head(f"{API}{path}", "POST", content_length="99999999", **JSON))
        assert answer.status == 413
        assert answer.problem["type"].endswith("too-large")


def test_a_file_may_be_larger_than_other_bodies(small: Running) -> None:
    table = b"ant,bee\n" + b"x,y\n" * 10_000
    assert BODY < len(table) < FILE
    assert send(small, with_body("/files?filename=a.csv", table)).status == 200
    assert send(small, with_body("/files?filename=a.csv", table + table)).status == 413
    assert send(small, in_chunks("/files?filename=a.csv", table, table)).status == 413


def test_what_says_one_thing_is_small(server: Running) -> None:
    flood = b"{%s}" % b",".join(b'"%d":0' % number for number in range(40_000))
    for path in ("session", "campaigns/c/labels", "campaigns/c/skips", "campaigns/c/models", "campaigns/c/leases"):
        assert send(server, with_body(f"/{path}", flood)).status == 413
    assert send(server, with_body("/campaigns/c/labels", b'{"label": "%s"}' % (b"x" * 100_000))).status == 404


def test_a_client_that_is_still_sending_learns_that_it_is_too_much(small: Running, tmp_path: Path) -> None:
    (tmp_path / "large.csv").write_bytes(b"ant,bee\n" + b"x,y\n" * 2_000_000)
    with small.client(patience=0) as client:
        campaign = client.campaign("c")
        with pytest.raises(InputError, match="larger than the 50,000 bytes"):
            campaign.upload(tmp_path / "large.csv")
        assert campaign.describe()["name"] == "c"


# Packed bodies.

PLAIN = b'{"predictions": ["x", "y"]}'
PACKED = gzip.compress(PLAIN, mtime=0)
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"


def unfinished() -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(PLAIN) + packer.flush(zlib.Z_FULL_FLUSH)


@pytest.mark.parametrize(
    ("coding", "body", "status"),
    [
        ("gzip", PACKED, 200),
        ("GZip", PACKED, 200),
        ("identity", PLAIN, 200),
        ("gzip", gzip.compress(of_size(BODY), mtime=0), 200),
        ("gzip", gzip.compress(of_size(BODY + 1), mtime=0), 413),
        ("gzip", gzip.compress(b"\0" * 10_000_000, mtime=0), 413),
        ("gzip", gzip.compress(PACKED, mtime=0), 400),
        ("gzip", PACKED[:-1], 400),
        ("gzip", PACKED[:10], 400),
        ("gzip", b"", 400),
        ("gzip", PLAIN, 400),
        ("gzip", PACKED + b"and more", 400),
        ("gzip", PACKED + PACKED, 400),
        ("gzip", zlib.compress(PLAIN), 400),
        ("gzip", PACKED[:20] + b"\xff" * 20, 400),
        ("gzip", unfinished() + EMPTY_BLOCK * (BODY // 5), 413),
        ("deflate", zlib.compress(PLAIN), 415),
        ("br", PLAIN, 415),
        ("gzip, gzip", gzip.compress(PACKED, mtime=0), 415),
        ("\xff", PLAIN, 415),
    ],
)
def test_packed_bodies_are_as_bounded_as_others(small: Running, coding: str, body: bytes, status: int) -> None:
    half = len(body) // 2
    for request in (
        with_body("/campaigns/c/rounds", body, content_encoding=coding),
        in_chunks("/campaigns/c/rounds", *filter(None, (body[:half], body[half:])), content_encoding=coding),
    ):
        answer = send(small, request)
        assert answer.status == status
        if status >= 400:
            assert answer.problem


# Things that are not what the API describes.

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "null",
        "[]",
        '"x"',
        "NaN",
        DEEP,
        '{"a":' * 100_000,
        "\x00",
        "\ufeff{}",
        '{"predictions": NaN}',
        '{"predictions": [Infinity, "x"]}',
        '{"predictions": ["\\ud800", "x"]}',
        '{"predictions": ["x", "y"], "key": "\\ud800"}',
        '{"predictions": ["x", "y"], "key": "\\u0000"}',
        '{"predictions": ["x", "y"], "key": ""}',
        '{"predictions": ["x", "y"], "item": {"x": NaN}}',
        '{"predictions": ["x", "y"], "item": {"x": -Infinity}}',
        '{"predictions": ["x", "y"], "item": {"x": 1e999}}',
        '{"predictions": ["x", "y"], "item": {"\\udfff": 1}}',
        '{"predictions": ["x", "y"], "item": {"x": ' + DEEP + "}}",
        '{"predictions": ["x", "y"], "item": {"x": ' + "9" * 10_000 + "}}",
        '{"predictions": ["x", "y"], "item": {"x": ' + '{"y":' * 60 + "1" + "}" * 60 + "}}",
        '{"predictions": [' + "9" * 10_000 + ', "x"]}',
        '{"predictions": [9223372036854775808, 1]}',
        '{"predictions": [1.5, 2]}',
        '{"predictions": [true, false]}',
        '{"predictions": [["x"], "y"]}',
        '{"predictions": ["x"]}',
        '{"predictions": {"ant": "x"}}',
        '{"predictions": {"' + "9" * 5_000 + '": "x", "bee": "y"}}',
        '{"predictions": ["x", "y"], "unknown": 1}',
        '{"predictions": ["x", 1]}',
    ],
)
def test_rounds_that_make_no_sense_are_problems(server: Running, name: str, body: str) -> None:
    server.post("/campaigns", {"name": name, "models": ["ant", "bee"]})
    encoded = body.encode("utf-8", "surrogatepass")
    answer = send(server, with_body(f"/campaigns/{name}/rounds", encoded))
    assert answer.status in (400, 422)
    assert answer.problem
    assert server.get(f"/campaigns/{name}").json()["rounds"] == 0


@pytest.mark.parametrize("verb", ["rounds", "labels", "labels/batch", "rounds/batch", "skips", "leases", "models"])
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
        (b"{}", "application/x-www-form-urlencoded", 415),
        (b"{}", "multipart/form-data; boundary=x", 415),
        (b"{}", "\xff", 415),
        (b"\xff\xfe", "application/json", 400),
        ('{"id": 0}'.encode("utf-16"), "application/json", 400),
        (b'{"id": "\xc3\x28"}', "application/json", 400),
        (b'{"unknown": 1}', "application/json; charset=nonsense", 422),
    ],
)
def test_bodies_of_another_kind_are_problems(
    small: Running, verb: str, body: bytes, kind: str, status: int
) -> None:
    answer = send(small, with_body(f"/campaigns/c/{verb}", body, content_type=kind))
    assert answer.status == status
    assert answer.problem


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ('{"name": "a/b", "models": 2}', 422),
        ('{"name": "..", "models": 2}', 422),
        ('{"name": "a\\u0000", "models": 2}', 422),
        ('{"name": "\\ud800", "models": 2}', 400),
        ('{"name": "x", "models": ["\\ud800", "b"]}', 400),
        ('{"name": "x", "models": ["a", "b"], "classes": ["\\udfff"]}', 400),
        ('{"name": "x", "models": 99999999999}', 422),
        ('{"name": "x", "models": [], "classes": []}', 422),
        ('{"name": "x", "models": [[], {}]}', 422),
        ('{"name": "x", "models": 2, "seed": ' + "9" * 4_000 + "}", 422),
        ('{"name": "x", "models": 2, "budget": 1e400}', 422),
        ('{"name": "x", "models": 2, "options": {"query_scale": NaN}}', 422),
        ('{"name": "x", "models": 2, "options": {"self": 1}}', 422),
        ('{"name": "x", "models": 2, "options": {"seed": 1}}', 422),
        ('{"name": "x", "models": 2, "algorithm": "os:system"}', 422),
    ],
)
def test_campaigns_that_make_no_sense_are_problems(server: Running, body: str, status: int) -> None:
    answer = send(server, with_body("/campaigns", body.encode()))
    assert answer.status == status
    assert answer.problem


def test_of_a_key_that_is_given_twice_the_last_counts_and_nothing_breaks(small: Running) -> None:
    body = b'{"predictions": ["x", "y"], "predictions": ["z", "z"], "item": {"a": 1, "a": 2}}'
    made = send(small, with_body("/campaigns/c/rounds", body))
    assert made.status == 200
    assert json.loads(made.body)["prediction"] == "z"


def test_a_flood_of_errors_is_told_in_a_few_words(server: Running, name: str) -> None:
    server.post("/campaigns", {"name": name, "models": 2})
    bad_pairs = b'{"labels": [%s]}' % b",".join([b"[[], {}]"] * 100_000)
    unknown = b"{%s}" % b",".join(b'"%d": 0' % number for number in range(20_000))
    for path, body in (("labels/batch", bad_pairs), ("rounds/batch", unknown), ("rounds", unknown)):
        answer = send(server, with_body(f"/campaigns/{name}/{path}", body))
        assert answer.status == 422
        assert answer.problem
        assert len(answer.body) < 20_000


# Paths and methods.


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "//evil.example",
        "/static/",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/%00",
        "/static/main.js%00.css",
        "/static/main.js/more",
        "/static/css",
        "/static/" + "a" * 5_000,
        "/static/" + "a/" * 5_000,
        "/api/v1",
        "/api/v2/campaigns",
        "/api/v1/campaigns/",
        "/api/v1/campaigns/nowhere",
        "/api/v1/campaigns/..%2f..%2fetc",
        "/api/v1/campaigns/a%2fb",
        "/api/v1/campaigns/%00",
        "/api/v1/campaigns/%ff%fe",
        "/api/v1/campaigns/%1b[31m%0aINFO",
        "/api/v1/campaigns/" + "a" * 5_000,
        "/docs",
        "/redoc",
    ],
)
def test_what_is_not_there_is_a_problem(server: Running, path: str) -> None:
    answer = send(server, head(path))
    assert answer.status in (404, 422)
    assert answer.problem


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "PROPFIND"])
@pytest.mark.parametrize("path", ["/health", "/", "/api/v1/campaigns", "/api/v1/session", "/static/main.js"])
def test_what_cannot_be_done_is_a_problem_that_says_what_can(server: Running, method: str, path: str) -> None:
    answer = send(server, head(path, method))
    if (method, path) in (("HEAD", "/static/main.js"), ("DELETE", "/api/v1/session")):
        assert answer.status < 300
        return
    assert answer.status == 405
    if path != "/static/main.js":
        assert answer.headers["allow"]
    if method != "HEAD":
        assert answer.problem["type"].endswith("wrong-method")


@pytest.mark.parametrize("part", ["bytes=0-1", "bytes=x", "bytes=999999999-", "lines=1-2", "bytes=0-1,3-4", "\xff"])
def test_files_are_served_whole(server: Running, part: str) -> None:
    answer = send(server, head("/static/main.js", range=part))
    assert answer.status == 200
    assert answer.body == send(server, head("/static/main.js")).body


# Requests that are not HTTP, or two things at once.

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "start",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5, 5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \xb2\r\n\r\nab",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        b"POST / HTTP/1.1\nHost: localhost\n\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n X: folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x1bb\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX\r\n\r\n",
        b"GET /\x80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\x1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        pytest.param(b"MADE-UP / HTTP/1.1\r\nHost: localhost\r\n\r\n", marks=pytest.mark.slow),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00" * 100,
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_and_what_follows_is_not_read(
    server: Running, start: bytes
) -> None:
    with connection(server) as opened:
        opened.sendall(start + SMUGGLED)
        first = receive(opened)
        assert first.status in (400, 405)
        assert first.problem
        assert is_closed(opened) or first.status == 405


def test_requests_that_come_at_once_are_answered_in_order_each_for_itself(server: Running) -> None:
    with connection(server) as opened:
        opened.sendall(
            head("/health") + head("/nowhere") + head(host="evil.example") + head("/", connection="close")
        )
        with opened.makefile("rb") as stream:
            assert re.findall(rb"HTTP/1.1 (\d+)", stream.read()) == [b"200", b"404", b"421", b"200"]


def test_who_wants_websockets_is_answered_in_plain_http(server: Running) -> None:
    key = "dGhlIHNhbXBsZSBub25jZQ=="
    wish = {
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec_websocket_key": key,
        "sec_websocket_version": "13",
    }
    assert send(server, head("/health", **wish)).status == 200
    assert send(server, head(f"{API}/campaigns/x/live", **wish)).status == 404


@pytest.mark.parametrize(
    "flood",
    [
        head(x="y" * 600_000),
        head(**{f"x_{number}": "y" * 1_000 for number in range(600)}),
        head("/" + "a" * 600_000),
        head("/?" + "a" * 600_000),
        b"A" * 600_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 600_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000,
    ],
)
def test_heads_without_end_are_cut_short(server: Running, flood: bytes) -> None:
    answer = send(server, flood)
    assert answer.status in (400, 431)
    assert answer.problem


def test_marks_between_chunks_and_what_follows_the_last_are_no_place_to_hide_a_flood(small: Running) -> None:
    start = head(f"{API}/campaigns/c/rounds", "POST", transfer_encoding="chunked", **JSON)
    for flood in (b"1;" + b"x" * 600_000, b"1\r\n{\r\n0\r\n" + b"X: y\r\n" * 100_000):
        with connection(small) as opened:
            opened.sendall(start + flood)
            assert receive(opened).status in (400, 431)


# Slow and vanished clients.


def test_who_connects_and_says_nothing_is_let_go(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.05)
    with connection(server) as opened:
        assert opened.recv(100) == b""


def test_who_sends_a_request_letter_by_letter_is_let_go(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.15)
    monkeypatch.setattr(protocol, "LINGER", 0.05)
    with connection(server) as opened:
        opened.settimeout(0.01)
        answer = b""
        for letter in head(x="y" * 100_000):
            try:
                opened.sendall(bytes([letter]))
                answer = opened.recv(10_000)
                break
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"application/problem+json" in answer
        opened.settimeout(20)
        assert is_closed(opened)


@pytest.mark.parametrize("path", ["/campaigns", "/campaigns/c/rounds", "/files?filename=a.csv", "/session"])
def test_a_body_that_stops_coming_is_given_up(
    small: Running, path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(middleware, "PATIENCE", 0.05)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with connection(small) as opened:
        opened.sendall(head(f"{API}{path}", "POST", content_length="1000", **JSON) + b'{"predictions"')
        answer = receive(opened)
        assert answer.status == 408
        assert answer.problem["type"].endswith("too-slow")
        assert is_closed(opened)
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_a_body_that_trickles_is_given_up_though_it_never_stops(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "PATIENCE", 0.15)
    with connection(small) as opened:
        opened.sendall(head(f"{API}/campaigns/c/rounds", "POST", content_length="1000", **JSON))
        opened.settimeout(0.02)
        for _ in range(1_000):
            try:
                opened.sendall(b" ")
                assert opened.recv(10_000).startswith(b"HTTP/1.1 408 ")
                break
            except TimeoutError:
                continue
        else:
            pytest.fail("it is taken in for ever")


def test_whoever_is_slow_holds_up_nobody_else(small: Running) -> None:
    with connection(small) as slow, connection(small) as slower:
        slow.sendall(head(f"{API}/campaigns/c/rounds", "POST", content_length="1000", **JSON) + b"{")
        slower.sendall(b"GET /health HTTP/1.1\r\nHos")
        for _ in range(20):
            assert send(small, with_body("/campaigns/c/rounds", PLAIN)).status == 200


def test_a_client_that_vanishes_while_it_sends_a_file_leaves_nothing_behind(
    small: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with connection(small) as opened:
        opened.sendall(
            head(f"{API}/campaigns/c/files?filename=a.csv", "POST", content_length="40000") + b"ant,bee\n"
        )
        wait_until(lambda: bool(list(tmp_path.glob("*/*"))))
    wait_until(lambda: not list(tmp_path.iterdir()))


def vanish(opened: socket.socket) -> None:
    """Close without saying goodbye."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    opened.close()


def large_campaign(server: Running, name: str) -> None:
    """A campaign whose export fills every buffer on the way."""
    server.post("/campaigns", {"name": name, "models": 2})
    for _ in range(3):
        item = {"text": "a" * 4_000_000}
        assert server.post(f"/campaigns/{name}/rounds", {"predictions": [0, 1], "item": item}).status_code == 200


@pytest.mark.parametrize("gone", [False, True])
def test_a_client_that_does_not_read_its_export_is_given_up(
    server: Running, name: str, gone: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    large_campaign(server, name)
    monkeypatch.setattr(protocol, "PATIENCE", 0.1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with connection(server) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        opened.sendall(head(f"{API}/campaigns/{name}/export"))
        wait_until(lambda: bool(list(tmp_path.iterdir())))
        assert server.get(f"/campaigns/{name}").status_code == 200
        if gone:
            vanish(opened)
        wait_until(lambda: not list(tmp_path.iterdir()))


def followers(server: Running) -> int:
    found = re.search(r"^modelpicker_listeners (\d+)", server.http.get("/metrics").text, re.MULTILINE)
    return int(found[1]) if found else 0


def test_who_follows_and_vanishes_is_not_counted_any_more_even_with_another_request_waiting(
    server: Running, name: str
) -> None:
    server.post("/campaigns", {"name": name, "models": 2})
    for more in (b"", head("/health")):
        with connection(server) as opened:
            opened.sendall(head(f"{API}/campaigns/{name}/live") + more)
            wait_until(lambda: followers(server) == 1)
        wait_until(lambda: followers(server) == 0)


# Requests that fail in a way nobody thought of.


def test_a_change_that_fails_unexpectedly_fails_alone(
    server: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, waiting = threading.Event(), list[object]()
    join, wait_for = Campaign.join, CommitQueue._wait_for

    def joined(campaign: Campaign, model: int | str) -> None:
        if model == "slow":
            assert go.wait(20)
        if model == "secret":
            raise RuntimeError("what only the log may know")
        join(campaign, model)

    async def counted(queue: CommitQueue, change: QueuedWrite[Any]) -> Any:
        waiting.append(change)
        return await wait_for(queue, change)

    monkeypatch.setattr(Campaign, "join", joined)
    monkeypatch.setattr(CommitQueue, "_wait_for", counted)
    server.post("/campaigns", {"name": name, "models": ["ant", "bee"]})
    with ThreadPoolExecutor(10) as pool:
        first = pool.submit(server.post, f"/campaigns/{name}/models", {"model": "slow"})
        wait_until(lambda: len(waiting) == 1)
        body = {"predictions": {"ant": "x", "bee": "y", "slow": "x"}}
        others = [pool.submit(server.post, f"/campaigns/{name}/rounds", body) for _ in range(3)]
        wait_until(lambda: len(waiting) == 4)
        wrong = pool.submit(server.post, f"/campaigns/{name}/models", {"model": "secret"})
        wait_until(lambda: len(waiting) == 5)
        others += [pool.submit(server.post, f"/campaigns/{name}/rounds", body) for _ in range(3)]
        wait_until(lambda: len(waiting) == 8)
        go.set()
        assert first.result().status_code == 200
        assert sorted(other.result().json()["id"] for other in others) == list(range(6))
    assert wrong.result().status_code == 500
    assert wrong.result().headers["content-type"] == "application/problem+json"
    assert "only the log" not in wrong.result().text
    assert "Traceback" not in wrong.result().text
    assert server.get(f"/campaigns/{name}").json()["rounds"] == 6


# Files.


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def zipped(content: bytes, name: str = "predictions.npy") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def lying(archive: bytes, size: int) -> bytes:
    """An archive that says its content is smaller than it is."""
    return archive.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))


def npy(shape: str, content: bytes = b"") -> bytes:
    """An array whose header may promise anything."""
    text = f"{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}}}"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + content


def parquet(rows: int) -> bytes:
    stream = io.BytesIO()
    pq.write_table(
        pa.table({"ant": pa.array(np.zeros(rows, np.int8)), "bee": pa.array(np.ones(rows, np.int8))}), stream
    )
    return stream.getvalue()


def repeated(text: str, rows: int, column: str = "ant") -> bytes:
    """A file that holds a text once, for many rows."""
    stream = io.BytesIO()
    table = {"ant": ["x"] * rows, "bee": ["y"] * rows, column: [text] * rows}
    pq.write_table(pa.table(table), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("filename", "content", "status"),
    [
        ("a.csv", b"", 422),
        ("a.csv", b"\xff\xfe\x00", 422),
        ("a.csv", b"ant,bee\nx", 422),
        ("a.csv", b'ant,bee\n"x,y\n', 422),
        ("a.csv", b"PK\x03\x04", 422),
        ("a.jsonl", b'{"ant":' * 2_000, 422),
        ("a.jsonl", b"\x00", 422),
        ("a.jsonl", b'{"ant": "x", "bee": NaN}', 422),
        ("a.parquet", b"PAR1" + b"\xff" * 100 + b"PAR1", 422),
        ("a.parquet", b"PAR1", 422),
        ("a.parquet", parquet(10)[:-20], 422),
        ("a.parquet", parquet(10_000), 413),
        ("a.parquet", repeated("x" * 10_000, 100), 413),
        ("a.parquet", repeated("x" * 10_000, 100, "text"), 413),
        ("a.parquet", repeated("x" * 100, 100), 200),
        ("a.csv", b",".join(b"m%d" % number for number in range(2_000)) + b"\n" + b"x" * 20_000, 413),
        ("a.csv", b'"a\n";' + b";".join(b"m%d" % number for number in range(2_000)) + b"\n", 413),
        ("a.csv", b"item,model,prediction\n" + b"".join(b"%d,m%d,x\n" % (n, n) for n in range(300)), 413),
        ("a.jsonl", b"".join(b'{"item": %d, "model": %d, "prediction": 1}\n' % (n, n) for n in range(300)), 413),
        ("a.jsonl", b"".join(b'{"m%d": 1}\n' % number for number in range(300)), 413),
        ("a.jsonl", b"{" + b",".join(b'"m%d": 1' % number for number in range(2_000)) + b"}\n", 413),
        ("a.npz", b"PK", 422),
        ("a.npz", zipped(b"x"), 422),
        ("a.npz", zipped(b"\0" * 5_000_000), 413),
        ("a.npz", zipped(b"\0" * 5_000_000, "other.npy"), 413),
        ("a.npz", lying(zipped(npy("(5000, 1000)", b"\0" * 5_000_000)), len(npy("(5000, 1000)")) + 5_000_000), 422),
        ("a.npz", zipped(npy("(1000000, 1000000)")), 422),
        ("a.npz", zipped(npy("(-1, 2)")), 422),
        ("a.npz", npz(predictions=np.array([[{}, 1]], dtype=object)), 422),
        ("a.xlsx", b"x", 422),
        ("a.xlsx", zipped(b"x"), 422),
        ("a.xlsx", zipped(b"\0" * 5_000_000), 413),
        ("a.eval", b"x", 422),
        ("a.eval", zipped(b"x"), 422),
        ("a.eval", zipped(b"\0" * 5_000_000), 413),
        ("a.json", b"x", 422),
        ("a.json", b"[" * 40_000, 422),
        ("a.json", b'{"results": {"version": 3, "prompts": [', 422),
        ("a.json", b"[" + b",".join(b'{"m%d": 1}' % number for number in range(300)) + b"]", 413),
        ("a.json", b'[{"ant": "x", "bee": "y"}]', 200),
        ("a.csv.gz", gzip.compress(b"ant,bee\nx,y\n", mtime=0), 200),
        ("a.csv.gz", gzip.compress(b"\0" * 5_000_000, mtime=0), 413),
        ("a.csv.gz", gzip.compress(b"ant,bee\nx,y\n", mtime=0)[:-9], 422),
        ("a.csv.gz", b"ant,bee\nx,y\n", 422),
        ("a.gz", gzip.compress(b"ant,bee\nx,y\n", mtime=0), 415),
        ("a.zip", b"x", 422),
        ("a.zip", zipped(b"x", "a/b.txt"), 422),
        ("a.zip", zipped(b"\0" * 5_000_000, "a/b.txt"), 413),
        ("a.zip", zipped(zipped(b"\0" * 5_000_000, "header.json"), "a/b.eval"), 413),
        ("a.zip", zipped(b"ant,bee\nx,y\n", "a/b.csv"), 422),
        ("a.zip", zipped(parquet(10_000), "a/b.parquet"), 422),
        ("a.zip", zipped(b"x", "../../b.json"), 422),
        ("a.zip", zipped(b"x", "/etc/b.json"), 422),
        ("a.zip", zipped(b"x", "..\\b.json"), 422),
        ("a.zip", zipped(b"x", "__MACOSX/b.json"), 422),
        ("a", b"x", 415),
        (".csv", b"x", 415),
        ("a.csv/", b"ant,bee\nx,y\n", 200),
        ("..%2f..%2f..%2ftmp%2fa.csv", b"ant,bee\nx,y\n", 200),
        ("%2fetc%2fpasswd", b"x", 415),
        ("a%00.csv", b"ant,bee\nx,y\n", 200),
        ("a%00.csv", b"nonsense", 422),
        ("%0d%0aset-cookie:x.csv", b"ant,bee\n", 422),
        ("%ff.csv", b"ant,bee\n", 422),
        ("a" * 300 + ".csv", b"ant,bee\nx,y\n", 422),
    ],
)
@pytest.mark.parametrize("path", ["/files", "/campaigns/c/files"])
def test_files_that_are_no_tables_or_too_much_are_problems(
    small: Running,
    path: str,
    filename: str,
    content: bytes,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(upload_limits, "MOST_CELLS", 10_000)
    monkeypatch.setattr(upload_limits, "FEW_CELLS", 10_000)
    monkeypatch.setattr(upload_limits, "MOST_COLUMNS", 1_000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = send(small, with_body(f"{path}?filename={filename}", content))
    assert answer.status == status
    if status >= 400:
        assert str(tmp_path) not in json.dumps(answer.problem)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("a.csv", b"ant,bee\n" + b"x,y\n" * 300_000),
        ("a.csv", b"item,model,prediction\n" + b"".join(b"%d,ant,x\n%d,bee,y\n" % (n, n) for n in range(150_000))),
        ("a.jsonl", b'{"ant": "x", "bee": "y"}\n' * 300_000),
        ("a.parquet", parquet(300_000)),
        ("a.npz", npz(predictions=np.zeros((300_000, 2), np.int8))),
    ],
)
def test_an_honest_file_is_not_too_much(server: Running, filename: str, content: bytes) -> None:
    answer = send(server, with_body(f"/files?filename={filename}", content))
    assert answer.status == 200
    assert json.loads(answer.body)["items"] in (150_000, 300_000)


def test_a_client_that_vanishes_while_its_file_is_taken_in_is_not_worked_for_any_more(
    small: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    small.post("/campaigns", {"name": "left", "models": ["ant", "bee"]})
    go, begun = threading.Event(), threading.Event()
    keep_items = Campaign.keep_items

    def slow(campaign: Campaign, *arguments: Any, **named: Any) -> Any:
        begun.set()
        assert go.wait(20)
        return keep_items(campaign, *arguments, **named)

    monkeypatch.setattr(Campaign, "keep_items", slow)
    upload = with_body("/campaigns/left/files?filename=a.csv", b"ant,bee\n" + b"x,y\n" * 10_000)
    with connection(small) as opened:
        opened.sendall(upload)
        assert begun.wait(20)
        vanish(opened)
    go.set()
    wait_until(lambda: not list(tmp_path.iterdir()))
    done = sum(small.get("/campaigns/left").json()["waiting_items"].values())
    assert 0 < done < 10_000
    again = json.loads(send(small, upload).body)
    assert (again["waiting"], again["known"]) == (10_000 - done, done), "the rest can be sent again"


def test_a_server_that_has_no_room_for_a_file_says_so(small: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    for request in (with_body("/files?filename=a.csv", b"ant,bee\n"), head(f"{API}/campaigns/c/export")):
        answer = send(small, request)
        assert answer.status == 503
        assert "nowhere" not in json.dumps(answer.problem)


def test_no_answer_says_where_the_storage_is(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.db"
    with serving(f"sqlite:///{file}") as running:
        running.post("/campaigns", {"name": "c", "models": 2})
        file.rename(tmp_path / "away.db")
        asked: list[Answer] = [
            send(running, head(f"{API}/campaigns")),
            send(running, head(f"{API}/campaigns/c")),
            send(running, head(f"{API}/campaigns/other")),
            send(running, with_body("/campaigns/c/rounds", b'{"predictions": [0, 1]}')),
            send(running, with_body("/campaigns", b'{"name": "d", "models": 2}')),
            send(running, head("/ready")),
        ]
        for answer in asked:
            assert answer.status == 503
            assert str(tmp_path) not in json.dumps(answer.problem)
            assert int(answer.headers["retry-after"]) >= 1
        assert send(running, head("/health")).status == 200
        assert not file.exists()
        (tmp_path / "away.db").rename(file)
        assert send(running, with_body("/campaigns/c/rounds", b'{"predictions": [0, 1]}')).status == 200
