"""SQLite's write-ahead log, moved into its file while nobody writes."""

import asyncio
import time

from modelpicker.campaigns.storage.database import Storage


async def checkpoint_when_quiet(storage: Storage, quiet: float) -> None:
    """Move the log into the file whenever nobody, in any process, has written to it for that many seconds.

    Until cancelled. Whoever copies the file of a server that is idle then has everything.
    """
    seen, since = None, 0.0
    while True:
        await asyncio.sleep(quiet / 4)
        state = storage.log_state()
        if state is None or state != seen:
            seen, since = state, time.monotonic()
        elif time.monotonic() - since >= quiet:
            await asyncio.to_thread(storage.checkpoint)
            seen = None
