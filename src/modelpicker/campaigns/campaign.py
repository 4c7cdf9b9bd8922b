"""A campaign: programs ask about items, people tell labels, and the best model emerges."""

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np

from modelpicker.algorithms import Decision
from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.algorithms.validation import check_count, check_model, check_models
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import (
    REFERENCE,
    SKIPPED,
    STATE_NAMES,
    UNANSWERED,
    EventStore,
    RoundState,
)
from modelpicker.campaigns.events.event_types import (
    Answer,
    Joining,
    Leaving,
    Note,
    Opinion,
    Reference,
    Retraction,
    Revision,
    Rounds,
)
from modelpicker.campaigns.events.history import ANSWERED, HistoryRecord, records_of, records_of_round
from modelpicker.campaigns.input.batches import KeptFile, frame_batch
from modelpicker.campaigns.input.rows import count_rows, encode_one
from modelpicker.campaigns.input.validation import (
    Decisions,
    check_item,
    check_items,
    check_key,
    check_keys,
    check_note,
)
from modelpicker.campaigns.names import check_name
from modelpicker.campaigns.results.agreement import Agreement, measure_agreement
from modelpicker.campaigns.results.assembly import best_place, make_pick
from modelpicker.campaigns.results.labels import find_conflicts, find_labels, find_notes, opinions_of
from modelpicker.campaigns.results.pick import (
    AddedItems,
    AnswerRecord,
    AskedFile,
    CampaignCounts,
    Conflict,
    GivenAnswer,
    GivenOpinion,
    ItemNote,
    LabelFilter,
    Pick,
    Query,
)
from modelpicker.campaigns.state.answer_counts import AnswerCounts
from modelpicker.campaigns.state.ask import decide_new, decide_rounds, new_ones
from modelpicker.campaigns.state.classes import KnownClasses
from modelpicker.campaigns.state.feeding import FeedStep, decide_next, drop_items, feeds, keep_items
from modelpicker.campaigns.state.opinions import KnownAnswers
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.tell import store_answer
from modelpicker.campaigns.state.tell_opinion import budget_spent, needed_of, settle_conflict, withdraw
from modelpicker.campaigns.state.transactions import CampaignTransactions, Transaction, WriteGroup
from modelpicker.campaigns.terms import Terms, check_changes
from modelpicker.certificates.certificate import MOST_MODELS, Certificate, CertificateKind
from modelpicker.encoding import ClassName, ModelName, check_same_kind
from modelpicker.errors import ConflictError, InputError, NotFoundError, brief
from modelpicker.frames import as_columns

LONGEST_LEASE = 1e9
MOST_PENDING = 2**31 - 1


class Campaign(CampaignTransactions):
    """One durable labelling effort: a stream or a pool, its models, a picker, a budget, every label bought.

    Made by `create_campaign` and `open_campaign`. May be used by several threads, and by several processes if each
    opens it. Whatever a method returns from is on disk.
    """

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""
        with self.reading_state() as (_, state):
            return state.models

    @property
    def classes(self) -> tuple[ClassName, ...] | None:
        """The classes that may occur; None if they are whatever is said."""
        return self.settings.classes

    @contextmanager
    def together(self) -> Iterator[WriteGroup]:
        """All changes within it go to disk together, or none; a BehindError if much has to be learned first."""
        with self.grouped(patient=False) as group:
            yield group

    def known_classes(self) -> list[ClassName]:
        """The classes that a label may be: those given, or all that models and people have said so far."""
        return self._known_classes.names()

    @cached_property
    def _known_classes(self) -> KnownClasses:
        return KnownClasses(self)

    def forget(self) -> None:
        """Let go of all that is kept in memory; it is found in the storage again."""
        super().forget()
        for name in ("_known_classes", "_answer_counts"):
            self.__dict__.pop(name, None)

    @property
    def budget(self) -> int | None:
        """How many labels may be bought."""
        return self.terms.budget

    @property
    def terms(self) -> Terms:
        """What holds now: the budget, the goal, and the guidelines, and whether anybody is asked."""
        with self.reading_state() as (_, state):
            return state.terms

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
        self._check_takes_items()
        return self.ask_item(predictions, item, key)

    def ask_item(self, predictions: object, item: Mapping[str, Any] | None, key: str | None) -> Decision:
        """`ask` for whoever feeds the items of the campaign's own file."""
        key = check_key(key)
        item = check_item(item)
        with self.writing() as change:
            known = None if key is None else change.store.round_of(key)
            if known is not None:
                return _decision(change.store.rounds_with(known), known, change.projection)
            rows = encode_one(predictions, change.projection.picker.models, self.vocabulary)
            event = decide_rounds(change, rows, [item], [key])
            return _decision(event, event.first, change.projection)

    def ask_many(
        self,
        predictions: object,
        *,
        items: Sequence[Mapping[str, Any] | None] | None = None,
        keys: Sequence[str | None] | None = None,
    ) -> Decisions:
        """Decide many rounds in one transaction, with the compiled kernel.

        Args:
            predictions: a matrix of class codes, a collection, a list of what `ask` takes, one row per round; or a
                data frame or a mapping of arrays, one column per model. Its other columns are shown with the items,
                and `key` or `id` has the keys.
            items: the fields of each item.
            keys: a key for each; those that were asked before return the decision they had.
        """
        self._check_takes_items()
        predictions, items, keys = self._unframed(predictions, items, keys)
        total = count_rows(predictions)
        checked_items = check_items(items, total)
        checked_keys = check_keys(keys, total)
        with self.writing() as change:
            first = change.head.rounds
            places: Sequence[int] = range(total)
            numbers: Sequence[int] = range(first, first + total)
            if checked_keys is not None:
                known = change.store.rounds_of({key for key in checked_keys if key is not None})
                places, numbers = new_ones(checked_keys, known, first)
            made = decide_new(change, self.vocabulary, predictions, places, checked_items, checked_keys)
            older = sorted({number for number in numbers if number < first}) if places != range(total) else []
            found = {rounds.first: rounds for rounds in map(change.store.rounds_with, older)}
            return Decisions(numbers, [*found.values(), *made], change.projection.models_at)

    def ask_file(self, source: object, *, at_once: bool = False) -> AskedFile:
        """Ask about the items of a file, one after the other, as labels come.

        The items are kept in the storage. Whenever somebody wants a question (`pending`) and none is open for them,
        the next items are decided about, until one needs a label. Several files are asked about in their order. The
        same file again brings nothing new.

        Args:
            source: a file of predictions, a collection or a data frame, with the models of this campaign. A column
                `key` or `id` has the keys of its items.
            at_once: whether all items are decided about now, before any of their labels come. All questions are
                there at once, so that many people can label in parallel, but there are more of them.

        >>> import modelpicker as mp
        >>> models = mp.load_collection("digits").models
        >>> campaign = mp.create_campaign("memory://doctest-file", "digits", models=models)
        >>> campaign.ask_file("digits").waiting, len(campaign.pending(1))
        (1497, 1)
        """
        from modelpicker.campaigns.feeding import ask_file  # which builds on campaigns

        self._check_takes_items()
        return ask_file(self, source, at_once=at_once)

    def keep_items(
        self,
        file: KeptFile,
        first: int,
        predictions: object,
        items: Sequence[Mapping[str, Any] | None] | None,
        keys: Sequence[str],
    ) -> AskedFile:
        """Keep some items of a file, the first of which is in this row: they are asked about as labels come."""
        self._check_takes_items()
        checked_items, total = check_items(items, len(keys)), len(keys)
        for key in keys:
            check_key(key)
        with self.writing() as change:
            new = keep_items(change, self.vocabulary, file, first, predictions, checked_items, keys)
            return AskedFile(0, total - new, 0, new)

    def waiting_items(self) -> dict[str, int]:
        """How many items of each file wait to be asked about, in their order."""
        with self.reading_state() as (_, state):
            return state.waiting_items

    @property
    def deciding(self) -> bool:
        """Whether the next `pending` goes on deciding about items of files, if no query is open by then."""
        with self.reading_state() as (store, state):
            return isinstance(state, Projection) and feeds(store, state)

    def drop_items(self, *, annotator: str | None = None) -> int:
        """Ask about none of the items that wait; how many they were. Labels and open questions stay."""
        by = check_annotator(annotator)
        with self.writing() as change:
            return drop_items(change, by)

    def add_items(
        self,
        source: object,
        *,
        use_labels: bool = False,  # noqa: ARG002 (as a pool has it)
        progress: Callable[[int, int], None] | None = None,  # noqa: ARG002
    ) -> AddedItems:
        """Add more items to a pool; a stream decides items as they come, with `ask` and `ask_file`."""
        raise ConflictError(
            f"campaign {self.name!r} is on a stream, and {brief(source)} cannot be added to it: pass it to "
            "ask_file, which asks about its items as labels come."
        )

    def _check_takes_items(self) -> None:
        """Items of a file come in the order of the file: others in between, and it could not be gone on with."""
        if self.settings.source is not None:
            raise ConflictError(
                f"campaign {self.name!r} takes its items from {self.settings.source.file}: go on with "
                f"{self.settings.source.command!r}. For other items, create another campaign."
            )

    def _unframed(self, predictions: object, items: Any, keys: Any) -> tuple[object, Any, Any]:
        """The columns of a data frame that are no models, as the fields and keys of its items."""
        columns = as_columns(predictions)
        if columns is None:
            return predictions, items, keys
        batch = frame_batch(columns, *self.known_models())
        return batch.predictions, batch.items if items is None else items, batch.keys if keys is None else keys

    def known_models(self) -> tuple[tuple[ModelName, ...], set[str]]:
        """The models that take part now, and the names of all that ever did: what those say is not shown."""
        with self.reading() as (_, projection):
            once = (*self.settings.models, *(one.model for one in projection.changes))
            return projection.models, {str(model) for model in once}

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
        not queried is kept for reference, and never touches the estimates of a stream; a pool learns from it. Where
        several people label an item (`overlap`), it is an opinion, and learned when all of them agree.

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
        by = check_annotator(annotator)
        with self.writing() as change:
            for entry in pairs:
                if not (isinstance(entry, Sequence) and len(entry) == 2) or isinstance(entry, str):
                    raise InputError(f"labels: {brief(entry)} is no pair of an id and a label.")
                number = self._number_of(change.store, entry[0], change.head.rounds)
                store_answer(change, number, self._label(change, number, entry[1]), replace, by)

    def skip(self, id: int | str, *, replace: bool = False, annotator: str | None = None) -> None:
        """Say that nobody can tell the label of a query: no estimate changes, the budget gets the label back."""
        self.tell(id, None, replace=replace, annotator=annotator)

    def _label(self, change: Transaction, number: int, label: object) -> ClassName | None:
        """A label that fits the campaign and its round."""
        name = self.vocabulary.name(label, f"label of {number}")
        if name is not None:
            check_same_kind(name, change.store.classes_at(number)[:1], f"label of {number}")
        return name

    def retract(
        self, id: int | str, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> None:
        """Take back the answer to a query, which then waits again; everything is learned anew without it.

        Of an item that several people label, it is what the annotator said; if they said nothing, all opinions.

        Args:
            id: the `id` of a decision, or the key that the item was asked with.
            lease: for how long the query is kept for the annotator, as `pending` has it.
            annotator: who says so.
        """
        by = check_annotator(annotator)
        seconds = None if lease is None else seconds_of(lease)
        with self.writing() as change:
            change.state.terms.check_answers()
            number = self._number_of(change.store, id, change.head.rounds)
            known = change.store.state(number)
            if known is not None and known.state != REFERENCE and needed_of(change, number) > 1:
                withdraw(change, known, by)
            else:
                _take_back(change, number, known, by)
            if seconds is not None and known is not None and known.state != REFERENCE:
                change.store.lease([number], self.storage.now(change.store.connection) + seconds, by)

    # Items that several people label.

    def settle(self, id: int | str, label: ClassName | None, *, annotator: str | None = None) -> None:
        """Decide what an item is on which people disagree; until then it counts at its worst.

        Said twice, it counts once. An item that waits for another person can be settled as well. `tell` with
        `replace` corrects a label that was settled.

        Args:
            id: the `id` of a query, or the key of its item.
            label: a class; None if nobody can tell.
            annotator: who says so.
        """
        by = check_annotator(annotator)
        with self.writing() as change:
            number = self._number_of(change.store, id, change.head.rounds)
            settle_conflict(change, number, self._label(change, number, label), by)

    def conflicts(self) -> list[Conflict]:
        """The items on which people disagree, with what each of them said; `settle` decides."""
        with self.looking() as store:
            return find_conflicts(store)

    def agreement(self) -> Agreement:
        """How far people agree on the items that several of them labelled."""
        with self.looking() as store:
            return measure_agreement(store.all_opinions())

    def opinions(self, id: int | str) -> tuple[GivenOpinion, ...]:
        """What people say of an item that several people label, in the order in which they said it."""
        with self.looking() as store:
            return opinions_of(store, self._number_of(store, id, store.head().rounds))

    @property
    def labels_bought(self) -> int:
        """How many labels people gave; where several people label an item, each of theirs counts."""
        with self.reading_state() as (_, state):
            return state.bought

    def _number_of(self, store: EventStore, id: object, rounds: int) -> int:
        """The round that an id or a key stands for."""
        if isinstance(id, str):
            number = store.round_of(check_key(id) or "")
            if number is None:
                raise NotFoundError(f"nothing was asked with the key {brief(id)} in campaign {self.name!r}.")
            return number
        if isinstance(id, bool) or not isinstance(id, int | np.integer):
            raise InputError(f"id {brief(id)}: pass the id of a decision, or the key that its item was asked with.")
        if not 0 <= id < rounds:
            raise NotFoundError(
                f"there is no round {brief(int(id))} in campaign {self.name!r}, which has {rounds:,} "
                "so far, counted from 0."
            )
        return int(id)

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on."""
        with self.reading() as (store, projection):
            return make_pick(store, projection)

    def best_at(self) -> tuple[int, Pick]:
        """The number of the last event, and the pick as of then."""
        with self.reading() as (store, projection):
            return projection.event, make_pick(store, projection)

    @property
    def rounds(self) -> int:
        """How many rounds there have been."""
        with self.reading_state() as (_, state):
            return state.rounds

    def counts(self) -> CampaignCounts:
        """How many labels, skips, references and unanswered queries there are; `best` takes longer to say so."""
        with self.reading_state() as (_, state):
            return copy.copy(state.counts)

    def stored_counts(self) -> dict[str, int]:
        """How many queries are "waiting", "labelled", "skipped" and "withdrawn", straight from the storage.

        `counts` also knows what has been learned; this one never waits for a rebuild.
        """
        with self.looking() as store:
            found = store.tally()
        return {name: found[state] for state, name in enumerate(STATE_NAMES)}

    def answers(self) -> list[AnswerRecord]:
        """All queries with their labels, and labels that were kept for reference, in the order of the rounds."""
        with self.looking() as store:
            return [
                AnswerRecord(
                    id=state.round,
                    key=store.key_of(state.round),
                    label=state.label,
                    state=STATE_NAMES[state.state],
                )
                for state in store.answered()
            ]

    def labels(self, wanted: LabelFilter = LabelFilter()) -> list[GivenAnswer]:  # noqa: B008 (it is frozen)
        """Every answer that holds now, the newest first: who gave it, when, and what each model said."""
        with self.reading_state() as (store, state):
            return list(find_labels(store, state, wanted))

    def note(self, id: int | str, text: str = "", *, flagged: bool = False, annotator: str | None = None) -> None:
        """Note something about an item that was asked about, before or after it is answered; nothing is learned.

        Args:
            id: the `id` of a decision, or the key that the item was asked with.
            text: at most 2,000 characters. It takes the place of what the same annotator noted before.
            flagged: whether the item should be looked at again. Without a text and a flag, the note is taken back.
            annotator: who says so.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://doctest-note", "tickets", models=["bert", "gpt"])
        >>> asked = campaign.ask(["spam", "ham"], key="msg-17")
        >>> campaign.note("msg-17", "Half of it is missing.", flagged=True, annotator="mia")
        >>> [(note.id, note.text, note.flagged, note.by) for note in campaign.notes()]
        [(0, 'Half of it is missing.', True, 'mia')]
        """
        text, flagged = check_note(text, flagged)
        by = check_annotator(annotator)
        with self.writing() as change:
            change.state.terms.check_answers()
            number = self._number_of(change.store, id, change.head.rounds)
            if change.store.state(number) is None:
                raise ConflictError(f"nobody was asked about round {number}, so there is nothing to note.")
            known = self._own_note(change.store, [number], by).get(number)
            if (text, flagged) != (("", False) if known is None else (known.text, known.flagged)):
                change.touched = True
                change.add(Note(number, text, flagged, by))

    def notes(self) -> list[ItemNote]:
        """What people have noted about items, the newest first: one note per item and person."""
        with self.looking() as store:
            found = [note for notes in find_notes(store).values() for note in notes]
        return sorted(found, key=lambda note: note.at, reverse=True)

    def own_notes(self, ids: Iterable[int], annotator: str | None) -> dict[int, ItemNote]:
        """What one person has noted about some items, whatever they signed with."""
        with self.looking() as store:
            return self._own_note(store, ids, annotator)

    @staticmethod
    def _own_note(store: EventStore, ids: Iterable[int], by: str | None) -> dict[int, ItemNote]:
        person = person_of(by)
        found = find_notes(store, ids)
        return {number: note for number, notes in found.items() for note in notes if person_of(note.by) == person}

    def labels_by(self, annotator: str) -> int:
        """How many labels of one person hold, whatever they signed with; quick, however many labels there are."""
        return self._answer_counts.of(annotator)

    @cached_property
    def _answer_counts(self) -> AnswerCounts:
        return AnswerCounts(self)

    def annotators(self) -> list[str]:
        """Everybody who has answered, by name."""
        with self.looking() as store:
            events = [stored.event for stored in store.others((Answer.kind, Opinion.kind, Reference.kind))]
        return sorted(
            {event.by for event in events if isinstance(event, Answer | Opinion | Reference) and event.by}
        )

    def label_of(self, id: int | str) -> ClassName | None:
        """The label that is known of a round; None if there is none."""
        state = self._state_of(id)
        return None if state is None else state.label

    def answered_by(self, id: int | str) -> str | None:
        """Who answered last, or took an answer back; None if nobody has, or did not say who they are."""
        said = [record for record in self.history(id) if record["kind"] in ANSWERED]
        return said[-1]["by"] if said else None

    def leased_by(self, id: int | str) -> str | None:
        """Who has leased a query; None if nobody has."""
        state = self._state_of(id)
        return None if state is None else state.leased_by

    def _state_of(self, id: int | str) -> RoundState | None:
        with self.looking() as store:
            return store.state(self._number_of(store, id, store.head().rounds))

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels are needed until the pick is certified; None on a stream: nobody can tell."""
        return None

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What so many more labels would buy; None on a stream: nobody can tell."""
        check_count("labels", labels)
        return None

    def certificate(self, confidence: float = 0.95, kind: CertificateKind = "stream") -> Certificate:
        """How sure the pick is, in a statement that holds whenever one looks; `best` has one as well.

        Args:
            confidence: the probability, at least, that no statement of this kind, made at any time, is ever wrong.
            kind: "stream" speaks of the items seen so far, and assumes nothing of them; "population" speaks of the
                models' accuracies, if items are drawn independently from one distribution.
        """
        with self.reading() as (store, projection):
            return projection.certificate(best_place(store, projection), confidence, kind)

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Queries that wait for an answer, oldest first.

        If none is open for the annotator, and items of files wait (`ask_file`), they are decided about until one
        needs a label. So there are as many open questions as there are people who label.

        Args:
            most: at most so many; all by default, and one if they are leased.
            lease: for how many seconds, or how long, they are kept from others. Nobody else is given a leased query
                until its lease has expired; an answer counts whenever it comes, if nobody else gave one. With
                neither this nor `most`, all open queries, and no item of a file is decided about.
            annotator: who takes them. The same annotator is given again what they have leased already; nobody is
                given an item that they have answered.
        """
        by = check_annotator(annotator)
        seconds = None if lease is None else seconds_of(lease)
        if seconds is None and most is None:
            return self.waiting()
        most = 1 if most is None else check_most(most)
        with self._lock:
            together = self._group is not None
        while True:
            with self.writing() as change:
                found, step = self._find_open(change, most, seconds, by)
            # Each look is a transaction of its own, so that nobody waits for long; within a group there is one.
            if step != "going on" or together:
                return found

    def _find_open(
        self, change: Transaction, most: int, seconds: float | None, by: str | None
    ) -> tuple[list[Query], FeedStep]:
        """Queries for somebody; if none is open for them, the next items of files are decided about."""
        if change.state.terms.idle:
            return (
                [] if seconds is not None else self._queries(change.store, change.store.waiting_for(by, most))
            ), "stopped"
        now = self.storage.now(change.store.connection)
        step: FeedStep = "stopped"
        found = self._free(change, now, most, seconds, by)
        if not found:
            step = decide_next(change)
            found = self._free(change, now, most, seconds, by) if step == "query" else []
        if seconds is not None and found:
            change.store.lease([state.round for state in found], now + seconds, by)
            found = [state._replace(leased_until=now + seconds, leased_by=by) for state in found]
        return self._queries(change.store, found), step

    @staticmethod
    def _free(
        change: Transaction, now: float, most: int, seconds: float | None, by: str | None
    ) -> list[RoundState]:
        """Queries that wait; if they are to be leased, those that nobody else has leased."""
        if seconds is None:
            return change.store.waiting_for(by, most)
        return change.store.free(now, by, most)

    def waiting(self, most: int | None = None) -> list[Query]:
        """Queries that wait for an answer, oldest first, leased or not; nothing is asked or leased."""
        most = None if most is None else check_most(most)
        with self.looking() as store:
            return self._queries(store, store.waiting(most, pool=self.settings.pool is not None))

    def release(self, *ids: int | str) -> None:
        """Give leased queries back, so that others need not wait for the lease to expire."""
        with self.writing() as change:
            change.store.lease([self._number_of(change.store, id, change.head.rounds) for id in ids], None, None)

    def _queries(self, store: EventStore, found: list[RoundState]) -> list[Query]:
        queries = []
        for state in found:
            stored = store.item_of(state.round)
            queries.append(
                Query(state.round, stored.item, stored.key, stored.classes, state.leased_until, state.leased_by)
            )
        return queries

    def history(self, id: int | str | None = None) -> Iterator[HistoryRecord]:
        """Everything that happened, in order, as JSON-ready records; or all that happened to one round."""
        with self.looking() as store:
            head = store.head()
            if id is not None:
                number = self._number_of(store, id, head.rounds)
                return iter(list(records_of_round(store, self.settings, number)))
        return records_of(self.stored(head.events), self.settings)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the whole campaign to a file, `.jsonl` or `.parquet`; `import_campaign` reads it."""
        from modelpicker.campaigns.export import export_campaign  # which builds on campaigns

        export_campaign(self, path)

    def report(self) -> str:
        """One page for whoever has to decide, as HTML: the pick, how sure it is, what it cost, how to repeat it."""
        from modelpicker.campaigns.results.campaign_report import campaign_report  # which builds on campaigns
        from modelpicker.campaigns.results.report_page import report_page

        return report_page(campaign_report(self))

    def records(self, after: int, most: int) -> list[HistoryRecord]:
        """A page of the history: so many records after an event, and the rest of the last one's event."""
        with self.looking() as store:
            last = store.head().events
            found = [stored.event for stored in store.others((Joining.kind, Leaving.kind), upto=after)]
        before = [event for event in found if isinstance(event, Joining | Leaving)]
        page: list[HistoryRecord] = []
        for record in records_of(self.stored(last, after), self.settings, before):
            if len(page) >= most and record["event"] != page[-1]["event"]:
                break
            page.append(record)
        return page

    def number_of(self, id: int | str) -> int:
        """The round that an id or a key stands for."""
        with self.looking() as store:
            return self._number_of(store, id, store.head().rounds)

    def join(self, model: ModelName) -> None:
        """Let another model take part from the next round on.

        It takes over the record of the model that leads now, as if it had said the same until now: it starts level
        with the leader, and its estimate differs from the leader's only by what both say from now on.
        """
        with self.writing() as change:
            models = change.projection.picker.models
            check_model(model)
            if str(model) in {str(one) for one in models}:
                raise ConflictError(f"model {model!r} takes part already.")
            if change.projection.picker.drops:
                raise ConflictError(
                    f"model {model!r} cannot join: {change.projection.picker.name} may have dropped models that it "
                    "would have to be compared with; start a new campaign with all of them."
                )
            if waiting := change.projection.feed.waiting:
                raise ConflictError(
                    f"model {model!r} cannot join: {waiting:,} items of files wait to be asked about, and have no "
                    "prediction of it. Label on, or drop them first (drop_items)."
                )
            name = check_models([*models, model])[-1]
            if change.state.terms.stop_when is not None and len(models) == MOST_MODELS:
                raise ConflictError(
                    f"model {model!r} would be one too many: the campaign stops by certificates, which are for at "
                    f"most {MOST_MODELS} models."
                )
            change.touched = True
            change.add(Joining(change.head.rounds, name, make_pick(change.store, change.projection).model))

    def leave(self, model: ModelName) -> None:
        """Let a model take no part any more, from the next round on; what is known of the others stays."""
        with self.writing() as change:
            models = change.projection.picker.models
            check_model(model)
            name = next((one for one in models if str(one) == str(model)), None)
            if name is None:
                raise NotFoundError(f"there is no model {brief(model)} in campaign {self.name!r}.")
            if len(models) == 2:
                raise ConflictError(f"without {model!r} there would be one model, and nothing to choose.")
            change.touched = True
            change.add(Leaving(change.head.rounds, name))

    def revise(self, *, name: str | None = None, annotator: str | None = None, **changes: Any) -> None:
        """Change what may be changed while it goes on; it holds from here on, and the history keeps it.

        Args:
            name: what to call it from now on.
            annotator: who says so.
            changes: `budget` (None for no limit), `stop_when` (None for no goal), `paused`, `archived`, `finished`,
                or `guidelines` (what annotators read beside the item). On a pool `stop_when` sets the tolerance and
                the confidence; None brings back those it began with. Another tolerance begins the proof anew, with
                the labels that are known.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://doctest-revise", "tickets", models=2, budget=20)
        >>> campaign.revise(budget=50, paused=True)
        >>> campaign.budget, campaign.best().state.title
        (50, 'Paused')
        """
        by = check_annotator(annotator)
        if name is not None:
            check_name(name)
        with self.writing() as change:
            state = change.state
            checked = check_changes(self.settings, changes, state.spent)
            now = state.terms.document()
            news = {one: value for one, value in checked.items() if now[one] != value}
            if name not in (None, self.name):
                change.touched = True
                change.store.rename(str(name))
                news["name"] = name
            if news:
                change.touched = True
                change.add(Revision(change.head.rounds, news, by))
                state.revise(news)
        self.name = name or self.name

    def finish(self, *, annotator: str | None = None) -> None:
        """Take the result: nobody is asked any more, and open questions are withdrawn.

        Answers that are under way still count. `revise(finished=False)` goes on.
        """
        self.revise(annotator=annotator, finished=True)

    def rename(self, name: str, *, annotator: str | None = None) -> None:
        """Call it something else; the history keeps when, and who said so."""
        self.revise(name=name, annotator=annotator)


def _take_back(change: Transaction, number: int, known: RoundState | None, by: str | None) -> None:
    """Take back the answer to a query that one person labels, or a label that was kept for reference."""
    if known is None or known.state in UNANSWERED:
        raise ConflictError(f"round {number} has no answer to take back.")
    if known.state == SKIPPED and change.state.left < 1:
        raise budget_spent(number)
    change.touched = True
    change.add(Retraction(number, by, reference=known.state == REFERENCE))
    if known.state == REFERENCE:
        change.state.counts.references -= 1
    else:
        change.state.count(number, KnownAnswers(known.label), None)


def _decision(rounds: Rounds, number: int, projection: Projection) -> Decision:
    """A decision that was made, as it was returned then."""
    return Decisions([number], [rounds], projection.models_at)[0]


def check_most(most: object) -> int:
    """How many queries are wanted: any count, and no more than a database can count."""
    return min(check_count("most", most), MOST_PENDING)


def seconds_of(lease: object) -> float:
    """For how long a query is leased."""
    seconds = lease.total_seconds() if isinstance(lease, timedelta) else lease
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < LONGEST_LEASE:
        raise InputError(
            f"lease={brief(lease)}: pass for how many seconds a query is to be kept, above 0 and below 1e9.",
            parameter="lease",
        )
    return float(seconds)


def check_annotator(annotator: object) -> str | None:
    """Who answers: any short text."""
    return None if annotator is None else check_key(annotator, "annotator")
