"""Has kernels compiled by another process, and loads them when they are there: nobody waits for Numba.

Until a kernel is there, all that needs it is interpreted, with the same results. If the other process fails or is
killed, another is started; if that fails too, it stays interpreted.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import Any

from modelpicker.campaigns.kernel_needs import KernelNeed
from modelpicker.kernels.compiler import cache_folder
from modelpicker.kernels.elsewhere import SPARE_CACHE, NotCompiledError, compiling_elsewhere, only_loading

ATTEMPTS = 3
# Seconds that one need may take: a busy machine, and other processes that compile before.
LIMIT = 600.0
_log = logging.getLogger("modelpicker.compiling")


class BackgroundCompiler:
    """Provides for what campaigns need, one need after the other; to be used as a context."""

    def __init__(self, level: int = logging.INFO) -> None:
        """`level` is that of the log of what is compiled: a person who answers questions should not see it."""
        self._level = level
        self._needs: SimpleQueue[KernelNeed | None] = SimpleQueue()
        self._waiting: dict[str, str] = {}
        self._known: set[str] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._child: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, name="compiler", daemon=True)
        self._held = ExitStack()

    def __enter__(self) -> "BackgroundCompiler":
        self._held.enter_context(compiling_elsewhere())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._needs.put(None)
        with self._lock:
            if self._child is not None:
                self._child.kill()
        self._thread.join()
        self._held.close()

    def want(self, need: KernelNeed) -> None:
        """Have kernels provided for, once."""
        with self._lock:
            if need.key in self._known:
                return
            self._known.add(need.key)
            self._waiting[need.key] = need.name
        self._needs.put(need)

    @property
    def waiting(self) -> list[str]:
        """Who still waits for kernels."""
        with self._lock:
            return sorted(set(self._waiting.values()))

    def _work(self) -> None:
        while (need := self._needs.get()) is not None and not self._stopping.is_set():
            if not self._provide(need) and not self._stopping.is_set():
                self._note("could not compile %s: it stays interpreted, which is slower", need.name)
            with self._lock:
                del self._waiting[need.key]
            if self._needs.empty():
                self._end_child()
        self._end_child()

    def _provide(self, need: KernelNeed) -> bool:
        """Load kernels, when another process has compiled them if need be; whether they are there."""
        for attempt in range(ATTEMPTS + 1):
            try:
                with only_loading():
                    need.provide()
            except NotCompiledError:
                pass
            except Exception as error:  # of an algorithm that somebody else wrote, perhaps
                self._note("the kernels of %s cannot be loaded: %r", need.name, error)
                return False
            else:
                return True
            if self._stopping.is_set() or attempt == ATTEMPTS or not self._compile(need):
                return False
        return False

    def _compile(self, need: KernelNeed) -> bool:
        """Let the other process compile; False if there is no sense in trying again."""
        began = time.perf_counter()
        self._note("compiling %s in another process, once on this machine", need.name)
        told = self._ask_child(json.dumps(need.document()))
        if told is None:
            self._end_child()  # killed, or too slow
            return True
        if "error" in told:
            self._note("the other process could not compile %s: %s", need.name, told["error"])
            return False
        self._note("compiled %s in %.1f s", need.name, time.perf_counter() - began)
        return True

    def _note(self, words: str, *facts: object) -> None:
        _log.log(self._level, words, *facts)

    def _ask_child(self, line: str) -> dict[str, Any] | None:
        """What the other process answers; None if it ended, or took too long."""
        with suppress(OSError, ValueError):
            child = self._running_child()
            if child is None or child.stdin is None or child.stdout is None:
                return None
            watch = threading.Timer(LIMIT, child.kill)
            watch.daemon = True
            watch.start()
            try:
                child.stdin.write(line + "\n")
                child.stdin.flush()
                answer: dict[str, Any] = json.loads(child.stdout.readline())
                return answer
            finally:
                watch.cancel()
        return None

    def _running_child(self) -> "subprocess.Popen[str] | None":
        with self._lock:
            if self._stopping.is_set():
                return None
            if self._child is None or self._child.poll() is not None:
                self._child = subprocess.Popen(
                    [sys.executable, "-P", "-m", "modelpicker.campaigns.compile_process"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=self._environment(),
                )
            return self._child

    def _environment(self) -> dict[str, str]:
        """The modules that this process finds, the other one finds as well; and a cache that both can use."""
        if cache_folder("compiling") is None and SPARE_CACHE not in os.environ:
            made = tempfile.TemporaryDirectory(prefix="modelpicker-", ignore_cleanup_errors=True)
            os.environ[SPARE_CACHE] = self._held.enter_context(made)
            self._held.callback(os.environ.pop, SPARE_CACHE, None)
        return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def _end_child(self) -> None:
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def compiling_beside() -> BackgroundCompiler:
    """For a person at a terminal: questions do not wait for what is compiled, and nothing is said about it."""
    return BackgroundCompiler(logging.DEBUG)
