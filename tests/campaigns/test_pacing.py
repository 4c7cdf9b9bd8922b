"""Pacing: a budget that lasts, is spent, and is never exceeded; as good as tuning with hindsight."""

import math

import numpy as np
import pytest
from benchmarks.pacing import CASES, measure

import modelpicker as mp
from modelpicker.algorithms.budgets import Paced
from modelpicker.algorithms.pacing import FACTOR, SPENT, BudgetPlan, aim, make_plan, new_pace
from modelpicker.algorithms.registry import make_algorithm
from modelpicker.algorithms.run_modes import CAMPAIGN
from modelpicker.algorithms.runner import runner
from modelpicker.algorithms.told_labels import ToldLabel
from tests.campaigns.streams import state, stream
from tests.shared_data import need

REALIZATIONS = 200


def collection_of(name: str) -> mp.ModelCollection:
    """A collection that ships, or one of the shared ones, where they are."""
    return mp.load_collection(name) if name in ("digits", "cifar10") else mp.load_collection(need(name))


@pytest.mark.parametrize("name", ["digits", "emocontext", "drift"])
def test_a_budget_is_spent_and_never_exceeded(name: str) -> None:
    """In each of 200 realizations at each of five budgets: at most the budget, and nine tenths of it, or all."""
    collection = collection_of(name)
    size, budgets = CASES[name]
    for budget in budgets:
        runs = measure(collection, size, budget, REALIZATIONS)
        assert runs.labels.max() <= budget
        assert runs.short(budget) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("digits", marks=pytest.mark.slow),
        "emocontext",
        pytest.param("drift", marks=pytest.mark.slow),
        pytest.param("cifar10", marks=pytest.mark.slow),
    ],
)
def test_pacing_finds_the_best_model_as_often_as_tuning_with_hindsight(name: str) -> None:
    """Within two standard errors of the difference; the seeds are fixed, so it passes always or never."""
    collection = collection_of(name)
    size, budgets = CASES[name]
    tuned = mp.compare(collection, ["model-picker"], budgets, size, REALIZATIONS, budget_rule="hard", tuning="grid")
    for budget in budgets:
        share = measure(collection, size, budget, REALIZATIONS).found.mean()
        row = tuned.row("model-picker", budget)
        error = math.hypot(math.sqrt(share * (1 - share) / REALIZATIONS), row["identification_probability_se"])
        assert share >= row["identification_probability"] - 2 * error


@pytest.mark.parametrize(
    "algorithm", ["label-efficient", "vote-entropy", "structural-committee", "efficient-active"]
)
@pytest.mark.parametrize("expected", [400, None])
def test_every_algorithm_can_be_paced(memory: str, algorithm: str, expected: int | None) -> None:
    predictions, labels = stream(400, models=6)
    campaign = mp.create_campaign(
        memory, "paced", models=6, classes=[0, 1, 2, 3], algorithm=algorithm, budget=50, expected_rounds=expected
    )
    for row, label in zip(predictions.tolist(), labels.tolist(), strict=True):
        decision = campaign.ask(row)
        if decision.query:
            campaign.tell(decision.id, label)
    assert campaign.best().labels_used <= 50
    # Structural committee gives most rounds no chance at all once it is sure, and is not overruled.
    if expected is not None and algorithm != "structural-committee":
        assert campaign.best().labels_used >= 45


@pytest.mark.parametrize("expected", [50, 1_000, 10**9, None])
@pytest.mark.parametrize("kind", ["always", "never at first", "in bursts", "hardly ever"])
def test_the_budget_holds_however_the_stream_behaves(memory: str, expected: int | None, kind: str) -> None:
    """Also if it is shorter or longer than was expected, and if nobody ever answers."""
    rounds = 3_000
    number = np.arange(rounds)
    divided = {
        "always": number >= 0,
        "never at first": number > 2_000,
        "in bursts": number % 500 < 40,
        "hardly ever": number % 400 == 0,
    }[kind]
    predictions = np.where(divided[:, None], np.array([0, 1, 2]), 0)
    campaign = mp.create_campaign(memory, "limits", models=3, budget=20, expected_rounds=expected)
    bought = sum(int(campaign.ask_many(part).queried.sum()) for part in np.array_split(predictions, 30))
    assert bought <= 20
    assert campaign.best().pending == bought
    if expected is not None and expected <= rounds:
        assert bought == min(20, int(divided.sum()))


def test_of_an_unknown_length_something_is_always_left() -> None:
    """After n rounds b / (1 + √(n / 4b)) of a budget b, within 4 % of b: three times the error of the coins."""
    budget = 1_000
    marks = [1_000, 4_000, 16_000, 64_000]
    expected = [budget / (1 + math.sqrt(rounds / (4 * budget))) for rounds in marks]
    for probability in (1.0, 0.01):
        left = []
        picker = mp.LabelEfficient(2, 0, probability=probability)
        pace, plan = new_pace(), make_plan(budget, None)
        for number in range(64_000):
            runner(picker.kernel, CAMPAIGN).observe(
                *picker.views,
                [0, 1],
                picker.coins(number),
                picker.first_spare,
                picker.scale,
                picker.scratch,
                Paced(pace, plan, 0),
            )
            if number + 1 in marks:
                left.append(budget - pace[SPENT])
        assert left == pytest.approx(expected, abs=0.04 * budget)


def test_what_is_aimed_at_is_what_is_left_over_what_is_to_come() -> None:
    pace = np.array([100.0, 999.0, 0.0, 1.0, 0.0, 0.0])
    half = aim(pace, BudgetPlan(200.0, 2_000.0), 1_000)
    assert aim(pace, BudgetPlan(200.0, math.inf), 5) == pytest.approx(100 / (2_000 + 4 * math.sqrt(200_000)))
    assert half == pytest.approx(100 / (961 * (1 - 0.5 / math.sqrt(1_001))))
    assert aim(pace, BudgetPlan(100.0, 2_000.0), 1_000) == 0.0
    assert aim(pace, BudgetPlan(2_000.0, 2_000.0), 1_000) == 1.0
    assert aim(pace, BudgetPlan(200.0, 1_000.0), 1_000) == 1.0


def test_paced_estimates_are_unbiased_by_brute_force_over_every_coin() -> None:
    """Every sequence of outcomes of a short stream, each weighted by its probability: exact except for rounding."""
    predictions = [[0, 1, 1], [0, 0, 1], [1, 0, 2], [2, 2, 0], [0, 1, 0]]
    labels = [0, 1, 2, 2, 1]
    picker = make_algorithm(mp.ModelPicker, 3, 0, {})
    plan = make_plan(6, 60)
    expected = np.zeros(3)
    outcomes = 0

    def go(number: int, weight: float, twin: mp.Algorithm, pace: np.ndarray) -> None:
        nonlocal expected, outcomes
        if number == len(predictions):
            expected = expected + weight * twin.losses
            outcomes += 1
            return
        for coin in (0.0, 1.0 - 2.0**-53):
            mine, own = type(twin).from_state_dict(twin.state_dict()), pace.copy()
            coins = [coin, *mine.coins(number)[1:]]
            query, probability, _, _ = runner(mine.kernel, CAMPAIGN).observe(
                *mine.views, predictions[number], coins, mine.first_spare, 1.0, mine.scratch, Paced(own, plan, 0)
            )
            if query != (coin == 0.0):
                continue  # a query that is certain has one outcome
            if query:
                mine.take_in(number, predictions[number], ToldLabel(labels[number]), probability)
            go(number + 1, weight * (probability if query else 1.0 - probability), mine, own)

    go(0, 1.0, picker, new_pace())
    truth = (np.array(predictions) != np.array(labels)[:, None]).sum(axis=0)
    assert outcomes >= 8
    assert np.allclose(expected, truth, atol=1e-12)


def test_the_factor_stays_within_bounds_when_nothing_can_be_bought_for_long(memory: str) -> None:
    campaign = mp.create_campaign(memory, "bounds", models=2, budget=10**6, expected_rounds=10**7)
    campaign.ask_many(np.tile([[0, 1]], (5_000, 1)))
    assert 0 < state(campaign)["pace"][FACTOR] < math.inf
