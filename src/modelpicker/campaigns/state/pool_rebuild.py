"""A pool rebuilt from its events, when a label was replaced or taken back.

The questions are replayed as they were asked. In the place of each first answer, the label that stands now is
learned.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from modelpicker.algorithms.pools.pool_state import put_back, take_out
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Answer, Opinion, Reference, Retraction, Revision, Withdrawal
from modelpicker.campaigns.events.pool_events import Items, Question
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.opinions import KnownAnswers
from modelpicker.campaigns.state.pool_projection import DECIDING, PoolProjection, explain_damage
from modelpicker.errors import StorageError


@dataclass
class _Episode:
    """What came of an item since it was asked about, or since its label was told without that."""

    reference: bool
    told: int | None = None
    """The event in which it was first answered."""
    now: KnownAnswers | None = None
    """The answer that stands."""


def standing_answers(events: Iterable[Stored]) -> dict[int, KnownAnswers | None]:
    """By the number of the event in which an item was first answered: the answer that stands now, if any."""
    episodes: list[_Episode] = []
    last: dict[int, _Episode] = {}
    for stored in events:
        match stored.event:
            case Question(round=item):
                last[item] = _Episode(reference=False)
                episodes.append(last[item])
            case Reference(round=item, replaces=False, label=label):
                last[item] = _Episode(reference=True, told=stored.number, now=KnownAnswers(label))
                episodes.append(last[item])
            case Reference(round=item, label=label):
                last[item].now = KnownAnswers(label)
            case Answer(round=item, label=label):
                episode = last[item]
                episode.told = episode.told or stored.number
                episode.now = KnownAnswers(label)
            case Retraction(round=item):
                last[item].now = None
    return {episode.told: episode.now for episode in episodes if episode.told is not None}


def rebuild(store: EventStore, settings: CampaignSettings, upto: int, rebuilt: int) -> PoolProjection:
    """The state as of an event, found from the events alone; everything up to `rebuilt` is rebuilt."""
    made = PoolProjection(settings)
    with explain_damage():
        try:
            if rebuilt:
                _learn_anew(made, store, rebuilt)
        except LookupError as error:
            raise StorageError("an answer has no question; restore a backup.") from error
        made.catch_up(store, upto)
    return made


def _learn_anew(made: PoolProjection, store: EventStore, rebuilt: int) -> None:
    """Replay the questions up to an event, with the labels that stand now."""
    standing = standing_answers(store.others(DECIDING[1:], upto=rebuilt))
    told: dict[int, KnownAnswers] = {}
    for stored in store.others(DECIDING, upto=rebuilt):
        _revise(made, stored, standing, told)
    made.event = rebuilt


def _revise(
    made: PoolProjection, stored: Stored, standing: Mapping[int, KnownAnswers | None], told: dict[int, KnownAnswers]
) -> None:
    """Take in an event of a history that is rebuilt; `told` are the answers by then, as they were given."""
    match stored.event:
        case Items() as event:
            made.take_items(event)
        case Question() as event:
            made.replay(event)
        case Answer(round=item, label=label):
            made.count(item, told.get(item), KnownAnswers(label))
            told[item] = KnownAnswers(label)
            _learn_standing(made, stored.number, item, standing)
        case Opinion() | Withdrawal() as event:
            made.take_opinion(event)
        case Reference(round=item, replaces=replaces):
            made.counts.references += not replaces
            if not replaces and standing.get(stored.number) is None:
                take_out(made.picker, item)
            _learn_standing(made, stored.number, item, standing)
        case Retraction(round=item, reference=True):
            made.counts.references -= 1
            put_back(made.picker, item)
        case Retraction(round=item):
            made.count(item, told.pop(item), None)
        case Revision(changes=changes):
            made.revise(changes)


def _learn_standing(
    made: PoolProjection, number: int, item: int, standing: Mapping[int, KnownAnswers | None]
) -> None:
    """Learn the answer that stands, in the place of the first."""
    known = standing.get(number)
    if known is not None:
        made.learn(item, known.label)
