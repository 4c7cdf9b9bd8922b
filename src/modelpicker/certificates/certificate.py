"""Certificates: how sure a pick is, in statements that hold whenever one looks.

Three kinds, and a certificate always says which it is. A *stream* certificate assumes nothing of the stream: the
only chance is that of the coins. A *population* certificate is for items that are drawn independently from one
distribution. A *pool* certificate speaks of exactly the items of a pool. The proofs are in
docs/how-it-works/certificates.md and docs/how-it-works/pools.md.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Any, Literal, TypeAlias

from modelpicker.certificates.evidence import POPULATION, STREAM, Tables, make_tables
from modelpicker.certificates.stop_rule import CONFIDENCE, GAP, KIND
from modelpicker.losses import ACCURACY, ACCURATE, BALANCED, GRADES, PREFERENCE, Loss

CertificateKind: TypeAlias = Literal["stream", "population", "pool"]
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
    kind: CertificateKind
    rounds: int
    """How many items had been seen; how many since, where a model joined late."""
    items: int | None
    """How many items the gap is, where it is one of the stream."""
    sentence: str
    """All of it, in plain words."""
    loss: str = ACCURACY
    """What the gap is a share of: "accuracy", or the name of another loss."""
    label_noise: float = 0.0
    """The statement holds if each label is wrong with at most this probability."""

    def document(self) -> dict[str, Any]:
        """The certificate for programs."""
        return {name: getattr(self, name) for name in self.__slots__}

    def _repr_html_(self) -> str:
        from modelpicker.html_pages import html_card, safe

        nothing = self.gap >= 1.0
        said = "Nothing is proved yet." if nothing else f"Proved, with confidence {100 * self.confidence:g}%"
        return html_card(said, f'<p class="sure {"open" if nothing else "proved"}">{safe(self.sentence)}</p>')


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
    """A confidence that makes sense."""
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
    share = 1.0 - RESERVED if changes == 0 else RESERVED * 6.0 / (math.pi * changes) ** 2
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
    """A certificate in words: of `seen` items, `rounds` of which at least every comparison rests on."""
    late = rounds < seen
    whole = loss.whole and kind == "stream" and gap < 1.0 and not late
    items = round(gap * seen) if whole else None
    if loss.name == ACCURACY:
        sentence = _sentence(str(model), gap, items, seen, confidence, kind, late, changes)
    else:
        sentence = _priced_sentence(str(model), gap, seen, confidence, kind, late, changes, loss)
    if gap < 1.0:
        sentence += if_few_are_wrong(label_noise)
    return Certificate(model, gap, confidence, kind, rounds, items, sentence, loss.name, label_noise)


def _priced_sentence(
    model: str,
    gap: float,
    seen: int,
    confidence: float,
    kind: CertificateKind,
    late: bool,
    changes: int,
    loss: Loss,
) -> str:
    """The statement about a loss other than accuracy."""
    if gap >= 1.0:
        return f"Nothing is proven about {model} yet."
    sure = f"with confidence {100.0 * confidence:.12g}%, whenever you look"
    better = _nobody_is_better(model, gap, loss)
    now = ", of those that take part now" if changes else ""
    if kind == "population":
        since = ", a model that joined late judged by the items since" if late else ""
        said = better[:1].upper() + better[1:]
        return f"{said}{now}, {sure}, if items are drawn independently from one distribution{since}."
    where = f"On the {seen:,} items seen so far" if seen != 1 else "On the one item seen so far"
    where += ", or those since a model joined late," if late else ","
    return f"{where} {better}{now}, {sure}, whatever the stream."


def state_pool(
    model: int | str,
    worse: float,
    items: int,
    confidence: float,
    certain: bool,
    loss: Loss = ACCURATE,
    label_noise: float = 0.0,
) -> Certificate:
    """A certificate of a pool in words: at most so many of its items more are answered right by another model."""
    gap = min(1.0, worse * loss.unit / items)
    where = f"On these {items:,} items" if items != 1 else "On this one item"
    sure = "certainly" if certain else f"with confidence {100.0 * confidence:.12g}%, whenever you look"
    sentence = f"Nothing is proven about {model} yet."
    if gap < 1.0:
        better = _nobody_is_better(str(model), gap, loss)
        sentence = f"{where} {better}, {sure}.{if_few_are_wrong(label_noise)}"
    whole = int(worse) if loss.whole and gap < 1.0 else None
    return Certificate(model, gap, confidence, "pool", items, whole, sentence, loss.name, label_noise)


def if_few_are_wrong(label_noise: float) -> str:
    """How many labels may be wrong, as a sentence after that of a certificate; empty if none may be."""
    noise = f"{100.0 * label_noise:.12g}%"
    return f" This holds if each label is wrong with a probability of at most {noise}." if label_noise else ""


def _nobody_is_better(model: str, gap: float, loss: Loss) -> str:
    """No model is better by more than the gap; with what the worst mistake costs, if the gap is a share of it."""
    priced = not loss.plain and loss.name != BALANCED and gap > 0.0
    dearest = f" ({loss.dearest:g})" if priced else ""
    return no_model_is_better(model, gap, loss.name) + dearest


def no_model_is_better(model: str, gap: float, loss: str) -> str:
    """No model is better by more than the gap, in the words of the loss."""
    by = f"more than {rounded_up(gap)} " if gap else ""
    if loss == PREFERENCE:
        return f"no model beats {model} by {by}of the items" if gap else f"no model beats {model}"
    if loss == GRADES:
        return f"no model's mean grade is {by}higher than that of {model}"
    if loss == BALANCED:
        return f"no model's balanced accuracy, by the class shares given, is {by}higher than that of {model}"
    if loss != ACCURACY:
        more = f" by more than {rounded_up(gap)} of the cost of the worst mistake" if gap else ""
        return f"no model's mean cost per item is lower than that of {model}{more}"
    return f"no model is {by}more accurate than {model}"


def rounded_up(share: float) -> str:
    """A share in per cent, rounded up to three digits: what is claimed must not be less than what is proved."""
    exact = Decimal(repr(share)) * 100
    digits = 2 - exact.adjusted() if exact else 0
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
    return f"{rounded.normalize():f}%"


def _sentence(
    model: str,
    gap: float,
    items: int | None,
    seen: int,
    confidence: float,
    kind: CertificateKind,
    late: bool,
    changes: int,
) -> str:
    """The statement, claiming neither more nor less than what is proved."""
    if gap >= 1.0:
        return f"Nothing is proven about {model} yet."
    sure = f"with confidence {100.0 * confidence:.12g}%, whenever you look"
    if kind == "population":
        since = ", a model that joined late judged by the items since" if late else ""
        if not gap:
            now = " that takes part now" if changes else ""
            return (
                f"No model{now} is more accurate than {model}, {sure}, "
                f"if items are drawn independently from one distribution{since}."
            )
        best = "that of the best model that takes part now" if changes else "the best model's"
        return (
            f"The accuracy of {model} is within {rounded_up(gap)} of {best}, {sure}, "
            f"if items are drawn independently from one distribution{since}."
        )
    now = " that takes part now" if changes else ""
    where = f"On the {seen:,} items seen so far" if seen != 1 else "On the one item seen so far"
    where += ", or those since a model joined late," if late else ","
    if late:
        more = f" by more than {rounded_up(gap)} of them" if gap else ""
    else:
        more = f" by more than {items:,} ({rounded_up(gap)} in accuracy)" if items else ""
    return f"{where} no model{now} makes fewer mistakes than {model}{more}, {sure}, whatever the stream."
