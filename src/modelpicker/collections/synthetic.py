"""Collections made to measure: any size and any accuracies, with errors that are shared as real ones are.

Three things make the errors of real models alike, and each has its number here: some items are hard for everybody
(`difficulty`), models of a family fail on the same items (`kinship`), and a wrong answer is seldom any wrong
answer, but the one that most suggests itself (`temptation`).
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from modelpicker.algorithms.validation import check_count
from modelpicker.coins import check_seed
from modelpicker.collections.collection import ModelCollection
from modelpicker.encoding import Array, ClassName, check_classes, smallest_type
from modelpicker.errors import InputError, brief, is_number

# More than this would not fit into the memory of most machines while it is made.
MOST_PREDICTIONS = 2**29
MOST_NAMES = 1_000_000
# Other classes that an item of a class may be taken for.
CONFUSABLE = 8
FEW_CLASSES = 100
# Models a family has, where families are not given.
FAMILY_SIZE = 5


def synthetic_collection(
    items: int,
    models: int | Sequence[str],
    classes: int | Sequence[ClassName],
    accuracies: Sequence[float],
    seed: int = 0,
    *,
    families: Sequence[object] | None = None,
    difficulty: float = 0.5,
    kinship: float = 0.2,
    temptation: float = 0.6,
) -> ModelCollection:
    """A collection of models that have just these accuracies, up to half an item.

    Args:
        items: how many items.
        models: how many models, or their names.
        classes: how many classes, or their names; all are equally frequent.
        accuracies: the share of items that each model gets right.
        seed: what all randomness is drawn from; equal arguments give equal collections.
        families: the family of each model, by any name; by default neighbours in the list, five by five.
        difficulty: the share of a model's luck with an item that all models have in common, from 0 to 1.
        kinship: the share that it has in common with its family only.
        temptation: the chance that a wrong answer is the most tempting one; else it is the second with the same
            chance, and so on.

    >>> collection = synthetic_collection(1000, 3, 10, [0.5, 0.7, 0.9], seed=1)
    >>> collection.accuracies.tolist()
    [0.5, 0.7, 0.9]
    """
    count = check_count("items", items, MOST_PREDICTIONS)
    names = _names(models)
    counted = isinstance(classes, int | np.integer)
    known = check_classes(
        range(check_count("classes", classes, MOST_NAMES)) if counted else cast("Sequence[str]", classes)
    )
    wanted = _check_accuracies(accuracies, len(names), len(known))
    kin = _check_families(families, len(names))
    _check_shares(difficulty, kinship, temptation)
    draw = np.random.Generator(np.random.Philox(check_seed(seed)))
    if count * len(names) > MOST_PREDICTIONS:
        raise InputError(
            f"{count:,} items by {len(names):,} models are more than {MOST_PREDICTIONS:,} predictions."
        )
    labels = draw.permutation(np.arange(count) % len(known))
    right = _right(draw, count, np.rint(wanted * count).astype(np.int64), kin, difficulty, kinship)
    slips = _slips(draw, labels, len(known), right.shape[1], temptation)
    dtype = smallest_type(len(known))
    predictions = np.where(right, labels.astype(dtype)[:, None], slips.astype(dtype))
    predictions.flags.writeable = False
    return ModelCollection.of_codes(predictions, labels, names, known)


def _right(
    draw: np.random.Generator, items: int, accuracies: Array, families: Array, difficulty: float, kinship: float
) -> Array:
    """Which items each model gets right: those that are easiest for it."""
    common = np.sqrt(difficulty) * draw.standard_normal(items, dtype=np.float32)
    shared = np.sqrt(kinship) * draw.standard_normal((int(families.max()) + 1, items), dtype=np.float32)
    own = np.sqrt(max(0.0, 1.0 - difficulty - kinship))
    right = np.empty((len(accuracies), items), dtype=bool)
    for model, (accuracy, family) in enumerate(zip(accuracies, families, strict=True)):
        hardness = common + shared[family] + own * draw.standard_normal(items, dtype=np.float32)
        right[model] = False
        right[model, np.argpartition(hardness, max(0, accuracy - 1))[:accuracy]] = True
    return right.T


def _slips(draw: np.random.Generator, labels: Array, classes: int, models: int, temptation: float) -> Array:
    """The wrong answer that each model gives to each item if it gives one."""
    if classes == 1:
        return np.zeros((len(labels), models), dtype=np.int64)
    near = min(CONFUSABLE, classes - 1)
    if classes <= FEW_CLASSES:
        offsets = np.argsort(draw.random((classes, classes - 1), dtype=np.float32), axis=1)[:, :near] + 1
    else:  # among many classes, one drawn twice is rare
        offsets = draw.integers(1, classes, (classes, near))
    confusable = (np.arange(classes)[:, None] + offsets) % classes
    # An item tempts by its own order of the classes that its class may be taken for.
    order = np.argsort(draw.random((len(labels), near)) * np.arange(1, near + 1), axis=1)
    tempting = np.take_along_axis(confusable[labels], order, axis=1)
    if temptation >= 1.0:
        return np.repeat(tempting[:, :1], models, axis=1)
    luck = np.log(1.0 - draw.random((len(labels), models), dtype=np.float32))
    choice = np.floor(luck / np.log(1.0 - temptation)).astype(np.int64) % near if temptation > 0.0 else None
    if choice is None:
        choice = draw.integers(0, near, (len(labels), models))
    return np.take_along_axis(tempting, choice, axis=1)


def _names(models: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(models, int | np.integer) and not isinstance(models, bool):
        return tuple(f"model-{number}" for number in range(check_count("models", models, MOST_NAMES)))
    if isinstance(models, str | bytes) or not isinstance(models, Sequence) or not len(models):
        raise InputError(f"models {brief(models)}: pass how many models there are, or a list of their names.")
    names = tuple(str(name) for name in models)
    if len(set(names)) < len(names):
        raise InputError(f"models {brief(models)}: names must differ.")
    return names


def _check_accuracies(accuracies: Sequence[float], models: int, classes: int) -> Array:
    """The accuracies, one per model."""
    try:
        wanted = np.asarray(accuracies, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        wanted = np.empty(0)
    if wanted.shape != (models,):
        raise InputError(f"accuracies {brief(accuracies)}: pass one for each of the {models} models.")
    if not ((wanted >= 0.0) & (wanted <= 1.0)).all():
        raise InputError(f"accuracies {brief(accuracies)}: pass shares between 0 and 1.")
    if classes == 1 and (wanted < 1.0).any():
        raise InputError("with a single class every model is always right; pass accuracies of 1, or more classes.")
    return wanted


def _check_families(families: Sequence[object] | None, models: int) -> Array:
    if families is None:
        return np.arange(models) // FAMILY_SIZE
    if len(families) != models:
        raise InputError(f"families {brief(families)}: pass one for each of the {models} models.")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(family, len(numbers)) for family in families])


def _check_shares(difficulty: float, kinship: float, temptation: float) -> None:
    for name, value in (("difficulty", difficulty), ("kinship", kinship), ("temptation", temptation)):
        if not is_number(value) or not 0 <= value <= 1:
            raise InputError(
                f"{name}={brief(value)} is out of range; pass a share between 0 and 1.", parameter=name
            )
    if difficulty + kinship > 1.0:
        raise InputError(f"difficulty={difficulty} and kinship={kinship} are shares of one whole; pass less.")
