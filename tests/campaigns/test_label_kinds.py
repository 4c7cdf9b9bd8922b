"""Labels of every kind in a campaign: waiting, told, replaced, skipped, by two people, exported, rebuilt."""

import json
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.results.labels import as_table
from modelpicker.campaigns.storage.backup import back_up
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.campaigns.storage.verify import verify
from modelpicker.label import as_document
from tests.campaigns.answers import KINDS, asks, collection, grade_of, judge, label_of, make, said_of
from tests.campaigns.streams import check, state

every_kind = pytest.mark.parametrize("kind", KINDS)
judged = pytest.mark.parametrize("kind", ["grades", "preference"])


def first(campaign: mp.Campaign, by: str = "ann") -> mp.Query:
    """The next question."""
    (query,) = campaign.pending(1, lease=600, annotator=by)
    return query


def canonical(label: Any) -> Any:
    """A label whose answers are in order."""
    document = as_document(label)
    return {**document, "grades": sorted(document["grades"])} if isinstance(document, dict) else document


@every_kind
def test_a_label_is_told_once_and_kept_in_every_form(url: str, kind: str) -> None:
    campaign = make(url, kind)
    told = judge(campaign, kind, 8)
    assert campaign.counts().labels == len(told)
    for number, label in told.items():
        campaign.tell(number, label)  # once more changes nothing
        campaign.tell(number, as_document(label))  # nor does its document
        assert canonical(campaign.label_of(number)) == canonical(label)
    assert {one.id: canonical(one.label) for one in campaign.answers() if one.state == "labelled"} == {
        number: canonical(label) for number, label in told.items()
    }
    assert {one.id: canonical(one.label) for one in campaign.labels()} == {
        number: canonical(label) for number, label in told.items()
    }
    check(campaign, url)


@every_kind
def test_the_whole_campaign_is_found_again_from_its_events(memory: str, kind: str) -> None:
    campaign = make(memory, kind)
    judge(campaign, kind, 10)
    before = state(campaign)
    campaign.close()
    again = mp.open_campaign(memory, "free")
    assert state(again) == before
    assert verify(again, repair=False).wrong == []


@every_kind
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_an_exported_campaign_is_imported_as_it_was(memory: str, tmp_path: Path, kind: str, ending: str) -> None:
    campaign = make(memory, kind, overlap=0.5)
    judge(campaign, kind, 6)
    judge(campaign, kind, 3, by="bob")
    place = tmp_path / f"free.{ending}"
    campaign.export(place)
    again = mp.import_campaign(memory, place, "again")
    assert state(again) == state(campaign)
    assert list(again.history()) == list(campaign.history())
    assert again.settings == campaign.settings


@every_kind
def test_a_replaced_label_gives_the_same_as_if_it_had_been_told_at_first(memory: str, kind: str) -> None:
    campaign, other = make(memory, kind, "free"), make(memory, kind, "other")
    query = first(campaign)
    first(other)
    wrong: Any = {
        "class": "nothing",
        "several": mp.Label.any_of("nothing", "else"),
        "grades": mp.Label.all_wrong(),
        "all wrong": mp.Label.graded({query.candidates[0]: 1} if query.candidates else {}, otherwise=0),
        "preference": mp.Label.equal(*query.candidates[:2]) if len(query.candidates) == 2 else None,
    }[kind]
    campaign.tell(query.id, wrong, annotator="ann")
    right = label_of(kind, query)
    assert canonical(wrong) != canonical(right)
    with pytest.raises(mp.ConflictError, match="replace"):
        campaign.tell(query.id, right, annotator="ann")
    campaign.tell(query.id, right, annotator="ann", replace=True)
    other.tell(query.id, right, annotator="ann")
    assert campaign.best().standing == other.best().standing
    check(campaign, memory)
    campaign.retract(query.id, annotator="ann")
    assert campaign.label_of(query.id) is None


@judged
def test_an_item_that_nobody_can_judge_is_skipped(memory: str, kind: str) -> None:
    campaign = make(memory, kind)
    query = first(campaign)
    campaign.skip(query.id, annotator="ann")
    assert (campaign.counts().skipped, campaign.counts().labels) == (1, 0)
    assert first(campaign).id != query.id


@judged
def test_two_people_agree_if_they_say_the_same_in_any_order_and_else_somebody_settles(
    memory: str, kind: str
) -> None:
    campaign = make(memory, kind, overlap=2)
    query = first(campaign)
    label = label_of(kind, query)
    campaign.tell(query.id, label, annotator="ann")
    assert campaign.label_of(query.id) is None
    turned = mp.Label(label.kind, tuple(reversed(label.grades)), label.otherwise)
    campaign.tell(query.id, turned, annotator="bob")
    assert canonical(campaign.label_of(query.id)) == canonical(label)
    assert campaign.agreement().agreed == 1.0
    query = first(campaign)
    campaign.tell(query.id, label_of(kind, query), annotator="ann")
    other = mp.Label.all_wrong() if kind == "grades" else mp.Label.better(*query.candidates)
    if canonical(other) == canonical(label_of(kind, query)):
        other = mp.Label.better(*reversed(query.candidates))
    campaign.tell(query.id, other, annotator="bob")
    (conflict,) = campaign.conflicts()
    assert [canonical(one.label) for one in conflict.opinions] == [
        canonical(label_of(kind, query)),
        canonical(other),
    ]
    campaign.settle(query.id, other, annotator="eve")
    assert canonical(campaign.label_of(query.id)) == canonical(other)
    assert campaign.agreement().agreed == 0.5
    check(campaign, memory)


def test_one_answer_is_graded_once_however_many_models_give_it_and_answers_left_out_are_not_in_the_label(
    memory: str,
) -> None:
    items, campaign = collection(), make(memory, "grades")
    query = first(campaign)
    assert sorted(map(str, query.candidates)) == sorted(said_of(items, query.id))
    best = max(query.candidates, key=grade_of)
    campaign.tell(query.id, {"kind": "grades", "grades": [[best, 1]], "otherwise": None})
    assert campaign.label_of(query.id) == mp.Label.graded({best: 1})


def test_all_wrong_is_one_label_however_it_is_said(memory: str) -> None:
    campaign = make(memory, "grades", overlap=3)
    query = first(campaign)
    campaign.tell(query.id, mp.Label.all_wrong(), annotator="ann")
    campaign.tell(query.id, mp.Label.graded(dict.fromkeys(query.candidates, 0)), annotator="bob")
    campaign.tell(query.id, mp.Label.graded({query.candidates[0]: 0}, otherwise=0), annotator="cid")
    assert campaign.label_of(query.id) == mp.Label.all_wrong()


def test_grades_for_all_others_are_written_out(memory: str) -> None:
    campaign = make(memory, "grades")
    query = first(campaign)
    best = max(query.candidates, key=grade_of)
    campaign.tell(query.id, mp.Label.graded({best: 1}, otherwise=0.25))
    assert campaign.label_of(query.id) == mp.Label.graded(
        {answer: 1.0 if answer == best else 0.25 for answer in sorted(map(str, query.candidates))}
    )


def test_several_acceptable_classes_of_which_one_is_named_are_that_class(memory: str) -> None:
    campaign = make(memory, "several")
    query = first(campaign)
    campaign.tell(query.id, mp.Label.any_of("yes", "yes"))
    assert campaign.label_of(query.id) == "yes"
    assert "yes" in campaign.known_classes()


def test_the_two_answers_to_compare_are_the_leaders_and_its_strongest_rivals(memory: str) -> None:
    items, campaign = collection(), make(memory, "preference")
    judge(campaign, "preference", 12)
    query = first(campaign)
    pair = next(record["pair"] for record in campaign.history(query.id) if record["kind"] == "question")
    said = dict(
        zip(items.models, [items.classes[code] for code in items.predictions[query.id].tolist()], strict=True)
    )
    ranked = [said[str(entry.model)] for entry in campaign.best().standing]
    assert pair == [ranked[0], next(answer for answer in ranked if answer != ranked[0])]
    assert sorted(query.candidates) == sorted(pair)
    again = campaign.pending(1, lease=600, annotator="ann")[0]
    assert again.candidates == query.candidates


def test_an_item_on_which_one_answer_stands_alone_cannot_be_compared_and_is_skipped_at_once(memory: str) -> None:
    rows = [["yes", None, "yes"]] * 5 + [["yes", "no", "no"]] * 5
    pool = mp.ModelCollection(rows, models=["a", "b", "c"])
    campaign = mp.create_campaign(memory, "alone", pool=pool, ask_for="preference", tolerance=0.0)
    found = campaign.pending(10, annotator="ann")
    assert {query.id for query in found} == set(range(5, 10))
    assert campaign.counts().skipped == 5


def test_the_order_of_cards_says_nothing_about_the_models(memory: str) -> None:
    items = collection()
    turned = mp.ModelCollection(
        [
            [items.classes[code] if code >= 0 else None for code in row]
            for row in items.predictions[:, ::-1].tolist()
        ],
        models=list(reversed(items.models)),
    )
    one = mp.create_campaign(memory, "cards", pool=items, ask_for="grades", seed=1)
    shown = {query.id: query.candidates for query in one.pending(40)}
    mp.delete_campaign(memory, "cards")
    other = mp.create_campaign(memory, "cards", pool=turned, ask_for="grades", seed=1)
    again = {query.id: query.candidates for query in other.pending(40)}
    common = shown.keys() & again.keys()
    assert len(common) > 10
    assert all(shown[number] == again[number] for number in common)
    firsts = [said_of(items, number).index(str(shown[number][0])) for number in shown if len(shown[number]) == 3]
    assert len(set(firsts)) == 3


@pytest.mark.parametrize(
    ("kind", "label", "wanted"),
    [
        ("class", mp.Label.all_wrong(), "asks for a class"),
        ("class", mp.Label.better("a", "b"), "asks for a class"),
        ("grades", "spam", "asks for a grade for each answer"),
        ("grades", mp.Label.any_of("a"), "asks for a grade for each answer"),
        ("preference", mp.Label.all_wrong(), "asks for which of two answers is better"),
        ("preference", "spam", "asks for which of two"),
        ("grades", mp.Label.graded({"nobody said this": 1}), "no model answers"),
        ("preference", mp.Label.better("nobody", "said this"), "no model answers"),
        ("grades", {"kind": "grades", "grades": [["a", float("nan")]]}, "grades go from 0"),
        ("grades", {"kind": "grades", "grades": [["a", 2]]}, "grades go from 0"),
        ("grades", {"kind": "grades", "grades": [[str(n), 1] for n in range(20_000)]}, "20,000 grades"),
        ("grades", {"kind": "stars", "grades": [["a", 1]]}, "kind of label"),
        ("grades", {"kind": "grades", "grades": 7}, "is not a label"),
        ("grades", {"kind": "grades", "grades": []}, "no answer has a grade"),
        ("grades", {}, "is not a label"),
        ("grades", [["a", 1]], "list"),
        ("grades", mp.Label.graded({"x" * 10**6: 1}), "no model answers"),
    ],
)
def test_a_label_that_does_not_fit_is_refused_and_the_error_says_what_is_wanted(
    memory: str, kind: str, label: Any, wanted: str
) -> None:
    campaign = make(memory, kind)
    query = first(campaign)
    with pytest.raises(mp.InputError, match=wanted) as found:
        campaign.tell(query.id, label)
    assert len(str(found.value)) < 1_000
    assert campaign.counts().labels == 0


def test_many_labels_are_told_together_or_none(memory: str) -> None:
    campaign = make(memory, "grades")
    queries = campaign.pending(5)
    labels = {query.id: label_of("grades", query) for query in queries}
    with pytest.raises(mp.InputError, match="no model answers"):
        campaign.tell_many({**labels, queries[0].id: mp.Label.graded({"nobody": 1})})
    assert campaign.counts().labels == 0
    campaign.tell_many(labels)
    assert campaign.counts().labels == 5


@pytest.mark.parametrize(
    ("name", "value"), [("ask_for", "stars"), ("ask_for", None), ("same", "fuzzy"), ("same", -1)]
)
def test_a_setting_that_makes_no_sense_is_refused(memory: str, name: str, value: Any) -> None:
    with pytest.raises(mp.InputError, match=f"{name}="):
        mp.create_campaign(memory, "free", pool=collection(5), **{name: value})


def test_a_function_cannot_be_stored_and_the_error_says_what_to_do(memory: str) -> None:
    with pytest.raises(mp.InputError, match="merge_answers"):
        mp.create_campaign(memory, "free", pool=collection(5), same=lambda one, other: True)  # type: ignore[arg-type]


def test_answers_that_count_as_the_same_are_one_card_and_labels_may_be_spelt_in_any_way(memory: str) -> None:
    rows = [["Paris", "paris.", "Lyon"], ["Rome", "Oslo", "ROME"]]
    campaign = mp.create_campaign(
        memory, "same", pool=mp.ModelCollection(rows), ask_for="grades", same="normalised", tolerance=0.0
    )
    shown = {query.id: query for query in campaign.pending(2)}
    assert sorted(shown[0].candidates) == ["Lyon", "Paris"]
    campaign.tell(0, mp.Label.graded({"PARIS!": 1, "lyon": 0}))
    assert campaign.label_of(0) == mp.Label.graded({"Lyon": 0, "Paris": 1})
    with pytest.raises(mp.InputError, match="two grades"):
        campaign.tell(1, mp.Label.graded({"Rome": 1, "rome": 0}))
    added = campaign.add_items(mp.ModelCollection([["3.0", "3", "three"]]))
    assert added.new == 1


def test_numbers_within_the_tolerance_are_one_class_also_in_a_stream(memory: str) -> None:
    campaign = mp.create_campaign(memory, "sums", models=["a", "b", "c"], same=0.01)
    decision = campaign.ask(["1.50", "1.505", "2"])
    assert set(campaign.known_classes()) == {"1.50", "2"}
    campaign.tell(decision.id, "1.499")
    assert campaign.label_of(decision.id) == "1.50"
    mp.create_campaign(memory, "numbers", pool={"a": [1.5, 2.25], "b": [1.504, 3.5]}, same=0.01)


def test_every_label_is_one_cell_of_a_table_and_can_be_found_by_what_it_says(memory: str) -> None:
    campaign = make(memory, "grades")
    told = judge(campaign, "grades", 3)
    columns, rows = as_table(campaign.labels())
    assert "label" in columns
    assert {row["id"]: mp.label.read_label(json.loads(row["label"])).grades for row in rows} == {  # type: ignore[union-attr]
        number: tuple(sorted(label.grades)) for number, label in told.items()
    }
    several = make(memory, "several", "several")
    query = first(several)
    several.tell(query.id, mp.Label.any_of("yes", "maybe"))
    assert [one.id for one in several.labels(mp.LabelFilter(label="maybe"))] == [query.id]


def test_a_backup_holds_labels_of_every_kind(file_url: str, tmp_path: Path) -> None:
    campaign = make(file_url, "grades")
    judge(campaign, "grades", 3)
    copy = tmp_path / "copy.db"
    back_up(open_storage(file_url), copy)
    assert mp.open_campaign(f"sqlite:///{copy}", "free").labels() == campaign.labels()


@judged
def test_a_pool_of_20_000_different_texts_asks_and_learns_and_sends_no_list_of_classes(
    memory: str, kind: str
) -> None:
    rows = [[f"text {place} by {model}" for model in range(2)] for place in range(10_000)]
    campaign = mp.create_campaign(memory, "large", pool=mp.ModelCollection(rows), ask_for=asks(kind))  # type: ignore[arg-type]
    for query in campaign.pending(3):
        one, other = query.candidates
        campaign.tell(
            query.id, mp.Label.graded({one: 1, other: 0}) if kind == "grades" else mp.Label.better(one, other)
        )
    assert campaign.counts().labels == 3
    assert campaign.known_classes() == []


def test_a_campaign_that_asks_for_classes_is_stored_as_it_was_before(memory: str) -> None:
    campaign = make(memory, "class", same="exact")
    old = {name: value for name, value in campaign.settings.document().items() if name not in ("ask_for", "same")}
    assert mp.campaigns.settings.settings_checksum(old) == campaign.settings.checksum
    assert type(campaign.settings).load(old) == campaign.settings


@judged
def test_right_answers_that_come_with_the_items_are_learned_as_classes(memory: str, kind: str) -> None:
    items = collection(20)
    labels = [f"The answer to {place} is {place * 7}" for place in range(20)]
    known = items.with_labels([label if place < 5 else None for place, label in enumerate(labels)])
    campaign = mp.create_campaign(memory, "known", pool=known, ask_for=kind, use_labels=True, tolerance=0.0)  # type: ignore[arg-type]
    assert campaign.counts().references == 5
    judge(campaign, kind, 3)
    check(campaign, memory)
    asked = {one.id for one in campaign.answers() if one.state != "reference"}
    assert not asked & set(range(5))


def test_pick_takes_labels_of_every_kind_from_a_list_a_mapping_and_a_function() -> None:
    items = collection(20)
    grades = [
        mp.Label.graded({answer.upper(): grade_of(answer) for answer in said_of(items, n)}) for n in range(20)
    ]
    settings: dict[str, Any] = {"loss": "grades", "same": "normalised", "tolerance": 0.1}
    by_id = {f"item {place}": label for place, label in enumerate(grades)}
    found = [mp.pick(items, labels, **settings) for labels in (grades, by_id, lambda item: grades[item["item"]])]
    assert [(one.model, one.labels_used, one.reached) for one in found] == [("ada", found[0].labels_used, True)] * 3
    with pytest.raises(mp.InputError, match="is no value of column"):
        mp.pick(items, {"nobody": grades[0]}, loss="grades")
    with pytest.raises(mp.InputError, match="one per item"):
        mp.pick(items, grades[:3], loss="grades")
