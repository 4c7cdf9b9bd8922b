"""Compiling in another process: Numba holds this one up, and a server or a person should not wait for that.

A process that says `compiling_elsewhere` compiles nothing itself. Another process compiles what it needs, and
leaves the results on the disk; `only_loading` loads them.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Where another process leaves machine code if no other folder can be written.
SPARE_CACHE = "MODELPICKER_SPARE_CACHE"
_thread = threading.local()
_lock = threading.Lock()
_elsewhere = [0]


class NotCompiledError(Exception):
    """There is no machine code to load."""


def compiles_here() -> bool:
    """Whether this thread may call kernels that are not ready: to compile them, or only to load them."""
    return not _elsewhere[0] or getattr(_thread, "loads", False)


@contextmanager
def compiling_elsewhere() -> Iterator[None]:
    """While this holds, kernels that are not ready are interpreted; for the whole process."""
    with _lock:
        _elsewhere[0] += 1
    try:
        yield
    finally:
        with _lock:
            _elsewhere[0] -= 1


@contextmanager
def only_loading() -> Iterator[None]:
    """In this thread, kernels are loaded; a NotCompiledError says that there is nothing to load."""
    _thread.loads = True
    try:
        yield
    finally:
        _thread.loads = False


def refuse_to_compile() -> None:
    """To be called before anything is compiled."""
    if getattr(_thread, "loads", False):
        raise NotCompiledError


def spare_cache() -> Path | None:
    """A folder of this process and those that it starts, if it made one."""
    folder = os.environ.get(SPARE_CACHE)
    return Path(folder) if folder else None
