"""Bounds that say more than the paper's and follow from its own proofs with a little more care.

The proofs are in docs/how-it-works/bounds.md. `gaps` and `differences` are Δ_j and θ_j of all models but the best,
as `Hardness.rivals` has them; the other words are those of `bounds`.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats
from modelpicker.theory.validation import (
    LARGEST,
    TIED,
    check_between,
    check_lead,
    check_model_count,
    check_wanted,
    check_whole,
)


def regret(rounds: int, models: int, disagreements: float | None = None, query_scale: float = 1.0) -> float:
    """At most sqrt(2 ln k) (sqrt(T) + (e - 2) sqrt(D) / β) on any stream, in expectation.

    D is on how many rounds models disagree, or how many are expected (by default all), and β the query scale (one
    above 4 counts as 4).

    >>> round(regret(rounds=10_000, models=2), 1)
    202.3
    >>> round(regret(rounds=10_000, models=2, disagreements=2_500, query_scale=0.5), 1)
    202.3
    """
    divided = _divided(rounds, disagreements)
    scale = min(4.0, check_between("query_scale", query_scale, 1e-9, 1e9))
    return math.sqrt(2.0 * check_model_count(models)) * (
        math.sqrt(rounds) + (math.e - 2.0) * math.sqrt(divided) / scale
    )


def queries(rounds: int, models: int, mistakes: float, disagreements: float | None = None) -> float:
    """At most sqrt(2 D ln k) + D g((R + L*) / D) on any stream, in expectation; R is the bound on the regret.

    g(r) is r (1 - r) up to r = 1/2, and 1/4 beyond. It never exceeds e sqrt(2 T ln k) + L*.

    >>> round(queries(rounds=10_000, models=2, mistakes=100), 1)
    410.9
    """
    divided = _divided(rounds, disagreements)
    if divided == 0.0:
        return 0.0
    lost = regret(rounds, models, disagreements) + check_between("mistakes", mistakes, 0, divided)
    share = min(0.5, lost / divided)
    return math.sqrt(2.0 * divided * check_model_count(models)) + divided * share * (1.0 - share)


def stochastic_queries(rounds: int, models: int, gap: float, disagreement: float = 1.0) -> float:
    """At most sqrt(2 ρ T ln k) + ρ R / Δ, in expectation, where items are drawn independently; R as above.

    ρ (`disagreement`) is the chance that models disagree on an item. It never exceeds sqrt(2 T ln k) (1 + 2 / Δ).

    >>> round(stochastic_queries(rounds=10_000, models=2, gap=0.5), 1)
    522.4
    """
    share = check_between("disagreement", disagreement, 0, 1)
    divided = share * check_whole("rounds", rounds)
    floor = math.sqrt(2.0 * divided * check_model_count(models))
    return floor + share * regret(rounds, models, divided) / check_lead("gap", gap)


def misidentification(rounds: int, gaps: npt.ArrayLike, differences: npt.ArrayLike) -> float:
    """The chance to recommend another than the best model, where items are drawn independently: a sum over models.

    Each has its own term, by the martingale inequality that the paper uses, taken as it is.

    >>> misidentification(10_000, gaps=[0.5], differences=[0.5]) < 1e-6
    True
    """
    return float(_drawn_tails(rounds, *_rivals(gaps, differences)).sum())


def stream_misidentification(rounds: int, gaps: npt.ArrayLike, differences: npt.ArrayLike) -> float:
    """The same for any single stream of T rounds, in whatever order: Δ_j and θ_j are counted on the stream itself.

    >>> stream_misidentification(10_000, gaps=[0.5], differences=[0.5]) < 1e-4
    True
    """
    lead, apart, log_models = _rivals(gaps, differences)
    rarest = _largest_inverse(check_whole("rounds", rounds), log_models)
    return float(_tail(rounds * lead, rounds * apart * (rarest - 1.0), max(1.0, rarest - 1.0)).sum())


def accuracy_gap(rounds: int, gaps: npt.ArrayLike, differences: npt.ArrayLike) -> float:
    """The expected gap in true accuracy of the recommended model: each model's gap times its chance.

    >>> round(accuracy_gap(1_000, gaps=[0.5, 0.1], differences=[0.5, 0.1]), 3)
    0.031
    """
    lead, apart, log_models = _rivals(gaps, differences)
    return float(lead @ _drawn_tails(rounds, lead, apart, log_models))


def leader_regret(gaps: npt.ArrayLike, differences: npt.ArrayLike) -> float:
    """The pseudo-regret with `predict="leader"`: (1 + 2 ln k) max Δ + (34 / ln k) Σ θ_j² / Δ_j³, after any T.

    >>> round(leader_regret(gaps=[0.5], differences=[0.5]), 1)
    99.3
    """
    lead, apart, log_models = _rivals(gaps, differences)
    return float((1.0 + 2.0 * log_models) * lead.max() + 34.0 / log_models * (apart**2 / lead**3).sum())


def rounds_until(bound: Callable[[int], float], wanted: float) -> int:
    """The first number of rounds at which a bound that falls with them is at most `wanted`.

    >>> rounds_until(lambda rounds: misidentification(rounds, [0.5], [0.5]), 0.05)
    384
    """
    check_wanted(wanted)
    high = 1
    while bound(high) > wanted:
        if 2 * high > LARGEST:
            raise InputError(f"wanted {wanted!r} is not reached in {high:.0e} rounds; ask for less.")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle) > wanted else (low, middle)
    return high


def _divided(rounds: int, disagreements: float | None) -> float:
    most = check_whole("rounds", rounds)
    return float(most) if disagreements is None else check_between("disagreements", disagreements, 0, most)


def _rivals(gaps: npt.ArrayLike, differences: npt.ArrayLike) -> tuple[Floats, Floats, float]:
    """Δ_j and θ_j of the models but the best, checked, and ln k."""
    lead, apart = (np.asarray(values, dtype=np.float64) for values in (gaps, differences))
    if lead.ndim != 1 or lead.shape != apart.shape or not lead.size:
        raise InputError(f"gaps {brief(gaps)} and differences {brief(differences)}: pass one of each a model.")
    if (lead == 0.0).any():
        raise InputError(f"gaps {brief(gaps)}: {TIED}")
    # A model cannot be behind by more than the items on which just one of the two is right.
    if not ((lead > 0.0) & (lead <= apart + 1e-12) & (apart <= 1.0)).all():
        raise InputError(
            f"gaps {brief(gaps)} and differences {brief(differences)}: each gap must be above 0 and at most its "
            f"difference, and that at most 1."
        )
    return lead, apart, check_model_count(lead.size + 1)


def _largest_inverse(rounds: int, log_models: float) -> float:
    """The most that 1/q can be in any of the rounds: 1/η_T, or 1 while η_T is above 1."""
    return max(1.0, math.sqrt(2.0 * rounds / log_models))


def _drawn_tails(rounds: int, lead: Floats, apart: Floats, log_models: float) -> Floats:
    """For each model, the chance that its estimate is not above the best model's."""
    count = float(check_whole("rounds", rounds))
    # Σ max(1, 1/η_t): a sum of roots is at most its integral and half the last term, and η_t > 1 before ln k / 2.
    roots = (2.0 / 3.0 * count + 0.5) * math.sqrt(count)
    inverses = math.sqrt(2.0 / log_models) * roots + log_models / 2.0
    spread = apart * inverses - count * lead**2
    return _tail(count * lead, spread, lead + _largest_inverse(rounds, log_models))


def _tail(above: Floats, spread: Floats, largest: Floats | float) -> Floats:
    """exp(-β), β the largest with sqrt(2 ν β) + c β / 3 at most `above`; ν is the spread, c the largest jump."""
    root = 2.0 * above / (np.sqrt(2.0 * spread) + np.sqrt(2.0 * spread + 4.0 / 3.0 * largest * above))
    tails: Floats = np.exp(-(root**2))
    return tails
