"""Efficient active learning: always query while the two best models are close, then less and less often."""

import math
from typing import ClassVar, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
from modelpicker.kernels.primitives import (
    FOLLOW,
    LEADER,
    Codes,
    Floats,
    Ints,
    Scratch,
    agreed,
    charge,
    smallest_loss,
)
from modelpicker.options import scale


class EfficientActiveState(NamedTuple):
    """What efficient active learning remembers."""

    losses: Floats  # mistakes on the labels bought, each over its round's query probability
    standing: Ints
    lead: Floats  # the second smallest distinct loss minus the smallest; 0 if all are equal


class EfficientActiveSettings(NamedTuple):
    """What its kernel is told."""

    threshold_scale: float


def lead_of(losses: Floats, lowest: float) -> float:
    """The second smallest distinct loss minus the smallest."""
    second = math.inf
    for i in range(len(losses)):
        loss = losses[i]
        second = loss if lowest < loss < second else second
    return second - lowest if second < math.inf else 0.0


def decide(
    state: EfficientActiveState,
    settings: EfficientActiveSettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """1 while the gap is within the threshold, else the mean of both roots of the gap equation."""
    if agreed(row):
        return 0.0, FOLLOW
    if t == 1:
        return 1.0, FOLLOW
    allowance = scale * math.log(t) / (t - 1.0)
    gap = state.lead[0] / t
    if gap == 0.0 or gap <= settings.threshold_scale * (math.sqrt(allowance) + allowance):
        return 1.0, FOLLOW
    return min(1.0, allowance * (2.0 * gap + 1.0) / (2.0 * gap * gap)), FOLLOW


def learn(
    state: EfficientActiveState,
    settings: EfficientActiveSettings,
    t: int,
    row: Codes,
    lost: Floats,
    probability: float,
) -> None:
    """A mistake counts one over the probability of having seen it."""
    charge(state.losses, state.standing, lost, 1.0 / probability)
    state.lead[0] = lead_of(state.losses, state.losses[state.standing[LEADER]])


class EfficientActive(Algorithm):
    """Queries by the gap between the two best models, as the authors of the paper ran it.

    Args:
        models: how many models, or their names.
        seed: the random seed: all coins are drawn from it.
        c0: how large an allowance the gap is held against; larger asks more.
        threshold_scale: s, a factor on the threshold below which every disagreement is queried.
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`.

    >>> import modelpicker as mp
    >>> picker = mp.EfficientActive(["small", "large"], seed=0, c0=0.01)
    >>> decision = picker.observe(["cat", "dog"])
    >>> if decision.query:
    ...     picker.learn(decision.round, "dog")
    >>> picker.rounds
    1
    """

    name: ClassVar[str] = "efficient-active"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries every disagreement while the two best models are close, then less and less often.",
        when_to_use="Use it for comparisons.",
        promises="Nothing of its own; certificates hold as for every algorithm.",
        options=(
            scale(
                "c0",
                "How large an allowance the gap is held against: larger asks more, and 0 asks almost nothing.",
                usual=0.0003,
                advice="0.001",
            ),
            scale(
                "threshold_scale",
                "A factor on the threshold below which every disagreement is queried.",
                default=1.0,
                symbol="s",
                advice="5; the authors of the paper ran 3 to 6",
            ),
        ),
    )
    dial: ClassVar[str] = "c0"
    weighted: ClassVar[bool] = True
    kernel: ClassVar[Kernel] = Kernel(decide, smallest_loss, learn)
    state: EfficientActiveState

    def __init__(
        self, models: Models, seed: int = 0, *, c0: float, threshold_scale: float = 1.0, loss: object = None
    ) -> None:
        super().__init__(models, seed, loss=loss, c0=c0, threshold_scale=threshold_scale)

    def start(self, models: int) -> EfficientActiveState:
        """No losses, everybody tied."""
        return EfficientActiveState(losses=np.zeros(models), standing=np.array([0, models]), lead=np.zeros(1))

    def settings(self) -> EfficientActiveSettings:
        """How generous the threshold is."""
        return EfficientActiveSettings(threshold_scale=float(self.options["threshold_scale"]))
