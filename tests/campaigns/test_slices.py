"""Slices in campaigns on pools: kept with the items, asked for together, and one pick for each."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.pool_state import begin_stage, error_share
from modelpicker.algorithms.pools.slice_values import MISSING
from modelpicker.algorithms.pools.slices import SlicePicker
from modelpicker.campaigns.pool_campaign import PoolCampaign
from modelpicker.campaigns.storage.backup import back_up
from modelpicker.campaigns.storage.verify import verify
from tests.campaigns.pools import collection, label, truth
from tests.judging import labels_of, with_column

VALUES = ("en", "de", "en", None, "de", "en", "", "en", "fr")
PRICES = {"ant": 4.0, "bee": 3.0, "cat": 2.0, "dog": 1.0}
COSTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "price": {"price": PRICES},
    "noise": {"label_noise": 0.01},
    "loss": {"loss": {"spam": 2}},
}
FIRST_IS_QUICK = ["plain", *(pytest.param(kind, marks=pytest.mark.slow) for kind in list(COSTS)[1:])]


def sliced(items: int = 90, seed: int = 0, first: int = 0) -> mp.ModelCollection:
    """A small pool with a column `lang`."""
    values = [VALUES[place % len(VALUES)] for place in range(first, first + items)]
    return with_column(collection(items, seed=seed, first=first), values, "lang")


def make(url: str, pool: Any, name: str = "pool", **more: Any) -> PoolCampaign:
    settings: dict[str, Any] = {"slice": "lang", "tolerance": 0.05, "seed": 3} | more
    made = mp.create_campaign(url, name, pool=pool, **settings)
    assert isinstance(made, PoolCampaign)
    return made


def state_of(campaign: mp.Campaign) -> tuple[dict[str, Any], str]:
    """Everything that was learned, and what is said about the slices."""
    assert isinstance(campaign, PoolCampaign)
    with campaign.reading_pool() as (_, projection):
        assert isinstance(projection.picker, SlicePicker)
        return projection.document(), str(projection.picker.slices)


def table_of(campaign: mp.Campaign) -> mp.SliceTable:
    found = campaign.best().slices
    assert found is not None
    return found


def reopened(campaign: mp.Campaign) -> mp.Campaign:
    return mp.open_campaign(campaign.storage.place, campaign.name)


def test_a_campaign_asks_what_a_pool_with_the_same_slices_asks(file_url: str) -> None:
    items = sliced()
    bare = mp.SlicePicker(collection(90, labelled=False), list(items.fields["lang"]), seed=3, tolerance=0.05)
    begin_stage(bare, error_share(0))
    campaign = make(file_url, items)
    while not bare.done:
        query = campaign.pending(1)[0]
        assert [query.id] == bare.ask(1)
        assert (query.item or {})["lang"] == items.fields["lang"][query.id]
        campaign.tell(query.id, truth(items, query.id))
        bare.tell(query.id, truth(items, query.id))
    assert campaign.pending(1) == []
    pick = campaign.best()
    assert pick.state.name == "certified"
    assert pick.slices is not None
    assert pick.slices.rows == bare.slices.rows
    assert [row.value for row in pick.slices] == ["en", MISSING, "de", "fr"]
    assert pick.slices.column == "lang"
    report = campaign.report()
    assert "The same everywhere, or not?" in report
    assert pick.slices.sentence in report


@pytest.mark.parametrize("kind", FIRST_IS_QUICK)
def test_it_is_the_same_when_resumed_rebuilt_grown_exported_imported_and_backed_up(
    file_url: str, tmp_path: Path, kind: str
) -> None:
    items = sliced()
    campaign = make(file_url, items, **COSTS[kind])
    done = label(campaign, items, 60)
    assert any(record.get("in_slice") for record in campaign.history())
    assert state_of(reopened(campaign)) == state_of(campaign)
    more = sliced(60, seed=5, first=90)
    assert campaign.add_items(more) == mp.AddedItems(60, 0, 0)
    assert campaign.add_items(more) == mp.AddedItems(0, 60, 0)
    assert state_of(reopened(campaign)) == state_of(campaign)
    assert sum(row.items for row in table_of(campaign)) == 150
    campaign.pending(2)
    campaign.tell(done[0], "egg", replace=True)  # all is rebuilt
    assert state_of(reopened(campaign)) == state_of(campaign)
    campaign.retract(done[1])
    assert state_of(reopened(campaign)) == state_of(campaign)
    assert verify(campaign).wrong == []
    for ending in ("jsonl", "parquet"):
        campaign.export(tmp_path / f"one.{ending}")
        again = mp.import_campaign(f"memory://slices-{kind}", tmp_path / f"one.{ending}", f"again {ending}")
        assert state_of(again) == state_of(campaign)
        assert again.best() == campaign.best()
        assert list(again.history()) == list(campaign.history())
    back_up(campaign.storage, tmp_path / "copy.db")
    assert state_of(mp.open_campaign(f"sqlite:///{tmp_path}/copy.db", "pool")) == state_of(campaign)


def test_every_storage_keeps_the_slices(url: str) -> None:
    items = sliced(40)
    campaign = make(url, items)
    said = [record["slice"] for record in campaign.history() if record["kind"] == "item"]
    assert said == [value or MISSING for value in items.fields["lang"]]
    assert campaign.settings.slice == "lang"
    assert state_of(reopened(campaign)) == state_of(campaign)


def test_items_come_one_by_one_and_in_batches_with_their_slice_in_a_field(memory: str) -> None:
    items = sliced(40)
    campaign = make(memory, items)
    row = ["ham", "spam", "egg", "ham"]
    one = campaign.ask(row, item={"text": "new", "lang": "it"}, key="n1")
    two = campaign.ask_many([row] * 3, items=[{"lang": "it"}, None, {"text": "b"}], keys=["n2", "n3", "n4"])
    said = {record["id"]: record["slice"] for record in campaign.history() if record["kind"] == "item"}
    assert [said[number] for number in (one.id, *two.ids)] == ["it", "it", MISSING, MISSING]
    assert table_of(campaign)["it"].items == 2
    # The same again is no news, with its slice or without.
    assert campaign.ask(row, item={"lang": "it"}, key="n1").id == one.id
    assert campaign.ask(row, key="n1").id == one.id
    with pytest.raises(mp.ConflictError, match="the item is in slice 'de', and was in 'it' when it was added"):
        campaign.ask(row, item={"lang": "de"}, key="n1")
    with pytest.raises(mp.InputError, match="which names no slice; pass text or a number"):
        campaign.ask(row, item={"lang": ["de"]})
    assert campaign.rounds == 44


def test_one_item_is_a_pool_and_others_come_later(file_url: str) -> None:
    campaign = make(file_url, sliced(1))
    assert len(table_of(campaign)) == 1
    campaign.add_items(sliced(1, first=1))
    assert [row.items for row in table_of(campaign)] == [1, 1]
    assert state_of(reopened(campaign)) == state_of(campaign)
    label(campaign, sliced(2))
    assert verify(campaign).wrong == []


def test_slices_can_be_a_list_or_a_function(memory: str) -> None:
    rows = np.array([["a", "b"], ["b", "a"], ["a", "b"]] * 10)
    listed = mp.create_campaign(memory, "list", pool=rows, slice=["x", None, "y"] * 10)
    assert {row.value: row.items for row in table_of(listed)} == {"x": 10, "y": 10, MISSING: 10}
    assert listed.settings.options["slice"] == "slice"
    listed.add_items([["b", "a"]] * 2, slice=["z", "x"])
    listed.ask(["a", "b"], item={"slice": "x"})
    assert {row.value: row.items for row in table_of(listed)} == {"x": 12, "y": 10, MISSING: 10, "z": 1}
    called = mp.create_campaign(memory, "call", pool=rows, slice=lambda item: "odd" if item["item"] % 2 else "even")
    assert {row.value: row.items for row in table_of(called)} == {"even": 15, "odd": 15}


def test_labels_are_asked_for_until_all_slices_are_decided_and_the_state_says_so(memory: str) -> None:
    items = sliced(300, seed=2)
    campaign = make(memory, items, tolerance=0.1)
    states = set()
    while queries := campaign.pending(1):
        campaign.tell(queries[0].id, truth(items, queries[0].id))
        pick = campaign.best()
        states.add((pick.certified, pick.state.name))
        if pick.certified and pick.state.name == "running":
            assert "The pick for all items is proven" in pick.state.reason
            assert pick.reached is False
    assert states == {(False, "running"), (True, "running"), (True, "certified")}
    found = {row.value: row for row in table_of(campaign)}
    assert all(row.certified for row in found.values())
    labels, rows = np.array(labels_of(items)), np.array([*items.classes, ""])[items.predictions]
    for value, row in found.items():
        places = [place for place, one in enumerate(items.fields["lang"]) if (one or MISSING) == value]
        right = (rows[places] == labels[places][:, None]).mean(axis=0)
        assert right[list(items.models).index(str(row.model))] >= right.max() - 0.1


def test_a_budget_a_skip_and_several_people_at_once(memory: str) -> None:
    items = sliced(120)
    campaign = make(memory, items, budget=50, tolerance=0.05)
    mine, yours = campaign.pending(3, lease=60, annotator="mia"), campaign.pending(3, lease=60, annotator="tom")
    assert not {query.id for query in mine} & {query.id for query in yours}
    for query in mine:
        campaign.skip(query.id, annotator="mia")
    for query in yours:
        campaign.tell(query.id, truth(items, query.id), annotator="tom")
    label(campaign, items)
    pick = campaign.best()
    assert (pick.labels_used, pick.skipped) == (50, 3)
    assert pick.state.name == "budget-spent"
    assert pick.slices is not None
    assert "not yet" in {row.state for row in pick.slices}
    campaign.revise(budget=60)
    assert campaign.pending(1)


def test_overlap_and_conflicts(file_url: str) -> None:
    items = sliced(120)
    campaign = make(file_url, items, overlap=2, tolerance=0.1)
    for round_ in range(30):
        for person in ("mia", "tom"):
            queries = campaign.pending(1, lease=60, annotator=person)
            if queries:
                said = "egg" if person == "tom" and round_ == 3 else truth(items, queries[0].id)
                campaign.tell(queries[0].id, said, annotator=person)
    conflicts = campaign.conflicts()
    assert len(conflicts) <= 1
    for conflict in conflicts:
        campaign.settle(conflict.id, truth(items, conflict.id))
    assert sum(row.labels for row in table_of(campaign)) == campaign.counts().labels
    assert state_of(reopened(campaign)) == state_of(campaign)
    assert verify(campaign).wrong == []


def test_finish_reopen_and_another_goal(file_url: str) -> None:
    items = sliced(200, seed=1)
    campaign = make(file_url, items, tolerance=0.2)
    label(campaign, items, 30)
    campaign.revise(finished=True)
    assert campaign.pending(1) == []
    campaign.revise(finished=False, stop_when=mp.Certified(gap=0.02))
    assert table_of(campaign).tolerance == 0.02
    assert campaign.pending(1)
    assert state_of(reopened(campaign)) == state_of(campaign)
    label(campaign, items, 10)
    assert verify(campaign).wrong == []


def test_preferences_compare_the_best_of_the_slice(memory: str) -> None:
    rows = [[f"a{n}", f"b{n}"] for n in range(60)]
    campaign = mp.create_campaign(
        memory, "pairs", pool=rows, slice=["x", "y"] * 30, ask_for="preference", tolerance=0.3, models=["a", "b"]
    )
    while queries := campaign.pending(1):
        winner, loser = (f"a{queries[0].id}", f"b{queries[0].id}")[:: 1 if queries[0].id % 2 else -1]
        campaign.tell(queries[0].id, mp.Label.better(winner, than=loser))
    assert {row.value: row.model for row in table_of(campaign)} == {"x": "b", "y": "a"}


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("language", "there is no column 'language'; the fields of the items are: id, text, lang"),
        ("ant", "'ant' is a model"),
        ("", "pass the name of the column"),
        ("id", "every item has another value"),
        (["en"], "there are 1 values, but 20 items"),
        (5, "not one value per item"),
        ({"a": 1}, "not one value per item"),
    ],
)
def test_slices_that_make_no_sense_are_refused(memory: str, chosen: Any, words: str) -> None:
    with pytest.raises(mp.InputError) as refused:
        make(memory, sliced(20), slice=chosen)
    assert words in str(refused.value)
    assert mp.list_campaigns(memory) == []


def test_a_column_of_a_file_that_is_a_model_the_labels_or_the_judge_is_refused(memory: str, tmp_path: Path) -> None:
    path, other = tmp_path / "one.csv", tmp_path / "other.csv"
    path.write_text(
        "id,text,m1,m2,lang,label\n"
        + "".join(f"{n},x,{'ab'[n % 2]},{'ba'[n % 2]},{'ef'[n % 2]},a\n" for n in range(8))
    )
    other.write_text(
        "id,text,m1,m2,m3,label\n" + "".join(f"{n},x,{'ab'[n % 2]},{'ba'[n % 2]},a,a\n" for n in range(8))
    )
    for column, words in (
        ("m1", "looks like a model"),
        ("label", "has the labels"),
        ("nothing", "nothing"),
    ):
        with pytest.raises(mp.ModelPickerError, match=words):
            make(memory, str(other), slice=column)
    with pytest.raises(mp.InputError, match="is the judge as well"):
        make(memory, str(path), judge="lang")
    campaign = make(memory, path)
    assert campaign.settings.models == ("m1", "m2")
    (tmp_path / "two.csv").write_text("id,m1,m2\n9,a,b\n")
    with pytest.raises(mp.InputError, match="there is no column 'lang'"):
        campaign.add_items(tmp_path / "two.csv")
    campaign.add_items(tmp_path / "two.csv", slice=["e"])
    assert table_of(campaign)["e"].items == 5


def test_slices_are_settled_when_a_campaign_begins(memory: str) -> None:
    alone = mp.create_campaign(memory, "alone", pool=collection(20))
    assert alone.best().slices is None
    with pytest.raises(mp.InputError, match="has no slices, and cannot get any now"):
        alone.add_items(collection(5, first=20), slice=["x"] * 5)
    campaign = make(memory, sliced(20))
    with pytest.raises(mp.InputError, match="are the column or field 'lang'"):
        campaign.add_items(sliced(5, first=20), slice="lang")
    with pytest.raises(mp.InputError, match="slice goes with pool= only"):
        mp.create_campaign(memory, "stream", models=["a", "b"], slice="lang")
    many = [str(place // 2) for place in range(1_998)]
    wide = mp.create_campaign(memory, "many", pool=np.array([["a", "b"]] * 1_998), slice=many)
    wide.ask(["a", "b"], item={"slice": "one"})
    with pytest.raises(mp.InputError, match="at most 1,000 slices"):
        wide.ask(["a", "b"], item={"slice": "too many"})


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("item", {"slice": "en"}, "it has a slice, but the campaign has none"),
        ("question", {"in_slice": {"leader": "ant", "draw": None}}, "goes with a campaign that has slices"),
    ],
)
def test_a_file_in_which_slices_were_smuggled_is_refused(
    memory: str, tmp_path: Path, kind: str, change: dict[str, Any], words: str
) -> None:
    campaign = mp.create_campaign(memory, "alone", pool=collection(9))
    campaign.pending(2)
    campaign.export(tmp_path / "x.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    changed = [line | change if line.get("kind") == kind else line for line in lines]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
    with pytest.raises(mp.InputError, match=words):
        mp.import_campaign(memory, tmp_path / "x.jsonl", "again")
