"""What is to be compared: checked and complete before the first run."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from modelpicker.algorithms.validation import check_choice, check_count
from modelpicker.coins import check_seed
from modelpicker.collections import ModelCollection, load_collection
from modelpicker.collections.collection import check_all_run
from modelpicker.errors import InputError, brief
from modelpicker.experiments.pool_methods import MethodChoice, PoolMethod, methods_for
from modelpicker.experiments.realizations import Pool
from modelpicker.experiments.tasks import Job
from modelpicker.experiments.tuning import Tuned
from modelpicker.kernels.primitives import ABSTAINED, Ints

# `expected` tunes the mean number of labels to the budget; `hard` does so too, and then keeps the budget as a cap.
BUDGET_RULES = ("expected", "hard")
TUNINGS = ("search", "grid")
# A realization is a stream that is played in its order, or a pool: a file, any item of which may be asked about.
SETTINGS = ("stream", "pool")
# On pools few labels are enough, so the usual budgets do not go beyond this.
MOST_ON_POOLS = 400.0
# Rounds at which curves have a point.
MARKS = 100


@dataclass(frozen=True)
class ComparisonPlan:
    """What is to be compared, checked and complete: two equal plans give equal results."""

    job: Job
    budgets: tuple[int, ...]
    realizations: int
    budget_rule: str
    tuning: str
    expected: float
    """Rounds of a stream on which models disagree, on average."""
    facts: Mapping[str, Any]
    """The collection: name, fingerprint, size."""
    accuracies: tuple[float, ...]
    setting: str = "stream"
    remarks: tuple[str, ...] = ()
    """What a reader should know, such as methods that were left out."""
    values: Mapping[str, Mapping[int, Tuned]] | None = None
    """Hyperparameters by method and budget, where they are known from another comparison."""

    def identity(self) -> dict[str, Any]:
        """Everything that decides the numbers, except for hyperparameters that are given."""
        return {
            "collection": dict(self.facts),
            "setting": self.setting,
            "methods": [method.describe() for method in self.job.methods],
            "budgets": list(self.budgets),
            "stream_size": self.job.stream_size,
            "realizations": self.realizations,
            "seed": self.job.seed,
            "budget_rule": self.budget_rule,
            "tuning": self.tuning,
        }

    @property
    def untuned(self) -> frozenset[str]:
        """The labels of the methods that have nothing to tune: those of pools."""
        return frozenset(method.label for method in self.job.methods if isinstance(method, PoolMethod))

    @property
    def digits(self) -> str:
        """Eight digits that stand for the plan."""
        text = json.dumps(self.identity(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


def plan_comparison(
    collection: object,
    methods: Sequence[MethodChoice] | None = None,
    budgets: Sequence[int] | None = None,
    stream_size: int | None = None,
    realizations: int = 500,
    seed: int = 0,
    budget_rule: str = "expected",
    tuning: str = "search",
    setting: str = "stream",
    name: str | None = None,
    stand_in: str | None = None,
) -> ComparisonPlan:
    """Check everything that can be checked before the first run.

    `name` is what the collection is called in tables and figures, `stand_in` what it stands in for, if it does.
    """
    check_choice("budget_rule", budget_rule, BUDGET_RULES)
    check_choice("tuning", tuning, TUNINGS)
    check_choice("setting", setting, SETTINGS)
    if isinstance(collection, str | os.PathLike):
        name = name or Path(collection).stem
        collection = load_collection(Path(collection))
    elif not isinstance(collection, ModelCollection):
        collection = load_collection(collection)
    pool = pool_of(collection)
    size = _check_size(stream_size, len(pool.labels))
    chosen, remarks = methods_for(setting, methods, len(collection.classes))
    job = Job(
        pool=pool,
        methods=chosen,
        classes=len(collection.classes),
        stream_size=size,
        seed=check_seed(seed),
        marks=_marks(size) if setting == "stream" else np.array([size]),
    )
    for method in job.methods:  # options that are not valid should show before the first run
        if isinstance(method, PoolMethod):
            method.make()
        else:
            method.make(len(collection.models), len(collection.classes), method.fixed or method.search[0])
    expected = float(_divided(pool) * size)
    facts = {
        "name": name,
        "fingerprint": collection.fingerprint,
        "items": len(pool.labels),
        "models": len(collection.models),
        "classes": len(collection.classes),
        "stand_in": stand_in,
    }
    return ComparisonPlan(
        job=job,
        budgets=_check_budgets(budgets, size, expected, setting),
        realizations=check_count("realizations", realizations),
        budget_rule=budget_rule,
        tuning=tuning,
        expected=expected,
        facts=facts,
        accuracies=tuple(np.asarray(collection.accuracies).tolist()),
        setting=setting,
        remarks=tuple(remarks),
    )


def pool_of(collection: ModelCollection) -> Pool:
    """The items that have labels; an error if methods cannot be judged by them."""
    if collection.labels is None:
        raise InputError(
            "the collection has no labels to judge methods by; add them with with_labels(...) or --labels."
        )
    if len(collection.models) < 2:
        raise InputError("there is one model only; to compare ways of choosing, there must be two to choose from.")
    check_all_run(collection, "a comparison")
    known = collection.labels != ABSTAINED
    predictions = collection.predictions if known.all() else collection.predictions[known]
    pool = Pool(predictions, collection.labels[known].astype(np.int32))
    if _divided(pool) == 0.0:
        raise InputError("the models agree on every labelled item, so no label can tell them apart.")
    return pool


def _divided(pool: Pool) -> float:
    """The share of items on which models disagree."""
    return float((pool.predictions != pool.predictions[:, :1]).any(axis=1).mean())


def _check_size(stream_size: int | None, items: int) -> int:
    size = max(1, items // 2) if stream_size is None else check_count("stream_size", stream_size)
    if size > items:
        raise InputError(
            f"stream_size={size:,}, but only {items:,} items have labels; streams are drawn without replacement."
        )
    return size


def _check_budgets(budgets: Sequence[int] | None, size: int, expected: float, setting: str) -> tuple[int, ...]:
    if budgets is None:
        return usual_budgets(expected) if setting == "stream" else usual_pool_budgets(expected)
    if isinstance(budgets, str | int) or not hasattr(budgets, "__iter__"):
        raise InputError(f"budgets {brief(budgets)}: pass a list of numbers of labels, such as [50, 100, 200].")
    checked = [check_count("budget", budget) for budget in budgets]
    if not checked:
        raise InputError("no budgets; pass numbers of labels, such as [50, 100, 200].")
    for place, budget in enumerate(checked):
        if budget > size:
            raise InputError(f"budget {budget:,} is more than the {size:,} items of a {setting}.")
        if budget in checked[:place]:
            raise InputError(f"budget {budget:,} is given twice.")
    return tuple(checked)


def usual_budgets(expected: float) -> tuple[int, ...]:
    """Ten budgets, from few labels to half of the rounds on which models disagree, evenly spaced in the log."""
    highest = max(1.0, expected / 2.0)
    return _ten_budgets(max(5.0, highest / 20.0), highest)


def usual_pool_budgets(expected: float) -> tuple[int, ...]:
    """Ten budgets from five labels on: on pools the first few labels tell most."""
    return _ten_budgets(5.0, max(1.0, min(MOST_ON_POOLS, expected / 2.0)))


def _ten_budgets(lowest: float, highest: float) -> tuple[int, ...]:
    """Ten round numbers, evenly spaced in the log; fewer if there are not as many between."""
    raw = np.geomspace(min(lowest, highest), highest, 10)
    digits = np.maximum(0, np.floor(np.log10(raw)) - 1)
    return tuple(dict.fromkeys(int(round(value / 10**d) * 10**d) for value, d in zip(raw, digits, strict=True)))


def middle_budget(budgets: Sequence[int]) -> int:
    """The budget that stands for all where only one is shown."""
    return sorted(budgets)[len(budgets) // 2]


def _marks(size: int) -> Ints:
    """Rounds from the first to the last, evenly spaced."""
    return np.unique(np.ceil(np.linspace(0, size, MARKS + 1)[1:]).astype(np.int64))
