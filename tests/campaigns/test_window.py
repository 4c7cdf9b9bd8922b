"""Campaigns that name the best model of recent rounds: what they tell is of those, and lasts."""

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.results.assembly import make_pick
from modelpicker.campaigns.results.intervals import Spread
from tests.campaigns.streams import MODELS, check, estimates, play, stream

RECENT = {"window": 50}


def test_a_campaign_with_a_window_decides_as_the_bare_picker_does(url: str) -> None:
    predictions, labels = stream(120)
    campaign = mp.create_campaign(url, "recent", models=MODELS, seed=3, options=RECENT)
    picker = mp.ModelPicker(MODELS, 3, window=50)
    for made, row, label in zip(play(campaign, predictions, labels), predictions.tolist(), labels, strict=True):
        decision = picker.observe(row)
        assert made == decision
        if decision.query:
            picker.learn(decision.round, int(label))
    assert estimates(campaign) == dict(zip(MODELS, picker.losses.tolist(), strict=True))
    check(campaign, url)


def test_answers_that_come_late_or_change_are_learned_with_their_rounds(url: str) -> None:
    predictions, labels = stream(150, seed=1)
    campaign = mp.create_campaign(url, "late", models=MODELS, seed=1, options=RECENT | {"query_scale": 0.0})
    prompt = mp.create_campaign(url, "prompt", models=MODELS, seed=1, options=RECENT | {"query_scale": 0.0})
    play(prompt, predictions, labels)
    asked = [made.id for made in campaign.ask_many(predictions) if made.query]
    for number in reversed(asked):
        campaign.tell(number, int(labels[number]))
    assert estimates(campaign) == pytest.approx(estimates(prompt), rel=1e-9)
    check(campaign, url)
    campaign.tell(asked[0], int(labels[asked[0]] + 1) % 3, replace=True)
    campaign.tell(asked[0], int(labels[asked[0]]), replace=True)
    assert estimates(campaign) == estimates(prompt)
    check(campaign, url)


def test_gaps_are_those_of_recent_rounds(memory: str) -> None:
    """The first model is right up to round 400, the second from there on: 8 windows later the gap is all but 1."""
    campaign = mp.create_campaign(memory, "gap", models=["old", "new"], options=RECENT | {"query_scale": 1e9})
    decisions = campaign.ask_many(np.tile([0, 1], (800, 1)))
    campaign.tell_many({made.id: int(made.id >= 400) for made in decisions if made.query})
    pick = campaign.best()
    assert pick.model == "new"
    assert {entry.model: entry.gap for entry in pick.standing} == {
        "new": 0.0,
        "old": pytest.approx(1.0 - 2.0 * 0.98**400),
    }
    assert pick.certificate.rounds == 800
    assert pick.certificate.gap < 0.5


def test_the_gap_of_a_newcomer_is_over_the_rounds_since_it_joined(memory: str) -> None:
    options = RECENT | {"query_scale": 1e9}
    campaign = mp.create_campaign(memory, "joined", models=["good", "fair"], seed=1, options=options)
    campaign.tell_many({made.id: 0 for made in campaign.ask_many(np.tile([0, 1], (300, 1))) if made.query})
    campaign.join("late")
    campaign.tell_many({made.id: 0 for made in campaign.ask_many(np.tile([0, 0, 1], (30, 1))) if made.query})
    pick = campaign.best()
    assert pick.model == "good"
    assert {entry.model: entry.gap for entry in pick.standing} == {
        "good": 0.0,
        "fair": pytest.approx(0.98**30, rel=1e-2),
        "late": pytest.approx(1.0),
    }


def test_rounds_that_come_when_the_budget_is_spent_make_no_gap_smaller(memory: str) -> None:
    options = RECENT | {"query_scale": 1e9}
    campaign = mp.create_campaign(
        memory, "spent", models=["good", "bad"], budget=300, expected_rounds=300, options=options
    )
    campaign.tell_many({made.id: 0 for made in campaign.ask_many(np.tile([0, 1], (400, 1))) if made.query})
    pick = campaign.best()
    assert (pick.rounds, pick.covered) == (400, 300)
    assert pick.standing[1].estimate == pytest.approx(50 * 0.98**100 * (1 - 0.98**300))
    assert pick.standing[1].gap == pytest.approx(1.0)


def test_rough_intervals_are_left_out(memory: str) -> None:
    campaign = mp.create_campaign(memory, "rough", models=MODELS, options=RECENT)
    play(campaign, *stream(80))
    spread = Spread()
    with campaign.reading() as (log, projection):
        spread.follow(log, projection)
        assert spread.intervals(make_pick(log, projection), log) == {}


def test_a_window_that_makes_no_sense_is_refused_before_anything_is_stored(memory: str) -> None:
    for options in ({"window": "500"}, {"window": -1}, RECENT | {"recommend": "random-round"}):
        with pytest.raises(mp.InputError, match=r"^window="):
            mp.create_campaign(memory, "bad", models=MODELS, options=options)
    assert mp.list_campaigns(memory) == []
