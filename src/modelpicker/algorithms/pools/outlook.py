"""What is to come in a pool, as far as can be told: plain data, and the same words everywhere."""

from dataclasses import dataclass
from typing import Any

# Chances are said no with more certainty than this: they come from some dozens of plays.
SUREST = 0.95


@dataclass(frozen=True, slots=True)
class LabelsToGo:
    """About how many more labels are needed until the pick is certified: an estimate, not a promise.

    >>> import modelpicker as mp
    >>> mp.LabelsToGo(expected=31, low=22, high=61).words
    'about 30 more labels (20 to 60)'
    """

    expected: int
    low: int
    """It is likely that at least that many are needed."""
    high: int
    """It is likely that at most this many are needed."""

    @property
    def words(self) -> str:
        """In a few words, no more exact than the estimate: "about 30 more labels (20 to 60)"."""
        low, expected, high = (_rounded(number) for number in (self.low, self.expected, self.high))
        if not high:
            return "no more labels"
        many = "label" if expected == 1 else "labels"
        return f"about {expected:,} more {many}" + (f" ({low:,} to {high:,})" if low < high else "")

    def document(self) -> dict[str, Any]:
        """For programs, and for the page."""
        return {"expected": self.expected, "low": self.low, "high": self.high, "words": self.words}


@dataclass(frozen=True, slots=True)
class PoolOutlook:
    """What a number of further labels would buy: an estimate, not a promise.

    >>> import modelpicker as mp
    >>> mp.PoolOutlook(labels=50, chance=0.9, confidence=0.97).sentence
    '50 more labels would probably prove it: the chance is about 90%.'
    """

    labels: int
    chance: float
    """How likely the pick is certified by then."""
    confidence: float
    """With how much confidence it is likely to be proven by then that the pick is within the tolerance."""

    @property
    def sentence(self) -> str:
        """In plain words."""
        more = "1 more label" if self.labels == 1 else f"{self.labels:,} more labels"
        chance = round(20 * min(max(self.chance, 1.0 - SUREST), SUREST)) / 20
        if chance > 0.5:
            return f"{more} would probably prove it: the chance is about {chance:.0%}."
        return (
            f"{more} would probably not prove it: the chance is about {chance:.0%}. The confidence would then be "
            f"about {_percent(self.confidence)}."
        )

    def document(self) -> dict[str, Any]:
        """For programs, and for the page."""
        return {
            "labels": self.labels,
            "chance": self.chance,
            "confidence": self.confidence,
            "sentence": self.sentence,
        }


def _rounded(number: int) -> int:
    """A number as exact as an estimate is."""
    step = next((step for most, step in ((10, 1), (100, 5), (1_000, 10)) if number < most), 100)
    return max(1, round(number / step)) * step if number else 0


def _percent(share: float) -> str:
    """A share, rounded down."""
    return f"{int(100 * share)}%"
