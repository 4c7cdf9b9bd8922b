"""What the kernels of `gain` do, with NumPy: until they are compiled, for whoever will not wait.

Interpreted, a large pool would take many seconds. The arithmetic and its order are those of the kernels: the same
item is chosen, and every number is the same to the last bit. A test compares them.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.pools import gain
from modelpicker.algorithms.pools.gain import OUT, UNKNOWN, GradedItems, ModelComparison
from modelpicker.algorithms.pools.label_model import LabelModel
from modelpicker.algorithms.pools.label_model_arrays import (
    PIECE,
    answers_of,
    column_sums,
    guess_scores,
    one_after_the_other,
)
from modelpicker.kernels.primitives import NOT_RUN, Codes, Floats, Ints, exponential_of


def _free(labels: Codes, sample: Ints) -> Ints:
    """The places in the sample whose items have no label yet, but may get one."""
    found: Ints = np.flatnonzero((labels[sample] == UNKNOWN) | (labels[sample] == OUT))
    return found


def _pieces(places: Ints) -> Iterator[Ints]:
    for start in range(0, len(places), PIECE):
        yield places[start : start + PIECE]


def _differ(rows: Codes, lead: Codes) -> npt.NDArray[np.bool_]:
    """Which models a label can tell apart from the leader."""
    apart: npt.NDArray[np.bool_] = (rows != lead[:, None]) & (rows != NOT_RUN) & (lead != NOT_RUN)[:, None]
    return apart


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
    models, free = rows.shape[1], _free(labels, sample)
    for some in _pieces(free):
        found.chances[some], found.squares[some] = guess_scores(model, said[sample[some]], graded.worth, models)
    guesses, _ = guess_scores(model, said[learned], graded.worth, models)
    scores = np.where(rows[learned] == labels[learned, None], 1.0, 0.0)
    slots = graded.slots
    if len(graded.scores):
        scores = np.where((slots >= 0)[:, None], graded.scores[slots], scores)
    leader = int(found.leader[0])
    if leader < 0:
        leader = _lead_by_guess(rows, sample, free, scale, jitter, found)
    for _ in range(gain.LOOKS):
        _set_against(leader, rows, learned, guesses, scores, sample, free, scale, found)
        found.leader[0] = leader
        for j, ahead in enumerate(found.ahead.tolist()):
            if ahead < found.ahead[leader] - 1e-9:
                leader = j
        if leader == found.leader[0]:
            break


def _lead_by_guess(
    rows: Codes, sample: Ints, free: Ints, scale: float, jitter: Floats, found: ModelComparison
) -> int:
    """The model with the most items right, labelled or guessed; jitter decides between equals."""
    found.bias[:] = found.right + jitter
    for some in _pieces(free):
        row, chances = rows[sample[some]], found.chances[some]
        run = row != NOT_RUN
        if not run.all():
            mean = one_after_the_other(0.0, np.where(run, chances, 0.0)) / np.maximum(1, run.sum(axis=1))
            chances = np.where(run, chances, mean[:, None])
        found.bias[:] = column_sums(found.bias, scale * chances)
    return int(np.argmax(found.bias))


def _set_against(
    leader: int,
    rows: Codes,
    learned: Ints,
    guesses: Floats,
    scores: Floats,
    sample: Ints,
    free: Ints,
    scale: float,
    found: ModelComparison,
) -> None:
    """Put every rival beside a leader."""
    for room in (found.ahead, found.unsure, found.split):
        room[:] = 0.0
    for some in _pieces(free):
        row, chances, squares = rows[sample[some]], found.chances[some], found.squares[some]
        apart = _differ(row, row[:, leader])
        gap = chances[:, [leader]] - chances
        doubt = np.maximum(0.0, squares[:, [leader]] + squares - gap * gap)
        found.ahead[:] = column_sums(found.ahead, np.where(apart, scale * gap, 0.0))
        found.unsure[:] = column_sums(found.unsure, np.where(apart, scale * doubt, 0.0))
        found.split[:] = column_sums(found.split, np.where(apart, scale, 0.0))
    row, gap = rows[learned], scores[:, [leader]] - scores
    known = _differ(row, row[:, leader]) & (gap == gap)
    nothing = np.zeros(rows.shape[1])
    off = gap - (guesses[:, [leader]] - guesses)
    found.known[:] = column_sums(nothing, np.where(known, gap, 0.0))
    found.tested[:] = column_sums(nothing, np.where(known, 1.0, 0.0))
    found.bias[:] = column_sums(nothing, np.where(known, off, 0.0))
    trust = found.tested + gain.TRUSTED
    found.ahead[:] += found.known + found.split * found.bias / trust
    found.doubt[:] = found.unsure * (1.0 + found.split / trust)


def choose_item(rows: Codes, labels: Codes, sample: Ints, found: ModelComparison, asked: int, coin: float) -> int:
    """The next item to ask about, as a place in the sample; -1 if there is none."""
    out = sample[labels[sample] == OUT]
    whole = _weigh_models(rows[out], found)
    found.worth[:] = 0.0
    for some in _pieces(np.flatnonzero(labels[sample] == UNKNOWN)):
        worth = _worth_of(rows[sample[some]], whole, found)
        worth *= worth
        found.worth[some] = worth * worth
    if asked < gain.FIRST:
        return gain.best_item(found.worth.tolist(), coin)
    total = float(np.add.accumulate(found.worth)[-1]) if len(found.worth) else 0.0
    return gain.draw_item(found.worth.tolist(), total, coin)


def _weigh_models(out: Codes, found: ModelComparison) -> float:
    """How plausible it is that each model is the best; the leader counts as much as all others. The sum."""
    leader = int(found.leader[0])
    found.out[:] = _differ(out, out[:, leader]).sum(axis=0)
    open_ = found.unsure > 0.0
    score = found.ahead * found.ahead / np.where(open_, found.doubt, 1.0)
    plausible = exponential_of(-0.5 * score / 1024.0) / (1.0 + gain.SHARED * found.out)
    found.plausible[:] = np.where(open_, plausible, 0.0)
    total = float(one_after_the_other(0.0, found.plausible[None])[0])
    found.plausible[leader] = total
    return 2.0 * total


def _worth_of(rows: Codes, whole: float, found: ModelComparison) -> Floats:
    """How likely two models differ on an item, if each is drawn by how plausible it is, times `whole` squared."""
    run = rows != NOT_RUN
    said = answers_of(rows, run, len(found.by_class))
    sums, number = np.zeros(said.classes.shape), np.arange(len(rows))
    for j in range(rows.shape[1]):
        spoke = run[:, j]
        sums[number[spoke], said.place[spoke, j]] += found.plausible[j]
    there = whole - one_after_the_other(0.0, np.where(run, 0.0, found.plausible))
    worth: Floats = np.maximum(0.0, one_after_the_other(there * there, -(sums * sums)))
    return worth


def guess_row(model: LabelModel, said: Codes, worth: Floats, into: Floats) -> None:
    """What is expected of each model on one item, before its label is learned."""
    into[:] = guess_scores(model, said[None, :], worth, len(into))[0][0]


def sum_guesses(
    model: LabelModel,
    rows: Codes,
    said: Codes,
    drawable: npt.NDArray[np.bool_],
    worth: Floats,
    leader: int,
    chances: Floats,
    sums: Floats,
) -> None:
    """By how much the guess expects a leader to be ahead of each rival on all items that can be drawn."""
    sums[:] = 0.0
    made = len(chances) == len(rows)
    for some in _pieces(np.flatnonzero(drawable)):
        guesses = chances[some] if made else guess_scores(model, said[some], worth, len(sums))[0]
        ahead = np.clip(guesses[:, [leader]] - guesses, -1.0, 1.0)
        sums[:] = column_sums(sums, np.where(_differ(rows[some], rows[some, leader]), ahead, 0.0))
