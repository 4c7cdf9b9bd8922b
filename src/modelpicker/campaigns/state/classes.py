"""The classes of a campaign: those it was made with, or whatever models and people have said so far."""

import threading

from modelpicker.campaigns.events.event_types import Answer, Event, Reference, Retraction, Rounds
from modelpicker.campaigns.events.feed_events import FeedItems
from modelpicker.campaigns.state.transactions import CampaignTransactions
from modelpicker.encoding import ClassName
from modelpicker.label import classes_of


class KnownClasses:
    """What a label may be, as a list that only grows at its end: a key that stands for a class keeps its meaning.

    It does not say which model named a class, or of which item: annotators may see it.
    """

    def __init__(self, campaign: CampaignTransactions) -> None:
        self._campaign = campaign
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._event = 0
        self._met: dict[ClassName, None] = {}
        self._said: set[ClassName] = set()
        self._labels: dict[int, ClassName] = {}

    def names(self) -> list[ClassName]:
        """The classes, in the order in which they were first said; a label that was taken back leaves none."""
        if self._campaign.settings.classes is not None:
            return list(self._campaign.settings.classes)
        with self._lock:
            self._follow()
            told = set(self._labels.values())
            return [name for name in self._met if name in self._said or name in told]

    def _follow(self) -> None:
        """Take in the events that came since."""
        last = self._campaign.events
        if last < self._event:  # the storage was brought back from a backup
            self._forget()
        for stored in self._campaign.stored(last, self._event):
            self._take(stored.event)
            self._event = stored.number

    def _take(self, event: Event) -> None:
        match event:
            case Rounds(classes=classes) | FeedItems(classes=classes):
                self._said.update(classes)
                self._met.update(dict.fromkeys(classes))
            case Retraction(round=number):
                self._labels.pop(number, None)
            case Answer(round=number, label=label) | Reference(round=number, label=label):
                self._labels.pop(number, None)
                for name in () if label is None else classes_of(label):
                    self._labels[number] = name
                    self._met[name] = None
