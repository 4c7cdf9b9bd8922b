"""What the kernels of `label_model` do, with NumPy: until they are compiled, for people who do not want to wait.

The arithmetic and its order are those of the kernels, so the results are the same to the last bit: what a kernel
adds one after the other is added so here, too. A test compares them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.pools.label_model import (
    BIAS_FREEDOM,
    MOST_UNSAID,
    REGRESSIONS,
    REMEMBERED,
    STEPS,
    UNSAID,
    LabelModel,
    weigh_regressions,
)
from modelpicker.kernels.primitives import Codes, Floats, Ints, exponential_of

# Rows that are read at once, so that they stay in the cache of the processor.
PIECE = 2_048


class DistinctAnswers(NamedTuple):
    """The different answers to each item, in the order in which they come."""

    place: Ints  # [item, model]: which of the answers is the model's; -1 if it gave none
    classes: Ints  # [item, answer]
    answers: Ints  # [item]: how many

    @property
    def there(self) -> npt.NDArray[np.bool_]:
        """Which of the places for answers are used."""
        used: npt.NDArray[np.bool_] = np.arange(self.classes.shape[1]) < self.answers[:, None]
        return used


def answers_of(rows: Codes, answered: npt.NDArray[np.bool_], classes: int) -> DistinctAnswers:
    """The different answers to each item; `classes` is one more than the largest code."""
    items, models = rows.shape
    number = np.arange(items)
    seen = np.zeros((items, classes + 1), dtype=np.int64)  # the last is that of code -1
    place, named = np.full((items, models), -1), np.zeros((items, models), dtype=np.int64)
    count = np.zeros(items, dtype=np.int64)
    for j in range(models):
        code = np.where(answered[:, j], rows[:, j], 0)
        known = seen[number, code]
        fresh = answered[:, j] & (known == 0)
        place[:, j] = np.where(answered[:, j], np.where(fresh, count, known - 1), -1)
        seen[number[fresh], code[fresh]] = count[fresh] + 1
        named[number[fresh], count[fresh]] = code[fresh]
        count += fresh
    return DistinctAnswers(place, named[:, : max(1, int(count.max(initial=1)))], count)


def one_after_the_other(start: Any, terms: Floats) -> Floats:
    """`start` plus the terms of each row, added from the left to the right."""
    first = np.broadcast_to(np.asarray(start, dtype=np.float64), len(terms))[:, None]
    summed: Floats = np.add.accumulate(np.concatenate([first, terms], axis=1), axis=1)[:, -1]
    return summed


def column_sums(start: Floats, terms: Floats) -> Floats:
    """`start` plus the rows of the terms, added one after the other."""
    summed: Floats = start.copy()
    for begin in range(0, len(terms), PIECE):
        some = np.concatenate([summed[None], terms[begin : begin + PIECE]])
        summed = np.add.accumulate(some, axis=0)[-1]
    return summed


def sums_of(said: DistinctAnswers, added: Floats, biases: Floats, rows: Codes) -> Floats:
    """The sums of the regressions for every answer: [item, answer, regression]; as `add_odds` has them."""
    items, shared = len(rows), biases.shape[1]
    sums = np.zeros((*said.classes.shape, added.shape[2]))
    number = np.arange(items)
    fresh = np.zeros(said.classes.shape, dtype=bool)
    for j in range(rows.shape[1]):
        spoke = said.place[:, j] >= 0
        at, place = np.where(spoke, rows[:, j], 0) % shared, said.place[:, j]
        more, old = added[j, at], fresh[number, place]
        value = np.where(old[:, None], sums[number, place] + more, more + biases[:, at].T)
        sums[number[spoke], place[spoke]] = value[spoke]
        fresh[number[spoke], place[spoke]] = True
    return sums


def exponentials(sums: Floats, said: DistinctAnswers, rest: Floats) -> tuple[Floats, Floats]:
    """The odds of each answer by one regression, and all of them together."""
    highest = np.where(said.there, sums, 0.0).max(axis=1, initial=0.0)
    unsaid = rest * exponential_of(-highest / 1024.0)
    odds = np.where(said.there, exponential_of((sums - highest[:, None]) / 1024.0), 0.0)
    return odds, one_after_the_other(unsaid, odds)


def unsaid_of(said: DistinctAnswers, classes: int) -> Floats:
    """What the classes weigh that nobody says."""
    return np.asarray(np.clip(classes - said.answers, 0, MOST_UNSAID) * UNSAID, dtype=np.float64)


def guess_scores(model: LabelModel, rows: Codes, worth: Floats, models: int) -> tuple[Floats, Floats]:
    """What is expected of each model on each item, and of its square."""
    classes = len(model.seen) - 1
    said = answers_of(rows, rows >= 0, classes)
    added = (model.weights[:, :, None] + model.by_class).transpose(1, 2, 0)
    sums = sums_of(said, added, model.biases, rows)
    rest = unsaid_of(said, classes)
    odds: Floats = np.zeros(said.classes.shape)
    for g in range(REGRESSIONS):
        if model.evidence[g] > 0.01:
            each, total = exponentials(sums[:, :, g], said, rest)
            odds += model.evidence[g] * (each / total[:, None])
    number, silent = np.arange(len(rows))[:, None], said.place[:, :models] < 0
    place = np.where(silent, 0, said.place[:, :models])
    if not len(worth):
        mixed = np.where(silent, 0.0, odds[number, place])
        return mixed, mixed
    expected, square = _weigh_answers(said, odds, worth)
    return np.where(silent, 0.0, expected[number, place]), np.where(silent, 0.0, square[number, place])


def _weigh_answers(said: DistinctAnswers, odds: Floats, worth: Floats) -> tuple[Floats, Floats]:
    """By how much each answer is thought to score more than an abstention, and the square of that."""
    there = said.there
    rest = one_after_the_other(1.0, -np.where(there, odds, 0.0))[:, None]
    gain = worth[-1, said.classes] - worth[-1, -1]
    expected, square = rest * gain, rest * gain * gain
    for other in range(said.classes.shape[1]):
        label = said.classes[:, other, None]
        gain = worth[label, said.classes] - worth[label, -1]
        known, chance = there[:, other, None], odds[:, other, None]
        expected = np.where(known, expected + chance * gain, expected)
        square = np.where(known, square + chance * gain * gain, square)
    return expected, square


class Lesson(NamedTuple):
    """What the labels are that a regression is fitted to: one row per item, one column per model."""

    rows: Codes
    said: DistinctAnswers
    spoke: npt.NDArray[np.bool_]
    right: Floats  # 1 where an answer is the label
    weight: Floats  # how many models say the same, and half of the others
    first: npt.NDArray[np.bool_]  # the first model of each answer


def learn_item(model: LabelModel, rows: Codes, labels: Codes, learned: Ints) -> None:
    """Learn the last of the items that were learned: weigh the regressions by it, then fit them to all."""
    last = learned[-1]
    weigh_regressions(model, rows[last], labels[last])
    some = learned[-REMEMBERED:]
    lesson = _lesson_of(rows[some], labels[some], len(model.seen) - 1)
    for g in range(REGRESSIONS):
        for _ in range(STEPS):
            _step(model, g, lesson)


def _lesson_of(rows: Codes, labels: Codes, classes: int) -> Lesson:
    spoke = rows >= 0
    said = answers_of(rows, spoke, classes)
    number, place = np.nonzero(spoke)[0], said.place[spoke]
    counts = np.zeros(said.classes.shape)
    np.add.at(counts, (number, place), 1.0)
    size = np.take_along_axis(counts, np.maximum(said.place, 0), axis=1)
    before = np.maximum.accumulate(said.place, axis=1)
    first = spoke.copy()
    first[:, 1:] &= said.place[:, 1:] > before[:, :-1]
    right = np.where(rows == labels[:, None], 1.0, 0.0)
    return Lesson(rows, said, spoke, right, size + 0.5 * (rows.shape[1] - size), first)


def _step(model: LabelModel, g: int, lesson: Lesson) -> None:
    """A step of the fit of one regression."""
    precision, tight = model.precision[g], 1.0 / (BIAS_FREEDOM * BIAS_FREEDOM)
    shared = model.biases.shape[1]
    chances = _foresee(model, g, lesson)
    error, doubt = lesson.right - chances, chances * (1.0 - chances)
    bend = 2.0 * doubt * lesson.weight
    slope = column_sums(precision * (model.start[g] - model.weights[g]), np.where(lesson.spoke, error, 0.0))
    curve = column_sums(precision, np.where(lesson.spoke, bend, 0.0))
    class_precision = model.class_precision[g][:, None]
    by_class = -class_precision * model.by_class[g]
    by_class_curve = np.repeat(class_precision, shared, axis=1)
    at = np.nonzero(lesson.spoke)[1], lesson.rows[lesson.spoke] % shared
    np.add.at(by_class, at, error[lesson.spoke])
    np.add.at(by_class_curve, at, (bend + doubt)[lesson.spoke])
    biases, biases_curve = -tight * model.biases[g], np.full(shared, tight)
    named = lesson.rows[lesson.first] % shared
    np.add.at(biases, named, error[lesson.first])
    np.add.at(biases_curve, named, (2.0 * doubt)[lesson.first])
    model.weights[g] += slope / curve
    model.by_class[g] += by_class / by_class_curve
    model.biases[g] += biases / biases_curve


def _foresee(model: LabelModel, g: int, lesson: Lesson) -> Floats:
    """One regression's chance that each model is right on each item; 0 where it said nothing."""
    added = (model.weights[g][:, None] + model.by_class[g])[:, :, None]
    sums = sums_of(lesson.said, added, model.biases[[g]], lesson.rows)[:, :, 0]
    odds, total = exponentials(sums, lesson.said, unsaid_of(lesson.said, len(model.seen) - 1))
    found = np.take_along_axis(odds, np.maximum(lesson.said.place, 0), axis=1) / total[:, None]
    return np.where(lesson.spoke, found, 0.0)
