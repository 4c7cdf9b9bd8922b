"""A campaign's pool in the memory of this process, moved on by events.

What has been learned is a function of the events alone, to the last bit. Questions are replayed as they were asked,
and labels are learned in the order in which they were told. When a label is replaced or taken back, everything is
rebuilt: the same questions, and in the place of each first answer the label that stands now.

An item that had a label nobody asked for, which was taken back, could not be drawn in between. It counts as the
worst there, and can be asked about again afterwards.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.pool_state import (
    PoolQuestion,
    begin_stage,
    error_share,
    grow,
    has_bets,
    load_progress,
    needs_new_bets,
    progress_of,
    replay_question,
    set_goal,
)
from modelpicker.algorithms.pools.slice_values import SliceValues
from modelpicker.algorithms.pools.slices import SlicePicker
from modelpicker.algorithms.pools.warm_up import warm_up_pools
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Opinion, Reference, Retraction, Revision, Withdrawal
from modelpicker.campaigns.events.pool_events import Items, Question
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.input.judges import silent
from modelpicker.campaigns.input.rows import Rows
from modelpicker.campaigns.input.slices import no_values, value_names
from modelpicker.campaigns.results.pick import CampaignCounts
from modelpicker.campaigns.settings import CampaignSettings, PoolGoal
from modelpicker.campaigns.state.base import NO_TERMS, CampaignState, check_settings
from modelpicker.campaigns.state.opinions import KnownAnswers, OpinionBook, people_needed
from modelpicker.campaigns.terms import Terms
from modelpicker.collections import ModelCollection
from modelpicker.encoding import Array, ClassName, ModelName, smallest_type
from modelpicker.errors import ModelPickerError, StateError, StorageError
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN, Floats
from modelpicker.label import AnyLabel

# What a pool takes in memory, as a multiple of its codes; docs/how-it-works/pools.md has the numbers.
MEMORY = 8
# All kinds of events but the fields of items, which decide nothing and are large.
DECIDING = (
    Items.kind,
    Question.kind,
    Answer.kind,
    Opinion.kind,
    Withdrawal.kind,
    Reference.kind,
    Retraction.kind,
    Revision.kind,
)
# A state that was kept by other bets is not taken up: it is rebuilt, so that all agree on what was won.
STATE_VERSION = 3


@dataclass
class PoolProjection(CampaignState):
    """What a campaign on a pool has come to, as of an event."""

    settings: CampaignSettings
    known: PoolPicker | None = None
    """None before the first item."""
    event: int = 0
    counts: CampaignCounts = field(default_factory=CampaignCounts)
    terms: Terms = NO_TERMS
    """What holds now, from the settings on."""
    opinions: OpinionBook = field(default_factory=OpinionBook)
    questions: int = 0
    growths: int = 0
    """How often the pool grew, or its tolerance changed, after it had been bet upon."""
    _judged: tuple[Rows, ...] = ()
    """What the judge says about the items that are in the pool."""
    _waiting: list[Items] = field(default_factory=list)
    """Items that came and are not in the pool yet: those that come together are taken in together."""
    _shown: Floats | None = None
    """How the models stood at the last question, if nothing came since."""

    def __post_init__(self) -> None:
        if self.terms is NO_TERMS:
            self.terms = Terms.of(self.settings)

    @property
    def goal(self) -> PoolGoal:
        """When it is done: as the campaign began, or as it was revised."""
        if self.settings.pool is None:
            raise StorageError("the campaign is not on a pool.")
        rule = self.terms.stop_when
        return self.settings.pool if rule is None else PoolGoal(rule.gap, rule.confidence)

    def revise(self, changes: Mapping[str, Any]) -> None:
        """Change what holds now. A new tolerance is a new stage of the proof (docs/how-it-works/pools.md)."""
        before = self.goal
        super().revise(changes)
        if self.goal != before and self.known is not None:
            goal = (self.goal.tolerance, self.goal.confidence)
            if needs_new_bets(self.picker, *goal) and has_bets(self.picker):
                self.growths += 1
            set_goal(self.picker, *goal, error_share(self.growths))
            self._shown = None

    @property
    def picker(self) -> PoolPicker:
        """The pool."""
        self._take_in()
        if self.known is None:
            raise StorageError("the campaign has no items: restore a backup.")
        return self.known

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part."""
        return self.settings.models

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """Those of them that may still be picked."""
        return self.picker.racing

    @property
    def rounds(self) -> int:
        """How many items there are."""
        return (0 if self.known is None else len(self.known)) + sum(map(len, self._waiting))

    @property
    def spent(self) -> int:
        """How many labels were asked for; those that nobody could tell are not among them."""
        return self.bought + self.counts.waiting + self.counts.withdrawn + self.opinions.ordered

    @property
    def left(self) -> float:
        """Labels of the budget that may still be asked for."""
        return np.inf if self.terms.budget is None else self.terms.budget - self.spent

    @property
    def nbytes(self) -> int:
        """The memory that it takes, roughly; slices hold their items once more."""
        copies = 1 if self.settings.slice is None else 2
        return 0 if self.known is None else copies * MEMORY * self.known.source.codes.nbytes

    @property
    def sample_ready(self) -> bool:
        """Whether the models were just compared, for a question."""
        return self._shown is not None

    def sample_values(self) -> Floats:
        """By how many items each model is thought to be behind."""
        return self._compared() if self._shown is None else self._shown

    def _compared(self) -> Floats:
        return np.array(list(self.picker.standing.values())) * self.rounds

    def counting(self) -> Self:
        """The same, to count on with: what was learned is shared, and must stay as it is."""
        return replace(self, known=self.picker, counts=replace(self.counts), opinions=self.opinions.copy())

    def before_the_past_changes(self, store: EventStore) -> None:
        """Nothing else is shown."""

    def warm_up(self) -> None:
        """Have the kernels compiled."""
        warm_up_pools()

    # What it does.

    def take_items(self, event: Items) -> None:
        """Take in items; they are in the pool when it is next needed."""
        check_settings(self.settings, event.settings, f"item {event.first:,}")
        if event.first != self.rounds or event.codes.shape[1] != len(self.models):
            raise StorageError(f"item {self.rounds:,} of the campaign is missing; restore a backup.")
        self._waiting.append(event)
        self._shown = None

    def _take_in(self) -> None:
        """Put the items that wait into the pool."""
        if not self._waiting:
            return
        classes = self.classes
        place = {name: code for code, name in enumerate(classes)}
        dtype = smallest_type(len(classes))
        joined: Array = np.empty((sum(map(len, self._waiting)), len(self.models)), dtype=dtype)
        done = 0
        for event in self._waiting:
            codes = np.array([*(place[name] for name in event.classes), NOT_RUN, ABSTAINED], dtype=dtype)
            joined[done : done + len(event)] = codes[event.codes]
            done += len(event)
        judge, values = self._take_judge(place), self._take_values()
        if self.known is None:
            self.known = self._new_pool(joined, classes, judge, values)
        else:
            if has_bets(self.known):
                self.growths += 1
            old = self.known.source
            if old.codes.dtype != dtype:
                self.known.source = old._replace(codes=old.codes.astype(dtype))
            if judge is not None:  # a class that it said may be known only now
                self.known.judge, judge = np.split(judge, [len(self.known)])
            if isinstance(self.known, SlicePicker):
                self.known.add_values(values)
            grow(self.known, joined, classes, error_share(self.growths), judge)
        self._waiting = []

    def _take_judge(self, place: Mapping[ClassName, int]) -> Array | None:
        """What the judge says about all items, as places in the classes.

        Those that wait are among them from now on.

        None if there is no judge.
        """
        if self.settings.judge is None:
            return None
        new = [silent(len(event)) if event.judge is None else event.judge for event in self._waiting]
        self._judged = (*self._judged, *new)
        found = [
            np.array([*(place.get(name, ABSTAINED) for name in rows.classes), ABSTAINED])[rows.codes[:, 0]]
            for rows in self._judged
        ]
        return np.concatenate(found)

    def _take_values(self) -> list[str]:
        """What slices the items are in that wait; empty if there are none."""
        if self.settings.slice is None:
            return []
        rows = [no_values(len(event)) if event.slices is None else event.slices for event in self._waiting]
        return [name for some in rows for name in value_names(some)]

    @property
    def slice_names(self) -> set[str]:
        """The slices so far."""
        known = self.known.values if isinstance(self.known, SlicePicker) else ()
        waiting = (name for event in self._waiting if event.slices is not None for name in event.slices.classes)
        return {*known, *map(str, waiting)}

    @property
    def classes(self) -> tuple[ClassName, ...]:
        """All classes so far, in the order in which they came."""
        given = self.settings.classes or ()
        names = dict.fromkeys(given if self.known is None else self.known.classes)
        for event in self._waiting:
            names.update(dict.fromkeys(event.classes))
        return tuple(names)

    def _new_pool(
        self, codes: Array, classes: tuple[ClassName, ...], judge: Array | None, values: list[str]
    ) -> PoolPicker:
        collection = ModelCollection.of_codes(codes, None, [str(name) for name in self.models], classes)
        goal: dict[str, Any] = {
            "seed": self.settings.seed,
            "confidence": self.goal.confidence,
            "tolerance": self.goal.tolerance,
            "judge": judge,
            **self.settings.costs.goal(self.settings.ask_for),
        }
        column = self.settings.slice
        pool = (
            PoolPicker(collection, **goal)
            if column is None
            else SlicePicker(collection, SliceValues.group(values), column=column, **goal)
        )
        pool.models = self.models
        begin_stage(pool, error_share(self.growths))
        return pool

    @property
    def affordable(self) -> float:
        """How many more items may be asked about, as far as the budget goes."""
        return self.left if math.isinf(self.left) else self.left // max(1, self.settings.overlap)

    @property
    def can_pay(self) -> bool:
        """Whether the budget has enough labels for one more item."""
        return self.affordable >= 1

    def ask(self, most: int) -> Iterator[tuple[PoolQuestion, int]]:
        """New questions, the best first, and how many people each needs; each must be noted before the next.

        None if all is certified that can be, it is paused, or the budget is spent.
        """
        most = int(min(most, self.affordable))
        if most < 1 or self.terms.idle or self.picker.done:
            return
        self._shown = self._compared()
        while most > 0 and (found := self.picker.questions(1)):
            wanted = people_needed(self.settings.overlap, self.settings.seed, found[0].item)
            # Where the last label of a budget is left, one person labels the item.
            yield found[0], int(min(wanted, self.left))
            most = int(min(most - 1, self.affordable))

    def look(self) -> None:
        """Compare the models, if anything has changed: the next question needs it, and so does the pick."""
        if self.can_pay:
            _ = self.picker.recommended_index

    def note_question(self, item: int, needed: int) -> None:
        """Count a question, which that many people are to answer."""
        self.questions += 1
        self.counts.waiting += 1
        self.opinions.ask(item, needed)

    def learn(self, item: int, label: AnyLabel | None) -> None:
        """Take in a label, or that nobody can tell it."""
        self.picker.tell(item, label)
        self._shown = None

    def learn_answer(self, store: EventStore, number: int, label: AnyLabel | None) -> None:  # noqa: ARG002
        """Learn the answer to a question."""
        self.learn(number, label)

    def learn_reference(self, number: int, label: AnyLabel) -> None:
        """Learn a label that nobody asked for."""
        self.learn(number, label)

    def _count(
        self,
        number: int,  # noqa: ARG002
        before: KnownAnswers | None,
        after: KnownAnswers | None,
    ) -> None:
        """Count an answer that took the place of another, or of none."""
        for told, sign in ((before, -1), (after, 1)):
            if told is not None:
                self.note_open(-sign)
                if told.label is None:
                    self.counts.skipped += sign
                else:
                    self.counts.labels += sign

    def follow(self, stored: Stored) -> None:
        """Move on by an event that changes nothing about what was learned before it."""
        self.check_follows(stored)
        match stored.event:
            case Items() as items:
                self.take_items(items)
            case Question() as asked:
                self.replay(asked)
            case Answer(round=number, label=label):
                self.count(number, None, KnownAnswers(label))
                self.learn(number, label)
            case Opinion() | Withdrawal() as opinion:
                self.take_opinion(opinion)
            case Reference(round=number, label=label):
                self.counts.references += 1
                self.learn(number, label)
            case Revision(changes=changes):
                self.revise(changes)
        self.event = stored.number

    def replay(self, asked: Question) -> None:
        """Ask as was asked before."""
        self.note_question(asked.round, asked.needed)
        replay_question(self.picker, asked.question)
        self._shown = None

    def catch_up(self, store: EventStore, upto: int) -> None:
        """Move on by the events that were added since."""
        with explain_damage():
            for stored in store.others(DECIDING, after=self.event, upto=upto):
                self.follow(stored)
        self.event = upto

    # How it is kept.

    def document(self) -> dict[str, Any]:
        """Everything, in a form that JSON can hold."""
        self._take_in()
        return {
            "version": STATE_VERSION,
            "event": self.event,
            "settings": self.settings.checksum,
            "items": self.rounds,
            "questions": self.questions,
            "growths": self.growths,
            "counts": dict(vars(self.counts)),
            "terms": self.terms.document(),
            "opinions": self.opinions.document(),
            "pool": None if self.known is None else progress_of(self.known),
        }

    @classmethod
    def load(cls, settings: CampaignSettings, document: Mapping[str, Any], store: EventStore) -> Self:
        """What `document` described; an error if it is damaged, or was kept with other settings."""
        try:
            check_settings(settings, document["settings"], "the state that was kept last")
            if document["version"] != STATE_VERSION:
                raise StateError("the snapshot was kept by another version.")
            event = int(document["event"])
            made = cls(
                settings,
                event=event,
                counts=CampaignCounts(**document["counts"]),
                terms=Terms.of(settings).revised(document["terms"]),
                opinions=OpinionBook.load(document.get("opinions", {})),  # older ones have none
                questions=int(document["questions"]),
                growths=int(document["growths"]),
            )
            for stored in store.others((Items.kind,), upto=event):
                if isinstance(stored.event, Items):
                    made.take_items(stored.event)
            if made.rounds != document["items"]:
                raise StateError("the snapshot belongs to other items.")
            if document["pool"] is not None:
                load_progress(made.picker, document["pool"])
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise StateError(f"the snapshot is damaged: {error!r}.") from error
        return made


@contextmanager
def explain_damage() -> Iterator[None]:
    """Events that do not fit together are damage of the storage."""
    try:
        yield
    except StorageError:
        raise
    except ModelPickerError as error:
        raise StorageError(f"the events do not fit together: {error} Restore a backup.") from error
