"""Telling: labels in any order, once, twice, changed, taken back; nothing is counted twice."""

from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.campaigns.streams import (
    MODELS,
    check,
    estimates,
    losses_in_round_order,
    play,
    state,
    stream,
    without_times,
)


def asked(url: str, rounds: int = 40, **options: object) -> tuple[mp.Campaign, list[int], np.ndarray, np.ndarray]:
    """A campaign with some rounds, the ids of its queries, and the stream."""
    campaign = mp.create_campaign(url, "telling", models=MODELS, seed=4, **options)  # type: ignore[arg-type]
    predictions, labels = stream(rounds)
    queries = [decision.id for decision in campaign.ask_many(predictions) if decision.query]
    return campaign, queries, predictions, labels


def test_a_label_told_twice_counts_once(url: str) -> None:
    campaign, queries, _, labels = asked(url)
    campaign.tell(queries[0], int(labels[queries[0]]))
    before = state(campaign), without_times(campaign)
    campaign.tell(queries[0], int(labels[queries[0]]))
    mp.open_campaign(url, "telling").tell(queries[0], int(labels[queries[0]]))
    assert (state(campaign), without_times(campaign)) == before
    assert campaign.best().labels_used == 1


def test_another_label_is_a_conflict_and_changes_nothing(url: str) -> None:
    campaign, queries, _, _ = asked(url)
    campaign.tell(queries[0], 1)
    before = state(campaign)
    with pytest.raises(mp.ConflictError, match="was labelled 1 before; pass replace=True"):
        campaign.tell(queries[0], 2)
    assert state(campaign) == before
    check(campaign, url)


def test_a_replaced_label_leaves_estimates_as_if_it_had_never_been_said(url: str) -> None:
    campaign, queries, predictions, labels = asked(url)
    right = {number: int(labels[number]) for number in queries}
    wrong = {number: (right[number] + 1) % 3 for number in queries}
    for number in reversed(queries):
        campaign.tell(number, wrong[number] if number in queries[::3] else right[number])
    for number in queries[::3]:
        campaign.tell(number, right[number], replace=True)
    by_hand = losses_in_round_order(campaign, predictions, right)
    assert [estimates(campaign)[model] for model in MODELS] == by_hand
    assert campaign.best().labels_used == len(queries)
    history = [record for record in campaign.history(queries[0]) if record["kind"] == "label"]
    assert [record["label"] for record in history] == [wrong[queries[0]], right[queries[0]]]
    check(campaign, url)


def test_replacing_gives_the_very_state_of_a_campaign_that_was_told_right_at_once(url: str) -> None:
    campaign, queries, predictions, labels = asked(url)
    twin = mp.create_campaign(url, "twin", models=MODELS, seed=4)
    twin.ask_many(predictions)
    for number in queries:
        campaign.tell(number, 0)
        twin.tell(number, int(labels[number]))
    campaign.tell_many({number: int(labels[number]) for number in queries}, replace=True)
    assert state(campaign) == state(twin)
    more, more_labels = stream(30, seed=9)
    decisions = play(campaign, more, more_labels)
    assert decisions == play(twin, more, more_labels)
    check(campaign, url)


def test_labels_may_come_in_any_order(url: str) -> None:
    campaign, queries, predictions, labels = asked(url)
    order = np.random.default_rng(0).permutation(queries).tolist()
    campaign.tell_many([(number, int(labels[number])) for number in order])
    by_hand = losses_in_round_order(campaign, predictions, dict(enumerate(labels.tolist())))
    assert np.allclose([estimates(campaign)[model] for model in MODELS], by_hand, rtol=1e-12)
    check(campaign, url)


def test_labels_by_key(url: str) -> None:
    campaign = mp.create_campaign(url, "keys", models=2, seed=1)
    decision = campaign.ask([0, 1], key="17")
    assert decision.query
    campaign.tell("17", 0)
    with pytest.raises(mp.NotFoundError, match="nothing was asked with the key '18'"):
        campaign.tell("18", 0)
    assert [record["kind"] for record in campaign.history("17")][:2] == ["ask", "label"]


def test_many_labels_are_all_told_or_none(url: str) -> None:
    campaign, queries, _, _ = asked(url)
    campaign.tell(queries[0], 0)
    before = state(campaign), without_times(campaign)
    entries: list[Any] = [(10_000, 1), (queries[0], 2), (queries[1], "a word"), (queries[1], 1.5), "17", 17]
    for wrong in entries:
        with pytest.raises(mp.ModelPickerError):
            campaign.tell_many([(queries[2], 1), (queries[3], None), wrong])
        assert (state(campaign), without_times(campaign)) == before
    check(campaign, url)


def test_a_skip_changes_no_estimate_and_gives_its_label_back(url: str) -> None:
    campaign, queries, _, _ = asked(url, budget=10, expected_rounds=1000)
    before = estimates(campaign)
    spent = state(campaign)["pace"][0]
    campaign.skip(queries[0])
    campaign.skip(queries[0])
    pick = campaign.best()
    assert estimates(campaign) == before
    assert (pick.skipped, pick.labels_used, pick.pending) == (1, 0, len(queries) - 1)
    assert state(campaign)["pace"][0] == spent - 1
    with pytest.raises(mp.ConflictError, match="was skipped before"):
        campaign.tell(queries[0], 1)
    campaign.tell(queries[0], 1, replace=True)
    assert campaign.best().labels_used == 1
    check(campaign, url)


def test_a_retracted_answer_waits_again(url: str) -> None:
    campaign, queries, predictions, labels = asked(url)
    campaign.tell_many({number: int(labels[number]) for number in queries})
    campaign.retract(queries[1])
    rest = {number: int(labels[number]) for number in queries if number != queries[1]}
    by_hand = losses_in_round_order(campaign, predictions, rest)
    assert [estimates(campaign)[model] for model in MODELS] == by_hand
    assert [query.id for query in campaign.pending()] == [queries[1]]
    campaign.skip(queries[1])
    campaign.retract(queries[1])
    with pytest.raises(mp.ConflictError, match="no answer to take back"):
        campaign.retract(queries[1])
    check(campaign, url)


def test_a_label_of_a_round_that_was_not_queried_is_kept_for_reference(url: str) -> None:
    campaign, queries, _, _ = asked(url)
    other = next(number for number in range(40) if number not in queries)
    before = estimates(campaign)
    campaign.tell(other, 2)
    campaign.tell(other, 2)
    assert estimates(campaign) == before
    assert (campaign.best().references, campaign.best().labels_used) == (1, 0)
    with pytest.raises(mp.ConflictError, match="reference label 2"):
        campaign.tell(other, 1)
    campaign.tell(other, 1, replace=True)
    with pytest.raises(mp.ConflictError, match="nothing to skip"):
        campaign.skip(other)
    assert campaign.best().references == 1
    check(campaign, url)
    campaign.retract(other)
    assert campaign.best().references == 0
    assert estimates(campaign) == before
    check(campaign, url)


def test_labels_come_after_the_budget_is_spent(url: str) -> None:
    campaign, queries, _, labels = asked(url, rounds=60, budget=5, expected_rounds=60)
    assert len(queries) == 5
    assert not campaign.ask([0, 1, 2, 0]).query
    campaign.tell_many({number: int(labels[number]) for number in queries})
    assert campaign.best().labels_used == 5
    assert not campaign.ask([0, 1, 2, 0]).query
    check(campaign, url)


def test_a_budget_is_never_exceeded_by_changing_ones_mind(url: str) -> None:
    campaign, queries, _, _ = asked(url, rounds=30, budget=3, expected_rounds=30)
    campaign.skip(queries[0])
    while not campaign.ask([0, 1, 2, 0]).query:
        assert campaign.best().rounds < 5_000
    with pytest.raises(mp.ConflictError, match="the budget is spent by now"):
        campaign.tell(queries[0], 1, replace=True)
    with pytest.raises(mp.ConflictError, match="the budget is spent by now"):
        campaign.retract(queries[0])
    check(campaign, url)


@pytest.mark.parametrize("number", [-1, 40, 10**30])
def test_a_round_that_does_not_exist_is_not_found(url: str, number: int) -> None:
    campaign, _, _, _ = asked(url)
    for call in (campaign.skip, campaign.retract, campaign.history, lambda n: campaign.tell(n, 0)):
        with pytest.raises(mp.NotFoundError, match="there is no round"):
            call(number)


def test_labels_must_fit_the_classes(url: str) -> None:
    campaign = mp.create_campaign(url, "classes", models=2, classes=["spam", "ham"], seed=1)
    decision = campaign.ask(["spam", "ham"])
    for label, complaint in (("eggs", "'eggs' is not one of the classes"), (2, "2 is not the place"), (1.5, "1.5")):
        with pytest.raises(mp.InputError, match=complaint):
            campaign.tell(decision.id, label)  # type: ignore[arg-type]
    campaign.tell(decision.id, 1)
    assert list(campaign.history(0))[-1]["label"] == "ham"
    for wrong in (None, 1.5, [0], True):
        with pytest.raises(mp.InputError, match="pass the id of a decision"):
            campaign.tell(wrong, "spam")  # type: ignore[arg-type]


def test_the_history_of_a_round_keeps_everything(url: str) -> None:
    campaign, queries, _, _ = asked(url)
    number = queries[0]
    campaign.tell(number, 0, annotator="ann")
    campaign.tell(number, 1, replace=True, annotator="bob")
    campaign.retract(number, annotator="bob")
    campaign.skip(number)
    story = [(record["kind"], record.get("label"), record.get("by")) for record in campaign.history(number)]
    assert story == [
        ("ask", None, None),
        ("label", 0, "ann"),
        ("label", 1, "bob"),
        ("retract", None, "bob"),
        ("skip", None, None),
    ]
    whole = [record for record in campaign.history() if record.get("id") == number]
    assert whole == list(campaign.history(number))


def test_the_history_can_be_walked_while_it_grows(url: str) -> None:
    campaign, queries, _, _ = asked(url)
    walked = 0
    for record in campaign.history():
        walked += 1
        if record["kind"] == "ask" and record["query"]:
            campaign.tell(record["id"], 0)
    assert walked == 40
    assert campaign.best().labels_used == len(queries)


def test_after_the_budget_is_spent_rounds_are_no_longer_covered(url: str) -> None:
    campaign, queries, _, labels = asked(url, rounds=60, budget=5, expected_rounds=60)
    campaign.tell_many({number: int(labels[number]) for number in queries})
    assert campaign.best().covered == queries[-1] + 1
    campaign.ask_many(stream(40, seed=3)[0])
    pick = campaign.best()
    assert (pick.rounds, pick.covered) == (100, queries[-1] + 1)
    worst = pick.standing[-1]
    assert worst.gap == pytest.approx((worst.estimate - pick.standing[0].estimate) / pick.covered)
    check(campaign, url)


@pytest.mark.parametrize("labels", [None, 7, "17", b"x", [(0,)], [7]])
def test_labels_that_are_no_pairs_are_refused(memory: str, labels: object) -> None:
    campaign, _, _, _ = asked(memory)
    with pytest.raises(mp.InputError):
        campaign.tell_many(labels)  # type: ignore[arg-type]
