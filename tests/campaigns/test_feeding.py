"""A file is asked about as labels come: a stream decides as if its items came one by one, over every storage."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.export import export_campaign, import_campaign
from modelpicker.campaigns.storage.copy import copy_storage
from modelpicker.campaigns.storage.database import open_storage
from tests.campaigns.pools import collection, truth
from tests.campaigns.streams import MODELS, check, rebuilt, state

ITEMS = 60


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of items with keys."""
    collection(ITEMS).save(tmp_path / "items.parquet")
    return tmp_path / "items.parquet"


def make(url: str, name: str = "fed", **more: Any) -> mp.Campaign:
    return mp.create_campaign(url, name, models=MODELS, **more)


def label(campaign: mp.Campaign, most: int = 10_000, by: str = "ann") -> int:
    """Somebody answers what they are asked, one item after the other; how many labels that took."""
    items = collection(ITEMS)
    for done in range(most):
        found = campaign.pending(10, lease=600, annotator=by)
        if not found:
            return done
        assert len(found) == 1, "one question at a time"
        campaign.tell(found[0].id, truth(items, int(str(found[0].key).split()[-1]) % ITEMS), annotator=by)
    return most


def decisions(campaign: mp.Campaign) -> list[tuple[Any, ...]]:
    """Everything that was decided, in order."""
    records = [one for one in campaign.history() if one["kind"] == "ask"]
    return [(one["key"], one["query"], one["probability"], one["predictions"]) for one in records]


def test_it_decides_as_if_items_came_one_by_one(url: str, file: Path) -> None:
    fed, one_by_one = make(url), make(url, "one by one")
    assert fed.ask_file(file) == mp.AskedFile(rounds=0, known=0, queries=0, waiting=ITEMS)
    assert (fed.rounds, fed.waiting_items()) == (0, {"items.parquet": ITEMS})
    labels = label(fed)
    items = mp.load_collection(file)
    for place, row in enumerate(items.predictions.tolist()):
        decision = one_by_one.ask([None if code < 0 else items.classes[code] for code in row], key=f"item {place}")
        if decision.query:
            one_by_one.tell(decision.id, truth(collection(ITEMS), place), annotator="ann")
    assert decisions(fed) == decisions(one_by_one)
    assert fed.best() == one_by_one.best()
    assert 3 < labels < ITEMS
    assert fed.waiting_items() == {}
    check(fed, url)


def test_fewer_labels_are_asked_for_than_at_once(memory: str) -> None:
    items = mp.ModelCollection([["a", "b"]] * 300, models=["good", "bad"])
    fed, at_once = (
        mp.create_campaign(memory, name, models=["good", "bad"], algorithm="race") for name in ("fed", "at once")
    )
    assert at_once.ask_file(items, at_once=True) == mp.AskedFile(300, 0, at_once.counts().waiting, 0)
    fed.ask_file(items)
    while found := fed.pending(1):
        fed.tell(found[0].id, "a")
    assert at_once.counts().waiting > 5 * fed.counts().labels


def test_it_goes_on_in_another_process_and_after_a_change_of_the_past(url: str, file: Path) -> None:
    whole, parts = make(url), make(url, "parts")
    whole.ask_file(file)
    label(whole)
    parts.ask_file(file)
    label(parts, 2)
    parts.close()
    with mp.open_campaign(url, "parts") as again:
        label(again, 2)
        last = again.answers()[-1].id
        again.retract(last)  # everything is rebuilt
        assert again.pending(1, lease=600, annotator="ann")[0].id == last
        label(again)
        assert [one[0] for one in decisions(again)] == [one[0] for one in decisions(whole)]
        assert state(again) == rebuilt(again)
        check(again, url)


def test_each_annotator_has_a_question_of_their_own(url: str, file: Path) -> None:
    campaign = make(url)
    campaign.ask_file(file)
    asked = {by: campaign.pending(10, lease=600, annotator=by)[0].id for by in ("ann", "bob", "cyd")}
    assert len(set(asked.values())) == 3 == campaign.counts().waiting
    assert campaign.pending(10, lease=600, annotator="ann")[0].id == asked["ann"], "she has it already"
    campaign.release(asked["bob"])
    assert campaign.pending(10, lease=600, annotator="dot")[0].id == asked["bob"], "what is free comes first"
    assert campaign.counts().waiting == 3


def test_looking_at_what_waits_decides_nothing(memory: str, file: Path) -> None:
    campaign = make(memory)
    campaign.ask_file(file)
    assert campaign.pending() == campaign.waiting() == []
    assert campaign.rounds == 0
    assert len(campaign.pending(5)) == 1


def test_several_files_are_asked_about_in_their_order_and_the_same_file_once(url: str, tmp_path: Path) -> None:
    campaign = make(url)
    for number, name in enumerate(("b.csv", "a.csv")):
        collection(20, seed=number, first=20 * number).save(tmp_path / name)
        campaign.ask_file(tmp_path / name)
    assert campaign.waiting_items() == {"b.csv": 20, "a.csv": 20}
    label(campaign, 1)
    assert campaign.ask_file(tmp_path / "a.csv") == mp.AskedFile(0, 20, 0, 0)
    label(campaign)
    assert [one[0] for one in decisions(campaign)] == [f"item {place}" for place in range(40)]
    assert campaign.ask_file(tmp_path / "b.csv").known == 20
    assert campaign.waiting_items() == {}


def test_items_without_keys_are_told_apart_by_row_and_content(memory: str, tmp_path: Path) -> None:
    campaign = make(memory)
    rows = [["ham", "ham", "ham", "ham"]] * 5
    for name, some in (("a.csv", rows), ("b.csv", rows), ("c.csv", rows[:3])):
        mp.ModelCollection(some, models=MODELS).save(tmp_path / name)
    assert campaign.ask_file(tmp_path / "a.csv").waiting == 5
    assert campaign.ask_file(tmp_path / "b.csv").known == 5, "the same content is the same file"
    assert campaign.ask_file(tmp_path / "c.csv", at_once=True).rounds == 3
    assert campaign.pending(1) == [], "models agree on all of them"
    assert campaign.rounds == 8
    assert campaign.ask_file(tmp_path / "a.csv", at_once=True).known == 5


@pytest.mark.parametrize("source", ["collection", "frame"])
def test_collections_and_data_frames_are_taken_too(memory: str, source: str) -> None:
    campaign, items = make(memory), collection(ITEMS)
    rows = {
        model: [None if code < 0 else items.classes[code] for code in items.predictions[:, place].tolist()]
        for place, model in enumerate(MODELS)
    }
    given: Any = items if source == "collection" else {"id": items.fields["id"], **rows}
    assert campaign.ask_file(given).waiting == ITEMS
    assert campaign.ask_file(given).known == ITEMS
    assert label(campaign) > 3


def test_an_item_that_somebody_asks_about_meanwhile_is_decided_once(memory: str, file: Path) -> None:
    campaign = make(memory)
    campaign.ask_file(file)
    for place in range(ITEMS):
        campaign.ask(["ham"] * 4, key=f"item {place}")
    assert (campaign.rounds, campaign.waiting_items()) == (ITEMS, {"items.parquet": ITEMS})
    assert campaign.pending(1) == []
    assert (campaign.rounds, campaign.waiting_items()) == (ITEMS, {})
    check(campaign, memory)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_wrong_item_is_named_and_nothing_that_is_read_with_it_is_taken(
    url: str, tmp_path: Path, at_once: bool
) -> None:
    campaign = make(url, classes=["ham", "spam"])
    mp.ModelCollection([["ham"] * 4] * 2 + [["jam"] * 4], models=MODELS).save(tmp_path / "x.csv")
    with pytest.raises(mp.InputError, match=r"x\.csv, row 3: .*jam"):
        campaign.ask_file(tmp_path / "x.csv", at_once=at_once)
    assert (campaign.rounds, campaign.waiting_items()) == (0, {})


def revise(campaign: mp.Campaign, **changes: Any) -> None:
    campaign.revise(**changes)


@pytest.mark.parametrize("how", ["paused", "finished", "archived"])
def test_nothing_is_decided_while_nobody_is_asked(url: str, file: Path, how: str) -> None:
    campaign = make(url)
    campaign.ask_file(file)
    label(campaign, 2)
    before = campaign.rounds
    revise(campaign, **{how: True})
    assert campaign.pending(1, lease=60) == []
    assert campaign.rounds == before
    waits = ITEMS - before
    assert f"{waits} items of items.parquet have not been asked about yet." in campaign.best().state.reason
    with pytest.raises(mp.ConflictError, match=how):
        campaign.ask_file(file)
    revise(campaign, **{how: False})
    assert label(campaign) > 0
    assert campaign.waiting_items() == {}


def test_a_spent_budget_stops_it_and_a_larger_one_goes_on(url: str, file: Path) -> None:
    campaign = make(url, budget=2, budget_way="cap")
    campaign.ask_file(file)
    assert label(campaign) == 2
    pick = campaign.best()
    assert pick.state.name == "budget-spent"
    assert f"{ITEMS - pick.rounds} items of items.parquet have not been asked about yet." in pick.state.reason
    campaign.revise(budget=4)
    assert label(campaign) == 2


def test_a_race_that_is_won_stops_it(memory: str) -> None:
    campaign = mp.create_campaign(memory, "race", models=["good", "bad"], algorithm="race")
    campaign.ask_file(mp.ModelCollection([["a", "b"]] * 300, models=["good", "bad"]))
    while found := campaign.pending(1):
        campaign.tell(found[0].id, "a")
    pick = campaign.best()
    assert pick.state.name == "won"
    assert 0 < 300 - pick.rounds == sum(campaign.waiting_items().values())
    assert f"{300 - pick.rounds} items have not been asked about yet." in pick.state.reason


def test_a_goal_that_is_certified_stops_it(memory: str) -> None:
    campaign = mp.create_campaign(
        memory, "goal", models=["good", "bad"], stop_when=mp.Certified(gap=0.5, confidence=0.9)
    )
    campaign.ask_file(mp.ModelCollection([["a", "b"]] * 300, models=["good", "bad"]))
    while found := campaign.pending(1):
        campaign.tell(found[0].id, "a")
    assert campaign.best().state.name == "certified"
    assert campaign.rounds < 300


def test_a_skip_lets_it_go_on(memory: str, file: Path) -> None:
    campaign = make(memory)
    campaign.ask_file(file)
    first = campaign.pending(1)[0].id
    campaign.skip(first)
    assert campaign.pending(1)[0].id > first


def test_models_may_leave_but_not_join_while_items_wait(url: str, file: Path) -> None:
    campaign = make(url)
    campaign.ask_file(file)
    label(campaign, 2)
    with pytest.raises(mp.ConflictError, match="items of files wait"):
        campaign.join("eel")
    campaign.leave(MODELS[1])
    label(campaign)
    assert campaign.rounds == ITEMS
    assert len(list(campaign.history())[-2]["predictions"]) == 3
    check(campaign, url)
    campaign.join("eel")


def test_items_that_wait_can_be_dropped_and_brought_again(url: str, file: Path) -> None:
    campaign = make(url)
    campaign.ask_file(file)
    label(campaign, 2)
    before = campaign.rounds
    assert campaign.drop_items(annotator="ann") == ITEMS - before
    assert campaign.drop_items() == 0
    assert (campaign.pending(1, lease=60), campaign.waiting_items()) == ([], {})
    assert campaign.ask_file(file) == mp.AskedFile(0, before, 0, ITEMS - before)
    label(campaign)
    assert campaign.rounds == ITEMS
    check(campaign, url)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_waits_is_exported_copied_and_goes_on_the_same(
    url: str, file: Path, tmp_path: Path, ending: str
) -> None:
    campaign = make(url)
    campaign.ask_file(file)
    label(campaign, 3)
    export_campaign(campaign, tmp_path / f"out.{ending}")
    twin = import_campaign(f"sqlite:///{tmp_path}/twin.db", tmp_path / f"out.{ending}")
    copy_storage(campaign.storage, open_storage(f"sqlite:///{tmp_path}/copy.db", create=True))
    copied = mp.open_campaign(f"sqlite:///{tmp_path}/copy.db", "fed")
    assert state(twin) == state(campaign) == state(copied)
    assert list(twin.history()) == list(campaign.history()) == list(copied.history())
    for one in (campaign, twin, copied):
        label(one)
        check(one, one.storage.place)
    assert decisions(twin) == decisions(campaign) == decisions(copied)
    assert twin.ask_file(file).known == ITEMS


def test_records_of_a_feed_that_do_not_fit_are_refused(memory: str, file: Path, tmp_path: Path) -> None:
    campaign = make(memory)
    campaign.ask_file(file)
    label(campaign, 1)
    campaign.drop_items()
    export_campaign(campaign, tmp_path / "out.jsonl")
    good = (tmp_path / "out.jsonl").read_text()
    for found, instead in (
        ('"place": 7,', '"place": 8,'),
        ('"file": "items.parquet"', '"file": 5'),
        ('"items": ', '"items": 9'),
        ('"upto": 60', '"upto": "x"'),
    ):
        assert found in good
        (tmp_path / "bad.jsonl").write_text(good.replace(found, instead))
        with pytest.raises(mp.InputError, match="event"):
            import_campaign(memory, tmp_path / "bad.jsonl", "bad")


def test_a_pool_takes_files_in_its_own_way(memory: str, file: Path) -> None:
    pool = mp.create_campaign(memory, "pool", pool=collection(ITEMS))
    with pytest.raises(mp.ConflictError, match="add_items"):
        pool.ask_file(file)
    with pytest.raises(mp.ConflictError, match="ask_file"):
        make(memory).add_items(file)


def test_the_classes_of_a_file_are_known_from_the_start(memory: str, file: Path) -> None:
    campaign = make(memory)
    campaign.ask_file(file)
    assert set(campaign.known_classes()) >= {"egg", "ham", "spam"}


def test_two_people_who_label_each_item_share_what_is_open_before_more_is_asked(url: str, file: Path) -> None:
    """One open question per person; a half-answered item comes before a new one."""
    campaign = make(url, overlap=2)
    campaign.ask_file(file)

    def given(by: str) -> int:
        (query,) = campaign.pending(5, lease=600, annotator=by)
        return query.id

    first = given("ann")
    second = given("bob")
    assert first != second, "what somebody else has leased is theirs for now"
    assert (given("ann"), given("bob"), campaign.counts().waiting) == (first, second, 2)
    campaign.tell(first, "ham", annotator="ann")
    assert given("ann") not in (first, second), "she has answered the one, and bob has the other"
    campaign.tell(second, "ham", annotator="bob")
    assert given("bob") == first, "half answered, and free"
    campaign.tell(first, "ham", annotator="bob")
    assert (campaign.label_of(first), campaign.counts().labels) == ("ham", 1)
    campaign.finish()
    assert (campaign.counts().waiting, campaign.counts().withdrawn) == (0, 2)
    campaign.tell(second, "spam", annotator="ann")
    assert (campaign.counts().withdrawn, campaign.counts().conflicts) == (1, 1)
    check(campaign, url)
    campaign.revise(finished=False)
    campaign.retract(second, annotator="ann")
    assert (campaign.counts().waiting, campaign.counts().conflicts) == (2, 0)
    assert given("cyd") == second
    check(campaign, url)
