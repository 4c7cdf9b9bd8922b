"""From kernels to machine code: Numba, imported late, and a cache on disk that is never stale.

Numba keys its cache by the file of the function it compiles and overlooks the files of the functions called
from there. Here the folder of the cache is named after the text of every file that went in.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias

Function: TypeAlias = Callable[..., Any]

_changing_numba = threading.Lock()


def with_parts(
    function: Function, parts: Mapping[str, Function], finish: Callable[[Function], Function] = lambda f: f
) -> Function:
    """A copy of `function` that calls `parts` by their names; it and all it calls pass through `finish`."""
    scope = dict(function.__globals__)
    for name, called in _calls(function, parts).items():
        scope[name] = with_parts(called, parts, finish)
    return finish(FunctionType(function.__code__, scope, function.__name__, function.__defaults__))


def _calls(function: Function, parts: Mapping[str, Function]) -> dict[str, Function]:
    """The functions that a kernel calls, by the names it calls them."""
    named = {**function.__globals__, **parts}
    return {name: named[name] for name in function.__code__.co_names if isinstance(named.get(name), FunctionType)}


def _sources(function: Function, parts: Mapping[str, Function]) -> dict[str, str]:
    """The file of a kernel and of everything it calls, by name."""
    sources = {f"{function.__module__}.{function.__qualname__}": function.__code__.co_filename}
    for called in _calls(function, parts).values():
        sources |= _sources(called, parts)
    return sources


class CompiledKernel:
    """`function` with its parts, compiled when it is first called with arguments of some types."""

    def __init__(self, function: Function, parts: Mapping[str, Function]) -> None:
        self.dispatcher = cache(partial(_dispatcher, function, parts))

    def __call__(self, *arguments: object) -> Any:
        """Run the machine code."""
        return self.dispatcher()(*arguments)


def _dispatcher(function: Function, parts: Mapping[str, Function]) -> Function:
    """A Numba dispatcher with a cache, if there is a place for one."""
    import numba

    sources = _sources(function, parts)
    key = fingerprint(sources)

    def finish(part: Function) -> Any:
        # Machine code is linked by name, so kernels of different make must not share one.
        part.__qualname__ = f"{part.__qualname__}_{key}"
        # Kernels make no arrays, so they need no reference counts, which cost more than most kernels do.
        return numba.njit(nogil=True, forceinline=True, _nrt=False)(part)

    dispatcher: Any = with_parts(function, parts, finish)
    folder = cache_folder(key) if all(Path(file).is_file() for file in sources.values()) else None
    if folder is not None:
        dispatcher._cache = _cache_in(folder, dispatcher.py_func)
    return dispatcher  # type: ignore[no-any-return]


def _cache_in(folder: Path, function: Function) -> Any:
    """Numba's cache of a function, kept in `folder`; a full disk or a broken file is as good as no cache."""
    import numba
    from numba.core.caching import FunctionCache

    class Cache(FunctionCache):
        def load_overload(self, *arguments: object) -> object:
            with suppress(Exception):
                return super().load_overload(*arguments)
            return None

        def save_overload(self, *arguments: object) -> None:
            with suppress(Exception):
                super().save_overload(*arguments)

    with _changing_numba:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            return Cache(function)
        finally:
            numba.config.CACHE_DIR = before


def fingerprint(sources: Mapping[str, str]) -> str:
    """A name for the machine code of these functions, given with their files; no other code has it."""
    import numba

    digest = hashlib.sha256(numba.__version__.encode())
    for name, file in sorted({**sources, "": __file__}.items()):
        # What was typed at a prompt or zipped has no file: such code is new in every process.
        text = Path(file).read_bytes() if Path(file).is_file() else os.urandom(16)
        digest.update(f"\0{name}\0".encode() + text)
    return digest.hexdigest()[:16]


def cache_folder(key: str) -> Path | None:
    """The first writable folder for this machine code; None where there is none."""
    for base in (Path(__file__).parent / "__pycache__", user_cache()):
        if base is not None and _writable(folder := base / "kernels" / key):
            return folder
    return None


def user_cache() -> Path | None:
    """Where this system keeps what a user's programs can make again; None for a user without a home."""
    homes = {
        "win32": os.environ.get("LOCALAPPDATA") or "~/AppData/Local",
        "darwin": "~/Library/Caches",
    }
    try:
        home = homes.get(sys.platform) or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(home).expanduser() / "modelpicker"
    except RuntimeError:
        return None


def _writable(folder: Path) -> bool:
    probe = folder / f"probe-{os.getpid()}-{threading.get_ident()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
