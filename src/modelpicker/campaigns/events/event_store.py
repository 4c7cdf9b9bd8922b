"""A campaign's events in a storage: they are added here, with how far the campaign has come and its last state."""

import json
from typing import Any

import sqlalchemy as sa

from modelpicker.campaigns.events.event_index import EventIndex
from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_types import Event, Rounds, encode, seal, unseal
from modelpicker.campaigns.events.feed_events import FeedItems
from modelpicker.campaigns.events.pool_events import ItemFields, Items
from modelpicker.campaigns.storage.campaign_rows import find_campaign
from modelpicker.campaigns.storage.schema import campaigns, events, snapshots
from modelpicker.campaigns.storage.statements import Prepared
from modelpicker.errors import ConflictError, StorageError

_MINE = snapshots.c.campaign == sa.bindparam("mine")
_MOVE = Prepared(
    sa.update(campaigns)
    .where(campaigns.c.id == sa.bindparam("mine"))
    .values(
        events=sa.bindparam("new_events"), rounds=sa.bindparam("new_rounds"), rebuilt=sa.bindparam("new_rebuilt")
    )
)
_ADD_EVENT = Prepared(sa.insert(events))
_SNAPSHOT = Prepared(sa.select(snapshots.c.body).where(_MINE))
_KEEP = Prepared(sa.update(snapshots).where(_MINE).values(body=sa.bindparam("new_body")))
_ADD_SNAPSHOT = Prepared(sa.insert(snapshots))


class EventStore(EventIndex):
    """The events of one campaign, within a transaction."""

    def move(self, head: Head) -> None:
        """Note how far the campaign has come."""
        _MOVE.run(
            self.connection,
            {
                "mine": self.campaign,
                "new_events": head.events,
                "new_rounds": head.rounds,
                "new_rebuilt": head.rebuilt,
            },
        )

    def rename(self, name: str) -> None:
        """Call the campaign something else."""
        if find_campaign(self.connection, name) is not None:
            raise ConflictError(f"there already is a campaign {name!r}; choose another name.")
        mine = sa.update(campaigns).where(campaigns.c.id == self.campaign)
        self.connection.execute(mine.values(name=name))

    def add(self, number: int, at: int, event: Event) -> None:
        """Store an event, and keep the tables that are found from events up to it."""
        first = event.first if isinstance(event, Rounds | Items | ItemFields | FeedItems) else event.round
        _ADD_EVENT.run(
            self.connection,
            {
                "campaign": self.campaign,
                "number": number,
                "kind": event.kind,
                "round": first,
                "at": at,
                "body": encode(event, number, at),
            },
        )
        self.index(event)

    def snapshot(self) -> dict[str, Any] | None:
        """The last state that was kept; None if there is none, or it is damaged."""
        row = _SNAPSHOT.run(self.connection, {"mine": self.campaign}).fetchone()
        try:
            found = None if row is None else json.loads(unseal(bytes(row[0])))
        except (StorageError, ValueError, TypeError):
            return None
        return found if isinstance(found, dict) else None

    def has_snapshot(self) -> bool:
        """Whether a state was ever kept, damaged or not."""
        return _SNAPSHOT.run(self.connection, {"mine": self.campaign}).fetchone() is not None

    def keep(self, state: dict[str, Any]) -> None:
        """Keep a state."""
        values = {"mine": self.campaign, "new_body": seal(json.dumps(state).encode())}
        if _KEEP.run(self.connection, values).rowcount == 0:
            _ADD_SNAPSHOT.run(self.connection, {"campaign": self.campaign, "body": values["new_body"]})
