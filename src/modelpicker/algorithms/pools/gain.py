"""Which model leads a pool, by how much, and which item is most worth a label: kernels.

`compare_models` puts every rival beside the leader: how many more items of the whole pool the leader has right.
Labelled items count by their labels, the others by the guess of the label model. That guess is put right by how far
it was off on the labelled items on which the two differ. It is made from what was `said` of an item: by the models,
and by a judge if there is one. `weigh_items` gives every item a weight: how likely two models that may be the best
differ on it.
"""

from typing import NamedTuple

import numpy as np

from modelpicker.algorithms.pools.label_model import LabelModel, guess, prepare_guesses
from modelpicker.certificates.pool_scores import Flags
from modelpicker.kernels.primitives import NOT_RUN, Codes, Floats, Ints, exponential

# What is in the place of a label that is not known: nobody was asked yet, somebody was, nobody can tell.
UNKNOWN, OUT, UNKNOWABLE = -3, -4, -1

# The guess counts as much as that many labels when it is put right.
TRUSTED = 10.0
LOOKS = 6
# This many questions go to items of the highest worth, before they are drawn in proportion to it.
FIRST = 5
# Items are of the same worth, up to rounding.
SAME = 1.0 - 1e-9
# A label that is out already takes this much from the worth of the next one about the same rival.
SHARED = 0.3
# The proof begins when the leader is this many standard deviations from being bad, for every rival.
SURE = 2.0
# Up to that many labels look for the best model itself, where the tolerance is not above this share of the items;
# all
# of them if nothing is tolerated. The proof alone would be content with any model that is good enough.
LOOKING, FINE, VERY_SURE = 30, 0.01, 3.0


class ModelComparison(NamedTuple):
    """The leader beside every rival; one place per model, except for `leader` and what is per item."""

    leader: Ints
    ahead: Floats  # by how many items of the pool the leader is better, as far as can be told
    doubt: Floats  # the variance of that
    split: Floats  # on how many unlabelled items the two differ
    known: Floats  # by how many labelled items the leader is better
    unsure: Floats  # the variance of what the unlabelled items may say, if the guess is good
    right: Floats  # labelled items that the model has right, or its scores on them
    bias: Floats  # room
    tested: Floats  # room
    out: Floats  # room
    plausible: Floats  # how plausible it is that the rival is better
    chances: Floats  # [item, model]: the guess, for the items that are looked at
    squares: Floats  # likewise: what the square of its score is thought to be; the same array if scores are 0 or 1
    by_class: Floats  # [class and one more]: room, zero between items
    worth: Floats  # [item]


def new_comparison(models: int, looked_at: int, classes: int, *, whole: bool = True) -> ModelComparison:
    """Room for a comparison; scores are 0 or 1 if they are whole."""
    per_model = [np.zeros(models) for _ in range(10)]
    chances = np.zeros((looked_at, models))
    squares = chances if whole else np.zeros((looked_at, models))
    rest = [chances, squares, np.zeros(classes + 1), np.zeros(looked_at)]
    return ModelComparison(np.full(1, -1, dtype=np.int64), *per_model, *rest)


class GradedItems(NamedTuple):
    """What the labels say where an answer is not simply right or wrong."""

    slots: Ints  # one per label, in the order they were learned: the row of `scores`; -1: right or wrong
    scores: Floats  # [slot, model]: one less the loss; NaN where that is not known
    worth: Floats  # [label, answer]: how right an answer is, by classes; empty if it is right or wrong


def guess_scores(model: LabelModel, said: Codes, worth: Floats, models: int) -> None:
    """What is expected of each model on an item, into `mixed`, and of its square, into `chances`.

    Usually both are the chance that it is right. Where answers are worth more or less, it is by how much its answer
    scores more than an abstention.
    """
    guess(model, said)
    mixed, squares = model.mixed, model.chances
    if not len(worth):
        for j in range(models):
            squares[j] = mixed[j]
        return
    # `guess` left the chances of the classes that are said in `odds`, in the order in which they come.
    seen, classes, expected, square, distinct = model.seen, model.sums[0], model.sums[1], model.sums[2], 0
    rest = 1.0
    for j in range(len(said)):
        c = said[j]
        if c >= 0 and seen[c] == 0:
            seen[c] = distinct + 1
            classes[distinct] = c
            rest -= model.odds[distinct]
            distinct += 1
    for s in range(distinct):
        answer = int(classes[s])
        gain = worth[len(worth) - 1, answer] - worth[len(worth) - 1, -1]
        expected[s], square[s] = rest * gain, rest * gain * gain
        for other in range(distinct):
            label = int(classes[other])
            gain = worth[label, answer] - worth[label, -1]
            expected[s] += model.odds[other] * gain
            square[s] += model.odds[other] * gain * gain
    for j in range(models):
        mixed[j] = expected[seen[said[j]] - 1] if said[j] >= 0 else 0.0
        squares[j] = square[seen[said[j]] - 1] if said[j] >= 0 else 0.0
    for j in range(len(said)):
        seen[said[j]] = 0


def guess_items(
    model: LabelModel, said: Codes, labels: Codes, sample: Ints, worth: Floats, found: ModelComparison
) -> None:
    """The guess for all items that are looked at and are not labelled yet."""
    prepare_guesses(model)
    models = found.chances.shape[1]
    for s in range(len(sample)):
        if labels[sample[s]] == UNKNOWN or labels[sample[s]] == OUT:
            guess_scores(model, said[sample[s]], worth, models)
            for j in range(models):
                found.chances[s, j] = model.mixed[j]
                found.squares[s, j] = model.chances[j]


def guess_row(model: LabelModel, said: Codes, worth: Floats, into: Floats) -> None:
    """What is expected of each model on one item, before its label is learned."""
    prepare_guesses(model)
    guess_scores(model, said, worth, len(into))
    for j in range(len(into)):
        into[j] = model.mixed[j]


def sum_guesses(
    model: LabelModel,
    rows: Codes,
    said: Codes,
    drawable: Flags,
    worth: Floats,
    leader: int,
    chances: Floats,
    sums: Floats,
) -> None:
    """By how much the guess expects a leader to be ahead of each rival on all items that can be drawn, into `sums`.

    `chances` is the guess for all items, where it has been made; else it is empty, and made here.
    """
    made = len(chances) == len(rows)
    prepare_guesses(model)
    for j in range(len(sums)):
        sums[j] = 0.0
    for i in range(len(rows)):
        if not drawable[i]:
            continue
        if not made:
            guess_scores(model, said[i], worth, len(sums))
        guesses = chances[i] if made else model.mixed
        own = guesses[leader]
        for j in range(len(sums)):
            if differ(rows[i, j], rows[i, leader]):
                sums[j] += max(-1.0, min(1.0, own - guesses[j]))


def score_of(row: Codes, label: int, graded: GradedItems, slot: int, j: int) -> float:
    """How right a model is on a labelled item."""
    if slot >= 0:
        return float(graded.scores[slot, j])
    return 1.0 if row[j] == label else 0.0


def differ(one: int, other: int) -> bool:
    """Whether a label can tell two answers apart: they are not the same, and both models were run."""
    return one != other and one != NOT_RUN and other != NOT_RUN


def mean_chance(row: Codes, chances: Floats) -> float:
    """What is expected of a model that was not run on an item: the mean of those that were."""
    total, run = 0.0, 0
    for j in range(len(row)):
        if row[j] != NOT_RUN:
            total += chances[j]
            run += 1
    return total / max(1, run)


def lead_by_guess(
    rows: Codes, labels: Codes, sample: Ints, scale: float, jitter: Floats, found: ModelComparison
) -> int:
    """The model with the most items right, labelled or guessed; jitter decides between equals."""
    best = 0
    for j in range(rows.shape[1]):
        found.bias[j] = found.right[j] + jitter[j]
    for s in range(len(sample)):
        if labels[sample[s]] == UNKNOWN or labels[sample[s]] == OUT:
            row = rows[sample[s]]
            for j in range(rows.shape[1]):
                chance = mean_chance(row, found.chances[s]) if row[j] == NOT_RUN else found.chances[s, j]
                found.bias[j] += scale * chance
    for j in range(rows.shape[1]):
        if found.bias[j] > found.bias[best]:
            best = j
    return best


def set_against(
    leader: int,
    model: LabelModel,
    rows: Codes,
    said: Codes,
    labels: Codes,
    learned: Ints,
    graded: GradedItems,
    sample: Ints,
    scale: float,
    found: ModelComparison,
) -> None:
    """Put every rival beside a leader."""
    models = rows.shape[1]
    for j in range(models):
        found.ahead[j] = 0.0
        found.unsure[j] = 0.0
        found.split[j] = 0.0
        found.known[j] = 0.0
        found.bias[j] = 0.0
        found.tested[j] = 0.0
    for s in range(len(sample)):
        i = sample[s]
        if labels[i] == UNKNOWN or labels[i] == OUT:
            lead, own, square = rows[i, leader], found.chances[s, leader], found.squares[s, leader]
            for j in range(models):
                if differ(rows[i, j], lead):
                    gap = own - found.chances[s, j]
                    found.ahead[j] += scale * gap
                    found.unsure[j] += scale * max(0.0, square + found.squares[s, j] - gap * gap)
                    found.split[j] += scale
    for t in range(len(learned)):
        i = learned[t]
        guess_scores(model, said[i], graded.worth, models)
        lead, slot = rows[i, leader], graded.slots[t]
        own = score_of(rows[i], labels[i], graded, slot, leader)
        for j in range(models):
            gap = own - score_of(rows[i], labels[i], graded, slot, j)
            if differ(rows[i, j], lead) and gap == gap:
                found.known[j] += gap
                found.tested[j] += 1.0
                found.bias[j] += gap - (model.mixed[leader] - model.mixed[j])
    for j in range(models):
        trust = found.tested[j] + TRUSTED
        found.ahead[j] += found.known[j] + found.split[j] * found.bias[j] / trust
        found.doubt[j] = found.unsure[j] * (1.0 + found.split[j] / trust)


def compare_models(
    model: LabelModel,
    rows: Codes,
    said: Codes,
    labels: Codes,
    learned: Ints,
    graded: GradedItems,
    sample: Ints,
    scale: float,
    jitter: Floats,
    found: ModelComparison,
) -> None:
    """Find the leader, and put every rival beside it."""
    guess_items(model, said, labels, sample, graded.worth, found)
    leader = int(found.leader[0])
    if leader < 0:
        leader = lead_by_guess(rows, labels, sample, scale, jitter, found)
    for _ in range(LOOKS):
        set_against(leader, model, rows, said, labels, learned, graded, sample, scale, found)
        found.leader[0] = leader
        for j in range(rows.shape[1]):
            if found.ahead[j] < found.ahead[leader] - 1e-9:
                leader = j
        if leader == found.leader[0]:
            break


def count_out(rows: Codes, labels: Codes, sample: Ints, found: ModelComparison) -> None:
    """On how many items that are out each rival differs from the leader."""
    leader = int(found.leader[0])
    for j in range(rows.shape[1]):
        found.out[j] = 0.0
    for s in range(len(sample)):
        i = sample[s]
        if labels[i] == OUT:
            for j in range(rows.shape[1]):
                if differ(rows[i, j], rows[i, leader]):
                    found.out[j] += 1.0


def weigh_models(rows: Codes, labels: Codes, sample: Ints, found: ModelComparison) -> float:
    """How plausible it is that each model is the best; the leader counts as much as all others. The sum."""
    leader = int(found.leader[0])
    total = 0.0
    count_out(rows, labels, sample, found)
    for j in range(rows.shape[1]):
        found.plausible[j] = 0.0
        if found.unsure[j] > 0.0:
            score = found.ahead[j] * found.ahead[j] / found.doubt[j]
            found.plausible[j] = exponential(-0.5 * score / 1024.0) / (1.0 + SHARED * found.out[j])
            total += found.plausible[j]
    found.plausible[leader] = total
    return 2.0 * total


def worth_of(rows: Codes, i: int, whole: float, found: ModelComparison) -> float:
    """How likely two models differ on an item, if each is drawn by how plausible it is, times `whole` squared.

    The guess has no say here. It is put right by the labels, and those would not be like the rest of the items if
    it had chosen them. Models that were not run on the item differ from none.
    """
    absent = 0.0
    for j in range(rows.shape[1]):
        if rows[i, j] == NOT_RUN:
            absent += found.plausible[j]
        else:
            found.by_class[rows[i, j]] += found.plausible[j]
    whole -= absent
    worth = whole * whole
    for j in range(rows.shape[1]):
        if rows[i, j] == NOT_RUN:
            continue
        same = found.by_class[rows[i, j]]
        found.by_class[rows[i, j]] = 0.0
        worth -= same * same
    return max(0.0, worth)


def weigh_items(rows: Codes, labels: Codes, sample: Ints, found: ModelComparison) -> float:
    """The worth of every item, to the fourth power: between drawing in proportion and taking the best; the sum."""
    whole = weigh_models(rows, labels, sample, found)
    total = 0.0
    for s in range(len(sample)):
        i = sample[s]
        worth = 0.0
        if labels[i] == UNKNOWN:
            worth = worth_of(rows, i, whole, found)
            worth *= worth
            worth *= worth
        found.worth[s] = worth
        total += worth
    return total


def draw_item(worth: Floats, total: float, coin: float) -> int:
    """An item drawn in proportion to its worth; -1 if none is worth anything."""
    mark, chosen = coin * total, -1
    for s in range(len(worth)):
        if worth[s] > 0.0:
            chosen = s
            mark -= worth[s]
            if mark < 0.0:
                break
    return chosen


def best_item(worth: Floats, coin: float) -> int:
    """An item of the highest worth; if there are several, one of them at random. -1 if none is worth anything."""
    top, ties, chosen = 0.0, 0, -1
    for s in range(len(worth)):
        top = max(top, worth[s])
    for s in range(len(worth)):
        if worth[s] > 0.0 and worth[s] >= SAME * top:
            ties += 1
    mark = int(coin * ties)
    for s in range(len(worth)):
        if worth[s] > 0.0 and worth[s] >= SAME * top:
            if mark == 0:
                chosen = s
                break
            mark -= 1
    return chosen


def choose_item(rows: Codes, labels: Codes, sample: Ints, found: ModelComparison, asked: int, coin: float) -> int:
    """The next item to ask about, as a place in the sample; -1 if there is none."""
    total = weigh_items(rows, labels, sample, found)
    return best_item(found.worth, coin) if asked < FIRST else draw_item(found.worth, total, coin)
