"""What the server logs: one line per event, which nobody outside can forge, and nothing secret."""

import io
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from modelpicker.campaigns import Campaign
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from modelpicker.server.logs import JsonLines, Plain, set_up
from tests.server.raw import head, send
from tests.server.servers import API, Running, serving

HOSTILE = (
    "\n12:00:00 info    serving url=http://evil.example",
    "\r\n12:00:00 info    serving",
    "\x1b[2J\x1b[31mred",
    "\x9b31m",
    "\b\b\b\b",
    "\u2028{}",
    "\u202egnp.exe",
    "\x85next",
    "\0",
    "\ud800",
    'x" status=200 client="192.0.2.1',
    "x status=200 client=192.0.2.1",
    "\\n",
    "é ü 字",
    "",
)
LINE = re.compile(r"\d\d:\d\d:\d\d [a-z]+ +\S.*")


def record(event: str, facts: dict[str, Any], error: Exception | None = None) -> logging.LogRecord:
    made = logging.LogRecord("modelpicker.server", logging.ERROR, "", 0, event, (), None)
    made.facts = facts
    if error is not None:
        try:
            raise error
        except Exception:
            made.exc_info = sys.exc_info()
    return made


@pytest.mark.parametrize("text", HOSTILE)
def test_a_fact_is_one_fact_of_one_line_whatever_it_is(text: str) -> None:
    made = record("request", {"path": text, "status": 404})
    plain = Plain().format(made)
    assert plain.isprintable()
    assert LINE.fullmatch(plain)
    assert plain.endswith(" status=404")
    assert len(re.findall(r'(?<= )\w+=(?:"(?:[^"\\]|\\.)*"|[^ "]+)', plain)) == 2
    found = json.loads(JsonLines().format(made))
    assert (found["event"], found["path"], found["status"]) == ("request", text, 404)
    assert JsonLines().format(made).isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_an_error_is_shown_with_its_trace_and_cannot_look_like_another_line(text: str) -> None:
    made = record(f"failed {text}", {"path": "/"}, ValueError(text))
    first, *trace = Plain().format(made).split("\n")
    assert LINE.fullmatch(first)
    assert len(trace) > 2
    for line in trace:
        assert line.startswith("  | ")
        assert line.isprintable()
    whole = JsonLines().format(made)
    assert whole.isprintable()
    assert "ValueError" in json.loads(whole)["trace"]


def test_what_people_read_has_no_needless_marks() -> None:
    made = record("serving", {"url": "http://127.0.0.1:8000", "tokens": False})
    assert Plain().format(made).endswith("error   serving url=http://127.0.0.1:8000 tokens=False")


# A server that logs.

Logging = Callable[[str], AbstractContextManager[tuple[Running, str, io.StringIO]]]


@pytest.fixture
def logging_as(monkeypatch: pytest.MonkeyPatch, name: str) -> Logging:
    """A server that logs every request in one of the two forms, an owner's token, and the log."""

    @contextmanager
    def start(form: str) -> Iterator[tuple[Running, str, io.StringIO]]:
        stream = io.StringIO()
        secret = create_token(open_storage(f"memory://{name}", create=True), "me", "owner")
        kept = {
            found: (found.handlers, found.level, found.propagate)
            for found in map(logging.getLogger, ("modelpicker.server", "uvicorn"))
        }
        monkeypatch.setattr(sys, "stderr", stream)
        set_up(form)
        try:
            with serving(f"memory://{name}", tokens=True, access_log=True) as running:
                yield running, secret, stream
        finally:
            for logger, (handlers, level, propagate) in kept.items():
                logger.handlers, logger.propagate = handlers, propagate
                logger.setLevel(level)

    return start


FORGED = "%0a12:00:00%20info%20forged%20status=200%1b[31m%0d%00%e2%80%a8"


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_request_can_forge_a_line(logging_as: Logging, form: str) -> None:
    with logging_as(form) as (server, _, stream):
        requests = [
            head(f"/{FORGED}"),
            head(f"{API}/campaigns/{FORGED}"),
            head("/health?" + FORGED, user_agent="\t12:00:00 info forged", x_forwarded_for="\t12:00 info forged"),
            head("/health", host="x status=200 forged"),
            head("/health", origin="x status=200 forged"),
            head("/health", referer=FORGED),
            head(f"{API}/campaigns", authorization="Bearer x\t12:00:00 info forged"),
            head(f"{API}/campaigns", cookie="modelpicker=x status=200 forged"),
            head(f"{API}/campaigns", authorization="Bearer y", x_forwarded_for="1.2.3.4 status=200 forged=1"),
            b"FORGED / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /forged\x1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]
        for request in requests:
            assert send(server, request).status < 500
    lines = stream.getvalue().splitlines()
    assert len(lines) >= len(requests)
    for line in lines:
        assert line.isprintable()
        if form == "json":
            found = json.loads(line)
            assert found["event"] in ("request", "wrong token", "Invalid HTTP request received.")
            assert "forged" not in found
        else:
            assert LINE.fullmatch(line)
            assert not re.search(r"(?<!\")\bforged=", re.sub(r'"(?:[^"\\]|\\.)*"', '""', line))


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_fails_is_in_the_log_under_the_number_that_the_client_is_told(
    logging_as: Logging, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(campaign: Campaign, model: str) -> None:
        raise ZeroDivisionError(f"{model}\n12:00:00 info    forged\x1b[31m")

    monkeypatch.setattr(Campaign, "join", fail)
    with logging_as(form) as (server, secret, stream):
        headers = {"Authorization": f"Bearer {secret}"}
        server.post("/campaigns", {"name": "c", "models": 2}, headers=headers)
        answer = server.post("/campaigns/c/models", {"model": "who"}, headers=headers)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert not re.search(r"Traceback|ZeroDivision|\.py|who", answer.text)
    number = re.findall(r"incident ([0-9a-f]{12})", answer.text)[0]
    lines = stream.getvalue().splitlines()
    assert sum(number in line for line in lines) == 1
    assert "ZeroDivisionError" in stream.getvalue()
    for line in lines:
        assert line.isprintable()
        assert line.startswith("{") if form == "json" else LINE.fullmatch(line) or line.startswith("  | ")
    assert not any(re.match(r"12:00:00 info +forged", line) for line in lines)


@pytest.mark.parametrize("form", ["text", "json"])
def test_tokens_and_what_people_label_are_not_logged(logging_as: Logging, form: str) -> None:
    with logging_as(form) as (server, secret, stream):
        headers = {"Authorization": f"Bearer {secret}"}
        wrong = secret[:20] + "A" * 43
        server.post("/session", {"token": secret})
        server.http.cookies.clear()
        server.get("/campaigns", headers={"Authorization": f"Bearer {wrong}"})
        server.get("/campaigns", headers={"Cookie": f"modelpicker={wrong}"})
        server.get(f"/campaigns?token={secret}", headers=headers)
        server.post("/campaigns", {"name": "c", "models": 2}, headers=headers)
        body = {"predictions": [0, 1], "item": {"text": "confidential"}, "key": "private"}
        assert server.post("/campaigns/c/rounds", body, headers=headers).status_code == 200
        server.post("/campaigns/c/labels", {"id": "private", "label": "secret"}, headers=headers)
    logged = stream.getvalue()
    assert logged.count("wrong token") == 2
    assert secret[20:] not in logged
    assert wrong[20:] not in logged
    assert not re.search("confidential|private|secret", logged)
    assert "/api/v1/campaigns/c/rounds" in logged
