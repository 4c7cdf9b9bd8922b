"""Files that are sent to a stream: kept by the server, and asked about as labels come."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

import modelpicker as mp
from tests.campaigns.pools import collection, truth
from tests.campaigns.streams import MODELS
from tests.server.describing import Api
from tests.server.servers import API, Running, serving

ITEMS = 60


@pytest.fixture
def file(tmp_path: Path) -> Path:
    collection(ITEMS).save(tmp_path / "tickets.csv")
    return tmp_path / "tickets.csv"


def send(server: Running, name: str, file: Path, **params: Any) -> httpx2.Response:
    """Upload a file."""
    answer = server.http.post(
        f"{API}/campaigns/{name}/files", content=file.read_bytes(), params={"filename": file.name, **params}
    )
    Api.of(server.http).check(answer)
    return answer


def lease(server: Running, name: str, by: str = "ann", most: int = 10) -> dict[str, Any]:
    answer = server.post(f"/campaigns/{name}/leases", {"most": most, "seconds": 600, "annotator": by})
    Api.of(server.http).check(answer)
    found: dict[str, Any] = answer.json()
    return found


def label(server: Running, name: str, most: int = 1_000) -> int:
    """Answer what is asked; how many labels that took."""
    items = collection(ITEMS)
    for done in range(most):
        found = lease(server, name)["queries"]
        if not found:
            return done
        place = int(found[0]["key"].split()[-1])
        body = {"id": found[0]["id"], "label": truth(items, place), "annotator": "ann"}
        server.post(f"/campaigns/{name}/labels", body).raise_for_status()
    return most


def begin(server: Running, name: str, **settings: Any) -> None:
    server.post("/campaigns", {"name": name, "models": MODELS, **settings}).raise_for_status()


def test_a_file_is_kept_and_asked_about_as_the_library_does(server: Running, name: str, file: Path) -> None:
    begin(server, name)
    assert send(server, name, file).json() == {"rounds": 0, "known": 0, "queries": 0, "waiting": ITEMS}
    described = server.get(f"/campaigns/{name}").json()
    assert described["waiting_items"] == {"tickets.csv": ITEMS}
    assert described["state"]["reason"] == f"{ITEMS} items of tickets.csv have not been asked about yet."
    assert send(server, name, file).json() == {"rounds": 0, "known": ITEMS, "queries": 0, "waiting": 0}
    labels = label(server, name)
    here = mp.create_campaign(f"memory://{name}", name, models=MODELS)
    here.ask_file(file)
    while found := here.pending(1):
        here.tell(found[0].id, truth(collection(ITEMS), int(str(found[0].key).split()[-1])))
    there = server.client().campaign(name)
    assert there.best().rounds == here.rounds == ITEMS
    assert there.counts().labels == here.counts().labels == labels
    asked = [[one for one in campaign.history() if one["kind"] == "ask"] for campaign in (there, here)]
    assert [one["probability"] for one in asked[0]] == [one["probability"] for one in asked[1]]


def test_everything_is_decided_now_if_somebody_asks_for_it(server: Running, name: str, file: Path) -> None:
    begin(server, name)
    made = send(server, name, file, at_once="true").json()
    assert (made["rounds"], made["waiting"]) == (ITEMS, 0)
    assert len(lease(server, name, most=100)["queries"]) == made["queries"] > 1


def test_annotators_have_one_question_each(server: Running, name: str, file: Path) -> None:
    begin(server, name, algorithm="label-efficient", options={"probability": 1.0})
    send(server, name, file)
    asked = {by: [one["id"] for one in lease(server, name, by)["queries"]] for by in ("ann", "bob")}
    assert [len(ids) for ids in asked.values()] == [1, 1]
    assert asked["ann"] != asked["bob"]
    assert lease(server, name, "ann")["pending"] == 2


def test_items_that_wait_can_be_dropped(server: Running, name: str, file: Path) -> None:
    begin(server, name)
    send(server, name, file)
    answer = server.http.delete(f"{API}/campaigns/{name}/files")
    Api.of(server.http).check(answer)
    assert answer.json() == {"dropped": ITEMS}
    assert lease(server, name) == {"queries": [], "pending": 0, "deciding": False, "own": 0, "ask_for": "class"}
    assert send(server, name, file).json()["waiting"] == ITEMS


def test_a_paused_stream_takes_no_file_and_says_what_to_do(server: Running, name: str, file: Path) -> None:
    begin(server, name)
    server.http.patch(f"{API}/campaigns/{name}", json={"paused": True}).raise_for_status()
    answer = send(server, name, file)
    assert answer.status_code == 409
    assert "resume it first" in answer.json()["detail"]


def test_a_pool_adds_the_items_of_a_file_and_has_nothing_to_decide_at_once(
    server: Running, name: str, file: Path
) -> None:
    answer = server.http.post(
        f"{API}/campaigns",
        content=file.read_bytes(),
        params={"filename": file.name, "name": name},
        headers={"Content-Type": "application/octet-stream"},
    )
    answer.raise_for_status()
    assert send(server, name, file).json() == {"rounds": 0, "known": ITEMS, "queries": 0, "waiting": 0}
    assert send(server, name, file, at_once="true").status_code == 422


def test_a_long_file_without_a_question_keeps_nobody_waiting(server: Running, name: str, tmp_path: Path) -> None:
    begin(server, name)
    mp.ModelCollection([["ham"] * 4] * 4_000, models=MODELS).save(tmp_path / "same.csv")
    send(server, name, tmp_path / "same.csv")
    found = lease(server, name)
    while found["deciding"]:
        assert found["queries"] == []
        found = lease(server, name)
    described = server.get(f"/campaigns/{name}").json()
    assert (described["rounds"], described["waiting_items"], described["pending"]) == (4_000, {}, 0)


def test_what_waits_is_there_after_a_restart_and_for_another_server(tmp_path: Path, file: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    with serving(storage) as first:
        begin(first, "tickets")
        send(first, "tickets", file)
        label(first, "tickets", 1)
        with serving(storage) as second:
            label(second, "tickets", 1)
            label(first, "tickets", 1)
    with serving(storage) as again:
        label(again, "tickets")
        assert again.get("/campaigns/tickets").json()["rounds"] == ITEMS
