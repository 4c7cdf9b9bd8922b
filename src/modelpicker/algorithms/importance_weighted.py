"""Importance weighted active learning: query while the models that may still be best disagree."""

import math
from typing import ClassVar, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm, Models, check_probability, check_scale
from modelpicker.algorithms.engine import Kernel
from modelpicker.algorithms.kernels import FOLLOW, LEADER, TIED, Codes, Floats, Ints, Scratch, agreed, charge


class State(NamedTuple):
    """What importance weighting remembers."""

    losses: Floats  # mistakes on the labels bought, each over its round's query probability
    alive: Ints  # 1 for the models that survive
    survivors: Ints  # how many
    worst: Floats  # the largest loss among them
    standing: Ints


class Settings(NamedTuple):
    """What its kernel is told."""

    delta: float


def slack(t: int, survivors: int, delta: float) -> float:
    """Δ_t: how far above the smallest mean loss a model may be and survive round t."""
    if t == 1:
        return 0.0
    return math.sqrt(8.0 / t * math.log(2.0 * t * (t + 1.0) * survivors * survivors / delta))


def drop(state: State, lowest: float, t: int, bar: float) -> None:
    """Drop for good every survivor whose mean loss is above the bar."""
    worst = lowest
    for i in range(len(state.losses)):
        if state.alive[i] == 1:
            if state.losses[i] / t > bar:
                state.alive[i] = 0
                state.survivors[0] -= 1
            else:
                worst = max(worst, state.losses[i])
    state.worst[0] = worst


def split(alive: Ints, leader: int, row: Codes) -> bool:
    """Whether a survivor differs from the leader on this row."""
    for i in range(len(row)):  # noqa: SIM110 (a generator does not compile)
        if row[i] != row[leader] and alive[i] == 1:
            return True
    return False


def rank_survivors(state: State) -> None:
    """Note which survivor has the smallest loss, how many share it, and the largest loss."""
    leader = -1
    tied = 0
    worst = 0.0
    for i in range(len(state.losses)):
        if state.alive[i] == 1:
            loss = state.losses[i]
            worst = max(worst, loss)
            if leader < 0 or loss < state.losses[leader]:
                leader = i
                tied = 1
            elif loss == state.losses[leader]:
                tied += 1
    state.standing[LEADER] = leader
    state.standing[TIED] = tied
    state.worst[0] = worst


def decide(
    state: State, settings: Settings, t: int, row: Codes, coins: Floats, scale: float, scratch: Scratch
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


def recommend(state: State, settings: Settings, coin: float) -> int:
    """The survivor of the smallest importance-weighted loss; the coin decides between equals."""
    leader = state.standing[LEADER]
    passed_over = min(int(coin * state.standing[TIED]), state.standing[TIED] - 1)
    lowest = state.losses[leader]
    while passed_over > 0:
        leader += 1
        if state.alive[leader] == 1 and state.losses[leader] == lowest:
            passed_over -= 1
    return leader


def learn(state: State, settings: Settings, row: Codes, label: int, probability: float) -> None:
    """A mistake counts one over the probability of having seen it."""
    charge(state.losses, row, label, 1.0 / probability)
    rank_survivors(state)


class ImportanceWeighted(Algorithm):
    """Keeps the models that a deviation bound cannot rule out, and queries where they disagree.

    Args:
        models: how many models, or their names.
        seed: what all coins are drawn from.
        query_scale: β, the query probability where survivors disagree.
        delta: δ, the confidence parameter of the bound, above 0 and at most 1.
    """

    name: ClassVar[str] = "importance-weighted"
    dial: ClassVar[str] = "query_scale"
    kernel: ClassVar[Kernel] = Kernel(decide, recommend, learn)
    state: State

    def __init__(
        self, models: Models, seed: int = 0, *, query_scale: float = 1.0, delta: float = 0.01
    ) -> None:
        query_scale = check_scale("query_scale", query_scale)
        super().__init__(models, seed, query_scale=query_scale, delta=check_probability("delta", delta))

    def start(self, models: int) -> State:
        """Everybody alive and tied."""
        return State(
            losses=np.zeros(models),
            alive=np.ones(models, dtype=np.int64),
            survivors=np.array([models]),
            worst=np.zeros(1),
            standing=np.array([0, models]),
        )

    def settings(self) -> Settings:
        """The confidence parameter."""
        return Settings(delta=float(self.options["delta"]))
