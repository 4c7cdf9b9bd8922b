"""A stop rule as the runner's kernels see it: stop as soon as the recommended model is certified."""

from typing import Any, NamedTuple

import numpy as np

from modelpicker.certificates.certificate import (
    KINDS,
    Certified,
    bar_for,
    late_bar_for,
    listed_tables,
    tables,
)
from modelpicker.certificates.evidence import (
    CONTESTED,
    ROUNDS,
    Evidence,
    Room,
    Tables,
    challenger,
    gather_entry,
    new_room,
)
from modelpicker.certificates.evidence_kernels import listed_room, viewed
from modelpicker.certificates.leader_rows import NO, YES, LeaderRows, bar_of, readable
from modelpicker.certificates.stream_noise import StreamNoise, stream_noise, told_confidence, widened_by
from modelpicker.kernels.primitives import Codes, Floats, Ints


class Rule(NamedTuple):
    """The numbers of a stop rule."""

    kind: int
    gap: float
    least_rounds: int
    bar: float
    late: float  # the bar of the first row of evidence that began late
    noise: StreamNoise


class Watch(NamedTuple):
    """What it takes to check a stop rule after every round."""

    evidence: Any  # of all pairs, or of rows
    tables: Tables
    room: Room
    rule: Rule
    rival: Ints  # one place: the model that stood in the way of a certificate a round ago


def make_rule(stop_when: Certified, models: int, unit: float = 1.0, label_noise: float = 0.0) -> Rule:
    """The rule for that many models; a loss of 1 is a gap of `unit`."""
    kind = KINDS[stop_when.kind]
    confidence = told_confidence(label_noise, stop_when.confidence)
    bar, late = bar_for(models, confidence, kind), late_bar_for(models, confidence, kind)
    noise = stream_noise(label_noise, stop_when.confidence, kind)
    return Rule(kind, stop_when.gap / unit, stop_when.least_rounds, bar, late, noise)


def new_watch(
    stop_when: Certified,
    evidence: Evidence | LeaderRows,
    *,
    unit: float = 1.0,
    label_noise: float = 0.0,
    interpreted: bool = False,
) -> Watch:
    """A rule with the evidence that it is checked against; rounds that go by are added to the evidence."""
    models = len(evidence.since)
    rule, rival = make_rule(stop_when, models, unit, label_noise), np.zeros(1, dtype=np.int64)
    if interpreted:
        return Watch(viewed(evidence), listed_tables(), listed_room(models), rule, rival)
    return Watch(evidence, tables(), new_room(models), rule, rival)


def is_certified(
    watch: Watch, row: Codes, number: int, lost: Floats, probability: float, entry: int, best: int
) -> int:
    """Add a round to the evidence; whether the rule holds now for the model that stands best, or NOT_READ."""
    evidence, tables, room, rule, rival = watch
    gather_entry(evidence, tables, room, row, number, lost, probability, entry)
    seen = evidence.seen[ROUNDS]
    gap = rule.gap - widened_by(rule.noise, evidence.seen[CONTESTED], seen)
    if gap < 0.0 or seen < rule.least_rounds:
        return NO
    found = readable(evidence, best)
    if found != YES:
        return found
    # The model that was in the way a round ago is most likely to be so now.
    at = max(0, rival[0])
    bar = bar_of(evidence, best, rule.bar, rule.late)
    rival[0] = challenger(evidence, tables, room, rule.kind, best, gap, rule.least_rounds, bar, at)
    return YES if rival[0] < 0 else NO
