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
from modelpicker.campaigns.events.feed_events import Fed, FeedItems, feed_pages
from modelpicker.campaigns.input.batches import KeptFile
from modelpicker.campaigns.input.rows import ClassCodes, Rows, encode_many, some_rows
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.state.ask import may_stop, store_rounds
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.encoding import ClassName
from modelpicker.kernels.primitives import ABSTAINED

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
        _take(change, Fed(change.head.rounds, waiting, dropped=True, by=by))
    return waiting


def feeds(store: EventStore, state: Projection) -> bool:
    """Whether items wait, and may be decided about now."""
    return bool(state.feed.waiting) and not (
        state.terms.idle or state.picker.finished or state.left < 1 or may_stop(store, state)
    )


def decide_next(change: Transaction) -> FeedStep:
    """Decide about items that wait, up to the first whose label is asked for; those of one page at most."""
    if not feeds(change.store, change.projection):
        return "stopped"
    change.touched = True
    state = change.projection
    page = change.store.feed_page(state.feed.taken)
    start = place = state.feed.taken - page.first
    rows = page.rows(state.models)
    known = set(change.store.rounds_of(page.keys[start:]))
    made: list[_Decided] = []
    while place < len(page) and not (made and made[-1].outcome.queried[0]):
        if page.keys[place] not in known:
            if made and state.terms.stop_when is not None and may_stop(change.store, state):
                break
            known.add(page.keys[place])
            made.append(_decide(change, rows, place))
        place += 1
    if made:
        _store(change, page, rows, made)
    _take(change, Fed(change.head.rounds, place - start))
    return "query" if made and made[-1].outcome.queried[0] else "going on"


class _Decided(NamedTuple):
    """What was decided about the item at a place of a page."""

    place: int
    outcome: Outcome
    predicted: ClassName | None


def _decide(change: Transaction, rows: Rows, place: int) -> _Decided:
    own = some_rows(rows, [place])
    outcome = change.projection.decide(own)
    said = int(outcome.predicted[0])
    return _Decided(place, outcome, None if said < 0 else own.classes[said])


def _store(change: Transaction, page: FeedItems, rows: Rows, made: list[_Decided]) -> None:
    """Store rounds that were decided one by one."""
    places = [one.place for one in made]
    some = some_rows(rows, places)
    code = {name: number for number, name in enumerate(some.classes)}
    whole = Outcome(
        np.concatenate([one.outcome.queried for one in made]),
        np.concatenate([one.outcome.probability for one in made]),
        np.concatenate([one.outcome.recommended for one in made]),
        np.array([ABSTAINED if one.predicted is None else code[one.predicted] for one in made]),
    )
    store_rounds(
        change, some, whole, [page.item(place) for place in places], [page.keys[place] for place in places]
    )


def _take(change: Transaction, event: Fed) -> None:
    change.add(event)
    change.projection.feed.take(event)
