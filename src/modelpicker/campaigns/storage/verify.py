"""Checking a campaign against its events, and repairing what the events can restore."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Rounds, changes_the_past
from modelpicker.campaigns.events.pool_events import Items
from modelpicker.campaigns.registry import open_campaign
from modelpicker.campaigns.settings import stored_document
from modelpicker.campaigns.state.base import CampaignState, check_settings
from modelpicker.campaigns.state.projection import outdated
from modelpicker.campaigns.state.states import load_state, rebuild
from modelpicker.campaigns.storage.campaign_rows import all_campaigns, find_campaign
from modelpicker.campaigns.storage.database import Storage
from modelpicker.campaigns.storage.statements import driver
from modelpicker.errors import InputError, NotFoundError, StateError, StorageError


@dataclass
class Verification:
    """What was found of a campaign."""

    name: str
    events: int
    rounds: int
    labels: int | None
    """None if that is not known."""
    wrong: list[str] = field(default_factory=list)
    repaired: bool = False


def verify(campaign: Campaign, *, repair: bool = True) -> Verification:
    """Rebuild everything from the events and compare; what differs is written again, if wanted.

    Events that are damaged or missing cannot be repaired: only a backup brings them back.
    """
    with campaign.exclusive() as store:
        head = store.head(lock=True)
        try:
            _check_settings(store, campaign)
            right, vouched = _count(store, campaign.settings.pool is not None)
            projection = rebuild(store, campaign.settings, right.events, right.rebuilt)
            if not vouched:
                _check_kept_settings(store, campaign)
        except (StorageError, NotFoundError, InputError) as error:
            return Verification(campaign.name, head.events, head.rounds, None, [str(error).rstrip(".")])
        verdict = Verification(campaign.name, head.events, projection.rounds, projection.counts.labels)
        if head != right:
            verdict.wrong.append("the campaign's row differs from the events")
        verdict.wrong += _snapshot_faults(store, campaign, right, projection)
        verdict.wrong += _index_faults(store, right, repair)
        if verdict.wrong and repair:
            store.move(right)
            store.keep(projection.document())
            verdict.repaired = True
    return verdict


def verify_named(storage: Storage, name: str, *, repair: bool = True) -> Verification:
    """Verify a campaign by its name; that it cannot be opened is part of the verdict.

    Its settings may be damaged, or its algorithm cannot be imported here.
    """
    try:
        campaign = open_campaign(storage.place, name)
    except (StorageError, NotFoundError) as error:
        with storage.reading() as connection:
            row = find_campaign(connection, name)
        if row is None:
            raise
        return Verification(name, row.events, row.rounds, None, [str(error).rstrip(".")])
    with campaign:
        return verify(campaign, repair=repair)


def _check_settings(store: EventStore, campaign: Campaign) -> None:
    """The stored settings must match their checksum, and be those that the campaign was opened with."""
    row = find_campaign(store.connection, campaign.name)
    stored_document(campaign.name, row.settings, row.checksum)
    check_settings(campaign.settings, row.checksum, "its row in the storage")


def _check_kept_settings(store: EventStore, campaign: Campaign) -> None:
    """Where no event says with which settings it was decided, the state that was kept must fit."""
    kept = store.snapshot()
    if kept is not None:
        check_settings(campaign.settings, kept.get("settings"), "the state that was kept last")


def _count(store: EventStore, pool: bool) -> tuple[Head, bool]:
    """How far the campaign has come by its events, which must follow each other without a gap.

    And whether one of them says with which settings it was decided: `rebuild` checks that those are the campaign's.
    """
    vouched = False
    rounds = rebuilt = 0
    total = store.last()
    if total < store.head().events:
        raise StorageError(f"event {total + 1} of the campaign is missing; restore a backup.")
    for stored in store.events(upto=total):
        if changes_the_past(stored.event, pool):
            rebuilt = stored.number
        if isinstance(stored.event, Rounds | Items):
            if stored.event.first != rounds:
                raise StorageError(f"event {stored.number}: round {rounds} is missing; restore a backup.")
            rounds += len(stored.event)
            vouched |= stored.event.settings is not None
    return Head(total, rounds, rebuilt), vouched


def _snapshot_faults(store: EventStore, campaign: Campaign, head: Head, right: CampaignState) -> Iterator[str]:
    """Whether the state that was kept, moved on to the last event, is the right one to the last bit."""
    kept = store.snapshot()
    if kept is None:
        if store.has_snapshot():
            yield "the snapshot is damaged"
        return
    if outdated(kept):
        return
    try:
        projection = load_state(campaign.settings, kept, store)
        if not head.rebuilt <= projection.event <= head.events:
            yield "the snapshot is of another history"
            return
        projection.catch_up(store, head.events)
    except (StateError, StorageError):
        yield "the snapshot is damaged"
        return
    if projection.document() != right.document():
        yield "the snapshot differs from the events"


def _index_faults(store: EventStore, head: Head, repair: bool) -> list[str]:
    """Whether answers and keys are those of the events; made again in any case, and kept if wanted."""
    raw = driver(store.connection)
    raw.execute("SAVEPOINT trial")
    before = store.indexed()
    store.clear_index()
    for stored in store.events(upto=head.events):
        store.index(stored.event)
    wrong = [name for name, found in store.indexed().items() if found != before[name]]
    if not (wrong and repair):
        raw.execute("ROLLBACK TO SAVEPOINT trial")  # leases, too, stay as they were
    return [f"the table of {name} differs from the events" for name in wrong]


def all_names(storage: Storage) -> list[str]:
    """The names of all campaigns, whatever is wrong with them."""
    with storage.reading() as connection:
        return [row.name for row in all_campaigns(connection)]


def check_file(storage: Storage) -> list[str]:
    """What SQLite finds wrong with its own file; nothing for other databases, which look after themselves."""
    if storage.file is None:
        return []
    with storage.reading() as connection:
        found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    return [] if found == ["ok"] else found
