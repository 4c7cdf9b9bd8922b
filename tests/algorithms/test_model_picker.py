"""Model Picker's variants, estimates and recommendations, through its public surface."""

import copy
import math

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream, play
from modelpicker.kernels.primitives import weigh


def test_the_first_query_probability_is_that_of_the_paper() -> None:
    decision = mp.ModelPicker(models=3, seed=0).observe([0, 1, 1])
    assert decision.round == 0
    assert decision.probability == pytest.approx(math.sqrt(math.log(3) / 2), rel=1e-12)  # η_1 > 2/9


def test_a_scaled_variance_above_the_floor_counts() -> None:
    decision = mp.ModelPicker(models=3, seed=0, query_scale=4.0).observe([0, 1, 1])
    assert decision.probability == pytest.approx(4 * 2 / 9, rel=1e-12)


def test_a_disagreement_always_has_a_chance() -> None:
    rows, labels = np.tile([0, 1, 1], (3000, 1)), np.ones(3000, dtype=int)
    trace = mp.run_stream(mp.ModelPicker(3, 0, query_scale=1e-9), rows, labels)
    floor = np.sqrt(np.log(3) / (2 * np.arange(1, 3001)))
    assert trace.probability == pytest.approx(np.minimum(1.0, floor), rel=1e-12)


def test_a_late_label_is_weighted_by_the_probability_of_its_round() -> None:
    picker = mp.ModelPicker(models=3, seed=1)
    asked = [decision for decision in (picker.observe([0, 1, 2]) for _ in range(60)) if decision.query]
    assert len({decision.probability for decision in asked}) >= 5
    for decision in reversed(asked):
        picker.learn(decision.round, 1)
    cost = sum(1 / decision.probability for decision in asked)
    assert picker.losses == pytest.approx([cost, 0.0, cost], rel=1e-12)
    assert picker.recommended == 1


def test_a_label_nobody_predicted_counts_against_everybody() -> None:
    picker = mp.ModelPicker(models=["a", "b"], seed=0, query_scale=100.0)
    decision = picker.observe(["cat", "dog"])
    picker.learn(decision.round, "horse")
    assert picker.losses[0] == picker.losses[1] == 1 / decision.probability


def test_weights_are_those_of_the_next_round() -> None:
    picker = mp.ModelPicker(models=4, seed=0)
    assert picker.weights == pytest.approx([0.25] * 4)
    play(picker, *make_stream(0, rounds=80, models=4, classes=3))
    eta = math.sqrt(math.log(4) / (2 * 81))
    expected = np.exp(-eta * (picker.losses - picker.losses.min()))
    assert picker.weights == pytest.approx(expected / expected.sum(), rel=1e-11)


def test_the_exponential_is_accurate_over_its_whole_range() -> None:
    exponents = np.concatenate([np.linspace(0, 92, 5001), np.linspace(92, 700, 500)])
    weights = np.zeros_like(exponents)
    weigh(exponents, 0.0, 1.0, weights)
    error = np.abs(weights / np.exp(-exponents) - 1)
    assert error[exponents <= 92].max() < 2e-10
    assert error[exponents <= 40].max() < 1e-12
    assert (np.diff(weights) <= 0).all()
    far = np.zeros(2)
    weigh(np.array([1e3, 1e300]), 0.0, 1.0, far)
    assert (far > 0).all()
    assert (far < 1e-300).all()


def test_predicting_by_the_leader_follows_the_recommendation() -> None:
    predictions, labels = make_stream(1, rounds=500, models=6, classes=4, abstaining=0.1)
    trace = mp.run_stream(mp.ModelPicker(6, 0, predict="leader"), predictions, labels)
    assert (trace.predicted == predictions[np.arange(500), trace.recommended]).all()


def test_predicting_by_sample_draws_from_the_weights() -> None:
    """Every row shows which model spoke. Over 4,000 seeds of one fixed state, each model's share has a standard
    error below 0.008; 5 of those are allowed."""
    rows = [[0, 1, 2]] * 12
    base = mp.ModelPicker(3, 5, query_scale=50.0)
    play(base, rows, [2] * 12)
    weights = base.weights
    assert weights is not None
    assert 0.02 < weights.min() < weights.max() < 0.98
    counts = np.zeros(3)
    blob = base.state_dict()
    for seed in range(4_000):
        picker = mp.ModelPicker.from_state_dict({**blob, "seed": seed})
        counts[picker.observe([0, 1, 2]).prediction] += 1  # type: ignore[index]
    assert counts / 4_000 == pytest.approx(weights, abs=0.04)


@pytest.mark.slow
def test_a_random_round_recommends_the_model_that_spoke_on_a_uniformly_drawn_round() -> None:
    """200 models say different things, so what was predicted tells who spoke; without labels all are alike. Over
    3,000 seeds and 5 rounds, the recommendation is I_t for a share of 1/5 of the seeds, standard error 0.0073, plus
    a chance of 0.4 % that two rounds draw one model; 4 standard errors and that chance are allowed."""
    hits = np.zeros(5)
    row = list(range(200))
    for seed in range(3_000):
        picker = mp.ModelPicker(200, seed, recommend="random-round")
        said = [picker.observe(row).prediction for _ in range(5)]
        hits += [model == picker.recommended for model in said]
    assert hits / 3_000 == pytest.approx(0.2, abs=4 * 0.0073 + 0.004)


def test_a_random_round_may_be_one_on_which_all_agreed() -> None:
    """After one round, the model that spoke on it is named, and not who stood before: all five are as likely.

    Of 1,000 seeds, each is named by a share of 1/5 with a standard error of 0.013, and 4/5 change; 4 are allowed.
    """
    pickers = [mp.ModelPicker(5, seed, recommend="random-round") for seed in range(1_000)]
    before = np.array([int(picker.recommended) for picker in pickers])
    for picker in pickers:
        assert not picker.observe([1] * 5).query
    after = np.array([int(picker.recommended) for picker in pickers])
    assert np.bincount(after, minlength=5) / 1_000 == pytest.approx(0.2, abs=0.052)
    assert (before != after).mean() == pytest.approx(0.8, abs=0.052)


def test_before_any_label_the_coin_of_round_0_decides() -> None:
    for seed in range(20):
        picker = mp.ModelPicker(7, seed)
        first = picker.recommended
        for row in ([0, 1, 2, 3, 4, 5, 6], [1] * 7, [0, 0, 0, 1, 1, 1, 1]) * 5:
            assert picker.observe(row).recommended == first == picker.recommended


def test_ties_are_broken_evenly() -> None:
    """2,000 seeds, 4 models: a share has a standard error of 0.0097; 5 of those are allowed."""
    counts = np.bincount([int(mp.ModelPicker(4, seed).recommended) for seed in range(2_000)], minlength=4)
    assert counts / 2_000 == pytest.approx(0.25, abs=0.05)
    tied = []
    for seed in range(2_000):
        picker = mp.ModelPicker(4, seed, query_scale=100.0)
        picker.learn(picker.observe([0, 1, 1, 1]).round, 1)
        tied.append(int(picker.recommended))
    counts = np.bincount(tied, minlength=4)
    assert counts[0] == 0
    assert counts[1:] / 2_000 == pytest.approx(1 / 3, abs=0.055)


def test_model_names_given_are_names_returned() -> None:
    picker = mp.ModelPicker(models=["bert", "roberta"], seed=0)
    assert picker.observe(["spam", "ham"]).recommended in ("bert", "roberta")
    assert picker.recommended in ("bert", "roberta")
    trace = mp.run_stream(picker, [["spam", "ham"]] * 300, ["ham"] * 300)
    assert trace.winner == "roberta"
    assert set(trace.recommended.tolist()) <= {0, 1}


def test_a_picker_can_be_copied_and_goes_its_own_way() -> None:
    predictions, labels = make_stream(2, rounds=60, models=3, classes=2)
    picker = mp.ModelPicker(3, 0)
    play(picker, predictions[:30], labels[:30])
    twin = copy.deepcopy(picker)
    play(picker, predictions[30:], labels[30:])
    assert twin.rounds == 30
    play(twin, predictions[30:], labels[30:])
    assert twin.state_dict() == picker.state_dict()
