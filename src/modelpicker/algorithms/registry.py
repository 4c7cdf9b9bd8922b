"""An algorithm from its name or its class, with options that suit where none are given.

Own algorithms have names too: that of an entry point in the group `modelpicker.algorithms` of a package that is
installed, or `module:Class`.
"""

import importlib
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeAlias

from modelpicker.algorithms import ALGORITHMS
from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.validation import Models
from modelpicker.errors import InputError, UnknownOptionError, brief
from modelpicker.options import REQUIRED

AlgorithmChoice: TypeAlias = str | type[Algorithm]
GROUP = "modelpicker.algorithms"


@cache
def installed_algorithms() -> Mapping[str, EntryPoint]:
    """The algorithms of other packages, by name; names of modelpicker's own stay its own."""
    return {one.name: one for one in entry_points(group=GROUP) if one.name not in ALGORITHMS}


def known_names() -> tuple[str, ...]:
    """The names of all algorithms that are installed."""
    return (*ALGORITHMS, *installed_algorithms())


def find_algorithm(kind: AlgorithmChoice) -> type[Algorithm]:
    """The class of an algorithm: by its name, as `module:Class`, or the class itself."""
    if not isinstance(kind, str):
        return _checked(kind, None)
    if kind in ALGORITHMS:
        return ALGORITHMS[kind]
    if kind in installed_algorithms():
        return installed_algorithm(kind)
    if ":" in kind:
        module, _, path = kind.partition(":")
        return _checked(_imported(module, path, kind), kind)
    raise InputError(
        f"there is no algorithm {brief(kind)}; there are {', '.join(known_names())}, or pass a class of your own: "
        "module:Class.",
        parameter="algorithm",
    )


def installed_algorithm(name: str) -> type[Algorithm]:
    """The class of an algorithm that another package brings."""
    entry = installed_algorithms()[name]
    package = "" if entry.dist is None else f" of {entry.dist.name}"
    try:
        found = entry.load()
    except Exception as error:  # whatever the code of others raises
        raise InputError(
            f"algorithm {name}: its code{package} ({entry.value}) cannot be imported: "
            f"{type(error).__name__}: {error}. "
            "Install the package again, or remove it.",
            parameter="algorithm",
        ) from error
    return _checked(found, name)


def algorithm_name(kind: type[Algorithm]) -> str:
    """By which name an algorithm is found again: its own, that of its entry point, or `module:Class`."""
    if ALGORITHMS.get(kind.name) is kind:
        return kind.name
    path = f"{kind.__module__}:{kind.__qualname__}"
    return next((name for name, entry in installed_algorithms().items() if entry.value == path), path)


def _imported(module: str, path: str, typed: str) -> object:
    """What `module:Class` names; the folder where one works is looked in last."""
    try:
        with _working_folder_too():
            found: object = importlib.import_module(module)
    except Exception as error:  # whatever the code of others raises
        why = f"{type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError):
            why = f"there is no module {error.name}"
        raise InputError(
            f"algorithm {typed}: {module or 'its module'} cannot be imported: {why}. Install it, "
            "or work in the folder "
            "that it is in.",
            parameter="algorithm",
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            classes = (
                [name for name, one in vars(found).items() if _is_algorithm(one)] if inspect.ismodule(found) else []
            )
            there = f"; its algorithms are {', '.join(classes)}" if classes else ""
            raise InputError(f"algorithm {typed}: {module} has no {path or 'class'}{there}.", parameter="algorithm")
        found = getattr(found, part)
    return found


@contextmanager
def _working_folder_too() -> Iterator[None]:
    """Modules of the working folder can be imported, after all others."""
    folder = os.getcwd()  # noqa: PTH109 (as sys.path has it)
    if folder in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _is_algorithm(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, Algorithm) and not inspect.isabstract(found)


def _checked(found: object, name: str | None) -> type[Algorithm]:
    """A class that is an algorithm, or an error that says what it lacks."""
    if isinstance(found, type) and issubclass(found, Algorithm) and found is not Algorithm:
        if name is None or (not inspect.isabstract(found) and hasattr(found, "name")):
            return found
        lacks = sorted({*getattr(found, "__abstractmethods__", ()), *(() if hasattr(found, "name") else ("name",))})
        raise InputError(
            f"algorithm {name}: {found.__qualname__} is incomplete, it has no {', '.join(lacks)}. "
            "modelpicker.check_algorithm runs all checks on it (docs/how-it-works/kernels.md).",
            parameter="algorithm",
        )
    if name is None:
        raise InputError(
            f"there is no algorithm {brief(found)}; there are {', '.join(known_names())}, or pass "
            "a class of your own.",
            parameter="algorithm",
        )
    raise InputError(
        f"algorithm {name}: {brief(found)} is not a class that inherits from "
        "modelpicker.Algorithm. docs/how-it-works/kernels.md has "
        "a whole example, and modelpicker.check_algorithm runs all checks on one.",
        parameter="algorithm",
    )


def usual_options(kind: type[Algorithm], classes: int | None) -> dict[str, Any]:
    """What an algorithm is made with where nothing else is said; `classes` is how many there are, if known."""
    usual = {option.name: option.usual for option in kind.about.options if option.usual is not REQUIRED}
    if "classes" in inspect.signature(kind.__init__).parameters:
        usual["classes"] = max(2, classes or 2)
    return usual


def make_algorithm(
    kind: type[Algorithm], models: Models, seed: int, options: Mapping[str, Any], classes: int | None = None
) -> Algorithm:
    """A picker; an option that the algorithm does not take is an error that names those it does."""
    usual = usual_options(kind, classes)
    try:
        return kind(models, seed, **(usual | dict(options)))
    except TypeError as error:
        known = [*usual, *(getattr(kind.__init__, "__kwdefaults__", None) or {})]
        strange = ", ".join(sorted(set(options) - set(known)))
        if not strange:
            raise InputError(f"{kind.name} cannot be made with {brief(dict(options))}: {error}.") from error
        raise UnknownOptionError(
            f"{kind.name} does not take {strange}; it takes {', '.join(dict.fromkeys(known))}."
        ) from None
