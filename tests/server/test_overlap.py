"""Several people label the same item over HTTP: each sees what is theirs, and owners settle."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from tests.server.describing import Api
from tests.server.servers import API, Running, serving
from tests.server.test_pools import COLUMNS, FILE_KIND, begin, table

PEOPLE = {"boss": "owner", "mia": "annotator", "tom": "annotator", "eve": "annotator", "rea": "reader"}


class Crowd:
    """A server that knows its people."""

    def __init__(self, server: Running, tokens: dict[str, str]) -> None:
        self.server = server
        self.tokens = tokens
        self.api = Api.of(server.http)

    def call(self, who: str, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        answer = self.server.http.request(method, f"{API}/campaigns/{path}", json=body, headers=headers)
        self.api.check(answer)
        return answer

    def create(self, name: str, **more: Any) -> str:
        """A campaign of whose items two people label each."""
        asked = {"name": name, "filename": "a.csv", "columns": COLUMNS, "overlap": 2, "tolerance": 0.0, **more}
        headers = {**FILE_KIND, "Authorization": f"Bearer {self.tokens['boss']}"}
        url = f"{API}/campaigns?{urlencode(asked)}"
        assert self.server.http.post(url, content=table(20).encode(), headers=headers).status_code == 201
        return name

    def lease(self, who: str, name: str, desk: str = "desk") -> list[int]:
        body = {"most": 1, "annotator": desk}
        return [one["id"] for one in self.call(who, "POST", f"{name}/leases", body).json()["queries"]]

    def tell(self, who: str, name: str, item: int, label: str) -> Any:
        return self.call(who, "POST", f"{name}/labels", {"id": item, "label": label, "annotator": "desk"})


@pytest.fixture(scope="session")  # a worker may come back to this file
def crowd() -> Iterator[Crowd]:
    storage = open_storage("memory://overlap-people", create=True)
    tokens = {name: create_token(storage, name, role) for name, role in PEOPLE.items()}
    with serving("memory://overlap-people", tokens=True) as running:
        yield Crowd(running, tokens)


def test_two_people_disagree_and_the_owner_settles_it(crowd: Crowd) -> None:
    name = crowd.create("disagree")
    (item,) = crowd.lease("mia", name)
    told = crowd.tell("mia", name, item, "ham").json()
    assert (told["label"], told["labels_used"], told["pending"]) == ("ham", 1, 1)
    assert item not in crowd.lease("mia", name, "another desk")
    assert crowd.lease("tom", name) == [item]
    told = crowd.tell("tom", name, item, "spam").json()
    assert (told["label"], told["labels_used"]) == ("spam", 2)
    for reader in ("boss", "rea"):
        found = crowd.call(reader, "GET", f"{name}/conflicts").json()
        (conflict,) = found["conflicts"]
        assert (found["total"], conflict["id"]) == (1, item)
        said = [(one["by"], one["label"]) for one in conflict["opinions"]]
        assert said == [("mia/desk", "ham"), ("tom/desk", "spam")]
        assert crowd.call(reader, "GET", f"{name}/agreement").json()["items"] == 1
    settled = crowd.call("boss", "POST", f"{name}/settlements", {"id": item, "label": "spam"})
    assert (settled.status_code, settled.json()["label"]) == (200, "spam")
    assert crowd.call("boss", "GET", f"{name}/conflicts").json() == {"conflicts": [], "total": 0}
    (row,) = crowd.call("rea", "GET", f"{name}/labels").json()["labels"]
    assert (row["by"], row["state"], len(row["opinions"])) == ("boss", "labelled", 2)
    records = crowd.call("rea", "GET", f"{name}/history?id={item}").json()["records"]
    assert [one["kind"] for one in records] == ["item", "fields", "question", "opinion", "opinion", "label"]
    described = crowd.call("mia", "GET", name).json()
    assert (described["overlap"], described["conflicts"], described["labels_known"]) == (2, 0, 1)


def test_annotators_are_not_told_what_others_said(crowd: Crowd) -> None:
    """Neither by a list, nor by an error, nor by taking back what is not theirs."""
    name = crowd.create("discreet")
    (item,) = crowd.lease("mia", name)
    crowd.tell("mia", name, item, "ham")
    crowd.tell("tom", name, item, "spam")
    for path in ("conflicts", "agreement", "labels", "history", "answers"):
        assert crowd.call("mia", "GET", f"{name}/{path}").status_code == 403
    for who in ("mia", "rea"):
        body = {"id": item, "label": "ham"}
        assert crowd.call(who, "POST", f"{name}/settlements", body).status_code == 403
    late = crowd.tell("eve", name, item, "ham")
    assert (late.status_code, "spam" in late.text) == (409, False)
    assert crowd.call("eve", "POST", f"{name}/retractions", {"id": item}).status_code == 409
    crowd.call("boss", "POST", f"{name}/settlements", {"id": item, "label": "spam"})
    late = crowd.tell("eve", name, item, "ham")
    assert (late.status_code, "spam" in late.text, "mia" in late.text) == (409, False, False)
    assert crowd.tell("mia", name, item, "ham").status_code == 200  # told twice, it counts once


def test_annotators_are_not_told_what_others_said_of_an_item_that_one_person_labels(crowd: Crowd) -> None:
    """Nor of a label that nobody asked for; owners are."""
    alone = mp.create_campaign("memory://overlap-people", "alone", models=["a", "b"], options={"query_scale": 1e6})
    assert [one.query for one in alone.ask_many([["spam", "ham"], ["ham", "ham"]])] == [True, False]
    for item in (0, 1):
        assert crowd.tell("mia", "alone", item, "spam").status_code == 200
        late = [
            crowd.tell("tom", "alone", item, "ham"),
            crowd.call("tom", "POST", "alone/labels/batch", {"labels": [[item, "ham"]]}),
            crowd.call("tom", "POST", "alone/skips", {"id": item}),
        ]
        assert [one.status_code for one in late] == [409] * 3
        assert not any("spam" in one.text or "mia" in one.text for one in late)
        assert "spam" in crowd.tell("boss", "alone", item, "ham").text


def test_annotators_take_back_their_own_opinion_only(crowd: Crowd) -> None:
    name = crowd.create("undo")
    (item,) = crowd.lease("mia", name)
    crowd.tell("mia", name, item, "ham")
    crowd.tell("tom", name, item, "ham")
    back = crowd.call("mia", "POST", f"{name}/retractions", {"id": item, "annotator": "desk", "lease": 60})
    assert (back.status_code, back.json()["pending"]) == (200, 1)
    assert crowd.call("mia", "POST", f"{name}/retractions", {"id": item}).status_code == 409
    (row,) = crowd.call("rea", "GET", f"{name}/labels").json()["labels"]
    assert ([one["by"] for one in row["opinions"]], row["state"]) == (["tom/desk"], "waiting")
    crowd.tell("mia", name, item, "ham")
    assert crowd.call("boss", "POST", f"{name}/retractions", {"id": item}).status_code == 200
    assert crowd.call("rea", "GET", f"{name}/labels").json()["labels"] == []


@pytest.mark.parametrize("label", ["ham", "spam", None])
def test_annotators_do_not_undo_what_an_owner_settled(crowd: Crowd, label: str | None) -> None:
    """Whether the owner agreed with them or not; an owner can."""
    name = crowd.create(f"settled as {label}")
    (item,) = crowd.lease("mia", name)
    crowd.tell("mia", name, item, "ham")
    assert crowd.call("boss", "POST", f"{name}/settlements", {"id": item, "label": label}).status_code == 200
    undone = crowd.call("mia", "POST", f"{name}/retractions", {"id": item, "annotator": "desk"})
    assert (undone.status_code, "ask an owner" in undone.text) == (409, True)
    (row,) = crowd.call("rea", "GET", f"{name}/labels").json()["labels"]
    assert (row["label"], row["by"]) == (label, "boss")
    assert crowd.call("boss", "POST", f"{name}/retractions", {"id": item}).status_code == 200


@pytest.mark.parametrize("overlap", ["0", "1.5", "101", "-2", "two", "nan"])
def test_an_overlap_that_makes_no_sense_makes_no_campaign(server: Running, name: str, overlap: str) -> None:
    answer = begin(server, table(4), name=name, overlap=overlap)
    Api.of(server.http).check(answer)
    assert answer.status_code == 422
    assert server.get(f"/campaigns/{name}").status_code == 404


def test_a_stream_takes_an_overlap_as_json_but_not_with_a_budget(server: Running, name: str) -> None:
    body = {"name": name, "models": ["a", "b"], "overlap": 0.25}
    assert server.post("/campaigns", body | {"budget": 5}).status_code == 422
    assert server.post("/campaigns", body | {"overlap": 1.5}).status_code == 422
    assert server.post("/campaigns", body).json()["overlap"] == 0.25
    assert server.client().campaign(name).agreement() == mp.Agreement(0, None, None)


def test_a_client_that_names_nobody_is_one_person_and_comes_to_an_end(
    server: Running, name: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(table(12))
    campaign = server.client().create_campaign(
        name, pool=tmp_path / "a.csv", columns={"notes": "left out"}, tolerance=0.0, overlap=2, budget=6
    )
    asked = []
    while queries := campaign.pending(1, lease=60):
        asked.append(queries[0].id)
        campaign.tell(queries[0].id, "ham")
    assert len(asked) == len(set(asked)) == 3
    assert campaign.best().state.next == "Ask another person to label the items that wait."


def test_the_majority_decides_over_http_and_each_may_take_back_their_own_answer(crowd: Crowd) -> None:
    name = crowd.create("majority", overlap=3, overlap_rule="majority")
    (item,) = crowd.lease("mia", name)
    for who, label in (("mia", "ham"), ("tom", "spam"), ("eve", "ham")):
        assert crowd.tell(who, name, item, label).status_code == 200
    described = crowd.call("rea", "GET", name).json()
    assert (described["overlap_rule"], described["labels_known"], described["conflicts"]) == ("majority", 1, 0)
    (row,) = crowd.call("rea", "GET", f"{name}/labels").json()["labels"]
    assert (row["label"], len(row["opinions"])) == ("ham", 3)
    taken = crowd.call("tom", "POST", f"{name}/retractions", {"id": item, "annotator": "desk"})
    assert taken.status_code == 200  # nobody settled it
    assert crowd.call("rea", "GET", name).json()["labels_known"] == 1
    (second,) = crowd.lease("mia", name)
    assert second != item
    for who in ("mia", "tom"):
        crowd.tell(who, name, second, "ham")
    assert second not in crowd.lease("eve", name)
    late = crowd.tell("eve", name, second, "spam")
    assert (late.status_code, "ham" in late.text) == (409, False)


def test_a_rule_that_there_is_not_makes_no_campaign(server: Running, name: str, tmp_path: Path) -> None:
    assert begin(server, table(4), name=name, overlap_rule="most").status_code == 422
    assert server.post("/campaigns", {"name": name, "models": 2, "overlap_rule": "most"}).status_code == 422
    (tmp_path / "a.csv").write_text(table(4))
    roles: dict[str, Any] = {"notes": "left out"}
    made = server.client().create_campaign(
        name, pool=tmp_path / "a.csv", columns=roles, overlap=3, overlap_rule="majority"
    )
    assert made.describe()["overlap_rule"] == "majority"
