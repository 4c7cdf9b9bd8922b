"""The inequalities behind the proofs of docs/how-it-works/bounds.md, on fine grids. Nothing here is random."""

import math

import numpy as np
import pytest

SHARES = np.linspace(1e-6, 1 - 1e-6, 2_001)[:, None]


def excess(share: object, probability: object, rate: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """f(x, u, η) of the paper's lemma: what the mix loss lacks of the loss in a round, times η."""
    x, u, eta = (np.asarray(value, dtype=np.float64) for value in (share, probability, rate))
    value: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = eta * x + u * np.log1p(x * np.expm1(-eta / u))
    return value


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 2.0, 4.0, 30.0])
def test_the_lemma_of_the_regret_holds_with_a_smaller_constant_and_every_query_scale(scale: float) -> None:
    """f <= η² is the paper's, at scale 1; (e - 2) η² is proven, and (e - 2) η² / β with any scale up to 4."""
    rates = np.geomspace(1e-5, 1.0, 801)[None, :]
    chances = np.minimum(1.0, np.maximum(scale * SHARES * (1 - SHARES), rates))
    largest = (excess(SHARES, chances, rates) / rates**2).max()
    assert largest <= (math.e - 2) / min(4.0, scale)
    if scale == 1.0:
        assert 0.99 * (math.e - 2) < largest < 1.0


def test_while_the_rate_is_above_one_every_label_is_seen_and_hoeffding_does() -> None:
    rates = np.linspace(1.0, 8.0, 400)[None, :]
    assert (excess(SHARES, 1.0, rates) / rates**2).max() <= 1 / 8 <= (math.e - 2) / 4


def test_f_falls_with_the_query_probability() -> None:
    for rate in (0.01, 0.2, 1.0):
        chances = np.linspace(rate, 2.0, 200)[None, :]
        assert (np.diff(excess(SHARES, chances, rate), axis=1) <= 1e-12).all()


def test_the_largest_variance_is_bounded_by_g_of_the_loss_and_by_the_weight_off_the_best() -> None:
    """max A (1 - A) <= g(r), r the weight of the models that are wrong, and <= 1 - w of any single model: 20,000
    random weightings of six models that say one of three classes or abstain."""
    draw = np.random.default_rng(0)
    for _ in range(20_000):
        weights = draw.dirichlet(np.full(6, 0.3))
        said = draw.integers(-1, 3, 6)
        behind = np.array([weights[said == c].sum() for c in range(3)])
        variance = (behind * (1 - behind)).max()
        for label in range(4):
            wrong = 1 - (behind[label] if label < 3 else 0.0)
            assert variance <= (wrong * (1 - wrong) if wrong < 0.5 else 0.25) + 1e-12
        assert variance <= 1 - weights.max() + 1e-12


def roots(spread: object, largest: object, lead: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The largest b with (c/3) b² + sqrt(2 ν/T) b <= Δ, from the quadratic formula."""
    v, c, d = (np.asarray(value, dtype=np.float64) for value in (spread, largest, lead))
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = (np.sqrt(2 * v + 4 / 3 * c * d) - np.sqrt(2 * v)) / (
        2 / 3 * c
    )
    return found


def exponents(least_inverse: float, jump: float) -> float:
    """The smallest a for which T b² = a λ sqrt(T ln k), over Δ <= θ <= 1 and 1/η_T from the one given up."""
    gamma = np.geomspace(least_inverse, 1e5, 120)[:, None, None]
    lead = np.geomspace(1e-3, 1.0, 60)[None, :, None]
    apart = lead + (1 - lead) * np.linspace(0, 1, 40)[None, None, :]
    root = roots(gamma * apart, gamma + jump * lead, lead)
    return float((root**2 * gamma * apart / lead**2).min() / math.sqrt(2))


def test_the_constant_in_the_exponent_of_the_identification_stands() -> None:
    """The paper's chain loses a root of 2 and ends at 0.13; the root itself gives 0.24 from T = 2 ln k on, 0.25
    from T = 16 ln k on, and 0.26 for a single stream."""
    assert 9 / (49 * math.sqrt(2)) < 0.131
    assert exponents(2.0, 1.0) == pytest.approx(4 / (2 + math.sqrt(2)) ** 2 / math.sqrt(2), rel=1e-6)
    assert exponents(2.0, 1.0) > 0.242 > 0.18
    assert exponents(math.sqrt(32), 1.0) > 0.25
    assert exponents(1.0, 0.0) == pytest.approx(
        4 / (math.sqrt(10 / 3) + math.sqrt(2)) ** 2 / math.sqrt(2), rel=1e-6
    )
    assert exponents(1.0, 0.0) > 0.269


def test_the_constants_of_the_pseudo_regret_follow() -> None:
    """The sum of exp(-a sqrt(t)) from 0 on is at most 1 + 2/a²: 62 stands with a = 0.226 λ sqrt(ln k), and 33 with
    a quarter in the place of 0.226."""
    rate = 4 / (2 + math.sqrt(2)) ** 2 / math.sqrt(2)
    assert 2 / rate**2 < 34
    for steepness in (0.02, 0.1, 0.5, 2.0):
        terms = np.exp(-steepness * np.sqrt(np.arange(1, 4_000_000)))
        assert terms.sum() <= 2 / steepness**2
    for models in (2, 3, 10, 1_000):
        least = models / math.log(models)  # k / (λ² ln k) at λ = 1
        assert 2 / 0.226**2 * least + 1 <= 62 * least
        assert 32 * least + 1 <= 33 * least


def test_sums_of_roots_and_of_inverse_roots_are_bounded_as_the_proofs_say() -> None:
    whole = np.arange(1, 20_001)
    assert (np.cumsum(np.sqrt(whole)) <= (2 / 3 * whole + 0.5) * np.sqrt(whole)).all()
    assert (np.cumsum(1 / np.sqrt(whole)) <= 2 * np.sqrt(whole)).all()
    for models in (2, 50, 10**6):
        inverses = np.maximum(1.0, np.sqrt(2 * whole / math.log(models)))
        bound = math.sqrt(2 / math.log(models)) * (2 / 3 * whole + 0.5) * np.sqrt(whole) + math.log(models) / 2
        assert (np.cumsum(inverses) <= bound + 1e-9).all()


def test_when_the_papers_count_of_rounds_for_an_accuracy_gap_is_enough() -> None:
    """ln²(k/ε) / ln k, which is proven, is at most the paper's ln k ln²(1/ε) just if (ln k - 1)(ln(1/ε) - 1) >= 1;
    with two models it never is."""
    for models in (2, 3, 8, 20, 1_000):
        for wanted in (0.5, 0.2, 0.13, 0.05, 1e-6):
            a, b = math.log(models), math.log(1 / wanted)
            enough = (a + b) ** 2 / a <= a * b**2
            assert enough == (a > 1 and b > 1 and (a - 1) * (b - 1) >= 1)
