"""From kernels to machine code: Numba, imported late, and a cache on disk that is never stale.

Numba keys its cache by the file of the function it compiles and overlooks the files of the functions called
from there. Here the folder of the cache is named after the text of every file that went in.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    for name in function.__code__.co_names:
        called = parts.get(name, scope.get(name))
        if isinstance(called, FunctionType):
            scope[name] = with_parts(called, parts, finish)
    return finish(FunctionType(function.__code__, scope, function.__name__, function.__defaults__))


def compile_kernel(function: Function, parts: Mapping[str, Function]) -> Function:
    """`function` with its parts, compiled for the types of the first call; later calls are direct."""
    compiled: list[Function] = []

    def call(*arguments: object) -> object:
        if not compiled:
            compiled.append(_compile(function, parts, arguments))
        return compiled[0](*arguments)

    return call


def _compile(function: Function, parts: Mapping[str, Function], arguments: tuple[object, ...]) -> Function:
    """Machine code for these arguments: by way of the cache if there is one, and in any case."""
    import numba

    sources = {part.__qualname__: part.__code__.co_filename for part in parts.values()}

    def finish(part: Function) -> Any:  # noqa: ANN401 (a Numba dispatcher)
        sources[part.__qualname__] = part.__code__.co_filename
        return numba.njit(nogil=True)(part)

    signature = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher: Any = with_parts(function, parts, finish)
    folder = cache_folder(sources)
    if folder is not None:
        try:
            with _numba_cache_in(folder):
                cached: Any = numba.njit(nogil=True, cache=True)(dispatcher.py_func)
            cached.compile(signature)
        except Exception:  # noqa: S110 (a full disk or a broken file: no reason not to compile)
            pass
        else:
            return cached
    dispatcher.compile(signature)
    return dispatcher


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """Have Numba keep the cache of what is decorated meanwhile in `folder`."""
    import numba

    with _changing_numba:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            yield
        finally:
            numba.config.CACHE_DIR = before


def cache_folder(sources: Mapping[str, str]) -> Path | None:
    """The first writable folder for the machine code of these functions; None where there is none.

    Args:
        sources: the file of each function, by its name.
    """
    import numba

    digest = hashlib.sha256(numba.__version__.encode())
    try:
        for name, file in sorted(sources.items()):
            digest.update(name.encode() + b"\0" + Path(file).read_bytes())
    except OSError:  # typed at a prompt, or read from a zip file
        return None
    for base in (Path(__file__).parent / "__pycache__", user_cache()):
        if base is not None and _writable(folder := base / "kernels" / digest.hexdigest()[:16]):
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
