"""One state at a time, with its reason and one next step: the whole table."""

from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.results.status import TITLES, Facts, find_status

ROW = ["cat", "dog"]
PLAIN = Facts(rounds=0, labels=0, pending=0, budget=None, items=None, proved=False)


def facts(**changes: Any) -> Facts:
    return Facts(**{name: getattr(PLAIN, name) for name in PLAIN.__slots__} | changes)


WRONG = "This holds if each label is wrong with a probability of at most 2%."


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({}, "running", "There are no items yet."),
        ({"rounds": 1}, "running", "1 item was seen so far, and no item waits for a label."),
        ({"rounds": 1_500, "labels": 7}, "running", "1,500 items were seen so far, and no item waits for a label."),
        ({"rounds": 9, "items": 8}, "running", "9 items were seen so far, and no item waits for a label."),
        ({"rounds": 5, "pending": 1}, "waiting-for-labels", "1 item waits for a label."),
        ({"rounds": 5, "pending": 2, "items": 5}, "waiting-for-labels", "2 items wait for a label."),
        ({"rounds": 5, "labels": 2, "pending": 1, "budget": 3}, "waiting-for-labels", "1 item waits for a label."),
        ({"rounds": 5, "labels": 3, "budget": 3}, "budget-spent", "All 3 labels of the budget are bought."),
        ({"rounds": 5, "labels": 1, "budget": 1}, "budget-spent", "The only label of the budget is bought."),
        ({"rounds": 5, "labels": 2, "budget": 3, "items": 5}, "all-items-asked", "All 5 items were seen"),
        ({"rounds": 1, "items": 1}, "all-items-asked", "The only item was seen"),
        ({"rounds": 9, "labels": 2, "pending": 4, "proved": True}, "certified", "The pick is proven."),
        ({"rounds": 9, "labels": 2, "proved": True, "won": 8}, "won", "The race was won after 8 items."),
        ({"rounds": 9, "labels": 2, "won": 8}, "running", "9 items were seen"),  # something has changed since
        (
            {"rounds": 9, "labels": 2, "proved": True, "label_noise": 0.02},
            "certified",
            f"The pick is proven. {WRONG}",
        ),
        (
            {"rounds": 9, "labels": 2, "proved": True, "won": 8, "label_noise": 0.02},
            "won",
            f"The race was won after 8 items. {WRONG}",
        ),
    ],
)
def test_every_state_has_its_reason_and_one_next_step(changes: dict[str, Any], name: str, reason: str) -> None:
    found = find_status(facts(**changes))
    assert found.name == name
    assert found.reason.startswith(reason)
    assert found.next.endswith(".")
    assert found.document() == {
        "name": name,
        "title": TITLES[found.name],
        "reason": found.reason,
        "next": found.next,
        "takes_items": found.takes_items,
    }
    assert found.takes_items == (name not in ("certified", "won", "budget-spent") and "command" not in changes)
    assert found.over == (name in ("certified", "won"))


def test_a_campaign_goes_through_its_states(memory: str) -> None:
    campaign = mp.create_campaign(memory, "c", models=["a", "b"], budget=3, expected_rounds=3)
    assert campaign.best().state.name == "running"
    ids = [campaign.ask(ROW).id for _ in range(3)]
    assert campaign.best().state.name == "waiting-for-labels"
    assert campaign.best().reached is None
    for number in ids:
        campaign.tell(number, "cat")
    assert campaign.best().state.name == "budget-spent"
    campaign.retract(ids[0])
    assert campaign.best().state.name == "waiting-for-labels"
    campaign.skip(ids[0])
    assert campaign.best().state.name == "all-items-asked"


def test_a_won_race_has_reached_its_goal_and_a_model_named_nowhere_in_its_state(memory: str) -> None:
    campaign = mp.create_campaign(
        memory, "c", models=["secret-a", "secret-b"], algorithm="race", options={"tolerance": 0.05}
    )
    while campaign.best().state.name != "won":
        assert campaign.best().reached is False
        campaign.tell(campaign.ask(ROW).id, "dog")
    pick = campaign.best()
    assert (pick.model, pick.reached, pick.certified) == ("secret-b", True, True)
    assert pick.state.reason == f"The race was won after {pick.rounds} items."
    assert pick.certificate.sentence.endswith(" You can stop.")
    assert "secret" not in str(pick.state.document())


@pytest.mark.parametrize("kind", ["stream", "population"])
def test_a_certified_campaign_says_what_is_certified(memory: str, kind: Any) -> None:
    rule = mp.Certified(gap=0.1, kind=kind)
    campaign = mp.create_campaign(memory, "c", models=["a", "b"], stop_when=rule, options={"query_scale": 9.0})
    for number, made in enumerate(campaign.ask_many(np.tile(ROW, (40, 1)).tolist())):
        if made.query:
            campaign.tell(number, "cat")
    pick = campaign.best()
    assert (pick.state.name, pick.reached) == ("certified", True)
    where = "the 40 items seen so far" if kind == "stream" else "all items like these"
    assert pick.state.reason == "The pick is proven."
    assert f"Of {where}" in pick.certificate.sentence
    assert "within 0" not in pick.certificate.sentence


def test_a_finished_campaign_says_how_many_labels_may_be_wrong() -> None:
    found = find_status(facts(proved=True, idle="finished", label_noise=0.02))
    assert found.reason == f"It was finished with a proven pick. {WRONG}"
    assert find_status(facts(idle="finished", label_noise=0.02)).reason.endswith("before the pick was proven.")
