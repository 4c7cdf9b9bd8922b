"""Certificates: how certain a pick is, in statements that hold whenever you look.

Three kinds, and a certificate always says which it is. A *stream* certificate assumes nothing about the stream: the
only chance is that of the coins. A *population* certificate is for items that are drawn independently from one
distribution. A *pool* certificate is about exactly the items of a pool. The proofs are in
docs/how-it-works/certificates.md and docs/how-it-works/pools.md.
"""

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias

from modelpicker.certificates.evidence import POPULATION, STREAM, Tables, make_tables
from modelpicker.certificates.stop_rule import CONFIDENCE, GAP, KIND
from modelpicker.certificates.wording import Wording, how_certain, items_of
from modelpicker.losses import ACCURACY, ACCURATE, Loss

CertificateKind: TypeAlias = Literal["stream", "population", "pool"]
KINDS: dict[str, int] = {"stream": STREAM, "population": POPULATION}

# What of the error is kept for statements after models have joined or left; each such time gets a share of it.
RESERVED = 0.05
# The n-th change has 6 / (π n)² of that; one beyond these has half of it, and rows that begin late share the rest.
MANY_CHANGES = 100
# Of no stream is it said that it can be told apart more finely than this before it stops.
FINEST = 0.001


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known about a model, with what confidence.

    >>> import modelpicker as mp
    >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
    >>> for item in pool.ask(3):
    ...     pool.tell(item, "dog")
    >>> certificate = pool.certificate()
    >>> certificate.gap, certificate.kind
    (0.34, 'pool')
    """

    model: int | str
    gap: float
    """By how much at most the best model may be better, as a fraction of accuracy; 1.0 if nothing is proven."""
    confidence: float
    kind: CertificateKind
    rounds: int
    """How many items had been seen; how many since, where a model joined late."""
    items: int | None
    """How many items the gap is, where it is one of the stream."""
    sentence: str = field(compare=False)
    """All of it, in plain words: two lines, or "Not proven yet."; that of a pick also says whether you can stop."""
    loss: str = ACCURACY
    """What the gap is a share of: "accuracy", or the name of another loss."""
    label_noise: float = 0.0
    """The statement holds if each label is wrong with at most this probability."""
    certain: bool = False
    """Whether the statement holds without any chance of error; only that of a pool can."""

    def document(self) -> dict[str, Any]:
        """The certificate for programs.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> sorted(pool.certificate().document())[:3]
        ['certain', 'confidence', 'gap']
        """
        return {name: getattr(self, name) for name in self.__slots__}

    def _repr_html_(self) -> str:
        from modelpicker.html_pages import html_card, safe

        nothing = self.gap >= 1.0
        said = "Not proven yet" if nothing else f"Proven ({how_certain(self.confidence, self.certain)})"
        return html_card(said, f'<p class="sure {"open" if nothing else "proved"}">{safe(self.sentence)}</p>')


@dataclass(frozen=True, slots=True)
class Certified:
    """When to stop: as soon as the recommended model has a certificate of at most this gap.

    If you stop early, you also decide about items that were not seen. So the certificate is by default one of a
    population. With kind "stream" it speaks only of the items seen until then. A stream is never stopped before
    1/gap rounds: the first few items may all be known, and still say little about the rest.

    Args:
        gap: by how much the best model may be better, as a fraction of accuracy.
        confidence: of the certificate.
        kind: of the certificate: "population" or "stream".

    >>> Certified(gap=0.01)
    Certified(gap=0.01, confidence=0.95, kind='population')
    """

    gap: float = GAP.default
    confidence: float = CONFIDENCE.default
    kind: CertificateKind = KIND.default

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", GAP.check(self.gap))
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
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


def check_confidence(confidence: Any) -> float:
    """A confidence that is valid."""
    return float(CONFIDENCE.check(confidence))


def check_kind(kind: object) -> int:
    """The number of a kind."""
    return KINDS[KIND.check(kind)]


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
    """The logarithm of the wealth that refutes a pair of models.

    The error is shared out evenly: among all ordered pairs for a stream, whose best model may change; among the
    pairs with the best model for a population. After a change of the models, which may make another one the best
    and was perhaps made by looking, it is all ordered pairs of all that ever took part, and what is shared is the
    error that is reserved for such times: the n-th change has 6 / (π n)² of it.
    """
    pairs = models * (models - 1) if kind == STREAM or changes else models - 1
    share = 1.0 - RESERVED if changes == 0 else RESERVED * share_of(changes)
    if changes > MANY_CHANGES:
        share /= 2.0
    return math.log(pairs) - math.log(share) - math.log(1.0 - confidence)


def share_of(number: int) -> float:
    """The share of the n-th of endlessly many: all together have 1."""
    return 6.0 / (math.pi * number) ** 2


def late_bar_for(models: int, confidence: float, kind: int, changes: int = 0) -> float:
    """The same for the first row that begins late, after that many changes; the n-th has 1/n² of its share.

    Which model it is for is known when a row begins. So for a stream there are as many pairs as other models, and
    for a population there is the pair with the best model alone, unless a change may make another one the best.
    """
    pairs = 1 if kind == POPULATION and changes == 0 else models - 1
    left = 1.0 - math.fsum(share_of(number) for number in range(1, MANY_CHANGES + 1))
    share = RESERVED * left / 2.0 * share_of(changes + 1) * share_of(1)
    return math.log(pairs) - math.log(share) - math.log(1.0 - confidence)


def state(
    model: int | str,
    gap: float,
    confidence: float,
    kind: CertificateKind,
    seen: int,
    rounds: int,
    changes: int,
    loss: Loss = ACCURATE,
    label_noise: float = 0.0,
) -> Certificate:
    """A certificate of a stream or a population: of `seen` items, every comparison rests on `rounds` or more."""
    late = rounds < seen
    whole = loss.whole and kind == "stream" and gap < 1.0 and not late
    items = round(gap * seen) if whole else None
    where = items_of(seen, "the") + " seen so far"
    if kind == "population":
        where = "all items like these, if items are drawn independently from one distribution"
    if late:
        where += "; a model that joined late is compared on the items since then"
    best = "the best model that takes part now" if changes else "the best model"
    said = Wording(str(model), loss, confidence, False, where, best, label_noise)
    return Certificate(model, gap, confidence, kind, rounds, items, said.lines(gap), loss.name, label_noise)


def state_pool(
    model: int | str,
    worse: float,
    items: int,
    confidence: float,
    certain: bool,
    loss: Loss = ACCURATE,
    label_noise: float = 0.0,
) -> Certificate:
    """A certificate of a pool: another model answers at most `worse` more of its items right."""
    gap = min(1.0, worse * loss.unit / items)
    said = Wording(str(model), loss, confidence, certain, items_of(items), noise=label_noise)
    whole = int(worse) if loss.whole and gap < 1.0 else None
    certain = certain and gap < 1.0
    lines = said.lines(gap)
    return Certificate(model, gap, confidence, "pool", items, whole, lines, loss.name, label_noise, certain)
