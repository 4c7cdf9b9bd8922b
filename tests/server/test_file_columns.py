"""What the columns of an uploaded file are: told with the first rows, and chosen by the owner."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.server.servers import API, Running

CONTENT = b"""id,question,ant,bee,confidence,meta
m1,"What is one?",yes,no,0.91,"{""k"": 1}"
m2,"What is two?",no,no,0.82,"{""k"": 2}"
m3,"What is three?",yes,yes,,"{""k"": 3}"
m4,"What is four?",no,yes,0.55,"{""k"": 4}"
"""
DOUBTS = {"question": "shown", "confidence": "left out", "meta": "shown"}


@pytest.fixture
def campaign(server: Running, name: str) -> str:
    body = {"name": name, "models": ["ant", "bee"], "algorithm": "label-efficient", "options": {"probability": 1.0}}
    server.post("/campaigns", body).raise_for_status()
    return name


def send(
    server: Running, path: str, status: int, columns: object = None, content: bytes = CONTENT
) -> dict[str, Any]:
    params = {"filename": "f.csv"}
    if columns is not None:
        params["columns"] = columns if isinstance(columns, str) else json.dumps(columns)
    answer = server.http.post(f"{API}{path}", content=content, params=params)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_look_tells_roles_doubts_and_the_first_rows(server: Running) -> None:
    seen = send(server, "/files", 200)
    assert [column["name"] for column in seen["columns"]] == ["id", "question", "ant", "bee", "confidence", "meta"]
    assert {column["name"]: column["role"] for column in seen["columns"] if column["doubt"]} == DOUBTS
    assert (seen["models"], seen["classes"], seen["items"]) == (["ant", "bee"], ["no", "yes"], 4)
    assert seen["fields"] == ["id", "question", "meta"]
    assert seen["rows"][2] == {
        "id": "m3",
        "question": "What is three?",
        "ant": "yes",
        "bee": "yes",
        "confidence": None,
        "meta": '{"k": 3}',
    }
    assert seen["problem"] is None


def test_a_choice_clears_doubts_and_is_followed(server: Running) -> None:
    seen = send(server, "/files", 200, {"question": "left out", "meta": "shown", "confidence": "left out"})
    assert not any(column["doubt"] for column in seen["columns"])
    assert seen["fields"] == ["id", "meta"]


def test_what_cannot_be_read_as_guessed_is_told_and_not_refused(server: Running) -> None:
    seen = send(server, "/files", 200, content=b"question,confidence\nWhy?,0.5\nHow?,0.7\n")
    assert seen["models"] == []
    assert "has no model column" in seen["problem"]
    assert "f.csv" in seen["problem"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"nothing": "shown"}, 'has no column "nothing"'),
        ({"ant": "king"}, "'ant' cannot be 'king'"),
        ({"ant": ["model"]}, "'ant' cannot be"),
        ({"id": "id", "question": "id"}, "cannot both be the id"),
        ("{", "columns is not JSON"),
        ("[]", "send an object"),
        ("x" * 5001, "5000"),
    ],
)
@pytest.mark.parametrize("path", ["/files", "/campaigns/{}/files"])
def test_roles_that_make_no_sense_are_refused_by_name(
    server: Running, campaign: str, path: str, columns: object, message: str
) -> None:
    assert message in send(server, path.format(campaign), 422, columns)["detail"]


def test_an_upload_follows_the_choice(server: Running, campaign: str) -> None:
    path = f"/campaigns/{campaign}/files"
    chosen = {"question": "id", "id": "shown", "confidence": "left out", "meta": "left out"}
    assert send(server, path, 200, chosen)["waiting"] == 4
    query = server.client().campaign(campaign).pending(1, lease=60)[0]
    assert query.key == "What is one?"
    assert query.item == {"id": "m1", "question": "What is one?"}


def test_a_client_uploads_with_the_choice(server: Running, campaign: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(CONTENT)
    remote = server.client().campaign(campaign)
    assert remote.upload(tmp_path / "f.csv", {"meta": "left out", "question": "left out"})["waiting"] == 4
    assert remote.pending(1, lease=60)[0].item == {"id": "m1", "confidence": "0.91"}


def test_an_upload_knows_its_models_and_needs_no_choice(server: Running, campaign: str) -> None:
    path = f"/campaigns/{campaign}/files"
    assert send(server, path, 200)["waiting"] == 4
    assert "cannot be both a model and left out" in send(server, path, 422, {"ant": "left out"})["detail"]
    assert "this campaign has no model of that name" in send(server, path, 422, {"meta": "model"})["detail"]


def test_an_upload_with_an_id_twice_is_refused(server: Running, campaign: str) -> None:
    problem = send(
        server, f"/campaigns/{campaign}/files", 422, content=b"id,ant,bee\nm1,yes,no\nm2,no,no\nm1,yes,no\n"
    )
    assert "f.csv, column \"id\": 'm1' is in rows 1 and 3." in problem["detail"]


def test_a_client_asks_about_a_frame(server: Running, campaign: str) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "text": ["one", "two"], "bee": ["no", None], "ant": ["yes", "no"]})
    remote = server.client().campaign(campaign)
    assert len(remote.ask_many(frame)) == 2
    assert [(query.key, query.item) for query in remote.pending()] == [
        ("a", {"id": "a", "text": "one"}),
        ("b", {"id": "b", "text": "two"}),
    ]
