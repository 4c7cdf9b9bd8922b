"""Certificates of campaigns: those of the bare picker, whatever happened on the way, and a rule to stop by."""

from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream
from modelpicker.campaigns.export import export_campaign, import_campaign
from tests.campaigns.streams import MODELS, check, play, stream

KINDS: Any = ("stream", "population")


def both(campaign: mp.Campaign) -> list[mp.Certificate]:
    return [campaign.certificate(kind=kind) for kind in KINDS]


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_a_campaign_certifies_what_the_bare_picker_does(url: str, batch: int) -> None:
    predictions, labels = stream(500)
    campaign = mp.create_campaign(url, "c", models=MODELS)
    bare = mp.ModelPicker(MODELS)
    for start in range(0, 500, batch):
        rows = slice(start, start + batch)
        decisions = campaign.ask_many(predictions[rows])
        campaign.tell_many([(one.id, int(labels[one.id])) for one in decisions if one.query])
        for decision in [bare.observe(row) for row in predictions[rows]]:
            if decision.query:
                bare.learn(decision.round, int(labels[decision.round]))
    assert both(campaign) == [bare.certificate(kind=kind) for kind in KINDS]
    pick = campaign.best()
    assert pick.certificate == bare.certificate()
    assert 0.0 < pick.certificate.gap < 0.5
    assert pick.document()["certificate"]["sentence"] == bare.certificate().sentence
    check(campaign, url)


def test_whatever_happens_on_the_way_the_evidence_is_a_function_of_the_events(url: str) -> None:
    """Late labels, skips, answers replaced and taken back, models that join and leave, a budget that runs out."""
    let_all_happen(url)


def test_so_is_the_evidence_that_is_kept_of_many_models(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few models, for once, three rows, and a log of 70 rounds."""
    for name, value in (("MOST_PAIRED", 1), ("LOG_BYTES", 0), ("FEWEST_ROUNDS", 70)):
        monkeypatch.setattr(f"modelpicker.certificates.leader_recorder.{name}", value)
    monkeypatch.setattr("modelpicker.certificates.leader_rows.MOST_ROWS", 3)
    let_all_happen(memory)


def let_all_happen(url: str) -> None:
    """A campaign to which all that there is happens, and whose state is checked on the way."""
    predictions, labels = make_stream(3, 400, 6, 3)
    campaign = mp.create_campaign(url, "c", models=MODELS, budget=60, expected_rounds=300)
    rng = np.random.default_rng(0)
    waiting: list[int] = []
    for number in range(400):
        if number == 120:
            campaign.join("elk")
        if number == 200:
            campaign.leave("bee")
        width = len(campaign.models)
        decision = campaign.ask(predictions[number, :width].tolist())
        waiting += [decision.id] if decision.query else []
        if waiting and rng.random() < 0.3:
            one = waiting.pop(int(rng.integers(len(waiting))))
            campaign.skip(one) if rng.random() < 0.2 else campaign.tell(one, int(labels[one]))
            if rng.random() < 0.1:
                campaign.tell(one, 1, replace=True)
            elif rng.random() < 0.1:
                campaign.retract(one)
                waiting.append(one)
        if number % 100 == 99:
            check(campaign, url)
    assert campaign.best().covered < 400
    assert {record["kind"] for record in campaign.history()} == {"ask", "label", "skip", "retract", "join", "leave"}
    assert any(record["replaces"] for record in campaign.history() if record["kind"] == "label")
    check(campaign, url)


def test_answers_that_are_missing_cost(memory: str) -> None:
    predictions, labels = stream(300, models=4)
    prompt = mp.create_campaign(memory, "prompt", models=MODELS, options={"query_scale": 10.0})
    late = mp.create_campaign(memory, "late", models=MODELS, options={"query_scale": 10.0})
    play(prompt, predictions, labels)
    decisions = [one for one in late.ask_many(predictions) if one.query]
    gaps = [[one.gap for one in both(late)]]
    for place, one in enumerate(decisions):
        late.skip(one.id) if place % 5 == 0 else late.tell(one.id, int(labels[one.id]))
    gaps.append([one.gap for one in both(late)])
    for one in decisions[::5]:
        late.tell(one.id, int(labels[one.id]), replace=True)
    gaps.append([one.gap for one in both(late)])
    for waiting, skipped, complete in zip(*gaps, strict=True):
        assert waiting > skipped > complete


def test_once_the_budget_is_spent_the_population_is_known_as_before_and_the_stream_less(url: str) -> None:
    predictions, labels = stream(600, models=4)
    campaign = mp.create_campaign(url, "c", models=MODELS, budget=150, expected_rounds=250)
    play(campaign, predictions[:300], labels[:300])
    assert campaign.best().labels_used == 150
    before, rounds = both(campaign), campaign.best().rounds
    covered = campaign.best().covered
    for row in predictions[300:330].tolist():
        assert not campaign.ask(row).query
    campaign.ask_many(predictions[330:])
    after = both(campaign)
    assert after[1].gap == before[1].gap
    assert after[0].items is not None
    assert before[0].items is not None
    assert after[0].items > before[0].items
    assert (campaign.best().covered, campaign.best().rounds) == (covered, rounds + 300)
    check(campaign, url)


def test_who_joins_late_is_not_known_from_what_another_model_did(memory: str) -> None:
    predictions, labels = stream(400, models=4)
    campaign = mp.create_campaign(memory, "c", models=MODELS, options={"query_scale": 20.0})
    play(campaign, predictions[:300], labels[:300])
    before = both(campaign)
    assert before[1].gap < 0.2
    campaign.join("elk")
    joined = both(campaign)
    assert [one.gap for one in joined] == [1.0, 1.0]
    assert joined[1].sentence == "Not proven yet."
    rows = np.concatenate([predictions[300:], predictions[300:, :1]], axis=1)
    play(campaign, rows, labels[300:])
    since = both(campaign)
    assert since[0].rounds == since[1].rounds == 100
    assert since[1].gap < 1.0
    assert "Proven: no model that takes part now is more accurate than" in since[0].sentence
    assert since[1].sentence.endswith("; a model that joined late is compared on the items since then.")
    campaign.leave("elk")
    left = both(campaign)
    assert left[1].gap < 0.2
    assert "joined late" not in left[1].sentence
    assert "than the best model that takes part now" in left[1].sentence
    check(campaign, memory)


@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_asks_for_nothing_while_it_is_certified(memory: str, kind: Any) -> None:
    """For a population, that is permanently; on the stream, what is not asked about counts against it in the
    end."""
    predictions, labels = stream(1500, models=4)
    rule = mp.Certified(gap=0.1, confidence=0.9, kind=kind)
    campaign = mp.create_campaign(memory, "c", models=MODELS, stop_when=rule, options={"query_scale": 10.0})
    free = mp.create_campaign(memory, "free", models=MODELS, options={"query_scale": 10.0})
    seen: list[bool] = []
    for row, label in zip(predictions.tolist(), labels.tolist(), strict=True):
        certified = campaign.best().certified
        decision, other = campaign.ask(row), free.ask(row)
        assert not (certified and (decision.query or decision.probability > 0.0))
        seen.append(certified)
        for one, run in ((decision, campaign), (other, free)):
            if one.query:
                run.tell(one.id, label)
        if not any(seen):
            assert decision == other
    first = seen.index(True)
    assert first >= 10
    assert campaign.best().certificate.gap <= 0.1 + (kind == "stream") * 0.01
    assert campaign.best().labels_used < free.best().labels_used
    assert all(seen[first:]) == (kind == "population")
    assert campaign.settings.stop_when == rule
    check(campaign, memory)


def test_a_rule_to_stop_is_kept_with_the_campaign(url: str, tmp_path: Any) -> None:
    rule = mp.Certified(gap=0.02, confidence=0.8, kind="stream")
    campaign = mp.create_campaign(url, "c", models=MODELS, stop_when=rule)
    assert mp.open_campaign(url, "c").settings.stop_when == rule
    export_campaign(campaign, tmp_path / "c.jsonl")
    again = import_campaign(url, tmp_path / "c.jsonl", name="again")
    assert again.settings.stop_when == rule
    assert campaign.best().certificate.confidence == 0.8
    assert mp.create_campaign(url, "without", models=MODELS).settings.stop_when is None


@pytest.mark.parametrize("rule", [0.01, "certified", {"gap": 2}, {"gap": 0.01, "colour": 1}, [0.01]])
def test_a_rule_that_is_none_is_refused(url: str, rule: Any) -> None:
    with pytest.raises(mp.InputError, match=r"stop_when=|gap="):
        mp.create_campaign(url, "c", models=MODELS, stop_when=rule)


def test_a_campaign_of_very_many_models_asks_until_it_is_certified(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence is folded on the way; a model leaves, a label is replaced, and all is rebuilt."""
    monkeypatch.setattr("modelpicker.certificates.leader_recorder.LOG_BYTES", 0)
    monkeypatch.setattr("modelpicker.certificates.leader_recorder.FEWEST_ROUNDS", 25)
    campaign = mp.create_campaign(url, "c", models=60, stop_when=mp.Certified(0.3, 0.8, "population"))
    row = [0] + [1] * 30 + [2] * 29
    for _ in range(60):
        asked = campaign.ask(row)
        if asked.query:
            campaign.tell(asked.id, 0)
    best = campaign.best()
    assert best.model == 0
    assert best.certified
    assert best.certificate.gap <= 0.3
    assert not asked.query, "it is certified, so nothing is asked for"
    check(campaign, url)
    campaign.tell(2, 1, replace=True)
    campaign.leave(59)
    campaign.ask(row[:59])
    check(campaign, url)
