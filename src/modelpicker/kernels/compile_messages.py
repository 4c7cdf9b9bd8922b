"""What continues around compiling: it is said while it happens, and never of code that comes from the cache."""

import gc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_log = logging.getLogger("modelpicker.compiling")


@contextmanager
def announced(dispatcher: Any, name: str) -> Iterator[None]:
    """Log it, before and after, if Numba compiles a function in here, for the thread that calls."""
    from numba.core import event

    caller = threading.get_ident()

    class Announcer(event.Listener):  # type: ignore[misc]
        """Is told about everything that any thread compiles."""

        started = 0.0
        known = 0
        collects = False

        def on_start(self, event: Any) -> None:
            if self.concerned(event):
                _log.info("compiling %s, %s", name, _how_often(dispatcher))
                self.started, self.known = time.perf_counter(), len(dispatcher.signatures)
                # Numba makes millions of objects and keeps them: looking for garbage is an eighth of the time.
                self.collects = gc.isenabled()
                gc.disable()

        def on_end(self, event: Any) -> None:
            if self.concerned(event):
                if self.collects:
                    gc.enable()
                if len(dispatcher.signatures) > self.known:  # else it failed
                    _log.info("compiled %s in %.1f s", name, time.perf_counter() - self.started)

        def concerned(self, event: Any) -> bool:
            return event.data["dispatcher"] is dispatcher and threading.get_ident() == caller

    with event.install_listener("numba:compile", Announcer()):
        yield


def _how_often(dispatcher: Any) -> str:
    kept = dispatcher.stats.cache_path is not None
    return "once on this machine" if kept else "each time, as there is no folder to keep the result in"
