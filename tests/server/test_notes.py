"""What annotators get with a question: their own notes and count, and candidates where there are many classes."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from modelpicker.campaigns import open_campaign
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from tests.server.describing import Api
from tests.server.servers import API, Running, serving

STORAGE = "memory://noting"
# By name: the role, and whether an annotator may see what models say.
PEOPLE = {
    "owner": ("owner", True),
    "mia": ("annotator", False),
    "tom": ("annotator", True),
    "rita": ("reader", True),
}
MODELS = ["ant", "bee", "cat", "dog"]
CLASSES = [f"class {number}" for number in range(13)]
SURE = {"algorithm": "label-efficient", "options": {"probability": 1.0}}


class Office:
    """A server that needs tokens, called by several people; each answer is as OpenAPI describes it."""

    def __init__(self, running: Running, tokens: dict[str, str]) -> None:
        self.running, self.tokens, self.api = running, tokens, Api.of(running.http)

    def call(self, who: str, method: str, path: str, body: Any = None, **more: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        sent = {} if body is None else {"json": body}
        answer = self.running.http.request(method, f"{API}/campaigns{path}", headers=headers, **sent, **more)
        self.api.check(answer)
        return answer

    def make(self, name: str, rows: list[list[str]], **settings: Any) -> None:
        made = self.call("owner", "POST", "", {"name": name, "models": MODELS, **SURE, **settings})
        assert made.status_code == 201, made.text
        items = [{"text": f"message {place}"} for place in range(len(rows))]
        asked = self.call("owner", "POST", f"/{name}/rounds/batch", {"predictions": rows, "items": items})
        assert all(one["query"] for one in asked.json()["decisions"])

    def lease(self, who: str, name: str, annotator: str = "tab", **more: Any) -> Any:
        body = {"most": 9, "seconds": 60, "annotator": annotator, **more}
        return self.call(who, "POST", f"/{name}/leases", body).json()


@pytest.fixture(scope="session")  # a worker may come back to this file
def office() -> Iterator[Office]:
    storage = open_storage(STORAGE, create=True)
    tokens = {
        name: create_token(storage, name, role, predictions=sees and role == "annotator")
        for name, (role, sees) in PEOPLE.items()
    }
    with serving(STORAGE, tokens=True) as running:
        yield Office(running, tokens)


def test_annotators_note_for_themselves_and_owners_and_readers_see_all(office: Office) -> None:
    office.make("noted", [["yes", "no", "no", "no"]] * 3)
    sent = {"id": 0, "text": " odd ", "flagged": True, "annotator": "tab 1"}
    assert office.call("mia", "POST", "/noted/notes", sent).json() == {"id": 0, "text": "odd", "flagged": True}
    assert office.call("tom", "POST", "/noted/notes", {"id": 0, "text": "fine"}).status_code == 200
    assert office.call("owner", "POST", "/noted/notes", {"id": 1, "text": "mine"}).status_code == 200
    assert office.call("rita", "POST", "/noted/notes", {"id": 1, "text": "mine"}).status_code == 403
    leased = office.lease("mia", "noted", "another tab")["queries"]
    assert [one["note"] for one in leased] == [{"text": "odd", "flagged": True}, None, None]
    for who in ("owner", "rita"):
        notes = office.call(who, "GET", "/noted/notes").json()["notes"]
        assert [(one["id"], one["text"], one["by"]) for one in notes] == [
            (1, "mine", "owner"),
            (0, "fine", "tom"),
            (0, "odd", "mia/tab 1"),
        ]
    for who in ("mia", "tom"):
        assert office.call(who, "GET", "/noted/notes").status_code == 403
    flagged = office.call("rita", "GET", "/noted/labels?flagged=true").json()["labels"]
    assert [(one["id"], one["state"], len(one["notes"])) for one in flagged] == [(0, "waiting", 2)]
    table = office.call("rita", "GET", "/noted/labels?flagged=true&format=csv").text.splitlines()
    assert table[0].startswith("id,key,label,state,annotator,time,flagged,note,item.text")
    assert ',True,"odd' in table[1]


def test_a_note_after_an_answer_leaves_the_answer_with_who_gave_it(office: Office) -> None:
    office.make("after", [["yes", "no", "no", "no"]] * 2)
    assert office.call("mia", "POST", "/after/labels", {"id": 0, "label": "yes"}).status_code == 200
    assert office.call("tom", "POST", "/after/notes", {"id": 0, "text": "wrong?"}).status_code == 200
    assert office.call("tom", "POST", "/after/retractions", {"id": 0}).status_code == 409
    assert office.call("mia", "POST", "/after/retractions", {"id": 0}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"id": 0, "text": "x" * 2_001}, 422),
        ({"id": 0, "text": 7}, 422),
        ({"id": 0, "flagged": "yes?"}, 422),
        ({"id": 0, "other": 1}, 422),
        ({"text": "x"}, 422),
        ({"id": 7, "text": "x"}, 404),
        ({"id": "nowhere", "text": "x"}, 404),
    ],
)
def test_bad_notes_are_refused(office: Office, body: Any, status: int) -> None:
    if office.call("owner", "GET", "/bad").status_code == 404:
        office.make("bad", [["yes", "no", "no", "no"]])
    assert office.call("mia", "POST", "/bad/notes", body).status_code == status
    assert office.call("owner", "GET", "/bad/notes").json() == {"notes": []}


@pytest.mark.parametrize("given", [True, False], ids=["named classes", "any class"])
def test_with_many_classes_everybody_gets_candidates_that_tell_nothing_else(office: Office, given: bool) -> None:
    name = f"many-{given}"
    rows = [[CLASSES[place], CLASSES[(place + 1) % 13], CLASSES[place], CLASSES[place]] for place in range(13)]
    office.make(name, rows, **({"classes": CLASSES} if given else {}))
    seen = {who: office.lease(who, name, most=13, seconds=0.001)["queries"] for who in ("mia", "tom", "owner")}
    for query in seen["mia"]:
        row = rows[query["id"]]
        assert query["classes"] is None
        assert sorted(query["candidates"]) == sorted(set(row))
    orders = [query["candidates"] for query in seen["mia"]]
    assert orders == [query["candidates"] for query in seen["tom"]] == [one["candidates"] for one in seen["owner"]]
    first = sum(query["candidates"][0] == rows[query["id"]][0] for query in seen["mia"])
    assert 0 < first < len(rows)  # the class that most models say is not always the first, or the last
    listed = office.call("mia", "GET", f"/{name}/queries").json()["queries"]
    assert [one["candidates"] for one in listed] == orders


def test_with_few_classes_there_are_no_candidates(office: Office) -> None:
    office.make("few", [[CLASSES[0], CLASSES[1], CLASSES[0], CLASSES[0]]], classes=CLASSES[:12])
    for who in ("mia", "tom", "owner"):
        assert [one["candidates"] for one in office.lease(who, "few", seconds=0.001)["queries"]] == [None]


def test_own_labels_are_counted_on_every_device(office: Office) -> None:
    office.make("own", [["yes", "no", "no", "no"]] * 5)
    assert office.lease("mia", "own")["own"] == 0
    for number, device in ((0, "laptop"), (1, "phone"), (2, "phone")):
        body = {"id": number, "label": "no", "annotator": device}
        assert office.call("mia", "POST", "/own/labels", body).status_code == 200
    assert office.call("mia", "POST", "/own/skips", {"id": 3, "annotator": "phone"}).status_code == 200
    assert office.lease("mia", "own", "a new one")["own"] == 3
    assert office.lease("tom", "own")["own"] == 0
    assert office.call("mia", "POST", "/own/retractions", {"id": 1}).status_code == 200
    assert (
        office.call("owner", "POST", "/own/labels", {"id": 2, "label": "yes", "replace": True}).status_code == 200
    )
    assert office.lease("mia", "own")["own"] == 1
    assert open_campaign(STORAGE, "own").labels_by("mia") == 1


def test_pictures_and_audio_come_from_hosts_that_were_allowed_and_nowhere_else() -> None:
    with serving("memory://media", media_hosts=("cdn.example.org", "127.0.0.1:8000")) as running:
        policy = running.http.get("/").headers["content-security-policy"]
        assert running.get("/session").json()["media_hosts"] == ["cdn.example.org", "127.0.0.1:8000"]
    assert "img-src 'self' blob: data: cdn.example.org 127.0.0.1:8000;" in policy
    assert "media-src data: cdn.example.org 127.0.0.1:8000;" in policy
    with serving("memory://no-media") as running:
        policy = running.http.get("/").headers["content-security-policy"]
    assert "img-src 'self' blob: data:; media-src data:;" in policy


def test_who_is_not_signed_in_does_not_learn_the_hosts() -> None:
    with serving("memory://shut", tokens=True, media_hosts=("cdn.example.org",)) as running:
        assert running.get("/session").json()["media_hosts"] == []
