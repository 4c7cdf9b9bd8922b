"""A stream that stops as soon as its recommended model is certified."""

from functools import cache
from typing import NamedTuple

from modelpicker.algorithms.runner import (
    LABELS,
    ROUNDS,
    AlgorithmSettings,
    AlgorithmState,
    Kernel,
    Outcome,
    learn_label,
    observe_round,
    recommend,
    take_row,
)
from modelpicker.certificates.certificate import KINDS, Certified, bar_for
from modelpicker.certificates.evidence import (
    ANSWERED,
    ASKED,
    PASSED,
    Evidence,
    Room,
    Tables,
    challenger,
    gather_entry,
)
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import SKIPPED, SPARE, Codes, Floats, Ints, Scratch


class Rule(NamedTuple):
    """A stopping rule as a kernel sees it."""

    kind: int
    gap: float
    least_rounds: int
    bar: float


def make_rule(stop_when: Certified, models: int) -> Rule:
    """The rule for so many models."""
    kind = KINDS[stop_when.kind]
    return Rule(kind, stop_when.gap, stop_when.least_rounds, bar_for(models, stop_when.confidence, kind))


def play_until(
    state: AlgorithmState,
    settings: AlgorithmSettings,
    clock: Ints,
    rows: Codes,
    labels: Codes,
    coins: Floats,
    first_spare: float,
    scale: float,
    scratch: Scratch,
    outcome: Outcome,
    evidence: Evidence,
    tables: Tables,
    room: Room,
    rule: Rule,
    limit: int,
) -> tuple[int, bool]:
    """`play_stream`, but with an eye on the certificate after each round; whether it stopped because of it."""
    queried, probabilities, recommendations, predictions = outcome
    row = scratch.row
    classes = len(scratch.tally) - 1
    rival = 0
    for i in range(len(rows)):
        if not take_row(rows, i, row, classes):
            return i, False
        spare = coins[i, SPARE]
        query, probability, recommended, predicted = observe_round(
            state, settings, clock, row, coins[i], first_spare, scale, scratch
        )
        queried[i] = query
        probabilities[i] = probability
        recommendations[i] = recommended
        predictions[i] = predicted
        entry = ASKED if query else PASSED
        if query and labels[i] != SKIPPED:
            learn_label(state, settings, clock, clock[ROUNDS], row, labels[i], probability)
            entry = ANSWERED
        gather_entry(evidence, tables, room, row, clock[ROUNDS] - 1, labels[i], probability, entry)
        best = recommend(state, settings, spare if clock[LABELS] > 0 else first_spare)
        # Whoever was in the way a round ago is most likely to be so now.
        rival = challenger(evidence, tables, room, rule.kind, best, rule.gap, rule.least_rounds, rule.bar, rival)
        if rival < 0:
            return i + 1, True
        if clock[LABELS] >= limit:
            return i + 1, False
    return len(rows), False


@cache
def stopping(kernel: Kernel) -> CompiledKernel:
    """`play_until` of an algorithm, compiled when it is first called."""
    return CompiledKernel(play_until, kernel.calls, f"{kernel.name} with a stopping rule")
