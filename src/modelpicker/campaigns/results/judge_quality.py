"""How good a judge was, against the labels that are known.

Labels are bought for items on which models differ, and first for those that tell most. They are the hard ones, and
no random sample of all items. So the numbers are about the labels that are known. The intervals say how far they
may
be off for other items of the same kind, as if each was as likely as the next. They are no proof, and no statement
about the models depends on them.

Cohen's kappa has no good standard error for few labels: with 30 labels and a judge that is right on 95 %, an
interval by that error holds in 78 % of the cases. Here the ends are those of the agreement, with the agreement by
chance as it was found, which holds in 94 % (benchmarks.judge_intervals).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from modelpicker.encoding import ClassName

CONFIDENCE = 0.95
# The normal quantile of that confidence, on both sides.
QUANTILE = 1.959963984540054

JudgedLabel: TypeAlias = tuple[ClassName | None, ClassName]
"""A label, None for a class that no model says; and what the judge says about the same item."""


@dataclass(frozen=True, slots=True)
class JudgedClass:
    """How often the judge agreed with the labels of one class.

    >>> import modelpicker as mp
    >>> judged = mp.PoolPicker([["a", "b"]] * 8, judge=["a"] * 8, tolerance=0.2)
    >>> judged.tell(0, "a")
    >>> judged.labels_used
    1
    """

    label: ClassName | None
    """None: a class that no model says."""
    labels: int
    """How many labels of this class there are about which the judge says something."""
    agreed: int
    low: float
    """The share on which they agree is not below this, by an interval of 95 %."""
    high: float


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """How good a judge was, against the labels that are known: mostly hard items, as labels are bought for those.

    >>> JudgeQuality.measure([("spam", "spam")] * 41 + [("ham", "spam")] * 11, items=900, silent=2).agreed
    41
    """

    items: int
    """Of how many items the judge says a class that a model says."""
    labels: int
    """How many of these have a label."""
    agreed: int
    """On how many of these labels the judge is right."""
    silent: int
    """How many labels there are of items about which the judge says nothing."""
    low: float
    """The share on which they agree is not below this, by an interval of 95 %."""
    high: float
    kappa: float | None
    """Cohen's kappa; None where it is undefined: no label, or all of one class, and the judge says that one."""
    kappa_low: float | None
    kappa_high: float | None
    classes: tuple[JudgedClass, ...] = ()
    """By the class of the label, the most frequent first."""

    @classmethod
    def measure(cls, pairs: Iterable[JudgedLabel], *, items: int, silent: int) -> "JudgeQuality":
        """The quality by labels and what the judge says about their items."""
        both = list(pairs)
        agreed = sum(label == said for label, said in both)
        low, high = wilson(agreed, len(both))
        chance = _chance(both)
        kappa, kappa_low, kappa_high = (
            None if chance >= 1.0 else max(-1.0, (share - chance) / (1.0 - chance))
            for share in (agreed / max(1, len(both)), low, high)
        )
        return cls(
            items, len(both), agreed, silent, low, high, kappa, kappa_low, kappa_high, tuple(_by_class(both))
        )

    @property
    def share(self) -> float | None:
        """The share of labels on which the judge agrees; None if there are none."""
        return self.agreed / self.labels if self.labels else None

    @property
    def sentence(self) -> str:
        """All of it in one sentence, for people."""
        if not self.items:
            return "The judge says nothing about these items that a model says."
        if self.share is None:
            return "No label is known yet of an item about which the judge says something."
        ends = f"{percent(self.low)} to {percent(self.high)}%"
        kappa = "" if self.kappa is None else f", κ {self.kappa:.2f}"
        told = f"{self.agreed:,} of {self.labels:,} label{'' if self.labels == 1 else 's'}"
        return f"The judge agreed with {told} ({percent(self.share)}%, 95% interval {ends}){kappa}."

    def document(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        return {
            **asdict(self),
            "classes": [asdict(one) for one in self.classes],
            "share": self.share,
            "confidence": CONFIDENCE,
            "sentence": self.sentence,
        }


def wilson(successes: int, total: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share; everything is possible where nothing was seen.

    >>> [round(end, 4) for end in wilson(41, 52)]
    [0.6597, 0.8776]
    """
    if not total:
        return 0.0, 1.0
    square = QUANTILE**2
    middle = (successes + square / 2) / (total + square)
    half = QUANTILE / (total + square) * math.sqrt(successes * (total - successes) / total + square / 4)
    return (0.0 if not successes else middle - half), (1.0 if successes == total else middle + half)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f}"


def _chance(both: Sequence[JudgedLabel]) -> float:
    """The share on which label and judge would agree by chance; 1 if there are no labels."""
    if not both:
        return 1.0
    labels, said = Counter(label for label, _ in both), Counter(judged for _, judged in both)
    return sum(number * labels[judged] for judged, number in said.items()) / len(both) ** 2


def _by_class(both: Sequence[JudgedLabel]) -> Iterable[JudgedClass]:
    labels = Counter(label for label, _ in both)
    right: Counter[ClassName | None] = Counter(label for label, said in both if label == said)
    for label, number in labels.most_common():
        yield JudgedClass(label, number, right[label], *wilson(right[label], number))
