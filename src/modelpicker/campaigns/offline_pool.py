"""A collection picked from as a pool: all items are there, and the one most worth a label is asked about next."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import PoolTrace, run_pool
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.pool_journal import PoolAnswer
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_pick import make_pool_pick, with_course
from modelpicker.collections import ModelCollection
from modelpicker.errors import ConflictError, InputError, brief
from modelpicker.kernels.primitives import ABSTAINED
from modelpicker.label import AnyLabel
from modelpicker.losses import Loss

AskLabel: TypeAlias = Callable[[dict[str, Any]], AnyLabel | None]
"""Asked for the label of one item: gets its fields and its place, and gives a class, or None if nobody can tell."""


def fields_at(whole: ModelCollection, place: int) -> dict[str, Any]:
    """What somebody who is asked gets to see of an item: its place, and its fields."""
    return {"item": place, **{name: values[place] for name, values in whole.fields.items()}}


def with_judge_apart(whole: ModelCollection, judge: object) -> tuple[ModelCollection, object]:
    """A collection without its judge, and what the judge says of each item.

    Args:
        whole: the collection.
        judge: the name of a field or of a model, a function of an item, or one class per item; None: there is none.
    """
    if callable(judge):
        return whole, [judge(fields_at(whole, place)) for place in range(len(whole))]
    if not isinstance(judge, str):
        return whole, judge
    if judge in whole.fields:
        return whole, [None if value == "" else value for value in whole.fields[judge]]
    if judge in whole.models:
        names = [*whole.classes, None]
        said = [names[code] for code in whole.predictions[:, whole.models.index(judge)].tolist()]
        rest = [place for place, model in enumerate(whole.models) if model != judge]
        models = [whole.models[place] for place in rest]
        codes = whole.predictions[:, rest]
        return ModelCollection.of_codes(codes, whole.labels, models, whole.classes, whole.fields), said
    known = [*whole.fields, *(str(model) for model in whole.models)]
    raise InputError(f"judge: there is no column {brief(judge)}; there are {', '.join(known)}.", parameter="judge")


def find_loss(loss: object, whole: ModelCollection) -> Loss:
    """A loss from what users write; "balanced" is by how frequent the classes are among the labels."""
    if loss != "balanced":
        return Loss.of(loss)
    places = known_places(whole)
    if whole.labels is None or not places:
        raise InputError(
            "loss: balanced accuracy needs to know how frequent the classes are, and there are no labels; "
            "pass mp.Loss.balanced with a share for each class.",
            parameter="loss",
        )
    counts = np.bincount(np.asarray(whole.labels)[places], minlength=len(whole.classes)).tolist()
    return Loss.balanced({name: count for name, count in zip(whole.classes, counts, strict=True) if count})


def look_up_pool(pool: PoolPicker, budget: int | None) -> tuple[Pick, PoolTrace]:
    """Play a pool with the labels that it came with; a label that is asked for and missing is a skip."""
    return _picked(pool, run_pool(pool, budget=budget), budget)


def ask_pool(pool: PoolPicker, whole: ModelCollection, ask: AskLabel, budget: int | None) -> Pick:
    """Play a pool, and ask somebody for each label."""
    return _picked(pool, run_pool(pool, lambda place: ask(fields_at(whole, place)), budget=budget), budget)[0]


def _picked(pool: PoolPicker, trace: PoolTrace, budget: int | None) -> tuple[Pick, PoolTrace]:
    pick = make_pool_pick(pool, budget=budget, skipped=len(trace.skipped), spent=trace.stopped == "budget")
    return with_course(pick, pool, _course_of(pool, trace)), trace


def _course_of(pool: PoolPicker, trace: PoolTrace) -> Course:
    """Who was recommended after each label, and what was proved by then."""
    first = pool.labels_used - trace.labels_used + 1
    return Course(
        tuple(range(first, first + len(trace))),
        tuple(pool.models[place] for place in trace.recommended.tolist()),
        tuple(trace.gaps.tolist()),
    )


def use_answers(pool: PoolPicker, whole: ModelCollection, budget: int | None) -> Pick:
    """Tell a pool the answers of an earlier pick: nobody can be asked for others."""
    places = known_places(whole)
    if budget is not None:
        places = places[: check_count("budget", budget)]
    for place in places:
        tell_known(pool, whole, place)
    spent = budget is not None and pool.labels_used >= budget
    return with_course(make_pool_pick(pool, budget=budget, skipped=0, spent=spent), pool, None)


def replay_answers(pool: PoolPicker, answers: Iterable[PoolAnswer], path: Path) -> Iterator[PoolAnswer]:
    """Tell a pool the answers of a journal, one by one; an error if it would have asked about other items."""
    for answer in answers:
        if not answer.known and pool.ask(1) != [answer.item]:
            raise ConflictError(
                f"{path}: item {answer.item} was asked about, but now another one would be. "
                "The answers were given to another version of modelpicker, or changed by hand. To begin again "
                f"with the same answers, add --labels {path}."
            )
        pool.tell(answer.item, answer.label)
        yield answer


def known_places(whole: ModelCollection) -> list[int]:
    """The items that have a label."""
    return [] if whole.labels is None else np.flatnonzero(np.asarray(whole.labels) != ABSTAINED).tolist()


def tell_known(pool: PoolPicker, whole: ModelCollection, place: int) -> None:
    """Tell a pool a label that the collection has."""
    if whole.labels is not None:
        pool.tell(place, whole.classes[int(whole.labels[place])])
