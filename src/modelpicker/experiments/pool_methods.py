"""The methods that are compared on pools: each plays a file once, and is read off at every budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms import Algorithm, Race
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.pools.coda import MOST_CLASSES, Coda
from modelpicker.algorithms.pools.model_selector import ModelSelector
from modelpicker.algorithms.pools.peers import PoolRule, PoolRun, RandomDisagreements
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import run_pool
from modelpicker.errors import InputError, brief
from modelpicker.experiments.methods import METHODS, Method, as_methods, refuse_doubles
from modelpicker.experiments.playing import FIELDS, GAP, QUERIES, MarkRecord
from modelpicker.experiments.realizations import Realization


class PlayedPoolPicker:
    """Our own PoolPicker as a rule: who is the best, however close the next may be.

    Args:
        confidence: of the proof that it stops with.
        tolerance: how much less accurate than the best its pick may be.
    """

    name = "pool-picker"
    about = AlgorithmDescription(
        summary="Asks about the item most worth a label, and stops with a proof for this file.",
        when_to_use="Use it for files.",
    )

    def __init__(self, *, confidence: float = 0.95, tolerance: float = 0.0) -> None:
        self.confidence = confidence
        self.tolerance = tolerance
        self.pool([[0, 1]], 0)  # options that are not valid should show before the first run

    def pool(self, rows: object, seed: int) -> PoolPicker:
        """A new pool."""
        return PoolPicker(rows, seed=seed, confidence=self.confidence, tolerance=self.tolerance)

    def play(self, rows: npt.NDArray[Any], labels: npt.NDArray[Any], classes: int, most: int, seed: int) -> PoolRun:  # noqa: ARG002 (as every rule is called)
        """Play a file until it is certain, `most` labels are bought or nothing is left to ask."""
        pool = self.pool(rows, seed)
        before = pool.recommended_index
        trace = run_pool(pool, labels, budget=most)
        return PoolRun(trace.items, np.append(before, trace.recommended))


AnyPoolRule: TypeAlias = PoolRule | PlayedPoolPicker


@dataclass(frozen=True)
class PoolMethod:
    """What is compared on pools under one label; nothing is tuned.

    Args:
        label: the name in tables and figures; a method's coins depend on it.
        rule: the class of the rule.
        options: what it is made with.
    """

    label: str
    rule: type[AnyPoolRule]
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> AnyPoolRule:
        """The rule with its options."""
        try:
            return self.rule(**self.options)
        except TypeError as error:
            raise InputError(f"method {self.label} does not take its options: {error}.") from error

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """The same method with some options set."""
        return replace(self, options={**self.options, **options})

    def describe(self) -> dict[str, Any]:
        """What makes this method what it is, for the record, in the same words as a method of streams."""
        return {
            "label": self.label,
            "algorithm": f"{self.rule.__module__}.{self.rule.__qualname__}",
            "tuned": None,
            "fixed": None,
            "options": dict(self.options),
            "search": None,
            "grid": None,
        }


AnyMethod: TypeAlias = Method | PoolMethod


def _own(kind: type[AnyPoolRule]) -> PoolMethod:
    return PoolMethod(kind.name, kind)


POOL_METHODS: Mapping[str, AnyMethod] = MappingProxyType(
    {
        "pool-picker": _own(PlayedPoolPicker),
        "model-selector": _own(ModelSelector),
        "coda": _own(Coda),
        "race": METHODS["race"],
        "label-efficient": _own(RandomDisagreements),
    }
)
"""What can be compared on pools; Race plays the file in random order, and is tuned as on streams."""
NAMES = ", ".join(POOL_METHODS)


MethodChoice: TypeAlias = str | type[Algorithm] | AnyMethod


def methods_for(
    setting: str, methods: Sequence[MethodChoice] | None, classes: int
) -> tuple[tuple[AnyMethod, ...], list[str]]:
    """The methods that are compared in a setting, and remarks on what is left out."""
    if setting == "pool":
        return as_pool_methods(methods, classes)
    if isinstance(methods, Sequence) and not isinstance(methods, str):
        for entry in methods:
            named = entry.label if isinstance(entry, PoolMethod) else entry
            if isinstance(entry, PoolMethod) or (
                isinstance(entry, str) and entry in set(POOL_METHODS) - set(METHODS)
            ):
                raise InputError(
                    f"method {brief(named)} is for pools; pass setting='pool'. On streams there are "
                    f"{', '.join(METHODS)}."
                )
    return as_methods(cast("Sequence[str | type[Algorithm] | Method] | None", methods)), []


def as_pool_methods(
    methods: Sequence[MethodChoice] | None, classes: int
) -> tuple[tuple[AnyMethod, ...], list[str]]:
    """Methods by name or made to measure, all that suit where none are given; and remarks on what is left out."""
    if isinstance(methods, str | Method | PoolMethod) or not isinstance(methods, Sequence | None):
        raise InputError(f"methods {brief(methods)}: pass a list, such as ['pool-picker', 'race'].")
    remarks: list[str] = []
    if methods is None:
        methods = list(POOL_METHODS)
        if not _suits_coda(classes):
            methods.remove("coda")
            remarks.append(f"coda is left out: it compares 2 to {MOST_CLASSES} classes, and here are {classes:,}.")
    chosen = tuple(_as_pool_method(entry) for entry in methods)
    if not chosen:
        raise InputError(f"no methods to compare; on pools there are {NAMES}.")
    refuse_doubles(chosen)
    for method in chosen:
        if isinstance(method, PoolMethod) and isinstance(method.make(), Coda) and not _suits_coda(classes):
            raise InputError(
                f"method {method.label}: coda compares 2 to {MOST_CLASSES} classes, and here are {classes:,}; "
                "leave it out."
            )
    return chosen, remarks


def _suits_coda(classes: int) -> bool:
    return 2 <= classes <= MOST_CLASSES


def _as_pool_method(entry: object) -> AnyMethod:
    if isinstance(entry, PoolMethod):
        return entry
    if isinstance(entry, str) and entry in POOL_METHODS:
        return POOL_METHODS[entry]
    if entry is Race:
        return POOL_METHODS["race"]
    if isinstance(entry, Method) and issubclass(entry.algorithm, Race):
        return entry
    known = isinstance(entry, str) and entry in METHODS
    named = entry.label if isinstance(entry, Method) else entry
    if known or isinstance(entry, Method | type):
        raise InputError(f"method {brief(named)} is for streams; with setting='pool' there are {NAMES}.")
    raise InputError(f"there is no method {brief(named)}; with setting='pool' there are {NAMES}.")


class PoolPlayer:
    """A method of pools, ready to play one file after the other."""

    def __init__(self, method: PoolMethod, classes: int) -> None:
        self.rule = method.make()
        self.classes = classes

    def play(self, file: Realization, most: int, seed: int) -> PoolRun:
        """Play a file once."""
        return self.rule.play(file.rows, file.labels, self.classes, most, seed)


def read_off(run: PoolRun, file: Realization, budget: int) -> tuple[int, MarkRecord]:
    """The labels bought within a budget, and the record of one mark; a run that ended early stands by its pick."""
    bought = min(budget, len(run.items))
    record: MarkRecord = np.zeros((1, len(FIELDS)), dtype=np.int32)
    record[0, QUERIES] = bought
    record[0, GAP] = file.mistakes[run.recommended[bought]] - file.mistakes[file.best]
    return bought, record
