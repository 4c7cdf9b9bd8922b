"""The five baselines, by examples small enough to do by hand."""

import math

import numpy as np
import pytest

import modelpicker as mp


def test_label_efficient_queries_disagreements_with_its_probability() -> None:
    picker = mp.LabelEfficient(3, 0, probability=0.3)
    assert picker.observe([0, 1, 1]).probability == 0.3
    assert picker.observe([1, 1, 1]).probability == 0.0


@pytest.mark.parametrize(
    ("row", "bits"),
    [
        ([0, 0, 1, 1], 1.0),
        ([0, 1, 2, 3], 2.0),
        ([0, 0, 0, 1], -0.75 * math.log2(0.75) + 0.25 * 2),
        ([0, 0, None, None], 1.0),
        ([None, 1, None, None], -0.75 * math.log2(0.75) + 0.25 * 2),
    ],
)
def test_vote_entropy_is_the_entropy_over_that_of_an_even_vote(row: list[int | None], bits: float) -> None:
    assert mp.VoteEntropy(4, 0, classes=16).observe(row).probability == pytest.approx(bits / 4, rel=1e-14)
    capped = mp.VoteEntropy(4, 0, classes=16, query_scale=100.0)
    assert capped.observe(row).probability == 1.0


def test_vote_entropy_of_a_single_class_leaves_room_for_an_abstention() -> None:
    assert mp.VoteEntropy(4, 0, classes=1).observe([0, 0, None, None]).probability == 1.0


def test_structural_committee_queries_by_how_often_two_drawn_models_differed() -> None:
    """Models 0 and 1 never differ, 2 differs from both on 2 of 4 rounds: the drawn pair decides between q = 0 and
    q = 2/4 at t = 4."""
    probabilities = set()
    for seed in range(60):
        picker = mp.StructuralCommittee(3, seed, beta=0.0)
        for row in ([0, 0, 1], [1, 1, 1], [2, 2, 2], [0, 0, 1]):
            last = picker.observe(row)
        probabilities.add(last.probability)
    assert probabilities == {0.0, 0.5}


def test_structural_committees_posterior_falls_with_every_mistake() -> None:
    picker = mp.StructuralCommittee(3, 1, beta=0.7, disagreement_scale=100.0)
    labels = 0
    while labels < 5:
        decision = picker.observe([0, 1, 2])
        if decision.query:
            picker.learn(decision.round, 2)
            labels += 1
    expected = np.exp(-0.7 * np.array([5, 5, 0]))
    assert picker.weights == pytest.approx(expected / expected.sum(), rel=1e-11)
    assert picker.losses.tolist() == [5, 5, 0]


def test_importance_weighted_drops_models_for_good_and_queries_only_survivors() -> None:
    picker = mp.ImportanceWeighted(3, 0, delta=1.0)
    rows, labels = np.tile([0, 1, 1], (3000, 1)), np.ones(3000, dtype=int)
    trace = mp.run_stream(picker, rows, labels)
    dropped = int(np.argmax(trace.probability == 0.0))
    slack = math.sqrt(8 / (dropped + 1) * math.log(2 * (dropped + 1) * (dropped + 2) * 9))
    assert dropped / (dropped + 1) > slack  # the loser's mean loss, over the bound in the round it is dropped
    assert (trace.probability[:dropped] == 1.0).all()
    assert (trace.probability[dropped:] == 0.0).all()
    assert picker.observe([0, 1, 2]).probability == 1.0  # the survivors disagree
    assert picker.observe([0, 1, 1]).probability == 0.0
    assert picker.recommended in (1, 2)


def test_importance_weighted_does_not_drop_anyone_on_rounds_that_all_agree() -> None:
    """95 late mistakes are above the slack at t = 96 (0.990 > 0.967), and within it again at t = 196."""
    for agreements, probability in ((0, 0.0), (100, 1.0)):
        picker = mp.ImportanceWeighted(2, 0, delta=1.0)
        for decision in [picker.observe([0, 1]) for _ in range(95)]:
            picker.learn(decision.round, 1)
        for _ in range(agreements):
            picker.observe([1, 1])
        assert picker.observe([0, 1]).probability == probability


def test_efficient_active_queries_surely_at_first_and_while_models_are_close() -> None:
    picker = mp.EfficientActive(3, 0, c0=1e-3)
    assert picker.observe([0, 1, 1]).probability == 1.0
    assert picker.observe([0, 1, 1]).probability == 1.0  # no label yet: all errors are equal


def test_efficient_actives_probability_beyond_the_threshold() -> None:
    picker = mp.EfficientActive(3, 0, c0=1e-3)
    picker.learn(picker.observe([0, 1, 1]).round, 1)
    decision = picker.observe([0, 1, 1])
    allowance, gap = 1e-3 * math.log(2), 0.5
    assert gap > math.sqrt(allowance) + allowance
    assert decision.probability == pytest.approx(allowance * (2 * gap + 1) / (2 * gap**2), rel=1e-14)


def test_efficient_active_queries_models_that_are_all_equal_whatever_its_options() -> None:
    picker = mp.EfficientActive(3, c0=1e100, threshold_scale=0.0)
    assert {picker.observe([0, 1, 1]).probability for _ in range(20)} == {1.0}


def test_efficient_actives_gap_is_between_distinct_errors() -> None:
    eager = mp.EfficientActive(4, 0, c0=1e-3, threshold_scale=1e9)
    for label in (1, 2):
        eager.learn(eager.observe([0, 1, 2, 2]).round, label)
    picker = mp.EfficientActive.from_state_dict({**eager.state_dict(), "options": {"c0": 1e-3}})
    # losses 2, 1, 1, 1: the second smallest distinct one is 2
    assert picker.losses.tolist() == [2.0, 1.0, 1.0, 1.0]
    allowance, gap = 1e-3 * math.log(3) / 2, 1 / 3
    expected = allowance * (2 * gap + 1) / (2 * gap**2)
    assert picker.observe([0, 1, 2, 2]).probability == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "picker",
    [
        mp.LabelEfficient(3, 0, probability=0.5),
        mp.VoteEntropy(3, 0, classes=3),
        mp.StructuralCommittee(3, 0, beta=0.5),
        mp.ImportanceWeighted(3, 0, query_scale=0.5),
        mp.EfficientActive(3, 0, c0=0.01),
    ],
    ids=lambda picker: picker.name,
)
def test_baselines_predict_what_their_recommended_model_predicts(picker: mp.Algorithm) -> None:
    draw = np.random.default_rng(0)
    rows, labels = draw.integers(0, 3, (400, 3)), draw.integers(0, 3, 400)
    trace = mp.run_stream(picker, rows, labels)
    assert (trace.predicted == rows[np.arange(400), trace.recommended]).all()
    assert (picker.weights is None) == (picker.name != "structural-committee")
