"""Label efficient prediction: query every disagreement with one fixed probability."""

from typing import ClassVar, NamedTuple

from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models, check_probability
from modelpicker.kernels.primitives import (
    FOLLOW,
    Codes,
    Floats,
    Mistakes,
    Scratch,
    agreed,
    count_mistakes,
    no_mistakes,
    smallest_loss,
)


class LabelEfficientSettings(NamedTuple):
    """What its kernel is told, besides the probability: nothing it needs, but Numba wants something."""

    models: int


def decide(
    state: Mistakes,
    settings: LabelEfficientSettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """ε wherever models disagree."""
    return 0.0 if agreed(row) else scale, FOLLOW


class LabelEfficient(Algorithm):
    """Queries a fixed share of the rounds on which models disagree.

    Args:
        models: how many models, or their names.
        seed: the random seed: all coins are drawn from it.
        probability: ε, above 0 and at most 1. For a budget of b labels over T rounds take
            min(1, b / (T · share of rounds on which models disagree)).
    """

    name: ClassVar[str] = "label-efficient"
    dial: ClassVar[str] = "probability"
    kernel: ClassVar[Kernel] = Kernel(decide, smallest_loss, count_mistakes)
    state: Mistakes

    def __init__(self, models: Models, seed: int = 0, *, probability: float) -> None:
        super().__init__(models, seed, probability=check_probability("probability", probability))

    def start(self, models: int) -> Mistakes:
        """No mistakes, everybody tied."""
        return no_mistakes(models)

    def settings(self) -> LabelEfficientSettings:
        """How many models there are."""
        return LabelEfficientSettings(models=len(self.models))
