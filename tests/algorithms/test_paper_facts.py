"""What the paper says about Model Picker, seen to hold.

Every test that simulates fixes its seeds and states the error it allows.
"""

from collections.abc import Callable

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.encoding import Array
from modelpicker.kernels.primitives import weigh


def alternating(rounds: int) -> tuple[Array, Array]:
    """The appendix's example: two models, and each is right in turn."""
    return np.tile([0, 1], (rounds, 1)), (np.arange(rounds) + 1) % 2


def test_losses_that_alternate_are_queried_near_a_quarter_for_ever() -> None:
    """The weights stay around 1/2, so q stays around its maximum of 1/4 and the count is linear. The losses'
    difference is a random walk that the rate just keeps in check, so q hovers somewhat below 1/4: a share of
    0.15 to 0.25 is allowed in every stretch, and the last tenth of the rounds may differ from the first half by
    10 %. The mean of 40 streams of 100,000 rounds has a standard error below 2 %."""
    rows, labels = alternating(100_000)
    shares = [mp.run_stream(mp.ModelPicker(2, seed), rows, labels).queried for seed in range(40)]
    share = np.mean(shares, axis=0)
    stretches = share.reshape(10, -1).mean(axis=1)
    assert ((stretches > 0.15) & (stretches < 0.25)).all()
    assert stretches[-1] == pytest.approx(stretches[:5].mean(), rel=0.1)


@pytest.mark.slow
def test_with_a_perfect_model_the_count_grows_like_the_root_of_the_rounds() -> None:
    """Counts over three decades of rounds, mean of 20 streams: the slope in log-log is 1/2 within 0.04, where the
    standard error of a slope from such counts (about 100 to 3,000 labels, 20 streams) is below 0.01."""
    draw = np.random.default_rng(0)
    rows = draw.integers(0, 4, (1_000_000, 10))
    rows[:, 1] = (rows[:, 0] + 1) % 4  # at least two models disagree
    counts = np.mean(
        [
            np.cumsum(mp.run_stream(mp.ModelPicker(10, seed), rows, rows[:, 0]).queried)[[999, 9_999, 99_999, -1]]
            for seed in range(20)
        ],
        axis=0,
    )
    slopes = np.diff(np.log10(counts))
    assert slopes == pytest.approx(0.5, abs=0.04)
    assert (counts <= 5 * np.sqrt(np.array([1e3, 1e4, 1e5, 1e6]) * np.log(10))).all()  # Theorem "Queries"


def test_variance_and_scaled_divergence_differ_by_no_more_than_the_lemma_says() -> None:
    """|Var - (2/η²) KL| < η/(18 √3) + O(η²). The next cumulant bounds the remainder: κ₄ of a coin lies within
    1/8, so it is at most η²/96, and η³/100 covers the rest for η up to 1. Nothing here is random."""
    for models, wrong in ((2, 1), (5, 2), (40, 7)):
        loss = np.array([1.0] * wrong + [0.0] * (models - wrong))
        for spread in np.linspace(-6, 6, 25):
            for eta in (0.01, 0.1, 0.3, 1.0):
                before, after = np.zeros(models), np.zeros(models)
                losses = np.where(loss > 0, spread, 0.0) / eta + 10 / eta
                weigh(losses, losses.min(), eta, before)
                weigh(losses + loss, losses.min(), eta, after)
                before, after = before / before.sum(), after / after.sum()
                divergence = (before * np.log(before / after)).sum()
                share = before @ loss
                bound = eta / (18 * np.sqrt(3)) + eta**2 / 96 + eta**3 / 100
                assert abs(share * (1 - share) - 2 / eta**2 * divergence) < bound + 1e-9 / eta**2


def switching(rounds: int, models: int) -> tuple[Array, Array]:
    """The best model of the first half is the worst of the second, and the other way round."""
    draw = np.random.default_rng(1)
    labels = draw.integers(0, 3, rounds)
    accuracy = np.linspace(0.2, 0.9, models)
    accuracies = np.where((np.arange(rounds) < rounds // 2)[:, None], accuracy, accuracy[::-1])
    right = draw.random((rounds, models)) < accuracies
    return np.where(right, labels[:, None], draw.integers(0, 3, (rounds, models))), labels


def taking_turns(rounds: int, models: int) -> tuple[Array, Array]:
    """Each model in turn is the only one that is right."""
    labels = np.arange(rounds) % models
    return np.tile(np.arange(models), (rounds, 1)), labels


def fair_coins(rounds: int, models: int) -> tuple[Array, Array]:
    """Nobody is better than a guess, which makes the largest regrets."""
    draw = np.random.default_rng(2)
    return draw.integers(0, 2, (rounds, models)), draw.integers(0, 2, rounds)


def teasing(rounds: int, models: int) -> tuple[Array, Array]:
    """In stretches that grow, one model after the other leads and then fails."""
    labels = np.zeros(rounds, dtype=int)
    leader = np.floor(np.log2(np.arange(1, rounds + 1))).astype(int) % models
    rows = np.ones((rounds, models), dtype=int)
    rows[np.arange(rounds), leader] = 0
    return rows, labels


@pytest.mark.parametrize("make", [switching, taking_turns, fair_coins, teasing])
@pytest.mark.parametrize(("rounds", "models"), [(500, 3), (5_000, 20)])
def test_the_regret_stays_below_its_bound_on_adversarial_streams(
    make: Callable[[int, int], tuple[Array, Array]], rounds: int, models: int
) -> None:
    """Theorem "Regret": the expected regret is at most 2 sqrt(2 T ln k). The mean of 100 runs, plus three of its
    standard errors, is below that: the bound has slack, so there is no chance of a false alarm worth counting."""
    rows, labels = make(rounds, models)
    least = (rows != labels[:, None]).sum(axis=0).min()
    regrets = []
    for seed in range(100):
        trace = mp.run_stream(mp.ModelPicker(models, seed), rows, labels)
        regrets.append((trace.predicted != labels).sum() - least)
    highest = np.mean(regrets) + 3 * np.std(regrets) / 10
    assert highest <= 2 * np.sqrt(2 * rounds * np.log(models))


def test_the_alternating_stream_keeps_its_regret_bound_too() -> None:
    rows, labels = alternating(5_000)
    regrets = [
        (mp.run_stream(mp.ModelPicker(2, seed), rows, labels).predicted != labels).sum() - 2_500
        for seed in range(100)
    ]
    assert np.mean(regrets) + 3 * np.std(regrets) / 10 <= 2 * np.sqrt(2 * 5_000 * np.log(2))


def test_following_the_leader_has_bounded_regret_on_a_stochastic_stream() -> None:
    """Theorem "Regret", stochastic: the pseudo-regret of the leader's predictions is bounded by a constant, so the
    second half of a stream adds almost nothing. 50 streams; less than one mistake more than the best model's is
    allowed per stream in rounds 5,000 to 10,000, where the sum of a thousand sure guesses would be hundreds."""
    draw = np.random.default_rng(3)
    extra = []
    for seed in range(50):
        labels = draw.integers(0, 5, 10_000)
        right = draw.random((10_000, 4)) < [0.5, 0.6, 0.7, 0.85]
        rows = np.where(right, labels[:, None], draw.integers(0, 5, (10_000, 4)))
        trace = mp.run_stream(mp.ModelPicker(4, seed, predict="leader"), rows, labels)
        half = slice(5_000, None)
        extra.append((trace.predicted != labels)[half].sum() - (rows[:, 3] != labels)[half].sum())
    assert np.mean(extra) < 1.0
