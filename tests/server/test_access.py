"""Who gets in: foreign pages do not, and tokens open what their role may do, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from modelpicker.campaigns import open_campaign
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access import tokens as tokens_module
from modelpicker.server.access.tokens import create_token, revoke_token
from modelpicker.server.live import live_events
from tests.server.raw import connection, head, is_closed, send
from tests.server.servers import API, Running, serving

STORAGE = "memory://access"
ROLES = ("owner", "annotator", "seer", "reader")


class Guarded(NamedTuple):
    """A server that needs tokens, and a client for each role; a seer is an annotator who sees predictions."""

    running: Running
    secrets: dict[str, str]

    def call(self, role: str | None, method: str, path: str, body: object = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.secrets[role]}"} if role else {}
        if body is None:
            return self.running.http.request(method, path, headers=headers)
        return self.running.http.request(method, path, headers=headers, json=body)


@pytest.fixture(scope="session")  # a worker may come back to this file
def guarded() -> Iterator[Guarded]:
    """A server with a token of each role, and a campaign with a query that waits."""
    storage = open_storage(STORAGE, create=True)
    secrets = {
        role: create_token(storage, role, "annotator" if role == "seer" else role, predictions=role == "seer")
        for role in ROLES
    }
    with serving(STORAGE, tokens=True) as running:
        guarded = Guarded(running, secrets)
        made = {"name": "blind", "models": ["alpha-model", "beta-model"]}
        assert guarded.call("owner", "POST", f"{API}/campaigns", made).status_code == 201
        said = {"predictions": ["alpha-says", "beta-says"], "item": {"text": "what is it?"}, "key": "one"}
        assert guarded.call("owner", "POST", f"{API}/campaigns/blind/rounds", said).json()["query"]
        yield guarded


# By which names and from which pages a server on this machine may be called.


@pytest.mark.parametrize(
    "host",
    ["localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:8000", "[::1]", "[::1]:65535", "localhost:{port}"],
)
def test_names_of_this_machine_are_its_own(server: Running, host: str) -> None:
    assert send(server, head(host=host.format(port=server.port))).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",  # as after DNS rebinding: the name is the attacker's, the address ours
        "evil.example:{port}",
        "localhost@evil.example",
        "localhost:1@evil.example",
        "evil.example#localhost",
        "localhost.evil.example",
        "evil.localhost",
        "127.0.0.1.nip.io",
        "127.0.0.2",
        "0.0.0.0",  # noqa: S104
        "2130706433",
        "0x7f.1",
        "localhost.",
        "localhost:",
        "localhost:80:80",
        "localhost:evil",
        "localhost:\xb2",
        "localhost, evil.example",
        "evil.example\tlocalhost",
        "::1",
        "[::ffff:127.0.0.1]",
        "[::1",
        "\xff",
        "",
    ],
)
def test_foreign_names_are_refused(server: Running, host: str) -> None:
    answer = send(server, head(host=host.format(port=server.port)))
    assert answer.status == 421
    assert answer.problem["type"].endswith("foreign-host")


def test_a_request_without_a_name_or_with_two_is_refused(server: Running) -> None:
    assert send(server, b"GET /health HTTP/1.1\r\n\r\n").status == 421
    assert send(server, b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n").status == 400
    assert send(server, b"GET /health HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n").status == 400


@pytest.mark.parametrize(
    "origin", ["http://localhost:{port}", "HTTP://LOCALHOST:{port}", "https://localhost:{port}"]
)
def test_its_own_page_may_call_it(server: Running, origin: str) -> None:
    host = f"localhost:{server.port}"
    assert send(server, head(host=host, origin=origin.format(port=server.port))).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://localhost",  # another port is another site
        "http://localhost:1",
        "http://127.0.0.1:{port}",
        "http://localhost:{port}@evil.example",
        "http://evil.example@localhost:{port}",
        "http://localhost:{port}.evil.example",
        "http://localhost:{port}/",
        "http://[::1",
        "http://a]b",
        "file://localhost:{port}",
        "chrome-extension://localhost:{port}",
        "localhost:{port}",
        "\xff",
    ],
)
def test_foreign_pages_are_refused(server: Running, origin: str) -> None:
    for path in ("/health", f"{API}/campaigns", "/", "/static/main.js", "/nowhere"):
        request = head(path, host=f"localhost:{server.port}", origin=origin.format(port=server.port))
        answer = send(server, request)
        assert answer.status == 403
        assert answer.problem["type"].endswith("not-allowed")


def test_of_two_pages_one_foreign_one_is_too_many(server: Running) -> None:
    own = f"localhost:{server.port}"
    request = f"GET /health HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}\r\nOrigin: http://evil.example\r\n\r\n"
    assert send(server, request.encode()).status == 403


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "no-cors", 403),
        ("Cross-Site", "cors", 403),
        ("cross-site", "", 403),
        ("cross-site", "navigate", 200),  # a link on another page
        ("same-site", "no-cors", 200),  # carries no Origin, so that it changes nothing, and cannot read the answer
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
def test_what_browsers_say_of_a_request_is_believed(server: Running, site: str, mode: str, status: int) -> None:
    assert send(server, head(sec_fetch_site=site, sec_fetch_mode=mode)).status == status


def test_a_server_with_tokens_goes_by_the_names_that_it_was_given(guarded: Guarded) -> None:
    assert send(guarded.running, head(host="anything.example")).status == 200
    with serving("memory://named", tokens=True, allowed_hosts=("Picker.Example",)) as running:
        assert send(running, head(host="picker.example")).status == 200
        assert send(running, head(host="PICKER.example:443", origin="https://picker.example:443")).status == 200
        assert send(running, head(host="localhost")).status == 200
        assert send(running, head(host="other.example")).status == 421
        assert send(running, head(host="picker.example", origin="https://other.example")).status == 403


# What each role may do.

ALL: set[str | None] = {*ROLES}
EVERYBODY: set[str | None] = {None, *ROLES}
LABELLERS: set[str | None] = {"owner", "annotator", "seer"}
READERS: set[str | None] = {"owner", "reader"}
MAY: dict[str, set[str | None]] = {
    "POST /api/v1/campaigns/{name}/rounds": {"owner"},
    "POST /api/v1/campaigns/{name}/rounds/batch": {"owner"},
    "POST /api/v1/campaigns/{name}/labels": LABELLERS,
    "POST /api/v1/campaigns/{name}/labels/batch": LABELLERS,
    "POST /api/v1/campaigns/{name}/skips": LABELLERS,
    "POST /api/v1/campaigns/{name}/retractions": LABELLERS,
    "GET /api/v1/campaigns/{name}/conflicts": READERS,
    "GET /api/v1/campaigns/{name}/agreement": READERS,
    "POST /api/v1/campaigns/{name}/settlements": {"owner"},
    "POST /api/v1/campaigns/{name}/leases": LABELLERS,
    "DELETE /api/v1/campaigns/{name}/leases/{id}": LABELLERS,
    "GET /api/v1/campaigns/{name}/queries": ALL,
    "GET /api/v1/campaigns": ALL,
    "GET /api/v1/settings": ALL,
    "POST /api/v1/campaigns": {"owner"},
    "GET /api/v1/campaigns/{name}": ALL,
    "PATCH /api/v1/campaigns/{name}": {"owner"},
    "DELETE /api/v1/campaigns/{name}": {"owner"},
    "GET /api/v1/campaigns/{name}/labels": READERS,
    "GET /api/v1/campaigns/{name}/notes": READERS,
    "POST /api/v1/campaigns/{name}/notes": LABELLERS,
    "POST /api/v1/campaigns/{name}/webhooks/label-studio": LABELLERS,
    "GET /api/v1/tokens": {"owner"},
    "POST /api/v1/tokens": {"owner"},
    "DELETE /api/v1/tokens/{name}": {"owner"},
    "GET /api/v1/campaigns/{name}/classes": ALL,
    "POST /api/v1/campaigns/{name}/models": {"owner"},
    "DELETE /api/v1/campaigns/{name}/models/{model}": {"owner"},
    "GET /api/v1/campaigns/{name}/standing": READERS,
    "GET /api/v1/campaigns/{name}/certificate": READERS,
    "GET /api/v1/campaigns/{name}/report": READERS,
    "GET /api/v1/campaigns/{name}/charts": READERS,
    "GET /api/v1/campaigns/{name}/outlook": READERS,
    "GET /api/v1/intakes": {"owner"},
    "GET /api/v1/campaigns/{name}/live": READERS,
    "GET /api/v1/campaigns/{name}/history": READERS,
    "GET /api/v1/campaigns/{name}/answers": READERS,
    "GET /api/v1/campaigns/{name}/export": READERS,
    "POST /api/v1/files": {"owner"},
    "POST /api/v1/campaigns/{name}/files": {"owner"},
    "DELETE /api/v1/campaigns/{name}/files": {"owner"},
    "GET /metrics": READERS,
    "GET /api/v1/session": EVERYBODY,
    "POST /api/v1/session": EVERYBODY,
    "DELETE /api/v1/session": EVERYBODY,
    "GET /health": EVERYBODY,
    "GET /ready": EVERYBODY,
}


def test_the_table_of_roles_has_every_route(guarded: Guarded) -> None:
    paths = guarded.call(None, "GET", f"{API}/openapi.json").json()["paths"]
    assert {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} == set(MAY)


@pytest.mark.parametrize("route", MAY)
def test_every_role_may_do_what_it_is_for_and_nothing_else(guarded: Guarded, route: str) -> None:
    """Campaigns that are not there tell who is let in, and that others learn nothing about them."""
    method, _, path = route.partition(" ")
    path = path.format(name="nowhere", id=0, model="alpha-model")
    body: object = {} if method in ("POST", "PATCH") else None
    for role in (None, *ROLES):
        answer = guarded.call(role, method, path, body)
        assert answer.status_code < 500
        if role in MAY[route]:
            assert answer.status_code not in (401, 403)
        else:
            assert answer.status_code == (403 if role else 401)
            assert answer.headers["content-type"] == "application/problem+json"
            assert "nowhere" not in answer.text


def test_who_has_no_token_is_refused_before_anything_of_the_body_is_read(guarded: Guarded) -> None:
    request = head(f"{API}/campaigns/blind/rounds", "POST", content_length="1000000")
    answer = send(guarded.running, request)  # which never sends it
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "credentials",
    [
        "Bearer",
        "Bearer ",
        "Basic {owner}",
        "{owner}",
        "Bearer {owner}x",
        "Bearer x{owner}",
        "Bearer {owner} {owner}",
        "Bearer mp_0123456789abcdef_" + "A" * 43,
        "Bearer \xff\xfe",
        "Bearer mp_" + "0" * 60_000,
    ],
)
def test_what_is_no_token_opens_nothing(guarded: Guarded, credentials: str) -> None:
    given = credentials.format(**guarded.secrets)
    answer = send(guarded.running, head(f"{API}/campaigns", authorization=given))
    assert answer.status in (401, 429)
    assert "mp_" not in answer.problem["detail"].replace("mp_…", "")


# What annotators are not to know.

HIDDEN = ("alpha-model", "beta-model", "alpha-says", "beta-says")
LOOKS = (
    ("GET", "", None),
    ("GET", "/queries", None),
    ("POST", "/leases", {"most": 100, "seconds": 0.001}),
    ("POST", "/labels", {"id": 0, "label": 7}),
    ("POST", "/labels", {"id": "one", "label": 7}),
    ("POST", "/labels/batch", {"labels": [[0, 7]]}),
    ("POST", "/labels", {"id": 99, "label": "x"}),
    ("POST", "/labels", {"id": 0, "label": "x", "replace": True}),
    ("POST", "/labels", {"id": 0, "label": []}),
    ("POST", "/skips", {"id": "other"}),
    ("POST", "/retractions", {"id": 0}),
    ("POST", "/rounds", {"predictions": {"alpha": "x"}}),
    ("POST", "/rounds", {"predictions": ["x", "y"], "key": "one"}),
    ("POST", "/models", {"model": "alpha"}),
    ("DELETE", "/models/alpha", None),
    ("DELETE", "/leases/0", None),
    ("GET", "/standing", None),
    ("GET", "/charts", None),
    ("GET", "/history", None),
    ("GET", "/history?id=0", None),
    ("GET", "/answers?format=csv", None),
    ("GET", "/export", None),
    ("GET", "/live", None),
    ("GET", "/labels", None),
    ("GET", "/labels?format=csv", None),
    ("PATCH", "", {"budget": 3}),
    ("DELETE", "?confirm=blind", None),
)


def test_annotators_are_told_of_no_model_and_of_nothing_that_one_says(guarded: Guarded) -> None:
    said = [
        guarded.call("annotator", method, f"{API}/campaigns/blind{path}", body).text for method, path, body in LOOKS
    ]
    said += [guarded.call("annotator", "GET", path).text for path in (f"{API}/campaigns", f"{API}/session")]
    assert any("what is it?" in text for text in said)  # they see the item, after all
    for text in said:
        assert not any(word in text for word in HIDDEN)


def test_every_role_is_told_the_same_classes_and_not_who_named_them(guarded: Guarded) -> None:
    for role in ROLES:
        found = guarded.call(role, "GET", f"{API}/campaigns/blind/classes").json()
        assert found == {"classes": ["alpha-says", "beta-says"], "open": True}


def test_annotators_who_may_see_predictions_see_those_of_their_items(guarded: Guarded) -> None:
    found = guarded.call("seer", "GET", f"{API}/campaigns/blind/queries").json()
    assert found["queries"][0]["classes"] == ["alpha-says", "beta-says"]
    assert guarded.call("seer", "GET", f"{API}/campaigns/blind").json()["models"] == ["alpha-model", "beta-model"]
    assert guarded.call("seer", "GET", f"{API}/session").json()["sees_predictions"] is True


def test_readers_see_everything_and_change_nothing(guarded: Guarded) -> None:
    before = guarded.call("owner", "GET", f"{API}/campaigns/blind/history").text
    for route in MAY:
        method, _, path = route.partition(" ")
        if method != "GET" and "reader" not in MAY[route]:
            assert guarded.call("reader", method, path.format(name="blind", id=0, model="x"), {}).status_code == 403
    assert guarded.call("reader", "GET", f"{API}/campaigns/blind/history").text == before
    found = guarded.call("reader", "GET", f"{API}/campaigns/blind/standing").json()
    assert {entry["model"] for entry in found["standing"]} == {"alpha-model", "beta-model"}


def test_answers_are_signed_with_the_name_of_the_token(guarded: Guarded) -> None:
    def tell(role: str, annotator: str | None) -> str:
        key = f"{role}-{annotator}"
        said = {"predictions": ["x", "y"], "key": key}
        guarded.call("owner", "POST", f"{API}/campaigns/signed/rounds", said)
        body = {"id": key, "label": "x", "annotator": annotator}
        assert guarded.call(role, "POST", f"{API}/campaigns/signed/labels", body).status_code == 200
        found = guarded.call("owner", "GET", f"{API}/campaigns/signed/history?key={key}").json()
        return str(found["records"][-1]["by"])

    guarded.call("owner", "POST", f"{API}/campaigns", {"name": "signed", "models": 2})
    assert tell("annotator", None) == "annotator"
    assert tell("annotator", "desk 2") == "annotator/desk 2"
    assert tell("annotator", "owner") == "annotator/owner"
    assert tell("owner", "annotator") == "owner/annotator"


def test_annotators_take_back_their_own_answers_only(guarded: Guarded) -> None:
    def call(role: str, verb: str, **body: object) -> int:
        return guarded.call(role, "POST", f"{API}/campaigns/mine/{verb}", body).status_code

    guarded.call("owner", "POST", f"{API}/campaigns", {"name": "mine", "models": 2})
    for key in ("a", "b"):
        assert call("owner", "rounds", predictions=["x", "y"], key=key) == 200
    assert call("annotator", "labels", id="a", label="x", annotator="phone") == 200
    assert call("seer", "retractions", id="a") == 409
    assert call("annotator", "retractions", id="a", annotator="laptop") == 200
    assert call("owner", "labels", id="b", label="x") == 200
    assert call("annotator", "retractions", id="b") == 409
    assert call("annotator", "labels", id="b", label="y") == 409
    assert call("annotator", "labels", id="b", label="y", replace=True) == 403
    assert call("owner", "labels", id="b", label="y", replace=True) == 200
    assert call("annotator", "retractions", id="b") == 409


def test_an_answer_that_nobody_signed_is_not_that_of_somebody_called_none(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_module, "FRESH", 0.0)
    secret = create_token(open_storage(STORAGE), "None", "annotator")
    guarded.call("owner", "POST", f"{API}/campaigns", {"name": "unsigned", "models": 2})
    guarded.call("owner", "POST", f"{API}/campaigns/unsigned/rounds", {"predictions": ["x", "y"]})
    open_campaign(STORAGE, "unsigned").tell(0, "x")
    named = guarded._replace(secrets={**guarded.secrets, "None": secret})
    assert named.call("None", "POST", f"{API}/campaigns/unsigned/retractions", {"id": 0}).status_code == 409


# Signing in, and out.


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(guarded: Guarded) -> None:
    with httpx2.Client(base_url=guarded.running.url) as browser:
        made = browser.post(f"{API}/session", json={"token": f" {guarded.secrets['reader']}\n"})
        cookie = made.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "path=/" in cookie
        assert "domain" not in cookie
        assert "secure" not in cookie.replace("samesite", "")  # it came over plain HTTP
        assert guarded.secrets["reader"] not in made.text
        assert browser.get(f"{API}/session").json()["role"] == "reader"
        assert browser.get(f"{API}/campaigns/blind/standing").status_code == 200
        gone = browser.delete(f"{API}/session")
        assert gone.status_code == 204
        assert "max-age=0" in gone.headers["set-cookie"].lower()
        assert browser.get(f"{API}/session").json()["authenticated"] is False
        assert browser.get(f"{API}/campaigns/blind/standing").status_code == 401


def test_the_cookie_is_secure_behind_a_proxy_that_speaks_https(guarded: Guarded) -> None:
    body = json.dumps({"token": guarded.secrets["reader"]})
    request = head(
        f"{API}/session",
        "POST",
        content_type="application/json",
        content_length=str(len(body)),
        x_forwarded_proto="https",
    )
    answer = send(guarded.running, request + body.encode())
    assert answer.status == 200
    assert "; secure" in answer.headers["set-cookie"].lower()


def test_a_wrong_token_gives_no_cookie(guarded: Guarded) -> None:
    for token in ("", "x", "mp_0123456789abcdef_" + "B" * 43, "mp_0123456789abcdef_" + "B" * 42 + "\0"):
        made = guarded.running.post("/session", {"token": token})
        assert made.status_code in (401, 429)
        assert "set-cookie" not in made.headers


def test_a_header_goes_before_a_cookie(guarded: Guarded) -> None:
    cookie = f"modelpicker={guarded.secrets['owner']}"
    found = guarded.running.get(
        "/session", headers={"Cookie": cookie, "Authorization": f"Bearer {guarded.secrets['reader']}"}
    )
    assert found.json()["role"] == "reader"


# Tokens that are revoked, and storages that are away.


def test_a_revoked_token_is_worthless_at_the_next_look(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_module, "FRESH", 0.0)
    secret = create_token(open_storage(STORAGE), "fleeting", "owner")
    fleeting = guarded._replace(secrets={"fleeting": secret})
    assert fleeting.call("fleeting", "GET", f"{API}/campaigns").status_code == 200
    revoke_token(open_storage(STORAGE), "fleeting")
    assert fleeting.call("fleeting", "GET", f"{API}/campaigns").status_code in (401, 429)


def test_servers_look_for_revoked_tokens_every_second() -> None:
    assert tokens_module.FRESH <= 1.0
    assert live_events.LOOK <= 1.0


def test_who_follows_a_campaign_is_let_go_when_their_token_is_revoked(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_module, "FRESH", 0.0)
    monkeypatch.setattr(live_events, "LOOK", 0.05)
    monkeypatch.setattr(live_events, "PACE", 0.01)
    secret = create_token(open_storage(STORAGE), "follower", "reader")
    with connection(guarded.running) as opened:
        opened.sendall(head(f"{API}/campaigns/blind/live", authorization=f"Bearer {secret}"))
        assert b"200 OK" in opened.recv(2**16)
        revoke_token(open_storage(STORAGE), "follower")
        heard = b""
        while not heard.endswith(b"0\r\n\r\n"):  # the end of an answer in chunks
            piece = opened.recv(2**16)
            assert piece, "cut off"
            heard += piece


def test_while_the_storage_is_away_nobody_can_be_known_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_module, "FRESH", 0.0)
    file = tmp_path / "campaigns.db"
    secret = create_token(open_storage(f"sqlite:///{file}", create=True), "me", "owner")
    with serving(f"sqlite:///{file}", tokens=True) as running:
        headers = {"Authorization": f"Bearer {secret}"}
        assert running.get("/campaigns", headers=headers).status_code == 200
        file.rename(tmp_path / "away.db")
        for path in ("/campaigns", "/campaigns/x", "/session"):
            answer = running.get(path, headers=headers)
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "application/problem+json"
            assert str(tmp_path) not in answer.text
        (tmp_path / "away.db").rename(file)
        assert running.get("/campaigns", headers=headers).status_code == 200


# What every answer carries.


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (head("/"), 200),
        (head("/static/favicon.svg"), 200),
        (head("/static/nowhere.js"), 404),
        (head("/health"), 200),
        (head("/health", "HEAD"), 405),
        (head(f"{API}/openapi.json"), 200),
        (head(f"{API}/campaigns", "OPTIONS"), 405),
        (head("/nowhere"), 404),
        (head("/health", host="evil.example"), 421),
        (head("/health", origin="null"), 403),
        (head(f"{API}/campaigns", "POST", content_length="99999999999"), 413),
        (head(f"{API}/campaigns", "POST", content_length="2") + b"[]", 415),
        (b"NONSENSE\r\n\r\n", 400),
        (head("/health", x="y" * 600_000), 431),
    ],
)
def test_every_answer_forbids_what_is_not_needed(server: Running, request_bytes: bytes, status: int) -> None:
    answer = send(server, request_bytes)
    assert answer.status == status
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


@pytest.mark.parametrize("path", ["main.js", "css/base.css"])
def test_scripts_and_styles_are_taken_for_nothing_else(server: Running, path: str) -> None:
    answer = send(server, head(f"/static/{path}"))
    assert answer.status == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["content-type"] in ("text/javascript; charset=utf-8", "text/css; charset=utf-8")
    assert "access-control-allow-origin" not in answer.headers


def test_the_page_has_no_script_or_style_of_its_own(server: Running) -> None:
    page = server.http.get("/").text
    assert "<script" in page
    for script in page.split("<script")[1:]:
        assert " src=" in script.split(">")[0]
        assert not script.split(">", 1)[1].split("</script>")[0].strip()
    assert "<style" not in page
    assert " style=" not in page
    assert " on" not in page.replace(" one", "").replace(" only", "").replace(" on ", "")


def test_what_the_api_answers_is_kept_in_no_cache(server: Running) -> None:
    assert server.get("/campaigns").headers["cache-control"] == "no-store"
    assert server.get("/nowhere").headers["cache-control"] == "no-store"


def test_a_client_that_hangs_up_is_not_missed(server: Running) -> None:
    with connection(server) as opened:
        opened.sendall(head("/health", connection="close"))
        assert is_closed(opened)
