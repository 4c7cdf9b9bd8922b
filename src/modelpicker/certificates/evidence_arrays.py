"""Reading a gap from evidence with NumPy: for processes that have not compiled the kernel that does the same.

The arithmetic is that of `weigh_pair`, term by term and in the same order, for all the other models at once. So the
gaps are the same as the kernel's, to the last bit; a test compares them.
"""

from typing import Any, NamedTuple

import numpy as np

from modelpicker.certificates.certificate import listed_tables, tables
from modelpicker.certificates.evidence import HAIR, LEVELS, STEPS, STREAM, Counts, Evidence, gap_to, rounds_of
from modelpicker.certificates.leader_rows import ROW_PARTS, LeaderRows, row_of
from modelpicker.kernels.compiler import with_parts
from modelpicker.kernels.primitives import FINENESS, Floats, Ints

gap_in_row, rounds_in_row = with_parts(gap_to, ROW_PARTS), ROW_PARTS[rounds_of]
# What the two ways to compute a logarithm may differ by, and much more.
SURE = 1e-6


class BesideAll(NamedTuple):
    """The counts of a model beside each other one, [level, j]; `closed` is [j]."""

    lost: Floats
    won: Floats
    lost_at: Floats
    won_at: Floats
    awaited: Counts
    passed: Counts
    closed: Counts


def beside_all(evidence: Evidence | LeaderRows, i: int) -> BesideAll:
    """The counts of a model, of all pairs or out of its row."""
    if isinstance(evidence, LeaderRows):
        at = row_of(evidence, i)
        return BesideAll(*(getattr(evidence, field)[at] for field in BesideAll._fields))
    labels, places = evidence.labels, evidence.places
    return BesideAll(
        *(labels[:, i], labels[:, :, i], places[:, i], places[:, :, i]),
        *(_both(evidence.awaited, i), _both(evidence.passed, i), _both(evidence.closed, i)[0]),
    )


def largest_gap(evidence: Evidence | LeaderRows, kind: int, i: int, bar: float) -> float:
    """By how much at most another model may be better than i, as a fraction; 1 if nothing can be said."""
    weights, worst = weigh_all(evidence, kind, i)
    vectors = ("since", "opened", "seen", "leaders", "before")
    few: Any = {name: getattr(evidence, name).tolist() for name in vectors if name in evidence._fields}
    known: Any = evidence._replace(**few)
    gap_of, rounds_to = (gap_in_row, rounds_in_row) if isinstance(evidence, LeaderRows) else (gap_to, rounds_of)
    others = np.delete(np.arange(len(worst)), i)
    rounds = np.array([rounds_to(known, kind, i, j) for j in others.tolist()])
    if rounds.min() == 0:
        return 1.0
    gap, next_one = 0.0, int(worst[others].argmax())
    while len(others):
        j = int(others[next_one])
        gap = gap_of(known, listed_tables(), weights[j].tolist(), kind, i, j, float(worst[j]), gap, bar)
        left = surplus(weights[others], kind, worst[others], rounds, gap, bar) < SURE
        left[next_one] = False
        others, rounds = others[left], rounds[left]
        next_one = int(worst[others].argmax()) if len(others) else 0
    return gap


def surplus(weights: Floats, kind: int, worst: Floats, rounds: Ints, gap: float, bar: float) -> Floats:
    """By how much the wealth is more than what excludes that some models are better by more than a gap.

    Most are so far behind that nothing else need be looked at.
    """
    known = tables()
    steps = np.floor(gap * (rounds if kind == STREAM else np.full(len(rounds), STEPS)) + HAIR)
    if kind == STREAM:
        grown = known.rates * (steps + 1.0 / FINENESS)[:, None]
    else:
        grown = -rounds[:, None] * np.log1p(-known.bets * (steps / STEPS)[:, None])
    wealth: Floats = np.exp(np.minimum(weights + grown + known.trust - bar, 1.0)).sum(axis=1) - 1.0
    return np.where(worst < steps, 1.0, wealth) if kind == STREAM else wealth


def weigh_all(evidence: Evidence | LeaderRows, kind: int, i: int) -> tuple[Floats, Floats]:
    """`weigh_pair` for each j: the log evidence, a row per model and a bet per column, and the most of each."""
    known, counts = tables(), beside_all(evidence, i)
    lost, won, awaited = counts.lost, counts.won, counts.awaited
    missing = awaited + counts.passed
    used = np.flatnonzero((lost + won + missing).any(axis=1))
    lost, won, missing, awaited = lost[used], won[used], missing[used], awaited[used]
    more = lost - won + missing
    lost, won, missing, awaited = lost[..., None], won[..., None], missing[..., None], awaited[..., None]
    lost_above, won_above = counts.lost_at[used][..., None], counts.won_at[used][..., None]
    upper = np.minimum(used + 1, LEVELS)  # beyond the last level no bet counts
    losing, winning = known.losing[:, None], known.winning[kind][:, None]
    terms = np.where(
        np.arange(len(known.bets)) < known.first[used][:, None, None],
        losing[0] * (lost + missing) + winning[0] * won,
        losing[used] * (lost - lost_above)
        + losing[upper] * (lost_above + awaited)
        + winning[used] * (won - won_above)
        + winning[upper] * won_above,
    )
    models = len(evidence.since)
    weights, worst = np.zeros((models, len(known.bets))), np.zeros(models)
    for place in range(len(used)):  # in the order of the kernel
        weights += terms[place]
        worst += more[place]
    if kind == STREAM:
        worst += counts.closed
        weights -= known.rates * counts.closed[:, None]
    return weights, worst


def _both(counts: Counts, i: int) -> Counts:
    """The counts of i and each other model, which are kept in two places."""
    together: Counts = (counts[:, i] + counts[:, :, i]) // 2
    return together
