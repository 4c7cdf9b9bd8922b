"""The methods that are compared: an algorithm, its options, and the one that is tuned to a budget."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from modelpicker.algorithms import (
    ALGORITHMS,
    Algorithm,
    EfficientActive,
    ImportanceWeighted,
    LabelEfficient,
    ModelPicker,
    Race,
    StructuralCommittee,
    VoteEntropy,
)
from modelpicker.algorithms.registry import find_algorithm, installed_algorithms
from modelpicker.algorithms.validation import check_scale
from modelpicker.errors import InputError, brief

Range: TypeAlias = tuple[float, float]

SEARCH: Range = (2.0**-12, 2.0**20)
GRID: Range = (2.0**-12, 2.0**12)


@dataclass(frozen=True)
class Method:
    """What is compared under one label.

    Args:
        label: the name in tables and figures; a method's coins depend on it, so two copies are independent.
        algorithm: the class of the algorithm.
        tuned: the option that is tuned to a budget; by default the algorithm's dial.
        options: its other options.
        search: between which values the fast search looks.
        grid: between which values the grid search looks, as the paper does.
        fixed: one value for every budget, instead of tuning.

    >>> import modelpicker as mp
    >>> method = mp.Method("eager", mp.ModelPicker, options={"query_scale": 4.0})
    >>> method.label
    'eager'
    """

    label: str
    algorithm: type[Algorithm]
    tuned: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    search: Range = SEARCH
    grid: Range = GRID
    fixed: float | None = None

    def __post_init__(self) -> None:
        kind: object = self.algorithm
        label: object = self.label
        if not (isinstance(label, str) and label):
            raise InputError(f"method label {brief(label)} is not a name; pass a string.")
        if not (isinstance(kind, type) and issubclass(kind, Algorithm)):
            raise InputError(f"method {brief(self.label)}: {brief(self.algorithm)} is not a class of algorithms.")
        object.__setattr__(self, "tuned", self.tuned or self.algorithm.dial)
        if self.fixed is not None:
            object.__setattr__(self, "fixed", check_scale(f"method {self.label}: {self.tuned}", self.fixed))
        ranges: dict[str, Sequence[float]] = {"search": self.search, "grid": self.grid}
        for name, found in ranges.items():
            if not (len(found) == 2 and 0.0 < found[0] < found[1] < math.inf):
                raise InputError(f"method {self.label}: {name}={brief(found)} is not a range; pass 0 < low < high.")

    def make(self, models: int, classes: int, value: float) -> Algorithm:
        """The algorithm with the tuned option at `value`."""
        options = {**self.options, self.tuned: value}
        if "classes" in inspect.signature(self.algorithm.__init__).parameters:
            options.setdefault("classes", max(2, classes))
        try:
            return self.algorithm(models, 0, **options)
        except TypeError as error:
            raise InputError(
                f"method {self.label}: {self.algorithm.__name__} does not take its options: {error}."
            ) from error

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """The same method with some options set; the tuned one is then no longer tuned."""
        others = {name: value for name, value in options.items() if name != self.tuned}
        return replace(self, options={**self.options, **others}, fixed=options.get(self.tuned, self.fixed))

    @property
    def closed_form(self) -> bool:
        """Whether the number of labels follows from the tuned option without a run."""
        return self.algorithm.uniform and self.tuned == self.algorithm.dial

    def describe(self) -> dict[str, Any]:
        """What makes this method what it is, for the record."""
        made = f"{self.algorithm.__module__}.{self.algorithm.__qualname__}"
        own = made.startswith("modelpicker.")  # these change with the version of the package only
        return {
            "label": self.label,
            "algorithm": made if own else f"{made} {self.algorithm.kernel.digits}",
            "tuned": self.tuned,
            "fixed": self.fixed,
            "options": {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in self.options.items()
            },
            "search": list(self.search),
            "grid": list(self.grid),
        }


# What differs from the defaults of `Method`. As the authors ran them on three of their five collections (s = 150
# and 6); the paper's formulas have s = 1.
TUNING: dict[type[Algorithm], dict[str, Any]] = {
    # Beyond 2^56 nothing changes: a share of the weight that is smaller than its rounding is none.
    ModelPicker: {"search": (2.0**-12, 2.0**56)},
    LabelEfficient: {"search": (1e-9, 1.0), "grid": (1e-9, 1.0)},
    VoteEntropy: {"search": (2.0**-30, 2.0**14)},
    StructuralCommittee: {
        "tuned": "beta",
        "options": {"disagreement_scale": 150.0},
        "search": (2.0**-12, 2.0**6),
        "grid": (2.0**-12, 2.0**4),
    },
    ImportanceWeighted: {"search": (2.0**-30, 1.0), "grid": (2.0**-12, 1.0)},
    EfficientActive: {
        "options": {"threshold_scale": 6.0},
        "search": (2.0**-36, 2.0**4),
        "grid": (2.0**-24, 1.0),
    },
    # The best of a stream, however close the next may be: no tolerance.
    Race: {"options": {"tolerance": 0.0}, "search": (0.5, 2.0**14), "grid": (0.5, 2.0**10)},
}


def _method(kind: type[Algorithm]) -> Method:
    """An algorithm as it is compared; where nothing is said about its tuning, over what its dial may be."""
    if kind in TUNING:
        return Method(kind.name, kind, **TUNING[kind])
    dial = kind.about.option(kind.dial)
    most = math.inf if dial is None or dial.high is None else dial.high
    return Method(kind.name, kind, search=(SEARCH[0], min(SEARCH[1], most)), grid=(GRID[0], min(GRID[1], most)))


METHODS = MappingProxyType({name: _method(kind) for name, kind in ALGORITHMS.items()})


def as_methods(methods: Sequence[str | type[Algorithm] | Method] | None) -> tuple[Method, ...]:
    """Methods by name, by class, or made to measure; all where none are given."""
    if isinstance(methods, str | Method) or not isinstance(methods, Sequence | None):
        raise InputError(f"methods {brief(methods)}: pass a list, such as ['model-picker', 'vote-entropy'].")
    chosen = tuple(_as_method(entry) for entry in (METHODS if methods is None else methods))
    if not chosen:
        raise InputError(f"no methods to compare; there are {', '.join(METHODS)}.")
    refuse_doubles(chosen)
    return chosen


class HasLabel(Protocol):
    """Anything that is compared under a label."""

    @property
    def label(self) -> str:
        """Its name in tables."""


def refuse_doubles(methods: Sequence[HasLabel]) -> None:
    """Refuse two methods of the same label."""
    labels = [method.label for method in methods]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise InputError(
                f"method {label} is given twice; give a copy a label of its own: mp.Method('copy', …)."
            )


def _as_method(entry: object) -> Method:
    if isinstance(entry, Method):
        return entry
    if isinstance(entry, str) and entry in METHODS:
        return METHODS[entry]
    if isinstance(entry, str) and (":" in entry or entry in installed_algorithms()):
        return replace(_method(find_algorithm(entry)), label=entry)
    if isinstance(entry, type) and issubclass(entry, Algorithm):
        known = METHODS.get(getattr(entry, "name", ""))
        own = getattr(entry, "name", entry.__name__) if known is None else entry.__name__
        return known if known is not None and known.algorithm is entry else Method(own, entry)
    raise InputError(f"there is no method {brief(entry)}; there are {', '.join(METHODS)}, or pass an mp.Method.")
