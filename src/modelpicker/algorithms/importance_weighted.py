"""Importance weighted active learning: query while the models that may still be best disagree."""

import math
from typing import ClassVar, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
from modelpicker.kernels.primitives import (
    ABSTAINED,
    FOLLOW,
    LEADER,
    Codes,
    Floats,
    Ints,
    Scratch,
    agreed,
    best_among,
    charge,
    rank_among,
)
from modelpicker.options import Option, scale

ALIVE = 1  # what `alive` has for a model that survives


class ImportanceWeightedState(NamedTuple):
    """What importance weighting remembers."""

    losses: Floats  # mistakes on the labels bought, each over its round's query probability
    alive: Codes  # 1 for the models that survive
    survivors: Ints  # how many
    worst: Floats  # no survivor has a larger loss
    standing: Ints


class ImportanceWeightedSettings(NamedTuple):
    """What its kernel is told."""

    delta: float


def slack(t: int, survivors: int, delta: float) -> float:
    """Δ_t: how far above the smallest mean loss a model may be and survive round t."""
    if t == 1:
        return 0.0
    return math.sqrt(8.0 / t * math.log(2.0 * t * (t + 1.0) * survivors * survivors / delta))


def drop(state: ImportanceWeightedState, lowest: float, t: int, bar: float) -> None:
    """Drop permanently every survivor whose mean loss is above the bar."""
    worst = lowest
    for i in range(len(state.losses)):
        if state.alive[i] == 1:
            if state.losses[i] / t > bar:
                state.alive[i] = 0
                state.survivors[0] -= 1
            else:
                worst = max(worst, state.losses[i])
    state.worst[0] = worst


def split(alive: Codes, leader: int, row: Codes) -> bool:
    """Whether a survivor differs from the leader on this row."""
    said = row[leader]
    differing = 0
    for i in range(len(row)):
        differing += alive[i] if row[i] != said and row[i] >= ABSTAINED else 0
    return differing > 0


def decide(
    state: ImportanceWeightedState,
    settings: ImportanceWeightedSettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """Drop who can be told to be worse; query where those who are left disagree."""
    if agreed(row):
        return 0.0, FOLLOW
    leader = state.standing[LEADER]
    lowest = state.losses[leader]
    if state.worst[0] > lowest:
        bar = lowest / t + slack(t, state.survivors[0], settings.delta)
        if state.worst[0] / t > bar:
            drop(state, lowest, t, bar)
    return min(1.0, scale) if split(state.alive, leader, row) else 0.0, FOLLOW


def recommend(state: ImportanceWeightedState, settings: ImportanceWeightedSettings, coin: float) -> int:
    """The survivor of the smallest importance-weighted loss; the coin decides between equals."""
    return best_among(state.losses, state.alive, ALIVE, state.standing, coin)


def learn(
    state: ImportanceWeightedState,
    settings: ImportanceWeightedSettings,
    t: int,
    row: Codes,
    lost: Floats,
    probability: float,
) -> None:
    """A mistake counts one over the probability of having seen it."""
    charge(state.losses, state.standing, lost, 1.0 / probability)
    state.worst[0] += 1.0 / probability
    rank_among(state.losses, state.alive, ALIVE, state.standing)


class ImportanceWeighted(Algorithm):
    """Keeps the models that a deviation bound cannot rule out, and queries where they disagree.

    Args:
        models: how many models, or their names.
        seed: the random seed: all coins are drawn from it.
        query_scale: β, the query probability where survivors disagree.
        delta: δ, the confidence parameter of the bound, above 0 and at most 1.
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`.

    >>> import modelpicker as mp
    >>> picker = mp.ImportanceWeighted(["small", "large"], seed=0)
    >>> decision = picker.observe(["cat", "dog"])
    >>> if decision.query:
    ...     picker.learn(decision.round, "dog")
    >>> picker.rounds
    1
    """

    name: ClassVar[str] = "importance-weighted"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries where the models that a bound has not ruled out disagree.",
        when_to_use="Use it for comparisons.",
        promises="Nothing of its own; certificates hold as for every algorithm.",
        options=(
            scale(
                "query_scale",
                "The query probability where models that are not ruled out disagree.",
                default=1.0,
                symbol="β",
                advice="1",
            ),
            Option(
                "delta",
                float,
                "The confidence parameter of the bound.",
                0.01,
                low=0.0,
                above=True,
                high=1.0,
                symbol="δ",
                advice="0.01",
            ),
        ),
    )
    dial: ClassVar[str] = "query_scale"
    weighted: ClassVar[bool] = True
    kernel: ClassVar[Kernel] = Kernel(decide, recommend, learn)
    state: ImportanceWeightedState

    def __init__(
        self, models: Models, seed: int = 0, *, query_scale: float = 1.0, delta: float = 0.01, loss: object = None
    ) -> None:
        super().__init__(models, seed, loss=loss, query_scale=query_scale, delta=delta)

    def start(self, models: int) -> ImportanceWeightedState:
        """Everybody alive and tied."""
        return ImportanceWeightedState(
            losses=np.zeros(models),
            alive=np.ones(models, dtype=np.int32),
            survivors=np.array([models]),
            worst=np.zeros(1),
            standing=np.array([0, models]),
        )

    def check_state(self) -> None:
        """The leader must be among the survivors, and their number right."""
        super().check_state()
        alive = self.state.alive
        if not (set(alive.tolist()) <= {0, 1} and alive[self.state.standing[LEADER]] == 1):
            raise self.damaged("its leader has been dropped")
        if self.state.survivors[0] != alive.sum():
            raise self.damaged("it miscounts the survivors")

    def settings(self) -> ImportanceWeightedSettings:
        """The confidence parameter."""
        return ImportanceWeightedSettings(delta=float(self.options["delta"]))
