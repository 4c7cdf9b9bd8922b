"""A picker's evidence: noted round by round, taken in when it is asked for, in blocks or by whole streams.

Evidence decides nothing, so single rounds are only written down, and the kernels that take them in are called for
many at once. What is taken in never changes under anybody's hands: who keeps `kept` can put it back.
"""

import base64
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.compiler import CompiledKernel
from modelpicker.algorithms.kernels import SKIPPED, Codes, Floats, Ints
from modelpicker.algorithms.options import ModelName
from modelpicker.errors import StateError
from modelpicker.guarantees.certificate import (
    KINDS,
    MOST_MODELS,
    Certificate,
    Certified,
    Kind,
    bar_for,
    certify,
    check_confidence,
    check_kind,
    listed_tables,
    tables,
)
from modelpicker.guarantees.evidence import (
    ANSWERED,
    ASKED,
    CLOSED,
    PASSED,
    ROUNDS,
    TOLD,
    Evidence,
    Room,
    challenger,
    gather,
    new_room,
    no_evidence,
    wanted,
)

# Entries that are written down before they are taken in.
BLOCK = 256
# Steps of an interpreted kernel that take about as long as it takes to call compiled code, and to load Numba.
FEW = 2_000
MANY = 20_000_000


class Entries(NamedTuple):
    """What was written down, an entry a row."""

    rows: Codes
    numbers: Ints
    labels: Codes
    probabilities: Floats
    kinds: npt.NDArray[np.int32]


class Kept(NamedTuple):
    """Evidence that was taken in, and entries that were not yet."""

    evidence: Evidence | None
    entries: Entries
    written: int


def _no_entries(models: int) -> Entries:
    return Entries(
        rows=np.empty((BLOCK, models), dtype=np.int32),
        numbers=np.empty(BLOCK, dtype=np.int64),
        labels=np.empty(BLOCK, dtype=np.int32),
        probabilities=np.empty(BLOCK),
        kinds=np.empty(BLOCK, dtype=np.int32),
    )


class Gatherer:
    """`gather`, interpreted for little and compiled for much."""

    def __init__(self) -> None:
        self.compiled = CompiledKernel(gather, {})
        self._interpreted = 0

    def __call__(self, evidence: Evidence, entries: Entries) -> None:
        """Take in entries, changing the evidence in place."""
        models = entries.rows.shape[1]
        steps = len(entries.kinds) * models * (models + 10) // 3
        self._interpreted += steps
        if (self.compiled.ready and steps > FEW) or self._interpreted > MANY:
            self.compiled(evidence, tables(), new_room(models), *entries)
        else:
            gather(_viewed(evidence), listed_tables(), listed_room(models), *_viewed(entries))

    def warm_up(self) -> None:
        """Have the kernel compiled, so that nobody waits for it later."""
        self.compiled(no_evidence(2), tables(), new_room(2), *_each(lambda column: column[:0], _no_entries(2)))


@cache
def gatherer() -> Gatherer:
    """The one gatherer."""
    return Gatherer()


def _each(change: Callable[[npt.NDArray[Any]], Any], arrays: Any) -> Any:
    """The same tuple, with each of its arrays changed."""
    return type(arrays)(*map(change, arrays))


def _viewed(arrays: Any) -> Any:
    """Views that Python indexes faster than arrays."""
    return _each(lambda array: memoryview(array.data), arrays)


def listed_room(models: int) -> Room:
    """Room for interpreted kernels."""
    room: Room = _each(lambda array: array.tolist(), new_room(models))
    return room


class Witness:
    """What a picker has seen of every two of its models."""

    def __init__(self, models: int, since: Ints | None = None) -> None:
        self.models = models
        self.watches = models <= MOST_MODELS
        self._since = since
        self._rival = 0  # who stood in the way of a certificate when last asked
        self.kept = Kept(None, _no_entries(models if self.watches else 1), 0)

    def saw(self, codes: list[int], number: int, probability: float, query: bool, closed: bool = False) -> None:
        """Note a round; `closed` if it was clear before its row was known that it would not be queried."""
        self._write(codes, number, SKIPPED, probability, CLOSED if closed else ASKED if query else PASSED)

    def told(self, codes: list[int], number: int, label: int, probability: float) -> None:
        """Note the label of a round that was queried."""
        self._write(codes, number, label, probability, TOLD)

    def _write(self, codes: list[int], number: int, label: int, probability: float, kind: int) -> None:
        if not self.watches:
            return
        if self.kept.written == BLOCK:
            self.take_in()
        evidence, entries, place = self.kept
        entries.rows[place] = codes
        entries.numbers[place] = number
        entries.labels[place] = label
        entries.probabilities[place] = probability
        entries.kinds[place] = kind
        self.kept = Kept(evidence, entries, place + 1)

    def take_in(self) -> Evidence:
        """The evidence with all that was written down; what was kept before is left as it was."""
        evidence, entries, count = self.kept
        if evidence is not None and not count:
            return evidence
        grown: Evidence = self._start() if evidence is None else _each(np.copy, evidence)
        if count:
            gatherer()(grown, _each(lambda column: column[:count], entries))
        self.kept = Kept(grown, _no_entries(self.models), 0)
        return grown

    def _start(self) -> Evidence:
        return no_evidence(self.models, None if self._since is None else self._since.copy())

    def own(self) -> None:
        """Make a copy that `saw_stream` may change in place, whatever others keep."""
        if self.watches:
            self.kept = self.kept._replace(evidence=_each(np.copy, self.take_in()))

    def saw_stream(
        self,
        rows: npt.NDArray[Any],
        first: int,
        labels: Codes,
        queried: npt.NDArray[np.bool_],
        probability: Floats,
        closed: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Take in rounds from `first` on, each with its label or SKIPPED, in place: call `own` before."""
        if not self.watches or not len(rows):
            return
        kinds = np.where(queried, np.where(labels != SKIPPED, ANSWERED, ASKED), PASSED)
        if closed is not None:
            kinds[closed] = CLOSED
        gatherer()(
            self.take_in(),
            Entries(
                rows=np.ascontiguousarray(rows, dtype=np.int32),
                numbers=np.arange(first, first + len(rows)),
                labels=np.ascontiguousarray(labels, dtype=np.int32),
                probabilities=probability,
                kinds=kinds.astype(np.int32),
            ),
        )

    def certificate(
        self, models: tuple[ModelName, ...], best: int, confidence: float, kind: Kind, changes: int = 0
    ) -> Certificate:
        """What is known of one of the models."""
        check_confidence(confidence)
        check_kind(kind)
        if not self.watches:
            reason = f"Nothing can be said of {models[best]}: certificates are for at most {MOST_MODELS} models."
            return Certificate(models[best], 1.0, confidence, kind, 0, None, reason)
        evidence = _viewed_for_reading(self.take_in())
        return certify(evidence, listed_room(self.models), models, best, confidence, kind, changes)

    def meets(self, best: int, rule: Certified, changes: int = 0) -> bool:
        """Whether one of the models is certified as a rule wants it; quick to say no."""
        if not self.watches:
            return False
        evidence = self.take_in()
        rounds = int(evidence.seen[ROUNDS])
        if rounds < rule.least_rounds:
            return False
        kind = KINDS[rule.kind]
        bar = bar_for(self.models, rule.confidence, kind, changes)
        room, gap = listed_room(self.models), wanted(kind, rule.gap, rounds)
        found = challenger(_viewed_for_reading(evidence), listed_tables(), room, kind, best, gap, bar, self._rival)
        self._rival = max(0, found)
        return found < 0

    def document(self) -> str | None:
        """The evidence as text; None where none is kept."""
        if not self.watches:
            return None
        packed = zlib.compress(b"".join(array.tobytes() for array in self._portable(self.take_in())), 1)
        return base64.b85encode(packed).decode("ascii")

    @staticmethod
    def _portable(evidence: Evidence) -> list[npt.NDArray[Any]]:
        return [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in evidence]

    @classmethod
    def load(cls, models: int, text: object) -> Self:
        """What `document` described; an error if it cannot be."""
        made = cls(models)
        if not made.watches:
            return made
        evidence = made.take_in()
        try:
            raw = zlib.decompress(base64.b85decode(str(text)))
            if len(raw) != sum(array.nbytes for array in evidence):
                raise ValueError(f"it has {len(raw)} bytes")
        except (ValueError, zlib.error) as error:
            raise StateError(f"the evidence of this state is damaged: {error}; save it anew.") from error
        start = 0
        for array in evidence:
            stored = np.frombuffer(raw, array.dtype.newbyteorder("<"), array.size, start)
            array[...] = stored.reshape(array.shape)
            start += array.nbytes
        if not np.isfinite(evidence.places).all():
            raise StateError("the evidence of this state is damaged: it is not finite; save it anew.")
        made._since = evidence.since
        return made


def _viewed_for_reading(evidence: Evidence) -> Any:
    """Evidence for interpreted kernels; `since` stays an array."""
    views = _viewed(evidence)
    return views._replace(since=evidence.since)
