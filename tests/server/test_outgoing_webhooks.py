"""Webhooks of ours, against a real server on this machine: what is told, signed, tried again, and never doubled."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sqlalchemy as sa

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.errors import InputError, StorageError
from modelpicker.server.configuration import Configuration
from modelpicker.server.outgoing import outbox, sender
from modelpicker.server.outgoing.target import WebhookTarget
from tests.server.servers import serving, wait_until

SECRET = "a secret of ours, long enough"  # noqa: S105 - of this test


class Received(NamedTuple):
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Listener:
    """A server that takes webhooks, and answers with these codes, the last one from then on."""

    def __init__(self, *codes: int) -> None:
        self.received: list[Received] = []
        self.codes = list(codes) or [200]
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                listener.received.append(Received(headers, body))
                code = listener.codes.pop(0) if len(listener.codes) > 1 else listener.codes[0]
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    @property
    def types(self) -> list[str]:
        return [one.document["type"] for one in self.received]


@pytest.fixture
def listen() -> Iterator[Any]:
    made: list[Listener] = []

    def listen(*codes: int) -> Listener:
        made.append(Listener(*codes))
        return made[-1]

    yield listen
    for one in made:
        one.server.shutdown()
        one.server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "LOOK", 0.02)
    monkeypatch.setattr(outbox, "PAUSES", (0.02,) * 3)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'campaigns.db'}"


def certified(url: str, name: str) -> None:
    """A campaign that is certified at once: its two models never differ."""
    mp.create_campaign(url, name, pool=[["spam", "spam"], ["ham", "ham"]])


def settled(url: str) -> None:
    """Wait until the server has looked around for the first time: what comes from here on is news."""
    box = outbox.Outbox(open_storage(url))
    mp.create_campaign(url, "the first", models=["a", "b"])
    wait_until(lambda: known(box) >= 2)  # that it has started, and this campaign


def known(box: outbox.Outbox) -> int:
    """How many campaigns are watched."""
    try:
        with box.storage.reading() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(outbox.watched)).scalar_one())
    except StorageError:  # the tables are not there yet
        return 0


def test_a_campaign_that_is_certified_is_told_once_signed_and_in_slacks_format(url: str, listen: Any) -> None:
    plain, slack = listen(), listen()
    with serving(url, webhooks=(plain.url, f"slack+{slack.url}"), webhook_secret=SECRET):
        settled(url)
        pool = mp.create_campaign(url, "mails", pool=[["spam", "ham"], ["ham", "ham"]], tolerance=0.0)
        question = pool.pending(1)[0]
        assert plain.received == []
        pool.tell(question.id, "spam")
        wait_until(lambda: bool(plain.received and slack.received))
    (one,), (other,) = plain.received, slack.received
    document = one.document
    assert document["type"] == "campaign.certified"
    assert document["id"] == one.headers["webhook-id"] != other.headers["webhook-id"]
    assert document["data"]["campaign"] == "mails"
    assert document["data"]["pick"] == "model-0"
    assert document["data"]["labels_used"] == 1
    assert other.document == {"text": document["text"]}
    assert document["text"].startswith("mails: certified. model-0 is picked, after 1 label.")
    signed = f"{one.headers['webhook-id']}.{one.headers['webhook-timestamp']}.".encode() + one.body
    expected = base64.b64encode(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()).decode()
    assert one.headers["webhook-signature"] == f"v1,{expected}"


def test_what_was_there_before_the_first_webhook_is_no_news(url: str, listen: Any) -> None:
    certified(url, "old")
    hook = listen()
    with serving(url, webhooks=(hook.url,)):
        settled(url)
        certified(url, "new")
        wait_until(lambda: bool(hook.received))
    assert [one.document["data"]["campaign"] for one in hook.received] == ["new"]
    assert "webhook-signature" not in hook.received[0].headers


def test_it_is_tried_again_with_the_same_id_and_given_up_in_the_end(url: str, listen: Any) -> None:
    mends, broken, moved = listen(500, 503, 200), listen(500), listen(302)
    with serving(url, webhooks=(mends.url, broken.url, moved.url)):
        settled(url)
        box = outbox.Outbox(open_storage(url))
        certified(url, "mails")
        wait_until(lambda: len(mends.received) == 3 and len(broken.received) == 4 and len(moved.received) == 4)
        wait_until(lambda: _open(box) == 0)
    for hook in (mends, broken, moved):
        assert len({one.headers["webhook-id"] for one in hook.received}) == 1
    assert len(mends.received) == 3
    assert len(broken.received) == 4


def _open(box: outbox.Outbox) -> int:
    with box.storage.reading() as connection:
        query = sa.select(sa.func.count()).where(outbox.deliveries.c.due.is_not(None))
        return int(connection.execute(query).scalar_one())


def more_than(hook: Listener, before: int) -> None:
    """Wait for another webhook."""
    wait_until(lambda: len(hook.received) > before)


def test_what_happens_while_no_server_runs_is_told_by_the_next_one_and_nothing_twice(url: str, listen: Any) -> None:
    hook = listen()
    with serving(url, webhooks=(hook.url,)):
        settled(url)
    certified(url, "mails")
    for _ in range(2):
        with serving(url, webhooks=(hook.url,)):
            wait_until(lambda: bool(hook.received))
            certified(url, f"later {len(hook.received)}")
            more_than(hook, len(hook.received))
    told = [one.document["data"]["campaign"] for one in hook.received]
    assert sorted(told) == sorted(set(told))
    assert told[0] == "mails"


def test_a_spent_budget_and_labels_that_nobody_gives_are_told(url: str, listen: Any) -> None:
    hook = listen()
    with serving(url, webhooks=(hook.url,), webhook_idle=0.001):
        settled(url)
        pool = mp.create_campaign(url, "mails", pool=[["a", "b"]] * 6, budget=1, tolerance=0.0)
        (question,) = pool.pending(1)
        wait_until(lambda: hook.types == ["campaign.waiting-for-labels"])
        pool.tell(question.id, "a")
        wait_until(lambda: len(hook.received) == 2)
    assert hook.types == ["campaign.waiting-for-labels", "campaign.budget-spent"]
    assert hook.received[1].document["data"]["budget"] == 1


def test_drift_is_told(url: str, listen: Any) -> None:
    hook = listen()
    random = np.random.default_rng(3)
    with serving(url, webhooks=(hook.url,)):
        settled(url)
        options = {"exploration": 0.5}
        stream = mp.create_campaign(url, "stream", models=3, algorithm="race", options=options)
        for rates in [(0.97, 0.5, 0.5)] * 8 + [(0.5, 0.5, 0.97)] * 24:
            truth = random.integers(0, 4, 50)
            wrong = (truth[:, None] + random.integers(1, 4, (50, 3))) % 4
            rows = np.where(random.random((50, 3)) < rates, truth[:, None], wrong)
            made = stream.ask_many(rows.tolist())
            labels = truth.tolist()
            asked = [(one.id, labels[place]) for place, one in enumerate(made) if one.query]
            stream.tell_many(asked)
            if stream.drifted is not None:
                break
        wait_until(lambda: "campaign.drift" in hook.types)
    told = next(one.document for one in hook.received if one.document["type"] == "campaign.drift")
    assert "another model was seen to be better" in told["text"]


def test_a_slow_address_keeps_nobody_waiting(url: str) -> None:
    import socket

    silent = socket.create_server(("127.0.0.1", 0))  # it never answers
    address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
    with serving(url, webhooks=(address,)) as server:
        certified(url, "mails")
        body = {"name": "stream", "models": ["a", "b"]}
        assert server.post("/campaigns", body).status_code == 201
        asked = server.post("/campaigns/stream/rounds", {"predictions": {"a": "x", "b": "y"}})
        assert asked.status_code < 300
    silent.close()


def test_two_servers_of_one_storage_tell_it_once(url: str) -> None:
    storage = mp.create_campaign(url, "mails", models=2).storage
    one, other = outbox.Outbox(storage), outbox.Outbox(storage)
    assert one.open()
    target, now = WebhookTarget.parse("https://example.org/x"), {"state": "certified"}
    assert one.note("made", None, now, [{"type": "x"}], [target])
    assert not other.note("made", None, now, [{"type": "x"}], [target])
    assert [len(box.due()) for box in (one, other)] == [1, 0]


@pytest.mark.parametrize(
    "address", ["ftp://example.org/x", "file:///etc/passwd", "example.org", "https://", "slack+", "http://a b/"]
)
def test_an_address_that_is_not_of_the_web_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="webhook"):
        Configuration("memory://x", webhooks=(address,)).check()


def test_a_secret_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(InputError, match="at least 16"):
        Configuration("memory://x", webhook_secret=SECRET[:15]).check()
    with pytest.raises(InputError, match="base64"):
        Configuration("memory://x", webhook_secret=f"whsec_{SECRET}").check()
    Configuration("memory://x", webhook_secret="whsec_" + base64.b64encode(b"s" * 24).decode()).check()


def test_logs_do_not_show_the_secret_part_of_an_address() -> None:
    target = WebhookTarget.parse("https://hooks.slack.com/services/T1/B2/secret")
    assert target.form == "slack"
    assert "secret" not in target.shown


def test_the_name_of_a_model_is_no_command_in_slack() -> None:
    target = WebhookTarget.parse("slack+https://chat.example.org/hooks/1")
    body = json.loads(target.body({"text": "mails: <!channel> & <https://x|y> is picked"}))
    assert body == {"text": "mails: &lt;!channel&gt; &amp; &lt;https://x|y&gt; is picked"}
