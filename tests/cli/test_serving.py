"""`modelpicker serve` and `tokens`: settings from everywhere, clear errors, and a server that starts and stops."""

import json
import re
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from modelpicker.server import logs
from modelpicker.server.configuration import Configuration
from modelpicker.server.network import run
from tests.cli.campaigning import call, document
from tests.server.servers import Process


class Started:
    """What a server would have been run with."""

    configuration: Configuration
    log_format: str


@pytest.fixture(autouse=True)
def _log_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server would change for the whole process stays as it is."""
    monkeypatch.setattr(logs, "set_up", lambda form: None)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Servers that are started by the command line are not run."""
    made = Started()

    def serve(configuration: Configuration, *_: object) -> None:
        configuration.check()
        made.configuration = configuration

    def set_up(form: str) -> None:
        made.log_format = form

    monkeypatch.setattr(run, "serve", serve)
    monkeypatch.setattr(logs, "set_up", set_up)
    return made


def settings(folder: Path, text: str) -> None:
    (folder / "modelpicker.toml").write_text(text)


# Settings: the command line over variables over the file over defaults.


def test_without_settings_it_listens_on_this_machine_alone(tmp_path: Path, started: Started) -> None:
    assert call(tmp_path, "serve").returncode == 0
    made = started.configuration
    assert (made.host, made.port, made.loopback, made.needs_tokens) == ("127.0.0.1", 8000, True, False)
    assert (made.storage, made.allowed_hosts, made.access_log, made.demo) == (
        "sqlite:///modelpicker.db",
        (),
        False,
        False,
    )
    assert started.log_format == "text"


FILE = """
storage = "sqlite:///file.db"
[serve]
host = "file"
port = 1
tokens = true
allowed_hosts = ["file.example", "other.example"]
media_hosts = ["file.example:8080"]
log_format = "json"
access_log = true
largest_body = 1000
largest_file = 2000
"""
VARIABLES = {
    "MODELPICKER_STORAGE": "sqlite:///variable.db",
    "MODELPICKER_HOST": "variable",
    "MODELPICKER_PORT": "2",
    "MODELPICKER_TOKENS": "false",
    "MODELPICKER_ALLOWED_HOSTS": "variable.example",
    "MODELPICKER_MEDIA_HOSTS": "variable.example",
    "MODELPICKER_LOG_FORMAT": "text",
    "MODELPICKER_ACCESS_LOG": "no",
}
OPTIONS = (
    *("--storage", "sqlite:///option.db", "--host", "option", "--port", "3", "--tokens"),
    *("--allowed-host", "a.example", "--allowed-host", "b.example", "--log-format", "json", "--access-log"),
    *("--media-host", "a.example", "--media-host", "b.example"),
)


def found(started: Started) -> tuple[Any, ...]:
    made = started.configuration
    return (
        made.storage,
        made.host,
        made.port,
        made.tokens,
        made.allowed_hosts,
        made.media_hosts,
        started.log_format,
        made.access_log,
    )


def test_the_command_line_goes_over_variables_over_the_file(tmp_path: Path, started: Started) -> None:
    settings(tmp_path, FILE)
    names = ("file.example", "other.example")
    assert call(tmp_path, "serve").returncode == 0
    assert found(started) == ("sqlite:///file.db", "file", 1, True, names, ("file.example:8080",), "json", True)
    assert (started.configuration.largest_body, started.configuration.largest_file) == (1000, 2000)
    assert call(tmp_path, "serve", **VARIABLES).returncode == 0
    assert found(started) == (
        *(
            "sqlite:///variable.db",
            "variable",
            2,
            False,
            ("variable.example",),
            ("variable.example",),
            "text",
            False,
        ),
    )
    assert call(tmp_path, "serve", *OPTIONS, **VARIABLES).returncode == 0
    assert found(started) == (
        *("sqlite:///option.db", "option", 3, True, *([("a.example", "b.example")] * 2), "json", True),
    )
    assert call(tmp_path, "serve", "--no-tokens", "--no-access-log", "--port", "0").returncode == 0
    assert found(started) == ("sqlite:///file.db", "file", 0, False, names, ("file.example:8080",), "json", False)


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("192.0.2.1", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("picker.example", False),
        ("2130706433", False),
    ],
)
def test_any_address_but_this_machines_own_needs_tokens(host: str, alone: bool) -> None:
    assert Configuration("memory://", host=host).needs_tokens is not alone
    assert Configuration("memory://", host=host, tokens=True).needs_tokens


# Errors.


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[serve]\nprot = 1", "no setting 'prot'"),
        ("[serve]\nport = '1'", "port under [serve] is '1'"),
        ("[serve]\nport = true", "port under [serve] is True"),
        ("[serve]\nport = 1.5", "port under [serve] is 1.5"),
        ("[serve]\nport = 70000", "port 70000"),
        ("[serve]\nport = -1", "port -1"),
        ("[serve]\nhost = 1", "host under [serve] is 1"),
        ("[serve]\nhost = ''", "host ''"),
        ("[serve]\nhost = 'a b'", "host 'a b'"),
        ("[serve]\ntokens = 1", "tokens under [serve] is 1"),
        ("[serve]\nallowed_hosts = 'a'", "allowed_hosts under [serve] is 'a'"),
        ("[serve]\nallowed_hosts = [1]", "allowed_hosts is [1]"),
        ("[serve]\nallowed_hosts = ['']", "allowed host ''"),
        ("[serve]\nallowed_hosts = ['https://a.example']", "allowed host 'https://a.example'"),
        ("[serve]\nallowed_hosts = ['a.example:443']", "allowed host 'a.example:443'"),
        ("[serve]\nallowed_hosts = ['*']", "allowed host '*'"),
        ("[serve]\nmedia_hosts = [1]", "media_hosts is [1]"),
        ("[serve]\nmedia_hosts = ['https://a.example']", "media host 'https://a.example'"),
        ('[serve]\nmedia_hosts = ["a.example; script-src *"]', "media host 'a.example; script-src *'"),
        ("[serve]\nmedia_hosts = ['*']", "media host '*'"),
        ("[serve]\nlog_format = 'xml'", "log_format is 'xml'"),
        ("[serve]\nlargest_body = 0", "largest_body=0"),
        ("[serve]\nlargest_file = -1", "largest_file=-1"),
        ("serve = 1", "serve is 1"),
        ("[serve", "modelpicker.toml cannot be read"),
        ("storage = 1", "storage is 1"),
        ("storage = 'redis://x'", "is of no known kind"),
    ],
)
def test_a_wrong_setting_in_the_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    settings(tmp_path, text)
    done = call(tmp_path, "serve")
    assert done.returncode == 1
    assert done.stderr.startswith("modelpicker: ")
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--port", "70000"),
        ("--port", "-1"),
        ("--port", "x"),
        ("--log-format", "xml"),
        ("--workers", "2"),
        ("somewhere",),
    ],
)
def test_a_wrong_option_is_wrong_usage(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = call(tmp_path, "serve", *options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "variable",
    [{"MODELPICKER_PORT": "x"}, {"MODELPICKER_TOKENS": "perhaps"}, {"MODELPICKER_LOG_FORMAT": "xml"}],
)
def test_a_wrong_variable_is_wrong_usage_and_is_named(tmp_path: Path, variable: dict[str, str]) -> None:
    done = call(tmp_path, "serve", **variable)
    assert done.returncode == 2
    assert next(iter(variable)).removeprefix("MODELPICKER_").lower().replace("_", "-") in done.stderr


@pytest.mark.parametrize("options", [("--host", "0.0.0.0"), ("--host", "::"), ("--tokens",)])  # noqa: S104
def test_where_others_could_call_it_does_not_start_without_tokens(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = call(tmp_path, "serve", "--port", "0", *options)
    assert done.returncode == 1
    assert "modelpicker tokens create NAME --role owner" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = call(tmp_path, "serve", "--port", str(port))
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid", "a" * 100 + ".example", "é" * 100, "a..b"])
def test_an_address_that_is_not_this_machines_is_named(tmp_path: Path, host: str) -> None:
    assert call(tmp_path, "tokens", "create", "me", "--role", "owner").returncode == 0
    done = call(tmp_path, "serve", "--port", "0", "--host", host)
    assert done.returncode == 1
    assert f"cannot listen on {host}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_storage_that_cannot_be_is_named(tmp_path: Path) -> None:
    done = call(tmp_path, "serve", "--storage", "sqlite:///nowhere/x.db")
    assert done.returncode == 1
    assert "nowhere" in done.stderr


# Tokens.


def test_a_token_is_printed_this_once(tmp_path: Path) -> None:
    done = call(tmp_path, "tokens", "create", "Mia", "--role", "annotator")
    assert done.returncode == 0
    assert re.fullmatch(r"mp_[0-9a-f]{16}_[\w-]{43}\n", done.stdout)
    assert "only time" in done.stderr
    listed = call(tmp_path, "tokens", "list")
    assert "Mia" in listed.stdout
    assert done.stdout[20:30] not in listed.stdout


def test_tokens_are_listed_with_what_they_allow(tmp_path: Path) -> None:
    call(tmp_path, "tokens", "create", "Mia", "--role", "annotator")
    call(tmp_path, "tokens", "create", "Ben", "--role", "annotator", "--predictions")
    made = document(tmp_path, "tokens", "create", "ops", "--role", "owner")
    assert (made["name"], made["role"]) == ("ops", "owner")
    assert made["token"].startswith("mp_")
    rows = document(tmp_path, "tokens", "list")["tokens"]
    assert [(row["name"], row["role"], row["predictions"]) for row in rows] == [
        ("Ben", "annotator", True),
        ("Mia", "annotator", False),
        ("ops", "owner", True),
    ]
    assert all(row.keys() == {"name", "role", "predictions", "created"} for row in rows)
    assert made["token"] not in json.dumps(rows)


def test_a_token_that_was_revoked_is_gone(tmp_path: Path) -> None:
    call(tmp_path, "tokens", "create", "Mia", "--role", "owner")
    assert "Revoked" in call(tmp_path, "tokens", "revoke", "Mia").stderr
    again = call(tmp_path, "tokens", "revoke", "Mia")
    assert again.returncode == 3
    assert "no token for 'Mia'" in again.stderr
    assert "no token yet" in call(tmp_path, "tokens", "list").stderr
    assert document(tmp_path, "tokens", "list") == {"tokens": []}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("create", "Mia"), 2),
        (("create", "Mia", "--role", "king"), 2),
        (("create", "--role", "owner"), 2),
        (("create", "a/b", "--role", "owner"), 1),
        (("create", "", "--role", "owner"), 1),
        (("create", "\x1b[31m", "--role", "owner"), 1),
        (("create", "\udcff", "--role", "owner"), 1),
        (("create", "there", "--role", "owner"), 4),
        (("revoke",), 2),
        (("revoke", "nobody"), 3),
        (("revoke", "\udcff"), 3),
        (("revoke", "\x1b[31m"), 3),
        (("list", "--storage", "sqlite:///nowhere.db"), 3),
    ],
)
def test_what_cannot_be_done_with_tokens_is_said_in_a_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    call(tmp_path, "tokens", "create", "there", "--role", "owner")
    done = call(tmp_path, "tokens", *arguments)
    assert done.returncode == code
    assert not done.stdout
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    if code != 2:
        assert len(done.stderr.splitlines()) == 1


# A process.


def test_a_server_starts_tells_its_address_logs_in_json_and_stops_when_told(tmp_path: Path) -> None:
    with Process("--storage", f"sqlite:///{tmp_path}/c.db", "--log-format", "json", "--access-log") as process:
        assert process.running.http.get("/ready").status_code == 200
        process.process.send_signal(signal.SIGINT)
        assert process.process.wait(60) == 0
        stop = time.monotonic() + 20
        while not any("stopping" in line for line in process.lines):
            assert time.monotonic() < stop, "it does not say that it stops"
            time.sleep(0.01)
    events = [json.loads(line) for line in process.lines if line.startswith("{")]
    assert sorted(event["event"] for event in events) == ["request", "serving", "stopping"]
    assert [line for line in process.lines if not line.startswith("{")] == [], "every line is JSON"
    assert not any("Traceback" in line for line in process.lines)
