"""Model Selector (Okanovic et al., 2024): ask about the item whose label leaves the least doubt about the models.

There is a belief over the models, uniform at first. Each label multiplies the belief in the models that are right
by γ = (1 - ε) / ε. The next item is the one whose label is expected to leave the least entropy in the belief, where
all classes of the collection are taken to be equally likely.
"""

import math
from typing import NamedTuple

import numpy as np

from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.pools.peers import Mask, PoolRule, charge_item, prepare_nothing
from modelpicker.kernels.primitives import LEADER, Codes, Floats, Ints, no_mistakes, smallest_loss, weigh
from modelpicker.options import Option

EPSILON = Option(
    "epsilon",
    float,
    "How often the best model is assumed to be wrong. The smaller, the more a single label counts.",
    0.46,
    low=0.0,
    above=True,
    high=0.5,
    below=True,
    symbol="ε",
)
TAKEN = -1.0  # in place of a mass: this class of the item has been counted


class BeliefState(NamedTuple):
    """What Model Selector remembers, and room for one item."""

    losses: Floats  # mistakes on the labels: belief is γ to the power of minus these, normalised
    standing: Ints
    belief: Floats  # p, a place per model
    spread: Floats  # p ln p
    mass: Floats  # Σ p over the models that say a class; the last place is for abstentions
    mass_spread: Floats  # Σ p ln p over them


class BeliefSettings(NamedTuple):
    """What its kernels are told."""

    growth: float  # γ
    log_growth: float
    classes: float


def update_belief(state: BeliefState, settings: BeliefSettings) -> float:
    """Fill in p and p ln p; the sum of the latter, minus the entropy."""
    lowest = state.losses[state.standing[LEADER]]
    weigh(state.losses, lowest, settings.log_growth, state.belief)
    total = 0.0
    for i in range(len(state.belief)):
        total += state.belief[i]
    log_total = math.log(total)
    whole = 0.0
    for i in range(len(state.belief)):
        state.belief[i] /= total
        state.spread[i] = state.belief[i] * ((lowest - state.losses[i]) * settings.log_growth - log_total)
        whole += state.spread[i]
    return whole


def entropy_after(mass: float, mass_spread: float, whole: float, settings: BeliefSettings) -> float:
    """The entropy of the belief once models of this mass are multiplied by γ.

    Args:
        mass: Σ p over them.
        mass_spread: Σ p ln p over them.
        whole: Σ p ln p over all models.
        settings: γ and its log.
    """
    more = settings.growth - 1.0
    total = 1.0 + more * mass
    return math.log(total) - (whole + more * mass_spread + settings.growth * settings.log_growth * mass) / total


def expected_entropy(state: BeliefState, settings: BeliefSettings, row: Codes, whole: float) -> float:
    """The entropy after the label of an item, on average over all classes; a class nobody says changes nothing."""
    mass, mass_spread = state.mass, state.mass_spread
    for i in range(len(row)):
        mass[row[i]] += state.belief[i]
        mass_spread[row[i]] += state.spread[i]
    sum_of_entropies, said = 0.0, 0.0
    for i in range(len(row)):
        if row[i] >= 0 and mass[row[i]] != TAKEN:
            sum_of_entropies += entropy_after(mass[row[i]], mass_spread[row[i]], whole, settings)
            said += 1.0
            mass[row[i]] = TAKEN
    for i in range(len(row)):
        mass[row[i]] = 0.0
        mass_spread[row[i]] = 0.0
    return (sum_of_entropies - (settings.classes - said) * whole) / settings.classes


def score_by_entropy(
    state: BeliefState, settings: BeliefSettings, rows: Codes, asking: Mask, scores: Floats
) -> None:
    """A `score`: minus the expected entropy."""
    whole = update_belief(state, settings)
    for i in range(len(rows)):
        if asking[i]:
            scores[i] = -expected_entropy(state, settings, rows[i], whole)


class ModelSelector(PoolRule):
    """Model Selector; recommends the most likely model, which is the one with the fewest mistakes.

    Args:
        epsilon: ε, above 0 and below 1/2. The smaller, the more a single label counts.
    """

    name = "model-selector"
    about = AlgorithmDescription(
        summary="Asks about the item whose label leaves the least doubt (Okanovic et al., 2024).",
        when_to_use="Use it for comparisons.",
        options=(EPSILON,),
    )
    parts = (prepare_nothing, score_by_entropy, charge_item, smallest_loss)

    def __init__(self, *, epsilon: float = 0.46) -> None:
        self.epsilon = float(EPSILON.check(epsilon))

    def start(self, items: int, models: int, classes: int) -> BeliefState:  # noqa: ARG002 (as it is called)
        """No mistakes: the belief is uniform."""
        return BeliefState(
            *no_mistakes(models),
            belief=np.zeros(models),
            spread=np.zeros(models),
            mass=np.zeros(classes + 1),
            mass_spread=np.zeros(classes + 1),
        )

    def settings(self, classes: int) -> BeliefSettings:
        """γ from ε."""
        growth = (1.0 - self.epsilon) / self.epsilon
        return BeliefSettings(growth, math.log(growth), float(classes))
