"""Certificates: how sure a pick is, in statements that hold whenever one looks.

Two kinds, and a certificate always says which it is. A *stream* certificate assumes nothing of the stream: the only
chance is that of the coins. A *population* certificate is for items that are drawn independently from one
distribution. docs/certificates.md has the proofs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from modelpicker.errors import InputError, brief
from modelpicker.guarantees.evidence import (
    POPULATION,
    ROUNDS,
    STEPS,
    STREAM,
    Evidence,
    Room,
    Tables,
    make_tables,
    refuted,
    weigh_pair,
)

Kind: TypeAlias = Literal["stream", "population"]
KINDS: dict[str, int] = {"stream": STREAM, "population": POPULATION}

# What of the error is kept for statements after models have joined or left; each such time gets a share of it.
RESERVED = 0.05
# For more models than this, a few numbers for every pair would take too much memory.
MOST_MODELS = 256
# Of no stream is it said that it can be told apart more finely than this before it stops.
FINEST = 0.001


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known of a model, with what confidence."""

    model: int | str
    gap: float
    """By how much at most the best model may be better, as a fraction of accuracy; 1.0 if nothing can be said."""
    confidence: float
    kind: Kind
    rounds: int
    """How many items had been seen."""
    items: int | None
    """How many items the gap is, where it is one of the stream."""
    sentence: str
    """All of it, in plain words."""

    def document(self) -> dict[str, Any]:
        """The certificate for programs."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Certified:
    """When to stop: as soon as the recommended model has a certificate of at most this gap.

    Who stops says something of the items that were not seen, so the certificate is one of a population, unless a
    stream is asked for: then it speaks of the items until then, and of no others. Never before 1/gap rounds: of the
    first few items everything may be known, and little learned.

    Args:
        gap: by how much the best model may be better, as a fraction of accuracy.
        confidence: of the certificate.
        kind: of the certificate: "population" or "stream".

    >>> Certified(gap=0.01)
    Certified(gap=0.01, confidence=0.95, kind='population')
    """

    gap: float = 0.01
    confidence: float = 0.95
    kind: Kind = "population"

    def __post_init__(self) -> None:
        given: object = self.gap
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0.0 <= given < 1.0:
            raise InputError(
                f"gap={brief(given)}: pass a fraction of accuracy from 0 up and below 1, such as 0.01."
            )
        check_confidence(self.confidence)
        check_kind(self.kind)

    @property
    def least_rounds(self) -> int:
        """How many rounds must have been seen."""
        return math.ceil(1.0 / max(self.gap, FINEST))

    def met_by(self, certificate: Certificate) -> bool:
        """Whether a certificate is good enough."""
        same = certificate.kind == self.kind and certificate.confidence >= self.confidence
        return same and certificate.gap <= self.gap and certificate.rounds >= self.least_rounds

    def document(self) -> dict[str, Any]:
        """The rule in a form that JSON can hold."""
        return {"gap": self.gap, "confidence": self.confidence, "kind": self.kind}


def check_confidence(confidence: object) -> float:
    """A confidence that makes sense."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.0 < confidence < 1.0:
        raise InputError(f"confidence={brief(confidence)}: pass a number above 0 and below 1, such as 0.95.")
    return float(confidence)


def check_kind(kind: object) -> int:
    """The number of a kind."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"kind={brief(kind)} is not known; pass one of {', '.join(map(repr, KINDS))}.")
    return KINDS[kind]


@cache
def tables() -> Tables:
    """The tables, made once."""
    return make_tables()


@cache
def listed_tables() -> Tables:
    """The tables for interpreted kernels, which index lists faster."""
    arrays: list[Any] = list(tables())
    views: list[Any] = [table.tolist() if table.ndim == 1 else memoryview(table) for table in arrays]
    return Tables(*views)


def bar_for(models: int, confidence: float, kind: int, changes: int = 0) -> float:
    """The logarithm of the wealth that refutes a pair.

    The error is shared out evenly: among all ordered pairs for a stream, whose best model may change; among the
    pairs with the best model for a population. Statements after a change of the models, which may make another
    model the best, share what is reserved for them: the n-th change gets 6 / (π n)² of it.
    """
    pairs = models * (models - 1) if kind == STREAM else models - 1
    share = 1.0 - RESERVED if changes == 0 else RESERVED * 6.0 / (math.pi * changes) ** 2
    return math.log(pairs) - math.log(share) - math.log(1.0 - confidence)


def certify(
    evidence: Evidence | None,
    room: Room,
    models: Sequence[int | str],
    best: int,
    confidence: float,
    kind: Kind,
    changes: int = 0,
) -> Certificate:
    """What the evidence says of the model in place `best`; without evidence, that nothing can be said."""
    number = check_kind(kind)
    check_confidence(confidence)
    rounds = 0 if evidence is None else int(evidence.seen[ROUNDS])
    steps = rounds if number == STREAM else STEPS
    found = steps
    if evidence is not None and rounds:
        bar = bar_for(len(models), confidence, number, changes)
        found = _smallest_gap(evidence, room, best, number, bar, steps)
    gap = found / steps if steps else 1.0
    items = found if number == STREAM and gap < 1.0 else None
    late = evidence is not None and bool((evidence.since > 0).any())
    sentence = _sentence(str(models[best]), gap, items, rounds, confidence, number, late)
    return Certificate(models[best], gap, confidence, kind, rounds, items, sentence)


def _smallest_gap(evidence: Evidence, room: Room, best: int, kind: int, bar: float, steps: int) -> int:
    """The smallest gap, in items or steps of accuracy, by which no model can be better."""
    numbers, weights = listed_tables(), room.weights
    found = 0
    for other in range(len(evidence.since)):
        if other == best:
            continue
        worst = weigh_pair(evidence, numbers, weights, kind, best, other)

        def excluded(gap: int, other: int = other, worst: float = worst) -> bool:
            value = gap + 1.0 if kind == STREAM else gap / STEPS
            return refuted(evidence, numbers, weights, kind, best, other, worst, value, bar)

        if not excluded(found):
            low, found = found, steps
            while found - low > 1:
                middle = (low + found) // 2
                low, found = (low, middle) if excluded(middle) else (middle, found)
    return found


def _percent(share: float) -> str:
    """A share in per cent, with as many digits as it takes."""
    return f"{100.0 * share:.3g}%"


def _sentence(
    model: str, gap: float, items: int | None, rounds: int, confidence: float, kind: int, late: bool
) -> str:
    """The statement, claiming neither more nor less than what is proved."""
    sure = f"with confidence {_percent(confidence)}, whenever you look"
    if gap >= 1.0:
        return f"Nothing can be said of {model} yet, {sure}."
    if kind == POPULATION:
        since = ", and a model that joined late is judged by the items since" if late else ""
        return (
            f"The accuracy of {model} is within {_percent(gap)} of the best model's, {sure}, "
            f"if items are drawn independently from one distribution{since}."
        )
    since = ", counting for a model that joined late the items since" if late else ""
    more = f" by more than {items:,} ({_percent(gap)} in accuracy)" if items else ""
    seen = f"On the {rounds:,} items seen so far" if rounds != 1 else "On the one item seen so far"
    return f"{seen}, no model makes fewer mistakes than {model}{more}, {sure}, whatever the stream{since}."
