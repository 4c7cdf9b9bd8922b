"""Slices over HTTP and with the client: chosen when a file is sent, and one row each in the standing."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from tests.campaigns.pools import truth
from tests.campaigns.test_slices import sliced
from tests.judging import write_csv
from tests.server.describing import Api
from tests.server.servers import API, Running, serving
from tests.server.test_pools import begin


def test_a_server_asks_what_a_campaign_here_asks_and_says_the_same_of_the_slices(
    server: Running, name: str, tmp_path: Path
) -> None:
    items, path, more = sliced(60), tmp_path / "x.csv", tmp_path / "more.csv"
    write_csv(path, items, labelled=False)
    write_csv(more, sliced(20, first=60), labelled=False)
    settings: dict[str, Any] = {"slice": "lang", "tolerance": 0.15, "seed": 3}
    there = server.client().create_campaign(name, pool=path, **settings)
    here = mp.create_campaign(f"sqlite:///{tmp_path}/here.db", name, pool=path, **settings)
    step, kinds = 0, set()
    while queries := here.pending(1, lease=60, annotator="ann"):
        one, other = queries[0], there.pending(1, lease=60, annotator="ann")[0]
        assert (one.id, one.item) == (other.id, other.item)
        assert one.item is not None
        assert "lang" in one.item
        for campaign in (here, there):
            campaign.tell(one.id, truth(items, one.id % 60), annotator="ann")
        step += 1
        kinds.add((there.best().certified, there.best().state.name))
        if step == 4:
            here.add_items(more)
            there.upload(more)
            assert there.upload(more)["known"] == 20
    assert (True, "running") in kinds
    assert (True, "certified") in kinds
    for path_of in ("", "/standing", "/history?most=500", "/queries", "/labels"):
        Api.of(server.http).check(server.get(f"/campaigns/{name}{path_of}").raise_for_status())
    assert there.best() == here.best()
    assert there.best().slices == here.best().slices

    assert there.describe()["options"]["slice"] == "lang"
    there.export(tmp_path / "x.jsonl")
    again = mp.import_campaign(f"sqlite:///{tmp_path}/here.db", tmp_path / "x.jsonl", "again")
    assert again.best() == here.best()
    assert "The same everywhere, or not?" in there.report()


def test_items_bring_their_slice_in_a_field(server: Running, name: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", sliced(20), labelled=False)
    campaign = server.client().create_campaign(name, pool=tmp_path / "x.csv", slice="lang")
    campaign.ask(["ham", "spam", "egg", "ham"], item={"lang": "it"}, key="n1")
    found = campaign.best().slices
    assert found is not None
    assert found["it"].items == 1
    wrong = {"predictions": ["ham", "spam", "egg", "ham"], "item": {"lang": {"a": 1}}}
    answer = server.post(f"/campaigns/{name}/rounds", wrong)
    Api.of(server.http).check(answer)
    assert (answer.status_code, "names no slice" in answer.text) == (422, True)
    (tmp_path / "bare.csv").write_text("id,ant,bee,cat,dog\nz,ham,spam,egg,ham\n")
    with pytest.raises(mp.InputError, match="there is no column 'lang', which says what slice each item is in"):
        campaign.upload(tmp_path / "bare.csv")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"slice": "language"}, "language"),
        ({"slice": "id", "columns": '{"lang": "shown"}'}, "every item has another value"),
        ({"slice": ""}, "slice"),
        ({"slice": "lang", "judge": "lang"}, "is the judge as well"),
    ],
)
def test_slices_that_make_no_sense_make_no_campaign(
    server: Running, name: str, tmp_path: Path, wrong: dict[str, Any], words: str
) -> None:
    path = write_csv(tmp_path / "x.csv", sliced(20), labelled=False)
    answer = begin(server, path.read_text(), name=name, **wrong)
    Api.of(server.http).check(answer)
    assert (answer.status_code, words in answer.text) == (422, True), answer.text
    assert server.get(f"/campaigns/{name}").status_code == 404


def test_a_stream_is_told_why_it_has_no_slices(server: Running, name: str) -> None:
    answer = server.post("/campaigns", {"name": name, "models": ["a", "b"], "slice": "lang"})
    assert (answer.status_code, "slice goes with pool= only" in answer.text) == (422, True)
    with pytest.raises(mp.InputError, match="slice goes with pool= only"):
        server.client().create_campaign(name, models=["a", "b"], slice="lang")


def test_owners_and_readers_see_the_slices_and_annotators_do_not_learn_who_leads() -> None:
    storage = open_storage("memory://slice-roles", create=True)
    tokens = {role: create_token(storage, role, role) for role in ("owner", "annotator", "reader")}
    items = sliced(40)
    campaign = mp.create_campaign("memory://slice-roles", "t", pool=items, slice="lang")
    query = campaign.pending(1)[0]
    campaign.tell(query.id, truth(items, query.id))
    with serving("memory://slice-roles", tokens=True) as running:
        for role, status in (("owner", 200), ("annotator", 403), ("reader", 200)):
            headers = {"Authorization": f"Bearer {tokens[role]}"}
            standing = running.http.get(f"{API}/campaigns/t/standing", headers=headers)
            assert standing.status_code == status, role
            if status == 200:
                assert standing.json()["slices"]["column"] == "lang"
            described = running.http.get(f"{API}/campaigns/t", headers=headers).json()
            assert described["options"]["slice"] == "lang"  # which is shown with the item
            assert role != "annotator" or not any(str(model) in str(described) for model in items.models)


def test_a_pool_without_slices_has_none_in_its_standing(server: Running, name: str, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", sliced(20), labelled=False)
    begin(server, path.read_text(), name=name, columns='{"lang": "shown"}').raise_for_status()
    assert server.get(f"/campaigns/{name}/standing").json()["slices"] is None
    assert server.client().campaign(name).best().slices is None
