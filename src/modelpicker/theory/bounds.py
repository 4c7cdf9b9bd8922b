"""The paper's theorems as functions: what they promise of Model Picker, each in the version that is proven.

`rounds` is T, `models` k. With the best model i*, Δ_j is how much less accurate model j is and θ_j how often just
one of the two is right: `gap` is Δ, the smallest Δ_j, `largest_gap` the largest, and `closeness` λ, the smallest
Δ_j² / θ_j (`modelpicker.theory.hardness_of` finds them). A function returns what the formula gives, also where
that is more than could ever happen, such as a probability above 1.

All need every query to be answered: none holds once a budget is spent. Those on regret and queries need each label
before the next round, and a `query_scale` of 1; those on identification and accuracy gap hold with any, and with
labels that come late, once all have come.

docs/how-it-works/bounds.md says where a statement differs from the paper's and why; `sharper` has bounds that say
more.
"""

import math

from modelpicker.errors import InputError
from modelpicker.theory.validation import (
    LARGEST,
    check_between,
    check_lead,
    check_model_count,
    check_share,
    check_wanted,
    check_whole,
)

RATE = 0.18
"""The constant in the exponent of the two theorems on identification."""


def regret(rounds: int, models: int) -> float:
    """Theorem "Regret", adversarial: the expected regret is at most 2 sqrt(2 T ln k).

    Any stream, chosen before the first coin. Regret is the mistakes of what was predicted (`predict="sample"`)
    minus those of the model that turns out to make the fewest. It holds for a `query_scale` above 1 too.

    >>> round(regret(rounds=10_000, models=2), 1)
    235.5
    """
    return 2.0 * math.sqrt(2.0 * check_whole("rounds", rounds) * check_model_count(models))


def leader_regret(models: int, closeness: float, largest_gap: float = 1.0) -> float:
    """Theorem "Regret", stochastic: with `predict="leader"` the pseudo-regret is at most 62 max Δ k / (λ² ln k).

    Items drawn independently, one best model; after any number of rounds. Pseudo-regret is the expected number of
    mistakes of what was predicted minus that of the best model.

    >>> round(leader_regret(models=2, closeness=0.5, largest_gap=0.5))
    358
    """
    most = check_share("largest_gap", largest_gap)
    return 62.0 * most * models / (check_model_count(models) * check_lead("closeness", closeness) ** 2)


def queries(rounds: int, models: int, mistakes: float) -> float:
    """Theorem "Queries", adversarial: at most 5 sqrt(T ln k) + 2 L* labels are asked for, in expectation.

    Any stream. `mistakes` is L*, those of the best model on rounds on which models disagree. What the paper asks of
    T and of L* is not needed.

    >>> round(queries(rounds=10_000, models=2, mistakes=100), 1)
    616.3
    """
    most = check_between("mistakes", mistakes, 0, check_whole("rounds", rounds))
    return 5.0 * math.sqrt(rounds * check_model_count(models)) + 2.0 * most


def stochastic_queries(rounds: int, models: int, gap: float, classes: int) -> float:
    """Theorem "Queries", stochastic: at most sqrt(2 T ln k) (1 + 4 |C| / Δ) labels are asked for, in expectation.

    Items drawn independently, one best model. Abstaining counts as one more class.

    >>> round(stochastic_queries(rounds=10_000, models=2, gap=0.5, classes=2))
    2002
    """
    share = 4.0 * check_whole("classes", classes, 2) / check_lead("gap", gap)
    return math.sqrt(2.0 * check_whole("rounds", rounds) * check_model_count(models)) * (1.0 + share)


def misidentification(rounds: int, models: int, closeness: float) -> float:
    """Theorem "Identification Probability", stochastic: k exp(-0.18 λ sqrt(T ln k)).

    The chance that another model than the best is recommended after T rounds (`recommend="weights"`), where items
    are drawn independently and one model is the best. It holds for any single stream as well, in whatever order,
    with the λ and the best model of these T rounds themselves.

    >>> round(misidentification(rounds=10_000, models=2, closeness=0.5), 5)
    0.00111
    """
    log_models = check_model_count(models)
    lead = check_lead("closeness", closeness)
    return models * math.exp(-RATE * lead * math.sqrt(check_whole("rounds", rounds) * log_models))


def restricted_misidentification(rounds: int, models: int, gap: float, start: int = 1) -> float:
    """Theorem "Identification Probability", restricted adversary: k exp(-0.18 Δ² sqrt(T ln k)).

    From round `start` (t₀) on, one model has made fewer mistakes than every other by at least Δ a round.

    >>> round(restricted_misidentification(rounds=10_000, models=2, gap=0.7), 5)
    0.00129
    """
    return misidentification(_from(rounds, start), models, check_lead("gap", gap) ** 2)


def random_round_accuracy_gap(rounds: int, models: int) -> float:
    """Theorem "Accuracy Gap", random round: sqrt(8 ln k / T), if items are drawn independently.

    The expected gap in true accuracy between the best model and the one that `recommend="random-round"` recommends
    after T rounds. On other streams it bounds the loss on the random round itself, beyond L* / T, and *not* the gap
    over the stream, which can stay at 2/9 for ever.

    >>> round(random_round_accuracy_gap(rounds=10_000, models=2), 4)
    0.0235
    """
    return regret(rounds, models) / rounds


def accuracy_gap(rounds: int, models: int, closeness: float, largest_gap: float = 1.0) -> float:
    """Theorem "Accuracy Gap", stochastic: max Δ times the bound on misidentification.

    The expected gap in true accuracy between the best model and the recommended one (`recommend="weights"`).

    >>> round(accuracy_gap(rounds=10_000, models=2, closeness=0.5, largest_gap=0.5), 5)
    0.00056
    """
    return check_share("largest_gap", largest_gap) * misidentification(rounds, models, closeness)


def restricted_accuracy_gap(rounds: int, models: int, gap: float, start: int = 1) -> float:
    """Theorem "Accuracy Gap", restricted adversary: on the stream so far, at most the chance to misidentify.

    >>> round(restricted_accuracy_gap(rounds=10_000, models=2, gap=0.7), 5)
    0.00129
    """
    return restricted_misidentification(rounds, models, gap, start)


def confidence(rounds: int, models: int, closeness: float) -> float:
    """The least chance that the best model is recommended after T rounds; 0 where the theorem says nothing.

    >>> round(confidence(rounds=10_000, models=2, closeness=0.5), 3), confidence(rounds=50, models=2, closeness=0.5)
    (0.999, 0.0)
    """
    return max(0.0, 1.0 - misidentification(rounds, models, closeness))


def rounds_for_random_round(wanted: float, models: int) -> int:
    """How many rounds until the expected accuracy gap of a random round is at most ε: 8 ln k / ε².

    >>> rounds_for_random_round(0.05, models=2)
    2219
    """
    return math.ceil(8.0 * check_model_count(models) / check_wanted(wanted) ** 2)


def rounds_for_misidentification(wanted: float, models: int, closeness: float) -> int:
    """How many rounds until the best model is missed with probability at most p: ln²(k/p) / (0.18² λ² ln k).

    >>> rounds_for_misidentification(0.05, models=2, closeness=0.5)
    2424
    """
    return _rounds_for(models / check_wanted(wanted), models, closeness)


def rounds_for_accuracy_gap(wanted: float, models: int, closeness: float, largest_gap: float = 1.0) -> int:
    """How many rounds until the recommended model's expected gap is at most ε: ln²(k max Δ / ε) / (0.18² λ² ln k).

    >>> rounds_for_accuracy_gap(0.05, models=2, closeness=0.5, largest_gap=0.5)
    1599
    """
    most = check_share("largest_gap", largest_gap)
    return _rounds_for(models * most / check_wanted(wanted), models, closeness)


def rounds_for_restricted_accuracy_gap(wanted: float, models: int, gap: float, start: int = 1) -> int:
    """The same for a restricted adversary: the larger of ln²(k/ε) / (0.18² Δ⁴ ln k) and t₀.

    >>> rounds_for_restricted_accuracy_gap(0.05, models=2, gap=0.7, start=5_000)
    5000
    """
    needed = rounds_for_misidentification(wanted, models, check_lead("gap", gap) ** 2)
    return max(needed, check_whole("start", start))


def _from(rounds: int, start: int) -> int:
    if check_whole("rounds", rounds) < check_whole("start", start):
        raise InputError(
            f"rounds {rounds:,} are fewer than start {start:,}; nothing is promised before that round."
        )
    return rounds


def _rounds_for(odds: float, models: int, closeness: float) -> int:
    """The first T at which exp(0.18 λ sqrt(T ln k)) is at least `odds`."""
    log_models = check_model_count(models)
    root = math.log(max(1.0, odds)) / (RATE * check_lead("closeness", closeness))
    needed = root * root / log_models
    if needed > LARGEST:
        raise InputError(f"closeness {closeness!r}: more than 10**40 rounds; pass one that is farther from 0.")
    return max(1, math.ceil(needed))
