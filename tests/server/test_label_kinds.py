"""Grades, preferences and several classes over HTTP: what people are shown, what is taken, and what is refused."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.label import as_document
from modelpicker.server.access.tokens import create_token
from tests.campaigns.answers import KINDS, asks, collection, label_of, said_of
from tests.server.describing import Api
from tests.server.servers import API, Running, serving

ITEMS = 20
PEOPLE = {"boss": "owner", "mia": "annotator", "tom": "annotator"}
FILE_KIND = {"Content-Type": "application/octet-stream"}


class Judges:
    """A server, and people who judge free answers."""

    def __init__(self, server: Running, tokens: dict[str, str], folder: Path) -> None:
        self.server = server
        self.tokens = tokens
        self.api = Api.of(server.http)
        self.file = folder / "free.csv"
        collection(ITEMS).save(self.file)

    def call(self, who: str, method: str, path: str, body: Any = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        answer = self.server.http.request(method, f"{API}/campaigns/{path}", json=body, headers=headers)
        self.api.check(answer)
        return answer

    def create(self, name: str, **settings: Any) -> dict[str, Any]:
        """A campaign on the pool of free answers."""
        asked = {"name": name, "filename": "free.csv", "tolerance": 0.0, **settings}
        headers = {**FILE_KIND, "Authorization": f"Bearer {self.tokens['boss']}"}
        content = self.file.read_bytes()
        made = self.server.http.post(f"{API}/campaigns?{urlencode(asked)}", content=content, headers=headers)
        self.api.check(made)
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()
        return found

    def lease(self, who: str, name: str, most: int = 1) -> Any:
        found = self.call(who, "POST", f"{name}/leases", {"most": most, "annotator": "desk"}).json()
        return found["queries"]


@pytest.fixture(scope="session")  # a worker may come back to this file
def judges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judges]:
    storage = open_storage("memory://label-kinds", create=True)
    tokens = {name: create_token(storage, name, role) for name, role in PEOPLE.items()}
    with serving("memory://label-kinds", tokens=True) as running:
        yield Judges(running, tokens, tmp_path_factory.mktemp("free"))


def query_of(document: dict[str, Any]) -> mp.Query:
    """A question as the library has it."""
    return mp.Query(
        document["id"], document["item"], document["key"], (), None, None, tuple(document["candidates"] or ())
    )


@pytest.mark.parametrize("kind", ["grades", "preference"])
def test_annotators_are_shown_answers_without_models_and_their_judgement_is_kept(judges: Judges, kind: str) -> None:
    name = f"shown-{kind}"
    made = judges.create(name, ask_for=asks(kind))
    assert (made["ask_for"], made["same"]) == (kind, "exact")
    items = collection(ITEMS)
    (query,) = judges.lease("mia", name)
    assert query["classes"] is None
    said = said_of(items, query["id"])
    assert set(query["candidates"]) <= set(said)
    assert len(query["candidates"]) == (2 if kind == "preference" else len(said))
    assert not set(json.dumps(query).lower().split('"')) & set(items.models)
    again = judges.call("mia", "GET", f"{name}/queries").json()["queries"]
    assert again[0]["candidates"] == query["candidates"]
    label = as_document(label_of(kind, query_of(query)))
    told = judges.call("mia", "POST", f"{name}/labels", {"id": query["id"], "label": label}).json()
    assert told["label"]["kind"] == kind
    assert sorted(told["label"]["grades"]) == sorted(label["grades"])
    assert judges.call("mia", "GET", f"{name}/classes").json() == {"classes": [], "open": True}
    (row,) = judges.call("boss", "GET", f"{name}/labels").json()["labels"]
    assert row["label"] == told["label"]
    listed = judges.call("boss", "GET", f"{name}/answers").json()["answers"]
    assert [one["label"] for one in listed if one["state"] == "labelled"] == [told["label"]]
    history = judges.call("boss", "GET", f"{name}/history?id={query['id']}").json()["records"]
    assert [record["label"] for record in history if record["kind"] == "label"] == [told["label"]]
    assert [("pair" in record) for record in history if record["kind"] == "question"] == [kind == "preference"]


def test_tables_have_one_readable_cell_per_label(judges: Judges) -> None:
    judges.create("tables", ask_for="grades")
    (query,) = judges.lease("mia", "tables")
    label = as_document(label_of("grades", query_of(query)))
    judges.call("mia", "POST", "tables/labels", {"id": query["id"], "label": label})
    for path in ("labels", "answers"):
        text = judges.call("boss", "GET", f"tables/{path}?format=csv").text
        rows = [row for row in csv.DictReader(io.StringIO(text)) if row["label"]]
        assert [sorted(json.loads(row["label"])["grades"]) for row in rows] == [sorted(label["grades"])]


def test_two_people_judge_an_item_and_the_owner_settles_it(judges: Judges) -> None:
    judges.create("two", ask_for="grades", overlap=2)
    (query,) = judges.lease("mia", "two")
    label = as_document(label_of("grades", query_of(query)))
    judges.call("mia", "POST", "two/labels", {"id": query["id"], "label": label})
    wrong = as_document(mp.Label.all_wrong())
    refused = judges.call("mia", "POST", "two/labels", {"id": query["id"], "label": wrong})
    assert refused.status_code == 409
    judges.call("tom", "POST", "two/labels", {"id": query["id"], "label": wrong})
    (conflict,) = judges.call("boss", "GET", "two/conflicts").json()["conflicts"]
    assert [one["label"]["otherwise"] for one in conflict["opinions"]] == [None, 0.0]
    settled = judges.call("boss", "POST", "two/settlements", {"id": query["id"], "label": wrong}).json()
    assert settled["label"] == wrong
    assert judges.call("boss", "GET", "two/agreement").json()["agreed"] == 0.0


def test_an_owner_replaces_a_judgement_and_an_annotator_takes_theirs_back(judges: Judges) -> None:
    judges.create("replaced", ask_for="grades")
    (query,) = judges.lease("mia", "replaced")
    label = as_document(label_of("grades", query_of(query)))
    wrong = as_document(mp.Label.all_wrong())
    judges.call("mia", "POST", "replaced/labels", {"id": query["id"], "label": wrong})
    assert judges.call("mia", "POST", "replaced/labels", {"id": query["id"], "label": label}).status_code == 409
    body = {"id": query["id"], "label": label, "replace": True}
    assert judges.call("boss", "POST", "replaced/labels", body).json()["labels_used"] == 1
    (second,) = judges.lease("mia", "replaced")
    judges.call("mia", "POST", "replaced/labels", {"id": second["id"], "label": wrong})
    assert judges.call("mia", "POST", "replaced/retractions", {"id": second["id"]}).json()["labels_used"] == 1
    assert judges.call("mia", "POST", "replaced/skips", {"id": second["id"]}).json()["label"] is None


HOSTILE: list[tuple[str, Any]] = [
    ("grades", "a class"),
    ("grades", 7),
    ("grades", None),
    ("grades", []),
    ("grades", {}),
    ("grades", {"kind": "grades"}),
    ("grades", {"kind": "stars", "grades": [["a", 1]]}),
    ("grades", {"kind": "grades", "grades": [["a", 2]]}),
    ("grades", {"kind": "grades", "grades": [["a", -0.1]]}),
    ("grades", {"kind": "grades", "grades": [["a", None]]}),
    ("grades", {"kind": "grades", "grades": [["a", "1"]]}),
    ("grades", {"kind": "grades", "grades": [["a"]]}),
    ("grades", {"kind": "grades", "grades": [[None, 1]]}),
    ("grades", {"kind": "grades", "grades": [], "otherwise": None}),
    ("grades", {"kind": "grades", "grades": [["nobody said this", 1]]}),
    ("grades", {"kind": "grades", "grades": [["x" * 200_000, 1]]}),
    ("grades", {"kind": "grades", "grades": [[str(place), 1] for place in range(12_000)]}),
    ("grades", {"kind": "grades", "grades": [["a", 1]], "more": True}),
    ("grades", {"kind": "preference", "grades": [["a", 1], ["b", 0]]}),
    ("preference", {"kind": "preference", "grades": [["a", 1], ["b", 1]]}),
    ("preference", {"kind": "preference", "grades": [["nobody", 1], ["said this", 0]]}),
    ("class", {"kind": "grades", "grades": [], "otherwise": 0}),
    ("class", {"kind": "classes", "grades": [["a", 0.5]], "otherwise": 0}),
]


@pytest.fixture(scope="session")  # a worker may come back to this file
def hostile(judges: Judges) -> dict[str, int]:
    """A campaign of each kind, and an item that it asks about."""
    found = {}
    for kind in ("class", "grades", "preference"):
        judges.create(f"hostile-{kind}", ask_for=kind)
        found[kind] = judges.lease("mia", f"hostile-{kind}")[0]["id"]
    return found


@pytest.mark.parametrize(("kind", "label"), HOSTILE, ids=lambda value: str(value)[:40])
def test_hostile_labels_are_refused_with_a_short_sentence(
    judges: Judges, hostile: dict[str, int], kind: str, label: Any
) -> None:
    for path, body in (
        ("labels", {"id": hostile[kind], "label": label}),
        ("labels/batch", {"labels": [[hostile[kind], label]]}),
    ):
        if label is None and path == "labels/batch":
            continue  # a skip
        answer = judges.call("mia", "POST", f"hostile-{kind}/{path}", body)
        assert answer.status_code == 422, answer.text[:500]
        assert len(answer.text) < 5_000
    assert judges.call("boss", "GET", f"hostile-{kind}").json()["labels_used"] == 0


def test_not_a_number_is_no_grade(judges: Judges, hostile: dict[str, int]) -> None:
    body = f'{{"id": {hostile["grades"]}, "label": {{"kind": "grades", "grades": [["a", NaN]]}}}}'
    headers = {"Authorization": f"Bearer {judges.tokens['mia']}", "Content-Type": "application/json"}
    answer = judges.server.http.post(f"{API}/campaigns/hostile-grades/labels", content=body, headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize("kind", KINDS)
def test_the_client_says_and_reads_labels_of_every_kind_as_a_campaign_here_does(judges: Judges, kind: str) -> None:
    client = judges.server.client(judges.tokens["boss"])
    campaign = client.create_campaign(f"client-{kind}", pool=judges.file, tolerance=0.0, ask_for=asks(kind))  # type: ignore[arg-type]
    (query,) = campaign.pending(1, lease=60)
    assert (len(query.candidates) > 1) == (asks(kind) != "class")
    label = label_of(kind, query)
    campaign.tell(query.id, label)
    local = mp.open_campaign("memory://label-kinds", f"client-{kind}")
    assert campaign.labels() == local.labels()
    assert campaign.answers() == local.answers()
    campaign.tell_many({query.id: label})
    assert campaign.best().labels_used == 1


def test_several_classes_are_taken_where_a_class_is_asked_for(judges: Judges) -> None:
    judges.create("several")
    (query,) = judges.lease("mia", "several")
    label = as_document(mp.Label.any_of("yes", "maybe"))
    told = judges.call("mia", "POST", "several/labels", {"id": query["id"], "label": label}).json()
    assert told["label"] == {"kind": "classes", "grades": [["maybe", 1.0], ["yes", 1.0]], "otherwise": 0.0}


def test_a_file_of_numbers_has_one_card_for_numbers_within_the_tolerance(judges: Judges) -> None:
    rows = "id,a,b\n" + "".join(f"{place},{place}.501,{place}.502\n" for place in range(5)) + "9,1.5,2.5\n"
    asked = urlencode({"name": "sums", "filename": "sums.csv", "same": 0.01, "ask_for": "grades"})
    headers = {**FILE_KIND, "Authorization": f"Bearer {judges.tokens['boss']}"}
    made = judges.server.http.post(f"{API}/campaigns?{asked}", content=rows.encode(), headers=headers)
    judges.api.check(made)
    assert made.json()["same"] == 0.01
    (query,) = judges.lease("mia", "sums", 5)
    assert sorted(query["candidates"]) == ["1.5", "2.5"]


def test_the_preview_takes_numbers_that_are_not_whole_for_answers_if_it_is_told_to(judges: Judges) -> None:
    headers = {**FILE_KIND, "Authorization": f"Bearer {judges.tokens['boss']}"}
    rows = "id,a,b\n" + "".join(f"{place},{place}.501,{place}.502\n" for place in range(5))
    found = {}
    for same in ("exact", "0"):
        asked = urlencode({"filename": "sums.csv", "same": same})
        answer = judges.server.http.post(f"{API}/files?{asked}", content=rows.encode(), headers=headers)
        judges.api.check(answer)
        found[same] = answer
    assert found["exact"].status_code == 422
    assert (found["0"].json()["models"], found["0"].json()["problem"]) == (["a", "b"], None)


def test_annotators_are_not_sent_thousands_of_texts_as_classes(judges: Judges) -> None:
    storage = "memory://label-kinds"
    rows = [[f"text {place} by {model}" for model in range(2)] for place in range(2_000)]
    mp.create_campaign(storage, "thousands", pool=mp.ModelCollection(rows)).close()
    assert judges.call("mia", "GET", "thousands/classes").json() == {"classes": [], "open": True}
    (query,) = judges.lease("mia", "thousands")
    judges.call("mia", "POST", "thousands/labels", {"id": query["id"], "label": query["candidates"][0]})
    assert judges.call("mia", "GET", "thousands/classes").json()["classes"] == [query["candidates"][0]]
