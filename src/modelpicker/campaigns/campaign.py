"""A campaign: programs ask about items, people tell labels, and the best model emerges.

Every change is one transaction: it looks at how far the campaign has come, moves this process's replica there,
decides, stores an event and commits. So any number of processes may work on one campaign, and each sees what the
others did.
"""

import copy
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import numpy as np
import sqlalchemy as sa

from modelpicker.algorithms import Decision
from modelpicker.algorithms.encoding import ClassName, check_same_kind
from modelpicker.algorithms.options import ModelName, check_count, check_models
from modelpicker.campaigns import log as states
from modelpicker.campaigns.events import (
    Answer,
    Event,
    Item,
    Joining,
    Leaving,
    Reference,
    Retraction,
    Rounds,
    changes_the_past,
)
from modelpicker.campaigns.log import Head, Log, Recent, State, Stored
from modelpicker.campaigns.picks import Pick, Query, make_pick
from modelpicker.campaigns.records import Record, records_of, records_of_round
from modelpicker.campaigns.replica import Replica, Told, catch_up, rebuild
from modelpicker.campaigns.rounds import Decisions, check_item, check_items, check_key, check_keys
from modelpicker.campaigns.rows import Rows, Vocabulary, count_rows, encode_many, encode_one, some_rows, take_rows
from modelpicker.campaigns.schema import answers
from modelpicker.campaigns.settings import Settings
from modelpicker.campaigns.storage import Storage
from modelpicker.errors import ConflictError, InputError, NotFoundError, StateError, StorageError, brief

# Events and rounds after which the state is kept again: what opening a campaign goes through at most.
EVENTS_KEPT = 256
ROUNDS_KEPT = 512
# Rounds of one event: more are stored as several, in the same transaction.
ROUNDS_AT_ONCE = 10_000
LONGEST_LEASE = 1e9
MOST_PENDING = 2**31 - 1


@dataclass
class Change:
    """A transaction that may add events."""

    log: Log
    replica: Replica
    head: Head
    at: int
    touched: bool = False
    """Whether the replica has moved: if the transaction fails, it is wrong from then on."""

    def add(self, event: Event) -> int:
        """Store an event; its number."""
        number = self.head.events + 1
        self.log.add(number, self.at, event)
        rounds = len(event) if isinstance(event, Rounds) else 0
        rebuilt = number if changes_the_past(event) else self.head.rebuilt
        self.head = Head(number, self.head.rounds + rounds, rebuilt)
        self.replica.event = number
        return number


class Campaign:
    """One durable labelling effort: a stream, its models, a picker, a budget, every label bought.

    Made by `create_campaign` and `open_campaign`. May be used by several threads, and by several processes if each
    opens it. Whatever a method returns from is on disk.
    """

    def __init__(self, storage: Storage, number: int, name: str, created: int, settings: Settings) -> None:
        self.storage = storage
        self.name = name
        self.created = created
        self.settings = settings
        self.vocabulary = Vocabulary(settings.classes)
        self._number = number
        self._replica: Replica | None = None
        self._recent = Recent()
        self._kept = 0
        self._kept_rounds = 0
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._closed = False

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""
        with self._reading() as (_, replica):
            return replica.picker.models

    @property
    def events(self) -> int:
        """How many events there have been."""
        with self._reading() as (log, _):
            return log.head().events

    @property
    def classes(self) -> tuple[ClassName, ...] | None:
        """The classes that may occur; None if they are whatever is said."""
        return self.settings.classes

    @property
    def budget(self) -> int | None:
        """How many labels may be bought."""
        return self.settings.budget

    def ask(
        self, predictions: object, *, item: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Decision:
        """Decide the next round, and record everything about it in one transaction.

        Args:
            predictions: what each model says: {model: class}, or a list in the order of the models; None where
                one abstains.
            item: fields that tell people what to label, such as {"text": "…"}.
            key: your own name for the item. The same key again returns the same decision and creates nothing, so
                that whatever went wrong, asking again is safe.
        """
        key = check_key(key)
        item = check_item(item)
        with self._writing() as change:
            known = None if key is None else change.log.round_of(key)
            if known is not None:
                return _decision(change.log.rounds_with(known), known, change.replica)
            rows = encode_one(predictions, change.replica.picker.models, self.vocabulary)
            event = self._decide(change, rows, [item], [key])
            return _decision(event, event.first, change.replica)

    def ask_many(
        self,
        predictions: object,
        *,
        items: Sequence[Mapping[str, Any] | None] | None = None,
        keys: Sequence[str | None] | None = None,
    ) -> Decisions:
        """Decide many rounds in one transaction, with the compiled kernel.

        Args:
            predictions: a matrix of class codes, a collection, a data frame, or a list of what `ask` takes; a row
                a round.
            items: the fields of each item.
            keys: a key for each; those that were asked before return the decision they had.
        """
        total = count_rows(predictions)
        checked_items = check_items(items, total)
        checked_keys = check_keys(keys, total)
        with self._writing() as change:
            first = change.head.rounds
            places: Sequence[int] = range(total)
            numbers: Sequence[int] = range(first, first + total)
            if checked_keys is not None:
                known = change.log.rounds_of({key for key in checked_keys if key is not None})
                places, numbers = _new_ones(checked_keys, known, first)
            made = self._ask_new(change, predictions, places, checked_items, checked_keys)
            older = sorted({number for number in numbers if number < first}) if places != range(total) else []
            found = {rounds.first: rounds for rounds in map(change.log.rounds_with, older)}
            return Decisions(numbers, [*found.values(), *made], change.replica.models_at)

    def _ask_new(
        self,
        change: Change,
        predictions: object,
        places: Sequence[int],
        items: list[Item | None] | None,
        keys: list[str | None] | None,
    ) -> list[Rounds]:
        """Decide the rounds at some places, in events of a bounded size."""
        if not places:
            return []
        models = change.replica.picker.models
        rows = encode_many(take_rows(predictions, places), models, self.vocabulary)
        made: list[Rounds] = []
        for start in range(0, len(places), ROUNDS_AT_ONCE):
            some = places[start : start + ROUNDS_AT_ONCE]
            made.append(
                self._decide(
                    change,
                    some_rows(rows, range(start, start + len(some))),
                    None if items is None else [items[place] for place in some],
                    None if keys is None else [keys[place] for place in some],
                )
            )
        return made

    def _decide(
        self, change: Change, rows: Rows, items: list[Item | None] | None, keys: list[str | None] | None
    ) -> Rounds:
        """Let the picker decide, and store what it decided."""
        change.touched = True
        first = change.head.rounds
        outcome = change.replica.decide(rows)
        event = Rounds(
            first=first,
            codes=rows.codes,
            classes=rows.classes,
            queried=outcome.queried,
            probability=outcome.probability,
            recommended=outcome.recommended,
            predicted=outcome.predicted.astype(np.int32),
            items=items if items and any(item is not None for item in items) else None,
            keys=keys if keys and any(key is not None for key in keys) else None,
            pace=change.replica.pace.tolist(),
        )
        change.add(event)
        return event

    def tell(
        self,
        id: int | str,
        label: ClassName | None,
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Take in the label of a query, at any time and in any order.

        Told twice, it counts once. Another label for the same query is a conflict, unless `replace` says that the
        first was wrong: then everything is learned anew as if it had never been said. The label of a round that was
        not queried is kept for reference, and never touches the estimates.

        Args:
            id: the `id` of a decision, or the key that the item was asked with.
            label: a class; None if nobody can tell, as with `skip`.
            replace: whether it takes the place of another answer.
            annotator: who says so.
        """
        self.tell_many([(id, label)], replace=replace, annotator=annotator)

    def tell_many(
        self,
        labels: Mapping[Any, ClassName | None] | Iterable[tuple[int | str, ClassName | None]],
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Take in many labels in one transaction: all of them, or none if one cannot be."""
        given: object = labels
        if not isinstance(given, Iterable) or isinstance(given, str | bytes):
            raise InputError(f"labels {brief(labels)}: pass {{id: label}}, or pairs of an id and a label.")
        pairs = list(labels.items() if isinstance(labels, Mapping) else labels)
        by = _check_annotator(annotator)
        with self._writing() as change:
            for entry in pairs:
                if not (isinstance(entry, Sequence) and len(entry) == 2) or isinstance(entry, str):
                    raise InputError(f"labels: {brief(entry)} is no pair of an id and a label.")
                number = self._find(change, entry[0])
                self._answer(change, number, self._label(change, number, entry[1]), replace, by)

    def skip(self, id: int | str, *, replace: bool = False, annotator: str | None = None) -> None:
        """Say that nobody can tell the label of a query: no estimate changes, the budget gets the label back."""
        self.tell(id, None, replace=replace, annotator=annotator)

    def _label(self, change: Change, number: int, label: object) -> ClassName | None:
        """A label that fits the campaign and its round."""
        name = self.vocabulary.name(label, f"label of {number}")
        if name is not None:
            check_same_kind(name, change.log.rounds_with(number).classes[:1], f"label of {number}")
        return name

    def _answer(self, change: Change, number: int, label: ClassName | None, replace: bool, by: str | None) -> None:
        """Store an answer, unless it is there already, and learn it."""
        known = change.log.state(number)
        if known is None or known.state == states.REFERENCE:
            self._refer(change, number, label, known, replace, by)
            return
        if known.state == states.WAITING:
            change.touched = True
            change.add(Answer(number, label, by))
            change.replica.count(None, Told(label))
            if label is not None:
                change.replica.learn(change.log, number, label)
            return
        if known.label == label:
            return
        said = "skipped" if known.label is None else f"labelled {known.label!r}"
        if not replace:
            raise ConflictError(
                f"round {number} was {said} before; pass replace=True (--replace) if that was wrong, "
                f"and {'skipping it' if label is None else repr(label)} is right."
            )
        if known.label is None and change.replica.left < 1:
            raise _spent(number)
        change.touched = True
        change.replica.count(Told(known.label), Told(label))
        change.add(Answer(number, label, by, replaces=True))

    def _refer(
        self,
        change: Change,
        number: int,
        label: ClassName | None,
        known: State | None,
        replace: bool,
        by: str | None,
    ) -> None:
        """Keep the label of a round that was not queried."""
        if label is None:
            raise ConflictError(f"round {number} was not queried, so there is nothing to skip.")
        if known is not None and known.label == label:
            return
        if known is not None and not replace:
            raise ConflictError(
                f"round {number} has the reference label {known.label!r}; pass replace=True (--replace) if that "
                "was wrong."
            )
        change.touched = True
        change.replica.counts.references += known is None
        change.add(Reference(number, label, by, replaces=known is not None))

    def retract(
        self, id: int | str, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> None:
        """Take back the answer to a query, which then waits again; everything is learned anew without it.

        Args:
            id: the `id` of a decision, or the key that the item was asked with.
            lease: for how long the query is kept for the annotator, as `pending` has it.
            annotator: who says so.
        """
        by = _check_annotator(annotator)
        seconds = None if lease is None else _seconds(lease)
        with self._writing() as change:
            number = self._find(change, id)
            known = change.log.state(number)
            if known is None or known.state == states.WAITING:
                raise ConflictError(f"round {number} has no answer to take back.")
            if known.state == states.SKIPPED and change.replica.left < 1:
                raise _spent(number)
            change.touched = True
            change.add(Retraction(number, by, reference=known.state == states.REFERENCE))
            if known.state == states.REFERENCE:
                change.replica.counts.references -= 1
            else:
                if seconds is not None:
                    until = self.storage.now(change.log.connection) + seconds
                    change.log.lease([number], until, by)
                change.replica.count(Told(known.label), None)

    def _find(self, change: Change, id: object) -> int:
        """The round that an id or a key stands for."""
        if isinstance(id, str):
            number = change.log.round_of(check_key(id) or "")
            if number is None:
                raise NotFoundError(f"nothing was asked with the key {brief(id)} in campaign {self.name!r}.")
            return number
        if isinstance(id, bool) or not isinstance(id, int | np.integer):
            raise InputError(f"id {brief(id)}: pass the id of a decision, or the key that its item was asked with.")
        if not 0 <= id < change.head.rounds:
            raise NotFoundError(
                f"there is no round {brief(int(id))} in campaign {self.name!r}, which has {change.head.rounds:,}, "
                "from 0 on."
            )
        return int(id)

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on."""
        with self._reading() as (log, replica):
            return make_pick(log, replica)

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Queries that wait for an answer, oldest first.

        Args:
            most: at most so many; all by default, and one if they are leased.
            lease: for how many seconds, or how long, they are kept from others. Nobody else is given a leased query
                until its lease has expired; an answer counts whenever it comes, if nobody else gave one.
            annotator: who takes them. The same annotator is given again what they have leased already.
        """
        by = _check_annotator(annotator)
        if most is not None:
            most = min(check_count("most", most), MOST_PENDING)
        if lease is None:
            with self._reading() as (log, _):
                return self._queries(log, log.states(answers.c.state == states.WAITING, most=most))
        return self._lease(most or 1, _seconds(lease), by)

    def _lease(self, most: int, seconds: float, by: str | None) -> list[Query]:
        with self._writing() as change:
            now = self.storage.now(change.log.connection)
            free = sa.or_(answers.c.leased_until.is_(None), answers.c.leased_until <= now)
            mine = free if by is None else sa.or_(free, answers.c.leased_by == by)
            taken = change.log.states(answers.c.state == states.WAITING, mine, most=most)
            if taken:
                change.log.lease([state.round for state in taken], now + seconds, by)
            leased = [state._replace(leased_until=now + seconds, leased_by=by) for state in taken]
            return self._queries(change.log, leased)

    def release(self, *ids: int | str) -> None:
        """Give leased queries back, so that others need not wait for the lease to expire."""
        with self._writing() as change:
            change.log.lease([self._find(change, id) for id in ids], None, None)

    def _queries(self, log: Log, found: list[State]) -> list[Query]:
        queries = []
        for state in found:
            rounds = log.rounds_with(state.round)
            queries.append(
                Query(
                    id=state.round,
                    item=copy.deepcopy(rounds.item(state.round)),
                    key=rounds.key(state.round),
                    classes=rounds.said(state.round),
                    leased_until=state.leased_until,
                    leased_by=state.leased_by,
                )
            )
        return queries

    def history(self, id: int | str | None = None) -> Iterator[Record]:
        """Everything that happened, in order, as JSON-ready records; or all that happened to one round."""
        with self._reading() as (log, replica):
            head = log.head()
            if id is not None:
                number = self._find(Change(log, replica, head, 0), id)
                return iter(list(records_of_round(log, self.settings, number)))
        return records_of(self.stored(head.events), self.settings)

    def stored(self, upto: int) -> Iterator[Stored]:
        """Events in order, a page a transaction: they do not change, and whoever reads them may take their time."""
        after = 0
        while after < upto:
            with self._reading() as (log, _):
                page = log.page(after, upto)
            yield from page
            after = page[-1].number

    def join(self, model: ModelName) -> None:
        """Let another model take part from the next round on.

        It takes over the record of the model that leads now, as if it had said the same until now: it starts level
        with the leader, and its estimate differs from the leader's only by what both say from now on.
        """
        with self._writing() as change:
            models = change.replica.picker.models
            if str(model) in {str(one) for one in models}:
                raise ConflictError(f"model {model!r} takes part already.")
            name = check_models([*models, model])[-1]
            change.touched = True
            change.add(Joining(change.head.rounds, name, make_pick(change.log, change.replica).model))

    def leave(self, model: ModelName) -> None:
        """Let a model take no part any more, from the next round on; what is known of the others stays."""
        with self._writing() as change:
            models = change.replica.picker.models
            name = next((one for one in models if str(one) == str(model)), None)
            if name is None:
                raise NotFoundError(f"there is no model {brief(model)} in campaign {self.name!r}.")
            if len(models) == 2:
                raise ConflictError(f"without {model!r} there would be one model, and nothing to choose.")
            change.touched = True
            change.add(Leaving(change.head.rounds, name))

    @contextmanager
    def _writing(self) -> Iterator[Change]:
        """A transaction in which nobody else changes this campaign; it is on disk when it ends."""
        with self._lock:
            self._check_open()
            change: Change | None = None
            try:
                with self.storage.writing() as connection:
                    log = Log(connection, self._number, self._recent)
                    head = log.head(lock=True)
                    change = Change(log, self._current(log, head), head, int(time.time() * 1e6))
                    yield change
                    if change.head != head:
                        if change.head.rebuilt > head.rebuilt:
                            change.replica = rebuild(log, self.settings, change.head.events, change.head.rebuilt)
                        log.move(change.head)
                        self._keep_if_due(change, anew=change.head.rebuilt > head.rebuilt)
                self._replica = change.replica
            except BaseException:
                if change is not None and change.touched:
                    self._replica = None
                raise

    @contextmanager
    def exclusive(self) -> Iterator[Log]:
        """The log itself, while nobody else changes it; this process's replica is found anew afterwards."""
        with self._lock:
            self._check_open()
            self._replica = None
            with self.storage.writing() as connection:
                yield Log(connection, self._number)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Log, Replica]]:
        with self._lock:
            self._check_open()
            with self.storage.reading() as connection:
                log = Log(connection, self._number, self._recent)
                replica = self._current(log, log.head())
                yield log, replica

    def _keep_if_due(self, change: Change, *, anew: bool) -> None:
        """Keep the state now and then, so that opening is quick; always if it was learned anew."""
        head = change.head
        if anew or head.events - self._kept >= EVENTS_KEPT or head.rounds - self._kept_rounds >= ROUNDS_KEPT:
            change.log.keep(change.replica.document())
            self._kept, self._kept_rounds = head.events, head.rounds

    def _current(self, log: Log, head: Head) -> Replica:
        """This process's replica, moved on to where the campaign is."""
        replica = self._replica
        if replica is not None and replica.event == head.events:
            return replica
        self._replica = None
        if replica is None or head.rebuilt > replica.event or head.events < replica.event:
            replica = self._load(log, head)
        catch_up(replica, log, head.events)
        if replica.picker.rounds != head.rounds:
            raise StorageError(
                f"campaign {self.name!r} says it has {head.rounds:,} rounds, but its events have "
                f"{replica.picker.rounds:,}; `modelpicker verify` repairs that."
            )
        self._replica = replica
        return replica

    def _load(self, log: Log, head: Head) -> Replica:
        """The state that was kept last; found from the events if there is none, or if it is damaged."""
        kept = log.snapshot()
        if kept is not None:
            try:
                replica = Replica.load(self.settings, kept)
            except StateError:
                pass
            else:
                if head.rebuilt <= replica.event <= head.events:
                    self._kept, self._kept_rounds = replica.event, replica.picker.rounds
                    return replica
        return rebuild(log, self.settings, head.events, head.rebuilt)

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"campaign {self.name!r} was closed; open it again with open_campaign.")
        if self._process != os.getpid():
            raise StorageError(f"campaign {self.name!r} was opened by another process; open it anew after a fork.")

    def close(self) -> None:
        """Let go of the campaign; everything is on disk already, and it can be opened again."""
        with self._lock:
            self._closed = True
            self._replica = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r} in {self.storage.url}>"


def _new_ones(keys: Sequence[str | None], known: dict[str, int], first: int) -> tuple[list[int], list[int]]:
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


def _decision(rounds: Rounds, number: int, replica: Replica) -> Decision:
    """A decision that was made, as it was returned then."""
    return Decisions([number], [rounds], replica.models_at)[0]


def _spent(number: int) -> ConflictError:
    """The error for a query that was skipped, and should now get a label that the budget no longer has."""
    return ConflictError(
        f"round {number} was skipped, which gave its label back to the budget, and the budget is spent by now."
    )


def _seconds(lease: object) -> float:
    """For how long a query is leased."""
    seconds = lease.total_seconds() if isinstance(lease, timedelta) else lease
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < LONGEST_LEASE:
        raise InputError(f"lease={brief(lease)}: pass for how many seconds a query is to be kept.")
    return float(seconds)


def _check_annotator(annotator: object) -> str | None:
    """Who answers: any short text."""
    return None if annotator is None else check_key(annotator, "annotator")
