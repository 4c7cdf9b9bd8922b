"""The rows of campaigns in a storage: found by name, listed, added."""

import json
from typing import Any

import sqlalchemy as sa

from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.storage.schema import campaigns
from modelpicker.errors import ConflictError


def find_campaign(connection: sa.Connection, name: str) -> Any:
    """The row of a campaign; None if there is none."""
    return connection.execute(sa.select(campaigns).where(campaigns.c.name == str(name))).first()


def all_campaigns(connection: sa.Connection) -> list[Any]:
    """The rows of all campaigns, by name."""
    return list(connection.execute(sa.select(campaigns).order_by(campaigns.c.name)))


def add_campaign(connection: sa.Connection, name: str, created: int, settings: CampaignSettings) -> int:
    """A campaign without events; its number."""
    taken = ConflictError(f"there already is a campaign {name!r}; open that one, or choose another name.")
    if find_campaign(connection, name) is not None:
        raise taken
    values = {
        "name": name,
        "created": created,
        "settings": json.dumps(settings.document()),
        "checksum": settings.checksum,
        "events": 0,
        "rounds": 0,
        "rebuilt": 0,
    }
    try:
        made = connection.execute(sa.insert(campaigns).returning(campaigns.c.id), values)
    except sa.exc.IntegrityError as error:  # somebody else made it at this very moment
        raise taken from error
    return int(made.scalar_one())
