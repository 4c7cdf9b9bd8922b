"""A stop rule as the runner's kernels see it: stop as soon as the recommended model is certified."""

from typing import NamedTuple

import numpy as np

from modelpicker.certificates.certificate import KINDS, Certified, bar_for, listed_tables, tables
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
from modelpicker.certificates.stream_noise import StreamNoise, stream_noise, told_confidence, widened_by
from modelpicker.kernels.primitives import Codes, Floats, Ints


class Rule(NamedTuple):
    """The numbers of a stop rule."""

    kind: int
    gap: float
    least_rounds: int
    bar: float
    noise: StreamNoise


class Watch(NamedTuple):
    """What it takes to check a stop rule after every round."""

    evidence: Evidence
    tables: Tables
    room: Room
    rule: Rule
    rival: Ints  # one place: the model that stood in the way of a certificate a round ago


def make_rule(stop_when: Certified, models: int, unit: float = 1.0, label_noise: float = 0.0) -> Rule:
    """The rule for that many models; a loss of 1 is a gap of `unit`."""
    kind = KINDS[stop_when.kind]
    bar = bar_for(models, told_confidence(label_noise, stop_when.confidence), kind)
    noise = stream_noise(label_noise, stop_when.confidence, kind)
    return Rule(kind, stop_when.gap / unit, stop_when.least_rounds, bar, noise)


def new_watch(
    stop_when: Certified,
    evidence: Evidence,
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
) -> bool:
    """Add a round to the evidence; whether the rule holds now for the model that stands best."""
    evidence, tables, room, rule, rival = watch
    gather_entry(evidence, tables, room, row, number, lost, probability, entry)
    gap = rule.gap - widened_by(rule.noise, evidence.seen[CONTESTED], evidence.seen[ROUNDS])
    if gap < 0.0:
        return False
    # The model that was in the way a round ago is most likely to be so now.
    at = max(0, rival[0])
    rival[0] = challenger(evidence, tables, room, rule.kind, best, gap, rule.least_rounds, rule.bar, at)
    return bool(rival[0] < 0)
