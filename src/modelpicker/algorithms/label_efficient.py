"""Label efficient prediction: query every disagreement with one fixed probability."""

from typing import ClassVar, NamedTuple

from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
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
from modelpicker.options import Option


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
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`.

    >>> import modelpicker as mp
    >>> picker = mp.LabelEfficient(["small", "large"], seed=0, probability=0.2)
    >>> decision = picker.observe(["cat", "dog"])
    >>> if decision.query:
    ...     picker.learn(decision.round, "dog")
    >>> picker.rounds
    1
    """

    name: ClassVar[str] = "label-efficient"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries every disagreement with one fixed probability.",
        when_to_use="Use it for comparisons.",
        promises="Nothing of its own; certificates hold as for every algorithm.",
        options=(
            Option(
                "probability",
                float,
                "The probability of querying a disagreement.",
                low=0.0,
                above=True,
                high=1.0,
                usual=0.1,
                symbol="ε",
                advice="labels you can buy, over disagreements you expect",
            ),
        ),
    )
    dial: ClassVar[str] = "probability"
    uniform: ClassVar[bool] = True
    kernel: ClassVar[Kernel] = Kernel(decide, smallest_loss, count_mistakes)
    state: Mistakes

    def __init__(self, models: Models, seed: int = 0, *, probability: float, loss: object = None) -> None:
        super().__init__(models, seed, loss=loss, probability=probability)

    def start(self, models: int) -> Mistakes:
        """No mistakes, everybody tied."""
        return no_mistakes(models)

    def settings(self) -> LabelEfficientSettings:
        """How many models there are."""
        return LabelEfficientSettings(models=len(self.models))
