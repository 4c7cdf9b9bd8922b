"""Judges of campaigns on pools: kept with the items, seen by nobody who labels, and never believed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.pool_state import error_share
from modelpicker.campaigns.pool_campaign import PoolCampaign
from modelpicker.campaigns.storage.verify import verify
from tests.campaigns.pools import collection, label, truth
from tests.judging import FIRST_IS_QUICK, KINDS, judge_of, labels_of, with_column


def judged(kind: str, items: int = 90, seed: int = 0, first: int = 0) -> mp.ModelCollection:
    """A small pool with a column `gpt`."""
    found = collection(items, seed=seed, first=first)
    return with_column(found, judge_of(kind, labels_of(found), seed))


def make(url: str, pool: Any, **more: Any) -> PoolCampaign:
    settings: dict[str, Any] = {"judge": "gpt", "tolerance": 0.02, "seed": 3} | more
    made = mp.create_campaign(url, "pool", pool=pool, **settings)
    assert isinstance(made, PoolCampaign)
    return made


def state_of(campaign: mp.Campaign) -> tuple[dict[str, Any], list[int]]:
    """Everything that was learned, and what the judge says by code."""
    assert isinstance(campaign, PoolCampaign)
    with campaign.reading_pool() as (_, projection):
        assert projection.picker.judge is not None
        return projection.document(), projection.picker.judge.tolist()


def reopened(campaign: mp.Campaign) -> mp.Campaign:
    return mp.open_campaign(campaign.storage.place, campaign.name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_asks_what_a_pool_with_the_same_judge_asks(file_url: str, kind: str) -> None:
    items = judged(kind)
    said = [None if value is None else str(value) for value in items.fields["gpt"]]
    bare = mp.PoolPicker(collection(90, labelled=False), seed=3, tolerance=0.02, judge=said)
    bare.error_share = error_share(0)
    campaign = make(file_url, items)
    for _ in range(15):
        query = campaign.pending(1)[0]
        assert [query.id] == bare.ask(1)
        assert query.item == {"id": f"item {query.id}", "text": f"text {query.id}"}
        campaign.tell(query.id, truth(items, query.id))
        bare.tell(query.id, truth(items, query.id))
    pick = campaign.best()
    assert (pick.model, pick.certificate) == (bare.recommended, bare.certificate(bare.confidence))
    assert pick.judge is not None
    assert pick.judge.labels + pick.judge.silent == 15
    assert pick.judge.sentence in campaign.report()


@pytest.mark.parametrize("kind", FIRST_IS_QUICK)
def test_it_is_the_same_when_resumed_rebuilt_grown_exported_and_imported(
    file_url: str, tmp_path: Path, kind: str
) -> None:
    items = judged(kind)
    campaign = make(file_url, items)
    done = label(campaign, items, 8)
    assert state_of(reopened(campaign)) == state_of(campaign)
    more = judged(kind, 40, seed=5, first=90)
    assert campaign.add_items(more) == mp.AddedItems(40, 0, 0)
    assert campaign.add_items(more) == mp.AddedItems(0, 40, 0)
    assert state_of(reopened(campaign)) == state_of(campaign)
    assert len(state_of(campaign)[1]) == 130
    campaign.pending(2)
    campaign.tell(done[0], "egg", replace=True)
    assert state_of(reopened(campaign)) == state_of(campaign)
    assert verify(campaign).wrong == []
    for ending in ("jsonl", "parquet"):
        campaign.export(tmp_path / f"one.{ending}")
        again = mp.import_campaign("memory://judges-again", tmp_path / f"one.{ending}", f"{kind} {ending}")
        assert state_of(again) == state_of(campaign)
        assert again.best() == campaign.best()
        assert list(again.history()) == list(campaign.history())
        assert again.pending(1)[0].id == campaign.pending(1)[0].id


@pytest.mark.parametrize("kind", FIRST_IS_QUICK)
def test_what_is_certified_is_true_whatever_the_judge_says(memory: str, kind: str) -> None:
    items = judged(kind, 300, seed=2)
    campaign = make(memory, items, tolerance=0.05)
    label(campaign, items)
    pick = campaign.best()
    labels = labels_of(items)
    right = {
        model: sum(items.classes[code] == labels[place] for place, code in enumerate(column) if code >= 0)
        for model, column in zip(items.models, items.predictions.T.tolist(), strict=True)
    }
    assert pick.certified
    assert right[str(pick.model)] >= max(right.values()) - 0.05 * 300


def test_every_storage_keeps_what_the_judge_says(url: str) -> None:
    items = judged("good", 40)
    campaign = make(url, items)
    said = [record["judge"] for record in campaign.history() if record["kind"] == "item"]
    assert said == [*items.fields["gpt"]]
    assert state_of(reopened(campaign)) == state_of(campaign)


def test_answers_come_with_the_items_one_by_one_and_in_batches(memory: str) -> None:
    items = judged("good", 40)
    campaign = make(memory, items)
    models = [str(model) for model in items.models]
    row = dict(zip(models, ["ham", "spam", "egg", "ham"], strict=True))
    one = campaign.ask(row, item={"text": "new", "gpt": "spam"}, key="n1")
    two = campaign.ask_many([row] * 3, items=[{"gpt": "egg"}, None, {"text": "b"}], keys=["n2", "n3", "n4"])
    said = {record["id"]: record["judge"] for record in campaign.history() if record["kind"] == "item"}
    assert [said[number] for number in (one.id, *two.ids)] == ["spam", "egg", None, None]
    shown = {record["id"]: record["item"] for record in campaign.history() if record["kind"] == "fields"}
    assert [shown[number] for number in (one.id, *two.ids)] == [{"text": "new"}, None, None, {"text": "b"}]
    # The same again is no news, with what the judge said or without.
    assert campaign.ask(row, item={"gpt": "spam"}, key="n1").id == one.id
    assert campaign.ask(row, key="n1").id == one.id
    for key, then in (("n1", "'spam'"), ("n3", "nothing")):
        with pytest.raises(mp.ConflictError, match=f"said {then} when it was added"):
            campaign.ask(row, item={"gpt": "egg"}, key=key)
    with pytest.raises(mp.ConflictError, match="the judge says 'ham' of this item, and said 'egg'"):
        campaign.ask_many([row, row], items=[{"gpt": "egg"}, {"gpt": "ham"}], keys=["n9", "n9"])
    assert len(state_of(campaign)[1]) == 44


def test_a_judge_can_be_a_list_or_a_function(memory: str) -> None:
    rows = np.array([["a", "b"], ["b", "a"], ["a", "b"]] * 10)
    listed = mp.create_campaign(memory, "list", pool=rows, judge=["a", None, "b"] * 10)
    assert state_of(listed)[1] == [0, -1, 1] * 10
    assert listed.settings.options["judge"] == "judge"
    listed.add_items([["b", "a"]] * 2, judge=[None, "b"])
    assert state_of(listed)[1][-2:] == [-1, 1]
    listed.ask(["a", "b"], item={"judge": "b"})
    assert state_of(listed)[1][-1] == 1
    called = mp.create_campaign(memory, "call", pool=rows, judge=lambda item: "b" if item["item"] % 2 else None)
    assert state_of(called)[1] == [-1, 1] * 15


def test_a_class_that_models_say_only_later_counts_from_then_on(file_url: str) -> None:
    pool = with_column(mp.ModelCollection([["a", "b"]] * 6), ["c", "a", "c", "b", None, "a"])
    campaign = make(file_url, pool)
    assert state_of(campaign)[1] == [-1, 0, -1, 1, -1, 0]
    campaign.pending(1)
    campaign.ask(["a", "c"], item={"gpt": "C."}, key="later")  # as the class, except for how it is written
    assert state_of(campaign)[1] == [2, 0, 2, 1, -1, 0, 2]
    assert state_of(reopened(campaign)) == state_of(campaign)
    assert verify(campaign).wrong == []


def test_numbers_and_given_classes_are_understood(memory: str) -> None:
    numbers = with_column(mp.ModelCollection([[0, 1]] * 4), ["1", "", "0", "n/a"])
    assert state_of(make(memory, numbers))[1] == [1, -1, 0, -1]
    given = with_column(mp.ModelCollection([["x", "y"]] * 3), ["y", "z", "x"])
    closed = mp.create_campaign(memory, "closed", pool=given, judge="gpt", classes=["x", "y"])
    assert state_of(closed)[1] == [1, -1, 0]
    closed.ask([0, 1], item={"gpt": 1})
    assert state_of(closed)[1][-1] == 1


def test_a_file_with_a_judge_can_also_be_added_without_its_column(memory: str, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("id,text,m1,m2,gpt\n1,x,a,b,a\n2,y,b,a,b\n")
    (tmp_path / "two.csv").write_text("id,text,m1,m2\n3,x,a,b\n")
    campaign = make(memory, tmp_path / "one.csv")
    assert campaign.settings.models == ("m1", "m2")
    campaign.add_items(tmp_path / "two.csv")
    assert state_of(campaign)[1] == [0, 1, -1]
    assert [query.item for query in campaign.pending(3)] != []
    assert "gpt" not in json.dumps([query.item for query in campaign.pending(3)])


def failing(_item: dict[str, Any]) -> str:
    raise ValueError("no credit left")


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("gtp", "there is no column 'gtp'; there are id, text, gpt"),
        ("", "pass the name of the column"),
        (["ham"], "the judge has 1 answers, but there are 20 items"),
        ([1.5] * 20, "what the judge says about item 0: 1.5 is not a whole number"),
        ([float("nan")] * 20, "what the judge says about item 0: NaN"),
        ([["ham"]] * 20, "what the judge says about item 0"),
        (failing, "the judge failed on item 0: ValueError: no credit left"),
        (5, "judge=5"),
        ({"a": 1}, "judge="),
    ],
)
def test_a_judge_that_makes_no_sense_is_refused(memory: str, judge: Any, words: str) -> None:
    with pytest.raises(mp.InputError) as refused:
        make(memory, judged("good", 20), judge=judge)
    assert words in str(refused.value)
    assert mp.list_campaigns(memory) == []


def test_more_items_cannot_bring_a_judge_of_their_own(memory: str) -> None:
    items = judged("good", 20)
    alone = mp.create_campaign(memory, "alone", pool=collection(20))
    with pytest.raises(mp.InputError, match="has no judge, and cannot get one now"):
        alone.add_items(judged("good", 5, first=20), judge=["ham"] * 5)
    campaign = make(memory, items)
    with pytest.raises(mp.InputError, match="is the column or field 'gpt'"):
        campaign.add_items(judged("good", 5, first=20), judge="gpt")
    with pytest.raises(mp.InputError, match="2 answers, but there are 5"):
        campaign.add_items(collection(5, first=20), judge=["ham", "egg"])
    assert campaign.rounds == 20


def test_a_stream_refuses_a_judge_and_labels_that_exist_already(memory: str) -> None:
    with pytest.raises(mp.InputError, match="only a pool can use a judge"):
        mp.create_campaign(memory, "stream", models=["a", "b"], judge="gpt")
    with pytest.raises(mp.InputError, match="only a pool can use labels that exist already"):
        mp.create_campaign(memory, "stream", models=["a", "b"], warm={"x": "y"})
    with pytest.raises(mp.InputError, match="judge='ant' is a model as well"):
        mp.create_campaign(memory, "twice", pool=collection(20), models=["ant", "bee"], judge="ant")


def test_a_file_in_which_a_judge_was_smuggled_is_refused(memory: str, tmp_path: Path) -> None:
    mp.create_campaign(memory, "alone", pool=collection(5)).export(tmp_path / "x.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    for line in lines[1:]:
        if line["kind"] == "item":
            line["judge"] = "ham"
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(mp.InputError, match="the campaign has no judge"):
        mp.import_campaign(memory, tmp_path / "x.jsonl", "again")


# Labels that exist already.


def test_labels_that_exist_already_are_known_from_the_start_and_not_bought(file_url: str) -> None:
    items = collection(90)
    labels = labels_of(items)
    warm = {f"item {place}": labels[place] for place in range(0, 90, 3)}
    bare = mp.ModelCollection.of_codes(items.predictions, None, items.models, items.classes, items.fields)
    campaign = mp.create_campaign(file_url, "warm", pool=bare, warm=warm, tolerance=0.02)
    pick = campaign.best()
    assert (pick.labels_used, pick.references, pick.labelled) == (0, 30, 0)
    done = label(campaign, items, 3)
    assert not {*range(0, 90, 3)} & {*done}
    pick = campaign.best()
    assert (pick.labels_used, pick.references) == (3, 30)
    assert reopened(campaign).best() == pick
    assert verify(campaign).wrong == []


def test_warm_labels_cost_nothing_and_count_before_the_first_question() -> None:
    items = collection(90)
    labels = labels_of(items)
    warm = [label if place % 3 == 0 else None for place, label in enumerate(labels)]
    pick = mp.pick(items, warm=warm, tolerance=0.02, budget=5)
    assert (pick.labels_used, pick.references) == (5, 30)
    assert pick.labels_saved == 90 - 35
    assert pick.standing[0].labels == 35
    assert "5 labels were bought; 30 more labels are known without asking." in pick.report()
    pool = mp.PoolPicker(items, tolerance=0.02)
    for place in range(0, 90, 3):
        pool.tell(place, labels[place])
    mp.run_pool(pool, budget=5)
    assert (pick.model, pick.certificate) == (pool.recommended, pool.certificate(pool.confidence))
    asked: list[int] = []

    def ask(item: dict[str, Any]) -> str:
        asked.append(item["item"])
        return labels[asked[-1]]

    mp.pick(items, ask, warm=warm, tolerance=0.02)
    assert asked
    assert not {*asked} & {*range(0, 90, 3)}


@pytest.mark.parametrize(
    ("warm", "words"),
    [
        ({"item 1000": "ham"}, "warm: 'item 1000' is no value of column 'id'"),
        (["ham"], "1 labels"),
        (lambda _item: "ham", "not a function"),
        ("nowhere.csv", "nowhere.csv"),
    ],
)
def test_warm_labels_that_make_no_sense_are_refused(warm: Any, words: str) -> None:
    with pytest.raises(mp.ModelPickerError) as refused:
        mp.pick(collection(20), warm=warm)
    assert words in str(refused.value)
