"""Rounds decided and stored: those whose keys are new, each once."""

from collections.abc import Sequence

import numpy as np

from modelpicker.algorithms.runner import Outcome
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Rounds
from modelpicker.campaigns.input.rows import ClassCodes, Rows, encode_many, some_rows, take_rows
from modelpicker.campaigns.results.assembly import best_place, without_newcomers
from modelpicker.campaigns.results.candidates import two_strongest
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.tell_opinion import needed_of, store_label
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.encoding import ClassName

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
    preferred = change.projection.settings.ask_for == "preference"
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
        pairs=_pairs(change.projection, rows, outcome) if preferred else None,
    )
    change.add(event)
    if preferred:
        _skip_incomparable(change, event)
    return event


def _pairs(state: Projection, rows: Rows, outcome: Outcome) -> list[list[ClassName] | None]:
    """The answers to compare in each queried round: the leader's, and the strongest other one."""
    names, behind = [*rows.classes, None, None], state.behind()  # -1 and -2: no answer
    pairs: list[list[ClassName] | None] = [None] * len(rows.codes)
    for place in outcome.queried.nonzero()[0].tolist():
        answers = [names[code] for code in rows.codes[place].tolist()]
        pairs[place] = two_strongest(answers, behind, int(outcome.recommended[place]))
    return pairs


def _skip_incomparable(change: Transaction, event: Rounds) -> None:
    """Skip queries of rounds on which fewer than two models answer: there is nothing to compare."""
    for number in (event.queried.nonzero()[0] + event.first).tolist():
        if not event.asks(number):
            store_label(change, Answer(number, None, of_opinions=needed_of(change, number) > 1))
