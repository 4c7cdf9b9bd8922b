"""Reports and states name what is measured, in the same words for every loss, and claim no more than is proven."""

import random
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.results.campaign_report import campaign_report
from modelpicker.campaigns.results.report_page import report_page
from modelpicker.label import Label

CLASSES = ["spam", "ham", "urgent"]
ACCURACIES = {"large": 0.9, "small": 0.6}
LOSSES: dict[str, dict[str, Any]] = {
    "accuracy": {},
    "weighted accuracy": {"loss": {"spam": 5}},
    "cost": {"loss": {"spam": {"ham": 5}}},
    "balanced accuracy": {"loss": mp.Loss.balanced({"spam": 1, "ham": 1, "urgent": 1})},
    "grades": {"ask_for": "grades"},
    "preference": {"ask_for": "preference"},
}
CHARTS = {
    "accuracy": "How many more mistakes each model was estimated to make than the model that led by then",
    "weighted accuracy": "How much more each model costs per item than the model that led by then, as a share of",
    "cost": "How much more each model costs per item than the model that led by then, as a share of",
    "balanced accuracy": "How much lower the balanced accuracy of each model is than that of the model that led",
    "grades": "How much lower the mean grade of each model is than that of the model that led by then",
    "preference": "The share of items on which the model that led by then beats each model, minus the share",
}


def labelled(storage: str, loss: str, **more: Any) -> mp.Campaign:
    """A campaign with some labels."""
    draw = random.Random(5)
    truth = [draw.choice(CLASSES) for _ in range(40)]
    rows = [[right if draw.random() < a else draw.choice(CLASSES) for a in ACCURACIES.values()] for right in truth]
    pool = mp.ModelCollection(rows, models=list(ACCURACIES))
    campaign = mp.create_campaign(storage, "words", pool=pool, tolerance=0.05, **LOSSES[loss], **more)
    for _ in range(8):
        for query in campaign.pending(1):
            said, right = list(query.candidates), truth[query.id]
            label: Any = right
            if loss == "grades":
                label = Label.graded({answer: float(answer == right) for answer in said})
            elif loss == "preference":
                first, second = sorted(said, key=lambda answer: answer != right)
                label = Label.better(first, second) if first == right else Label.equal(first, second)
            campaign.tell(query.id, label)
    return campaign


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("price", [None, {"large": 2, "small": 1}])
def test_every_report_names_its_loss_and_no_other(memory: str, loss: str, price: Any) -> None:
    campaign = labelled(memory, loss, price=price)
    page = report_page(campaign_report(campaign))
    assert CHARTS[loss] in page
    assert "Estimated loss" not in page
    assert page.count("mistakes each model") == 2 * (loss == "accuracy")  # below the chart, and for screen readers
    sentence = campaign.best().certificate.sentence
    assert len(sentence) <= 230  # two lines


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_said_of_labels_that_may_be_wrong_is_said_everywhere(memory: str, loss: str) -> None:
    campaign = labelled(memory, loss, label_noise=0.01, budget=6)
    pick = campaign.best()
    noise = "each label is wrong with a probability of at most 1%"
    assert pick.certificate.label_noise == 0.01
    if pick.certificate.gap < 1.0:
        assert f". This holds if {noise}." in pick.certificate.sentence
        assert len(pick.certificate.sentence) <= 330
    if pick.certified or "So far" in pick.state.reason:  # else nothing is claimed
        assert noise in pick.state.reason or "if all labels are right" in pick.state.reason
    assert f"<td>{noise}" in report_page(campaign_report(campaign))


def test_the_accuracy_of_the_pick_says_that_it_takes_labels_for_right() -> None:
    collection = mp.load_collection("digits").take(range(60))
    for noise in (0.0, 0.02):
        pool = mp.PoolPicker(collection, label_noise=noise)
        mp.run_pool(pool, budget=5)
        assert pool.accuracy().sentence.endswith("This assumes that all labels are right.") == bool(noise)
