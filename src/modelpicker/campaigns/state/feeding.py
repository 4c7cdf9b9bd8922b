"""Items of files on their way into a stream: kept first, then decided about one after the other, as labels come.

A label changes what is asked next. If a whole file is decided at once, before the first label, the budget goes to
items that were chosen without knowing anything of the models. So items are decided until one waits for a label, and
the next are decided when somebody wants another question.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from modelpicker.algorithms.runner import Outcome
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken, feed_pages
from modelpicker.campaigns.input.batches import KeptFile
from modelpicker.campaigns.input.rows import ClassCodes, encode_many, some_rows
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.state.ask import may_stop, new_ones, store_rounds
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.encoding import ClassName
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

FeedStep: TypeAlias = Literal["query", "going on", "stopped"]
"""What deciding about some items came to: one waits for a label, or none did yet, or there is nothing to decide."""


def keep_items(
    change: Transaction,
    vocabulary: ClassCodes,
    file: KeptFile,
    first: int,
    predictions: object,
    items: Sequence[Item | None] | None,
    keys: Sequence[str],
) -> int:
    """Keep items of a file, from its row `first` on, except those that are known already; how many are new."""
    change.projection.terms.check_asks()
    feed, models = change.projection.feed, change.projection.models
    rows = encode_many(predictions, models, vocabulary)
    asked = change.store.rounds_of(keys)
    kept = feed.rows_of(file.mark)
    new = [place for place, key in enumerate(keys) if first + place >= kept and key not in asked]
    if not new:
        return 0
    change.touched = True
    for page in feed_pages(
        feed.total,
        file,
        models,
        some_rows(rows, new),
        [first + place for place in new],
        None if items is None else [items[place] for place in new],
        [keys[place] for place in new],
    ):
        change.add(page)
        feed.keep(page)
    return len(new)


def drop_items(change: Transaction, by: str | None) -> int:
    """Decide about none of the items that wait; how many they were."""
    waiting = change.projection.feed.waiting
    if waiting:
        change.touched = True
        _take(change, FeedTaken(change.head.rounds, waiting, dropped=True, by=by))
    return waiting


def feeds(store: EventStore, state: Projection) -> bool:
    """Whether items wait, and may be decided about now."""
    return bool(state.feed.waiting) and not (
        state.terms.idle or state.picker.finished or state.left < 1 or may_stop(store, state)
    )


def decide_next(change: Transaction) -> FeedStep:
    """Decide about items that wait, up to the first whose label is asked for; those of one page at most."""
    state = change.projection
    if not feeds(change.store, state):
        return "stopped"
    change.touched = True
    page = change.store.feed_page(state.feed.taken)
    start = state.feed.taken - page.first
    made, end = _decide(change, page, _new_places(change.store, page, start))
    asks = bool(made.places) and _store(change, page, made)
    _take(change, FeedTaken(change.head.rounds, end - start))
    return "query" if asks else "going on"


def _new_places(store: EventStore, page: FeedItems, start: int) -> list[int]:
    """The places of a page whose items were not asked about before."""
    keys = page.keys[start:]
    places, _ = new_ones(keys, store.rounds_of(keys), 0)
    return [start + place for place in places]


class _Decided(NamedTuple):
    """What was decided about items of a page, in the order of their places."""

    places: list[int]
    outcomes: list[Outcome]
    predicted: list[ClassName | None]


def _decide(change: Transaction, page: FeedItems, places: list[int]) -> tuple[_Decided, int]:
    """Decide about items up to the first query; and the place at which the next call continues."""
    state, made = change.projection, _Decided([], [], [])
    rows = page.rows(state.models)
    # A goal may be certified after any item; where there is one, it is looked at before each.
    pieces = [places] if state.terms.stop_when is None else [[place] for place in places]
    for piece in pieces if places else ():
        if made.places and may_stop(change.store, state):
            return made, piece[0]
        some = some_rows(rows, piece)
        outcome = state.decide(some, until_query=True)
        names = [*some.classes, NOT_RUN, None]  # -1 is the last
        made.places.extend(piece[: len(outcome.queried)])
        made.outcomes.append(outcome)
        made.predicted.extend(names[code] for code in outcome.predicted.tolist())
        if outcome.queried[-1]:
            return made, made.places[-1] + 1
    return made, len(page)


def _store(change: Transaction, page: FeedItems, made: _Decided) -> bool:
    """Store rounds that were decided one after the other; whether somebody is asked about the last."""
    some = some_rows(page.rows(change.projection.models), made.places)
    code = {name: number for number, name in enumerate(some.classes)}
    whole = Outcome(
        np.concatenate([one.queried for one in made.outcomes]),
        np.concatenate([one.probability for one in made.outcomes]),
        np.concatenate([one.recommended for one in made.outcomes]),
        np.array([ABSTAINED if name is None else code[name] for name in made.predicted]),
    )
    items = [page.item(place) for place in made.places]
    event = store_rounds(change, some, whole, items, [page.keys[place] for place in made.places])
    return event.asks(event.first + len(event) - 1)


def _take(change: Transaction, event: FeedTaken) -> None:
    change.add(event)
    change.projection.feed.take(event)
