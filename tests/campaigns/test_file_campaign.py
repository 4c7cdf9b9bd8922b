"""Campaigns about one file: rounds as `mp.pick` plays them, a budget as a cap, and nothing but that file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.registry import find_algorithm
from modelpicker.campaigns.export import export_campaign, import_campaign
from modelpicker.campaigns.file_campaign import (
    Feeder,
    answers_by,
    begin_file_campaign,
    fingerprint_of,
    known_answers,
    read_source,
    with_answers,
)
from modelpicker.campaigns.offline import make_goal
from modelpicker.campaigns.settings import CampaignSettings, settings_checksum
from modelpicker.campaigns.sources import FileSource
from modelpicker.errors import ConflictError, InputError


def names(collection: mp.ModelCollection) -> list[Any]:
    return [collection.classes[code] for code in np.asarray(collection.labels)]


def begin(
    storage: str, collection: mp.ModelCollection, algorithm: str = "model-picker", **goal: Any
) -> mp.Campaign:
    seed = goal.pop("seed", 3)
    wanted, options = make_goal(
        find_algorithm(algorithm),
        {},
        **{"budget": None, "tolerance": None, "confidence": 0.95, "certificate": None} | goal,
    )
    source = FileSource("digits", fingerprint_of(collection), {})
    return begin_file_campaign(
        storage, "digits", collection, source, wanted, algorithm=algorithm, options=options, seed=seed
    )


def play(campaign: mp.Campaign, collection: mp.ModelCollection, most: int = 10**9) -> str:
    """Answer truly until nothing is asked for any more, or often enough; how feeding ended."""
    labels, feeder = names(collection), Feeder(campaign, collection, use_known=False)
    for _ in range(most):
        while (fed := feeder.feed()) == "going on":
            pass
        if fed != "query":
            return fed
        (query,) = campaign.pending()
        campaign.tell(query.id, labels[int(str(query.key).removeprefix("row-")) - 1])
    return "enough"


CASES: list[tuple[str, dict[str, Any], str]] = [
    ("model-picker", {}, "end"),
    ("model-picker", {"budget": 20}, "budget"),
    ("model-picker", {"tolerance": 0.3}, "certified"),
    ("race", {"tolerance": 0.05}, "won"),
    ("race", {"budget": 20}, "budget"),
    ("vote-entropy", {"budget": 30}, "budget"),
    ("label-efficient", {"budget": 30}, "budget"),
    ("importance-weighted", {"budget": 30}, "budget"),
]


@pytest.mark.parametrize(("algorithm", "goal", "ended"), CASES)
def test_its_rounds_are_those_of_a_pick_with_the_same_labels(
    memory: str, algorithm: str, goal: dict[str, Any], ended: str
) -> None:
    collection = mp.load_collection("digits")
    campaign = begin(memory, collection, algorithm, **goal)
    assert play(campaign, collection) == ended
    theirs, ours = campaign.best(), mp.pick(collection, algorithm=algorithm, seed=3, **goal)
    assert (theirs.rounds, theirs.labels_used) == (ours.rounds, ours.labels_used)
    assert (theirs.model, theirs.standing, theirs.tied) == (ours.model, ours.standing, ours.tied)
    assert (theirs.certificate, theirs.state) == (ours.certificate, ours.state)


@pytest.mark.parametrize("rule", ["cap", "paced"])
def test_a_cap_asks_as_the_algorithm_does_until_the_budget_is_spent(memory: str, rule: Any) -> None:
    collection = mp.load_collection("digits")
    campaign = mp.create_campaign(memory, "c", models=collection.models, budget=20, seed=3, budget_way=rule)
    picker, labels = mp.ModelPicker(collection.models, seed=3), names(collection)
    same = []
    for row, label in zip(collection.predictions[:300], labels, strict=False):
        said = [collection.classes[code] for code in row]
        decision, alone = campaign.ask(said), picker.observe(said)
        same.append((decision.query, decision.probability) == (alone.query, alone.probability))
        if decision.query:
            campaign.tell(decision.id, label)
        if alone.query:
            picker.learn(alone.round, label)
        if campaign.best().labels_used == 20:
            break
    assert all(same) == (rule == "cap")
    if rule == "cap":
        assert not campaign.ask_many(collection.take(range(300, 400))).queried.any()


def test_a_skip_gives_its_label_back_to_a_cap(memory: str) -> None:
    campaign = mp.create_campaign(
        memory, "c", models=["a", "b"], budget=1, budget_way="cap", options={"query_scale": 1e9}
    )
    first = campaign.ask(["cat", "dog"])
    assert first.query
    assert not campaign.ask(["cat", "dog"]).query
    campaign.skip(first.id)
    assert campaign.ask(["cat", "dog"]).query


def test_settings_that_are_as_before_are_stored_as_before() -> None:
    paced = CampaignSettings.check(models=["a", "b"], budget=9)
    older = {name: value for name, value in paced.document().items() if name != "budget_way"}
    assert settings_checksum(older) == settings_checksum(paced.document())
    assert "source" not in older
    cap = CampaignSettings.check(models=["a", "b"], budget=9, budget_way="cap")
    assert cap.document()["budget_way"] == "cap"
    assert settings_checksum(cap.document()) != settings_checksum(paced.document())
    assert CampaignSettings.load(cap.document()) == cap
    with pytest.raises(InputError, match="one of 'paced', 'cap'"):
        CampaignSettings.check(models=["a", "b"], budget=9, budget_way="hard")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_it_is_exported_and_imported_with_its_file(memory: str, tmp_path: Path, ending: str) -> None:
    collection = mp.load_collection("digits")
    campaign = begin(memory, collection, budget=9)
    play(campaign, collection, most=4)
    export_campaign(campaign, tmp_path / f"x.{ending}")
    back = import_campaign(f"sqlite:///{tmp_path}/x.db", tmp_path / f"x.{ending}")
    assert back.settings == campaign.settings
    assert play(back, collection) == "budget"
    assert back.best().standing == mp.pick(collection, setting="stream", budget=9, seed=3).standing


@pytest.mark.parametrize(
    "source", ["digits", {"file": 3}, {"file": "x"}, {"file": "x", "fingerprint": "y", "reading": {}, "more": 1}]
)
def test_a_source_that_is_none_is_refused(tmp_path: Path, memory: str, source: object) -> None:
    mp.create_campaign(memory, "c", models=["a", "b"])
    export_campaign(mp.open_campaign(memory, "c"), tmp_path / "x.jsonl")
    header, *rest = (tmp_path / "x.jsonl").read_text().splitlines()
    document = {**json.loads(header), "source": source}
    (tmp_path / "x.jsonl").write_text("\n".join([json.dumps(document), *rest]) + "\n")
    with pytest.raises(InputError, match=r"x\.jsonl: "):
        import_campaign(memory, tmp_path / "x.jsonl", "d")


def test_another_file_and_other_items_are_conflicts(memory: str) -> None:
    collection = mp.load_collection("digits")
    campaign = begin(memory, collection)
    play(campaign, collection, most=1)
    for other, match in (
        (collection.take(range(1, len(collection))), "digits has changed since"),
        (mp.synthetic_collection(9, 3, 3, [0.5, 0.6, 0.7], seed=1), "its models are"),
    ):
        with pytest.raises(ConflictError, match=match):
            Feeder(campaign, other, use_known=False)
    campaign.ask_item([collection.classes[code] for code in collection.predictions[0]], None, None)
    with pytest.raises(ConflictError, match="asked about other items"):
        Feeder(campaign, collection, use_known=False)
    with pytest.raises(ConflictError, match="is not of a file"):
        Feeder(mp.create_campaign(memory, "d", models=["a", "b"]), collection, use_known=False)


def test_known_labels_are_told_and_not_asked_for(memory: str) -> None:
    collection = mp.load_collection("digits")
    campaign = begin(memory, collection, budget=30)
    feeder = Feeder(campaign, collection, use_known=True)
    while (fed := feeder.feed()) == "going on":
        pass
    assert fed == "budget"
    assert campaign.best().standing == mp.pick(collection, setting="stream", budget=30, seed=3).standing
    assert len(answers_by(campaign, "file")) == 30


def test_answers_are_found_again_by_what_is_shown_of_the_items(tmp_path: Path) -> None:
    collection = mp.load_collection("digits")
    campaign = begin(f"sqlite:///{tmp_path}/x.db", collection)
    play(campaign, collection, most=5)
    labels = names(collection)
    told = [one for one in campaign.answers() if one.state == "labelled"]
    assert len(told) == len(known_answers(campaign)) == 5
    assert all(labels[int(str(one.key)[4:]) - 1] == one.label for one in told)
    assert with_answers(collection, tmp_path / "x.db").labelled == 5
    campaign.retract(str(told[0].key))
    assert len(known_answers(campaign)) == 4
    with pytest.raises(InputError, match="has no label for these items"):
        with_answers(collection.take(range(len(collection) - 9, len(collection))), tmp_path / "x.db")
    assert campaign.settings.source is not None
    assert read_source(campaign.settings.source) == collection


def test_the_state_names_the_command_that_goes_on(memory: str) -> None:
    collection = mp.load_collection("digits")
    campaign = begin(memory, collection)
    assert campaign.best().state.next == "Continue with: modelpicker pick digits --as stream"
    play(campaign, collection, most=2)
    state = campaign.best().state
    assert (state.name, state.next) == ("running", "Continue with: modelpicker pick digits --as stream")
    odd = FileSource("a b;rm.csv", "", {}, out="c d.db")
    assert odd.command == "modelpicker pick 'a b;rm.csv' --as stream --out 'c d.db'"


def tickets(order: Sequence[int], models: int = 2) -> mp.ModelCollection:
    """Items with texts; models that disagree on all of them, so that rows alone do not tell items apart."""
    rows = [["cat", "dog", "cat"][:models] if place % 2 else ["dog", "cat", "dog"][:models] for place in order]
    return mp.ModelCollection(rows, fields={"text": [f"text {place}" for place in order]})


def test_items_in_another_order_are_another_file_and_keep_their_own_answers(tmp_path: Path) -> None:
    before, after = tickets(range(8)), tickets([2, 3, 4, 5, 6, 7, 0, 1])
    assert (before.predictions == after.predictions).all()
    campaign = begin(f"sqlite:///{tmp_path}/x.db", before)
    Feeder(campaign, before, use_known=False).feed()
    campaign.tell(0, "cat")
    with pytest.raises(ConflictError, match="other items or other predictions"):
        Feeder(campaign, after, use_known=False)
    found = with_answers(after, tmp_path / "x.db")
    assert found.labels is not None
    assert np.flatnonzero(found.labels >= 0).tolist() == [6]


def test_answers_hold_when_a_model_joins_or_items_are_added(tmp_path: Path) -> None:
    before = tickets(range(8))
    campaign = begin(f"sqlite:///{tmp_path}/x.db", before)
    Feeder(campaign, before, use_known=False).feed()
    campaign.tell(0, "cat")
    for after in (tickets(range(8), models=3), tickets(range(12))):
        assert with_answers(after, tmp_path / "x.db").labelled == 1
        assert mp.pick(after, labels=tmp_path / "x.db").labels_used == 1


def test_a_campaign_of_a_file_takes_no_items_from_elsewhere(tmp_path: Path) -> None:
    campaign = begin(f"sqlite:///{tmp_path}/x.db", tickets(range(8)))
    for ask in (lambda: campaign.ask(["cat", "dog"]), lambda: campaign.ask_many([["cat", "dog"]])):
        with pytest.raises(ConflictError, match=r"takes its items from .*modelpicker pick"):
            ask()
    assert campaign.rounds == 0
    assert not campaign.best().state.takes_items


def test_a_budget_that_somebody_else_holds_is_not_spent(tmp_path: Path) -> None:
    collection = tickets(range(8))
    campaign = begin(f"sqlite:///{tmp_path}/x.db", collection, budget=1)
    feeder = Feeder(campaign, collection, use_known=False)
    assert feeder.feed() == "query"
    assert feeder.feed() == "waiting"
    campaign.tell(campaign.pending()[0].id, "cat")
    assert feeder.feed() == "budget"
