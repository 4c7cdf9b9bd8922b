"""Bets on the difference between two models, item by item (proof: docs/how-to/gate.md).

Let x be the loss of one model on an item minus that of the other: a number from -1 to 1. Somebody claims that the
mean of x is at least m. Money is bet against that: at each item it is multiplied by (1 - c) + c·(1 - x)/(1 - m). If
the claim is true, the money is not expected to grow, for any c between 0 and 1, and so for a mixture of many c.
It ever reaches 1/α with a probability of at most α.

If the items are drawn without replacement from a pool, the claim is about the sum over the pool. Then m is what the
mean of the items that are left must be, before each draw.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from modelpicker.kernels.primitives import Floats

# The bets c, the boldest first; each begins with a share of the money, most of it where bets are usual.
BETS = 0.95 * 0.75 ** np.arange(24)
SHARES = 1.0 / (1.0 + ((np.arange(24) - 5.0) / 5.0) ** 2)
# Items that are read at once.
PIECE = 2**14
# Where the items left must nearly all be the worst, a bet would divide by about nothing: there is none.
LEAST_ROOM = 1e-7
# How often an interval is halved to find a limit: to a millionth.
HALVINGS = 21


def evidence_path(x: Floats, claim: float, drawn_from: int | None = None) -> Iterator[Floats]:
    """The logarithm of the money after each item, made by bets against "the mean of x is at least `claim`".

    Args:
        x: in the order in which the items were drawn.
        claim: the mean that is bet against; of a pool, the mean over all of its items.
        drawn_from: of how many items they were drawn without replacement; None: they are independent.
    """
    wins = gains(x, claim, drawn_from)
    money = np.log(SHARES / SHARES.sum())
    for start in range(0, len(x), PIECE):
        rising = money + np.cumsum(np.log1p(BETS * (wins[start : start + PIECE, None] - 1.0)), axis=0)
        top = rising.max(axis=1)
        yield top + np.log(np.exp(rising - top[:, None]).sum(axis=1))
        money = rising[-1]


def first_refuted(x: Floats, claim: float, error: float, drawn_from: int | None = None) -> int | None:
    """After how many items "the mean of x is at least `claim`" is refuted; None if it is not.

    If the claim is true, it is refuted at any time with probability `error` at most.
    """
    seen, enough = 0, math.log(1.0 / error)
    for piece in evidence_path(x, claim, drawn_from):
        there = np.flatnonzero(piece >= enough)
        if len(there):
            return seen + int(there[0]) + 1
        seen += len(piece)
    return None


def gains(x: Floats, claim: float, drawn_from: int | None = None) -> Floats:
    """What each item pays per unit that is bet against the claim; 1 where nothing can be bet."""
    room = np.full(len(x), 1.0 - claim)
    if drawn_from is not None:
        left = drawn_from - np.arange(len(x), dtype=np.float64)
        before = np.concatenate([[0.0], np.cumsum(x)[:-1]]) if len(x) else np.zeros(0)
        room = (left - (claim * drawn_from - before)) / left
    found: Floats = np.where(room > LEAST_ROOM, (1.0 - x) / np.maximum(room, LEAST_ROOM), 1.0)
    return found


def refuted(x: Floats, claim: float, error: float, drawn_from: int | None = None) -> bool:
    """Whether "the mean of x is at least `claim`" is refuted."""
    return first_refuted(x, claim, error, drawn_from) is not None


def highest_mean(x: Floats, error: float, drawn_from: int | None = None, step: float = 0.0) -> float:
    """What the mean of x is below or at most, with probability 1 - `error`: the smallest mean that is refuted.

    Args:
        x: in the order in which the items were drawn.
        error: the probability that this is wrong, at most.
        drawn_from: of how many items they were drawn without replacement; None: they are independent.
        step: of a pool: of what its mean is a multiple. The limit is then the largest one that is not refuted.
    """
    if not len(x):
        return 1.0
    if step:
        low, high = math.floor(float(x.mean()) / step) - 1, round(1.0 / step) + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if refuted(x, middle * step, error, drawn_from) else (middle, high)
        return min(1.0, low * step)
    low_mean, high_mean = float(x.mean()), 1.0
    if not refuted(x, high_mean - 2.0 * LEAST_ROOM, error, drawn_from):
        return 1.0
    for _ in range(HALVINGS):
        half = (low_mean + high_mean) / 2.0
        if refuted(x, half, error, drawn_from):
            high_mean = half
        else:
            low_mean = half
    return high_mean


def items_to_go(x: Floats, claim: float, error: float, most: int) -> int | None:
    """About how many more items like these refute a claim about independent items; None if more than `most` do."""
    wins = gains(x, claim)
    steps = np.log1p(BETS * (wins[:, None] - 1.0))
    money, growth = np.log(SHARES / SHARES.sum()) + steps.sum(axis=0), steps.mean(axis=0)

    def enough(more: int) -> bool:
        rising = money + more * growth
        return bool(rising.max() + math.log(np.exp(rising - rising.max()).sum()) >= math.log(1.0 / error))

    if not enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@cache
def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


def binomial_terms(trials: int, share: float) -> Floats:
    """The probability of every number of successes."""
    if share in (0.0, 1.0):
        only = np.zeros(trials + 1)
        only[round(share * trials)] = 1.0
        return only
    logs = _log_factorials(trials)
    wins = np.arange(trials + 1)
    found: Floats = np.exp(
        logs[-1] - logs - logs[::-1] + wins * math.log(share) + (trials - wins) * math.log1p(-share)
    )
    return found


def sign_test(wins: int, losses: int) -> float:
    """The exact two-sided p-value of McNemar's test: how likely counts so uneven are by chance."""
    trials = wins + losses
    tail = float(binomial_terms(trials, 0.5)[: min(wins, losses) + 1].sum())
    return min(1.0, 2.0 * tail)


def share_interval(wins: int, trials: int, confidence: float) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson for the probability of a win, for a fixed number of trials."""
    if not trials:
        return 0.0, 1.0
    error = (1.0 - confidence) / 2.0
    return _least_share(wins, trials, error), 1.0 - _least_share(trials - wins, trials, error)


def _least_share(wins: int, trials: int, error: float) -> float:
    """The largest probability at which that many wins or more are no likelier than `error`."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2.0
        unlikely = float(binomial_terms(trials, middle)[wins:].sum()) <= error
        low, high = (middle, high) if unlikely else (low, middle)
    return low
