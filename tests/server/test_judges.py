"""Judges over HTTP: sent with the file or with the items, told to owners and readers, and never to who labels."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from tests.campaigns.pools import collection, truth
from tests.judging import FIRST_IS_QUICK, judge_of, labels_of, with_column, write_csv
from tests.server.describing import Api
from tests.server.servers import API, Running, serving

SAID = "said-by-the-judge"


def written(path: Path, kind: str, items: int = 60, first: int = 0) -> mp.ModelCollection:
    found = collection(items, first=first)
    write_csv(path, with_column(found, judge_of(kind, labels_of(found))), labelled=False)
    return found


@pytest.mark.parametrize("kind", FIRST_IS_QUICK)
def test_a_server_asks_what_a_campaign_here_asks_and_says_the_same_of_the_judge(
    server: Running, name: str, tmp_path: Path, kind: str
) -> None:
    items, path = written(tmp_path / "x.csv", kind), tmp_path / "x.csv"
    settings: dict[str, Any] = {"judge": "gpt", "tolerance": 0.02, "seed": 3}
    there = server.client().create_campaign(name, pool=path, **settings)
    here = mp.create_campaign(f"sqlite:///{tmp_path}/here.db", name, pool=path, **settings)
    more = tmp_path / "more.csv"
    written(more, kind, 20, first=60)
    for step in range(8):
        one, other = (campaign.pending(1, lease=60, annotator="ann")[0] for campaign in (here, there))
        assert (one.id, one.item) == (other.id, other.item)
        assert one.item is not None
        assert "gpt" not in one.item
        for campaign in (here, there):
            campaign.tell(one.id, truth(items, one.id % 60), annotator="ann")
        if step == 4:
            here.add_items(more)
            there.upload(more)
            assert there.upload(more)["known"] == 20
    for path_of in ("", "/standing", "/history?most=500", "/queries", "/labels"):
        Api.of(server.http).check(server.get(f"/campaigns/{name}{path_of}").raise_for_status())
    assert there.best() == here.best()
    assert there.best().judge is not None
    assert there.describe()["options"]["judge"] == "gpt"
    there.export(tmp_path / "x.jsonl")
    again = mp.import_campaign(f"sqlite:///{tmp_path}/here.db", tmp_path / "x.jsonl", "again")
    assert again.best() == here.best()
    judge = there.best().judge
    assert judge is not None
    assert judge.sentence in there.report()


def test_answers_of_the_judge_come_with_single_items_and_batches(
    server: Running, name: str, tmp_path: Path
) -> None:
    written(tmp_path / "x.csv", "good")
    there = server.client().create_campaign(name, pool=tmp_path / "x.csv", judge="gpt")
    row = ["ham", "egg", "ham", "ham"]
    there.ask(row, item={"text": "new", "gpt": "egg"}, key="n1")
    there.ask(row, item={"text": "new", "gpt": "egg"}, key="n1")
    there.ask_many([row, row], items=[{"gpt": "ham"}, {"text": "b"}], keys=["n2", "n3"])
    said = [next(there.history(key)).get("judge") for key in ("n1", "n2", "n3")]
    assert said == ["egg", "ham", None]
    with pytest.raises(mp.ConflictError, match="said 'egg' when it was added"):
        there.ask(row, item={"gpt": "ham"}, key="n1")


def test_who_labels_never_sees_what_the_judge_says() -> None:
    rows = ["id,text,m1,m2,gpt", *(f"k{n},text {n},{'a,b' if n % 3 else 'b,a'},{SAID}" for n in range(30))]
    storage = "memory://judges-access"
    opened = open_storage(storage, create=True)
    secrets = {
        role: create_token(opened, role, "annotator" if role == "seer" else role, predictions=role == "seer")
        for role in ("owner", "annotator", "seer", "reader")
    }
    with serving(storage, tokens=True) as running:

        def call(role: str, method: str, path: str, **more: Any) -> Any:
            headers = {"Authorization": f"Bearer {secrets[role]}", **more.pop("headers", {})}
            return running.http.request(method, f"{API}{path}", headers=headers, **more)

        asked = urlencode({"name": "p", "filename": "x.csv", "judge": "gpt"})
        kind = {"Content-Type": "application/octet-stream"}
        made = call("owner", "POST", f"/campaigns?{asked}", content="\n".join(rows).encode(), headers=kind)
        assert made.status_code == 201, made.text
        for role in ("annotator", "seer"):
            leased = call(role, "POST", "/campaigns/p/leases", json={"most": 2})
            assert leased.status_code == 200
            parts = (
                "",
                "/queries",
                "/classes",
                "/standing",
                "/history",
                "/labels",
                "/answers",
                "/export",
                "/report",
            )
            paths = ["/campaigns", *(f"/campaigns/p{part}" for part in parts)]
            seen = [leased, *(call(role, "GET", path) for path in paths)]
            assert not any(SAID in answer.text for answer in seen)
        assert "gpt" not in call("annotator", "GET", "/campaigns/p").text
        for role in ("owner", "reader"):
            assert SAID in call(role, "GET", "/campaigns/p/history").text
            assert call(role, "GET", "/campaigns/p").json()["options"]["judge"] == "gpt"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"judge": "gtp"}, "gtp"),
        ({"judge": ""}, "judge"),
        ({"judge": "m1", "columns": '{"m1": "model"}'}, "cannot be both an item field and a model"),
    ],
)
def test_a_judge_that_makes_no_sense_is_refused(
    server: Running, name: str, asked: dict[str, str], words: str
) -> None:
    query = urlencode({"name": name, "filename": "x.csv", **asked})
    kind = {"Content-Type": "application/octet-stream"}
    done = server.http.post(f"{API}/campaigns?{query}", content=b"id,m1,m2\n1,a,b\n2,b,a\n", headers=kind)
    assert done.status_code == 422
    assert words in done.text


def test_a_stream_refuses_a_judge(server: Running, name: str) -> None:
    with pytest.raises(mp.InputError, match="only a pool can use a judge"):
        server.client().create_campaign(name, models=["a", "b"], judge="gpt")
    done = server.post("/campaigns", {"name": name, "models": ["a", "b"], "judge": "gpt"})
    assert done.status_code == 422
    assert "only a pool can use a judge" in done.text
