"""Structural committee: query by how often two models, drawn from a posterior, have differed so far."""

from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
from modelpicker.kernels.primitives import (
    FIRST,
    FOLLOW,
    LEADER,
    SECOND,
    Codes,
    Floats,
    Ints,
    Scratch,
    agreed,
    charge,
    drawn,
    smallest_loss,
    weigh,
)
from modelpicker.options import scale


class CommitteeState(NamedTuple):
    """What structural committee remembers."""

    losses: Floats  # mistakes on the labels bought
    standing: Ints
    cumulated: Floats  # running sums of the posterior ρ ∝ exp(-β · mistakes)
    differed: npt.NDArray[np.int32]  # [i, j] + [j, i] is twice the rounds on which models i and j differed


class CommitteeSettings(NamedTuple):
    """What its kernel is told."""

    beta: float


def note_differences(row: Codes, leader: int, differed: npt.NDArray[np.int32], others: Codes) -> None:
    """Count this round for every pair of models that differ.

    Only those who differ from the leader have anything to note: 2 for a pair with someone who sides with the
    leader, who notes nothing, and 1 for a pair in which the other notes it too.
    """
    said = row[leader]
    dissent = 0
    for i in range(len(row)):
        others[dissent] = i
        dissent += row[i] != said
    for d in range(dissent):
        i = others[d]
        mine = row[i]
        for j in range(len(row)):
            differed[i, j] += (row[j] != mine) + (row[j] == said)


def decide(
    state: CommitteeState,
    settings: CommitteeSettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """The share of rounds so far, this one included, on which two models drawn from the posterior differ."""
    if agreed(row):
        return 0.0, FOLLOW
    note_differences(row, state.standing[LEADER], state.differed, scratch.others)
    one = drawn(state.cumulated, coins[FIRST])
    other = drawn(state.cumulated, coins[SECOND])
    differed = (state.differed[one, other] + state.differed[other, one]) // 2
    return min(1.0, scale * differed / t), FOLLOW


def learn(
    state: CommitteeState, settings: CommitteeSettings, t: int, row: Codes, lost: Floats, probability: float
) -> None:
    """Count the mistakes, and turn the posterior away from those who made them."""
    charge(state.losses, state.standing, lost, 1.0)
    lowest = state.losses[state.standing[LEADER]]
    weigh(state.losses, lowest, settings.beta, state.cumulated)
    for i in range(1, len(row)):
        state.cumulated[i] += state.cumulated[i - 1]


class StructuralCommittee(Algorithm):
    """Structural query by committee; O(k²) a round, for it counts the differences of all pairs.

    Args:
        models: how many models, or their names.
        seed: the random seed: all coins are drawn from it.
        beta: β, how fast the posterior turns away from a model with every mistake.
        disagreement_scale: s, a factor on the query probability; the paper's algorithm has 1.
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`.

    >>> import modelpicker as mp
    >>> picker = mp.StructuralCommittee(["small", "large"], seed=0, beta=1.0)
    >>> decision = picker.observe(["cat", "dog"])
    >>> if decision.query:
    ...     picker.learn(decision.round, "dog")
    >>> picker.rounds
    1
    """

    name: ClassVar[str] = "structural-committee"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries by how often two models, drawn from a posterior, have differed so far.",
        when_to_use="Use it for comparisons.",
        promises="Nothing of its own; certificates hold as for every algorithm.",
        options=(
            scale(
                "beta",
                "How fast the posterior turns away from a model with every mistake.",
                usual=1.0,
                symbol="β",
                advice="0.3",
            ),
            scale(
                "disagreement_scale",
                "A factor on the query probability; the paper's algorithm has 1.",
                default=1.0,
                symbol="s",
                advice="1; the authors of the paper ran 2 to 150",
            ),
        ),
    )
    dial: ClassVar[str] = "disagreement_scale"
    kernel: ClassVar[Kernel] = Kernel(decide, smallest_loss, learn)
    state: CommitteeState

    def __init__(
        self, models: Models, seed: int = 0, *, beta: float, disagreement_scale: float = 1.0, loss: object = None
    ) -> None:
        super().__init__(models, seed, loss=loss, beta=beta, disagreement_scale=disagreement_scale)

    def start(self, models: int) -> CommitteeState:
        """No mistakes, everybody tied, nobody has differed."""
        return CommitteeState(
            losses=np.zeros(models),
            standing=np.array([0, models]),
            cumulated=np.arange(1.0, models + 1.0),
            differed=np.zeros((models, models), dtype=np.int32),
        )

    def settings(self) -> CommitteeSettings:
        """The posterior's temper."""
        return CommitteeSettings(beta=float(self.options["beta"]))

    @property
    def weights(self) -> Floats:
        """The posterior that the next round would draw from; it sums to 1."""
        cumulated = self.state.cumulated
        weights: Floats = np.diff(cumulated, prepend=0.0) / cumulated[-1]
        return weights
