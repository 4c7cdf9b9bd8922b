"""Vote entropy: query by the entropy of the models' votes, every model with one vote for ever."""

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
    Mistakes,
    Scratch,
    agreed,
    count_mistakes,
    no_mistakes,
    smallest_loss,
)
from modelpicker.options import count, scale


class VoteEntropySettings(NamedTuple):
    """What its kernel is told."""

    together: Floats  # n log2 n, by n
    gain: Floats  # (n + 1) log2 (n + 1) - n log2 n, by n
    share: float  # 1 / k
    log_models: float  # log2 k
    log_classes: float  # log2 C


def decide(
    state: Mistakes,
    settings: VoteEntropySettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """The entropy of the votes in bits, over that of an even vote; those who abstain vote alike.

    With n votes for a class, the entropy is log2 k − (1/k) Σ n log2 n.
    """
    if agreed(row):
        return 0.0, FOLLOW
    # Those who say what the leader says are counted at once; the votes of the others one by one.
    others, votes = scratch.others, scratch.votes
    said = max(row[state.standing[LEADER]], ABSTAINED)
    dissent = 0
    for i in range(len(row)):
        vote = max(row[i], ABSTAINED)  # those who were not asked vote with those who abstain
        others[dissent] = vote
        dissent += vote != said
    together = settings.together[len(row) - dissent]
    for i in range(dissent):
        n = votes[others[i]]
        together += settings.gain[n]
        votes[others[i]] = n + 1
    for i in range(dissent):
        votes[others[i]] = 0
    entropy = settings.log_models - together * settings.share
    return min(1.0, scale * entropy / settings.log_classes), FOLLOW


class VoteEntropy(Algorithm):
    """Query by committee: the more evenly the models' votes are split, the likelier the query.

    Args:
        models: how many models, or their names.
        seed: the random seed: all coins are drawn from it.
        classes: C, how many classes there are. It only normalises the entropy; any class may be predicted.
        query_scale: β, a factor on the query probability.
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`.

    >>> import modelpicker as mp
    >>> picker = mp.VoteEntropy(["small", "large"], seed=0, classes=2)
    >>> decision = picker.observe(["cat", "dog"])
    >>> if decision.query:
    ...     picker.learn(decision.round, "dog")
    >>> picker.rounds
    1
    """

    name: ClassVar[str] = "vote-entropy"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries by the entropy of the models' votes.",
        when_to_use="Use it for comparisons.",
        promises="Nothing of its own; certificates hold as for every algorithm.",
        options=(
            count(
                "classes",
                "How many classes there are: it only normalises the entropy, and 1 counts as 2.",
                symbol="C",
                advice="the number of classes",
            ),
            scale("query_scale", "A factor on the query probability.", default=1.0, symbol="β", advice="1"),
        ),
    )
    dial: ClassVar[str] = "query_scale"
    kernel: ClassVar[Kernel] = Kernel(decide, smallest_loss, count_mistakes)
    state: Mistakes

    def __init__(
        self, models: Models, seed: int = 0, *, classes: int, query_scale: float = 1.0, loss: object = None
    ) -> None:
        super().__init__(models, seed, loss=loss, classes=classes, query_scale=query_scale)

    def start(self, models: int) -> Mistakes:
        """No mistakes, everybody tied."""
        return no_mistakes(models)

    def settings(self) -> VoteEntropySettings:
        """The normalisers; a single class leaves room for an abstention beside it."""
        models = len(self.models)
        classes = max(2, int(self.options["classes"]))
        together = np.array([0.0] + [n * math.log2(n) for n in range(1, models + 1)])
        return VoteEntropySettings(together, np.diff(together), 1.0 / models, math.log2(models), math.log2(classes))
