"""What the algorithms' kernels share.

A kernel is a plain function in the subset of Python that Numba compiles. Interpreted, it works on
memoryviews and lists; compiled, on NumPy arrays; the arithmetic is the same, operation by operation, so the
results are equal to the last bit. Hence: one fixed order of summation, no fastmath, no vector math library.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.int32]
Grades: TypeAlias = npt.NDArray[np.float32]  # enough for losses, which are multiples of 2^-20

# Losses are whole multiples of one over this, so that sums of them are exact in any order.
FINENESS = 2.0**20

# Which of a round's four coins decides what.
QUERY, FIRST, SECOND, SPARE = range(4)

# Codes of a row that are not class: the model abstained, or it was not asked.
ABSTAINED = -1
NOT_RUN = -2
# In kernels, a model that was not asked has a code of its own, from here down by its place: it agrees with nobody.
ABSENT = -3
# Codes of labels that are not class: none came, no model of the row predicted it. From GRADED down: a place in a
# table of losses.
SKIPPED = -1
NOBODY = -2
GRADED = -3

# Returned by `decide` in place of a model: the recommended model gives the prediction.
FOLLOW = -1

# Fields of an algorithm's `standing`: the first of the best models, and how many are as good.
LEADER, TIED = range(2)


class Scratch(NamedTuple):
    """Room that a kernel may use within a round; it leaves `tally` and `votes` at zero."""

    row: Codes  # a place a model: the row at hand, as the stream goes by
    coins: Floats  # the four coins of the round at hand
    weights: Floats  # a place a model
    behind: Floats  # a place a model
    cumulated: Floats  # a place a model
    others: Codes  # a place a model
    tally: Floats  # a place a class, and one for abstentions at the end: index -1
    votes: Ints  # likewise
    lost: Floats  # a place a model: its loss by the label at hand, NaN if that is not known
    graded: Grades  # losses that were found before, a row per label


class Mistakes(NamedTuple):
    """The state of an algorithm that counts mistakes and nothing else."""

    losses: Floats  # mistakes on the labels bought
    standing: Ints


def no_grades(models: int) -> Grades:
    """Labels that are all classes need no table of losses."""
    return np.zeros((0, models), dtype=np.float32)


def new_scratch(models: int, classes: int, graded: Grades | None = None) -> Scratch:
    """Room for a stream of that many models and classes, and the losses that some of its labels stand for."""
    return Scratch(
        row=np.zeros(models, dtype=np.int32),
        coins=np.zeros(4),
        weights=np.zeros(models),
        behind=np.zeros(models),
        cumulated=np.zeros(models),
        others=np.zeros(models, dtype=np.int32),
        tally=np.zeros(classes + 1),
        votes=np.zeros(classes + 1, dtype=np.int64),
        lost=np.zeros(models),
        graded=no_grades(models) if graded is None else graded,
    )


def kernel_codes(values: npt.NDArray[Any]) -> Codes:
    """Codes of the one type that kernels are compiled for: int32, contiguous, read-only; a copy only if need be."""
    view: Codes = np.ascontiguousarray(values, dtype=np.int32).view(np.ndarray)
    view.flags.writeable = False
    return view


def agreed(row: Codes) -> bool:
    """Whether all models that were asked say the same, so that the label could not tell them apart."""
    return alike(row) or (some_absent(row) and present_agree(row))


def alike(row: Codes) -> bool:
    """Whether all models have the same code: then all were asked."""
    said = row[0]
    differing = 0
    for i in range(len(row)):  # to the end, without a branch: that compiles to a few vector instructions
        differing += row[i] != said
    return differing == 0


def some_absent(row: Codes) -> bool:
    """Whether a model was not asked."""
    absent = 0
    for i in range(len(row)):
        absent += row[i] < ABSTAINED
    return absent > 0


def present_agree(row: Codes) -> bool:
    """Whether all models that were asked say the same."""
    first = -1
    for i in range(len(row)):
        if row[i] >= ABSTAINED:
            if first < 0:
                first = i
            if row[i] != row[first]:
                return False
    return True


def place_code(code: int, model: int) -> int:
    """The code of a model's answer as kernels have it."""
    return ABSENT - model if code == NOT_RUN else code


def find_losses(lost: Floats, row: Codes, label: int, graded: Grades) -> None:
    """What a label says about every model: its loss from 0 to 1, or NaN."""
    if label <= GRADED:
        for i in range(len(row)):
            lost[i] = graded[GRADED - label, i]
    else:
        for i in range(len(row)):
            lost[i] = 1.0 if row[i] != label else 0.0
    for i in range(len(row)):
        if row[i] < ABSTAINED:
            lost[i] = math.nan


def fair_guess(lost: Floats) -> float:
    """What an unknown loss counts in the estimates: the mean of those known, rounded down; NaN if none is."""
    total = 0.0
    known = 0
    for i in range(len(lost)):
        if lost[i] == lost[i]:
            total += lost[i]
            known += 1
    return math.floor(total / known * FINENESS) / FINENESS if known > 0 else math.nan


def charge(losses: Floats, standing: Ints, lost: Floats, cost: float) -> None:
    """Add `cost` times its loss to what every model has lost, and note who stands best now."""
    unknown = 0
    for i in range(len(lost)):
        unknown += lost[i] != lost[i]
    if unknown > 0:
        guess = fair_guess(lost)
        if guess != guess:
            return
        for i in range(len(lost)):
            losses[i] += cost * (lost[i] if lost[i] == lost[i] else guess)
        note_best(losses, standing)
        return
    for i in range(len(lost)):
        losses[i] += cost * lost[i]
    if lost[standing[LEADER]] > 0.0:
        note_best(losses, standing)
    else:
        note_tied(losses, standing, standing[LEADER])


def note_best(losses: Floats, standing: Ints) -> None:
    """Note who has the smallest loss, and how many share it."""
    leader = 0
    for i in range(1, len(losses)):
        if losses[i] < losses[leader]:
            leader = i
    note_tied(losses, standing, leader)


def note_tied(losses: Floats, standing: Ints, leader: int) -> None:
    """Note which model leads, and how many are as good."""
    lowest = losses[leader]
    tied = 0
    for i in range(len(losses)):
        tied += losses[i] == lowest
    standing[LEADER] = leader
    standing[TIED] = tied


def fade(losses: Floats, standing: Ints, share: float) -> None:
    """Leave a share of every loss; who stands best may now be tied with an earlier model, by rounding."""
    leader = 0
    for i in range(len(losses)):
        losses[i] *= share
        if losses[i] < losses[leader]:
            leader = i
    standing[LEADER] = leader


def rank_among(losses: Floats, places: Ints | Codes, inside: int, standing: Ints) -> None:
    """Note who has the smallest loss of the models whose place is `inside`, and how many share it."""
    leader = -1
    for i in range(len(losses)):
        if places[i] == inside and (leader < 0 or losses[i] < losses[leader]):
            leader = i
    lowest = losses[leader]
    tied = 0
    for i in range(len(losses)):
        tied += places[i] == inside and losses[i] == lowest
    standing[LEADER] = leader
    standing[TIED] = tied


def passed_by(standing: Ints, coin: float) -> int:
    """The rule for ties: how many of those who stand best, in the order of models, a coin passes over."""
    return int(min(int(coin * standing[TIED]), standing[TIED] - 1))


def best_among(losses: Floats, places: Ints | Codes, inside: int, standing: Ints, coin: float) -> int:
    """The model with the smallest loss of those whose place is `inside`; the coin decides between equals."""
    leader = int(standing[LEADER])
    passed_over = passed_by(standing, coin)
    if passed_over == 0:
        return leader
    lowest = losses[leader]
    for i in range(leader + 1, len(losses)):
        passed_over -= places[i] == inside and losses[i] == lowest
        if passed_over == 0:
            return i
    return leader


def best(losses: Floats, standing: Ints, coin: float) -> int:
    """The model with the smallest loss; the coin decides between equals."""
    leader = int(standing[LEADER])
    passed_over = passed_by(standing, coin)
    if passed_over == 0:
        return leader
    lowest = losses[leader]
    for i in range(leader + 1, len(losses)):
        passed_over -= losses[i] == lowest
        if passed_over == 0:
            return i
    return leader


def smallest_loss(state: Mistakes, settings: object, coin: float) -> int:
    """A `recommend`: the model with the smallest loss."""
    return best(state.losses, state.standing, coin)


def count_mistakes(state: Mistakes, settings: object, t: int, row: Codes, lost: Floats, probability: float) -> None:
    """A `learn`: every loss by a label bought counts as it is, a mistake one."""
    charge(state.losses, state.standing, lost, 1.0)


def no_mistakes(models: int) -> Mistakes:
    """Nobody has made one, everybody is tied."""
    return Mistakes(losses=np.zeros(models), standing=np.array([0, models]))


# Where exponentials stop.
FARTHEST = -0.6875


def exponential(x: float) -> float:
    """exp(1024 x) for x <= 0: plain arithmetic, which no maths library of the platform can change.

    The polynomial of exp(x), squared ten times; Numba turns it into vector instructions. It is good to 1e-12 down
    to results of 1e-17 and to 2e-10 down to 1e-40, and stops at 1e-305.
    """
    return raised(FARTHEST if x < FARTHEST else x)


def raised(x: float) -> float:
    """exp(1024 x) for x from FARTHEST to 0."""
    y = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)))
    y = 1.0 + x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 6.0 + x * y)))
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y * y


def exponential_of(values: Floats) -> Floats:
    """`exponential` of each value, with NumPy: the same bits."""
    kept: Any = np.maximum(values, FARTHEST)
    return np.asarray(raised(kept))


def weigh(losses: Floats, lowest: float, rate: float, weights: Floats) -> None:
    """Exponential weights: exp(rate * (lowest - loss)), so that the best model has weight 1.

    No weight is ever zero: the exponential stops at 1e-305.
    """
    rate *= 1.0 / 1024.0
    for i in range(len(losses)):
        weights[i] = exponential((lowest - losses[i]) * rate)


def drawn(cumulated: Floats, coin: float) -> int:
    """A model drawn in proportion to the weights whose running sums these are."""
    last = len(cumulated) - 1
    mark = coin * cumulated[last]
    passed = 0
    for i in range(len(cumulated)):
        passed += cumulated[i] <= mark
    return min(passed, last)


def largest_share(row: Codes, leader: int, scratch: Scratch) -> float:
    """The share of the weight behind the class that has most of it; also notes the running sums.

    Of all hypothetical labels the one with the most weight has the largest variance: A(1 - A) grows towards
    A = 1/2, and no other class can come nearer. The leader's class usually has more than half, and then
    there is nothing to search.
    """
    weights, behind, cumulated = scratch.weights, scratch.behind, scratch.cumulated
    said = row[leader]
    for i in range(len(row)):
        behind[i] = weights[i] if row[i] == said else 0.0
    total = 0.0
    mass = 0.0
    for i in range(len(row)):
        total += weights[i]
        cumulated[i] = total
        mass += behind[i]
    if said < 0 or 2.0 * mass < total:
        mass = largest_mass(row, weights, scratch.tally)
    return mass / total


def query_probability(share: float, rate: float, scale: float) -> float:
    """The chance that a label is worth buying (paper, eq. 1), if models disagree.

    Args:
        share: of the weight behind the class that has most of it.
        rate: η of the round, below which no chance falls.
        scale: β, a factor on the variance.
    """
    return min(1.0, max(scale * (share * (1.0 - share)), rate))


def largest_mass(row: Codes, weights: Floats, tally: Floats) -> float:
    """The weight behind the class that has most of it; whoever abstains is behind none."""
    largest = 0.0
    for i in range(len(row)):
        if row[i] >= 0:
            mass = tally[row[i]] + weights[i]
            tally[row[i]] = mass
            largest = max(largest, mass)
    for i in range(len(row)):
        if row[i] >= 0:
            tally[row[i]] = 0.0
    return largest
