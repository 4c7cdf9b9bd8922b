"""How much better one model is than another, with limits that are proven (proof: docs/how-to/gate.md)."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from modelpicker.certificates.paired import highest_mean
from modelpicker.certificates.wording import IN_POINTS, amount, how_certain, items_of
from modelpicker.coins import draw_coins
from modelpicker.errors import InputError
from modelpicker.evaluations.paired_items import PairedItems
from modelpicker.kernels.primitives import Floats, Ints
from modelpicker.losses import ACCURACY, GRADES, PREFERENCE

DifferenceKind: TypeAlias = Literal["pool", "population"]
KINDS: tuple[DifferenceKind, ...] = ("pool", "population")
# A part that a random choice gives less often than this was not chosen at random.
UNLIKELY = 1e-6


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much a challenger is better than a champion; a difference below 0 says that it is worse.

    >>> import modelpicker as mp
    >>> found = mp.gate("digits", champion="svm-gaussian", challenger="svm-cubic", gap=0.02)
    >>> print(found.difference.sentence)
    On these 1,497 items, svm-cubic is 0.534 points less accurate than svm-gaussian (certain).
    """

    kind: DifferenceKind
    """"pool": on exactly these items. "population": in general, of items like these."""
    estimate: float
    low: float
    high: float
    confidence: float
    """With what confidence each limit holds; see `both`."""
    both: bool
    """Whether the two limits hold together with this confidence; if not, each holds by itself."""
    certain: bool
    anytime: bool
    """Whether the limits hold whenever you look, as items or labels come; if not, for this one look."""
    items: int
    """How many items it rests on."""
    sentence: str

    def document(self) -> dict[str, Any]:
        """The difference for programs."""
        return {name: getattr(self, name) for name in self.__slots__}


def draw_order(items: PairedItems, seed: int) -> Ints:
    """The contested items in a random order that depends on nothing but the seed and their places."""
    keys = draw_coins(seed, 0, -(-len(items) // 4)).ravel()[: len(items)]
    places = np.flatnonzero(items.contested)
    order: Ints = places[np.argsort(keys[places], kind="stable")]
    return order


def drawn(items: PairedItems, seed: int) -> tuple[Floats, bool]:
    """What is known about contested items, in random order; and whether it is the first part of that order.

    Then items were labelled in that order, and the next label only continues with it.
    """
    order = draw_order(items, seed)
    known = ~items.unknown[order]
    return items.x[order[known]], not bool((np.diff(known.astype(np.int8)) > 0).any())


def pool_difference(items: PairedItems, confidence: float, seed: int, *, both: bool = False) -> Difference:
    """Of exactly these items. Labels that are missing were left out at random, or in the order of the seed."""
    size, unit = len(items), items.loss.unit
    known = float(np.nansum(items.x))
    unknown = items.unknown
    certain_low, certain_high = known + items.least[unknown].sum(), known + items.most[unknown].sum()
    x, first = drawn(items, seed)
    error = (1.0 - confidence) / (2.0 if both else 1.0)
    low, high, middle = certain_low, certain_high, known
    if len(x) and not items.complete:
        contested = int(items.contested.sum())
        step = 1.0 / contested if items.counted else 0.0
        least, most = items.unheard_limits
        high = min(high, highest_mean(x, error, contested, step) * contested + most)
        low = max(low, -highest_mean(-x, error, contested, step) * contested + least)
        middle = float(np.clip(x.mean() * contested, low, high))
    if items.counted:
        low, high = round(low), round(high)
    if low > high:  # something unlikely has happened, and only what was counted is sure
        low, high = certain_low, certain_high
    certain = bool(low == certain_low and high == certain_high)
    better, worst, best = (0.0 - float(value) * unit / size for value in (middle, high, low))
    told = _words(items, "pool", worst, best, confidence, certain, both, first)
    return Difference("pool", better, worst, best, confidence, both, certain, first, size, told)


def population_difference(items: PairedItems, confidence: float, *, both: bool = False) -> Difference:
    """Of the items that these are a random sample of, in their order; only items with a label count."""
    x = independent_items(items)
    unit = items.loss.unit
    error = (1.0 - confidence) / (2.0 if both else 1.0)
    middle = float(x.mean()) if len(x) else 0.0
    low, high = -highest_mean(-x, error), highest_mean(x, error)
    if low > high:  # the items are no random sample, or something unlikely has happened
        low, high = -1.0, 1.0
    better, least, best = (0.0 - value * unit for value in (middle, high, low))
    told = _words(items, "population", least, best, confidence, False, both, True)
    return Difference("population", better, least, best, confidence, both, False, items.complete, len(x), told)


def independent_items(items: PairedItems) -> Floats:
    """The items that speak for others: all, or those with a label, if these seem to be chosen at random."""
    if items.complete:
        return items.x
    labelled = items.labelled
    _refuse_chosen(items)
    found: Floats = items.x[labelled]
    return found


def _refuse_chosen(items: PairedItems) -> None:
    """An error if labelled items are so often, or so seldom, contested ones that they cannot be a random part."""
    total, contested = len(items), int(items.contested.sum())
    labelled = int(items.labelled.sum())
    both = int((items.labelled & items.contested).sum())
    if not labelled:
        return
    often = _hypergeometric_tail(total, contested, labelled, both)
    seldom = _hypergeometric_tail(total, total - contested, labelled, labelled - both)
    if min(often, seldom) >= UNLIKELY:
        return
    raise InputError(
        f"{both:,} of the {labelled:,} labelled items are among the {contested:,} on which the "
        "two models differ: a "
        f"random part of the {total:,} items would have about "
        f"{labelled * contested / total:.0f}. So they say nothing "
        'about other items. Ask about exactly these items (of="pool", --of pool), or label items at random.',
        parameter="of",
    )


def _hypergeometric_tail(total: int, marked: int, drawn_items: int, found: int) -> float:
    """The probability of that many marked items or more in a random draw."""

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    whole = log_choose(total, drawn_items)
    first, last = max(found, drawn_items - (total - marked)), min(marked, drawn_items)
    return math.fsum(
        math.exp(log_choose(marked, k) + log_choose(total - marked, drawn_items - k) - whole)
        for k in range(first, last + 1)
    )


def _words(
    items: PairedItems,
    kind: str,
    low: float,
    high: float,
    confidence: float,
    certain: bool,
    both: bool,
    first: bool,
) -> str:
    """The difference in a sentence; limits are rounded outwards."""
    where = f"On {items_of(len(items))}" if kind == "pool" else "In general"
    sure = how_certain(confidence, certain)
    if not (certain or both) and low > -1.0 and high < 1.0:
        sure += " for each limit"
    tail = "" if certain or first else ", if labelled items were chosen at random"
    if kind == "population":
        tail = ", if the items are a random sample"
    said = describe(items, low, high)
    if said is None:
        return f"{where}, nothing is proven yet about {items.challenger} and {items.champion}."
    return f"{where}, {items.challenger} is {said} ({sure}){tail}."


def describe(items: PairedItems, low: float, high: float) -> str | None:
    """How much better the challenger is than the champion, between two limits; None if that says nothing."""
    better, worse, name = _comparatives(items)
    other = f"than {items.champion}{name}"
    unit, loss = items.loss.unit, items.loss.name
    if low <= -unit and high >= unit:
        return None
    if low == high:
        if not low:
            return f"exactly as good as {items.champion}{name}"
        return f"{_nearest(abs(low), loss)} {better if low > 0.0 else worse} {other}"
    if low >= 0.0:
        return f"between {_down(low, loss)} and {amount(high, loss)} {better} {other}"
    if high <= 0.0:
        return f"between {_down(-high, loss)} and {amount(-low, loss)} {worse} {other}"
    if low <= -unit:
        return f"at most {amount(high, loss)} {better} {other}"
    if high >= unit:
        return f"at most {amount(-low, loss)} {worse} {other}"
    return f"at most {amount(-low, loss)} {worse} and at most {amount(high, loss)} {better} {other}"


def _comparatives(items: PairedItems) -> tuple[str, str, str]:
    if items.loss.name == ACCURACY:
        return "more accurate", "less accurate", ""
    names = {GRADES: "mean grade", PREFERENCE: "preferences"}
    return "better", "worse", f" in {names.get(items.loss.name, items.loss.name)}"


def _nearest(share: float, loss: str) -> str:
    """A difference that is known exactly, rounded to three digits."""
    number = f"{100.0 * share:.3g}"
    if loss not in IN_POINTS:
        return f"{number}%"
    return f"{number} point" if number == "1" else f"{number} points"


def _down(share: float, loss: str) -> str:
    """The lower end of a range, rounded down to three digits; "points" is said at its upper end."""
    unit = "" if loss in IN_POINTS else "%"
    if share <= 0.0:
        return f"0{unit}"
    digits = 2 - math.floor(math.log10(share * 100.0))
    return f"{math.floor(share * 100.0 * 10.0**digits + 1e-9) / 10.0**digits:.12g}{unit}"
