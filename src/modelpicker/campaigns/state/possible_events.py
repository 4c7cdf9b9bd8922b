"""Events that come from a file: each must be one that could have happened then."""

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Event, Note, Opinion, Reference, Retraction, Withdrawal
from modelpicker.campaigns.events.pool_events import Question
from modelpicker.campaigns.events.round_states import LABELLED, OPEN, REFERENCE, SKIPPED, UNANSWERED
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.opinions import people_needed
from modelpicker.errors import InputError


class PossibleEvents:
    """What may happen next in a campaign that is filled from a file."""

    def __init__(self, store: EventStore, settings: CampaignSettings) -> None:
        self._store = store
        self._settings = settings
        self._needed: dict[int, int] = {}
        """How many people label each item of a pool that was asked about, if more than one."""

    def check(self, event: Event) -> None:
        """Refuse an event that cannot have happened."""
        match event:
            case Question(round=item, needed=needed):
                if self._store.state(item) is not None:
                    raise InputError(f"item {item} cannot have been asked about then.")
                self._needed[item] = needed
            case Note(round=number):
                if self._store.state(number) is None:
                    raise InputError(
                        f"round {number} had neither a query nor an answer, so that nothing was noted then."
                    )
            case Answer() | Opinion() | Withdrawal() | Reference() | Retraction():
                if not self._possible(event):
                    raise InputError(f"round {event.round} cannot have had such an answer then.")
            case _:
                pass

    def _possible(self, event: Answer | Opinion | Withdrawal | Reference | Retraction) -> bool:
        known = self._store.state(event.round)
        state = None if known is None else known.state
        match event:
            case Answer(replaces=replaces, of_opinions=several):
                before = (LABELLED, SKIPPED) if replaces else OPEN if several else UNANSWERED
                return state in before and several == (self._people(event.round) > 1)
            case Opinion(replaces=replaces, by=by, needed=needed):
                fits = state in (OPEN if replaces else UNANSWERED)
                return fits and needed == self._people(event.round) and replaces == self._said(event.round, by)
            case Withdrawal(whose=whose):
                return self._said(event.round, whose)
            case Reference(replaces=replaces):
                return state == (REFERENCE if replaces else None)
            case Retraction(reference=reference):
                return state in ((REFERENCE,) if reference else (LABELLED, SKIPPED))

    def _people(self, number: int) -> int:
        """How many people label an item that was asked about."""
        if self._settings.pool is None:
            return people_needed(self._settings.overlap, self._settings.seed, number)
        return self._needed.get(number, 1)

    def _said(self, number: int, annotator: str | None) -> bool:
        """Whether a person has an opinion about an item."""
        return any(one.person == person_of(annotator) for one in self._store.opinions(number))
