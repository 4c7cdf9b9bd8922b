"""A collection picked from as a pool: all items are there, and the one most worth a label is asked about next."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import PoolTrace, run_pool
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_pick import make_pool_pick
from modelpicker.collections import ModelCollection
from modelpicker.encoding import ClassName
from modelpicker.kernels.primitives import ABSTAINED

AskLabel: TypeAlias = Callable[[dict[str, Any]], ClassName | None]
"""Asked for the label of one item: gets its fields and its place, and gives a class, or None if nobody can tell."""


def fields_at(whole: ModelCollection, place: int) -> dict[str, Any]:
    """What somebody who is asked gets to see of an item: its place, and its fields."""
    return {"item": place, **{name: values[place] for name, values in whole.fields.items()}}


def look_up_pool(pool: PoolPicker, budget: int | None) -> tuple[Pick, PoolTrace]:
    """Play a pool with the labels that it came with; a label that is asked for and missing is a skip."""
    return _picked(pool, run_pool(pool, budget=budget), budget)


def ask_pool(pool: PoolPicker, whole: ModelCollection, ask: AskLabel, budget: int | None) -> Pick:
    """Play a pool, and ask somebody for each label."""
    return _picked(pool, run_pool(pool, lambda place: ask(fields_at(whole, place)), budget=budget), budget)[0]


def _picked(pool: PoolPicker, trace: PoolTrace, budget: int | None) -> tuple[Pick, PoolTrace]:
    spent = trace.stopped == "budget"
    return make_pool_pick(pool, budget=budget, skipped=len(trace.skipped), spent=spent), trace


def use_answers(pool: PoolPicker, whole: ModelCollection, budget: int | None) -> Pick:
    """Tell a pool the answers of an earlier pick: nobody can be asked for others."""
    places = known_places(whole)
    if budget is not None:
        places = places[: check_count("budget", budget)]
    for place in places:
        tell_known(pool, whole, place)
    spent = budget is not None and pool.labels_used >= budget
    return make_pool_pick(pool, budget=budget, skipped=0, spent=spent)


def known_places(whole: ModelCollection) -> list[int]:
    """The items that have a label."""
    return [] if whole.labels is None else np.flatnonzero(np.asarray(whole.labels) != ABSTAINED).tolist()


def tell_known(pool: PoolPicker, whole: ModelCollection, place: int) -> None:
    """Tell a pool a label that the collection has."""
    if whole.labels is not None:
        pool.tell(place, whole.classes[int(whole.labels[place])])
