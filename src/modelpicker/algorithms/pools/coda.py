"""CODA (Kay et al., ICCV 2025) on hard predictions: what the models agree on stands in for labels at first.

For each model and each true class there is a Dirichlet distribution over what the model says. The votes of all
models give the prior, and labels update it. It says how likely each class is for an item. It also says how likely
each model is to be the best: the diagonals are Beta distributions; they are compared on a grid, class by class, and
mixed by how frequent the classes are. The next item is the one whose label is expected to leave the least entropy.

An abstention is one more thing that a model can say, and it is never right. A label changes the Dirichlets of its
own class only, so everything that depends on the other classes is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.pools.peers import Mask, NoSettings, PoolRule, highest
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import Codes, Floats, weigh

# As published: the weight of the consensus, of the whole prior, of a label, and of a label that is only imagined.
CONSENSUS = 1.0 - 0.9
PRIOR = 2.0
LEARNED = 0.01
IMAGINED = 1.0
POINTS = 256
EDGE = 1e-6  # how far from 0 and 1 the grid ends
SMALLEST = 1e-30  # of a distribution function whose logarithm is taken
FAINT = 1e-50  # points of the grid that weigh less than this add nothing to a probability
LEAST = 1e-12  # of a probability whose logarithm is taken
MOST_CLASSES = 20


class CodaState(NamedTuple):
    """What CODA remembers, what follows from it, and room for one item."""

    counts: Floats  # [model, true class, said]: the Dirichlets; what is said last is an abstention
    belief: Floats  # [item, class]: how likely the class is, except for a factor
    share: Floats  # [class]: how frequent it is
    best: Floats  # [class, model]: how likely the model is the best on the class
    mixture: Floats  # [model]: the same over all classes
    none_right: Floats  # [class, model]: `best` after a label of the class that nobody predicted
    entropy: Floats  # [class]: of the mixture after such a label
    log_none: Floats  # [class, point]: log of the product of the distribution functions, if all are wrong
    log_more: Floats  # [class, model, point]: what is added to it if this model is right
    rate: Floats  # [class, point, model]: density over distribution function, if it is wrong
    rate_more: Floats  # [class, point, model]: what is added to it if it is right
    rate_now: Floats  # [point, model]: the same as things are, of the class at hand
    log_all: Floats  # [point]: log of the product of the distribution functions, of the case at hand
    log_grid: Floats  # [2, point]: logs of x and of 1 - x
    density: Floats  # [point]
    surprise: Floats  # [point]: minus a logarithm
    log_below: Floats  # [point]: log of a distribution function
    chance: Floats  # [model]
    right: Floats  # [model]: 1 if it said the class at hand
    votes: Floats  # [class], and a place for abstentions
    anybody: Mask  # [model]: true


def fill_beta(state: CodaState, right: float, wrong: float) -> None:
    """A Beta distribution on the grid: log of its distribution function, and density over it in `density`."""
    density, surprise = state.density, state.surprise
    lowest = math.inf
    for p in range(POINTS):
        surprise[p] = (1.0 - right) * state.log_grid[0, p] + (1.0 - wrong) * state.log_grid[1, p]
        lowest = min(lowest, surprise[p])
    weigh(surprise, lowest, 1.0, density)
    total = 0.0
    for p in range(1, POINTS):
        total += 0.5 * (density[p - 1] + density[p])
    below, before = 0.0, density[0]
    for p in range(POINTS):
        below += 0.5 * (before + density[p]) if p > 0 else 0.0
        before = density[p]
        share = max(below / total, SMALLEST)
        state.log_below[p] = math.log(share)
        density[p] = before / total / share


def weigh_points(state: CodaState) -> None:
    """The product of the distribution functions, from its log, with the weights of the trapezoidal rule."""
    for p in range(POINTS):
        state.surprise[p] = -state.log_all[p]
    weigh(state.surprise, 0.0, 1.0, state.density)
    state.density[0] *= 0.5
    state.density[POINTS - 1] *= 0.5
    for i in range(len(state.chance)):
        state.chance[i] = 0.0


def normalise(values: Floats) -> None:
    """Make the sum 1."""
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    for i in range(len(values)):
        values[i] /= max(total, SMALLEST)


def chances_of_best(state: CodaState, rate: Floats, chance: Floats) -> None:
    """How likely each model is the best: the integral of its density times the others' distribution functions."""
    weigh_points(state)
    for p in range(POINTS):
        if state.density[p] > FAINT:
            for i in range(len(state.chance)):
                state.chance[i] += state.density[p] * rate[p, i]
    normalise(state.chance)
    for i in range(len(chance)):
        chance[i] = state.chance[i]


def update_class(state: CodaState, c: int) -> None:
    """All that depends on the Dirichlets of one true class."""
    for p in range(POINTS):
        state.log_all[p] = 0.0
        state.log_none[c, p] = 0.0
    for i in range(len(state.chance)):
        said = 0.0
        for other in range(state.counts.shape[2]):
            said += state.counts[i, c, other]
        fill_model(state, c, i, state.counts[i, c, c], said - state.counts[i, c, c])
    chances_of_best(state, state.rate_now, state.best[c])
    for p in range(POINTS):
        state.log_all[p] = state.log_none[c, p]
    chances_of_best(state, state.rate[c], state.none_right[c])


def fill_model(state: CodaState, c: int, i: int, right: float, wrong: float) -> None:
    """The tables of one model: as things are, and after a label on which it is wrong or right."""
    fill_beta(state, right, wrong)
    for p in range(POINTS):
        state.log_all[p] += state.log_below[p]
        state.rate_now[p, i] = state.density[p]
    fill_beta(state, right, wrong + IMAGINED)
    for p in range(POINTS):
        state.log_none[c, p] += state.log_below[p]
        state.log_more[c, i, p] = -state.log_below[p]
        state.rate[c, p, i] = state.density[p]
    fill_beta(state, right + IMAGINED, wrong)
    for p in range(POINTS):
        state.log_more[c, i, p] += state.log_below[p]
        state.rate_more[c, p, i] = state.density[p] - state.rate[c, p, i]


def update_mixture(state: CodaState) -> None:
    """How frequent the classes are, and how likely each model is the best over all of them."""
    classes = len(state.share)
    for c in range(classes):
        state.share[c] = 0.0
    for i in range(len(state.belief)):
        total = 0.0
        for c in range(classes):
            total += state.belief[i, c]
        for c in range(classes):
            state.share[c] += state.belief[i, c] / total if total > 0.0 else 1.0 / classes
    normalise(state.share)
    for i in range(len(state.mixture)):
        state.mixture[i] = 0.0
        for c in range(classes):
            state.mixture[i] += state.share[c] * state.best[c, i]


def entropy_with(state: CodaState, c: int, chance: Floats) -> float:
    """The entropy of the mixture if `chance` is how likely each model is the best on class c."""
    entropy = 0.0
    for i in range(len(chance)):
        mixed = max(LEAST, state.mixture[i] + state.share[c] * (chance[i] - state.best[c, i]))
        entropy -= mixed * math.log(mixed)
    return entropy


def entropy_after_label(state: CodaState, row: Codes, c: int) -> float:
    """The entropy of the mixture after a label c of an item for which some model says c."""
    for p in range(POINTS):
        state.log_all[p] = state.log_none[c, p]
    for i in range(len(row)):
        state.right[i] = 1.0 if row[i] == c else 0.0
        if row[i] == c:
            for p in range(POINTS):
                state.log_all[p] += state.log_more[c, i, p]
    weigh_points(state)
    for p in range(POINTS):
        if state.density[p] > FAINT:
            for i in range(len(row)):
                rate = state.rate[c, p, i] + state.right[i] * state.rate_more[c, p, i]
                state.chance[i] += state.density[p] * rate
    normalise(state.chance)
    return entropy_with(state, c, state.chance)


def count_votes(state: CodaState, row: Codes) -> int:
    """How many models say each class, in `votes`; the first class that most of them say, -1 if all abstain."""
    for c in range(len(state.votes)):
        state.votes[c] = 0.0
    consensus = -1
    for i in range(len(row)):
        state.votes[row[i]] += 1.0
    for c in range(len(state.share)):
        if state.votes[c] > (state.votes[consensus] if consensus >= 0 else 0.0):
            consensus = c
    return consensus


def prepare_prior(state: CodaState, settings: NoSettings, rows: Codes) -> None:
    """A `prepare`: Dirichlets from the votes, and all that follows from them."""
    classes, models = len(state.share), len(state.chance)
    for item in range(len(rows)):
        consensus = count_votes(state, rows[item])
        if consensus >= 0:
            for i in range(models):
                state.counts[i, consensus, rows[item, i]] += 1.0
    for i in range(models):
        for c in range(classes):
            add_prior(state.counts[i, c], c, classes)
    for item in range(len(rows)):
        for c in range(classes):
            for i in range(models):
                state.belief[item, c] += state.counts[i, c, rows[item, i]]
    for c in range(classes):
        update_class(state, c)
    update_mixture(state)


def add_prior(counts: Floats, c: int, classes: int) -> None:
    """Counts of the consensus become a Dirichlet: shares of little weight, on top of 1 and 1 / (C - 1)."""
    said = 0.0
    for other in range(len(counts)):
        said += counts[other]
    for other in range(len(counts)):
        base = 1.0 if other == c else 1.0 / (classes - 1) if other < classes else 0.0
        counts[other] = PRIOR * (base + CONSENSUS * counts[other] / max(said, 1.0))


def score_by_gain(state: CodaState, settings: NoSettings, rows: Codes, asking: Mask, scores: Floats) -> None:
    """A `score`: minus the entropy that the label is expected to leave."""
    classes = len(state.share)
    for c in range(classes):
        state.entropy[c] = entropy_with(state, c, state.none_right[c])
    for item in range(len(rows)):
        if asking[item]:
            count_votes(state, rows[item])
            total, left = 0.0, 0.0
            for c in range(classes):
                likely = state.belief[item, c]
                said = state.votes[c] > 0.0
                left += likely * (entropy_after_label(state, rows[item], c) if said else state.entropy[c])
                total += likely
            scores[item] = -left / total


def learn_class(state: CodaState, settings: NoSettings, rows: Codes, item: int, label: int) -> None:
    """A `learn`: the Dirichlets of the label's class, and the belief in it for every item."""
    models = len(state.chance)
    for i in range(models):
        state.counts[i, label, rows[item, i]] += LEARNED
    for other in range(len(rows)):
        alike = 0
        for i in range(models):
            alike += rows[other, i] == rows[item, i]
        state.belief[other, label] += LEARNED * alike
    update_class(state, label)
    update_mixture(state)


def most_likely(state: CodaState, settings: NoSettings, coin: float) -> int:
    """A `recommend`: the model that is most likely the best."""
    return highest(state.mixture, state.anybody, coin)


class Coda(PoolRule):
    """CODA, as published. It is slow: the work for an item grows with the classes that models say for it."""

    name = "coda"
    about = AlgorithmDescription(
        summary="Treats what models agree on as labels at first (CODA, ICCV 2025).",
        when_to_use="Use it for comparisons, with few classes.",
    )
    parts = (prepare_prior, score_by_gain, learn_class, most_likely)

    def start(self, items: int, models: int, classes: int) -> CodaState:
        """Room for everything, and the grid."""
        if not 2 <= classes <= MOST_CLASSES:
            raise InputError(f"coda compares 2 to {MOST_CLASSES} classes, and here are {classes:,}; leave it out.")
        grid = np.linspace(EDGE, 1.0 - EDGE, POINTS)
        return CodaState(
            counts=np.zeros((models, classes, classes + 1)),
            belief=np.zeros((items, classes)),
            share=np.zeros(classes),
            best=np.zeros((classes, models)),
            mixture=np.zeros(models),
            none_right=np.zeros((classes, models)),
            entropy=np.zeros(classes),
            log_none=np.zeros((classes, POINTS)),
            log_more=np.zeros((classes, models, POINTS)),
            rate=np.zeros((classes, POINTS, models)),
            rate_more=np.zeros((classes, POINTS, models)),
            rate_now=np.zeros((POINTS, models)),
            log_all=np.zeros(POINTS),
            log_grid=np.array([[math.log(x) for x in grid], [math.log(1.0 - x) for x in grid]]),
            density=np.zeros(POINTS),
            surprise=np.zeros(POINTS),
            log_below=np.zeros(POINTS),
            chance=np.zeros(models),
            right=np.zeros(models),
            votes=np.zeros(classes + 1),
            anybody=np.ones(models, dtype=np.bool_),
        )
