"""The process that compiles for others: what it is told on standard input, it compiles into the cache on the disk.

It gives way to everything else on the machine. Of several such processes one works at a time: the others find what
it made. It ends when its standard input does, which is also when its parent is killed.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import IO

from modelpicker.kernels.compiler import cache_folder

NICEST = 19


def main() -> None:
    """Read one need a line, and write a line when it is provided for, or why it is not."""
    with suppress(AttributeError, OSError):  # not on every system
        os.nice(NICEST)
    needs: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(needs,), daemon=True).start()
    from modelpicker.campaigns.kernel_needs import KernelNeed

    while True:
        line = needs.get()
        began = time.perf_counter()
        try:
            with _alone():
                KernelNeed.load(json.loads(line)).provide()
            told: dict[str, object] = {"seconds": time.perf_counter() - began}
        except Exception as error:  # whatever it is, the parent should know
            told = {"error": repr(error)}
        print(json.dumps(told), flush=True)


def _read(needs: "SimpleQueue[str]") -> None:
    for line in sys.stdin:
        needs.put(line)
    os._exit(0)


@contextmanager
def _alone() -> Iterator[None]:
    """While nobody else compiles into the same cache, where the system can say so."""
    folder = cache_folder("compiling")
    if folder is None:
        raise OSError("no folder can be written that machine code could be kept in")
    with (folder / "lock").open("w") as file:
        _lock(file)
        yield


def _lock(file: IO[str]) -> None:
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


if __name__ == "__main__":
    main()
