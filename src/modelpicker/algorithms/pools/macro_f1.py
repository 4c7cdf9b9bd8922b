"""Macro-F1 of every model of a pool, as far as can be told: an estimate, which nothing certifies.

Macro-F1 is not a mean of losses, so that no bet can be made on it. It is estimated from how often a model says a
class and is right, as labels and guesses have it: an item without a label counts for each class by its chance.
"""

from typing import TYPE_CHECKING

import numpy as np

from modelpicker.algorithms.pools.label_model import LabelModel, guess, prepare_guesses
from modelpicker.encoding import ModelName
from modelpicker.errors import InputError
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import NOT_RUN, Codes, Floats, Ints, kernel_codes

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker

# Of a larger pool, that many items are looked at.
MOST_ITEMS = 4_000


def count_classes(
    model: LabelModel, said: Codes, labels: Codes, items: Ints, hits: Floats, answers: Floats, truth: Floats
) -> None:
    """How often each model says a class and is right, how often it says it, and how often it is the label.

    Args:
        model: guesses where there is no label.
        said: what the models say, and the judge if there is one.
        labels: codes; negative where there is none.
        items: that are looked at.
        hits: [model, class], added to.
        answers: [model, class], added to.
        truth: [model, class], added to: how often a class is the label of an item that the model was run on.
    """
    prepare_guesses(model)
    models = hits.shape[0]
    for at in range(len(items)):
        row, label = said[items[at]], labels[items[at]]
        if label < 0:
            guess(model, row)
        for j in range(models):
            if row[j] >= 0:
                answers[j, row[j]] += 1.0
                hits[j, row[j]] += model.mixed[j] if label < 0 else (1.0 if row[j] == label else 0.0)
        if label >= 0:
            count_label(row, label, 1.0, truth)
        else:
            count_guess(model, row, truth)


def count_label(row: Codes, label: int, chance: float, truth: Floats) -> None:
    """A class is the label of an item with some chance, for the models that were run on it."""
    for j in range(truth.shape[0]):
        if row[j] != NOT_RUN:
            truth[j, label] += chance


def count_guess(model: LabelModel, row: Codes, truth: Floats) -> None:
    """Each class that is said is the label of an item with the chance that was guessed."""
    for s in range(len(row)):
        if row[s] >= 0 and model.seen[row[s]] == 0:
            model.seen[row[s]] = 1
            count_label(row, row[s], model.mixed[s], truth)
    for s in range(len(row)):
        if row[s] >= 0:
            model.seen[row[s]] = 0


count = CompiledKernel(count_classes, {}, "pool-picker macro-F1", count_classes)


def macro_f1(pool: "PoolPicker") -> dict[ModelName, float]:
    """Macro-F1 of every model, as far as can be told: the mean of F1 over the classes that are said or labels."""
    if not pool.loss.plain or pool.loss.name == "preference":
        raise InputError(f"macro-F1 is about classes; the loss of this pool is {pool.loss.name}.")
    items = np.linspace(0, len(pool) - 1, min(len(pool), MOST_ITEMS)).astype(np.int64)
    said = pool.source.rows(items)
    if pool.judge is not None:
        said = np.concatenate([said, pool.judge[items][:, None]], axis=1)
    known = dict(pool._agreed) | {int(pool._contested[place]): int(pool._labels[place]) for place in pool._learned}
    labels = np.array([known.get(item, -1) for item in items.tolist()], dtype=np.int32)
    shape = (len(pool.models), len(pool.classes))
    hits, answers, truth = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    count(pool._model, kernel_codes(said), labels, np.arange(len(items)), hits, answers, truth)
    met = ((truth > 0.0) | (answers > 0.0)).any(axis=0)
    scores = 2.0 * hits / np.maximum(1e-12, answers + truth)
    return {name: float(scores[place, met].mean()) for place, name in enumerate(pool.models)}
