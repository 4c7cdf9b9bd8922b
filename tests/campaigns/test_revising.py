"""What changes while a campaign continues: budget, goal, pause, archive, name; and deleting it."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns import delete_campaign, list_campaigns
from modelpicker.campaigns.storage.schema import metadata
from modelpicker.errors import ConflictError, InputError, NotFoundError
from tests.campaigns.pools import collection
from tests.campaigns.streams import check

ROW = ["cat", "dog", "cat"]


def begun(url: str, **settings: Any) -> mp.Campaign:
    options = {"algorithm": "label-efficient", "options": {"probability": 1.0}}
    return mp.create_campaign(url, "c", models=3, **options | settings)


def test_a_raised_budget_asks_again_and_a_lower_one_keeps_what_was_bought(url: str) -> None:
    campaign = begun(url, budget=2, budget_way="cap")
    asked = [campaign.ask(ROW).query for _ in range(4)]
    assert asked == [True, True, False, False]
    for query in campaign.pending():
        campaign.tell(query.id, "cat")
    assert campaign.best().state.name == "budget-spent"
    campaign.revise(budget=3, annotator="mia")
    assert campaign.best().state.name == "running"
    assert [campaign.ask(ROW).query for _ in range(2)] == [True, False]
    with pytest.raises(ConflictError, match="3 labels are bought or asked for"):
        campaign.revise(budget=2)
    campaign.revise(budget=None)
    assert campaign.budget is None
    assert campaign.ask(ROW).query
    changes = [(record["changes"], record["by"]) for record in campaign.history() if record["kind"] == "revise"]
    assert changes == [({"budget": 3}, "mia"), ({"budget": None}, None)]


def test_a_pause_gives_nobody_work_and_takes_answers_that_are_under_way(url: str) -> None:
    campaign = begun(url)
    first, second = campaign.ask(ROW).id, campaign.ask(ROW).id
    campaign.revise(paused=True)
    assert campaign.best().state.name == "paused"
    assert not campaign.best().state.takes_items
    assert campaign.pending(5, lease=60, annotator="mia") == []
    assert len(campaign.pending()) == 2
    with pytest.raises(ConflictError, match="paused"):
        campaign.ask(ROW)
    campaign.tell(first, "cat")
    campaign.revise(paused=False)
    assert [query.id for query in campaign.pending(5, lease=60)] == [second]
    campaign.ask(ROW)


def test_an_archive_takes_nothing_until_it_is_brought_back(url: str) -> None:
    campaign = begun(url)
    query = campaign.ask(ROW).id
    campaign.tell(query, "cat")
    waiting = campaign.ask(ROW).id
    campaign.revise(archived=True)
    assert campaign.best().state.name == "archived"
    for change in (
        lambda: campaign.ask(ROW),
        lambda: campaign.tell(waiting, "cat"),
        lambda: campaign.retract(query),
        lambda: campaign.skip(waiting),
    ):
        with pytest.raises(ConflictError, match="archived"):
            change()
    assert campaign.pending(5, lease=60) == []
    campaign.revise(archived=False)
    campaign.tell(waiting, "dog")
    assert campaign.best().labels_used == 2


def test_a_goal_can_be_set_loosened_and_taken_away(url: str) -> None:
    campaign = begun(url)
    for _ in range(40):
        campaign.tell(campaign.ask(ROW).id, "cat")
    assert campaign.best().reached is None
    campaign.revise(stop_when=mp.Certified(gap=0.5, kind="stream"))
    assert campaign.best().reached
    assert campaign.best().state.name in ("certified", "running")
    campaign.revise(stop_when={"gap": 0.25, "confidence": 0.9, "kind": "stream"})
    assert campaign.terms.stop_when == mp.Certified(gap=0.25, confidence=0.9, kind="stream")
    campaign.revise(stop_when=None)
    assert campaign.best().reached is None


def test_changes_that_make_no_sense_are_refused_and_change_nothing(url: str) -> None:
    campaign = mp.create_campaign(url, "c", models=2, algorithm="race")
    events = campaign.events
    for given in (
        {"budget": -1},
        {"budget": 1.5},
        {"budget": True},
        {"paused": "yes"},
        {"archived": None},
        {"stop_when": mp.Certified(gap=0.1)},
        {"seed": 4},
        {"name": ""},
    ):
        with pytest.raises(InputError):
            campaign.revise(**given)
    campaign.revise(budget=None, paused=False)  # as it is
    assert campaign.events == events


def test_whoever_opens_it_again_finds_the_same_and_decides_the_same(url: str) -> None:
    made = {}
    for name in ("one", "two"):
        campaign = mp.create_campaign(url, name, models=3, budget=5, expected_rounds=60, seed=3)
        decided = []
        for number in range(60):
            if name == "two":  # found from the storage before each round
                campaign.forget()
            if number == 20:
                campaign.revise(budget=12)
            if number == 30:
                campaign.revise(paused=True)
                campaign.revise(paused=False, stop_when=mp.Certified(gap=0.01))
            decision = campaign.ask(ROW if number % 3 else ["dog", "cat", "cat"])
            decided.append((decision.query, decision.probability))
            if decision.query and number % 2:
                campaign.tell(decision.id, "cat")
            if number == 40:  # everything is rebuilt
                answered = [one.id for one in campaign.answers() if one.state == "labelled"]
                campaign.retract(answered[0])
        made[name] = decided, campaign.best().document(), campaign.terms
    assert made["one"] == made["two"]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_changes_travel_with_an_export(url: str, tmp_path: Path, ending: str) -> None:
    campaign = begun(url, budget=2, budget_way="cap")
    for _ in range(3):
        campaign.ask(ROW)
    campaign.revise(budget=4, annotator="mia")
    campaign.ask(ROW)
    campaign.rename("other")
    campaign.revise(paused=True)
    campaign.export(tmp_path / f"c.{ending}")
    back = mp.import_campaign(f"memory://{tmp_path}", tmp_path / f"c.{ending}", name=f"back-{ending}")
    assert list(back.history()) == list(campaign.history())
    assert back.terms == campaign.terms
    assert back.best().document() == campaign.best().document()


def test_a_new_name_is_the_only_name(url: str) -> None:
    campaign = begun(url)
    mp.create_campaign(url, "taken", models=2)
    with pytest.raises(ConflictError, match="already"):
        campaign.rename("taken")
    with pytest.raises(InputError):
        campaign.rename("../x")
    campaign.rename("new")
    campaign.ask(ROW)
    assert {one.name for one in list_campaigns(url)} == {"new", "taken"}
    assert mp.open_campaign(url, "new").rounds == 1
    with pytest.raises(NotFoundError):
        mp.open_campaign(url, "c")


def test_what_is_deleted_is_gone_from_every_table_and_the_others_stay(url: str) -> None:
    campaign = begun(url)
    kept = mp.create_campaign(url, "kept", models=2)
    kept.ask(["a", "b"], key="k")
    campaign.ask(ROW, key="k")
    number = campaign._number
    delete_campaign(url, "c")
    with kept.storage.reading() as connection:
        for table in metadata.sorted_tables:
            if "campaign" in table.c:
                rows = connection.execute(table.select().where(table.c.campaign == number)).all()
                assert rows == [], table.name
    assert [one.name for one in list_campaigns(url)] == ["kept"]
    assert kept.rounds == 1
    with pytest.raises(NotFoundError):
        campaign.ask(ROW)
    with pytest.raises(NotFoundError):
        delete_campaign(url, "c")
    begun(url)  # the name is free again


def test_the_list_shows_the_budget_that_holds(url: str) -> None:
    campaign = begun(url, budget=2)
    campaign.revise(budget=7)
    assert [one.budget for one in list_campaigns(url)] == [7]


@pytest.mark.parametrize("pool", [False, True])
def test_questions_that_finishing_withdraws_do_not_wait_until_it_goes_on(url: str, pool: bool) -> None:
    if pool:
        campaign = mp.create_campaign(url, "c", pool=collection(60), budget=5)
        first, second = (query.id for query in campaign.pending(2))
        label = "ham"
    else:
        campaign, label = begun(url, budget=2, budget_way="cap"), "cat"
        first, second = campaign.ask(ROW).id, campaign.ask(ROW).id
    left = 3 if pool else 0
    campaign.tell(first, label)
    campaign.finish()
    assert (campaign.counts().waiting, campaign.counts().withdrawn) == (0, 1)
    assert (campaign.best().pending, campaign.waiting(), campaign.pending()) == (0, [], [])
    assert campaign.stored_counts()["waiting"] == 0
    assert {one.id: one.state for one in campaign.answers()}[second] == "withdrawn"
    campaign.retract(first)  # it would wait, if anybody were asked
    assert (campaign.counts().waiting, campaign.counts().withdrawn) == (0, 2)
    check(campaign, url)
    campaign.tell(second, label)  # it was under way
    assert (campaign.counts().labels, campaign.counts().withdrawn) == (1, 1)
    check(campaign, url)
    campaign.revise(finished=False)
    assert (campaign.counts().waiting, campaign.counts().withdrawn) == (1, 0)
    assert [query.id for query in campaign.waiting()] == [first]
    with campaign.reading_state() as (_, state):
        assert state.left == left
    check(campaign, url)


@pytest.mark.parametrize("pool", [False, True])
def test_guidelines_are_there_from_the_start(url: str, pool: bool) -> None:
    given: dict[str, Any] = {"pool": collection(20)} if pool else {"models": 3}
    campaign = mp.create_campaign(url, "c", guidelines="Be kind.", **given)
    assert campaign.terms.guidelines == "Be kind."
    assert mp.open_campaign(url, "c").terms.guidelines == "Be kind."
    check(campaign, url)
    with pytest.raises(InputError, match="guidelines"):
        mp.create_campaign(url, "d", guidelines="x" * 10_001, **given)
    assert [one.name for one in list_campaigns(url)] == ["c"]


def test_a_new_name_and_other_terms_change_together_or_not_at_all(url: str) -> None:
    campaign, other = begun(url), mp.create_campaign(url, "taken", models=2)
    with pytest.raises(ConflictError, match="taken"):
        campaign.revise(name=other.name, paused=True)
    with pytest.raises(InputError):
        campaign.revise(name="new", budget=-1)
    assert (campaign.name, campaign.terms.paused) == ("c", False)
    assert {one.name for one in list_campaigns(url)} == {"c", "taken"}
    campaign.revise(name="new", paused=True, annotator="mia")
    assert list(campaign.history())[-1]["changes"] == {"name": "new", "paused": True}
    assert mp.open_campaign(url, "new").terms.paused
