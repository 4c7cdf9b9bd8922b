"""The bounds as functions: values found by hand, how they grow, their inverses, and what they refuse."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.theory import bounds, sharper

SIZES = list(product((20, 1_000, 50_000), (2, 7, 120)))


def test_values_found_by_hand() -> None:
    assert bounds.regret(200, 2) == pytest.approx(33.302, abs=1e-3)
    assert bounds.leader_regret(2, 0.5, 0.5) == pytest.approx(62 * 0.5 * 2 / (0.25 * 0.693147), rel=1e-6)
    assert bounds.queries(100, 2, 10) == pytest.approx(41.628 + 20, abs=1e-3)
    assert bounds.stochastic_queries(100, 2, 0.5, 3) == pytest.approx(11.774 * 25, abs=2e-2)
    assert bounds.misidentification(100, 2, 1.0) == pytest.approx(0.44688, abs=1e-5)
    assert bounds.restricted_misidentification(100, 2, 0.5) == pytest.approx(bounds.misidentification(100, 2, 0.25))
    assert bounds.random_round_accuracy_gap(200, 2) == pytest.approx(math.sqrt(8 * math.log(2) / 200))
    assert bounds.accuracy_gap(100, 2, 1.0, 0.25) == pytest.approx(0.44688 / 4, abs=1e-5)
    assert bounds.confidence(100, 2, 1.0) == pytest.approx(1 - 0.44688, abs=1e-5)
    assert bounds.rounds_for_random_round(0.1, 2) == 555
    assert bounds.rounds_for_misidentification(0.05, 2, 1.0) == math.ceil((math.log(40) / 0.18) ** 2 / math.log(2))
    assert sharper.regret(100, 2) == pytest.approx(11.774 * (math.e - 1), abs=1e-3)
    assert sharper.queries(1_000, 2, 900) == pytest.approx(math.sqrt(2_000 * math.log(2)) + 250)
    assert sharper.leader_regret([0.5], [0.5]) == pytest.approx((1 + 2 * math.log(2)) / 2 + 68 / math.log(2))


@pytest.mark.parametrize(("rounds", "models"), SIZES)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_the_sharper_bounds_on_regret_and_queries_never_exceed_the_papers(
    rounds: int, models: int, share: float
) -> None:
    root = math.sqrt(2 * rounds * math.log(models))
    mistakes = share * rounds
    assert sharper.regret(rounds, models) <= bounds.regret(rounds, models)
    finer = sharper.queries(rounds, models, mistakes)
    assert finer <= math.e * root + mistakes + 1e-9
    assert finer <= 3 * root + mistakes <= bounds.queries(rounds, models, mistakes)
    for gap in (0.001, 0.1, 1.0):
        finer = sharper.stochastic_queries(rounds, models, gap)
        assert finer <= root * (1 + 2 / gap) <= bounds.stochastic_queries(rounds, models, gap, 2)


@pytest.mark.parametrize(("rounds", "models"), SIZES)
def test_fewer_disagreements_and_a_larger_query_scale_lower_the_regret(rounds: int, models: int) -> None:
    values = [sharper.regret(rounds, models, share * rounds) for share in (0.0, 0.1, 0.5, 1.0)]
    assert values == sorted(values)
    assert values[-1] == sharper.regret(rounds, models)
    values = [sharper.regret(rounds, models, query_scale=scale) for scale in (9, 4, 1, 0.5, 0.1)]
    assert values == sorted(values)
    asked = [sharper.queries(rounds, models, 0, share * rounds) for share in (0.0, 0.1, 0.5, 1.0)]
    assert asked == sorted(asked)
    assert asked[0] == 0.0


@pytest.mark.parametrize("models", [2, 10, 200])
@pytest.mark.parametrize("gap", [0.003, 0.05, 0.4, 1.0])
@pytest.mark.parametrize("difference", [1.0, 2.0, 20.0])
def test_the_sum_over_models_is_below_the_theorem_with_a_quarter_in_the_exponent(
    models: int, gap: float, difference: float
) -> None:
    """From T = 16 ln k on, where the theorem says anything at all; before that k exp(...) is above 1."""
    apart = min(1.0, difference * gap)
    closeness = gap**2 / apart
    rivals = [gap] * (models - 1), [apart] * (models - 1)
    for rounds in np.geomspace(16 * math.log(models) + 1, 1e9, 30).astype(int).tolist():
        quarter = models * math.exp(-closeness / 4 * math.sqrt(rounds * math.log(models)))
        assert (
            sharper.misidentification(rounds, *rivals)
            <= quarter
            <= bounds.misidentification(rounds, models, closeness)
        )
        assert sharper.stream_misidentification(rounds, *rivals) <= quarter
        assert sharper.accuracy_gap(rounds, *rivals) <= gap * quarter
    assert sharper.leader_regret(*rivals) <= bounds.leader_regret(models, closeness, gap)


def test_longer_streams_are_promised_less_error_and_more_regret() -> None:
    lengths = [10, 100, 1_000, 10_000, 10**6, 10**9]
    rising: list[Callable[[int], float]] = [
        lambda t: bounds.regret(t, 5),
        lambda t: bounds.queries(t, 5, 3),
        lambda t: bounds.stochastic_queries(t, 5, 0.1, 4),
        lambda t: bounds.confidence(t, 5, 0.1),
        lambda t: sharper.regret(t, 5),
        lambda t: sharper.queries(t, 5, 3),
    ]
    falling: list[Callable[[int], float]] = [
        lambda t: bounds.misidentification(t, 5, 0.1),
        lambda t: bounds.random_round_accuracy_gap(t, 5),
        lambda t: bounds.accuracy_gap(t, 5, 0.1, 0.5),
        lambda t: sharper.misidentification(t, [0.1, 0.3], [0.1, 0.5]),
        lambda t: sharper.stream_misidentification(t, [0.1, 0.3], [0.1, 0.5]),
    ]
    for bound in rising:
        assert list(map(bound, lengths)) == sorted(map(bound, lengths))
    for bound in falling:
        assert list(map(bound, lengths)) == sorted(map(bound, lengths), reverse=True)


@pytest.mark.parametrize("wanted", [0.9, 0.05, 1e-6])
@pytest.mark.parametrize("models", [2, 50])
@pytest.mark.parametrize("lead", [0.9, 0.1, 1e-4])
def test_the_rounds_that_a_promise_needs_are_the_first_that_keep_it(
    wanted: float, models: int, lead: float
) -> None:
    """A bound may come out a rounding error above what was wanted."""
    pairs: list[tuple[int, Callable[[int], float]]] = [
        (bounds.rounds_for_random_round(wanted, models), lambda t: bounds.random_round_accuracy_gap(t, models)),
        (
            bounds.rounds_for_misidentification(wanted, models, lead),
            lambda t: bounds.misidentification(t, models, lead),
        ),
        (
            bounds.rounds_for_accuracy_gap(wanted, models, lead, 0.95),
            lambda t: bounds.accuracy_gap(t, models, lead, 0.95),
        ),
        (
            bounds.rounds_for_restricted_accuracy_gap(wanted, models, lead),
            lambda t: bounds.restricted_accuracy_gap(t, models, lead),
        ),
    ]
    for needed, bound in pairs:
        assert bound(needed) <= wanted * (1 + 1e-6)
        assert needed == 1 or bound(needed - 1) > wanted * (1 - 1e-6)
        assert sharper.rounds_until(bound, wanted) == pytest.approx(needed, rel=1e-9, abs=1)


def test_a_gap_that_the_theorem_grants_at_once_takes_one_round() -> None:
    assert bounds.rounds_for_accuracy_gap(0.9, 2, 0.2, 0.4) == 1


def test_a_restricted_adversary_is_promised_nothing_before_its_start() -> None:
    assert bounds.rounds_for_restricted_accuracy_gap(0.5, 2, 1.0, start=10**6) == 10**6
    with pytest.raises(mp.InputError, match="nothing is promised before"):
        bounds.restricted_misidentification(99, 2, 0.5, start=100)


def test_a_vanishing_chance_is_no_error() -> None:
    assert bounds.misidentification(10**15, 2, 1.0) == 0.0
    assert sharper.misidentification(10**15, [1.0], [1.0]) == 0.0


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: bounds.regret(0, 2), "rounds 0 is out of range; pass a whole number from 1 up"),
    (lambda: bounds.regret(2.5, 2), "rounds 2.5"),  # type: ignore[arg-type]
    (lambda: bounds.regret(True, 2), "rounds True"),
    (lambda: bounds.regret(10, 1), "models 1 is out of range; pass a whole number from 2 up"),
    (lambda: bounds.queries(10, 2, 11), "mistakes 11 is out of range; pass a number from 0 to 10"),
    (lambda: bounds.queries(10, 2, math.nan), "mistakes nan is not a number"),
    (lambda: bounds.queries(10, 2, -1), "mistakes -1"),
    (lambda: bounds.stochastic_queries(10, 2, 0.0, 2), "gap 0.0: two models are tied for best"),
    (lambda: bounds.stochastic_queries(10, 2, 1.5, 2), "gap 1.5 is out of range"),
    (lambda: bounds.stochastic_queries(10, 2, -0.5, 2), "gap -0.5 is out of range"),
    (lambda: bounds.stochastic_queries(10, 2, 0.5, 1), "classes 1"),
    (lambda: bounds.misidentification(10, 2, 0), "closeness 0: two models are tied for best"),
    (lambda: bounds.misidentification(10, 2, 1.01), "closeness 1.01"),
    (lambda: bounds.misidentification(10, 2, math.nan), "closeness nan"),
    (lambda: bounds.misidentification(10, 2, "x"), "closeness 'x' is not a number"),  # type: ignore[arg-type]
    (lambda: bounds.misidentification(10, 2, 10**400), "closeness 1000"),
    (lambda: bounds.accuracy_gap(10, 2, 0.5, 0.0), "largest_gap 0.0"),
    (lambda: bounds.leader_regret(1, 0.5), "models 1"),
    (lambda: bounds.restricted_misidentification(10, 2, 0.0), "gap 0.0: two models are tied"),
    (lambda: bounds.restricted_misidentification(10, 2, 0.5, 0), "start 0"),
    (lambda: bounds.rounds_for_random_round(0.0, 2), "wanted 0.0 is out of range"),
    (lambda: bounds.rounds_for_misidentification(1.0, 2, 0.5), "wanted 1.0 is out of range"),
    (lambda: bounds.rounds_for_misidentification(0.1, 2, 1e-200), "closeness 1e-200: more than 10**40 rounds"),
    (lambda: bounds.regret(10**400, 2), "pass a whole number up to 10**40"),
    (lambda: sharper.regret(10, 2, 11), "disagreements 11"),
    (lambda: sharper.regret(10, 2, query_scale=0.0), "query_scale 0.0"),
    (lambda: sharper.stochastic_queries(10, 2, 0.5, 1.1), "disagreement 1.1"),
    (lambda: sharper.misidentification(10, [], []), "pass one of each a model"),
    (lambda: sharper.misidentification(10, [0.1], [0.1, 0.2]), "pass one of each a model"),
    (lambda: sharper.misidentification(10, [0.1, 0.0], [0.1, 0.2]), "two models are tied for best"),
    (lambda: sharper.misidentification(10, [0.3], [0.2]), "at most its difference"),
    (lambda: sharper.misidentification(10, [math.nan], [0.2]), "at most its difference"),
    (lambda: sharper.misidentification(0, [0.1], [0.2]), "rounds 0"),
    (lambda: sharper.rounds_until(lambda rounds: 1.0, 0.5), "is not reached"),
    (lambda: sharper.rounds_until(lambda rounds: 0.0, 2.0), "wanted 2.0"),
]


@pytest.mark.parametrize(("asked", "complaint"), REFUSED)
def test_what_makes_no_sense_is_refused_by_name(asked: Callable[[], object], complaint: str) -> None:
    with pytest.raises(mp.InputError) as caught:
        asked()
    assert complaint in str(caught.value)
