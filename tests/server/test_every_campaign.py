"""One suite for every kind of campaign, method by method: in a file here, and on a server."""

import inspect
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns import AnyCampaign, Campaign, CampaignCounts, Decisions, Query, import_campaign
from modelpicker.campaigns.results.pick import LabelFilter
from modelpicker.server.remote_campaign import RemoteCampaign
from tests.server.servers import Running

MODELS = ["ant", "bee", "cat"]
ALWAYS: dict[str, Any] = {"models": MODELS, "options": {"query_scale": 1e6}}
"""Every round on which the models disagree is queried."""
SPLIT = ["yes", "no", "no"]

Make: TypeAlias = Callable[..., AnyCampaign]


@pytest.fixture(params=["here", "on a server"])
def make(request: pytest.FixtureRequest, server: Running, tmp_path: Path) -> Make:
    """Makes campaigns of one kind."""

    def here(**settings: Any) -> AnyCampaign:
        return mp.create_campaign(f"sqlite:///{tmp_path / 'campaigns.db'}", "c", **settings)

    def there(**settings: Any) -> AnyCampaign:
        return server.client().create_campaign(f"campaign-{uuid.uuid4().hex[:12]}", **settings)

    return here if request.param == "here" else there


@pytest.fixture
def campaign(make: Make) -> AnyCampaign:
    """Two queries wait, "first" and 1; the third round is not a query."""
    made = make(**ALWAYS)
    made.ask_many([SPLIT, SPLIT, ["no"] * 3], items=[{"text": "a"}, None, None], keys=["first", "second", "third"])
    return made


def members(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


def test_every_method_is_tested_here() -> None:
    tested = set(re.findall(r"^def test_([a-z_]+?)__", Path(__file__).read_text(), re.MULTILINE))
    assert tested == members(AnyCampaign) | {"name"}


def test_whatever_a_remote_campaign_can_do_a_local_one_can_too() -> None:
    more = {"describe", "upload", "delete"}  # a document over HTTP, a file in one piece, `delete_campaign` here
    assert members(RemoteCampaign) - more == members(AnyCampaign)
    assert members(AnyCampaign) <= members(Campaign)


@pytest.mark.parametrize("name", sorted(members(AnyCampaign)))
@pytest.mark.parametrize("kind", [Campaign, RemoteCampaign])
def test_arguments_have_the_same_names_and_defaults(name: str, kind: type) -> None:
    wanted, found = getattr(AnyCampaign, name), getattr(kind, name)
    if isinstance(wanted, property):
        assert isinstance(found, property)
        return
    expected, given = inspect.signature(wanted).parameters, inspect.signature(found).parameters
    assert {one: (part.kind, part.default) for one, part in given.items()} == {
        one: (part.kind, part.default) for one, part in expected.items()
    }


def test_models__are_those_that_take_part_now(campaign: AnyCampaign) -> None:
    assert campaign.models == tuple(MODELS)
    campaign.leave("bee")
    assert campaign.models == ("ant", "cat")


def test_classes__are_those_given(make: Make, campaign: AnyCampaign) -> None:
    assert campaign.classes is None


def test_classes__of_a_closed_vocabulary(make: Make) -> None:
    assert make(models=2, classes=["no", "yes"]).classes == ("no", "yes")


def test_budget__is_the_one_given(make: Make, campaign: AnyCampaign) -> None:
    assert campaign.budget is None


def test_budget__that_is_spent_asks_for_nothing_more(make: Make) -> None:
    made = make(**ALWAYS, budget=1)
    assert made.budget == 1
    decisions = [made.ask(SPLIT) for _ in range(40)]
    asked = [decision.id for decision in decisions if decision.query]
    assert len(asked) == 1
    made.tell(asked[0], "no")
    assert made.best().state.name == "budget-spent"


def test_labels_to_go__nobody_can_tell_on_a_stream(campaign: AnyCampaign) -> None:
    assert campaign.labels_to_go() is None


def test_outlook__nobody_can_tell_on_a_stream(campaign: AnyCampaign) -> None:
    assert campaign.outlook(10) is None
    with pytest.raises(mp.InputError):
        campaign.outlook(0)


def test_rounds__count_every_item(campaign: AnyCampaign) -> None:
    assert campaign.rounds == 3


def test_known_classes__grow_by_what_people_say(campaign: AnyCampaign) -> None:
    assert set(campaign.known_classes()) == {"yes", "no"}
    campaign.tell("first", "maybe")
    assert campaign.known_classes()[2:] == ["maybe"]


def test_ask__decides_and_returns_the_same_for_the_same_key(make: Make) -> None:
    made = make(**ALWAYS)
    decision = made.ask(dict(zip(MODELS, SPLIT, strict=True)), item={"text": "x"}, key="k")
    assert decision == made.ask(SPLIT, key="k")
    assert (decision.round, decision.query, decision.probability) == (0, True, 1.0)
    assert made.rounds == 1


@pytest.mark.parametrize("row", [["yes"], {"ant": "yes", "nobody": "no"}, ["yes", "no", 3]])
def test_ask__refuses_a_row_that_makes_no_sense(campaign: AnyCampaign, row: Any) -> None:
    with pytest.raises(mp.InputError):
        campaign.ask(row)
    assert campaign.rounds == 3


def test_ask_many__decides_in_order(make: Make) -> None:
    made = make(**ALWAYS)
    decisions = made.ask_many([SPLIT, ["no"] * 3, [None, "no", "no"]])
    assert [(one.round, one.query) for one in decisions] == [(0, True), (1, False), (2, True)]
    assert isinstance(decisions, Decisions | list)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of five items."""
    mp.ModelCollection([SPLIT] * 5, models=MODELS).save(tmp_path / "five.csv")
    return tmp_path / "five.csv"


def test_ask_file__asks_about_one_item_after_the_other(make: Make, file: Path) -> None:
    made = make(**ALWAYS)
    assert made.ask_file(file) == mp.AskedFile(rounds=0, known=0, queries=0, waiting=5)
    for number in range(5):
        assert [one.id for one in made.pending(3, lease=60, annotator="ann")] == [number]
        made.tell(number, "no", annotator="ann")
    assert made.pending(3, lease=60, annotator="ann") == []


def test_ask_file__at_once_asks_about_all_of_them(make: Make, file: Path) -> None:
    made = make(**ALWAYS)
    assert made.ask_file(file, at_once=True) == mp.AskedFile(rounds=5, known=0, queries=5, waiting=0)
    assert len(made.pending()) == 5


def test_waiting_items__are_counted_by_file(make: Make, file: Path) -> None:
    made = make(**ALWAYS)
    assert made.waiting_items() == {}
    made.ask_file(file)
    made.pending(1, lease=60)
    assert made.waiting_items() == {"five.csv": 4}


def test_drop_items__leaves_what_was_asked(make: Make, file: Path) -> None:
    made = make(**ALWAYS)
    made.ask_file(file)
    made.pending(1, lease=60)
    assert made.drop_items(annotator="ann") == 4
    assert (made.drop_items(), made.waiting_items(), len(made.pending())) == (0, {}, 1)


def test_ask_many__takes_arrays(make: Make) -> None:
    assert len(make(models=3).ask_many(np.array([[0, 1, 1], [-1, 0, 0]]))) == 2


def test_tell__counts_once(campaign: AnyCampaign) -> None:
    campaign.tell("first", "no", annotator="ann")
    campaign.tell(0, "no")
    assert campaign.best().labels_used == 1
    with pytest.raises(mp.ConflictError):
        campaign.tell(0, "yes")
    campaign.tell(0, "yes", replace=True)
    assert campaign.best().model == "ant"


@pytest.mark.parametrize("called", [99, "nowhere"])
def test_tell__of_what_was_never_asked_is_an_error(campaign: AnyCampaign, called: int | str) -> None:
    with pytest.raises(mp.NotFoundError):
        campaign.tell(called, "no")


def test_tell_many__is_all_or_nothing(campaign: AnyCampaign) -> None:
    with pytest.raises(mp.NotFoundError):
        campaign.tell_many({"first": "no", 77: "no"})
    assert campaign.counts().labels == 0
    labels: list[tuple[int | str, str | None]] = [("first", "no"), (1, None)]
    campaign.tell_many(iter(labels))
    assert campaign.counts() == CampaignCounts(labels=1, skipped=1)


def test_skip__changes_no_estimate(campaign: AnyCampaign) -> None:
    campaign.skip("first", annotator="ann")
    assert campaign.counts() == CampaignCounts(skipped=1, waiting=1)
    with pytest.raises(mp.ConflictError):
        campaign.tell("first", "no")
    campaign.tell("first", "no", replace=True)
    assert campaign.best().labels_used == 1


def test_retract__makes_the_query_wait_again(campaign: AnyCampaign) -> None:
    campaign.tell("first", "no", annotator="ann")
    campaign.retract("first", lease=timedelta(minutes=1), annotator="ann")
    assert campaign.best().labels_used == 0
    assert [query.id for query in campaign.pending(2, lease=60, annotator="bob")] == [1]
    with pytest.raises(mp.ConflictError):
        campaign.retract("first")


def test_pending__shows_what_waits_and_leases_it(campaign: AnyCampaign) -> None:
    first, second = campaign.pending()
    assert (first.key, first.item, second.id) == ("first", {"text": "a"}, 1)
    assert isinstance(first, Query)
    assert campaign.pending(1) == [first]
    (leased,) = campaign.pending(lease=timedelta(minutes=1), annotator="ann")
    assert (leased.id, leased.leased_by) == (0, "ann")
    assert [query.id for query in campaign.pending(5, lease=60, annotator="bob")] == [1]


@pytest.mark.parametrize("lease", [0, -1, float("inf")])
def test_pending__refuses_a_lease_that_is_no_time(campaign: AnyCampaign, lease: float) -> None:
    with pytest.raises(mp.InputError):
        campaign.pending(lease=lease)


def test_release__gives_leased_queries_back(campaign: AnyCampaign) -> None:
    assert len(campaign.pending(2, lease=60, annotator="ann")) == 2
    campaign.release("first", 1)
    assert len(campaign.pending(2, lease=60, annotator="bob")) == 2


def test_answers__are_all_queries_and_references(campaign: AnyCampaign) -> None:
    campaign.tell_many({"first": "no", 2: "yes"})
    found = [(one.id, one.key, one.label, one.state) for one in campaign.answers()]
    assert found == [
        (0, "first", "no", "labelled"),
        (1, "second", None, "waiting"),
        (2, "third", "yes", "reference"),
    ]


def test_counts__tell_how_far_it_has_come(campaign: AnyCampaign) -> None:
    assert campaign.counts() == CampaignCounts(waiting=2)
    campaign.tell_many({"first": "no", 1: None, 2: "no"})
    assert campaign.counts() == CampaignCounts(labels=1, skipped=1, references=1)


def test_best__names_a_model_and_where_it_stands(campaign: AnyCampaign) -> None:
    campaign.tell_many({"first": "no", 1: "no"})
    pick = campaign.best()
    assert isinstance(pick, mp.Pick)
    assert (pick.labels_used, pick.rounds, pick.pending) == (2, 3, 0)
    assert {entry.model for entry in pick.standing} == set(MODELS)
    assert pick.standing[-1].model == "ant"
    assert pick.certificate == campaign.certificate()


def test_racing__are_all_models_where_none_is_dropped(campaign: AnyCampaign) -> None:
    assert set(campaign.racing) == set(MODELS)


def test_certificate__is_of_the_kind_that_was_asked_for(campaign: AnyCampaign) -> None:
    certificate = campaign.certificate(0.9, "population")
    assert (certificate.kind, certificate.confidence, certificate.gap) == ("population", 0.9, 1.0)
    with pytest.raises(mp.InputError):
        campaign.certificate(1.5)


def test_history__tells_everything_or_one_round(campaign: AnyCampaign) -> None:
    campaign.tell("first", "no", annotator="ann")
    assert [record["kind"] for record in campaign.history()] == ["ask", "ask", "ask", "label"]
    asked, told = campaign.history("first")
    assert (asked["id"], told["label"]) == (0, "no")
    assert list(campaign.history(0)) == [asked, told]


def test_join__takes_part_from_the_next_round_on(campaign: AnyCampaign) -> None:
    campaign.join("dog")
    assert campaign.models == (*MODELS, "dog")
    with pytest.raises(mp.ConflictError):
        campaign.join("dog")


def test_leave__takes_no_part_any_more(campaign: AnyCampaign) -> None:
    campaign.leave("cat")
    with pytest.raises(mp.NotFoundError):
        campaign.leave("cat")
    with pytest.raises(mp.ConflictError):
        campaign.leave("bee")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_export__can_be_imported_elsewhere(campaign: AnyCampaign, ending: str, tmp_path: Path) -> None:
    campaign.tell("first", "no")
    campaign.export(tmp_path / f"out.{ending}")
    copy = import_campaign(f"sqlite:///{tmp_path / 'other.db'}", tmp_path / f"out.{ending}", "copy")
    assert copy.best() == campaign.best()


def test_name__is_the_one_it_was_made_with(campaign: AnyCampaign) -> None:
    assert campaign.name.startswith("c")


def test_revise__changes_what_is_named_and_the_history_keeps_it(campaign: AnyCampaign) -> None:
    campaign.revise(budget=40, paused=True, annotator="mia")
    assert campaign.budget == 40
    assert campaign.best().state.name == "paused"
    assert campaign.pending(5, lease=60, annotator="mia") == []
    with pytest.raises(mp.ConflictError):
        campaign.revise(budget=1)
    with pytest.raises(mp.InputError):
        campaign.revise(seed=4)
    campaign.revise(paused=False, stop_when=mp.Certified(gap=0.3))
    kept = [(one["changes"], one["by"]) for one in campaign.history() if one["kind"] == "revise"]
    assert kept[0] == ({"budget": 40, "paused": True}, "mia")
    assert kept[1][0]["stop_when"]["gap"] == 0.3


def test_rename__is_the_same_campaign(campaign: AnyCampaign) -> None:
    new = f"new-{uuid.uuid4().hex[:12]}"
    campaign.rename(new)
    assert campaign.name == new
    assert campaign.rounds == 3
    campaign.tell("first", "yes")
    with pytest.raises(mp.InputError):
        campaign.rename("../x")


def test_labels__has_who_when_and_what_models_said(campaign: AnyCampaign) -> None:
    campaign.tell("first", "yes", annotator="mia")
    campaign.skip("second", annotator="tom")
    second, first = campaign.labels()
    assert (first.key, first.label, first.state, first.by) == ("first", "yes", "labelled", "mia")
    assert first.predictions == dict(zip(MODELS, SPLIT, strict=True))
    assert first.item == {"text": "a"}
    assert (second.key, second.label, second.state, second.by) == ("second", None, "skipped", "tom")
    assert [one.key for one in campaign.labels(LabelFilter(annotator="mia"))] == ["first"]


def test_finish__withdraws_open_questions_and_can_be_taken_back(campaign: AnyCampaign) -> None:
    campaign.finish(annotator="mia")
    assert campaign.best().state.name == "finished"
    assert campaign.pending(5, lease=60, annotator="mia") == []
    with pytest.raises(mp.ConflictError, match="finished"):
        campaign.ask(SPLIT)
    campaign.tell("first", "yes")
    assert campaign.counts().labels == 1
    campaign.revise(finished=False)
    assert len(campaign.pending(5, lease=60, annotator="mia")) == 1


def test_report__is_a_page_that_names_the_campaign(campaign: AnyCampaign) -> None:
    assert campaign.report().startswith("<!doctype html>")


def test_note__is_one_for_each_person(campaign: AnyCampaign) -> None:
    campaign.note("first", "half of it is missing", annotator="mia")
    campaign.note(0, "all of it is there", flagged=True, annotator="mia")
    campaign.note(0, flagged=True, annotator="tom")
    campaign.note(0, annotator="tom")
    campaign.tell("first", "yes")
    assert [(note.text, note.flagged, note.by) for note in campaign.labels()[0].notes] == [
        ("all of it is there", True, "mia")
    ]
    with pytest.raises(mp.InputError):
        campaign.note("first", "x" * 2_001)
    with pytest.raises(mp.NotFoundError):
        campaign.note("nowhere", "x")
    with pytest.raises(mp.ConflictError):
        campaign.note("third", "nobody is asked about it")


def test_notes__has_all_of_them_and_flagged_items_are_found(campaign: AnyCampaign) -> None:
    assert campaign.notes() == []
    campaign.note("second", "which one?", flagged=True, annotator="mia")
    campaign.note("first", "fine", annotator="tom")
    assert [(note.id, note.text, note.flagged, note.by) for note in campaign.notes()] == [
        (0, "fine", False, "tom"),
        (1, "which one?", True, "mia"),
    ]
    assert [(one.id, one.state, one.flagged) for one in campaign.labels(LabelFilter(flagged=True))] == [
        (1, "waiting", True)
    ]
    assert campaign.labels(LabelFilter(flagged=False)) == []


def disagreed(make: Make) -> AnyCampaign:
    """On the first item two people disagree, on the second they agree."""
    made = make(**ALWAYS, overlap=2)
    made.ask_many([SPLIT, SPLIT], items=[{"text": "a"}, None], keys=["first", "second"])
    made.tell_many({"first": "yes", "second": "no"}, annotator="ann")
    made.tell_many({"first": "no", "second": "no"}, annotator="bob")
    return made


def test_conflicts__are_items_with_what_each_person_said(make: Make) -> None:
    made = disagreed(make)
    (conflict,) = made.conflicts()
    assert (conflict.id, conflict.key, conflict.item) == (0, "first", {"text": "a"})
    assert [(one.by, one.label) for one in conflict.opinions] == [("ann", "yes"), ("bob", "no")]
    assert made.counts() == CampaignCounts(labels=1, conflicts=1)
    assert (made.best().labels_used, made.best().conflicts) == (4, 1)
    assert [[one.label for one in row.opinions] for row in made.labels()] == [["no", "no"], ["yes", "no"]]


def test_settle__makes_the_label_once(make: Make) -> None:
    made = disagreed(make)
    made.settle("first", "no", annotator="boss")
    made.settle(0, "no")
    assert made.conflicts() == []
    assert made.counts() == CampaignCounts(labels=2)
    with pytest.raises(mp.ConflictError, match="settled already"):
        made.settle(0, "yes")
    with pytest.raises(mp.NotFoundError):
        made.settle(9, "yes")


def test_agreement__is_measured_over_items_that_several_labelled(make: Make) -> None:
    found = disagreed(make).agreement()
    assert (found.items, found.agreed) == (2, 0.5)
    assert found.kappa == pytest.approx((0.5 - 10 / 16) / (1 - 10 / 16))
    (pair,) = found.pairs
    assert pair == mp.PairAgreement(("ann", "bob"), 2, 0.5, 0.0)
    assert [(one.label, one.opinions) for one in found.classes] == [("no", 3), ("yes", 1)]
