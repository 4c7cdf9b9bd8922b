"""Several people label the same item: it is learned when they agree, and settled when they do not."""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import modelpicker as mp
from modelpicker.campaigns.results.campaign_report import campaign_report
from modelpicker.campaigns.results.labels import as_table
from modelpicker.campaigns.state.opinions import people_needed
from modelpicker.campaigns.storage.schema import opinions
from modelpicker.campaigns.storage.verify import verify
from tests.campaigns.pools import collection, make, truth
from tests.campaigns.streams import check, state, without_times


def overlapping(url: str, overlap: float = 2, **more: Any) -> mp.Campaign:
    """A campaign on a small pool, of which several people label each item."""
    return make(url, overlap=overlap, **{"tolerance": 0.0} | more)


def ask(campaign: mp.Campaign, by: str, most: int = 1) -> list[int]:
    """The items that somebody is given."""
    return [query.id for query in campaign.pending(most, lease=600, annotator=by)]


def disagree(campaign: mp.Campaign, by: tuple[str, ...] = ("ann", "bob")) -> int:
    """An item on which people disagree."""
    (item,) = ask(campaign, by[0])
    for place, one in enumerate(by):
        campaign.tell(item, ("ham", "spam", "egg")[place], annotator=one)
    return item


def test_a_label_is_learned_when_two_people_agree_and_not_before(url: str) -> None:
    items, campaign = collection(), overlapping(url)
    (item,) = ask(campaign, "ann")
    before = campaign.certificate()
    campaign.tell(item, truth(items, item), annotator="ann")
    assert campaign.certificate() == before
    assert (campaign.label_of(item), campaign.counts().labels, campaign.counts().waiting) == (None, 0, 1)
    campaign.tell(item, truth(items, item), annotator="bob")
    assert (campaign.label_of(item), campaign.counts().labels, campaign.counts().waiting) == (
        truth(items, item),
        1,
        0,
    )
    check(campaign, url)


def test_nobody_is_given_an_item_twice_and_others_are_given_it_next(url: str) -> None:
    campaign = overlapping(url)
    (item,) = ask(campaign, "ann")
    assert item not in ask(campaign, "bob")
    campaign.tell(item, "ham", annotator="ann")
    assert item not in ask(campaign, "ann", 5)
    assert ask(campaign, "cid") == [item]
    assert item not in [query.id for query in campaign.pending(50, annotator="ann")]
    assert item in [query.id for query in campaign.pending(50, annotator="dan")]
    assert item in [query.id for query in campaign.waiting()]
    check(campaign, url)


def test_one_person_at_two_desks_is_one_person(memory: str) -> None:
    campaign = overlapping(memory)
    (item,) = ask(campaign, "mia/desk 1")
    campaign.tell(item, "ham", annotator="mia/desk 1")
    assert item not in ask(campaign, "mia/desk 2")
    campaign.tell(item, "ham", annotator="mia/desk 2")
    assert campaign.counts().labels == 0
    campaign.tell(item, "ham", annotator="tom/desk 1")
    assert campaign.counts().labels == 1


def test_an_answer_without_a_name_is_that_of_whoever_leased_the_item(memory: str) -> None:
    campaign = overlapping(memory)
    (item,) = ask(campaign, "ann")
    campaign.tell(item, "ham")
    assert item not in ask(campaign, "ann")
    assert [one.by for one in campaign.labels()[0].opinions] == ["ann"]


def test_two_answers_without_a_name_are_one_persons(url: str) -> None:
    campaign = overlapping(url)
    (query,) = campaign.pending(1)
    campaign.tell(query.id, "ham")
    campaign.tell(query.id, "ham")
    assert campaign.counts().labels == 0
    with pytest.raises(mp.ConflictError, match="name the annotator"):
        campaign.tell(query.id, "spam")
    assert query.id not in [one.id for one in campaign.pending(5)]
    campaign.tell(query.id, "ham", annotator="ann")
    assert campaign.counts().labels == 1
    check(campaign, url)


def test_the_same_person_changes_their_mind_only_if_they_say_so(url: str) -> None:
    campaign = overlapping(url)
    (item,) = ask(campaign, "ann")
    campaign.tell(item, "ham", annotator="ann")
    campaign.tell(item, "ham", annotator="ann")
    with pytest.raises(mp.ConflictError, match=r"'ann' answered round \d+ in another way"):
        campaign.tell(item, "spam", annotator="ann")
    campaign.tell(item, "spam", annotator="ann", replace=True)
    campaign.tell(item, "spam", annotator="bob")
    assert campaign.label_of(item) == "spam"
    campaign.tell(item, "ham", annotator="bob", replace=True)
    assert campaign.label_of(item) == "ham"
    check(campaign, url)


def test_people_who_disagree_make_a_conflict_that_nobody_is_given(url: str) -> None:
    campaign = overlapping(url)
    item = disagree(campaign)
    assert campaign.counts() == mp.CampaignCounts(conflicts=1)
    (conflict,) = campaign.conflicts()
    assert (conflict.id, conflict.key, conflict.item) == (
        item,
        f"item {item}",
        {"id": f"item {item}", "text": f"text {item}"},
    )
    assert [(one.by, one.label) for one in conflict.opinions] == [("ann", "ham"), ("bob", "spam")]
    assert item not in [query.id for query in campaign.pending(100)]
    with pytest.raises(mp.ConflictError, match="has all the answers that it needs"):
        campaign.tell(item, "ham", annotator="cid")
    assert "1 conflict waits to be settled" in campaign.best().state.reason
    assert [one.state for one in campaign.answers()].count("conflict") == 1
    check(campaign, url)


def test_a_conflict_that_is_settled_is_a_label_like_any_other(url: str) -> None:
    items, campaign = collection(), overlapping(url)
    item = disagree(campaign)
    campaign.settle(item, "spam", annotator="boss")
    campaign.settle(f"item {item}", "spam")
    assert (campaign.label_of(item), campaign.conflicts()) == ("spam", [])
    campaign.tell(item, "ham", annotator="ann")  # said before: told twice, it counts once
    assert campaign.label_of(item) == "spam"
    with pytest.raises(mp.ConflictError, match="settled already"):
        campaign.settle(item, "ham")
    with pytest.raises(mp.ConflictError, match="answered before; pass replace=True"):
        campaign.tell(item, "egg", annotator="ann")
    campaign.tell(item, "egg", replace=True, annotator="boss")
    assert campaign.label_of(item) == "egg"
    (row,) = campaign.labels()
    assert (row.by, row.state, [one.label for one in row.opinions]) == ("boss", "labelled", ["ham", "spam"])
    assert truth(items, item) in ("ham", "spam", "egg", "toast")
    check(campaign, url)


def test_a_settled_label_gives_what_two_who_agree_would_have_given(memory: str) -> None:
    settled, agreed = overlapping(memory, name="settled"), overlapping(memory, name="agreed")
    for campaign, second in ((settled, "ham"), (agreed, "spam")):
        (item,) = ask(campaign, "ann")
        campaign.tell(item, "spam", annotator="ann")
        campaign.tell(item, second, annotator="bob")
    settled.settle(item, "spam")
    assert state(settled)["pool"] == state(agreed)["pool"]
    assert settled.best().certificate == agreed.best().certificate


def test_a_conflict_may_be_settled_as_one_that_nobody_can_tell(url: str) -> None:
    campaign = overlapping(url)
    item = disagree(campaign)
    campaign.settle(item, None)
    campaign.settle(item, None)
    assert campaign.counts() == mp.CampaignCounts(skipped=1)
    assert campaign.best().labels_used == 2
    check(campaign, url)


def test_cannot_tell_is_an_opinion(url: str) -> None:
    campaign = overlapping(url, budget=10)
    (first,) = ask(campaign, "ann")
    campaign.skip(first, annotator="ann")
    campaign.skip(first, annotator="bob")
    assert campaign.counts() == mp.CampaignCounts(skipped=1)
    assert campaign.best().labels_used == 0
    (second,) = ask(campaign, "ann")
    campaign.skip(second, annotator="ann")
    campaign.tell(second, "ham", annotator="bob")
    assert [one.id for one in campaign.conflicts()] == [second]
    assert campaign.best().labels_used == 1
    check(campaign, url)


def test_what_cannot_be_settled_is_refused(memory: str) -> None:
    items = collection()
    campaign, single = overlapping(memory), make(memory, "single")
    (item,) = ask(campaign, "ann")
    for number, why in ((item, "nobody has labelled"), (119, "nobody was asked")):
        with pytest.raises(mp.ConflictError, match=why):
            campaign.settle(number, "ham")
    with pytest.raises(mp.NotFoundError):
        campaign.settle("nowhere", "ham")
    (other,) = ask(single, "ann")
    with pytest.raises(mp.ConflictError, match="labelled by one person"):
        single.settle(other, truth(items, other))
    assert single.conflicts() == []
    assert single.agreement() == mp.Agreement(0, None, None)


def test_an_item_that_waits_for_another_person_may_be_settled(url: str) -> None:
    campaign = overlapping(url, budget=2)
    (item,) = ask(campaign, "ann")
    campaign.tell(item, "ham", annotator="ann")
    status = campaign.best().state
    assert (status.name, status.next) == ("waiting-for-labels", "Ask another person to label the items that wait.")
    assert status.reason.endswith("1 item waits for the label of another person.")
    campaign.settle(item, "ham", annotator="boss")
    assert campaign.best().labels_used == 1
    assert campaign.best().state.name == "budget-spent"
    assert "1 of the 2 labels of the budget are bought" in campaign.best().state.reason
    check(campaign, url)


@pytest.mark.parametrize("when", ["waiting", "conflict", "labelled", "settled"])
def test_an_opinion_is_taken_back_by_whoever_gave_it(url: str, when: str) -> None:
    """What is left is as if it had never been given."""
    campaign, never = overlapping(url, name=when), overlapping(url, name="never")
    (item,) = ask(never, "ann")
    assert ask(campaign, "ann") == [item]
    if when != "waiting":
        never.tell(item, "ham", annotator="bob")
        campaign.tell(item, "ham", annotator="bob")
    campaign.tell(item, "ham" if when == "labelled" else "spam", annotator="ann")
    if when == "settled":
        campaign.settle(item, "egg")
    campaign.retract(item, lease=60, annotator="ann/undo")
    assert state(campaign) == state(never)
    assert campaign.leased_by(item) == "ann/undo"
    check(campaign, url)
    campaign.tell(item, "ham", annotator="ann")
    check(campaign, url)


@pytest.mark.parametrize("when", ["waiting", "conflict", "labelled", "settled"])
def test_all_opinions_are_taken_back_by_somebody_who_gave_none(url: str, when: str) -> None:
    campaign, never = overlapping(url, name=when), overlapping(url, name="never")
    (item,) = ask(never, "ann")
    assert ask(campaign, "ann") == [item]
    campaign.tell(item, "ham", annotator="ann")
    if when != "waiting":
        campaign.tell(item, "ham" if when == "labelled" else "spam", annotator="bob")
    if when == "settled":
        campaign.settle(item, "egg")
    campaign.retract(item, annotator="boss")
    assert state(campaign) == state(never)
    with pytest.raises(mp.ConflictError, match="no answer to take back"):
        campaign.retract(item, annotator="boss")
    check(campaign, url)


def test_every_label_of_every_person_counts_against_the_budget(url: str) -> None:
    campaign = overlapping(url, budget=5)
    first = ask(campaign, "ann", 50)
    assert len(first) == 2
    assert ask(campaign, "bob", 50) == []
    for item in first:
        campaign.tell(item, "ham", annotator="ann")
    assert (campaign.best().labels_used, ask(campaign, "ann", 50)) == (2, [])
    assert ask(campaign, "bob", 50) == first
    campaign.tell(first[0], "ham", annotator="bob")
    campaign.skip(first[1], annotator="bob")
    assert campaign.best().labels_used == 3
    (third,) = ask(campaign, "bob", 50)
    with pytest.raises(mp.ConflictError, match="the budget is spent by now"):
        campaign.retract(first[1], annotator="bob")
    campaign.tell(third, "ham", annotator="bob")
    campaign.tell(third, "ham", annotator="ann")
    pick = campaign.best()
    assert (pick.labels_used, pick.budget, pick.conflicts, pick.state.name) == (5, 5, 1, "conflicts")
    assert campaign.counts().labels == 2
    check(campaign, url)


def test_the_last_label_of_a_budget_is_not_lost_where_a_share_is_labelled_twice(memory: str) -> None:
    campaign = overlapping(memory, 0.99, budget=5)
    asked = ask(campaign, "ann", 50)
    needed = [people_needed(0.99, 3, item) for item in asked]
    assert sum(needed) >= 5
    for by in ("ann", "bob"):
        for item in asked:
            if campaign.label_of(item) is None:
                campaign.tell(item, "ham", annotator=by)
    assert (campaign.best().labels_used, campaign.best().state.name) == (5, "budget-spent")


def test_a_share_of_the_items_is_labelled_by_two(url: str) -> None:
    """Which ones is drawn by seed and item. Of 2,000, 400 are expected; 5 standard deviations are 90."""
    drawn = [people_needed(0.2, 7, item) for item in range(2_000)]
    assert abs(drawn.count(2) - 400) < 90
    assert set(drawn) == {1, 2}
    assert drawn != [people_needed(0.2, 8, item) for item in range(2_000)]
    campaign = overlapping(url, 0.5)
    items = ask(campaign, "ann", 20)
    for item in items:
        campaign.tell(item, "ham", annotator="ann")
    twice = [item for item in items if people_needed(0.5, 3, item) == 2]
    assert 0 < len(twice) < 20
    assert [query.id for query in campaign.waiting()] == twice
    assert campaign.counts().labels == 20 - len(twice)
    check(campaign, url)


def test_three_people_and_a_pool_labelled_to_the_end(url: str) -> None:
    items, campaign = collection(60), make(url, items=60, overlap=3, tolerance=0.0)
    people = ("ann", "bob", "cid")
    while any(given := [(by, ask(campaign, by)) for by in people]) and any(found for _, found in given):
        for by, found in given:
            for item in found:
                wrong = by == "cid" and item % 5 == 0
                campaign.tell(item, "toast" if wrong else truth(items, item), annotator=by)
    check(campaign, url)
    assert campaign.best().state.name in ("conflicts", "certified")
    for conflict in campaign.conflicts():
        assert len(conflict.opinions) == 3
        campaign.settle(conflict.id, truth(items, conflict.id), annotator="boss")
    pick = campaign.best()
    assert (pick.state.name, pick.certificate.gap, pick.conflicts) == ("certified", 0.0, 0)
    assert pick.labels_used == 3 * campaign.counts().labels
    check(campaign, url)


def test_when_all_items_are_in_conflict_the_next_step_is_to_settle_them(memory: str) -> None:
    pool = [["a", "b"], ["b", "a"], ["a", "b"]]
    campaign = mp.create_campaign(memory, "few", pool=pool, tolerance=0.0, overlap=2)
    for query in campaign.pending(5):
        campaign.tell(query.id, "a", annotator="ann")
        campaign.tell(query.id, "b", annotator="bob")
    status = campaign.best().state
    assert (status.name, status.title, status.next) == ("conflicts", "Conflicts to settle", "Settle 3 conflicts.")
    assert status.reason == (
        "All items on which models differ were asked about. People labelled 3 items in different ways."
    )
    assert campaign.best().certificate.gap == 1.0
    campaign.finish()
    assert campaign.best().state.reason.endswith("3 conflicts were not settled.")
    campaign.settle(0, "a")
    assert campaign.best().state.reason.endswith("2 conflicts were not settled.")
    campaign.revise(finished=False)
    assert campaign.best().state.next == "Settle 2 conflicts."
    campaign.revise(archived=True)
    with pytest.raises(mp.ConflictError, match="archived"):
        campaign.settle(1, "a")


def test_a_campaign_with_opinions_comes_through_an_export(memory: str, tmp_path: Path) -> None:
    campaign = eventful(memory)
    for ending in ("jsonl", "parquet"):
        campaign.export(tmp_path / f"out.{ending}")
        copy = mp.import_campaign(memory, tmp_path / f"out.{ending}", ending)
        assert list(copy.history()) == list(campaign.history())
        assert (state(copy), copy.settings.overlap) == (state(campaign), 2)
        assert copy.conflicts() == campaign.conflicts()
        assert copy.agreement() == campaign.agreement()
        check(copy, memory)


def eventful(url: str) -> mp.Campaign:
    """A campaign in which everything happened that can happen to opinions."""
    campaign = overlapping(url, budget=40)
    disagree(campaign)
    settled = disagree(campaign, ("bob", "cid"))
    campaign.settle(settled, "ham", annotator="boss")
    (item,) = ask(campaign, "ann")
    campaign.tell(item, "ham", annotator="ann")
    campaign.tell(item, "egg", annotator="ann", replace=True)
    campaign.skip(item, annotator="bob")
    campaign.retract(item, annotator="bob")
    campaign.tell(item, "egg", annotator="bob")
    campaign.retract(item, annotator="ann")
    (query,) = campaign.pending(1)
    campaign.tell(query.id, "ham")
    campaign.retract(query.id)
    campaign.skip(query.id)
    return campaign


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("opinion", {"needed": 3}),
        ("opinion", {"needed": 1}),
        ("opinion", {"needed": "2"}),
        ("opinion", {"replaces": True}),
        ("opinion", {"id": 119}),
        ("opinion", {"label": 3.5}),
        ("withdraw", {"whose": "nobody"}),
        ("question", {"needed": 1}),
        ("question", {"needed": 1_000}),
        ("label", {"of_opinions": False}),
    ],
)
def test_a_damaged_export_of_opinions_is_refused(
    memory: str, tmp_path: Path, kind: str, change: dict[str, object]
) -> None:
    path = tmp_path / "out.jsonl"
    eventful(memory).export(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    next(line for line in lines if line.get("kind") == kind).update(change)
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(mp.InputError, match=r"event \d+|cannot have had such an answer"):
        mp.import_campaign(memory, path, "copy")
    assert [one.name for one in mp.list_campaigns(memory)] == ["pool"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, 101, "2", True, None, float("nan")])
def test_an_overlap_that_makes_no_sense_is_refused(memory: str, wrong: Any) -> None:
    with pytest.raises(mp.InputError, match="overlap="):
        overlapping(memory, wrong)


def stream(url: str, overlap: float = 2, **more: Any) -> mp.Campaign:
    """A campaign on a stream with ten rounds."""
    campaign = mp.create_campaign(url, "stream", models=3, seed=1, overlap=overlap, **more)
    campaign.ask_many([[0, 1, 1], [1, 0, 1]] * 5)
    return campaign


def test_several_people_label_the_items_of_a_stream(url: str) -> None:
    campaign = stream(url)
    first, second, third = [query.id for query in campaign.pending()][:3]
    before = campaign.best().standing
    assert ask(campaign, "ann", 2) == [first, second]
    campaign.tell(first, 1, annotator="ann")
    campaign.tell(second, 1, annotator="ann")
    assert campaign.best().standing == before
    assert first not in ask(campaign, "ann", 10)
    campaign.release(*[query.id for query in campaign.pending()])
    assert ask(campaign, "bob", 2) == [first, second]
    campaign.tell(first, 1, annotator="bob")
    campaign.tell(second, 0, annotator="bob")
    counts = campaign.counts()
    assert (counts.labels, counts.conflicts, campaign.best().labels_used) == (1, 1, 4)
    check(campaign, url)
    campaign.settle(second, 0)
    campaign.tell(third, 1, annotator="ann")
    campaign.retract(first, annotator="bob")
    assert campaign.counts().labels == 1
    check(campaign, url)


def test_a_stream_of_which_all_is_in_conflict_says_what_to_do(memory: str, tmp_path: Path) -> None:
    campaign = stream(memory, algorithm="label-efficient", options={"probability": 1.0})
    for query in campaign.pending():
        campaign.tell(query.id, 0, annotator="ann")
        campaign.tell(query.id, 1, annotator="bob")
    status = campaign.best().state
    assert (status.name, status.next, status.takes_items) == ("conflicts", "Settle 10 conflicts.", True)
    campaign.export(tmp_path / "out.jsonl")
    assert state(mp.import_campaign(memory, tmp_path / "out.jsonl", "copy")) == state(campaign)


def test_a_budget_and_an_overlap_do_not_go_together_on_a_stream(memory: str) -> None:
    with pytest.raises(mp.InputError, match="overlap=2 does not go with a budget on a stream"):
        stream(memory, budget=10)
    campaign = stream(memory)
    with pytest.raises(mp.InputError, match="overlap=2 does not go with a budget on a stream"):
        campaign.revise(budget=10)


def test_what_people_said_is_listed_filtered_and_exported(memory: str) -> None:
    campaign = overlapping(memory)
    conflict = disagree(campaign)
    (item,) = ask(campaign, "cid")
    campaign.tell(item, "egg", annotator="cid")
    rows = {row.id: row for row in campaign.labels()}
    assert (rows[conflict].state, rows[item].state) == ("conflict", "waiting")
    assert [row.id for row in campaign.labels(mp.LabelFilter(annotator="ann"))] == [conflict]
    assert [row.id for row in campaign.labels(mp.LabelFilter(label="egg"))] == [item]
    assert [row.id for row in campaign.labels(mp.LabelFilter(state="conflict"))] == [conflict]
    assert campaign.annotators() == ["ann", "bob", "cid"]
    columns, table = as_table(campaign.labels())
    assert "opinions" in columns
    said = json.loads(next(row for row in table if row["id"] == conflict)["opinions"])
    assert [(one["by"], one["label"]) for one in said] == [("ann", "ham"), ("bob", "spam")]
    assert all(one["at"].endswith("+00:00") for one in said)


def test_an_opinion_that_is_damaged_in_the_storage_is_found_and_mended(file_url: str) -> None:
    campaign = eventful(file_url)
    right = state(campaign), campaign.conflicts()
    with campaign.storage.writing() as connection:
        connection.execute(sa.update(opinions).values(label='"toast"'))
    assert verify(campaign).repaired
    assert (state(campaign), campaign.conflicts()) == right
    check(campaign, file_url)


def test_a_state_that_was_kept_goes_on_with_its_opinions(file_url: str) -> None:
    """What is kept is loaded, and not rebuilt: the same to the last bit."""
    campaign = eventful(file_url)
    with campaign.grouped() as change:
        campaign._keep(change)
    again = mp.open_campaign(file_url, "pool")
    assert state(again) == state(campaign)
    item = campaign.conflicts()[0].id
    again.settle(item, "ham")
    check(again, file_url)
    assert without_times(campaign) == without_times(again)


def test_a_report_counts_every_person_and_what_is_not_settled(memory: str) -> None:
    campaign = eventful(memory)
    report = campaign_report(campaign)
    assert {one.name: one.labels for one in report.annotators} == {"ann": 1, "bob": 3, "cid": 1, "not named": 0}
    assert {one.name: one.skipped for one in report.annotators}["not named"] == 1
    assert "5 labels were bought" in report.cost
    assert "2 items are in conflict" in report.cost
    assert report.settings["overlap"] == "2 people per item"
    assert report.pick.labelled == campaign.counts().labels == 1
    assert "Labelling all 120 items would take 119 more labels." in report.saving
    assert "in conflict" in campaign.report()


def test_a_stream_says_what_waits_for_another_person_and_what_is_to_be_settled(url: str) -> None:
    campaign = stream(url)
    first, *others = [query.id for query in campaign.waiting()]
    for item in others:
        campaign.tell(item, 0, annotator="ann")
    status = campaign.best().state
    assert status.reason == f"{1 + len(others)} items wait for a label, {len(others)} of them from another person."
    assert status.next == "Label the items that wait."
    campaign.tell(first, 0, annotator="ann")
    status = campaign.best().state
    assert (status.reason, status.next) == (
        f"{1 + len(others)} items wait for the label of another person.",
        "Ask another person to label the items that wait.",
    )
    campaign.tell(first, 1, annotator="bob")
    assert campaign.best().state.reason.endswith("1 conflict waits to be settled.")
    assert not campaign.best().named, "nothing is learned yet"


def test_a_paused_stream_shows_nobody_what_they_have_answered(memory: str) -> None:
    campaign = stream(memory)
    (first, *_), total = [query.id for query in campaign.waiting()], len(campaign.waiting())
    campaign.tell(first, 0, annotator="ann")
    campaign.revise(paused=True)
    assert first not in [query.id for query in campaign.pending(50, annotator="ann")]
    assert len(campaign.pending(50, annotator="bob")) == total


def test_labels_that_nobody_asked_for_are_known_in_the_report_of_a_pool(memory: str) -> None:
    campaign = overlapping(memory)
    campaign.tell(119, "ham")
    disagree(campaign)
    cost = campaign_report(campaign).cost
    assert "1 more label is known without asking" in cost
    assert "1 item is in conflict: people labelled it differently" in cost


@pytest.mark.parametrize("label", ["ham", "spam", "egg", "toast", None])
def test_whatever_a_conflict_turns_out_to_be_the_certificate_has_not_said_too_much(
    memory: str, label: str | None
) -> None:
    """An open conflict counts as the worst, for the model that is named then."""
    items, campaign = collection(40), make(memory, items=40, overlap=2, tolerance=0.0)
    for place in range(14):
        (query,) = campaign.pending(1, annotator="ann")
        right = truth(items, query.id)
        campaign.tell(query.id, right, annotator="ann")
        campaign.tell(query.id, "toast" if place % 3 == 1 else right, annotator="bob")
    conflicts = [conflict.id for conflict in campaign.conflicts()]
    assert len(conflicts) > 1
    before = campaign.certificate()
    campaign.settle(conflicts[0], label)
    after = campaign.certificate()
    assert before.gap < 1.0
    assert after.model != before.model or after.gap <= before.gap
    check(campaign, memory)
