"""From kernels to machine code: Numba, imported late, and a cache on disk that is never stale.

Numba keys its cache by the file of the function it compiles, and overlooks what the function calls. Here the
folder of the cache is named after everything that goes in: the code of every function called, as it is in memory,
and the value of every constant it uses.
"""

import dis
import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from modelpicker.extras import check_tested
from modelpicker.kernels.compile_messages import announced
from modelpicker.kernels.elsewhere import compiles_here, refuse_to_compile, spare_cache

Function: TypeAlias = Callable[..., Any]

# Days after which machine code that was not used is removed.
KEPT_DAYS = 60
_changing_numba = threading.Lock()


def as_it_is(copy: Function, _: Function) -> Function:
    """The copy, interpreted."""
    return copy


def with_parts(
    function: Function,
    parts: Mapping[Function, Function],
    finish: Callable[[Function, Function], Function] = as_it_is,
) -> Function:
    """A copy of `function` that calls the `parts` of those they stand for.

    Each function that it calls, directly or not, is copied once, however many call it. Every copy passes through
    `finish`, together with its original.
    """
    made: dict[Function, Function] = {}

    def copied(original: Function) -> Function:
        if original not in made:
            scope = dict(original.__globals__)
            for name, value in _globals_of(original, parts).items():
                if isinstance(value, FunctionType):
                    scope[name] = copied(value)
            copy = FunctionType(original.__code__, scope, original.__name__, original.__defaults__)
            made[original] = finish(copy, original)
        return made[original]

    return copied(function)


def check_kernel(function: Function, callers: tuple[Function, ...] = ()) -> None:
    """Refuse what could not be compiled, in words that say why."""
    if not isinstance(function, FunctionType) or function.__closure__:
        raise TypeError(f"kernel {function!r} must be a plain function that uses no variable of another function.")
    if function in callers:
        raise TypeError(f"kernel {function.__qualname__} calls itself; write a loop.")
    for value in _globals_of(function, {}).values():
        if isinstance(value, FunctionType):
            check_kernel(value, (*callers, function))


def _globals_of(function: Function, parts: Mapping[Function, Function]) -> dict[str, object]:
    """The global names that a function uses, with what they stand for."""
    known = function.__globals__
    used = {name: known[name] for name in sorted(set(_names_in(function.__code__))) if name in known}
    return {
        name: parts.get(value, value) if isinstance(value, FunctionType) else value for name, value in used.items()
    }


def _names_in(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _content(function: Function, parts: Mapping[Function, Function]) -> Iterator[str]:
    """Everything that the machine code of a function depends on, in words."""
    yield from _code(function.__code__)
    for name, value in _globals_of(function, parts).items():
        if isinstance(value, FunctionType):
            yield f"function {name}"
            yield from _content(value, parts)
        elif isinstance(value, type):
            yield f"type {name}: {value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
        else:
            yield f"value {name}: {value!r}"


def _code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif not isinstance(constant, str):  # docstrings decide nothing, and kernels know no other strings
            yield repr(constant)


def digits_of(*content: str) -> str:
    """Sixteen digits that stand for some texts."""
    return hashlib.sha256("\n".join(content).encode()).hexdigest()[:16]


def code_digits(function: Function, parts: Mapping[Function, Function]) -> str:
    """Sixteen digits that stand for everything a function does."""
    return digits_of(*_content(function, parts))


class CompiledKernel:
    """`function` with its parts, compiled when it is first called; `name` says what is compiled.

    Where another process compiles (`compiling_elsewhere`), `meanwhile` is called until the machine code is there:
    it does the same, to the last bit.
    """

    def __init__(
        self,
        function: Function,
        parts: Mapping[Function, Function],
        name: str,
        meanwhile: Function | None = None,
    ) -> None:
        self.dispatcher = cache(partial(_dispatcher, function, parts))
        self.name = name
        self.meanwhile = meanwhile
        self.ready = False
        """Whether it has been compiled, and ran."""

    @property
    def on_its_way(self) -> bool:
        """Whether another process compiles it: until it is ready, to call it would be to compile it here too."""
        return not self.ready and not compiles_here()

    def __call__(self, *arguments: object) -> Any:
        """Run the machine code."""
        if self.meanwhile is not None and self.on_its_way:
            return self.meanwhile(*arguments)
        dispatcher = self.dispatcher()
        if self.ready:
            return dispatcher(*arguments)
        with announced(dispatcher, self.name):
            result = dispatcher(*arguments)
        self.ready = True
        return result


def _dispatcher(function: Function, parts: Mapping[Function, Function]) -> Function:
    """A Numba dispatcher with a cache, if there is a place for one."""
    check_tested("numba")
    import numba

    from modelpicker.kernels.numba_internals import part_options

    key = digits_of(numba.__version__, sys.version, *_content(function, parts))
    layers = _layers(function, parts)
    for_parts = part_options()

    def finish(copy: Function, original: Function) -> Any:
        # Machine code is linked by name, so kernels of different make must not share one.
        copy.__qualname__ = f"{copy.__qualname__}_{key}"
        options = {"inline": "always"} if original in layers else {"forceinline": True}
        if original is not function:
            options |= for_parts
        # Kernels make no arrays, so they need no reference counts, which cost more than most kernels do.
        return numba.njit(nogil=True, _nrt=False, no_cfunc_wrapper=True, **options)(copy)

    dispatcher: Any = with_parts(function, parts, finish)
    folder = cache_folder(key)
    if folder is not None and not numba.config.DISABLE_JIT:
        with suppress(Exception):  # no place that Numba likes either
            dispatcher._cache = _cache_in(folder, dispatcher.py_func)
            return dispatcher  # type: ignore[no-any-return]
    if not numba.config.DISABLE_JIT:
        refuse_to_compile()
    return dispatcher  # type: ignore[no-any-return]


def _layers(function: Function, parts: Mapping[Function, Function]) -> set[Function]:
    """The functions between a kernel and its parts, and the parts themselves.

    A call that hands on all of the state takes long to compile; these are merged into the kernel before that.
    """
    between: set[Function] = set()

    def leads_to_parts(caller: Function) -> bool:
        called = [value for value in _globals_of(caller, parts).values() if isinstance(value, FunctionType)]
        found = [one for one in called if leads_to_parts(one) or one in parts.values()]
        between.update(found)
        return bool(found)

    leads_to_parts(function)
    return between


def _cache_in(folder: Path, function: Function) -> Any:
    """Numba's cache of a function, kept in `folder`; a full disk or a broken file is as good as no cache."""
    import numba
    from numba.core.caching import FunctionCache
    from numba.core.sigutils import normalize_signature

    class Cache(FunctionCache):
        def load_overload(self, signature: object, *context: object) -> object:
            with suppress(Exception):
                found = super().load_overload(signature, *context)
                # Processes that write at once may leave the code of other types behind.
                if found is not None and tuple(found.signature.args) == tuple(normalize_signature(signature)[0]):
                    return found
            refuse_to_compile()
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


def cache_folder(key: str) -> Path | None:
    """The first writable folder for this machine code; None where there is none."""
    for base in (Path(__file__).parent / "__pycache__", user_cache(), spare_cache()):
        if base is None:
            continue
        folder = base / "kernels" / key
        fresh = not folder.exists()
        if _writable(folder):
            if fresh:
                prune(folder.parent)
            return folder
    return None


def prune(kernels: Path) -> None:
    """Remove machine code that nobody has used for long: that of older versions, of algorithms since changed."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for folder in kernels.iterdir():
        with suppress(OSError):  # somebody else removes it as well
            if folder.stat().st_mtime < oldest:  # every use writes a probe into it
                shutil.rmtree(folder)


def user_cache() -> Path | None:
    """Where this system keeps what a user's programs can make again; None for a user without a home."""
    homes = {
        "win32": os.environ.get("LOCALAPPDATA", ""),
        "darwin": "~/Library/Caches",
    }
    home = homes.get(sys.platform, os.environ.get("XDG_CACHE_HOME", ""))
    try:
        folder = Path(home or "~/.cache").expanduser()
    except RuntimeError:
        return None
    return folder / "modelpicker" if folder.is_absolute() else None


def _writable(folder: Path) -> bool:
    probe = folder / f"probe-{os.getpid()}-{threading.get_ident()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
