"""Model Picker does what the theorems promise, seen by simulation.

Seeds are fixed, so a test that passes continues passing. A mean over runs is taken to keep a bound if it does so
with
three of its standard errors added, where the bound has slack, or subtracted, where it is a probability that the
runs cannot resolve: a true bound would fail one in a thousand such comparisons at worst, under other seeds.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.encoding import Array
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.promises import make_promises, measure_promises
from modelpicker.theory import bounds, hardness_of, restriction_of, sharper
from tests.algorithms.test_paper_facts import alternating, fair_coins, switching, taking_turns, teasing
from tests.shared_data import need


class Runs(NamedTuple):
    """What came of playing one stream again and again: an entry a run."""

    regret: Array
    queries: Array
    winner: Array

    def high(self, what: str) -> float:
        """The mean and three standard errors."""
        values = getattr(self, what)
        return float(values.mean() + 3 * values.std() / math.sqrt(len(values)))


def played(rows: Array, labels: Array, runs: int, **options: Any) -> Runs:
    """Model Picker on one stream, with fresh coins every time."""
    least = (rows != labels[:, None]).sum(axis=0).min()
    found = []
    for seed in range(runs):
        trace = mp.run_stream(mp.ModelPicker(rows.shape[1], seed, **options), rows, labels)
        found.append(((trace.predicted != labels).sum() - least, trace.labels_used, trace.winner))
    return Runs(*np.array(found).T)


def two_in_turn(rounds: int, models: int) -> tuple[Array, Array]:
    """The appendix's example."""
    return alternating(rounds)


def nobody_right(rounds: int, models: int) -> tuple[Array, Array]:
    """Models disagree and are all wrong, with a label that nobody says."""
    return np.tile(np.arange(models), (rounds, 1)), np.full(rounds, models)


def mostly_agreed(rounds: int, models: int) -> tuple[Array, Array]:
    """Models disagree on one round in ten, and abstain on some."""
    draw = np.random.default_rng(5)
    labels = draw.integers(0, 3, rounds)
    rows = np.repeat(labels[:, None], models, axis=1)
    divided = draw.random(rounds) < 0.1
    rows[divided] = draw.integers(-1, 3, (divided.sum(), models))
    return rows, labels


ADVERSARIES = [switching, taking_turns, fair_coins, teasing, two_in_turn, nobody_right, mostly_agreed]


@pytest.mark.parametrize("make", ADVERSARIES)
@pytest.mark.parametrize(("rounds", "models"), [(300, 2), (4_000, 12)])
def test_regret_and_queries_stay_below_their_bounds_on_any_stream(
    make: Callable[[int, int], tuple[Array, Array]], rounds: int, models: int
) -> None:
    """60 runs, three standard errors added."""
    rows, labels = make(rounds, models)
    found = hardness_of(rows, labels)
    runs = played(rows, labels, 60)
    divided = found.disagreement * rounds
    finer = sharper.regret(rounds, found.models, divided)
    assert runs.high("regret") <= finer <= bounds.regret(rounds, found.models)
    finer = sharper.queries(rounds, found.models, found.mistakes, divided)
    assert runs.high("queries") <= finer <= bounds.queries(rounds, found.models, found.mistakes)


@pytest.mark.parametrize("scale", [0.05, 0.3, 3.0, 20.0])
@pytest.mark.parametrize("make", [switching, fair_coins, teasing])
def test_the_regret_stays_below_its_bound_with_other_query_scales(
    make: Callable[[int, int], tuple[Array, Array]], scale: float
) -> None:
    """300 runs, three standard errors added: up to 24, where the mean is at least 60 below the bound."""
    rows, labels = make(2_000, 5)
    assert played(rows, labels, 300, query_scale=scale).high("regret") <= sharper.regret(
        2_000, 5, query_scale=scale
    )


def test_on_the_alternating_stream_the_sharper_bound_on_queries_is_nearly_reached() -> None:
    """About a fifth of the rounds are asked for (40 runs of 20,000 rounds; the share has an error below 0.01); the
    sharper bound says a quarter and a little, the paper's more than all."""
    rows, labels = alternating(20_000)
    share = played(rows, labels, 40).queries.mean() / 20_000
    assert 0.17 < share < sharper.queries(20_000, 2, 10_000) / 20_000 < 0.27
    assert bounds.queries(20_000, 2, 10_000) > 20_000


def test_rounds_on_which_all_are_wrong_but_disagree_cost_queries() -> None:
    """The paper's text leaves all rounds out of L* on which every model is wrong; only those on which they agree
    may be. Here no model is ever right, and a quarter of the rounds is asked for: far above the bound with L* = 0.
    20 runs, each within a few percent of 1,000."""
    rows, labels = nobody_right(4_000, 2)
    asked = played(rows, labels, 20).queries.mean()
    assert bounds.queries(4_000, 2, 0) < 300 < 900 < asked < bounds.queries(4_000, 2, 4_000)


def restricted(rounds: int, models: int, start: int) -> tuple[Array, Array]:
    """The last model is ahead permanently from `start` on; before that, it is behind as far as it can be."""
    draw = np.random.default_rng(7)
    labels = np.zeros(rounds, dtype=int)
    rows = (draw.random((rounds, models)) < 0.85).astype(int)
    rows[:, -1] = draw.random(rounds) < 0.05
    rows[: start // 3] = 0
    rows[: start // 3, -1] = 1
    return rows, labels


@pytest.mark.parametrize("models", [2, 6])
def test_the_best_model_is_found_against_a_restricted_adversary_as_often_as_promised(models: int) -> None:
    """150 runs at four lengths. A share that is not above the bound by three of the standard errors that it would
    have at the bound is let pass; where the bound is below 1/2 the share is to be below it as it stands."""
    rows, labels = restricted(8_000, models, 200)
    whole = restriction_of(rows, labels)
    worth = 0
    for rounds in (whole.start, 500, 2_000, 8_000):
        found = hardness_of(rows[:rounds], labels[:rounds])
        assert found.best == whole.best == models - 1
        missed = (played(rows[:rounds], labels[:rounds], 150).winner != found.best).mean()
        promised = bounds.restricted_misidentification(rounds, models, whole.gap, whole.start)
        own = bounds.misidentification(rounds, models, found.closeness)
        finer = sharper.stream_misidentification(rounds, *found.rivals)
        assert own <= promised
        for bound in (promised, own, finer):
            chance = min(bound, 1.0)
            assert missed <= chance + 3 * math.sqrt(chance * (1 - chance) / 150)
            worth += bound < 0.5
            assert bound > 0.5 or missed <= bound
    assert worth >= 3


def third_then_rest(rounds: int) -> tuple[Array, Array]:
    """Model 0 is right on the first third, model 1 on the rest."""
    labels = np.zeros(rounds, dtype=int)
    first = np.arange(rounds) < rounds // 3
    return np.column_stack([~first, first]).astype(int), labels


@pytest.mark.parametrize("rounds", [3_000, 30_000])
def test_the_model_of_a_random_round_can_stay_two_ninths_behind_for_ever(rounds: int) -> None:
    """The paper promises sqrt(8 ln k / T) "under no assumptions on the adversary". 400 runs; each gap is 0 or 1/3,
    so the mean has an error of 0.008, and lies above 0.18 unless it is off by four of them. What the proof does
    show, of the loss on the random round itself, is the regret over T, and holds."""
    rows, labels = third_then_rest(rounds)
    gaps = (rows != labels[:, None]).mean(axis=0) - 1 / 3
    runs = played(rows, labels, 400, recommend="random-round")
    assert 0.18 < gaps[runs.winner.astype(int)].mean() < 0.25
    assert bounds.random_round_accuracy_gap(rounds, 2) < 0.044
    assert runs.high("regret") / rounds <= bounds.random_round_accuracy_gap(rounds, 2)


def keep_their_promises(collection: mp.ModelCollection, rounds: int, realizations: int) -> int:
    """Compare all that was measured to all that is promised; how many bounds say something."""
    pool = pool_of(collection)
    found = hardness_of(*pool)
    runs = measure_promises(pool, found, rounds, realizations, 0, lambda: None)
    worth = 0
    promises = make_promises(found, rounds, runs)
    assert len(promises) == 7
    for promise in promises:
        assert promise.measured is not None
        assert promise.measured_se is not None
        for bound in (promise.theorem, promise.sharper):
            assert bound is not None
            assert promise.measured - 3 * promise.measured_se <= bound
            if promise.quantity in ("regret", "queries", "leader_regret"):
                assert promise.measured + 3 * promise.measured_se <= bound
            worth += not promise.vacuous(bound)
    return worth


ACCURACIES = {
    "one far ahead": [0.95, 0.3, 0.3, 0.3],
    "two": [0.9, 0.6],
    "close": [0.7, 0.68, 0.65, 0.5],
    "many": np.linspace(0.4, 0.9, 40).tolist(),
}


@pytest.mark.parametrize("name", ACCURACIES)
@pytest.mark.parametrize("rounds", [100, 3_000])
def test_promises_are_kept_on_independent_items(name: str, rounds: int) -> None:
    """150 streams of items drawn from a synthetic population, every quantity that a theorem is about."""
    accuracies = ACCURACIES[name]
    population = mp.synthetic_collection(3_000, len(accuracies), 4, accuracies, 0)
    assert keep_their_promises(population, rounds, 150) >= 2


def test_promises_about_a_clear_lead_are_worth_something_and_kept() -> None:
    """One model is far ahead, so that every sharper bound but that on the leader's regret is below what is certain
    anyway; 60 streams."""
    population = mp.synthetic_collection(3_000, 3, 4, [0.95, 0.2, 0.2], 1)
    assert keep_their_promises(population, 20_000, 60) >= 12


def test_promises_are_kept_where_models_abstain() -> None:
    """150 streams; a third of one model's answers and a tenth of another's are missing."""
    plain = mp.synthetic_collection(2_000, 4, 3, [0.9, 0.8, 0.7, 0.6], 2)
    rows = plain.predictions.copy()
    draw = np.random.default_rng(0)
    rows[draw.random(2_000) < 0.33, 0] = -1
    rows[draw.random(2_000) < 0.1, 1] = -1
    keep_their_promises(mp.ModelCollection(rows, plain.labels), 1_000, 150)


@pytest.mark.parametrize(("name", "realizations"), [("digits", 100), ("cifar10", 12)])
def test_promises_are_kept_on_the_collections_that_ship(name: str, realizations: int) -> None:
    keep_their_promises(mp.load_collection(name), 1_500, realizations)


@pytest.mark.parametrize("name", ["emocontext", "drift"])
def test_promises_are_kept_on_the_shared_collections(name: str) -> None:
    keep_their_promises(mp.load_collection(need(name)), 3_000, 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "cifar10", "emocontext", "drift"])
def test_promises_are_kept_on_long_streams(name: str) -> None:
    """50,000 rounds, 60 streams."""
    shipped = name in ("digits", "cifar10")
    keep_their_promises(mp.load_collection(name if shipped else need(name)), 50_000, 60)


def test_every_item_once_in_any_order_is_a_single_stream() -> None:
    """A collection played whole, as a user plays it, has the bound of its own λ, however it is sorted: here so that
    the best model's mistakes come first. 200 runs; the bound is below 1/3, the share of misses below the bound."""
    population = mp.synthetic_collection(4_000, 3, 4, [0.9, 0.4, 0.4], 3)
    labels = np.asarray(population.labels)
    order = np.argsort(population.predictions[:, 0] == labels, kind="stable")
    rows, labels = population.predictions[order], labels[order]
    found = hardness_of(rows, labels)
    finer = sharper.stream_misidentification(4_000, *found.rivals)
    missed = (played(rows, labels, 200).winner != found.best).mean()
    assert missed <= finer < 1 / 3
