"""What makes the answers of several people the label of an item: all of them agree, or the majority does."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.results.campaign_report import campaign_report
from tests.campaigns.pools import make
from tests.campaigns.streams import check, state
from tests.campaigns.test_overlap import ask

PEOPLE = ("ann", "bob", "cid", "dan", "eve")
# What people say one after the other; None if they cannot tell. What it comes to: a label, "skip", "conflict", or
# "open" while somebody is still to be asked. By rule, people, answers.
SAID: list[tuple[str, int, str, str]] = [
    ("all", 2, "aa", "a"),
    ("majority", 2, "aa", "a"),
    ("majority", 2, "a", "open"),
    ("majority", 2, "ab", "conflict"),
    ("majority", 2, "a-", "conflict"),
    ("all", 3, "aa", "open"),
    ("all", 3, "aab", "conflict"),
    ("all", 3, "aaa", "a"),
    ("majority", 3, "aa", "a"),
    ("majority", 3, "ab", "open"),
    ("majority", 3, "aba", "a"),
    ("majority", 3, "abb", "b"),
    ("majority", 3, "abc", "conflict"),
    ("majority", 3, "a-a", "a"),
    ("majority", 3, "--", "skip"),
    ("majority", 3, "-ab", "conflict"),
    ("majority", 4, "aabb", "conflict"),
    ("majority", 4, "aba", "open"),
    ("majority", 5, "aa", "open"),
    ("majority", 5, "aaa", "a"),
    ("majority", 5, "ababa", "a"),
    ("majority", 5, "aabbc", "conflict"),
    ("majority", 5, "a-a-", "open"),
    ("majority", 5, "a--a-", "skip"),
]
WORDS = {"a": "ham", "b": "spam", "c": "egg", "-": None}


def say(campaign: mp.Campaign, item: int, answers: str) -> None:
    """Different people say something of an item, one after the other."""
    for person, answer in zip(PEOPLE, answers, strict=False):
        tell(campaign, item, answer, person)


def tell(campaign: mp.Campaign, item: int, answer: str, by: str, **more: Any) -> None:
    if WORDS[answer] is None:
        campaign.skip(item, annotator=by)
    else:
        campaign.tell(item, WORDS[answer], annotator=by, **more)


def became(campaign: mp.Campaign, item: int) -> str:
    """What an item is now, in the words of the table."""
    counts = campaign.counts()
    if counts.conflicts:
        return "conflict"
    if counts.skipped:
        return "skip"
    label = campaign.label_of(item)
    return "open" if label is None else {"ham": "a", "spam": "b", "egg": "c"}[str(label)]


@pytest.mark.parametrize(("rule", "people", "answers", "expected"), SAID)
def test_what_people_say_comes_to_what_the_rule_says(
    memory: str, rule: Any, people: int, answers: str, expected: str
) -> None:
    campaign = make(memory, items=30, overlap=people, overlap_rule=rule, tolerance=0.0, budget=people)
    (item,) = ask(campaign, "ann")
    say(campaign, item, answers)
    assert became(campaign, item) == expected
    counts, labels = campaign.counts(), sum(answer != "-" for answer in answers)
    assert counts.waiting == (expected == "open")
    assert campaign.best().labels_used == labels
    with campaign.reading_state() as (_, projection):
        ordered = people - len(answers) if expected == "open" else 0
        assert projection.left == people - labels - ordered  # who need not be asked costs nothing
    asked = ask(campaign, "zoe", 5)
    assert (item in asked) == (expected == "open")
    check(campaign, memory)


def test_the_third_is_not_asked_and_a_late_answer_changes_nothing(url: str) -> None:
    campaign = make(url, items=30, overlap=3, overlap_rule="majority", tolerance=0.0)
    (item,) = ask(campaign, "ann")
    say(campaign, item, "aa")
    assert item not in ask(campaign, "cid", 5)
    campaign.tell(item, "ham", annotator="cid")
    assert len(campaign.opinions(item)) == 2
    with pytest.raises(mp.ConflictError, match="was answered before"):
        campaign.tell(item, "spam", annotator="cid")
    campaign.tell(item, "spam", annotator="boss", replace=True)
    assert campaign.label_of(item) == "spam"
    check(campaign, url)


def test_an_opinion_that_is_replaced_can_make_a_majority(url: str) -> None:
    campaign = make(url, items=30, overlap=3, overlap_rule="majority", tolerance=0.0)
    (item,) = ask(campaign, "ann")
    say(campaign, item, "abc")
    assert [one.id for one in campaign.conflicts()] == [item]
    tell(campaign, item, "a", "bob", replace=True)
    assert (became(campaign, item), campaign.conflicts()) == ("a", [])
    check(campaign, url)


def test_an_opinion_that_is_taken_back_opens_an_item_only_if_the_majority_is_gone(url: str) -> None:
    campaign = make(url, items=30, overlap=5, overlap_rule="majority", tolerance=0.0)
    (item,) = ask(campaign, "ann")
    say(campaign, item, "abaa")
    before = campaign.certificate()
    campaign.retract(item, annotator="bob")
    assert (became(campaign, item), campaign.certificate()) == ("a", before)
    assert campaign.best().labels_used == 3
    campaign.retract(item, annotator="ann")
    assert (became(campaign, item), campaign.counts().waiting) == ("open", 1)
    check(campaign, url)
    tell(campaign, item, "a", "ann")
    assert became(campaign, item) == "a"
    campaign.tell(item, "egg", annotator="boss", replace=True)
    campaign.retract(item, annotator="boss")  # who said nothing takes back everything
    assert (became(campaign, item), campaign.opinions(item)) == ("open", ())
    check(campaign, url)


def test_what_the_owner_corrected_gives_way_to_the_majority_when_somebody_takes_an_opinion_back(
    memory: str,
) -> None:
    campaign = make(memory, items=30, overlap=5, overlap_rule="majority", tolerance=0.0)
    (item,) = ask(campaign, "ann")
    say(campaign, item, "abaa")
    campaign.tell(item, "egg", annotator="boss", replace=True)
    campaign.retract(item, annotator="bob")
    assert became(campaign, item) == "a"
    check(campaign, memory)


def test_a_label_that_was_given_back_to_the_budget_may_be_spent_when_an_opinion_is_taken_back(memory: str) -> None:
    campaign = make(memory, items=30, overlap=3, overlap_rule="majority", tolerance=0.0, budget=5)
    (first,) = ask(campaign, "ann")
    say(campaign, first, "aa")
    (second,) = ask(campaign, "ann")
    say(campaign, second, "ab")
    assert campaign.best().labels_used == 4
    with pytest.raises(mp.ConflictError, match="the budget is spent by now"):
        campaign.retract(first, annotator="ann")
    assert became(campaign, first) == "a"
    check(campaign, memory)


def test_a_stream_follows_its_majority(url: str, tmp_path: Path) -> None:
    campaign = mp.create_campaign(url, "stream", models=3, seed=1, overlap=3, overlap_rule="majority")
    campaign.ask_many([[0, 1, 1], [1, 0, 1]] * 5)
    first, second, third = [query.id for query in campaign.pending()][:3]
    for item, answers in {first: (1, 1), second: (1, 0, 1), third: (0, 1, 2)}.items():
        for person, answer in zip(PEOPLE, answers, strict=False):
            campaign.tell(item, answer, annotator=person)
    assert [campaign.label_of(item) for item in (first, second, third)] == [1, 1, None]
    assert (campaign.counts().labels, campaign.counts().conflicts) == (2, 1)
    check(campaign, url)
    for ending in ("jsonl", "parquet"):
        campaign.export(tmp_path / f"out.{ending}")
        copy = mp.import_campaign(url, tmp_path / f"out.{ending}", ending)
        assert (state(copy), copy.settings.overlap_rule) == (state(campaign), "majority")
        check(copy, url)


def test_grades_have_a_majority_too_and_the_report_names_the_rule(memory: str) -> None:
    campaign = make(memory, items=30, overlap=3, overlap_rule="majority", ask_for="grades", tolerance=0.0)
    (query,) = campaign.pending(1, lease=600, annotator="ann")
    good = mp.Label.graded(dict.fromkeys(sorted(query.candidates), 1.0))
    bad = mp.Label.graded(dict.fromkeys(query.candidates, 0.0))
    for person, label in zip(PEOPLE, (bad, good, good), strict=False):
        campaign.tell(query.id, label, annotator=person)
    assert (campaign.counts().labels, campaign.label_of(query.id)) == (1, good)
    check(campaign, memory)
    assert campaign_report(campaign).settings["overlap"] == "3 people per item, the majority decides"


@pytest.mark.parametrize("wrong", ["most", "", None, 2])
def test_a_rule_that_there_is_not_is_refused(memory: str, wrong: Any) -> None:
    with pytest.raises(mp.InputError, match="overlap_rule="):
        make(memory, overlap=3, overlap_rule=wrong)
