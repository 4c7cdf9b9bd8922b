"""Rounds decided and stored: those whose keys are new, each once."""

from collections.abc import Sequence

import numpy as np

from modelpicker.algorithms.runner import Outcome
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Rounds
from modelpicker.campaigns.input.rows import ClassCodes, Rows, encode_many, some_rows, take_rows
from modelpicker.campaigns.results.assembly import best_place, without_newcomers
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.transactions import Transaction

# Rounds of one event: more are stored as several, in the same transaction.
ROUNDS_AT_ONCE = 10_000


def new_ones(keys: Sequence[str | None], known: dict[str, int], first: int) -> tuple[list[int], list[int]]:
    """The places of keys that are new, and the round of every key; rounds are counted from `first` on."""
    places: list[int] = []
    numbers: list[int] = []
    for place, key in enumerate(keys):
        number = None if key is None else known.get(key)
        if number is None:
            number = first + len(places)
            places.append(place)
            if key is not None:
                known[key] = number
        numbers.append(number)
    return places, numbers


def decide_new(
    change: Transaction,
    vocabulary: ClassCodes,
    predictions: object,
    places: Sequence[int],
    items: list[Item | None] | None,
    keys: list[str | None] | None,
) -> list[Rounds]:
    """Decide the rounds at some places, in events of a bounded size."""
    if not places:
        return []
    models = change.projection.picker.models
    rows = encode_many(take_rows(predictions, places), models, vocabulary)
    made: list[Rounds] = []
    for start in range(0, len(places), ROUNDS_AT_ONCE):
        some = places[start : start + ROUNDS_AT_ONCE]
        made.append(
            decide_rounds(
                change,
                some_rows(rows, range(start, start + len(some))),
                None if items is None else [items[place] for place in some],
                None if keys is None else [keys[place] for place in some],
            )
        )
    return made


def may_stop(store: EventStore, state: Projection) -> bool:
    """Whether the pick is certified as the campaign's rule wants it, so that no label need be bought for now."""
    rule = state.terms.stop_when
    return rule is not None and state.certifies(best_place(store, state), rule)


def decide_rounds(
    change: Transaction, rows: Rows, items: list[Item | None] | None, keys: list[str | None] | None
) -> Rounds:
    """Let the picker decide, and store what it decided."""
    change.projection.terms.check_asks()
    change.touched = True
    closed = may_stop(change.store, change.projection)
    return store_rounds(change, rows, change.projection.decide(rows, closed=closed), items, keys)


def store_rounds(
    change: Transaction,
    rows: Rows,
    outcome: Outcome,
    items: list[Item | None] | None,
    keys: Sequence[str | None] | None,
) -> Rounds:
    """Store what was decided about rounds, the next ones."""
    without_newcomers(change.store, change.projection, outcome.recommended)
    event = Rounds(
        first=change.head.rounds,
        codes=rows.codes,
        classes=rows.classes,
        queried=outcome.queried,
        probability=outcome.probability,
        recommended=outcome.recommended,
        predicted=outcome.predicted.astype(np.int32),
        items=items if items and any(item is not None for item in items) else None,
        keys=list(keys) if keys and any(key is not None for key in keys) else None,
        pace=change.projection.pace.tolist(),
        settings=change.projection.settings.checksum,
    )
    change.add(event)
    return event
