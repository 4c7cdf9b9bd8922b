"""CAMS (Liu, Xia, Stevens and Chen, "Contextual Active Model Selection", NeurIPS 2024), for stochastic streams.

A *policy* names a model for each context. CAMS weighs policies by their losses so far, and serves the model that
they name together. A label is asked for with a probability that is the entropy of what the models say, weighed by
the policies, and at least 1/sqrt(t):

* rate: sqrt(ln m / t), for m policies; weights: q proportional to exp(-rate · loss);
* models: w is the mean of what the policies name, weighed by q; the served model is the one of the largest w;
* for a class y, let x be the weight of the models that do not say y. Entropy: the sum of x log(1/x), over all y
  with 0 < x < 1, in logarithms of base c, over c; c is the number of classes;
* if the label is asked for: each model's mistake over the probability is its loss, and each policy has the loss of
  the model that it names.

The policies include one for each model that always names it, as in the paper. Not compared with the authors' code.
Two things are ours, and both help it: it never asks where all models agree, and `scale` multiplies the probability,
so that it can be tuned to a number of labels as Model Picker is.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[Any]


def vote_contexts(rows: Ints, classes: int) -> Ints:
    """A context that needs no features: the class that most models say; the first of several."""
    return np.array([np.bincount(row[row >= 0], minlength=classes).argmax() for row in rows])


def two_model_policies(models: int, contexts: int) -> Ints:
    """One row per policy, one column per context: always one model; or another one in one context."""
    constant = [[model] * contexts for model in range(models)]
    mixed = [
        [one if context == at else other for context in range(contexts)]
        for at in range(contexts)
        for one in range(models)
        for other in range(models)
        if one != other
    ]
    return np.array(constant + mixed)


@dataclass
class Cams:
    """The state: what each policy has lost. Rounds count from 1."""

    policies: Ints
    """The model that each policy names in each context."""
    models: int
    classes: int
    scale: float = 1.0
    t: int = 0
    losses: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.losses = np.zeros(len(self.policies))

    def weights(self, context: int) -> Floats:
        """How much the policies speak for each model in a context, in the round that is on."""
        rate = math.sqrt(math.log(len(self.policies)) / max(1, self.t))
        q = np.exp(-rate * (self.losses - self.losses.min()))
        found = np.zeros(self.models)
        np.add.at(found, self.policies[:, context], q / q.sum())
        return found

    def serve(self, context: int) -> int:
        """The model that the policies name together."""
        return int(self.weights(context).argmax())

    def entropy(self, row: Ints, weights: Floats) -> float:
        """How much the models differ, by their weights."""
        total = 0.0
        for name in range(self.classes):
            x = float(weights[row != name].sum())
            if 1e-12 < x < 1.0 - 1e-12:
                total += x * math.log(1.0 / x) / math.log(self.classes)
        return total / self.classes

    def step(self, row: Ints, context: int) -> tuple[int, float]:
        """The next round: the model that is served, and how likely the label is asked for."""
        self.t += 1
        weights = self.weights(context)
        served = int(weights.argmax())
        if (row == row[0]).all():
            return served, 0.0
        chance = max(1.0 / math.sqrt(self.t), self.entropy(row, weights))
        return served, min(1.0, self.scale * chance)

    def learn(self, row: Ints, context: int, label: int, chance: float) -> None:
        """Take in a label that was asked for with that probability."""
        self.losses += (row != label)[self.policies[:, context]] / chance


class CamsOfAllMaps(Cams):
    """CAMS with every map from contexts to models as a policy: the weights are those of the models, by context.

    For k models and C contexts there are k^C policies, too many to list. But a label changes only what is lost in
    its own context, so the weight of a map is a product over contexts. `policies` only says how many there are.
    """

    def __post_init__(self) -> None:
        self.losses = np.zeros((self.policies.shape[1], self.models))

    def weights(self, context: int) -> Floats:
        """How much the policies speak for each model in a context."""
        rate = math.sqrt(len(self.losses) * math.log(self.models) / max(1, self.t))
        lost = self.losses[context]
        q = np.exp(-rate * (lost - lost.min()))
        return np.asarray(q / q.sum())

    def learn(self, row: Ints, context: int, label: int, chance: float) -> None:
        """Take in a label that was asked for with that probability."""
        self.losses[context] += (row != label) / chance


@dataclass(frozen=True)
class Served:
    """What came of a stream."""

    served: Ints
    """The model of each round."""
    labels: int
    final: Ints
    """The model of each context in the end."""


def play(cams: Cams, rows: Ints, labels: Ints, contexts: Ints, coins: Floats, budget: int | None) -> Served:
    """A whole stream; no label is bought after the budget is spent."""
    served = np.zeros(len(rows), dtype=np.int64)
    bought = 0
    for t, (row, context) in enumerate(zip(rows, contexts.tolist(), strict=True)):
        served[t], chance = cams.step(row, context)
        if coins[t] < chance and (budget is None or bought < budget):
            bought += 1
            cams.learn(row, context, int(labels[t]), chance)
    final = np.array([cams.serve(context) for context in range(cams.policies.shape[1])])
    return Served(served, bought, final)
