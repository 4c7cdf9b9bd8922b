"""What people say: labels, skips, opinions and notes, and what they take back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Note, Retraction
from modelpicker.campaigns.events.round_states import REFERENCE, SKIPPED, UNANSWERED, RoundState
from modelpicker.campaigns.input.labels import check_label
from modelpicker.campaigns.input.validation import check_annotator, check_note, seconds_of
from modelpicker.campaigns.reading import CampaignReading
from modelpicker.campaigns.state.opinions import KnownAnswers
from modelpicker.campaigns.state.tell import store_answer
from modelpicker.campaigns.state.tell_opinion import budget_spent, needed_of, settle_conflict, withdraw
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError, InputError, brief
from modelpicker.label import AnyLabel, LabelGiven, classes_of


class CampaignTelling(CampaignReading):
    """The part of a campaign that takes in answers."""

    def tell(
        self,
        id: int | str,
        label: LabelGiven | None,
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Take in the label of a query, at any time and in any order.

        Told twice, it counts once. Another label for the same query is a conflict, unless `replace` says that the
        first was wrong: then everything is rebuilt as if it had never been said. The label of a round that was
        not queried is kept for reference, and never touches the estimates of a stream; a pool learns from it. Where
        several people label an item (`overlap`), it is an opinion, and learned when all of them agree.

        Args:
            id: the `id` of a decision, or the key that the item was asked with.
            label: a class, or several (`Label.any_of`); grades or a preference, if the campaign asks for them; or
                the document of a `Label`. None if nobody can tell, as with `skip`.
            replace: whether it takes the place of another answer.
            annotator: who says so.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://tell", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham", annotator="ann")
        >>> campaign.best().labels_used
        1
        """
        self.tell_many([(id, label)], replace=replace, annotator=annotator)

    def tell_many(
        self,
        labels: Mapping[Any, LabelGiven | None] | Iterable[tuple[int | str, LabelGiven | None]],
        *,
        replace: bool = False,
        annotator: str | None = None,
    ) -> None:
        """Take in many labels in one transaction: all of them, or none if one cannot be.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6 + [["ham", "ham"]] * 4
        >>> campaign = mp.create_campaign("memory://tell-many", "tickets", pool=items, tolerance=0.05)
        >>> first, second = campaign.pending(2)
        >>> campaign.tell_many({first.id: "spam", second.id: "spam"})
        >>> campaign.best().labels_used
        2
        """
        given: object = labels
        if not isinstance(given, Iterable) or isinstance(given, str | bytes):
            raise InputError(f"labels {brief(labels)}: pass {{id: label}}, or pairs of an id and a label.")
        pairs = list(labels.items() if isinstance(labels, Mapping) else labels)
        by = check_annotator(annotator)
        with self.writing() as change:
            for entry in pairs:
                if not (isinstance(entry, Sequence) and len(entry) == 2) or isinstance(entry, str):
                    raise InputError(f"labels: {brief(entry)} is not a pair of an id and a label.")
                number = self._number_of(change.store, entry[0], change.head.rounds)
                store_answer(change, number, self._label(change, number, entry[1]), replace, by)

    def skip(self, id: int | str, *, replace: bool = False, annotator: str | None = None) -> None:
        """Say that nobody can tell the label of a query: no estimate changes, the budget gets the label back.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://skip", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.skip(query.id)
        >>> campaign.counts().skipped
        1
        """
        self.tell(id, None, replace=replace, annotator=annotator)

    def _label(self, change: Transaction, number: int, label: object) -> AnyLabel | None:
        """A label that fits the campaign and its round."""
        return self._checked_label(change.store, number, label)

    def _checked_label(self, store: EventStore, number: int, label: object) -> AnyLabel | None:
        before = () if self.settings.rule.plain else _classes_before(store, number)
        return check_label(label, self.settings, self.vocabulary, *store.said_at(number), number, before)

    def as_stored(self, id: int | str, label: LabelGiven | None) -> AnyLabel | None:
        """A label as the campaign stores it: classes may be told by their place, and answers be spelt otherwise."""
        with self.looking() as store:
            number = self._number_of(store, id, store.head().rounds)
            return self._checked_label(store, number, label)

    def retract(
        self, id: int | str, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> None:
        """Take back the answer to a query, which then waits again; everything is rebuilt without it.

        Of an item that several people label, it is what the annotator said; if they said nothing, all opinions.

        Args:
            id: the `id` of a decision, or the key that the item was asked with.
            lease: for how long the query is kept for the annotator, as `pending` has it.
            annotator: who says so.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://retract", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.tell(query.id, "ham")
        >>> campaign.retract(query.id)
        >>> campaign.best().pending
        1
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

    def settle(self, id: int | str, label: LabelGiven | None, *, annotator: str | None = None) -> None:
        """Decide what an item is on which people disagree; until then it counts as the worst.

        Said twice, it counts once. An item that waits for another person can be settled as well. `tell` with
        `replace` corrects a label that was settled.

        Args:
            id: the `id` of a query, or the key of its item.
            label: as for `tell`; None if nobody can tell.
            annotator: who says so.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6
        >>> campaign = mp.create_campaign("memory://settle", "tickets", pool=items, overlap=2)
        >>> first = campaign.pending(1)[0]
        >>> campaign.tell(first.id, "spam", annotator="ann")
        >>> campaign.tell(first.id, "ham", annotator="bob")
        >>> campaign.settle(first.id, "ham")
        >>> campaign.conflicts()
        []
        """
        by = check_annotator(annotator)
        with self.writing() as change:
            number = self._number_of(change.store, id, change.head.rounds)
            settle_conflict(change, number, self._label(change, number, label), by)

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


def _classes_before(store: EventStore, number: int) -> list[ClassName]:
    """The classes that were said about a round so far, by one person or several."""
    known = store.state(number)
    said = [None if known is None else known.label, *(opinion.label for opinion in store.opinions(number))]
    return [name for label in said if label is not None for name in classes_of(label)]


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
