"""Reading a gap from evidence with NumPy: for processes that have not compiled the kernel that does the same.

The arithmetic is that of `weigh_pair`, term by term and in the same order, for all the other models at once. So the
gaps are the same as the kernel's, to the last bit; a test compares them.
"""

from typing import Any, NamedTuple

import numpy as np

from modelpicker.certificates.certificate import listed_tables, tables
from modelpicker.certificates.evidence import LEVELS, STREAM, Counts, Evidence, gap_to
from modelpicker.certificates.leader_rows import ROW_PARTS, LeaderRows, row_of
from modelpicker.kernels.compiler import with_parts
from modelpicker.kernels.primitives import Floats

gap_in_row = with_parts(gap_to, ROW_PARTS)


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
    listed, gap = listed_tables(), 0.0
    gap_of = gap_in_row if isinstance(evidence, LeaderRows) else gap_to
    for j, (row, most) in enumerate(zip(weights.tolist(), worst.tolist(), strict=True)):
        if j != i:
            gap = gap_of(known, listed, row, kind, i, j, most, gap, bar)
    return gap


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
