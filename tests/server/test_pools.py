"""A file that is sent to the server becomes a campaign on a pool, as it does in this process."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

import modelpicker as mp
from modelpicker.campaigns import import_campaign
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from modelpicker.server.context import Intake
from tests.server.describing import Api
from tests.server.servers import API, Running, serving

ITEMS = 200
COLUMNS = json.dumps({"notes": "left out"})
FILE_KIND = {"Content-Type": "application/octet-stream"}


def table(items: int = ITEMS) -> str:
    """Three models: the first is right, the second errs on every fourth item, the third on every other one."""
    rows = ["id,text,notes,good,fair,poor,label"]
    for place in range(items):
        truth = ("ham", "spam")[place % 3 == 0]
        wrong = ("spam", "ham")[place % 3 == 0]
        said = (truth, wrong if place % 4 == 0 else truth, wrong if place % 2 else truth)
        rows.append(f"m-{place},Message {place},n{place},{','.join(said)},{truth}")
    return "\n".join(rows) + "\n"


def truth(place: int) -> str:
    return ("ham", "spam")[place % 3 == 0]


def begin(server: Running, text: str | bytes, **asked: Any) -> httpx2.Response:
    content = text if isinstance(text, bytes) else text.encode()
    asked = {"filename": "tickets.csv", **({"columns": COLUMNS} if b"notes" in content else {}), **asked}
    return server.http.post(f"{API}/campaigns?{urlencode(asked)}", content=content, headers=FILE_KIND)


def test_a_file_makes_a_campaign_whose_questions_come_when_somebody_is_ready(server: Running, name: str) -> None:
    api = Api.of(server.http)
    made = begin(server, table(), name=name, tolerance=0.05, budget=60)
    api.check(made)
    assert made.status_code == 201
    assert made.headers["location"] == f"{API}/campaigns/{name}"
    found = made.json()
    assert (found["models"], found["rounds"], found["budget"]) == (["good", "fair", "poor"], ITEMS, 60)
    assert (found["algorithm"], found["options"]["tolerance"]) == ("pool-picker", 0.05)
    assert (found["pending"], found["state"]["name"]) == (0, "running")
    asked = 0
    while queries := server.post(f"/campaigns/{name}/leases", {"most": 3, "annotator": "ann"}).json()["queries"]:
        for one in queries:
            assert set(one["item"]) <= {"id", "text"}
            label = truth(one["id"])
            server.post(f"/campaigns/{name}/labels", {"id": one["id"], "label": label}).raise_for_status()
            asked += 1
    for path in (
        "",
        "/standing",
        "/charts",
        "/history",
        "/queries",
        "/answers",
        "/labels",
        "/certificate?kind=pool",
    ):
        api.check(server.get(f"/campaigns/{name}{path}").raise_for_status())
    standing = server.get(f"/campaigns/{name}/standing").json()
    assert (standing["pick"], standing["state"]["name"], standing["certificate"]["kind"]) == (
        "good",
        "certified",
        "pool",
    )
    assert asked < 60 < ITEMS


def test_the_same_file_here_and_on_a_server_asks_the_same_questions(
    server: Running, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(table())
    there = server.client().create_campaign(
        name, pool=path, columns={"notes": "left out"}, tolerance=0.05, budget=20
    )
    pool = mp.load_collection(path, columns={"notes": "left out"})
    here = mp.create_campaign(f"sqlite:///{tmp_path}/here.db", name, pool=pool, tolerance=0.05, budget=20)
    for _ in range(10):
        one, other = (campaign.pending(2, lease=60, annotator="ann") for campaign in (here, there))
        assert [(q.id, q.key, q.item, q.classes) for q in one] == [(q.id, q.key, q.item, q.classes) for q in other]
        for campaign in (here, there):
            campaign.tell_many({query.id: truth(query.id) for query in one}, annotator="ann")
    assert here.best().document() == there.best().document()


def test_labels_of_the_file_count_only_if_that_is_said(server: Running, name: str) -> None:
    assert begin(server, table(), name=name).json()["references"] == 0
    used = begin(server, table(), name=f"{name}-used", use_labels="true").json()
    assert (used["references"], used["state"]["name"]) == (ITEMS, "certified")


@pytest.mark.parametrize(
    ("text", "asked", "status", "words"),
    [
        ("id,text,a,b\n1,x,spam,ham\n2,y,spam\n", {}, 422, ["tickets.csv", "row 2"]),
        ("id,a,b\n1,spam,ham\n1,ham,ham\n", {}, 422, ["tickets.csv", "id"]),
        ("id,text,a\n1,x,spam\n", {}, 422, ["model"]),
        ("id,text,a,b\n", {}, 422, ["no rows"]),
        (b"\xff\xfe\x00\x01nonsense", {}, 422, ["tickets.csv"]),
        ("", {}, 422, ["empty"]),
        ("id,a,b\n1,spam,ham\n", {"columns": '{"c": "model"}'}, 422, ["tickets.csv", '"c"']),
        ("id,a,b\n1,spam,ham\n", {"columns": '{"a": "judge"}'}, 422, ["judge", "left out"]),
        ("id,a,b\n1,spam,ham\n", {"columns": "nonsense"}, 422, ["columns"]),
        ("id,a,b\n1,spam,ham\n", {"tolerance": "1"}, 422, []),
        ("id,a,b\n1,spam,ham\n", {"confidence": "1"}, 422, []),
        ("id,a,b\n1,spam,ham\n", {"budget": "-1"}, 422, []),
        ("id,a,b\n1,spam,ham\n", {"models": "a"}, 422, []),
        ("id,a,b\n1,spam,ham\n", {"name": "../x"}, 422, []),
        ("id,a,b\n1,spam,ham\n", {"filename": "tickets.exe"}, 415, ["tickets.exe"]),
    ],
)
def test_a_file_that_cannot_be_a_pool_says_why_and_leaves_nothing(
    server: Running, name: str, text: str | bytes, asked: dict[str, str], status: int, words: list[str]
) -> None:
    answer = begin(server, text, **{"name": name, **asked})
    Api.of(server.http).check(answer)
    assert answer.status_code == status, answer.text
    assert [word for word in words if word not in answer.json()["detail"]] == [], answer.json()["detail"]
    assert "file.csv" not in answer.text
    assert server.get(f"/campaigns/{name}").status_code == 404


def test_a_name_that_is_taken_is_a_conflict_and_settings_in_the_query_go_with_a_file(
    server: Running, name: str
) -> None:
    assert begin(server, table(4), name=name).status_code == 201
    assert begin(server, table(4), name=name).status_code == 409
    assert server.post("/campaigns?tolerance=0.1", {"name": f"{name}-2", "models": 2}).status_code == 422


@pytest.fixture(scope="session")  # a worker may come back to this file
def roles() -> Iterator[tuple[Running, dict[str, str]]]:
    storage = open_storage("memory://pool-roles", create=True)
    tokens = {role: create_token(storage, role, role) for role in ("owner", "annotator", "reader")}
    with serving("memory://pool-roles", tokens=True) as running:
        yield running, tokens


def test_owners_begin_pools_annotators_label_them_and_readers_look(roles: tuple[Running, dict[str, str]]) -> None:
    server, tokens = roles
    headers = {role: {**FILE_KIND, "Authorization": f"Bearer {token}"} for role, token in tokens.items()}
    url = f"{API}/campaigns?{urlencode({'name': 'guarded', 'filename': 'a.csv', 'columns': COLUMNS})}"
    for role, status in (("reader", 403), ("annotator", 403), ("owner", 201)):
        assert server.http.post(url, content=table(20).encode(), headers=headers[role]).status_code == status
    assert server.http.post(url, content=b"x", headers=FILE_KIND).status_code == 401
    owner, annotator, reader = (server.client(tokens[role]) for role in ("owner", "annotator", "reader"))
    owner.campaign("guarded").revise(guidelines="Spam is unwanted.")
    labels = annotator.campaign("guarded")
    assert labels.describe()["guidelines"] == "Spam is unwanted."
    query = labels.pending(1, lease=60)[0]
    assert query.classes == ()
    labels.tell(query.id, "spam")
    assert reader.campaign("guarded").counts().labels == 1
    for campaign in (labels, reader.campaign("guarded")):
        with pytest.raises(mp.ModelPickerError):
            campaign.finish()
    owner.campaign("guarded").finish()
    assert labels.pending(1, lease=60) == []


def test_labels_to_go_and_what_more_would_buy_are_the_same_here_and_over_http(server: Running, name: str) -> None:
    begin(server, table(), name=name, budget=12, tolerance=0.0).raise_for_status()
    campaign = server.client().campaign(name)
    assert (campaign.labels_to_go(), campaign.outlook(5), campaign.best().to_go) == (None, None, None)
    for _ in range(12):
        query = campaign.pending(1, lease=60, annotator="ann")[0]
        campaign.tell(query.id, truth(query.id))
    pick = campaign.best()
    assert pick.to_go is not None
    assert pick.more is not None
    assert pick.to_go == campaign.labels_to_go()
    assert pick.more == campaign.outlook(pick.more.labels)
    assert pick.more.sentence in pick.state.reason
    assert f"Ask about {pick.more.labels} more" in pick.state.next
    described = server.get(f"/campaigns/{name}").json()
    assert described["to_go"] == pick.to_go.document()
    assert described["more"] == pick.more.document()
    for labels in ("0", "-1", "x", ""):
        assert server.get(f"/campaigns/{name}/outlook?labels={labels}").status_code == 422
    stream = server.client().create_campaign(f"{name} stream", models=2)
    assert (stream.labels_to_go(), stream.outlook(5)) == (None, None)


def test_an_intake_says_how_far_it_has_come_and_leaves_nothing_behind(
    server: Running, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def noted(done: int, total: int) -> Intake:
        seen.extend(server.get("/intakes").json()["intakes"])
        return stored(done, total)

    stored = Intake.stored
    monkeypatch.setattr(Intake, "stored", noted)
    begin(server, table(), name=name).raise_for_status()
    assert [(one["name"], one["phase"], one["words"]) for one in seen][:1] == [
        (name, "reading", "Reading the file")
    ]
    assert stored(3, 9).words == "Storing: 3 of 9 items"
    assert stored(9, 9).words == "Finding the items on which models differ"
    assert server.get("/intakes").json() == {"intakes": []}
    assert begin(server, b"a,b\n", name=f"{name} 2").status_code == 422
    assert server.get("/intakes").json() == {"intakes": []}, "also if it fails"


def test_a_finished_pool_withdraws_its_questions_and_goes_on_if_somebody_says_so(
    server: Running, name: str, tmp_path: Path
) -> None:
    begin(server, table(), name=name, budget=2, tolerance=0.0).raise_for_status()
    campaign = server.client().campaign(name)
    first, second = campaign.pending(2, lease=60, annotator="ann")
    campaign.tell(first.id, truth(first.id))
    campaign.finish(annotator="mia")
    assert campaign.pending(5, lease=60, annotator="ann") == []
    campaign.tell(second.id, truth(second.id))  # it was under way
    pick = campaign.best()
    assert (pick.state.name, pick.labels_used, pick.state.takes_items) == ("finished", 2, False)
    campaign.export(tmp_path / "all.jsonl")
    copy = import_campaign(f"sqlite:///{tmp_path}/copy.db", tmp_path / "all.jsonl")
    assert copy.best() == pick
    campaign.revise(finished=False)
    spent = campaign.best().state
    assert (spent.name, "is not proven yet" in spent.reason) == ("budget-spent", True)
    campaign.revise(budget=12)
    assert len(campaign.pending(20, lease=60, annotator="ann")) == 10
