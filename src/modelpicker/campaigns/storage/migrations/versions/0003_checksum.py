"""A checksum of the settings of each campaign, so that a change of them is noticed."""

import json

import sqlalchemy as sa
from alembic import op

from modelpicker.campaigns.events.event_types import seal, unseal
from modelpicker.campaigns.settings import settings_checksum
from modelpicker.errors import StorageError

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

campaigns = sa.table("campaigns", *map(sa.column, ("id", "settings", "checksum")))
snapshots = sa.table("snapshots", sa.column("campaign"), sa.column("body", sa.LargeBinary))


def upgrade() -> None:
    """Take the settings as they are now; every event stays as it is."""
    op.add_column("campaigns", sa.Column("checksum", sa.String(16)))
    connection = op.get_bind()
    for number, settings in connection.execute(sa.select(campaigns.c.id, campaigns.c.settings)).all():
        try:
            checksum = settings_checksum(json.loads(settings))
        except (TypeError, ValueError, AttributeError):
            continue  # damaged before: it stays without a checksum, and is refused
        mine = sa.update(campaigns).where(campaigns.c.id == number)
        connection.execute(mine.values(checksum=checksum))
        _note_in_snapshot(connection, number, checksum)


def _note_in_snapshot(connection: sa.Connection, campaign: int, checksum: str) -> None:
    """The state that was kept says from now on with which settings; a damaged one stays as it is."""
    mine = snapshots.c.campaign == campaign
    body = connection.execute(sa.select(snapshots.c.body).where(mine)).scalar()
    try:
        state = None if body is None else json.loads(unseal(bytes(body)))
    except (StorageError, TypeError, ValueError):
        return
    if isinstance(state, dict):
        changed = seal(json.dumps(state | {"settings": checksum}).encode())
        connection.execute(sa.update(snapshots).where(mine).values(body=changed))
