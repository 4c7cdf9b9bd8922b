"""What a campaign has come to, whether it is a stream or a pool: what transactions need of either."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Opinion, Withdrawal, changes_the_past
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.results.pick import CampaignCounts
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.opinions import KnownAnswers, OpinionBook
from modelpicker.campaigns.terms import Terms
from modelpicker.encoding import ModelName
from modelpicker.errors import StorageError
from modelpicker.kernels.primitives import Floats
from modelpicker.label import AnyLabel

# Until a state has taken them from its settings.
NO_TERMS = Terms(None, None)


class CampaignState(ABC):
    """A campaign in the memory of this process, as of an event."""

    settings: CampaignSettings
    event: int
    counts: CampaignCounts
    terms: Terms
    opinions: OpinionBook
    """What people say about the items that several people label."""

    @property
    @abstractmethod
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""

    @property
    @abstractmethod
    def racing(self) -> tuple[ModelName, ...]:
        """Those of them that are still compared with one another."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How many rounds there have been, or how many items a pool has."""

    @property
    @abstractmethod
    def spent(self) -> float:
        """Labels of the budget that are bought or on order."""

    @property
    @abstractmethod
    def left(self) -> float:
        """Labels of the budget that are neither bought nor on order."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory that it takes, roughly."""

    def check_follows(self, stored: Stored) -> None:
        """Nothing moves on by an event that changed the past: all is rebuilt then."""
        if changes_the_past(stored.event, pool=self.settings.pool is not None):
            raise StorageError(
                f"event {stored.number} changed what was learned before, but the storage does not say so; "
                "`modelpicker verify` repairs that."
            )

    def revise(self, changes: Mapping[str, Any]) -> None:
        """Change what holds from here on; open queries are withdrawn while it is finished."""
        finished = self.terms.finished
        self.terms = self.terms.revised(changes)
        if self.terms.finished != finished:
            self.counts.waiting, self.counts.withdrawn = self.counts.withdrawn, self.counts.waiting

    def note_open(self, more: int) -> None:
        """Count queries that have no answer yet, or have one now."""
        if self.terms.finished:
            self.counts.withdrawn += more
        else:
            self.counts.waiting += more

    @property
    def waiting_items(self) -> dict[str, int]:
        """How many items of each file wait to be asked about in a stream; a pool has them all."""
        return {}

    @property
    def model_changes(self) -> int:
        """How often models have joined or left."""
        return 0

    @property
    def sample_ready(self) -> bool:
        """Whether it can be noted for charts how the models stand, without much work."""
        return True

    @abstractmethod
    def sample_values(self) -> Floats:
        """How the models stand, for charts: one number each."""

    @property
    def bought(self) -> int:
        """How many labels people gave: of an item that several people label, each of theirs."""
        return self.counts.labels + self.opinions.bought

    def count(self, number: int, before: KnownAnswers | None, after: KnownAnswers | None) -> None:
        """Count an answer that took the place of another, or of none; a skip gives its label back to the budget."""
        self._count(number, before, after)
        with self._counting_conflict(number):
            self.opinions.answer(number, after)

    def take_opinion(self, event: Opinion | Withdrawal) -> None:
        """Count an opinion, or one that is taken back: nothing is learned until all that are needed agree."""
        with self._counting_conflict(event.round):
            self.opinions.take(event) if isinstance(event, Opinion) else self.opinions.drop(event)

    @contextmanager
    def _counting_conflict(self, number: int) -> Iterator[None]:
        """An item that is in conflict waits for nobody but whoever settles it."""
        before = self.opinions.conflicts(number)
        yield
        change = self.opinions.conflicts(number) - before
        self.counts.conflicts += change
        self.note_open(-change)

    @abstractmethod
    def _count(self, number: int, before: KnownAnswers | None, after: KnownAnswers | None) -> None:
        """Count an answer, as if nobody could disagree."""

    @abstractmethod
    def learn_answer(self, store: EventStore, number: int, label: AnyLabel | None) -> None:
        """Learn the answer to a query; None if nobody can tell."""

    @abstractmethod
    def learn_reference(self, number: int, label: AnyLabel) -> None:
        """Learn a label that nobody asked for, where such labels are learned."""

    @abstractmethod
    def counting(self) -> Self:
        """The same, to count on with: what was learned is shared, and must stay as it is."""

    @abstractmethod
    def before_the_past_changes(self, store: EventStore) -> None:
        """Look up what is to be shown until all is rebuilt."""

    @abstractmethod
    def catch_up(self, store: EventStore, upto: int) -> None:
        """Move on by the events that were added since; none of them changes what was learned before it."""

    @abstractmethod
    def warm_up(self) -> None:
        """Have kernels compiled, so that nobody waits for it later; the state is of no use afterwards."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Everything, in a form that JSON can hold."""


def check_settings(settings: CampaignSettings, checksum: str | None, what: str) -> None:
    """Refuse what was made with other settings; older events do not say with which."""
    if checksum not in (None, settings.checksum):
        raise StorageError(
            f"{what} was made with other settings than the campaign has now. Somebody changed the storage: "
            "restore a backup; `modelpicker verify` says what is wrong."
        )
