"""How much wider a statement about a stream is if labels may be wrong, whenever you look.

Each label is wrong with at most a given probability, independently of the others and of all coins. Where models
differ, a wrong label moves the difference of two losses by at most 2; elsewhere by nothing. Call such rounds
*contested*: the truth and what the labels say differ by at most twice the wrong labels of contested rounds.

Of n contested rounds at most W_n have a wrong label. For each s > 0, exp(s W_n) / (1 + p (e^s - 1))^n is a
nonnegative supermartingale that begins at 1, so by Ville's inequality it is always below 1/d, except for a
probability
of d. That bounds W_n by a line in n; several s share the error, and the lowest line counts. Of a population the
share of contested items is bounded in the same way. The proofs are in docs/how-it-works/certificates.md.
"""

import math
from typing import NamedTuple

import numpy as np

from modelpicker.certificates.certificate import Certified
from modelpicker.certificates.evidence import HAIR, STREAM
from modelpicker.certificates.label_noise import NOISE_SHARE
from modelpicker.certificates.wording import points
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import Floats

# The values of s: each suits another number of rounds.
TILTS: Floats = np.exp2(np.arange(2.0, -9.0, -1.0))
# Contested rounds are counted as they went by, and again, as all rounds, once models have changed.
COUNTS = 2


class StreamNoise(NamedTuple):
    """How many labels mislead, as lines in the number of contested rounds; no lines if none are wrong."""

    slopes: Floats
    starts: Floats
    most: float
    """A gap is never widened by more."""
    whole: int
    """Whether what the lines bound is a whole number, so that they may be rounded down."""


NO_STREAM_NOISE = StreamNoise(np.empty(0), np.empty(0), 0.0, 0)


def stream_noise(label_noise: float, confidence: float, kind: int) -> StreamNoise:
    """What labels of a stream that are wrong with at most this probability do to statements of a kind."""
    if not label_noise:
        return NO_STREAM_NOISE
    allowed = math.log(COUNTS * len(TILTS)) - math.log(NOISE_SHARE) - math.log(1.0 - confidence)
    if kind == STREAM:
        return StreamNoise(np.log1p(label_noise * np.expm1(TILTS)) / TILTS, allowed / TILTS, 1.0, 1)
    share = -label_noise / np.expm1(-TILTS)
    return StreamNoise(share * TILTS, share * allowed, min(1.0, 2.0 * label_noise), 0)


def told_confidence(label_noise: float, confidence: float) -> float:
    """The confidence of what the labels say: the rest of the error is for wrong ones."""
    return 1.0 - (1.0 - NOISE_SHARE) * (1.0 - confidence) if label_noise else confidence


def widened_by(noise: StreamNoise, contested: int, rounds: int) -> float:
    """By how much the gap may be larger than labels say, as a share of that many rounds. A kernel."""
    lines = len(noise.slopes)
    if lines == 0 or rounds == 0:
        return noise.most
    wrong = noise.slopes[0] * contested + noise.starts[0]
    for line in range(1, lines):
        wrong = min(wrong, noise.slopes[line] * contested + noise.starts[line])
    if noise.whole > 0:
        wrong = float(math.floor(wrong + HAIR))
    return float(min(noise.most, 2.0 * wrong / rounds))


def check_reachable(rule: Certified | None, label_noise: float) -> None:
    """Refuse a goal that no number of labels can reach: nothing is certain if labels may be wrong."""
    if rule is not None and rule.gap == 0.0 and label_noise:
        raise InputError(
            f"gap={rule.gap:g} with label_noise={label_noise:g}: wrong labels leave a gap that is never closed. "
            "Name a gap above 0, or leave label_noise out.",
            parameter="label_noise",
        )


def out_of_reach(rule: Certified, label_noise: float, contested: int, rounds: int, unit: float) -> str:
    """That a goal cannot be reached for wrong labels, if items continue as they came, in a sentence; else empty."""
    least = least_widening(label_noise, contested, rounds) * unit
    if rounds < rule.least_rounds or least < rule.gap:
        return ""
    wanted, left, share = points(rule.gap), points(least), f"{contested / rounds:.0%}"
    return (
        f"The goal of {wanted} cannot be reached: models differ on {share} of the items, so wrong labels leave "
        f"{left} open. Set a larger gap, or let several people label each item."
    )


def least_widening(label_noise: float, contested: int, rounds: int) -> float:
    """What a statement stays wider by, however many items come, if as many of them are contested as so far."""
    return 2.0 * label_noise * contested / rounds if rounds else 0.0
