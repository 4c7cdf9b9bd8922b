"""Items that come into a pool: those whose keys are new, each once; and labels that come with them."""

from collections.abc import Callable, Sequence
from functools import partial

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Reference
from modelpicker.campaigns.events.pool_events import Items, item_events
from modelpicker.campaigns.input.pool_source import PoolSource
from modelpicker.campaigns.input.rows import ClassCodes, Rows, check_all_run, encode_many, some_rows
from modelpicker.campaigns.input.validation import check_keys
from modelpicker.campaigns.results.chart_samples import Sample, add_sample
from modelpicker.campaigns.results.pick import AddedItems, Item
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.ask import new_ones
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.campaigns.storage.backup import Progress
from modelpicker.encoding import ClassName, check_same_kind
from modelpicker.errors import ConflictError, brief
from modelpicker.kernels.primitives import ABSTAINED


def first_items(
    store: EventStore,
    settings: CampaignSettings,
    at: int,
    source: PoolSource,
    *,
    use_labels: bool,
    progress: Progress | None,
) -> None:
    """The items of a campaign that is being made."""
    state = PoolProjection(settings)
    head = store.head()
    state.catch_up(store, head.events)
    change = Transaction(store, state, head, at)
    add_source(change, ClassCodes(settings.classes), source, use_labels=use_labels, progress=progress)
    store.move(change.head)
    store.keep(change.state.document())
    add_sample(store, Sample.take(change.state))


def add_source(
    change: Transaction,
    vocabulary: ClassCodes,
    source: PoolSource,
    *,
    use_labels: bool,
    progress: Progress | None,
) -> AddedItems:
    """Add the items of a source to a pool."""
    new = known = done = 0
    labels: dict[int, ClassName] = {}
    for piece in source.pieces():
        total = len(piece.predictions)
        rows = check_all_run(encode_many(piece.predictions, change.state.models, vocabulary))
        before = change.head.rounds
        stored = None if progress is None else partial(_report, progress, done, len(source))
        # A collection's fields are plain values, and need no check of their own.
        numbers = add_rows(change, rows, piece.items, check_keys(piece.keys, total), stored)
        added = change.head.rounds - before
        new, known, done = new + added, known + total - added, done + total
        if use_labels:
            labels.update((numbers[place], label) for place, label in piece.labels.items())
        if progress is not None:
            progress(done, len(source))
    return AddedItems(new, known, _add_labels(change, vocabulary, labels))


def _report(progress: Progress, done: int, total: int, stored: int) -> None:
    """Tell how far it has come within a piece."""
    progress(done + stored, total)


def _add_labels(change: Transaction, vocabulary: ClassCodes, labels: dict[int, ClassName]) -> int:
    """Take in labels that came with items; those of items that have an answer already are left out."""
    told = 0
    classes = list(change.pool.picker.classes[:1]) if labels else []
    for number, given in labels.items():
        label = vocabulary.name(given, f"label of {number}")
        if label is None or change.store.state(number) is not None:
            continue
        check_same_kind(label, classes, f"label of {number}")
        change.add(Reference(number, label))
        change.state.counts.references += 1
        change.state.learn_reference(number, label)
        told += 1
    return told


def add_rows(
    change: Transaction,
    rows: Rows,
    items: list[Item | None] | None,
    keys: list[str | None] | None,
    stored: Callable[[int], None] | None = None,
) -> Sequence[int]:
    """Store items, except those whose keys are known; the number of each. `stored` is told how many, as it goes."""
    change.touched = True
    first, total = change.head.rounds, len(rows.codes)
    places: Sequence[int] = range(total)
    numbers: Sequence[int] = range(first, first + total)
    if keys is not None:
        known = change.store.rounds_of({key for key in keys if key is not None})
        older = set(known)
        places, numbers = new_ones(keys, known, first)
        _check_same(change.store, rows, keys, places, numbers, older)
    some = some_rows(rows, places)
    for event in item_events(
        first,
        some,
        None if items is None else [items[place] for place in places],
        None if keys is None else [keys[place] for place in places],
        change.state.settings.checksum,
    ):
        change.add(event)
        if isinstance(event, Items):
            change.pool.take_items(event)
            if stored is not None:
                stored(event.first + len(event) - first)
    return numbers


def _check_same(
    store: EventStore,
    rows: Rows,
    keys: Sequence[str | None],
    places: Sequence[int],
    numbers: Sequence[int],
    older: set[str],
) -> None:
    """Items whose keys were met before must have the predictions that they had then."""
    if len(places) == len(keys):
        return
    place_of = {numbers[place]: place for place in places}
    fresh = set(places)
    for place, key in enumerate(keys):
        if place in fresh:
            continue
        said = _names(rows, place)
        before = _stored_names(store, numbers[place]) if key in older else _names(rows, place_of[numbers[place]])
        if said != before:
            raise ConflictError(
                f"the key {brief(key)} stands for two items with different predictions: {brief(before)}, and "
                f"{brief(said)}. Give them keys that differ."
            )


def _names(rows: Rows, place: int) -> list[ClassName | None]:
    return [None if code == ABSTAINED else rows.classes[code] for code in rows.codes[place].tolist()]


def _stored_names(store: EventStore, number: int) -> list[ClassName | None]:
    event = store.round_event(number).event
    if not isinstance(event, Items):
        return []
    return _names(Rows(event.codes, event.classes), number - event.first)
