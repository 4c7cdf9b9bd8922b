"""Reading a gap from evidence with NumPy: for processes that have not compiled the kernel that does the same.

The arithmetic is that of `weigh_pair`, term by term and in the same order, for all the other models at once. So the
gaps are the same as the kernel's, to the last bit; a test compares them.
"""

from typing import Any

import numpy as np

from modelpicker.certificates.certificate import listed_tables, tables
from modelpicker.certificates.evidence import LEVELS, STREAM, Counts, Evidence, gap_to
from modelpicker.kernels.primitives import Floats


def largest_gap(evidence: Evidence, kind: int, i: int, bar: float) -> float:
    """By how much at most another model may be better than i, as a fraction; 1 if nothing can be said."""
    weights, worst = weigh_all(evidence, kind, i)
    few: Any = {name: getattr(evidence, name).tolist() for name in ("since", "opened", "seen")}
    known, listed, gap = evidence._replace(**few), listed_tables(), 0.0
    for j, (row, most) in enumerate(zip(weights.tolist(), worst.tolist(), strict=True)):
        if j != i:
            gap = gap_to(known, listed, row, kind, i, j, most, gap, bar)
    return gap


def weigh_all(evidence: Evidence, kind: int, i: int) -> tuple[Floats, Floats]:
    """`weigh_pair` for each j: the log evidence, a row per model and a bet per column, and the most of each."""
    known = tables()
    lost, won = evidence.labels[:, i], evidence.labels[:, :, i]
    awaited = _both(evidence.awaited, i)
    missing = awaited + _both(evidence.passed, i)
    used = np.flatnonzero((lost + won + missing).any(axis=1))
    lost, won, missing, awaited = lost[used], won[used], missing[used], awaited[used]
    more = lost - won + missing
    lost, won, missing, awaited = lost[..., None], won[..., None], missing[..., None], awaited[..., None]
    lost_above, won_above = evidence.places[used, i][..., None], evidence.places[used, :, i][..., None]
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
        closed = _both(evidence.closed, i)[0]
        worst += closed
        weights -= known.rates * closed[:, None]
    return weights, worst


def _both(counts: Counts, i: int) -> Counts:
    """The counts of i and each other model, which are kept in two places."""
    together: Counts = (counts[:, i] + counts[:, :, i]) // 2
    return together
