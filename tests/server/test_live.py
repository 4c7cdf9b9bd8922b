"""News of a campaign, as it happens."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

import modelpicker as mp
from modelpicker.server.live import live_events
from tests.server.servers import Running, serving, wait_until

MODELS = ["ant", "bee", "cat"]


class News:
    """A stream of server-sent events."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()

    def next(self, kind: str) -> dict[str, Any]:
        """The next event of a kind."""
        seen: dict[str, str] = {}
        for line in self._lines:
            if not line:
                if seen.get("event") == kind:
                    document: dict[str, Any] = json.loads(seen["data"])
                    assert int(seen["id"]) == document["event"]
                    return document
                seen = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                seen[name] = value
        raise AssertionError("the stream has ended")

    def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The first event that says so."""
        while True:
            found = self.next(kind)
            if all(found[name] == value for name, value in wanted.items()):
                return found


@contextmanager
def following(server: Running, name: str) -> Iterator[News]:
    with server.http.stream("GET", f"/api/v1/campaigns/{name}/live") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield News(answer)


def test_a_follower_is_told_how_it_stands_at_once_and_when_something_changes(server: Running, name: str) -> None:
    campaign = server.client().create_campaign(name, models=MODELS)
    with following(server, name) as news:
        first = news.next("standing")
        assert (first["rounds"], first["pick"]) == (0, None)
        assert news.next("charts")["recent"]["rounds"] == []
        made = campaign.ask([0, 1, 1])
        while not made.query:
            made = campaign.ask([0, 1, 1])
        campaign.tell(made.id, 0)
        told = news.until("standing", labels_used=1)
        assert told["pick"] == "ant"
        assert told == server.get(f"/campaigns/{name}/standing").json()
        assert news.until("charts", event=told["event"])["labels"]["labels"][-1] == 1


def test_what_another_server_did_is_news_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('live')}/campaigns.db"
    campaign = mp.create_campaign(url, "shared", models=MODELS)
    with serving(url) as server, following(server, "shared") as news:
        news.next("standing")
        campaign.ask([0, 1, 1])  # not through this server
        assert news.until("standing", rounds=1)["event"] == 1


def test_many_followers_share_one_look_and_nothing_is_left_when_they_go(server: Running, name: str) -> None:
    campaign = server.client().create_campaign(name, models=MODELS)
    with following(server, name) as first:
        with following(server, name) as second, following(server, name) as third:
            campaign.ask([0, 1, 1])
            for news in (first, second, third):
                assert news.until("standing", rounds=1)
            assert "modelpicker_listeners 3" in server.http.get("/metrics").text
        campaign.ask([0, 1, 1])
        assert first.until("standing", rounds=2)
    wait_until(lambda: "modelpicker_listeners 0" in server.http.get("/metrics").text)


def test_a_quiet_campaign_is_heard_of_now_and_then(
    server: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_events, "HEARTBEAT", 0.05)
    server.client().create_campaign(name, models=MODELS)
    with server.http.stream("GET", f"/api/v1/campaigns/{name}/live") as answer:
        assert next(line for line in answer.iter_lines() if line.startswith(":")) == ": still here"


def test_there_is_an_end_to_how_many_may_follow(
    server: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_events, "MOST_FOLLOWERS", 1)
    server.client().create_campaign(name, models=MODELS)
    with following(server, name) as news:
        news.next("standing")
        answer = server.get(f"/campaigns/{name}/live")
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert "close some" in answer.json()["detail"]


def test_a_storage_that_goes_away_is_waited_for_and_not_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.db"
    with serving(f"sqlite:///{file}") as server:
        campaign = server.client(patience=0).create_campaign("kept", models=MODELS)
        with following(server, "kept") as news:
            news.next("standing")
            file.rename(tmp_path / "away.db")
            with pytest.raises(mp.StorageError):
                campaign.ask([0, 1, 1])
            assert server.http.get("/ready").status_code == 503
            assert not file.exists()
            (tmp_path / "away.db").rename(file)
            campaign.ask([0, 1, 1])
            assert news.until("standing", rounds=1)
