"""Streams that ask for grades, preferences or costly classes over HTTP: who asks, who judges, what is sent."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.label import as_document
from modelpicker.server.access.tokens import create_token
from tests.campaigns.answers import collection, label_of
from tests.campaigns.streams import check
from tests.server.describing import Api
from tests.server.servers import API, Running, serving
from tests.server.test_label_kinds import query_of

STORAGE = "memory://stream-labels"
PEOPLE = {"boss": "owner", "mia": "annotator", "tom": "annotator", "ray": "reader"}
MODELS = ["ada", "ben", "cat", "dan"]
LOSS = {"spam": {"ham": 4}, "ham": {"spam": 1}}


class Desk:
    """A server, and people of every role."""

    def __init__(self, server: Running, tokens: dict[str, str]) -> None:
        self.server, self.tokens = server, tokens
        self.api = Api.of(server.http)

    def call(self, who: str, method: str, path: str, body: Any = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        answer = self.server.http.request(method, f"{API}/campaigns{path}", json=body, headers=headers)
        self.api.check(answer)
        return answer

    def create(self, name: str, **settings: Any) -> httpx2.Response:
        return self.call("boss", "POST", "", {"name": name, "models": MODELS, **settings})

    def client(self, who: str = "boss") -> mp.Client:
        return mp.Client(str(self.server.http.base_url).rstrip("/"), token=self.tokens[who])


@pytest.fixture(scope="session")  # a worker may come back to this file
def desk() -> Iterator[Desk]:
    storage = open_storage(STORAGE, create=True)
    tokens = {name: create_token(storage, name, role) for name, role in PEOPLE.items()}
    with serving(STORAGE, tokens=True) as running:
        yield Desk(running, tokens)


@pytest.mark.parametrize("kind", ["grades", "preference"])
def test_a_stream_of_free_answers_is_judged_as_it_comes(desk: Desk, kind: str) -> None:
    """An owner asks, an annotator judges cards without model names, a reader reads."""
    name = f"free-{kind}"
    assert desk.create(name, ask_for=kind).json()["ask_for"] == kind
    items = collection(12)
    for place, row in enumerate(items.predictions.tolist()):
        said = [None if code < 0 else items.classes[code] for code in row]
        body = {"predictions": said, "item": {"text": f"What is {place}?"}, "key": f"k{place}"}
        desk.call("boss", "POST", f"/{name}/rounds", body)
        found = desk.call("mia", "POST", f"/{name}/leases", {"annotator": "desk"}).json()
        assert found["ask_for"] == kind
        for query in found["queries"]:
            assert query["classes"] is None
            assert len(query["candidates"]) >= 2 if kind == "grades" else len(query["candidates"]) == 2
            label = as_document(label_of(kind, query_of(query)))
            told = desk.call("mia", "POST", f"/{name}/labels", {"id": query["id"], "label": label}).json()
            assert told["label"]["kind"] == kind
    best = desk.call("ray", "GET", f"/{name}/standing").json()
    assert (best["pick"], best["certificate"]["loss"], best["labels_used"] > 2) == ("ada", kind, True)
    rows = list(csv.DictReader(io.StringIO(desk.call("boss", "GET", f"/{name}/answers?format=csv").text)))
    assert {f'"kind": "{kind}"' in row["label"] for row in rows if row["label"]} == {True}
    records = desk.call("boss", "GET", f"/{name}/history").json()["records"]
    queried = [record for record in records if record["kind"] == "ask" and record["query"]]
    assert {"pair" in record for record in queried} == {kind == "preference"}
    check(mp.open_campaign(STORAGE, name), STORAGE)


@pytest.mark.parametrize("who", ["mia", "ray"])
def test_only_owners_ask_and_create(desk: Desk, who: str) -> None:
    name = f"roles-{who}"
    assert desk.call(who, "POST", "", {"name": name, "models": MODELS, "ask_for": "grades"}).status_code == 403
    desk.create(name, ask_for="grades")
    body = {"predictions": ["a", "b", "c", "d"]}
    assert desk.call(who, "POST", f"/{name}/rounds", body).status_code == 403
    asked = desk.call("boss", "POST", f"/{name}/rounds", body).json()
    label = as_document(mp.Label.all_wrong())
    status = desk.call(who, "POST", f"/{name}/labels", {"id": asked["id"], "label": label}).status_code
    assert status == (200 if who == "mia" else 403)


def test_two_people_disagree_about_grades_and_the_owner_settles(desk: Desk) -> None:
    desk.create("two", ask_for="grades", overlap=2, algorithm="label-efficient", options={"probability": 1.0})
    asked = desk.call("boss", "POST", "/two/rounds", {"predictions": ["a", "b", "b", "b"]}).json()
    wrong, right = as_document(mp.Label.all_wrong()), as_document(mp.Label.graded({"a": 1, "b": 0}))
    for who, label in (("mia", wrong), ("tom", right)):
        desk.call(who, "POST", "/two/labels", {"id": asked["id"], "label": label})
    (conflict,) = desk.call("boss", "GET", "/two/conflicts").json()["conflicts"]
    assert [one["label"]["otherwise"] for one in conflict["opinions"]] == [0.0, None]
    settled = desk.call("boss", "POST", "/two/settlements", {"id": asked["id"], "label": right}).json()
    assert settled["label"] == right
    check(mp.open_campaign(STORAGE, "two"), STORAGE)


def test_a_loss_is_stored_shown_and_in_the_certificate(desk: Desk) -> None:
    made = desk.create("costly", loss=LOSS, classes=["spam", "ham"]).json()
    assert made["options"]["loss"]["name"] == "cost"
    asked = desk.call("boss", "POST", "/costly/rounds", {"predictions": ["spam", "ham", "ham", "spam"]}).json()
    if asked["query"]:
        desk.call("mia", "POST", "/costly/labels", {"id": asked["id"], "label": "spam"})
    assert desk.call("boss", "GET", "/costly/standing").json()["certificate"]["loss"] == "cost"
    assert "4 for answering ham where spam is right" in desk.call("boss", "GET", "/costly/report").text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "grades"}, "pass ask_for"),
        ({"loss": "balanced"}, "Loss.balanced"),
        ({"loss": {"spam": -1}}, "must be a number from 0"),
        ({"loss": 5}, "loss"),
        ({"loss": {"spam": 2}, "ask_for": "preference"}, "a loss of its own"),
        ({"options": {"loss": {"spam": 2}}}, "pass loss= itself"),
        ({"price": {"ada": 1}, "algorithm": "race"}, "give a price for every model"),
        ({"price": dict.fromkeys(MODELS, 1.0)}, "only race uses prices"),
    ],
)
def test_what_makes_no_sense_makes_no_campaign(desk: Desk, settings: dict[str, Any], words: str) -> None:
    answer = desk.create("refused", **settings)
    assert (answer.status_code, words in answer.text) == (422, True), answer.text
    assert desk.call("boss", "GET", "/refused").status_code == 404


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Paris", "a grade for each answer"),
        (as_document(mp.Label.graded({"Rome": 1})), "no model answers"),
        ({"kind": "grades", "grades": [["a", 7]], "otherwise": None}, "grade"),
        (as_document(mp.Label.better("a", "b")), "a grade for each answer"),
    ],
)
def test_a_label_that_does_not_fit_is_refused_with_a_reason(desk: Desk, label: Any, words: str) -> None:
    desk.create("fit", ask_for="grades", algorithm="label-efficient", options={"probability": 1.0})
    asked = desk.call("boss", "POST", "/fit/rounds", {"predictions": ["a", "b", "b", "b"], "key": "one"}).json()
    answer = desk.call("mia", "POST", "/fit/labels", {"id": asked["id"], "label": label})
    assert (answer.status_code, words in answer.text) == (422, True), answer.text


def test_the_client_says_what_the_library_says(desk: Desk) -> None:
    with desk.client() as client:
        campaign = client.create_campaign("far", models=MODELS, ask_for="grades", algorithm="race")
        near = mp.create_campaign(STORAGE, "near", models=MODELS, ask_for="grades", algorithm="race")
        items = collection(15)
        for row in items.predictions.tolist():
            said = [None if code < 0 else items.classes[code] for code in row]
            one, other = campaign.ask(said), near.ask(said)
            assert (one.query, one.probability) == (other.query, other.probability)
            for query in campaign.pending(1, lease=60):
                assert set(query.candidates) <= set(said)
                for each in (campaign, near):
                    each.tell(query.id, label_of("grades", query))
        assert campaign.best().standing == near.best().standing
        assert campaign.best().certificate == near.best().certificate
        priced = client.create_campaign("costs", models=MODELS, loss=LOSS, classes=["spam", "ham"])
        assert priced.best().certificate.loss == "cost"
