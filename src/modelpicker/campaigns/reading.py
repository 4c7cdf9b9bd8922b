"""What a campaign knows: its models and terms, how they stand, labels, notes, and everything that happened."""

import copy
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from modelpicker.algorithms import Race
from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Joining, Leaving, Opinion, Reference
from modelpicker.campaigns.events.history import ANSWERED, HistoryRecord, records_of, records_of_round
from modelpicker.campaigns.events.round_states import STATE_NAMES, RoundState
from modelpicker.campaigns.input.validation import check_key
from modelpicker.campaigns.results.agreement import Agreement, measure_agreement
from modelpicker.campaigns.results.assembly import best_place, make_pick
from modelpicker.campaigns.results.labels import find_conflicts, find_labels, find_notes, opinions_of
from modelpicker.campaigns.results.pick import (
    AnswerRecord,
    CampaignCounts,
    Conflict,
    GivenAnswer,
    GivenOpinion,
    ItemNote,
    LabelFilter,
    Pick,
)
from modelpicker.campaigns.state.answer_counts import AnswerCounts
from modelpicker.campaigns.state.classes import KnownClasses
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.transactions import CampaignTransactions
from modelpicker.campaigns.terms import Terms
from modelpicker.certificates.certificate import Certificate, CertificateKind
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, NotFoundError, brief
from modelpicker.label import AnyLabel


class CampaignReading(CampaignTransactions):
    """The part of a campaign that shows what is there, and changes nothing."""

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""
        with self.reading_state() as (_, state):
            return state.models

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that are still compared with one another: the others need not be run any more."""
        with self.reading_state() as (_, state):
            return state.racing

    @property
    def drifted(self) -> int | None:
        """After how many items it was seen that another model is the best by now; None if it was not (`Race`)."""
        with self.reading_state() as (_, state):
            return (
                state.picker.drifted if isinstance(state, Projection) and isinstance(state.picker, Race) else None
            )

    @property
    def changed_at(self) -> float:
        """When something happened last, in seconds since 1970."""
        with self.looking() as store:
            last = store.head().events
            return store.page(last - 1, last)[-1].at / 1e6 if last else self.created / 1e6

    @property
    def classes(self) -> tuple[ClassName, ...] | None:
        """The classes that may occur; None if they are whatever is said."""
        return self.settings.classes

    def known_classes(self) -> list[ClassName]:
        """The classes that a label may be: those given, or all that models and people have said so far.

        There are none where grades or preferences are asked for.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://classes", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.known_classes()
        ['ham', 'spam']
        """
        return self._known_classes.names() if self.settings.ask_for == "class" else []

    def told_classes(self) -> list[ClassName]:
        """The classes that people have told."""
        with self.looking() as store:
            return store.labels_said()

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

    @property
    def labels_bought(self) -> int:
        """How many labels people gave; where several people label an item, each of theirs counts."""
        with self.reading_state() as (_, state):
            return state.bought

    def known_models(self) -> tuple[tuple[ModelName, ...], set[str]]:
        """The models that take part now, and the names of all that ever did: what those say is not shown."""
        with self.reading() as (_, projection):
            once = (*self.settings.models, *(one.model for one in projection.changes))
            return projection.models, {str(model) for model in once}

    def waiting_items(self) -> dict[str, int]:
        """How many items of each file wait to be asked about, in their order.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://waiting-items", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.waiting_items()
        {}
        """
        with self.reading_state() as (_, state):
            return state.waiting_items

    @property
    def rounds(self) -> int:
        """How many rounds there have been."""
        with self.reading_state() as (_, state):
            return state.rounds

    def counts(self) -> CampaignCounts:
        """How many labels, skips, references and unanswered queries there are; `best` takes longer to say so.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://counts", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.counts().waiting
        1
        """
        with self.reading_state() as (_, state):
            return copy.copy(state.counts)

    def stored_counts(self) -> dict[str, int]:
        """How many queries are "waiting", "labelled", "skipped" and "withdrawn", straight from the storage.

        `counts` also knows what has been learned; this one never waits for a rebuild.
        """
        with self.looking() as store:
            found = store.tally()
        return {name: found[state] for state, name in enumerate(STATE_NAMES)}

    def best(self) -> Pick:
        """The best model so far, how every model stands, and what that rests on.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://best", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham")
        >>> pick = campaign.best()
        >>> pick.model, pick.state.name
        ('gpt', 'running')
        """
        with self.reading() as (store, projection):
            return make_pick(store, projection)

    def best_at(self) -> tuple[int, Pick]:
        """The number of the last event, and the pick as of then."""
        with self.reading() as (store, projection):
            return projection.event, make_pick(store, projection)

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels are needed until the pick is certified; None on a stream: nobody can tell.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6 + [["ham", "ham"]] * 4
        >>> campaign = mp.create_campaign("memory://to-go", "tickets", pool=items, tolerance=0.05)
        >>> campaign.labels_to_go() is None  # before the first label it is too early
        True
        """
        return None

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What that many more labels would buy; None on a stream: nobody can tell.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6 + [["ham", "ham"]] * 4
        >>> campaign = mp.create_campaign("memory://outlook", "tickets", pool=items, tolerance=0.05)
        >>> campaign.tell(campaign.pending(1)[0].id, "spam")
        >>> campaign.outlook(4) is None or campaign.outlook(4).labels
        True
        """
        check_count("labels", labels)
        return None

    def certificate(self, confidence: float = 0.95, kind: CertificateKind = "stream") -> Certificate:
        """How certain the pick is, in a statement that holds whenever you look; `best` has one as well.

        Args:
            confidence: the probability, at least, that no statement of this kind, made at any time, is ever wrong.
            kind: "stream" is about the items seen so far, and assumes nothing about them; "population" is about the
                models' accuracies, if items are drawn independently from one distribution.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://certificate", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> print(campaign.certificate(0.9, "population").sentence)
        Not proven yet.
        """
        with self.reading() as (store, projection):
            return projection.certificate(best_place(store, projection), confidence, kind)

    def answers(self) -> list[AnswerRecord]:
        """All queries with their labels, and labels that were kept for reference, in the order of the rounds.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://answers", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham")
        >>> [(answer.key, answer.label) for answer in campaign.answers()]
        [('msg-1', 'ham')]
        """
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
        """Every answer that holds now, the newest first: who gave it, when, and what each model said.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://labels", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham", annotator="ann")
        >>> [(given.key, given.label, given.by) for given in campaign.labels()]
        [('msg-1', 'ham', 'ann')]
        """
        with self.reading_state() as (store, state):
            return list(find_labels(store, state, wanted))

    def conflicts(self) -> list[Conflict]:
        """The items on which people disagree, with what each of them said; `settle` decides.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6
        >>> campaign = mp.create_campaign("memory://conflicts", "tickets", pool=items, overlap=2)
        >>> first = campaign.pending(1)[0]
        >>> campaign.tell(first.id, "spam", annotator="ann")
        >>> campaign.tell(first.id, "ham", annotator="bob")
        >>> [opinion.label for opinion in campaign.conflicts()[0].opinions]
        ['spam', 'ham']
        """
        with self.looking() as store:
            return find_conflicts(store)

    def agreement(self) -> Agreement:
        """How far people agree on the items that several of them labelled.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6
        >>> campaign = mp.create_campaign("memory://agreement", "tickets", pool=items, overlap=2)
        >>> first = campaign.pending(1)[0]
        >>> campaign.tell(first.id, "spam", annotator="ann")
        >>> campaign.tell(first.id, "spam", annotator="bob")
        >>> campaign.agreement().items
        1
        """
        with self.looking() as store:
            return measure_agreement(store.all_opinions())

    def opinions(self, id: int | str) -> tuple[GivenOpinion, ...]:
        """What people say about an item that several people label, in the order in which they said it.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6
        >>> campaign = mp.create_campaign("memory://opinions", "tickets", pool=items, overlap=2)
        >>> first = campaign.pending(1)[0]
        >>> campaign.tell(first.id, "spam", annotator="ann")
        >>> [opinion.by for opinion in campaign.opinions(first.id)]
        ['ann']
        """
        with self.looking() as store:
            return opinions_of(store, self._number_of(store, id, store.head().rounds))

    def notes(self) -> list[ItemNote]:
        """What people have noted about items, the newest first: one note per item and person.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://notes", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.note("msg-1", "Is this spam?", annotator="ann")
        >>> [(note.id, note.by) for note in campaign.notes()]
        [(0, 'ann')]
        """
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
        """How many labels of one person hold, whatever they signed with; quick, however many labels there are.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://labels-by", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham", annotator="ann")
        >>> campaign.labels_by("ann")
        1
        """
        return self._answer_counts.of(annotator)

    @cached_property
    def _answer_counts(self) -> AnswerCounts:
        return AnswerCounts(self)

    def annotators(self) -> list[str]:
        """Everybody who has answered, by name.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://annotators", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham", annotator="ann")
        >>> campaign.annotators()
        ['ann']
        """
        with self.looking() as store:
            events = [stored.event for stored in store.others((Answer.kind, Opinion.kind, Reference.kind))]
        return sorted(
            {event.by for event in events if isinstance(event, Answer | Opinion | Reference) and event.by}
        )

    def label_of(self, id: int | str) -> AnyLabel | None:
        """The label that is known about a round; None if there is none.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://label-of", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham")
        >>> campaign.label_of("msg-1")
        'ham'
        """
        state = self._state_of(id)
        return None if state is None else state.label

    def answered_by(self, id: int | str) -> str | None:
        """Who answered last, or took an answer back; None if nobody has, or did not say who they are.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://answered", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham", annotator="ann")
        >>> campaign.answered_by(query.id)
        'ann'
        """
        said = [record for record in self.history(id) if record["kind"] in ANSWERED]
        return said[-1]["by"] if said else None

    def leased_by(self, id: int | str) -> str | None:
        """Who has leased a query; None if nobody has.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://leased", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.pending(lease=600, annotator="ann")[0].key
        'msg-1'
        >>> campaign.leased_by("msg-1")
        'ann'
        """
        state = self._state_of(id)
        return None if state is None else state.leased_by

    def _state_of(self, id: int | str) -> RoundState | None:
        with self.looking() as store:
            return store.state(self._number_of(store, id, store.head().rounds))

    def history(self, id: int | str | None = None) -> Iterator[HistoryRecord]:
        """Everything that happened, in order, as JSON-ready records; or all that happened to one round.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://history", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> sorted(next(campaign.history()))[:3]
        ['at', 'event', 'id']
        """
        with self.looking() as store:
            head = store.head()
            if id is not None:
                number = self._number_of(store, id, head.rounds)
                return iter(list(records_of_round(store, self.settings, number)))
        return records_of(self.stored(head.events), self.settings)

    def records(self, after: int, most: int) -> list[HistoryRecord]:
        """A page of the history: that many records after an event, and the rest of the last one's event."""
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
        """The round that an id or a key stands for.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://number", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.number_of("msg-1")
        0
        """
        with self.looking() as store:
            return self._number_of(store, id, store.head().rounds)

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
