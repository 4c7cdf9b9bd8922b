"""The rest of a proof, played forward many times: a kernel.

Each play begins with what is known now, and with gaps between the models that are drawn at random from what is
thought of them. Then it asks as `PoolPicker` does: by worth, until the leader is clear; then for the proof, with
the same bets. A label is a coin: one for all rivals, so that the leader is right or wrong against all at once.
"""

import math
from typing import NamedTuple

from modelpicker.algorithms.pools.gain import TRUSTED, differ
from modelpicker.certificates.pool_bets import BOLDEST, BY_GUESS, best_bet
from modelpicker.certificates.pool_draws import HARDEST
from modelpicker.certificates.pool_proof import DOUBT
from modelpicker.certificates.pool_scores import USUAL_SPREAD
from modelpicker.kernels.primitives import NOT_RUN, Codes, Floats, Ints, exponential

# Items that are looked at before one of them is asked about by its worth.
LOOKED_AT = 16
# Items that are drawn before one is taken whatever it is, if hardly any tells the models apart that are left.
TRIES = 128
# Labels after which it is found out again how hard rivals are to beat.
LEVELS_LAST = 8
# The wealth of the weakest proof when nothing is left to prove.
OVER = 1e300


class ForecastStart(NamedTuple):
    """Where the plays begin: one place per model, beside the model on trial."""

    known: Floats  # by how many labelled items the model on trial is better
    lost: Floats  # items that nobody can label, and on which the other may be right
    left: Floats  # items without a label on which the two differ
    winnable: Floats  # the share of those on which the other says something
    ahead: Floats  # by how many items the model on trial is thought to be better, and the doubt of that
    doubt: Floats
    spread: Floats  # the chance that exactly one of the two is right where they differ
    unsure: Floats  # the variance of an item
    unexplained: Floats  # the share of the variance of a bet that the guess leaves; 1 if it is not trusted
    highest: Floats  # by how much the guess may put an item above its mean, as far as it is trusted
    tested: Floats  # labelled items on which the two differ
    drawn: Floats  # those of them that were drawn for the proof, what they added up to, and how many were not 0
    drawn_sum: Floats
    drawn_size: Floats
    wealth: Floats  # money times credit, and the most that this has been
    best: Floats
    money: Floats  # money alone: all that another model on trial begins with


class ForecastGoal(NamedTuple):
    """What the plays go for, in numbers."""

    allowed: float
    bad: float  # by how many items at least a bad model is worse
    wanted: float  # money times credit that beats a model
    fine: float  # the slack that is not used while few labels are known
    looking: int  # how many labels are few
    sure: float
    very_sure: float
    labels: int  # that are known now


class ForecastRoom(NamedTuple):
    """Room for one play: one place per model, except for `by_class`, `leader` and `place`."""

    known: Floats
    left: Floats
    plus: Floats  # the chances that only the model on trial is right, and that only the other is
    minus: Floats
    guess: Floats  # what an item is thought to say, at first
    moved: Floats  # what the labels of this play added up to, and how many there were
    heard: Floats
    drawn: Floats
    drawn_sum: Floats
    drawn_size: Floats
    wealth: Floats
    best: Floats
    playing: Ints
    plausible: Floats
    by_class: Floats
    level: Floats  # how hard the rival is to beat: the share of what is left that this probably needs
    worth: Floats
    items: Ints
    place: Ints  # [1]: the next coin


def next_coin(coins: Floats, room: ForecastRoom) -> float:
    """The next of the coins; after the last comes the first."""
    place = room.place[0]
    room.place[0] = place + 1 if place + 1 < len(coins) else 0
    return float(coins[place])


def begin_play(start: ForecastStart, allowed: float, normals: Floats, trial: int, room: ForecastRoom) -> int:
    """Draw the gaps; the model on trial, which is another one if it turns out to be far behind."""
    models = len(start.known)
    best, least = trial, -0.5 * allowed
    for j in range(models):
        room.guess[j] = start.ahead[j] + start.doubt[j] ** 0.5 * (0.7 * normals[j] + 0.7 * normals[models])
        if j == trial:
            room.guess[j] = 0.0
        if room.guess[j] < least:
            best, least = j, room.guess[j]
    shift = room.guess[best]
    for j in range(models):
        same = j if j != trial else best  # the model that was on trial differs from the new one where that did
        room.known[j] = start.known[j] - start.known[best]
        room.left[j] = start.left[same]
        room.moved[j] = room.heard[j] = 0.0
        room.drawn[j] = room.drawn_sum[j] = room.drawn_size[j] = 0.0
        room.playing[j] = 1 if j != best and room.left[j] > 0.0 else 0
        left = max(1.0, room.left[j])
        spread = start.spread[same]
        mean = max(-spread, min(spread, (room.guess[j] - shift - room.known[j]) / left))
        room.plus[j], room.minus[j] = 0.5 * (spread + mean), 0.5 * (spread - mean)
        room.guess[j] = max(-1.0, min(1.0, (start.ahead[j] - start.ahead[best] - room.known[j]) / left))
        if best == trial:
            room.drawn[j], room.drawn_sum[j] = start.drawn[j], start.drawn_sum[j]
            room.drawn_size[j] = start.drawn_size[j]
        room.wealth[j] = start.wealth[j] if best == trial else start.money[j]
        room.best[j] = start.best[j] if best == trial else room.wealth[j]
    return best


def thought(start: ForecastStart, j: int, room: ForecastRoom) -> float:
    """What an item that is left is thought to say about a rival, by all that was heard."""
    trust = start.tested[j] + TRUSTED
    return float((trust * room.guess[j] + room.moved[j]) / (trust + room.heard[j]))


def is_clear(start: ForecastStart, goal: ForecastGoal, labels: int, trial: int, room: ForecastRoom) -> bool:
    """Whether the leader is so far from being bad that the proof begins, as in `PoolPicker`."""
    slack, sure = goal.allowed, goal.sure
    if goal.allowed == 0.0 or labels < goal.looking:
        slack, sure = max(0.0, goal.allowed - goal.fine), goal.very_sure
    for j in range(len(room.known)):
        if j != trial and room.left[j] > 0.0:
            lead = room.known[j] + room.left[j] * thought(start, j, room) + slack
            doubt = start.unsure[j] * room.left[j]
            doubt *= 1.0 + room.left[j] / (start.tested[j] + room.heard[j] + TRUSTED)
            if lead <= 0.0 or lead * lead < sure * sure * doubt:
                return False
    return True


def find_levels(start: ForecastStart, goal: ForecastGoal, room: ForecastRoom) -> None:
    """How hard each rival is to beat beside the hardest one, as `PoolProof` finds it."""
    hardest = 1e-9
    for j in range(len(room.known)):
        room.level[j] = 0.0
        if room.playing[j] == 1:
            left = max(1.0, room.left[j])
            bound = (start.lost[j] - room.known[j] - goal.bad) / left
            mean = thought(start, j, room)
            bet = min(best_bet(mean, start.unsure[j], bound), 0.9 / max(1.0 + bound, 1e-9))
            growth = max(0.5 * bet * (mean - bound), 1e-6)
            needed = max(0.1, math.log2(goal.wanted / max(room.best[j], 1e-250)))
            room.level[j] = min(1.0, needed / growth / left)
            hardest = max(hardest, room.level[j])
    for j in range(len(room.known)):
        room.level[j] /= hardest


def draw_for_proof(rows: Codes, free: Ints, coins: Floats, trial: int, room: ForecastRoom) -> int:
    """An item on which the model on trial differs from one in play, in proportion to its weight."""
    item = free[0]
    for _ in range(TRIES):
        item = free[int(next_coin(coins, room) * len(free))]
        weight = 0.0
        for j in range(rows.shape[1]):
            if room.playing[j] == 1 and differ(rows[item, j], rows[item, trial]):
                weight = max(weight, 1.0 + HARDEST * room.level[j])
        if weight > next_coin(coins, room) * (1.0 + HARDEST):
            return int(item)
    return -1


def draw_for_gain(
    start: ForecastStart, rows: Codes, free: Ints, coins: Floats, trial: int, room: ForecastRoom
) -> int:
    """An item drawn by its worth, from some that are looked at."""
    models = rows.shape[1]
    total = 0.0
    for j in range(models):
        room.plausible[j] = 0.0
        if j != trial and room.left[j] > 0.0:
            ahead = room.known[j] + room.left[j] * thought(start, j, room)
            doubt = start.unsure[j] * room.left[j]
            doubt *= 1.0 + room.left[j] / (start.tested[j] + room.heard[j] + TRUSTED)
            room.plausible[j] = exponential(-0.5 * ahead * ahead / max(doubt, 1e-9) / 1024.0)
            total += room.plausible[j]
    room.plausible[trial] = total
    whole = 0.0
    for s in range(LOOKED_AT):
        item = free[int(next_coin(coins, room) * len(free))]
        left = 2.0 * total
        for j in range(models):
            if rows[item, j] == NOT_RUN:
                left -= room.plausible[j]
            else:
                room.by_class[rows[item, j]] += room.plausible[j]
        worth = left * left
        for j in range(models):
            if rows[item, j] == NOT_RUN:
                continue
            same = room.by_class[rows[item, j]]
            room.by_class[rows[item, j]] = 0.0
            worth -= same * same
        worth = max(0.0, worth)
        room.items[s], room.worth[s] = item, worth * worth * worth * worth
        whole += room.worth[s]
    mark = next_coin(coins, room) * whole
    for s in range(LOOKED_AT):
        mark -= room.worth[s]
        if mark < 0.0:
            return int(room.items[s])
    return int(room.items[LOOKED_AT - 1])


def bet_on(start: ForecastStart, goal: ForecastGoal, j: int, x: float, room: ForecastRoom) -> None:
    """Bet as `ProofDraw` does."""
    left = room.left[j]
    bound = (start.lost[j] - room.known[j]) / left
    lower = bound - goal.bad / left
    rest = start.unexplained[j]
    most = BOLDEST / max(1.0 + bound + start.highest[j], 1e-9)
    bet = min(most, best_bet(thought(start, j, room), start.unsure[j] * rest, lower))
    count = room.drawn[j] + DOUBT
    mean = room.drawn_sum[j] / count
    size = max(1e-9, (room.drawn_size[j] + DOUBT * USUAL_SPREAD) / count - mean * mean)
    bet = BY_GUESS * bet + (1.0 - BY_GUESS) * min(most, best_bet(mean, size * rest, lower))
    heard = x
    if rest < 1.0:  # what the guess says is taken from x: the mean is the same, and it spreads less
        middle = room.plus[j] - room.minus[j]
        heard = middle + rest**0.5 * (x - middle)
    room.wealth[j] *= max(1e-12, 1.0 + bet * (heard - lower))
    room.best[j] = max(room.best[j], room.wealth[j])
    room.drawn[j] += 1.0
    room.drawn_sum[j] += x
    room.drawn_size[j] += abs(x)


def hear_label(
    start: ForecastStart,
    goal: ForecastGoal,
    rows: Codes,
    item: int,
    coin: float,
    trial: int,
    proving: bool,
    room: ForecastRoom,
) -> None:
    """What a label says about every rival that differs from the model on trial."""
    for j in range(rows.shape[1]):
        differs = room.playing[j] == 1 if item < 0 else differ(rows[item, j], rows[item, trial])
        if j == trial or not differs or room.left[j] < 1.0:
            continue
        x = 1.0 if coin < room.plus[j] else -1.0 if coin > 1.0 - room.minus[j] else 0.0
        if proving and room.playing[j] == 1:
            bet_on(start, goal, j, x, room)
        room.known[j] += x
        room.moved[j] += x
        room.heard[j] += 1.0
        room.left[j] -= 1.0


def strike_out(start: ForecastStart, goal: ForecastGoal, room: ForecastRoom) -> float:
    """Take out who is beaten, by bets or by count; the wealth of the weakest proof."""
    weakest = OVER
    for j in range(len(room.known)):
        if room.playing[j] == 1:
            worst = start.lost[j] + start.winnable[j] * room.left[j] - room.known[j]
            if room.best[j] >= goal.wanted or worst <= goal.allowed:
                room.playing[j] = 0
            else:
                weakest = min(weakest, room.best[j])
    return weakest


def play_forward(
    start: ForecastStart,
    goal: ForecastGoal,
    rows: Codes,
    free: Ints,
    trial: int,
    coins: Floats,
    normals: Floats,
    room: ForecastRoom,
    weakest: Floats,
    most_cells: int,
) -> int:
    """Play forward, once per row of `weakest`, which holds the wealth of the weakest proof after every label.

    It is OVER from when nothing is left to prove. Returns how many plays there was time for.
    """
    cells = 0
    for play in range(weakest.shape[0]):
        if cells > most_cells:
            return play
        own = begin_play(start, goal.allowed, normals[play], trial, room)
        strike_out(start, goal, room)
        over = proved = False
        for t in range(weakest.shape[1]):
            if over:
                weakest[play, t] = OVER
                continue
            proving = is_clear(start, goal, goal.labels + t, own, room)
            if proving:
                if t % LEVELS_LAST == 0 or not proved:
                    find_levels(start, goal, room)
                proved = True
                item = draw_for_proof(rows, free, coins, own, room)
            else:
                item = draw_for_gain(start, rows, free, coins, own, room)
                cells += LOOKED_AT * rows.shape[1]
            hear_label(start, goal, rows, item, next_coin(coins, room), own, proving, room)
            weakest[play, t] = strike_out(start, goal, room)
            over = weakest[play, t] >= OVER
            cells += 4 * rows.shape[1]
    return int(weakest.shape[0])
