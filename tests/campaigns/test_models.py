"""Models that join and leave: no hidden advantage, and estimates that stay unbiased."""

import numpy as np
import pytest

import modelpicker as mp
from tests.campaigns.streams import MODELS, check, estimates, play, state, stream


def begun(url: str, rounds: int = 40, **options: object) -> mp.Campaign:
    """A campaign that has seen some rounds, with every label told."""
    campaign = mp.create_campaign(url, "models", models=MODELS, seed=2, **options)  # type: ignore[arg-type]
    play(campaign, *stream(rounds))
    return campaign


def test_a_newcomer_starts_level_with_the_leader_and_is_not_named_before_a_label_speaks_for_it(url: str) -> None:
    campaign = begun(url)
    leader = campaign.best().model
    before = estimates(campaign)
    campaign.join("eel")
    after = estimates(campaign)
    assert {model: after[model] for model in MODELS} == before
    assert after["eel"] == before[leader]
    assert campaign.best().model == leader
    newcomer = next(entry for entry in campaign.best().standing if entry.model == "eel")
    assert (newcomer.labels, newcomer.since) == (0, 40)
    assert campaign.models == (*MODELS, "eel")
    check(campaign, url)


def test_decisions_name_no_newcomer_before_a_label_speaks_for_it(url: str) -> None:
    campaign = begun(url)
    campaign.join("eel")
    predictions, _ = stream(60, seed=7, models=5)
    named = {decision.recommended for decision in campaign.ask_many(predictions)}
    named |= {campaign.ask(row).recommended for row in predictions.tolist()}
    assert "eel" not in named
    check(campaign, url)


def test_from_then_on_a_newcomer_is_charged_like_everybody(url: str) -> None:
    campaign = begun(url)
    campaign.join("eel")
    start = estimates(campaign)
    predictions, labels = stream(60, seed=7, models=5)
    charged = dict.fromkeys(campaign.models, 0.0)
    for decision, row, label in zip(play(campaign, predictions, labels), predictions, labels, strict=True):
        if decision.query:
            for model, said in zip(campaign.models, row, strict=True):
                charged[model] += (said != label) / decision.probability
    now = estimates(campaign)
    for model in campaign.models:
        assert now[model] - start[model] == pytest.approx(charged[model])
    newcomer = next(entry for entry in campaign.best().standing if entry.model == "eel")
    since = [record for record in campaign.history() if record["kind"] == "label" and record["id"] >= 40]
    assert newcomer.labels == len(since) >= 5
    check(campaign, url)


def test_late_labels_of_earlier_rounds_keep_a_newcomer_level_with_whom_it_followed(url: str) -> None:
    campaign = mp.create_campaign(url, "late", models=MODELS, seed=2)
    predictions, labels = stream(40)
    queries = [decision.id for decision in campaign.ask_many(predictions) if decision.query]
    campaign.tell_many({number: int(labels[number]) for number in queries[:5]})
    leader = campaign.best().model
    campaign.join("eel")
    campaign.tell_many({number: int(labels[number]) for number in queries[5:]})
    after = estimates(campaign)
    assert after["eel"] == after[leader]
    check(campaign, url)
    campaign.leave(leader)
    campaign.tell(queries[0], (int(labels[queries[0]]) + 1) % 3, replace=True)
    check(campaign, url)


def test_who_leaves_is_gone_and_the_others_stay_as_they_are(url: str) -> None:
    campaign = begun(url)
    before = estimates(campaign)
    campaign.leave("ant")
    after = estimates(campaign)
    assert after == {model: before[model] for model in MODELS if model != "ant"}
    with pytest.raises(mp.InputError, match="'ant' is not a model"):
        campaign.ask({"ant": 0, "bee": 1, "cat": 1, "dog": 1})
    play(campaign, *stream(30, seed=3, models=3))
    campaign.join("ant")
    play(campaign, *stream(30, seed=4, models=4))
    campaign.join("eel")
    campaign.leave("dog")
    play(campaign, *stream(30, seed=5, models=4))
    assert campaign.models == ("bee", "cat", "ant", "eel")
    check(campaign, url)


def test_who_joins_again_starts_level_with_the_leader_like_anybody(url: str) -> None:
    campaign = mp.create_campaign(
        url, "again", models=["good", "fair", "bad"], algorithm="label-efficient", options={"probability": 1.0}
    )
    play(campaign, np.tile([0, 0, 1], (20, 1)), np.zeros(20, dtype=int))
    campaign.leave("bad")
    campaign.join("bad")
    assert estimates(campaign) == {"good": 0.0, "fair": 0.0, "bad": 0.0}
    check(campaign, url)


def test_the_gap_of_a_newcomer_is_over_the_rounds_since_it_joined(memory: str) -> None:
    """Wrong on all of 100 rounds on which the leader is right, after 900 rounds without it: a gap of 100 %."""
    campaign = mp.create_campaign(memory, "gap", models=["good", "fair"], seed=1, options={"query_scale": 1e9})
    old = np.tile([0, 0], (900, 1))
    old[::3, 1] = 1
    decisions = campaign.ask_many(old)
    campaign.tell_many({decision.id: 0 for decision in decisions if decision.query})
    campaign.join("late")
    decisions = campaign.ask_many(np.tile([0, 0, 1], (100, 1)))
    campaign.tell_many({decision.id: 0 for decision in decisions if decision.query})
    gaps = {entry.model: entry.gap for entry in campaign.best().standing}
    assert campaign.best().model == "good"
    assert gaps["fair"] == pytest.approx(0.3)
    assert gaps["late"] == pytest.approx(1.0)


def test_decisions_of_earlier_rounds_name_the_models_of_then(url: str) -> None:
    campaign = mp.create_campaign(url, "then", models=["ant", "bee"], seed=1)
    first = campaign.ask(["x", "y"], key="first")
    campaign.join("cat")
    campaign.leave("ant")
    assert campaign.ask(["x", "y"], key="first") == first
    assert campaign.ask_many([["x", "y"], ["y", "x"]], keys=["first", None])[0] == first


@pytest.mark.parametrize(
    ("change", "error", "complaint"),
    [
        (lambda c: c.join("ant"), mp.ConflictError, "takes part already"),
        (lambda c: c.join(1.5), mp.InputError, "names are strings or integers"),
        (lambda c: c.leave("eel"), mp.NotFoundError, "no model 'eel'"),
    ],
)
def test_changes_that_make_no_sense_are_refused(memory: str, change: object, error: type, complaint: str) -> None:
    campaign = begun(memory)
    before = state(campaign)
    with pytest.raises(error, match=complaint):
        change(campaign)  # type: ignore[operator]
    assert state(campaign) == before


def test_the_last_two_models_stay(memory: str) -> None:
    campaign = mp.create_campaign(memory, "two", models=2)
    with pytest.raises(mp.ConflictError, match="nothing to choose"):
        campaign.leave(0)


@pytest.mark.parametrize(
    "algorithm", ["model-picker", "structural-committee", "importance-weighted", "efficient-active"]
)
def test_every_algorithm_goes_on_with_other_models(url: str, algorithm: str) -> None:
    campaign = mp.create_campaign(url, algorithm, models=MODELS, seed=2, algorithm=algorithm)
    play(campaign, *stream(40))
    campaign.join("eel")
    campaign.leave("bee")
    play(campaign, *stream(40, seed=3))
    assert len(campaign.best().standing) == 4
    check(campaign, url)


@pytest.mark.slow
def test_estimates_of_a_newcomer_are_unbiased_from_its_first_round_on(memory: str) -> None:
    """Over 200 seeds, its mean charge minus the leader's is the true difference, within four standard errors.

    A normal mean is outside of that in 1 of 15,000 tests; the seeds are fixed.
    """
    predictions, labels = stream(30, seed=11, models=5, classes=2)
    earlier, earlier_labels = stream(15, seed=12, models=4, classes=2)
    truth = (predictions != labels[:, None]).sum(axis=0)
    found = []
    for seed in range(200):
        campaign = mp.create_campaign(
            memory, f"seed {seed}", models=MODELS, seed=seed, budget=40, expected_rounds=150
        )
        play(campaign, earlier, earlier_labels)
        campaign.join("eel")
        start = estimates(campaign)
        play(campaign, predictions, labels)
        now = estimates(campaign)
        found.append([now[model] - start[model] for model in campaign.models])
        assert campaign.best().labels_used < 40  # the budget never cut a stream short
    differences = np.array(found)[:, 4:] - np.array(found)[:, :4]
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (abs(differences.mean(axis=0) - (truth[4] - truth[:4])) < 4 * error).all()
