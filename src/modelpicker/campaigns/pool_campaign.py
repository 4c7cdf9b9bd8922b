"""A campaign on a pool: all items are there, and what is asked next is decided when somebody is ready to answer."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NoReturn

import numpy as np

from modelpicker.algorithms import Decision
from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.algorithms.pools.pool_state import PoolQuestion
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer
from modelpicker.campaigns.events.pool_events import Question
from modelpicker.campaigns.events.round_states import RoundState
from modelpicker.campaigns.input.pool_source import PoolSource
from modelpicker.campaigns.input.rows import ClassCodes, count_rows, encode_many, encode_one
from modelpicker.campaigns.input.validation import (
    Decisions,
    check_annotator,
    check_item,
    check_items,
    check_key,
    check_keys,
    check_most,
    seconds_of,
)
from modelpicker.campaigns.results.candidates import two_strongest
from modelpicker.campaigns.results.pick import AddedItems, Pick, Query
from modelpicker.campaigns.results.pool_decisions import PoolDecisions
from modelpicker.campaigns.results.pool_pick import campaign_pick
from modelpicker.campaigns.state.pool_items import add_rows, add_source
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.campaigns.state.states import as_pool
from modelpicker.campaigns.state.tell_opinion import store_label
from modelpicker.campaigns.state.transactions import Transaction, WriteGroup
from modelpicker.campaigns.storage.backup import Progress
from modelpicker.certificates.certificate import Certificate, CertificateKind
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import ConflictError, InputError, brief

# New questions of one call: they are asked in one transaction, which nobody else should wait for.
MOST_NEW = 100


class PoolCampaign(Campaign):
    """One durable labelling effort on items that are all there; more may be added.

    The id of an item is its number, from 0 on; its key is what its file calls it. `pending` is the only place where
    questions are made.
    """

    @contextmanager
    def reading_pool(self) -> Iterator[tuple[EventStore, PoolProjection]]:
        """The event store and the state, as they are at one moment."""
        with self.reading_state() as (store, state):
            yield store, as_pool(state)

    # Items.

    def add_items(
        self,
        source: object,
        *,
        use_labels: bool = False,
        judge: object = None,
        slice: object = None,  # noqa: A002 - as users say it
        progress: Progress | None = None,
    ) -> AddedItems:
        """Add more items, all of them or none; the certificate is about all items from then on.

        Args:
            source: a file, a collection, a data frame or a matrix with predictions of the same models; with
                missing="not-run", some of them may be missing. Items whose keys are there already are left out, so
                that adding a file again is safe.
            use_labels: whether labels that come with the items are known from now on.
            judge: what the judge of the campaign says about them, where the source has no column for it: a
                function of an item, or one class per item, None where it says nothing.
            slice: what slice each of them is in, where the source has no column for it: a function of an item, or
                one value per item.
            progress: told how many items are done, and of how many.
        """
        if isinstance(judge, str) or (judge is not None and self.settings.judge is None):
            raise InputError(self._wrong_judge(judge), parameter="judge")
        if isinstance(slice, str) or (slice is not None and self.settings.slice is None):
            raise InputError(self._wrong_slice(slice), parameter="slice")
        settings = self.settings
        opened = PoolSource.open(
            source,
            settings.models,
            settings.judge,
            slice=settings.slice,
            same=settings.same,
            missing=settings.missing,
        )
        opened = opened.judged_by(judge).sliced_by(slice)
        read = ClassCodes(settings.classes, settings.rule)  # the source knows what is missing
        with self.writing() as change:
            change.state.terms.check_asks()
            return add_source(change, read, opened, use_labels=use_labels, progress=progress)

    def _wrong_judge(self, judge: object) -> str:
        """Why more items cannot have this judge."""
        if self.settings.judge is None:
            return (
                f"judge={brief(judge)}: campaign {self.name!r} has no judge, and cannot get one now: the proof "
                "rests on what it says from the start. Create another campaign with judge=."
            )
        return (
            f"judge={brief(judge)}: the judge of campaign {self.name!r} is the column or field "
            f"{self.settings.judge!r}, which is found by itself; leave it out."
        )

    def _wrong_slice(self, chosen: object) -> str:
        """Why more items cannot have these slices."""
        if self.settings.slice is None:
            return (
                f"slice={brief(chosen)}: campaign {self.name!r} has no slices, and cannot get any now. Create "
                "another campaign with slice=."
            )
        return (
            f"slice={brief(chosen)}: the slices of campaign {self.name!r} are the column or field "
            f"{self.settings.slice!r}, which is found by itself; leave it out."
        )

    def ask_file(self, source: object, *, at_once: bool = False) -> NoReturn:  # noqa: ARG002 (as a stream has it)
        """Ask about a file as a stream does; a pool takes more items with `add_items`."""
        raise ConflictError(f"campaign {self.name!r} is on a pool; add_items adds {brief(source)} to it.")

    def ask(
        self, predictions: object, *, item: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Decision:
        """Add one item to the pool.

        Nothing is decided about it now. `query` says whether it has been asked about, which is true only of an item
        that was there already. `pending` asks about it when it is the item most worth a label.
        """
        return self.ask_item(predictions, item, key)

    def ask_item(self, predictions: object, item: Mapping[str, Any] | None, key: str | None) -> Decision:
        """The same as `ask`."""
        key, item = check_key(key), check_item(item)
        with self.writing() as change:
            change.state.terms.check_asks()
            rows = encode_one(predictions, self.settings.models, self.vocabulary)
            numbers = add_rows(
                change, self.vocabulary, rows, None if item is None else [item], None if key is None else [key]
            )
            return self._decisions(change, numbers)[0]

    def ask_many(
        self,
        predictions: object,
        *,
        items: Sequence[Mapping[str, Any] | None] | None = None,
        keys: Sequence[str | None] | None = None,
    ) -> Decisions:
        """Add items to the pool, as `ask` does; `add_items` also takes files."""
        predictions, items, keys = self._unframed(predictions, items, keys)
        total = count_rows(predictions)
        checked_items, checked_keys = check_items(items, total), check_keys(keys, total)
        with self.writing() as change:
            change.state.terms.check_asks()
            numbers: Sequence[int] = []
            if total:
                rows = encode_many(predictions, self.settings.models, self.vocabulary)
                numbers = add_rows(change, self.vocabulary, rows, checked_items, checked_keys)
            return self._decisions(change, numbers)

    def _decisions(self, change: Transaction, numbers: Sequence[int]) -> PoolDecisions:
        """What is known about items now: they are asked about, or not."""
        pool = change.pool.picker
        place = pool.recommended_index
        codes = pool.source.codes[np.array(numbers, dtype=np.int64), place].tolist()
        said = [None if code < 0 else pool.classes[code] for code in codes]
        asked = [change.store.state(number) is not None for number in numbers]
        return PoolDecisions(numbers, asked, said, pool.models[place], pool.racing)

    def known_models(self) -> tuple[tuple[ModelName, ...], set[str]]:
        """The models, which stay the same."""
        return self.settings.models, {str(model) for model in self.settings.models}

    def known_classes(self) -> list[ClassName]:
        """The classes that a label may be: those given, or all that models and people have said so far."""
        if self.settings.classes is not None:
            return list(self.settings.classes)
        if self.settings.ask_for != "class":
            return []
        with self.reading_pool() as (store, projection):
            said = projection.picker.classes
            return [*said, *sorted(set(store.labels_said()) - set(said), key=str)]

    # Questions.

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Items to label, the first to be asked about first; new ones are asked about if too few are open.

        Nothing new is asked once the pick is certified, or the budget is spent. Open questions are still given.

        Args:
            most: at most this many, of which up to 100 are new; one if they are leased. Without it and without a
                lease, all open questions, and none is new.
            lease: for how many seconds, or how long, they are kept from others.
            annotator: who takes them. The same annotator is given again what they have leased already; nobody is
                given an item that they have answered.
        """
        by = check_annotator(annotator)
        if most is None and lease is None:
            return self.waiting()
        most = 1 if most is None else check_most(most)
        seconds = None if lease is None else seconds_of(lease)
        self._compare_first()
        with self.writing() as change:
            if change.state.terms.idle:
                return []
            now = self.storage.now(change.store.connection)
            found = self._free(change, now, most, seconds, by)
            found = [*found, *self._ask_new(change, min(most - len(found), MOST_NEW))]
            return self._lease(change, found, now, seconds, by)

    def _compare_first(self) -> None:
        """Compare the models before the transaction that asks: nobody who writes to the storage waits for that."""
        if self._group is None:
            with self.reading_pool() as (_, projection):
                projection.look()

    @contextmanager
    def together(self) -> Iterator[WriteGroup]:
        """All changes within it go to disk together, or none; the models are compared before the transaction."""
        with self._lock:
            known = self._projection
            if isinstance(known, PoolProjection):
                known.look()
        with super().together() as group:
            yield group

    def _ask_new(self, change: Transaction, most: int) -> list[RoundState]:
        """Ask about more items."""
        made: list[int] = []
        more = most > 0
        while more and len(made) < most:
            more = False
            for question, needed in change.pool.ask(most - len(made)):
                change.touched = more = True
                self._ask_about(change, question, needed, made)
        return [state for state in map(change.store.state, made) if state is not None]

    def _ask_about(self, change: Transaction, question: PoolQuestion, needed: int, made: list[int]) -> None:
        """Store a question; an item on which nothing can be compared is skipped at once."""
        pair = self._pair(change, question)
        event = Question.of(question, change.pool.questions, needed, pair)
        change.pool.note_question(event.round, needed)
        change.add(event)
        if pair is not None and len(pair) < 2:
            store_label(change, Answer(event.round, None, of_opinions=needed > 1))
        else:
            made.append(event.round)

    def _pair(self, change: Transaction, question: PoolQuestion) -> list[ClassName] | None:
        """The answers to compare: the leader's, and that of the strongest model that says something else.

        Where fewer than two models answer, there is nothing to compare: the item is skipped at once.
        """
        if self.settings.ask_for != "preference":
            return None
        pool = change.pool.picker
        answers = [pool.classes[code] if code >= 0 else None for code in pool.source.codes[question.item].tolist()]
        return two_strongest(answers, change.pool.sample_values(), question.shown_leader)

    # Results.

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on."""
        return self.best_at()[1]

    def best_at(self) -> tuple[int, Pick]:
        """The number of the last event, and the pick as of then."""
        with self.reading_pool() as (_, projection):
            return projection.event, campaign_pick(projection)

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels are needed until the pick is certified; None if it is too early to say."""
        with self.reading_pool() as (_, projection):
            return projection.picker.labels_to_go()

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What that many more labels would buy; None if it is too early to say. An estimate, not a promise."""
        with self.reading_pool() as (_, projection):
            return projection.picker.outlook(labels)

    def certificate(self, confidence: float = 0.95, kind: CertificateKind = "stream") -> Certificate:
        """What is proven about the pick, of exactly the items that are in the pool, whenever you look.

        Args:
            confidence: the probability, at least, that no such statement, made at any time, is ever wrong.
            kind: "stream" and "pool" mean the same here: these items, and no others.
        """
        if kind not in ("pool", "stream"):
            raise InputError(
                f"kind={kind!r}: a campaign on a pool proves something about exactly its items; pass kind='pool'.",
                parameter="kind",
            )
        with self.reading_pool() as (_, projection):
            return projection.picker.certificate(confidence)

    def join(self, model: ModelName) -> None:
        """A pool's models cannot change."""
        self._refuse_models(model)

    def leave(self, model: ModelName) -> None:
        """A pool's models cannot change."""
        self._refuse_models(model)

    def _refuse_models(self, model: ModelName) -> NoReturn:
        raise ConflictError(
            f"model {model!r}: the models of a pool cannot change, for every item needs a prediction of each. "
            "Create another campaign, with the labels of this one in its file and use_labels=True."
        )
