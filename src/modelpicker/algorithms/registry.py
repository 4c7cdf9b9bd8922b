"""An algorithm from its name or its class, with options that suit where none are given."""

import inspect
from collections.abc import Mapping
from typing import Any, TypeAlias

from modelpicker.algorithms import ALGORITHMS
from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.validation import Models
from modelpicker.errors import InputError, UnknownOptionError, brief
from modelpicker.options import REQUIRED

AlgorithmChoice: TypeAlias = str | type[Algorithm]


def find_algorithm(kind: AlgorithmChoice) -> type[Algorithm]:
    """The class of an algorithm."""
    if isinstance(kind, str) and kind in ALGORITHMS:
        return ALGORITHMS[kind]
    found: object = kind
    if isinstance(found, type) and issubclass(found, Algorithm) and found is not Algorithm:
        return found
    raise InputError(
        f"there is no algorithm {brief(kind)}; there are {', '.join(ALGORITHMS)}, or pass a class of your own."
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
