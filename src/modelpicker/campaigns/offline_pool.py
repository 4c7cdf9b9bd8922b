"""A collection picked from as a pool: all items are there, and the one most worth a label is asked about next."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import PoolTrace, TellLabel, run_pool
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.input.judges import fields_at
from modelpicker.campaigns.pool_journal import PoolAnswer
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_pick import make_pool_pick, with_course
from modelpicker.collections import ModelCollection
from modelpicker.collections.measurements import Measurements
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError, InputError
from modelpicker.kernels.primitives import ABSTAINED
from modelpicker.label import AnyLabel
from modelpicker.losses import Loss

AskLabel: TypeAlias = Callable[[dict[str, Any]], AnyLabel | None]
"""Asked for the label of one item: gets its fields and its place, and gives a class, or None if nobody can tell."""


def look_up_pool(
    pool: PoolPicker, budget: int | None, given: int = 0, grades: TellLabel | None = None
) -> tuple[Pick, PoolTrace]:
    """Play a pool with the labels that it came with; a label that is asked for and missing is a skip.

    Args:
        pool: moved on.
        budget: how many labels may be asked for.
        given: how many labels it was given before: they are not bought.
        grades: looks up the grades of an item, where the file has these instead of labels.
    """
    return _picked(pool, run_pool(pool, grades, budget=budget), budget, given)


def known_grades(whole: ModelCollection) -> TellLabel | None:
    """Looks up the grades that an evaluation tool gave; None if there are labels, or no grades."""
    measured = whole.measured
    if whole.labelled or measured is None or not measured.graded:
        return None
    return lambda item: measured.label_at(item, whole.predictions, whole.classes)


def graded_items(source: object) -> int:
    """How many items have grades from an evaluation tool, and no labels."""
    measured = source.measured if isinstance(source, ModelCollection) and not source.labelled else None
    return 0 if measured is None else measured.graded


def find_price(price: object, source: object) -> object:
    """What each model costs; "cost" and "latency" stand for what the file of an evaluation tool says."""
    if not isinstance(price, str):
        return price
    measured = source.measured if isinstance(source, ModelCollection) else None
    return (measured or Measurements()).price(price)


def find_loss(loss: object, whole: ModelCollection, given: Mapping[int, ClassName] | None = None) -> Loss:
    """A loss from what users write; "balanced" is by how frequent the classes are among the labels.

    Args:
        loss: in any form that `pick` takes.
        whole: the items, with the labels that they come with.
        given: labels that exist already, by item: they count too.
    """
    if not (isinstance(loss, str) and loss == "balanced"):
        return Loss.of(loss).spelt_as(whole.classes)
    told = np.asarray(() if whole.labels is None else whole.labels)
    labels = {place: whole.classes[int(told[place])] for place in known_places(whole)} | dict(given or {})
    if not labels:
        raise InputError(
            f"loss: balanced accuracy needs to know how frequent the classes are, and none of the {len(whole):,} "
            "items has a label. Add labels of some of the items (warm=, --warm), or say how frequent the classes "
            'are, as counts or shares: mp.Loss.balanced({"spam": 20, "ham": 80}), or '
            '--loss \'balanced {"spam": 20, "ham": 80}\'.',
            parameter="loss",
        )
    return Loss.balanced(Counter(labels.values()))


def ask_pool(pool: PoolPicker, whole: ModelCollection, ask: AskLabel, budget: int | None, given: int = 0) -> Pick:
    """Play a pool, and ask somebody for each label."""
    trace = run_pool(pool, lambda place: ask(fields_at(whole, place)), budget=budget)
    return _picked(pool, trace, budget, given)[0]


def _picked(pool: PoolPicker, trace: PoolTrace, budget: int | None, given: int) -> tuple[Pick, PoolTrace]:
    spent = trace.stopped == "budget"
    pick = make_pool_pick(pool, budget=budget, skipped=len(trace.skipped), spent=spent, given=given)
    return with_course(pick, pool, _course_of(pool, trace)), trace


def _course_of(pool: PoolPicker, trace: PoolTrace) -> Course:
    """Who was recommended after each label, and what was proven by then."""
    first = pool.labels_used - trace.labels_used + 1
    return Course(
        tuple(range(first, first + len(trace))),
        tuple(pool.models[place] for place in trace.recommended.tolist()),
        tuple(trace.gaps.tolist()),
    )


def give_labels(pool: PoolPicker, labels: Mapping[int, ClassName]) -> int:
    """Tell a pool labels that exist already, by item; how many they are."""
    for place, label in labels.items():
        pool.tell(place, label)
    return len(labels)


def use_answers(
    pool: PoolPicker, whole: ModelCollection, budget: int | None, given: Mapping[int, ClassName] | None = None
) -> Pick:
    """Tell a pool the answers of an earlier pick: nobody can be asked for others.

    Args:
        pool: moved on.
        whole: the items, with these answers.
        budget: at most this many of them are used.
        given: labels that it was given before, by item: no answers to these items are used.
    """
    known = given or {}
    places = [place for place in known_places(whole) if place not in known]
    if budget is not None:
        places = places[: check_count("budget", budget)]
    for place in places:
        tell_known(pool, whole, place)
    spent = budget is not None and len(places) >= budget
    made = make_pool_pick(pool, budget=budget, skipped=0, spent=spent, given=len(known))
    return with_course(made, pool, None)


def replay_answers(pool: PoolPicker, answers: Iterable[PoolAnswer], path: Path) -> Iterator[PoolAnswer]:
    """Tell a pool the answers of a journal, one by one; an error if it would have asked about other items."""
    for answer in answers:
        if not answer.known and pool.ask(1) != [answer.item]:
            raise ConflictError(
                f"{path}: item {answer.item} was asked about, but now another one would be. "
                "The answers were given to another version of modelpicker, or changed by hand. To start again "
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
