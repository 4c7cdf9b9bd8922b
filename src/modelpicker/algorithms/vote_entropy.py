"""Vote entropy: query by the entropy of the models' votes, every model with one vote for ever."""

import math
from typing import ClassVar, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm, Models, check_count, check_scale
from modelpicker.algorithms.engine import Kernel
from modelpicker.algorithms.kernels import FOLLOW, Codes, Floats, Ints, Scratch, agreed, best, charge, rank


class State(NamedTuple):
    """What vote entropy remembers."""

    losses: Floats  # mistakes on the labels bought
    standing: Ints


class Settings(NamedTuple):
    """What its kernel is told."""

    share: float  # 1 / k
    log_models: float  # log2 k
    log_classes: float  # log2 C


def decide(
    state: State, settings: Settings, t: int, row: Codes, coins: Floats, scale: float, scratch: Scratch
) -> tuple[float, int]:
    """The entropy of the votes in bits, over that of an even vote; those who abstain vote alike.

    With n votes for a class, H = log2 k − (1/k) Σ n log2 n, and Σ n log2 n is the sum over the models of
    log2 of the votes for what they said.
    """
    if agreed(row):
        return 0.0, FOLLOW
    votes = scratch.tally
    for i in range(len(row)):
        votes[row[i]] += 1.0
    together = 0.0
    for i in range(len(row)):
        n = votes[row[i]]
        if n > 1.0:
            together += n * math.log2(n)
        votes[row[i]] = 0.0
    entropy = settings.log_models - together * settings.share
    return min(1.0, scale * entropy / settings.log_classes), FOLLOW


def recommend(state: State, settings: Settings, coin: float) -> int:
    """The model with the fewest mistakes on the labels bought."""
    return best(state.losses, state.standing, coin)


def learn(state: State, settings: Settings, row: Codes, label: int, probability: float) -> None:
    """Count the mistakes."""
    charge(state.losses, row, label, 1.0)
    rank(state.losses, state.standing)


class VoteEntropy(Algorithm):
    """Query by committee: the more evenly the models' votes are split, the likelier the query.

    Args:
        models: how many models, or their names.
        seed: what all coins are drawn from.
        classes: C, how many classes there are. It only normalises the entropy; any class may be predicted.
        query_scale: β, a factor on the query probability.
    """

    name: ClassVar[str] = "vote-entropy"
    dial: ClassVar[str] = "query_scale"
    kernel: ClassVar[Kernel] = Kernel(decide, recommend, learn)
    state: State

    def __init__(self, models: Models, seed: int = 0, *, classes: int, query_scale: float = 1.0) -> None:
        classes = check_count("classes", classes)
        super().__init__(models, seed, classes=classes, query_scale=check_scale("query_scale", query_scale))

    def start(self, models: int) -> State:
        """No mistakes, everybody tied."""
        return State(losses=np.zeros(models), standing=np.array([0, models]))

    def settings(self) -> Settings:
        """The normalisers; a single class leaves room for an abstention beside it."""
        models = len(self.models)
        classes = max(2, int(self.options["classes"]))
        return Settings(share=1.0 / models, log_models=math.log2(models), log_classes=math.log2(classes))
