"""Items that come into a pool: those whose keys are new, each once; and labels that come with them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from modelpicker.algorithms.pools.slice_values import MISSING, check_number, check_values
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Reference
from modelpicker.campaigns.events.pool_events import Items, item_events
from modelpicker.campaigns.input.judges import as_answers, as_spelt, encode_answers, split_items
from modelpicker.campaigns.input.pool_source import PoolSource
from modelpicker.campaigns.input.rows import ClassCodes, Rows, encode_many, some_rows
from modelpicker.campaigns.input.slices import encode_values, read_field
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
from modelpicker.kernels.primitives import NOT_RUN


def first_items(
    store: EventStore,
    settings: CampaignSettings,
    at: int,
    source: PoolSource,
    *,
    use_labels: bool,
    progress: Progress | None,
    given: Mapping[int, ClassName],
) -> None:
    """The items of a campaign that is being made; `given` are labels that exist already, by their places."""
    state = PoolProjection(settings)
    head = store.head()
    state.catch_up(store, head.events)
    change = Transaction(store, state, head, at)
    vocabulary = ClassCodes(settings.classes, settings.rule)
    add_source(change, vocabulary, source, use_labels=use_labels, progress=progress, given=given)
    if settings.slice is not None:
        check_values(sorted(change.pool.slice_names), change.head.rounds, settings.slice)
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
    given: Mapping[int, ClassName] | None = None,
) -> AddedItems:
    """Add the items of a source to a pool; `given` are labels that exist already, by their places in the source."""
    new = known = done = 0
    labels: dict[int, ClassName] = {}
    for piece in source.pieces():
        total = len(piece.predictions)
        rows = encode_many(piece.predictions, change.state.models, vocabulary)
        before = change.head.rounds
        stored = None if progress is None else partial(_report, progress, done, len(source))
        # A collection's fields are plain values, and need no check of their own.
        keys = check_keys(piece.keys, total)
        numbers = add_rows(change, vocabulary, rows, piece.items, keys, piece.judge, stored, piece.slices)
        labels.update(
            (numbers[at - done], label) for at, label in (given or {}).items() if done <= at < done + total
        )
        added = change.head.rounds - before
        new, known, done = new + added, known + total - added, done + total
        if use_labels:
            labels |= {
                numbers[place]: label for place, label in piece.labels.items() if numbers[place] not in labels
            }
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
    rule = vocabulary.rule
    for number, given in labels.items():
        same = given if rule.plain else rule.find(given, change.store.said_at(number)[0])
        label = vocabulary.name(same, f"label of {number}")
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
    vocabulary: ClassCodes,
    rows: Rows,
    items: list[Item | None] | None,
    keys: list[str | None] | None,
    judge: Sequence[Any] | None = None,
    stored: Callable[[int], None] | None = None,
    slices: Sequence[Any] | None = None,
) -> Sequence[int]:
    """Store items, except those whose keys are known; the number of each.

    Args:
        change: under way.
        vocabulary: the classes of the campaign.
        rows: what the models say.
        items: what is shown of each, and the field that holds what the judge says.
        keys: of the items.
        judge: what the judge says about each, where that is not a field of the items.
        stored: told how many are stored, as it goes.
        slices: what slice each is in, where that is not a field of the items.
    """
    change.touched = True
    change.state.settings.costs.check_classes(len({*change.pool.classes, *rows.classes}))
    name, judged = change.state.settings.judge, None
    if name is not None:
        items, said = split_items(items, name, len(rows.codes))
        judged = _answers(change, vocabulary, rows, said if judge is None else judge)
    sliced = _slices(change, items, slices, len(rows.codes))
    first, total = change.head.rounds, len(rows.codes)
    places: Sequence[int] = range(total)
    numbers: Sequence[int] = range(first, first + total)
    if keys is not None:
        known = change.store.rounds_of({key for key in keys if key is not None})
        older = set(known)
        places, numbers = new_ones(keys, known, first)
        settled = {"judge": judged, "slices": sliced}
        _check_same(change.store, rows, settled, keys, places, numbers, older)
    some = some_rows(rows, places)
    for event in item_events(
        first,
        some,
        None if items is None else [items[place] for place in places],
        None if keys is None else [keys[place] for place in places],
        change.state.settings.checksum,
        *(None if column is None else some_rows(column, places) for column in (judged, sliced)),
    ):
        change.add(event)
        if isinstance(event, Items):
            change.pool.take_items(event)
            if stored is not None:
                stored(event.first + len(event) - first)
    return numbers


def _slices(
    change: Transaction, items: Sequence[Item | None] | None, given: Sequence[Any] | None, total: int
) -> Rows | None:
    """What slices the items are in; None if the campaign has none."""
    name = change.state.settings.slice
    if name is None:
        return None
    found = read_field(items, name, total) if given is None else encode_values(given)
    check_number(len({*change.pool.slice_names, *map(str, found.classes)}), change.head.rounds + total, name)
    return found


def _answers(change: Transaction, vocabulary: ClassCodes, rows: Rows, said: Sequence[Any]) -> Rows:
    """What the judge says, in the form of the classes.

    What is not one of the classes that were given says nothing.
    """
    classes = vocabulary.classes
    if classes is None:
        found = as_answers(said, [*change.pool.classes, *rows.classes], "judge")
        return encode_answers(as_spelt(found, vocabulary.rule, lambda place: _names(rows, place)))
    if vocabulary.by_place:
        said = [vocabulary.classes_at(answer) for answer in said]
    answers = as_answers(said, classes, "judge")
    found = as_spelt(answers, vocabulary.rule, lambda place: [*_names(rows, place), *classes])
    return encode_answers([answer if answer in vocabulary.known else None for answer in found])


def _check_same(
    store: EventStore,
    rows: Rows,
    settled: Mapping[str, Rows | None],
    keys: Sequence[str | None],
    places: Sequence[int],
    numbers: Sequence[int],
    older: set[str],
) -> None:
    """Items whose keys were met before must have the predictions that they had then, and what else is settled."""
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
        of_first = None if key in older else place_of[numbers[place]]
        for kind, column in settled.items():
            if column is not None:
                _check_settled(store, kind, column, key, place, numbers[place], of_first)


def _check_settled(
    store: EventStore, kind: str, column: Rows, key: str | None, place: int, number: int, first: int | None
) -> None:
    """Check that the judge, and the slice, of an item that is there already are those of before, or missing.

    Args:
        store: of the campaign.
        kind: what it is about: `judge` or `slices`.
        column: what is said now.
        key: of the item.
        place: of the item among those that came now.
        number: of the item.
        first: where it came first among those that came now; None if it was there before.
    """
    says = _names(column, place)[0]
    if first is not None:
        before = _names(column, first)[0]
    else:
        event = store.round_event(number).event
        known = getattr(event, kind) if isinstance(event, Items) else None
        before = None if known is None or not isinstance(event, Items) else _names(known, number - event.first)[0]
    if says in (None, MISSING) or says == before:
        return
    then, now = "nothing" if before is None else brief(before), brief(says)
    told, what = {
        "judge": (f"the judge says {now} of this item, and said {then}", "What a judge says"),
        "slices": (f"the item is in slice {now}, and was in {then}", "The slice of an item"),
    }[kind]
    raise ConflictError(
        f"the key {brief(key)}: {told} when it was added. {what} is settled when an item is added: the proof rests "
        "on it. Leave it out, or create another campaign."
    )


def _names(rows: Rows, place: int) -> list[ClassName | None]:
    names = [*rows.classes, NOT_RUN, None]  # -1 is the last
    return [names[code] for code in rows.codes[place].tolist()]


def _stored_names(store: EventStore, number: int) -> list[ClassName | None]:
    event = store.round_event(number).event
    if not isinstance(event, Items):
        return []
    return _names(Rows(event.codes, event.classes), number - event.first)
