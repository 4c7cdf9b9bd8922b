"""How accurate a model is on exactly these items, whenever you look: an interval.

Labelled items are counted. About the others something can be proven only if some of them were drawn at random: the
audit draws. For every number of right answers that the model may have, money is bet against it at each draw. A
number that loses too much money is refuted. The interval spans the numbers that are left.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modelpicker.certificates.wording import how_certain, items_of
from modelpicker.kernels.primitives import Floats, Ints

# Numbers of right answers that are told apart; in a larger pool, neighbours share one bet.
MOST_CELLS = 2_001
# More money than this is not counted.
MOST = 1e250

TAKEN_FOR_RIGHT = " This assumes that all labels are right."


@dataclass(frozen=True, slots=True)
class AccuracyInterval:
    """Between which bounds the accuracy of a model lies, with what confidence.

    >>> import modelpicker as mp
    >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
    >>> for item in pool.ask(3):
    ...     pool.tell(item, "dog")
    >>> pool.accuracy().low, pool.accuracy().high
    (0.03, 1.0)
    """

    model: int | str
    low: float
    high: float
    estimate: float
    """The best guess; without audit draws it is just the middle of the interval."""
    confidence: float
    sentence: str
    """All of it, in plain words."""

    def document(self) -> dict[str, Any]:
        """The interval for programs."""
        return {name: getattr(self, name) for name in self.__slots__}


class AuditDraw(NamedTuple):
    """One item drawn at random, for one model: what was known before the draw, and what is known now."""

    left: int
    """Items that could be drawn, this one among them."""
    known: int
    """Right answers on items that had left the pool, as far as labels had come before the draw."""
    open: int
    """Items that had left the pool and might be right, because their labels had not come before the draw."""
    known_now: int
    """The same right answers, counted with the labels that have come until now."""
    open_now: int
    guess: float
    """The share of right answers among the audit labels that had come before the draw, kept away from 0 and 1."""
    right: bool | None
    """Whether the model is right on the item that was drawn; None if nobody knows yet."""


class RightCounts(NamedTuple):
    """What is known about a model by counting."""

    items: int
    right: int
    """Labelled items on which it is right."""
    unknown: int
    """Items without a label on which it may be right."""
    agreed: int
    """Those of them on which all models agree."""


def cell_bounds(items: int) -> tuple[Ints, Ints]:
    """The first and the last number of right answers of every cell: they depend on the size of the pool alone."""
    edges = np.arange(min(items + 1, MOST_CELLS) + 1) * (items + 1) // min(items + 1, MOST_CELLS)
    return edges[:-1], edges[1:] - 1


def peak_money(draws: Sequence[AuditDraw], items: int, models: int, since: int | None = None) -> Floats:
    """The most money that was ever made against every cell, by one unit that is shared out among all models.

    Half of the unit is for all models alike, from the first draw on. The other half is for the model that was the
    pick when it was proven, from that draw on: `since`, or None for any other model.
    """
    peak = np.zeros(min(items + 1, MOST_CELLS))
    fresh = None if since is None else money_after(draws[since:], items)
    for number, money in enumerate(money_after(draws, items)):
        total = 0.5 * money / models
        if fresh is not None and number >= (since or 0):
            total += 0.5 * next(fresh)
        np.maximum(peak, total, out=peak)
    return peak


def money_after(draws: Sequence[AuditDraw], items: int) -> Iterator[Floats]:
    """What becomes of one unit of money against every cell, after each draw: half bets on more, half on fewer."""
    first, last = cell_bounds(items)
    more, fewer = np.ones(len(first)), np.ones(len(first))
    for draw in draws:
        # A model with at most `last` right answers is right on at most this share of what is left.
        then, now = ((last - known) / draw.left for known in (draw.known, draw.known_now))
        more *= _factor(then, now, draw.guess, float(draw.right is True))
        # A model with at least `first` right answers is wrong on at most this share of what is left.
        most, most_now = draw.known + draw.open, draw.known_now + draw.open_now
        then, now = (1.0 - (first - right) / draw.left for right in (most, most_now))
        fewer *= _factor(then, now, 1.0 - draw.guess, float(draw.right is False))
        np.minimum(more, MOST, out=more)
        np.minimum(fewer, MOST, out=fewer)
        yield 0.5 * (more + fewer)


def _factor(then: Floats, now: Floats, guess: float, x: float) -> Floats:
    """What money is multiplied by if x is drawn: a bet that the mean is above a bound.

    The size of the bet is Kelly's, by what was known before the draw. The bound that it is paid by may be the lower
    one that is known now.
    """
    bound = np.clip(then, 0.0, 1.0)
    bets = (guess > bound) & (bound > 0.0)
    bet = np.where(bets, guess - bound, 0.0) / np.where(bets, bound * (1.0 - bound), 1.0)
    factor: Floats = 1.0 + bet * (x - np.clip(now, 0.0, 1.0))
    return factor


def measure_accuracy(
    model: int | str,
    counts: RightCounts,
    draws: Sequence[AuditDraw],
    confidence: float,
    *,
    models: int,
    since: int | None = None,
    noisy: bool = False,
) -> AccuracyInterval:
    """The interval of the accuracy of one of that many models, each of which might have been the pick.

    If labels may be wrong (`noisy`), the sentence says that it assumes that all are right.
    """
    least, most = counts.right, counts.right + counts.unknown
    first, last = cell_bounds(counts.items)
    refuted = peak_money(draws, counts.items, models, since) * (1.0 - confidence) >= 1.0
    kept = ~refuted & (last >= least) & (first <= most)
    low, high = least, most
    if kept.any():  # else something unlikely has happened, and only what was counted is sure
        low, high = max(least, int(first[kept].min())), min(most, int(last[kept].max()))
    seen = [draw.right for draw in draws if draw.right is not None]
    estimate = counts.right + counts.unknown * guess_share(sum(seen), len(seen))
    return AccuracyInterval(
        model,
        low / counts.items,
        high / counts.items,
        min(max(estimate, low), high) / counts.items,
        confidence,
        _sentence(model, low, high, counts, len(draws), confidence) + (TAKEN_FOR_RIGHT if noisy else ""),
    )


def guess_share(right: int, draws: int) -> float:
    """A share of right answers that is never 0 or 1."""
    return (right + 0.5) / (draws + 1.0)


def _sentence(model: int | str, low: int, high: int, counts: RightCounts, draws: int, confidence: float) -> str:
    """The interval in words, rounded outwards: what is claimed must not be more than what is proven."""
    items, unknown = counts.items, counts.unknown
    where = f"On {items_of(items)}"
    certain = (low, high) == (counts.right, counts.right + unknown)
    sure = how_certain(confidence, certain)
    if low == high:
        said = f"{where}, the accuracy of {model} is {_percent(low, items)} ({sure})."
    else:
        span = f"between {_percent(low, items)} and {_percent(high, items, up=True)}"
        said = f"{where}, the accuracy of {model} is {span} ({sure})."
    if draws or not unknown:
        return said
    which = "without a label"
    if counts.agreed == unknown:
        which = "on which all models agree"
    elif counts.agreed:
        which += f", {counts.agreed:,} of them items on which all models agree"
    return (
        f"{said} No item was drawn at random to measure it, so nothing is known about {unknown:,} items {which}. "
        "With audit=0.05, one label in 20 is bought to measure it."
    )


def _percent(right: int, items: int, up: bool = False) -> str:
    """A share of the items in percent with one digit, rounded down or up."""
    tenths = -(-1000 * right // items) if up else 1000 * right // items
    return f"{tenths / 10:.12g}%"
