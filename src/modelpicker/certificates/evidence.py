"""What labels, and labels that are missing, say about every two models: kernels that are fed as a stream goes by.

For two models i and j let d be the loss of i minus that of j in a round: 1 if i is wrong and j right, -1 the other
way round, 0 if they answer the same. A round is queried with a known probability q, by a coin that knows nothing
about d. For a bet b below q, the factor

    1 if not queried,  1 - b/q if queried and d = 1,  1 + b/q if queried and d = -1

has the mean 1 - b·d over the coin. Products of such factors are what both kinds of certificate are made of. What
they are is fixed by how often each d was seen at which q; so that is counted, for every ordered pair of models and
a few ranges of q, and the logarithms are summed when they are asked for. Some rounds need more:

* Where q is not above b, the factor is 1 - b·d if queried, and its worst case, 1 - b, if not: those are counted.
* A query without an answer, late or skipped, counts as its worst case: d = 1. So does one whose answer leaves one
  of the two losses unknown, and every round for which one of the two was not asked.
* A d between -1 and 1 counts as |d| of a round with d = 1 or -1. That is never too much: all these logarithms are
  concave in d, and 0 at d = 0 (docs/how-it-works/certificates.md).
* A round that was closed before anybody saw its row (the budget was spent) says nothing about a population; of the
  stream it may hold the worst.

For statements about the stream alone d is no chance, and b/q may be replaced by (b/q) / (1 - b) where d = -1: that
factor has the mean (1 - b)^d. A round on which all models agree costs nothing but its count.

A kernel is a plain function in the subset of Python that Numba compiles; see docs/how-it-works/kernels.md.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.kernels.primitives import FINENESS, Floats, Grades, Ints, find_losses, place_code

Counts: TypeAlias = npt.NDArray[np.int32]

STREAM, POPULATION = range(2)

# The bets: 20 of them, from 0.8 down to 0.00036, each 2/3 of the one before; most trust goes to those near 0.03.
BETS = 20
LARGEST, RATIO = 0.8, 1.5
LIKELIEST, BREADTH = 8, 4.0
# Levels: ranges of query probabilities. They end where one bet more counts, and the first few, where labels tell
# most, also half-way. Beyond the last level no bet counts.
HALVED = 9
LEVELS = BETS + HALVED
# A bet counts for a round if it is at most so much of its probability: with all of it, one label could ruin it.
NEAR = 0.98

# Gaps of a population are told in steps of accuracy, those of a stream in items.
STEPS = 100_000
HAIR = 1e-9  # what a product of floats may have missed a whole number by

# Fields of `seen`: rounds, those of them not closed beforehand, the first that all models take part in, whether
# losses may be parts of a mistake, and the rounds on which models differ.
ROUNDS, OPEN, COMPLETE, PARTS, CONTESTED = range(5)
# What an entry tells: a round not queried, one that was, a label for such a one, both at once, a closed round.
PASSED, ASKED, TOLD, ANSWERED, CLOSED = range(5)
NOT_YET = -1


class Evidence(NamedTuple):
    """What is known about every two models; a level is a range of query probabilities."""

    labels: Floats  # [level, i, j]: by how much more i has lost than j, over the labelled rounds on which it has
    places: Floats  # likewise, the sum of where in the range of its level 1/q is, from 0 to 1
    passed: Counts  # [level, i, j] + [level, j, i]: twice the rounds on which they differ that were not queried
    awaited: Counts  # likewise, queried and not answered
    closed: Counts  # likewise, closed beforehand, in a single level
    since: Ints  # the first round of each model
    opened: Ints  # how many open rounds had gone by before it; NOT_YET if it has not come
    seen: Ints


class Tables(NamedTuple):
    """Numbers that depend on nothing but the bets."""

    bets: Floats
    rates: Floats  # -log(1 - b)
    trust: Floats  # the logarithm of the share of the wealth that each bet starts with
    edges: Floats  # the ends of the levels, as 1/q
    first: Ints  # the first bet that counts on a level
    losing: Floats  # [edge, bet]: log(1 - b/q)
    winning: Floats  # [kind, edge, bet]: log(1 + (b/q) / (1 - b)) of a stream, log(1 + b/q) of a population


class Room(NamedTuple):
    """Room that the kernels use within a round."""

    row: Counts
    others: Counts
    weights: Floats
    lost: Floats  # a place a model: its loss by the label at hand


def make_tables() -> Tables:
    """The tables; where a bet does not count, what a certain query would give."""
    numbers = np.arange(BETS)
    bets = LARGEST * RATIO ** -numbers.astype(np.float64)
    trust = 1.0 / (1.0 + ((numbers - LIKELIEST) / BREADTH) ** 2)
    ends = np.concatenate([[1.0], NEAR / bets])
    edges = np.sort(np.concatenate([ends, np.sqrt(ends[:HALVED] * ends[1 : HALVED + 1])]))
    counting = np.round(edges[:, None] * bets, 12) <= NEAR
    steps = bets * np.where(counting, edges[:, None], 1.0)
    return Tables(
        bets=bets,
        rates=-np.log1p(-bets),
        trust=np.log(trust / trust.sum()),
        edges=edges,
        first=np.append(counting[1:].argmax(axis=1), BETS),
        losing=np.log1p(-steps),
        winning=np.log1p(np.stack([steps / (1.0 - bets), steps])),
    )


def no_evidence(models: int, since: Ints | None = None, parts: bool = False) -> Evidence:
    """Nothing has been seen; with `parts`, losses are known not to be whole mistakes."""
    first = np.zeros(models, dtype=np.int64) if since is None else since
    pairs = (LEVELS + 1, models, models)
    return Evidence(
        labels=np.zeros(pairs),
        places=np.zeros(pairs),
        passed=np.zeros(pairs, dtype=np.int32),
        awaited=np.zeros(pairs, dtype=np.int32),
        closed=np.zeros((1, models, models), dtype=np.int32),
        since=first,
        opened=np.where(first == 0, 0, NOT_YET),
        seen=np.array([0, 0, first.max(), int(parts), 0]),
    )


def new_room(models: int) -> Room:
    """Room for that many models."""
    return Room(
        row=np.zeros(models, dtype=np.int32),
        others=np.zeros(models, dtype=np.int32),
        weights=np.zeros(BETS),
        lost=np.zeros(models),
    )


def level_of(edges: Floats, probability: float) -> int:
    """The level of a query probability."""
    level, above = 0, LEVELS
    while level < above:
        middle = (level + above) // 2
        if edges[middle + 1] * probability < 1.0:
            level = middle + 1
        else:
            above = middle
    return level


def many_say(row: Counts) -> int:
    """What two of three models say; a guess at what most say, and one that depends on nothing but the row."""
    third = len(row) // 3
    one, other = row[third], row[2 * third]
    return int(one if one == other else row[0])


def note(counts: Counts, level: int, row: Counts, others: Counts, step: int) -> None:
    """Count a round for every two models that differ on it, in one of the two places that they have.

    Those who do not say what the many say do the noting: 2 for a pair with one of the many, who notes nothing, and
    1 for a pair in which the other notes it too.
    """
    said = many_say(row)
    dissent = 0
    for i in range(len(row)):
        others[dissent] = i
        dissent += row[i] != said
    for d in range(dissent):
        i = others[d]
        mine = row[i]
        for j in range(len(row)):
            counts[level, i, j] += step * (int(row[j] != mine) + int(row[j] == said))


def note_among(counts: Counts, level: int, row: Counts, since: Ints, number: int, step: int) -> None:
    """`note`, where some models take no part yet."""
    for i in range(len(row)):
        for j in range(i):
            if row[i] != row[j] and since[i] <= number and since[j] <= number:
                counts[level, i, j] += 2 * step


def note_label(evidence: Evidence, level: int, place: float, lost: Floats, others: Counts) -> None:
    """Count a label for every two models of which one loses more; a loss that is NaN compares with none."""
    wrong = 0
    for i in range(len(lost)):
        others[wrong] = i
        wrong += lost[i] > 0.0
    for d in range(wrong):
        i = others[d]
        mine = lost[i]
        for j in range(len(lost)):
            more = mine - lost[j] if mine > lost[j] else 0.0
            evidence.labels[level, i, j] += more
            evidence.places[level, i, j] += place * more


def note_label_among(evidence: Evidence, level: int, place: float, lost: Floats, number: int) -> None:
    """`note_label`, where some models take no part yet."""
    since = evidence.since
    for i in range(len(lost)):
        for j in range(len(lost)):
            if lost[i] > lost[j] and since[i] <= number and since[j] <= number:
                evidence.labels[level, i, j] += lost[i] - lost[j]
                evidence.places[level, i, j] += place * (lost[i] - lost[j])


def note_unknown(evidence: Evidence, level: int, row: Counts, lost: Floats, number: int) -> None:
    """Let a round count as not answered for every two models that differ, if the loss of one is NaN."""
    since = evidence.since
    for i in range(len(row)):
        for j in range(i):
            unknown = lost[i] != lost[i] or lost[j] != lost[j]
            if unknown and row[i] != row[j] and since[i] <= number and since[j] <= number:
                evidence.awaited[level, i, j] += 2


def place_of(edges: Floats, level: int, probability: float) -> float:
    """Where in the range of its level 1/q is: 0 at its lower end, 1 at its upper."""
    if level == LEVELS:
        return 0.0
    lower, upper = edges[level], edges[level + 1]
    return float(min(1.0, max(0.0, (1.0 / probability - lower) / (upper - lower))))


def differing(row: Counts) -> bool:
    """Whether two models differ."""
    said = row[0]
    if row[len(row) // 2] != said or row[len(row) - 1] != said:  # often enough
        return True
    count = 0
    for i in range(len(row)):
        count += row[i] != said
    return count > 0


def note_newcomers(evidence: Evidence, number: int) -> None:
    """For whom a round is the first."""
    for i in range(len(evidence.since)):
        if evidence.since[i] == number:
            evidence.opened[i] = evidence.seen[OPEN]


def note_round(evidence: Any, row: Counts, number: int, kind: int) -> bool:
    """Count a round, unless it is a label that is told; whether models differ on it."""
    if kind != TOLD:
        note_newcomers(evidence, number)
        evidence.seen[ROUNDS] += 1
        evidence.seen[OPEN] += kind != CLOSED
    contested = differing(row)
    evidence.seen[CONTESTED] += contested and kind != TOLD
    return contested


def gather_entry(
    evidence: Evidence,
    tables: Tables,
    room: Room,
    row: Counts,
    number: int,
    lost: Floats,
    probability: float,
    kind: int,
) -> None:
    """Take in a round, the losses by its label, or both."""
    if not note_round(evidence, row, number, kind):
        return
    level = level_of(tables.edges, probability)
    complete = number >= evidence.seen[COMPLETE]
    if kind != ANSWERED:
        step = -1 if kind == TOLD else 1
        if kind == CLOSED:
            counts, at = evidence.closed, 0
        elif kind == PASSED:
            counts, at = evidence.passed, level
        else:
            counts, at = evidence.awaited, level
        if complete:
            note(counts, at, row, room.others, step)
        else:
            note_among(counts, at, row, evidence.since, number, step)
    if kind in (TOLD, ANSWERED):
        note_answer(evidence, level, place_of(tables.edges, level, probability), row, number, lost, room.others)


def note_answer(
    evidence: Evidence, level: int, place: float, row: Counts, number: int, lost: Floats, others: Counts
) -> None:
    """Count the losses of a round by its label."""
    if number >= evidence.seen[COMPLETE]:
        note_label(evidence, level, place, lost, others)
    else:
        note_label_among(evidence, level, place, lost, number)
    unknown = 0
    for i in range(len(lost)):
        unknown += lost[i] != lost[i]
    if unknown > 0:
        note_unknown(evidence, level, row, lost, number)


def gather(
    evidence: Evidence,
    tables: Tables,
    room: Room,
    rows: Counts,
    numbers: Ints,
    labels: Counts,
    probabilities: Floats,
    kinds: Counts,
    graded: Grades,
) -> None:
    """Take in many entries, in order."""
    row, lost = room.row, room.lost
    for e in range(len(kinds)):
        for i in range(len(row)):
            row[i] = place_code(rows[e, i], i)
        if kinds[e] in (TOLD, ANSWERED):
            find_losses(lost, row, labels[e], graded)
        gather_entry(evidence, tables, room, row, numbers[e], lost, probabilities[e], kinds[e])


def weigh_level(
    tables: Tables,
    weights: Floats,
    kind: int,
    level: int,
    lost: float,
    won: float,
    lost_above: float,
    won_above: float,
    awaited: int,
    missing: int,
) -> None:
    """Add the log evidence of the rounds of a level; those that are missing include those that are awaited.

    The logarithms are concave in 1/q, so that between the ends of a level they are above the chord.
    """
    first = tables.first[level]
    for g in range(first):
        weights[g] += tables.losing[0, g] * (lost + missing) + tables.winning[kind, 0, g] * won
    for g in range(first, BETS):
        weights[g] += (
            tables.losing[level, g] * (lost - lost_above)
            + tables.losing[level + 1, g] * (lost_above + awaited)
            + tables.winning[kind, level, g] * (won - won_above)
            + tables.winning[kind, level + 1, g] * won_above
        )


def weigh_pair(evidence: Evidence, tables: Tables, weights: Floats, kind: int, i: int, j: int) -> float:
    """The log evidence against j being better than i, a bet a place; returns by how much it might be at most."""
    worst = 0.0
    for g in range(BETS):
        weights[g] = 0.0
    for level in range(LEVELS + 1):
        lost, won = evidence.labels[level, i, j], evidence.labels[level, j, i]
        awaited = (evidence.awaited[level, i, j] + evidence.awaited[level, j, i]) // 2
        missing = awaited + (evidence.passed[level, i, j] + evidence.passed[level, j, i]) // 2
        if lost + won + missing == 0:
            continue
        worst += lost - won + missing
        above = evidence.places[level, i, j], evidence.places[level, j, i]
        weigh_level(tables, weights, kind, level, lost, won, above[0], above[1], awaited, missing)
    if kind == STREAM:
        closed = (evidence.closed[0, i, j] + evidence.closed[0, j, i]) // 2
        worst += closed
        for g in range(BETS):
            weights[g] -= tables.rates[g] * closed
    return worst


def rounds_of(evidence: Evidence, kind: int, i: int, j: int) -> int:
    """How many rounds two models can be compared on: all since both take part; of a population, the open ones."""
    if min(evidence.opened[i], evidence.opened[j]) == NOT_YET:
        return 0
    if kind == STREAM:
        return int(evidence.seen[ROUNDS] - max(evidence.since[i], evidence.since[j]))
    return int(evidence.seen[OPEN] - max(evidence.opened[i], evidence.opened[j]))


def refuted(tables: Tables, weights: Floats, kind: int, worst: float, rounds: int, gap: float, bar: float) -> bool:
    """Whether the evidence excludes that another model is better by `gap`: items of the stream, or accuracy."""
    if kind == STREAM and worst < gap:
        return True
    total = 0.0
    for g in range(BETS):
        grown = tables.rates[g] * gap if kind == STREAM else -rounds * math.log(1.0 - tables.bets[g] * gap)
        wealth = weights[g] + grown + tables.trust[g] - bar
        if wealth >= 0.0:
            return True
        total += math.exp(wealth)
    return total >= 1.0


def excluded(
    tables: Tables, weights: Floats, kind: int, worst: float, rounds: int, steps: int, parts: int, bar: float
) -> bool:
    """Whether no more than a gap is left to another model: that many items, or steps of accuracy.

    More than that many items is one more where losses are whole mistakes, and the least that a loss can be
    elsewhere.
    """
    more = 1.0 / FINENESS if parts > 0 else 1.0
    gap = steps + more if kind == STREAM else steps / STEPS
    return refuted(tables, weights, kind, worst, rounds, gap, bar)


def steps_in(kind: int, gap: float, rounds: int) -> int:
    """How many items, or steps of accuracy, a gap allows."""
    return math.floor(gap * (rounds if kind == STREAM else STEPS) + HAIR)


def challenger(
    evidence: Evidence, tables: Tables, room: Room, kind: int, i: int, gap: float, least: int, bar: float, at: int
) -> int:
    """A model that may be better than i by more than `gap`, or that fewer than `least` rounds are about.

    -1 if none.

    It is looked for from `at` on.
    """
    models = len(evidence.since)
    for step in range(models):
        j = (at + step) % models
        if j != i:
            rounds = rounds_of(evidence, kind, i, j)
            worst = weigh_pair(evidence, tables, room.weights, kind, i, j)
            steps = steps_in(kind, gap, rounds)
            if rounds_of(evidence, STREAM, i, j) < least or not excluded(
                tables, room.weights, kind, worst, rounds, steps, evidence.seen[PARTS], bar
            ):
                return j
    return -1


def largest_gap(evidence: Evidence, tables: Tables, room: Room, kind: int, i: int, bar: float) -> float:
    """By how much at most another model may be better than i, as a fraction; 1 if nothing can be said."""
    gap = 0.0
    for j in range(len(evidence.since)):
        if j != i and gap < 1.0:
            worst = weigh_pair(evidence, tables, room.weights, kind, i, j)
            gap = gap_to(evidence, tables, room.weights, kind, i, j, worst, gap, bar)
    return gap


def gap_to(
    evidence: Evidence,
    tables: Tables,
    weights: Floats,
    kind: int,
    i: int,
    j: int,
    worst: float,
    gap: float,
    bar: float,
) -> float:
    """By how much j may be better than i, or `gap` if that is more; 1 if nothing can be said."""
    rounds = rounds_of(evidence, kind, i, j)
    if rounds == 0:
        return 1.0
    parts = evidence.seen[PARTS]
    low, high = steps_in(kind, gap, rounds), rounds if kind == STREAM else STEPS
    if excluded(tables, weights, kind, worst, rounds, low, parts, bar):
        return gap
    while high - low > 1:
        middle = (low + high) // 2
        if excluded(tables, weights, kind, worst, rounds, middle, parts, bar):
            high = middle
        else:
            low = middle
    return high / (rounds if kind == STREAM else STEPS)
