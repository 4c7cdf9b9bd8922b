"""Bets that a model is beaten: kernels of the wealth that `Race` drops models by.

Every model i has an opponent o, fixed before the row: for all but the leader that is the leader. On a round on
which the two differ let d be the loss of i minus that of o: 1 if i is wrong and o right, -1 the other way round;
grades may give anything between. For each of a few bets b, money is multiplied by 1 + b·d. If i is the
best model, the mean of d is at most 0, whoever o is, and the wealth of i, all bets together, is a supermartingale.
It stays one if it is divided by 1 - b·ε in each round in which o is worse than i by at least ε: that is the credit,
and it is kept apart for every opponent.

A label that has not come is counted as its worst case, d = -1, when its round goes by, and put right when it comes.
Where a loss is not known even then, or a model was not asked, the worst case stays.

Wealth is kept as numbers, not as logarithms: plain multiplication gives the same bits at both speeds.
"""

from typing import Any, TypeAlias

from modelpicker.certificates.credit import MOST, credit_against, give_credit
from modelpicker.kernels.primitives import Codes, Floats

Purse: TypeAlias = Any  # has the arrays money, earned, opponent, begun, until, apart, over, and those of a `Book`
BetSettings: TypeAlias = Any  # has bets, trust, growth and tolerance

BETS = (0.45, 0.3, 0.2, 0.13, 0.08, 0.05, 0.03, 0.015, 0.007)
TRUST = (0.16, 0.16, 0.15, 0.14, 0.12, 0.1, 0.08, 0.05, 0.04)
"""The bets, and the share of the wealth that each is started with, where nothing else is known."""
# A bet below ε over the share of rounds on which two models differ is seldom the best; it gets so much of its own.
DOUBT, SURE = 0.2, 0.3

NEVER = 2**62


def power(base: float, exponent: int) -> float:
    """A whole power by repeated squaring: the same bits everywhere, as those of `**` need not be."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


def rounds_bet(state: Purse, i: int, now: int) -> int:
    """For how many rounds a model has been bet against its present opponent."""
    return int(max(0, min(state.until[i], now) - state.begun[i]))


def grown(state: Purse, settings: BetSettings, i: int, rounds: int) -> float:
    """The money on a model since its opponent is its opponent, with credit for that many rounds."""
    total = 0.0
    for g in range(len(settings.bets)):
        if state.money[i, g] > 0.0:
            total += state.money[i, g] * power(settings.growth[g], rounds)
    return min(MOST, total)


def wealth_against(state: Purse, settings: BetSettings, i: int, leader: int, now: int) -> float:
    """The wealth against a model, with all the credit that the leader has earned as its opponent."""
    rounds = rounds_bet(state, i, now) if state.opponent[i] == leader else 0
    credit = credit_against(state, i, leader)
    return float(min(MOST, state.earned[i] * credit * grown(state, settings, i, rounds)))


def oppose(state: Purse, settings: BetSettings, i: int, opponent: int, now: int) -> None:
    """Give a model another opponent: what was won is kept, what the old one was credited is noted with its name."""
    rounds = rounds_bet(state, i, now)
    plain = grown(state, settings, i, 0)
    if plain > 0.0:
        give_credit(state, i, state.opponent[i], grown(state, settings, i, rounds) / plain)
    state.earned[i] = min(MOST, state.earned[i] * plain)
    state.over[i] += rounds
    state.opponent[i] = opponent
    begin(state, settings, i, now)


def begin(state: Purse, settings: BetSettings, i: int, now: int) -> None:
    """Bet from the next round on: new money on all bets that make sense by the rows so far."""
    least = settings.tolerance * (state.over[i] + 2.0) / (state.apart[i] + 1.0)
    total = 0.0
    for g in range(len(settings.bets)):
        doubtful = settings.bets[g] < least and settings.bets[g] < SURE
        state.money[i, g] = settings.trust[g] * (DOUBT if doubtful else 1.0)
        total += state.money[i, g]
    for g in range(len(settings.bets)):
        state.money[i, g] /= total
    state.begun[i] = now
    state.until[i] = NEVER


def bet_on(state: Purse, i: int, t: int) -> bool:
    """Whether a model was bet against its present opponent in round t."""
    return bool(state.begun[i] < t <= state.until[i])


def foresee(state: Purse, settings: BetSettings, row: Codes, t: int) -> None:
    """Count the worst case of a round for all who are bet against and differ from their opponents."""
    for i in range(len(row)):
        if row[i] != row[state.opponent[i]] and bet_on(state, i, t):
            state.apart[i] += 1
            for g in range(len(settings.bets)):
                state.money[i, g] *= 1.0 - settings.bets[g]


def put_right(state: Purse, settings: BetSettings, row: Codes, t: int, lost: Floats) -> None:
    """Put the losses of a round that was foreseen in the place of the worst case; one that is NaN stays at it."""
    for i in range(len(row)):
        worse = lost[i] - lost[state.opponent[i]]
        if worse > -1.0 and row[i] != row[state.opponent[i]] and bet_on(state, i, t):
            for g in range(len(settings.bets)):
                bet = settings.bets[g]
                state.money[i, g] *= (1.0 + bet * worse) / (1.0 - bet)
