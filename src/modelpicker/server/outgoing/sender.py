"""Looking for news now and then, and sending it; nobody who asks or labels waits for that."""

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING

from modelpicker.campaigns.storage.campaign_rows import all_campaigns
from modelpicker.errors import ModelPickerError
from modelpicker.server.live.group_commit import CommitQueue, CommitQueues
from modelpicker.server.logs import log, log_event
from modelpicker.server.outgoing.news import look, mark_of, news_between
from modelpicker.server.outgoing.outbox import Delivery, Outbox
from modelpicker.server.outgoing.target import WebhookTarget, signed_headers

if TYPE_CHECKING:
    import httpx2

# Seconds between two looks, and for which an address may think.
LOOK = 2.0
TIMEOUT = 10.0
# Answers after which an address is not tried again.
GONE = 410


class WebhookSender:
    """Tells addresses of news of the campaigns of a storage."""

    def __init__(
        self, queues: CommitQueues, outbox: Outbox, targets: tuple[str, ...], secret: str | None, idle: float
    ) -> None:
        self.queues = queues
        self.outbox = outbox
        self.targets = [WebhookTarget.parse(one) for one in targets]
        self.secret = secret
        self.idle = idle
        self._seen: dict[str, tuple[int, float]] = {}

    async def run(self) -> None:
        """Look and send until cancelled."""
        import httpx2

        first = await self._begin()
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as client:
            while True:
                try:
                    await self._look_around(silent=first)
                    first = False
                    await self._send_all(client)
                except ModelPickerError as error:  # a storage that is away comes back
                    log_event(logging.WARNING, "webhooks wait", error=str(error))
                except Exception:
                    log.exception("webhooks failed")
                await asyncio.sleep(LOOK)

    async def _begin(self) -> bool:
        """Make the tables, as soon as the storage lets us; whether what is there now is no news."""
        while True:
            try:
                return await asyncio.to_thread(self.outbox.open)
            except ModelPickerError as error:
                log_event(logging.WARNING, "webhooks wait", error=str(error))
                await asyncio.sleep(LOOK)

    async def _look_around(self, *, silent: bool) -> None:
        """Look at every campaign that has changed, or on which labels may be waited for by now."""
        for name, events in (await asyncio.to_thread(self._events)).items():
            seen = self._seen.get(name)
            if seen is not None and seen[0] == events and time.monotonic() < seen[1]:
                continue
            try:
                again = await self._look_at(await self.queues.find(name), silent=silent)
            except ModelPickerError as error:  # such as a campaign that is damaged: others have news all the same
                log_event(logging.WARNING, "no news", campaign=name, error=str(error))
                again = max(self.idle / 4, LOOK)
            self._seen[name] = events, time.monotonic() + again

    def _events(self) -> dict[str, int]:
        """How many events each campaign has."""
        with self.outbox.storage.reading() as connection:
            return {row.name: row.events for row in all_campaigns(connection)}

    async def _look_at(self, queue: CommitQueue, *, silent: bool) -> float:
        """Note what is news of a campaign; in how many seconds it is looked at again, if nothing happens."""
        now, pick = await queue.read(lambda campaign: look(campaign, self.idle))
        mark = mark_of(queue.campaign)
        before = await asyncio.to_thread(self.outbox.known, mark)
        waits = now["state"] == "waiting-for-labels" and now["waited"] is None
        again = max(self.idle / 4, LOOK) if waits else math.inf
        if before == now:
            return again
        news = [] if silent else news_between(queue.campaign.name, before, now, pick)
        noted = await asyncio.to_thread(self.outbox.note, mark, before, now, news, self.targets)
        return again if noted else 0.0

    async def _send_all(self, client: "httpx2.AsyncClient") -> None:
        """Send what is due; a slow address keeps no other one waiting."""
        found = await asyncio.to_thread(self.outbox.due)
        if found:
            await asyncio.gather(*(self._send(client, one) for one in found))

    async def _send(self, client: "httpx2.AsyncClient", delivery: Delivery) -> None:
        import httpx2

        body = delivery.target.body({"id": delivery.id, **delivery.news})
        headers = signed_headers(self.secret, delivery.id, int(time.time()), body)
        status: int | str
        try:
            answer = await client.post(delivery.target.url, content=body, headers=headers)
            status = answer.status_code
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            status = type(error).__name__
        done = isinstance(status, int) and (200 <= status < 300 or status == GONE)
        pause = await asyncio.to_thread(self.outbox.settle, delivery, again=not done)
        facts = {"id": delivery.id, "to": delivery.target.shown, "status": status, "try": delivery.tries}
        if done and status != GONE:
            log_event(logging.INFO, "webhook sent", **facts)
        elif pause is None:
            log_event(logging.ERROR, "webhook given up", **facts)
        else:
            log_event(logging.WARNING, "webhook failed", **facts, again_in=pause)
