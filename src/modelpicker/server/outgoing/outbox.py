"""Webhooks that wait to be sent, in the storage: none is lost when the server stops, and each has an id.

The tables are made when a server is first started with webhooks. They are not part of the schema: storages that
need none of it have none of it, and every version can open them.
"""

import json
import time
import uuid
from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa

from modelpicker.campaigns.storage.database import Storage
from modelpicker.server.outgoing.target import WebhookTarget

metadata = sa.MetaData()
deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("form", sa.String(20), nullable=False),
    sa.Column("body", sa.Text, nullable=False),  # JSON: the news
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("due", sa.Float),  # seconds since 1970; nothing if it was sent or given up
    sa.Column("made", sa.Float, nullable=False),
)
watched = sa.Table(
    "watched",
    metadata,
    sa.Column("campaign", sa.String(40), primary_key=True),  # when it was made, which no renaming changes
    sa.Column("known", sa.Text, nullable=False),  # JSON: what was last seen of it
)
# Seconds between tries, and those after which whoever took a delivery and died is taken for dead.
PAUSES = (5.0, 30.0, 120.0, 600.0, 3600.0, 21600.0, 43200.0)
TAKEN = 60.0
KEPT = 30 * 86400.0
BEGUN = "begun"
"""The row that says that campaigns are watched, also where there is none yet."""


class Delivery(NamedTuple):
    """One webhook to one address."""

    id: str
    target: WebhookTarget
    news: dict[str, Any]
    tries: int


class Outbox:
    """The webhooks of a storage that wait to be sent."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def open(self) -> bool:
        """Make the tables; whether nothing was ever watched, so that what is there already is no news."""
        with self.storage.writing() as connection:
            metadata.create_all(connection)
            connection.execute(
                sa.delete(deliveries).where(deliveries.c.due.is_(None), deliveries.c.made < time.time() - KEPT)
            )
            first = connection.execute(sa.select(watched.c.campaign).limit(1)).first() is None
            if first:
                connection.execute(sa.insert(watched), {"campaign": BEGUN, "known": "{}"})
            return first

    def known(self, campaign: str) -> dict[str, Any] | None:
        """What was last seen of a campaign."""
        with self.storage.reading() as connection:
            found = connection.execute(sa.select(watched.c.known).where(watched.c.campaign == campaign)).scalar()
        return None if found is None else dict(json.loads(found))

    def note(
        self,
        campaign: str,
        before: dict[str, Any] | None,
        now: dict[str, Any],
        news: Iterable[dict[str, Any]],
        targets: Iterable[WebhookTarget],
    ) -> bool:
        """Note what is seen of a campaign, and the news of it, together; False if another server was quicker."""
        with self.storage.writing() as connection:
            row = connection.execute(
                sa.select(watched.c.known).where(watched.c.campaign == campaign).with_for_update()
            ).scalar()
            if (None if row is None else json.loads(row)) != before:
                return False
            values = {"campaign": campaign, "known": json.dumps(now)}
            if row is None:
                connection.execute(sa.insert(watched), values)
            else:
                connection.execute(sa.update(watched).where(watched.c.campaign == campaign), values)
            for one in news:
                for target in targets:
                    connection.execute(sa.insert(deliveries), _row(one, target))
        return True

    def due(self, most: int = 20) -> list[Delivery]:
        """Deliveries whose time has come; nobody else treats them as a while."""
        now, found = time.time(), []
        with self.storage.reading() as connection:
            any_due = connection.execute(sa.select(deliveries.c.id).where(deliveries.c.due <= now).limit(1)).first()
        if any_due is None:
            return []
        with self.storage.writing() as connection:
            rows = connection.execute(
                sa.select(deliveries).where(deliveries.c.due <= now).order_by(deliveries.c.made).limit(most)
            ).all()
            for row in rows:
                taken = connection.execute(
                    sa.update(deliveries)
                    .where(deliveries.c.id == row.id, deliveries.c.due == row.due)
                    .values(due=now + TAKEN, tries=row.tries + 1)
                )
                if taken.rowcount == 1:
                    target = WebhookTarget(row.url, row.form)
                    found.append(Delivery(row.id, target, json.loads(row.body), row.tries + 1))
        return found

    def settle(self, delivery: Delivery, *, again: bool) -> float | None:
        """It was sent, or given up; or it is tried again: in how many seconds."""
        pause = PAUSES[delivery.tries - 1] if again and delivery.tries <= len(PAUSES) else None
        due = None if pause is None else time.time() + pause
        with self.storage.writing() as connection:
            connection.execute(sa.update(deliveries).where(deliveries.c.id == delivery.id).values(due=due))
        return pause


def _row(news: dict[str, Any], target: WebhookTarget) -> dict[str, Any]:
    now = time.time()
    made = {"id": f"msg_{uuid.uuid4().hex}", "url": target.url, "form": target.form, "tries": 0}
    return {**made, "body": json.dumps(news), "due": now, "made": now}
