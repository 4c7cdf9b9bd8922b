"""A guess at the labels of a pool: a regression on what the models say, learned from the labels so far.

The odds of class c on an item are the exponential of a sum: for every model that says c its weight, plus what the
model's word is worth for this class in particular, plus a bias of the class. Classes that nobody says share a fixed
weight. Before the first label all models weigh the same, so that the guess is a vote. A judge, if there is one, has
a say like a model, as the last column; it weighs nothing before the labels speak for it.

How much a vote is worth is not known beforehand. So there are three regressions, from one that hardly trusts the
vote to one that trusts it blindly, each free to move from there by what the labels say. Their guesses are mixed by
how well each one foresaw the labels. docs/how-it-works/pools.md shows what else was tried.

The functions are kernels: plain arithmetic, compiled by Numba.
"""

import math
from typing import NamedTuple

import numpy as np

from modelpicker.kernels.primitives import Codes, Floats, Ints, exponential

# What all models together weigh at first, one regression each; how far a weight may move, times 1/sqrt(k).
TRUST = (2.0, 6.0, 18.0)
FREEDOM = (2.0, 4.0, 8.0)
REGRESSIONS = len(TRUST)
# How far the weight of a judge may move, in every regression; and what its word is worth by class.
JUDGE_FREEDOM, JUDGE_BY_CLASS = 3.0, 1.0
BIAS_FREEDOM = 0.7
# What a class that no model says weighs; a class that is said weighs 1 or more.
UNSAID = 0.3
MOST_UNSAID = 4
# Steps of the fit after every label: it starts from where it was.
STEPS = 5
# The fit looks at this many labels, the last ones.
REMEMBERED = 1_000
# Classes beyond this share their parameters.
MOST_CLASSES = 256


class LabelModel(NamedTuple):
    """The regressions, and room to fit them; the first axis is the regression."""

    weights: Floats  # [regression, model]
    by_class: Floats  # [regression, model, class]
    biases: Floats  # [regression, class]
    evidence: Floats  # how well each foresaw the labels; they sum to 1
    start: Floats  # [regression, model]: the weight at first
    precision: Floats  # [regression, model]: of the weights
    class_precision: Floats  # [regression, model]: of those by class; the same, except for a judge
    slope: Floats  # [model, 1 + class]: room for the fit, the weight first
    curve: Floats
    bias_slope: Floats
    bias_curve: Floats
    odds: Floats  # [class and one more]: room for one item
    seen: Ints  # likewise
    chances: Floats  # [model]: room for one item
    mixed: Floats  # likewise
    added: Floats  # [model, class, regression]: room for guesses
    sums: Floats  # [regression, class]: likewise


def new_label_model(models: int, classes: int, *, judged: bool = False) -> LabelModel:
    """The regressions before the first label."""
    shared = max(1, min(classes, MOST_CLASSES))
    start = np.repeat(np.array(TRUST)[:, None] / models, models, axis=1)
    freedom = np.repeat(np.array(FREEDOM)[:, None] / math.sqrt(models), models, axis=1)
    by_class = freedom
    if judged:
        models += 1
        start = np.pad(start, ((0, 0), (0, 1)))
        by_class = np.pad(freedom, ((0, 0), (0, 1)), constant_values=JUDGE_BY_CLASS)
        freedom = np.pad(freedom, ((0, 0), (0, 1)), constant_values=JUDGE_FREEDOM)
    return LabelModel(
        weights=start.copy(),
        by_class=np.zeros((len(TRUST), models, shared)),
        biases=np.zeros((len(TRUST), shared)),
        evidence=np.full(len(TRUST), 1.0 / len(TRUST)),
        start=start,
        precision=1.0 / (freedom * freedom),
        class_precision=1.0 / (by_class * by_class),
        slope=np.zeros((models, 1 + shared)),
        curve=np.zeros((models, 1 + shared)),
        bias_slope=np.zeros(shared),
        bias_curve=np.zeros(shared),
        odds=np.zeros(classes + 1),
        seen=np.zeros(classes + 1, dtype=np.int64),
        chances=np.zeros(models),
        mixed=np.zeros(models),
        added=np.zeros((models, shared, REGRESSIONS)),
        sums=np.zeros((REGRESSIONS, classes + 1)),
    )


def foresee(model: LabelModel, g: int, row: Codes) -> float:
    """One regression's chance that each model is right on an item, into `chances`; that of a class nobody says."""
    odds, seen, chances = model.odds, model.seen, model.chances
    shared = model.biases.shape[1]
    for j in range(len(row)):
        odds[row[j]] = 0.0
        seen[row[j]] = 0
    said = 0
    for j in range(len(row)):
        c = row[j]
        if c >= 0:
            odds[c] += model.weights[g, j] + model.by_class[g, j, c % shared]
            if seen[c] == 0:
                seen[c] = 1
                odds[c] += model.biases[g, c % shared]
                said += 1
    highest = 0.0
    for j in range(len(row)):
        if row[j] >= 0:
            highest = max(highest, odds[row[j]])
    unsaid = min(MOST_UNSAID, max(0, len(odds) - 1 - said)) * UNSAID * exponential(-highest / 1024.0)
    total = unsaid
    for j in range(len(row)):
        c = row[j]
        if c >= 0 and seen[c] == 1:
            seen[c] = 0
            odds[c] = exponential((odds[c] - highest) / 1024.0)
            total += odds[c]
    for j in range(len(row)):
        chances[j] = odds[row[j]] / total if row[j] >= 0 else 0.0
    return unsaid / total


def prepare_guesses(model: LabelModel) -> None:
    """What each model's word adds to the odds of a class, for `guess`: the regressions side by side."""
    for g in range(REGRESSIONS):
        for j in range(model.added.shape[0]):
            for c in range(model.added.shape[1]):
                model.added[j, c, g] = model.weights[g, j] + model.by_class[g, j, c]


def add_odds(model: LabelModel, row: Codes) -> int:
    """The sums of all regressions for every class that is said, into `sums`, in the order they come; how many.

    They are added up side by side, for no sum has to wait for another then. `seen` holds the places of the classes.
    """
    seen, sums = model.seen, model.sums
    shared = model.biases.shape[1]
    for j in range(len(row)):
        seen[row[j]] = 0
    said = 0
    for j in range(len(row)):
        c = row[j]
        if c >= 0:
            at = c if c < shared else c % shared  # a division takes long
            place = seen[c] - 1
            if place >= 0:
                for g in range(REGRESSIONS):
                    sums[g, place] += model.added[j, at, g]
            else:
                for g in range(REGRESSIONS):
                    sums[g, said] = model.added[j, at, g] + model.biases[g, at]
                said += 1
                seen[c] = said
    return said


def guess(model: LabelModel, row: Codes) -> None:
    """The chance that each model is right on an item, all regressions together, into `mixed`.

    The same as the chances that `foresee` finds, to the last bit.
    """
    seen, sums, mixed = model.seen, model.sums, model.mixed
    said = add_odds(model, row)
    rest = min(MOST_UNSAID, max(0, len(seen) - 1 - said)) * UNSAID
    for s in range(said):
        model.odds[s] = 0.0
    for g in range(REGRESSIONS):
        share = model.evidence[g]
        if share > 0.01:
            highest = 0.0
            for s in range(said):
                highest = max(highest, sums[g, s])
            total = rest * exponential(-highest / 1024.0)
            for s in range(said):
                sums[g, s] = exponential((sums[g, s] - highest) / 1024.0)
            for s in range(said):
                total += sums[g, s]
            for s in range(said):
                model.odds[s] += share * (sums[g, s] / total)
    for j in range(len(row)):
        c = row[j]
        mixed[j] = model.odds[seen[c] - 1] if c >= 0 else 0.0
    for j in range(len(row)):
        seen[row[j]] = 0


def weigh_regressions(model: LabelModel, row: Codes, label: int) -> None:
    """Weigh the regressions by how well each foresees a label that was not learned yet."""
    total = 0.0
    for g in range(len(model.evidence)):
        chance = foresee(model, g, row)
        for j in range(len(row)):
            if row[j] == label:
                chance = model.chances[j]
        model.evidence[g] *= max(chance, 1e-9)
        total += model.evidence[g]
    for g in range(len(model.evidence)):
        model.evidence[g] = max(model.evidence[g] / total, 1e-12)


def start_step(model: LabelModel, g: int) -> None:
    """What the regression is pulled back by: towards the vote, and to no difference between classes."""
    tight = 1.0 / (BIAS_FREEDOM * BIAS_FREEDOM)
    for j in range(model.weights.shape[1]):
        precision = model.precision[g, j]
        model.slope[j, 0] = precision * (model.start[g, j] - model.weights[g, j])
        model.curve[j, 0] = precision
        precision = model.class_precision[g, j]
        for c in range(model.biases.shape[1]):
            model.slope[j, 1 + c] = -precision * model.by_class[g, j, c]
            model.curve[j, 1 + c] = precision
    for c in range(model.biases.shape[1]):
        model.bias_slope[c] = -tight * model.biases[g, c]
        model.bias_curve[c] = tight


def pull(model: LabelModel, g: int, row: Codes, label: int) -> None:
    """Add what one label says about the regression to the slope, and a bound on its curvature."""
    foresee(model, g, row)
    chances, seen = model.chances, model.seen
    shared = model.biases.shape[1]
    models = len(row)
    for j in range(models):
        seen[row[j]] += 1
    for j in range(models):
        c = row[j]
        if c >= 0:
            size = abs(seen[c])
            error = (1.0 if c == label else 0.0) - chances[j]
            doubt = chances[j] * (1.0 - chances[j])
            bend = 2.0 * doubt * (size + 0.5 * (models - size))
            model.slope[j, 0] += error
            model.curve[j, 0] += bend
            model.slope[j, 1 + c % shared] += error
            model.curve[j, 1 + c % shared] += bend + doubt
            if seen[c] > 0:
                seen[c] = -seen[c]
                model.bias_slope[c % shared] += error
                model.bias_curve[c % shared] += 2.0 * doubt
    for j in range(models):
        seen[row[j]] = 0


def end_step(model: LabelModel, g: int) -> None:
    """Move the parameters by the slope over the curvature."""
    for j in range(model.weights.shape[1]):
        model.weights[g, j] += model.slope[j, 0] / model.curve[j, 0]
        for c in range(model.biases.shape[1]):
            model.by_class[g, j, c] += model.slope[j, 1 + c] / model.curve[j, 1 + c]
    for c in range(model.biases.shape[1]):
        model.biases[g, c] += model.bias_slope[c] / model.bias_curve[c]


def fit(model: LabelModel, rows: Codes, labels: Codes, learned: Ints) -> None:
    """Some steps of the fit of every regression to the items that were learned."""
    first = max(0, len(learned) - REMEMBERED)
    for g in range(len(model.evidence)):
        for _ in range(STEPS):
            start_step(model, g)
            for t in range(first, len(learned)):
                pull(model, g, rows[learned[t]], labels[learned[t]])
            end_step(model, g)


def learn_item(model: LabelModel, rows: Codes, labels: Codes, learned: Ints) -> None:
    """Learn the last of the items that were learned: weigh the regressions by it, then fit them to all."""
    last = learned[len(learned) - 1]
    weigh_regressions(model, rows[last], labels[last])
    fit(model, rows, labels, learned)
