"""The kernels of evidence: interpreted for little, so that nobody waits for Numba, and compiled for much."""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.certificates import evidence_arrays
from modelpicker.certificates.certificate import listed_tables, tables
from modelpicker.certificates.evidence import Evidence, Room, challenger, gather, largest_gap, new_room, no_evidence
from modelpicker.certificates.leader_rows import ROW_PARTS, LeaderRows, new_rows
from modelpicker.kernels.compiler import CompiledKernel, Function, with_parts
from modelpicker.kernels.primitives import Codes, Floats, Grades, Ints

AnyEvidence: TypeAlias = Evidence | LeaderRows

# Steps of an interpreted kernel that take as long as a call of compiled code, as loading it, as loading Numba.
FEW, SOME, MANY = 2_000, 200_000, 5_000_000


class Entries(NamedTuple):
    """What was written down, an entry a row."""

    rows: npt.NDArray[Any]
    numbers: Ints
    labels: Codes
    probabilities: Floats
    kinds: npt.NDArray[np.int32]
    graded: Grades  # losses that labels from GRADED down stand for, a row each


def no_entries(models: int, room: int) -> Entries:
    """Room for some entries."""
    return Entries(
        rows=np.empty((room, models), dtype=np.int32),
        numbers=np.empty(room, dtype=np.int64),
        labels=np.empty(room, dtype=np.int32),
        probabilities=np.empty(room),
        kinds=np.empty(room, dtype=np.int32),
        graded=np.empty((room, models), dtype=np.float32),
    )


def steps_of(models: int) -> int:
    """Steps that an entry takes, by and large."""
    return models * (models + 10) // 3


def each(change: Callable[[npt.NDArray[Any]], Any], arrays: Any) -> Any:
    """The same tuple, with each of its arrays changed."""
    return type(arrays)(*map(change, arrays))


def viewed(arrays: Any) -> Any:
    """Views that Python indexes faster than arrays."""
    return each(lambda array: memoryview(array.data), arrays)


def listed_room(models: int) -> Room:
    """Room for interpreted kernels."""
    room: Room = each(lambda array: array.tolist(), new_room(models))
    return room


class EvidenceKernels:
    """Takes entries into evidence of all pairs, or of rows, and reads gaps from it."""

    def __init__(self, parts: Mapping[Function, Function], blank: Callable[[int], Any], whose: str = "") -> None:
        self._blank = blank
        self.gather = CompiledKernel(gather, parts, f"the evidence for certificates{whose}")
        self.read = CompiledKernel(largest_gap, parts, f"certificates{whose}")
        self.challenger = with_parts(challenger, parts)
        self._gather = with_parts(gather, parts)
        self._interpreted = 0

    def take_in(self, evidence: AnyEvidence, entries: Entries) -> None:
        """Take in entries, changing the evidence in place."""
        models = entries.rows.shape[1]
        rows = len(evidence.leaders) if isinstance(evidence, LeaderRows) else 0
        steps = len(entries.kinds) * (models * (rows + 1) if rows else steps_of(models))
        self._interpreted += steps
        patience = SOME if "numba" in sys.modules else MANY
        waited = self._interpreted > patience and not self.gather.on_its_way
        if steps > FEW and (self.gather.ready or waited):
            self.gather(evidence, tables(), new_room(models), *entries)
        else:
            self._gather(viewed(evidence), listed_tables(), listed_room(models), *viewed(entries))

    def gap(self, evidence: AnyEvidence, kind: int, best: int, bar: float) -> float:
        """By how much another model may be better than one of them."""
        if self.read.ready:
            return float(self.read(evidence, tables(), new_room(len(evidence.since)), kind, best, bar))
        return evidence_arrays.largest_gap(evidence, kind, best, bar)

    def warm_up(self) -> None:
        """Have the kernels compiled, so that nobody waits for them later."""
        evidence = self._blank(2)
        self.gather(evidence, tables(), new_room(2), *no_entries(2, 0))
        self.read(evidence, tables(), new_room(2), 0, 0, 0.0)


@cache
def evidence_kernels() -> EvidenceKernels:
    """The one set of kernels for all pairs that this process shares."""
    return EvidenceKernels({}, no_evidence)


@cache
def row_kernels() -> EvidenceKernels:
    """The one set of kernels for rows that this process shares."""
    return EvidenceKernels(ROW_PARTS, new_rows, " of many models")
