"""Label efficient prediction: query every disagreement with one fixed probability."""

from typing import ClassVar, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm, Models, check_probability
from modelpicker.algorithms.engine import Kernel
from modelpicker.algorithms.kernels import FOLLOW, Codes, Floats, Ints, Scratch, agreed, best, charge


class State(NamedTuple):
    """What label efficient prediction remembers."""

    losses: Floats  # mistakes on the labels bought
    standing: Ints


class Settings(NamedTuple):
    """What its kernel is told: nothing but the dial."""


def decide(
    state: State, settings: Settings, t: int, row: Codes, coins: Floats, scale: float, scratch: Scratch
) -> tuple[float, int]:
    """ε wherever models disagree."""
    return 0.0 if agreed(row) else scale, FOLLOW


def recommend(state: State, settings: Settings, coin: float) -> int:
    """The model with the fewest mistakes on the labels bought."""
    return best(state.losses, state.standing, coin)


def learn(state: State, settings: Settings, row: Codes, label: int, probability: float) -> None:
    """Count the mistakes."""
    charge(state.losses, state.standing, row, label, 1.0)


class LabelEfficient(Algorithm):
    """Queries a fixed share of the rounds on which models disagree.

    Args:
        models: how many models, or their names.
        seed: what all coins are drawn from.
        probability: ε, above 0 and at most 1. For a budget of b labels over T rounds take
            min(1, b / (T · share of rounds on which models disagree)).
    """

    name: ClassVar[str] = "label-efficient"
    dial: ClassVar[str] = "probability"
    kernel: ClassVar[Kernel] = Kernel(decide, recommend, learn)
    state: State

    def __init__(self, models: Models, seed: int = 0, *, probability: float) -> None:
        super().__init__(models, seed, probability=check_probability("probability", probability))

    def start(self, models: int) -> State:
        """No mistakes, everybody tied."""
        return State(losses=np.zeros(models), standing=np.array([0, models]))

    def settings(self) -> Settings:
        """Nothing."""
        return Settings()
