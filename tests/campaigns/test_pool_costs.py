"""Losses, prices and noise of a campaign on a pool: what a bare pool says, stored, rebuilt, exported and grown."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.pool_costs import PoolCosts
from modelpicker.campaigns.results.campaign_report import campaign_report
from modelpicker.campaigns.settings import settings_checksum
from tests.campaigns.pools import collection, label, make, truth
from tests.campaigns.streams import MODELS, check, state

PRICES = {name: float(place) for place, name in enumerate(MODELS)}
GIVEN: dict[str, dict[str, Any]] = {
    "weights": {"loss": {"ham": 5}},
    "costs": {"loss": {"ham": {"spam": 3, None: 2}}},
    "balanced": {"loss": "balanced"},
    "a loss": {"loss": mp.Loss.balanced({"ham": 0.1, "spam": 0.6, "egg": 0.3})},
    "prices": {"price": PRICES},
    "prices in a list": {"price": list(PRICES.values())},
    "noise": {"label_noise": 0.02},
    "all": {"loss": {"egg": 2}, "price": PRICES, "label_noise": 0.01},
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_a_campaign_says_what_a_bare_pool_with_the_same_costs_says(memory: str, given: dict[str, Any]) -> None:
    items = collection(80)
    campaign = make(memory, items=80, tolerance=0.05, **given)
    asked = label(campaign, items, 25)
    shares = dict.fromkeys(items.classes, 0)
    for place in range(80):
        shares[truth(items, place)] += 1
    loss = mp.Loss.balanced(shares) if given.get("loss") == "balanced" else given.get("loss")
    bare = mp.PoolPicker(collection(80, labelled=False), seed=3, tolerance=0.05, **{**given, "loss": loss})
    bare.error_share = 0.75  # a campaign keeps some of the error for items that come later
    for item in asked:
        assert bare.ask(1) == [item]
        bare.tell(item, truth(items, item))
    pick = campaign.best()
    assert pick.certificate == bare.certificate(0.95)
    assert (pick.model, pick.saved_per_item) == (bare.recommended, bare.saved_per_item)
    check(campaign, memory)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_costs_come_through_a_correction_new_items_new_classes_and_an_export(
    url: str, tmp_path: Path, ending: str
) -> None:
    items = collection(60)
    campaign = make(url, items=60, tolerance=0.02, **GIVEN["all"])
    asked = label(campaign, items, 10)
    campaign.tell(asked[0], "toast", annotator="ann", replace=True)
    campaign.add_items([["tea", "tea", "ham", "tea"], ["tea", "egg", "egg", "egg"]] * 5)
    check(campaign, url)
    for query in campaign.pending(3, lease=60, annotator="bob"):
        campaign.tell(query.id, "tea" if query.id >= 60 else "ham", annotator="bob")
    campaign.revise(stop_when=mp.Certified(gap=0.1, kind="population"))
    check(campaign, url)
    campaign.export(tmp_path / f"out.{ending}")
    copy = mp.import_campaign(url, tmp_path / f"out.{ending}", "copy")
    assert (state(copy), copy.settings) == (state(campaign), campaign.settings)
    check(copy, url)


def test_campaigns_without_costs_are_stored_as_they_were(memory: str) -> None:
    plain = make(memory)
    same = make(memory, "same", loss="accuracy", price=None, label_noise=0.0)
    assert set(plain.settings.options) == {"tolerance", "confidence"}
    assert settings_checksum(plain.settings.document()) == settings_checksum(same.settings.document())
    assert "overlap_rule" in plain.settings.document()
    older = {name: value for name, value in plain.settings.document().items() if name != "overlap_rule"}
    assert settings_checksum(older) == plain.settings.checksum


def test_classes_that_are_numbers_may_be_named_by_text_as_json_has_them(memory: str) -> None:
    pool = [[0, 1], [1, 0], [1, 1], [0, 1]] * 5
    by_text = mp.create_campaign(memory, "text", pool=pool, loss={"1": 5}, tolerance=0.0)
    by_number = mp.create_campaign(memory, "number", pool=pool, loss={1: 5}, tolerance=0.0)
    for campaign in (by_text, by_number):
        for query in campaign.pending(4, lease=60):
            campaign.tell(query.id, 1)
    assert by_text.best().certificate == by_number.best().certificate
    assert mp.PoolPicker(pool, loss={"1": 5}).loss == mp.PoolPicker(pool, loss={1: 5}).loss
    texts = mp.PoolPicker([["0", "1"]] * 5, loss={1: 5}).loss
    assert texts.losses("1", ["1", "0"]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"loss": "macro-f1"}, "estimated, and cannot be certified"),
        ({"loss": "Macro F1"}, r"macro_f1\(\)"),
        ({"loss": "best"}, "loss 'best'"),
        ({"loss": {"ham": -1}}, "must be a number from 0"),
        ({"loss": "grades"}, "ask_for='grades'"),
        ({"loss": {"ham": 5}, "ask_for": "grades"}, "a loss of its own"),
        ({"price": {"ant": 1}}, "give a price for every model"),
        ({"price": dict.fromkeys(MODELS, -1)}, "must be a number from 0"),
        ({"label_noise": 0.5}, "label_noise"),
        ({"label_noise": "much"}, "label_noise"),
    ],
)
def test_costs_that_make_no_sense_make_no_campaign(memory: str, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(mp.InputError, match=words):
        make(memory, **wrong)
    assert mp.list_campaigns(memory) == []


def test_balanced_accuracy_needs_labels(memory: str) -> None:
    with pytest.raises(mp.InputError, match="none of the 20 items has a label"):
        mp.create_campaign(memory, "x", pool=collection(20, labelled=False), loss="balanced")


def test_pick_refuses_macro_f1_for_pools_and_streams() -> None:
    for setting in ("pool", "stream"):
        with pytest.raises(mp.InputError, match="estimated, and cannot be certified"):
            mp.pick("digits", loss="macro-f1", setting=setting)


def test_too_many_classes_for_a_table_of_costs_are_refused_before_they_are_stored(memory: str) -> None:
    campaign = mp.create_campaign(memory, "many", pool=[["a", "b"]] * 3, loss={"a": 2})
    rows = [[f"x{place}", f"y{place}"] for place in range(1_100)]
    with pytest.raises(mp.InputError, match="takes at most 2,048"):
        campaign.add_items(rows)
    assert campaign.best().rounds == 3
    check(campaign, memory)


def test_the_report_names_the_loss_the_prices_and_the_noise(memory: str) -> None:
    settings = campaign_report(make(memory, **GIVEN["all"])).settings
    assert settings["loss"] == "weighted accuracy (a mistake costs 2 where egg is right, 1 elsewhere)"
    assert settings["price"] == "ant 0, bee 1, cat 2, dog 3 per item"
    assert settings["label noise"] == "each label is wrong with a probability of at most 1%"
    assert "loss" not in settings["algorithm"]


def test_of_many_prices_only_the_first_are_named() -> None:
    names = [f"m{place}" for place in range(11)]
    words = PoolCosts.check(None, dict.fromkeys(names, 0.5), 0.0, models=names).facts()["price"]
    assert words.endswith("m6 0.5, m7 0.5 per item; 3 more models")
