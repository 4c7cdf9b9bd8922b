"""Changing a campaign over HTTP: budget, goal, pause, name, deleting; its labels; tokens of owners."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.results.pick import LabelFilter
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.errors import ConflictError, InputError, NotFoundError
from modelpicker.server.access.tokens import create_token
from tests.server.servers import API, Running, serving

URL = "memory://terms"
MODELS = ["ant", "bee"]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(URL) as running:
        yield running


def begun(server: Running, name: str, items: int = 4) -> mp.RemoteCampaign:
    campaign = server.client().create_campaign(
        name,
        models=MODELS,
        algorithm="label-efficient",
        options={"probability": 1.0},
        budget=items,
        budget_way="cap",
    )
    for place in range(items):
        campaign.ask(["spam", "ham"], item={"text": f"Message {place}"}, key=f"{name}-{place}")
    return campaign


def test_only_what_is_sent_changes(server: Running) -> None:
    campaign = begun(server, "partly")
    campaign.revise(budget=9, annotator="mia")
    campaign.revise(stop_when=mp.Certified(gap=0.2))
    found = campaign.describe()
    assert (found["budget"], found["stop_when"]["gap"], found["paused"]) == (9, 0.2, False)
    campaign.revise(budget=None, paused=True)
    found = campaign.describe()
    assert (found["budget"], found["stop_when"]["gap"], found["paused"]) == (None, 0.2, True)
    assert found["state"]["name"] == "paused"
    assert campaign.pending(3, lease=60) == []
    with pytest.raises(ConflictError, match="paused"):
        campaign.ask(["spam", "ham"])
    revised = [record["changes"] for record in campaign.history() if record["kind"] == "revise"]
    assert [sorted(one) for one in revised] == [["budget"], ["stop_when"], ["budget", "paused"]]
    for wrong in ({"budget": -1}, {"budget": "many"}, {"seed": 3}, {"paused": "no"}, {"stop_when": {"gap": 2}}):
        assert server.http.patch(f"{API}/campaigns/partly", json=wrong).status_code == 422, wrong
    with pytest.raises(ConflictError):
        campaign.revise(budget=1)


def test_a_campaign_is_renamed_archived_and_deleted(server: Running) -> None:
    campaign = begun(server, "first name")
    campaign.rename("second name")
    assert campaign.rounds == 4
    campaign.ask(["spam", "spam"])
    with pytest.raises(NotFoundError):
        server.client().campaign("first name").describe()
    with pytest.raises(ConflictError):
        begun(server, "third").rename("second name")
    campaign.revise(archived=True)
    listed = {one["name"]: one["state"]["name"] for one in server.get("/campaigns").json()["campaigns"]}
    assert listed["second name"] == "archived"
    assert server.http.delete(f"{API}/campaigns/second name?confirm=second").status_code == 422
    assert server.http.delete(f"{API}/campaigns/second name").status_code == 422
    campaign.delete()
    assert server.get("/campaigns/second name").status_code == 404
    assert "second name" not in server.get("/campaigns").text
    assert begun(server, "second name").rounds == 4, "the name is free, and nothing is left of the old one"


def test_labels_are_listed_with_who_when_and_what_models_said(server: Running) -> None:
    campaign = begun(server, "listed")
    campaign.tell(0, "spam", annotator="mia")
    campaign.tell(1, "ham", annotator="tom")
    campaign.skip(2, annotator="tom/4f2c81aa")  # from another tab
    campaign.tell(0, "ham", replace=True, annotator="eva")
    rows = campaign.labels()
    assert [(one.id, one.label, one.by, one.state) for one in rows] == [
        (0, "ham", "eva", "labelled"),
        (2, None, "tom/4f2c81aa", "skipped"),
        (1, "ham", "tom", "labelled"),
    ]
    assert rows[0].predictions == {"ant": "spam", "bee": "ham"}
    assert rows[0].item == {"text": "Message 0"}
    assert rows[0].at.endswith("+00:00")
    own = mp.open_campaign(URL, "listed")
    assert own.labels() == rows
    for wanted, ids in (
        (LabelFilter(search="MESSAGE 1"), [1]),
        (LabelFilter(search="listed-2"), [2]),
        (LabelFilter(label="ham"), [0, 1]),
        (LabelFilter(annotator="tom"), [2, 1]),
        (LabelFilter(annotator="tom", state="labelled"), [1]),
        (LabelFilter(search="nowhere"), []),
    ):
        assert [one.id for one in campaign.labels(wanted)] == ids
        assert [one.id for one in own.labels(wanted)] == ids
    page = server.get("/campaigns/listed/labels?first=1&most=1").json()
    assert ([one["id"] for one in page["labels"]], page["total"]) == ([2], 3)
    assert page["annotators"] == ["eva", "mia", "tom", "tom/4f2c81aa"]
    campaign.retract(0)
    assert [one.id for one in campaign.labels()] == [2, 1]
    text = server.get("/campaigns/listed/labels?format=csv").text
    table = list(csv.DictReader(io.StringIO(text)))
    assert table[1] == {
        "id": "1",
        "key": "listed-1",
        "label": "ham",
        "state": "labelled",
        "annotator": "tom",
        "time": rows[2].at,
        "flagged": "False",
        "note": "",
        "item.text": "Message 1",
        "model.ant": "spam",
        "model.bee": "ham",
    }


def test_owners_make_and_revoke_tokens() -> None:
    place = "memory://terms-tokens"
    secret = create_token(open_storage(place, create=True), "boss", "owner")
    with serving(place, tokens=True) as running:
        own = {"Authorization": f"Bearer {secret}"}
        made = running.post("/tokens", {"name": "mia", "role": "annotator"}, headers=own)
        assert made.status_code == 201
        theirs = {"Authorization": f"Bearer {made.json()['token']}"}
        assert running.get("/campaigns", headers=theirs).status_code == 200
        assert running.get("/tokens", headers=theirs).status_code == 403
        assert running.post("/tokens", {"name": "mia", "role": "reader"}, headers=own).status_code == 409
        assert running.post("/tokens", {"name": "eva", "role": "king"}, headers=own).status_code == 422
        listed = running.get("/tokens", headers=own)
        assert [(one["name"], one["role"]) for one in listed.json()["tokens"]] == [
            ("boss", "owner"),
            ("mia", "annotator"),
        ]
        assert made.json()["token"] not in listed.text
        delete = running.http.delete
        assert delete(f"{API}/tokens/boss", headers=own).status_code == 409
        assert delete(f"{API}/tokens/nobody", headers=own).status_code == 404
        assert delete(f"{API}/tokens/mia", headers=own).status_code == 204
        assert [one["name"] for one in running.get("/tokens", headers=own).json()["tokens"]] == ["boss"]


def test_what_makes_no_sense_is_refused_in_the_same_words(server: Running) -> None:
    campaign = begun(server, "refused")
    with pytest.raises(InputError):
        campaign.rename("../x")


def test_a_new_name_and_other_terms_are_one_change(server: Running) -> None:
    campaign, other = begun(server, "two at once"), begun(server, "taken")
    answer = server.http.patch(f"{API}/campaigns/{campaign.name}", json={"name": other.name, "paused": True})
    assert answer.status_code == 409
    answer = server.http.patch(f"{API}/campaigns/{campaign.name}", json={"name": "fresh", "budget": 1})
    assert answer.status_code == 409, "four labels are asked for"
    found = campaign.describe()
    assert (found["name"], found["paused"], found["budget"]) == ("two at once", False, 4)
    campaign.revise(name="fresh name", paused=True)
    found = campaign.describe()
    assert (found["name"], found["paused"]) == ("fresh name", True)
    assert server.get("/campaigns/two at once").status_code == 404


def test_guidelines_come_with_the_campaign(server: Running, tmp_path: Path) -> None:
    made = server.client().create_campaign("told", models=MODELS, guidelines="Be kind.")
    assert made.describe()["guidelines"] == "Be kind."
    mp.ModelCollection([["spam", "ham"]] * 5, models=MODELS).save(tmp_path / "items.csv")
    pool = server.client().create_campaign("told too", pool=tmp_path / "items.csv", guidelines="Sei nett 🙂, ja?")
    assert pool.describe()["guidelines"] == "Sei nett 🙂, ja?"
    answer = server.post("/campaigns", {"name": "long", "models": MODELS, "guidelines": "x" * 10_001})
    assert answer.status_code == 422


def test_what_a_finish_withdraws_is_nowhere_counted_as_waiting(server: Running) -> None:
    campaign = begun(server, "done")
    campaign.finish()
    assert campaign.describe()["pending"] == 0
    listed = {one["name"]: one for one in server.get("/campaigns").json()["campaigns"]}
    assert listed["done"]["pending"] == 0
    assert 'modelpicker_pending_queries{campaign="done"} 0.0' in server.http.get("/metrics").text
    assert {one.state for one in campaign.answers()} == {"withdrawn"}
    campaign.revise(finished=False)
    assert campaign.describe()["pending"] == 4
