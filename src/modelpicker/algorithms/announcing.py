"""Says what is compiled while it is compiled: a log record before, one after, none for code from the cache."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_log = logging.getLogger("modelpicker.compiling")


@contextmanager
def announced(dispatcher: Any, name: str) -> Iterator[None]:
    """Log it if Numba compiles a function in here, for the thread that calls."""
    from numba.core import event

    caller = threading.get_ident()

    class Announcer(event.Listener):  # type: ignore[misc]
        """Is told of everything that any thread compiles."""

        started = 0.0
        known = 0

        def on_start(self, event: Any) -> None:
            if self.concerned(event):
                kept = dispatcher.stats.cache_path is not None
                when = "once on this machine" if kept else "each time, as there is no folder to keep the result in"
                _log.info("compiling %s, %s", name, when)
                self.started, self.known = time.perf_counter(), len(dispatcher.signatures)

        def on_end(self, event: Any) -> None:
            if self.concerned(event) and len(dispatcher.signatures) > self.known:  # else it failed
                _log.info("compiled %s in %.1f s", name, time.perf_counter() - self.started)

        def concerned(self, event: Any) -> bool:
            return event.data["dispatcher"] is dispatcher and threading.get_ident() == caller

    with event.install_listener("numba:compile", Announcer()):
        yield
