"""How many more labels a pool needs, and what a number of labels would buy: an estimate, never a promise.

The rest of the proof is played forward many times (`forecast_kernel.py`). The coins of these plays are their own:
an estimate changes nothing in the pool, and the same pool always gives the same estimate.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from modelpicker.algorithms.pools.forecast_kernel import (
    LOOKED_AT,
    OVER,
    ForecastGoal,
    ForecastRoom,
    ForecastStart,
    play_forward,
)
from modelpicker.algorithms.pools.gain import FINE, LOOKING, OUT, SURE, VERY_SURE
from modelpicker.certificates.pool_proof import PoolProof
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import Floats, Ints

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker

PLAYS = 40
# Labels that are played at most, and steps of all plays together, in models.
FARTHEST = 1_500
MOST_CELLS = 2**22
# Coins that are drawn for an estimate; the plays go through them again and again.
COINS = 2**14 - 3
# With fewer labels of contested items nothing is said.
TOO_EARLY = 10
FEWEST_PLAYS = 8
LOW, HIGH = 0.1, 0.9

play = CompiledKernel(play_forward, {}, "pool-picker forecast")


@dataclass(frozen=True, slots=True)
class LabelsToGo:
    """About how many more labels are needed until the pick is certified."""

    expected: int
    low: int
    """In nine of ten plays at least so many."""
    high: int
    """In nine of ten plays at most so many."""


@dataclass(frozen=True, slots=True)
class PoolOutlook:
    """What a number of further labels would buy, as far as can be told."""

    labels: int
    chance: float
    """How likely the pick is certified by then."""
    confidence: float
    """With how much confidence it is likely to be within the tolerance by then: the median."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """All plays: the wealth of the weakest proof, one row per play and one column per label."""

    weakest: Floats

    @property
    def needed(self) -> Ints:
        """The labels until the pick is certified, one per play; one more than was played if it is not."""
        over = self.weakest >= OVER
        needed = np.where(over.any(axis=1), over.argmax(axis=1) + 1, self.weakest.shape[1] + 1)
        return np.sort(needed)

    def labels_to_go(self) -> LabelsToGo | None:
        """The middle of the plays, and nine of ten of them from either side; None if they are too far apart."""
        needed = self.needed
        low, expected, high = (int(needed[int(share * len(needed))]) for share in (LOW, 0.5, HIGH))
        if high > self.weakest.shape[1]:
            return None
        return LabelsToGo(expected, low, high)

    def outlook(self, labels: int, share: float, confidence: float) -> PoolOutlook | None:
        """How the plays stand after so many labels; None if they do not go so far."""
        if not 1 <= labels <= self.weakest.shape[1]:
            return None
        after = self.weakest[:, labels - 1]
        middle = float(np.median(after))
        return PoolOutlook(
            labels, float((after >= OVER).mean()), min(confidence, max(0.0, 1.0 - 1.0 / (middle * share)))
        )


def make_forecast(pool: "PoolPicker") -> Forecast | None:
    """Play the rest of the proof forward; None if too little is known."""
    if len(pool._learned) < TOO_EARLY:
        return None
    trial = pool._next_on_trial()
    return play_from(pool, trial, start_of(pool, trial))


def play_from(pool: "PoolPicker", trial: int, start: ForecastStart) -> Forecast | None:
    """Play forward with a model on trial, and from what is thought of the others beside it."""
    free = pool._sample[pool._unlabelled()[pool._sample]]
    if not len(free):
        return None
    goal = ForecastGoal(
        allowed=float(pool._proof.allowed),
        wanted=1.0 / (1.0 - pool._strict(pool.confidence)),
        fine=FINE * len(pool),
        looking=LOOKING,
        sure=SURE,
        very_sure=VERY_SURE,
        labels=len(pool._learned),
    )
    random = np.random.Generator(np.random.Philox(key=[pool.seed, len(pool._learned)]))
    farthest = min(FARTHEST, int(pool._unlabelled().sum()))
    weakest = np.full((PLAYS, farthest), OVER)
    normals = random.standard_normal((PLAYS, len(pool.models) + 1))
    room = _room(len(pool.models), len(pool.classes))
    plays = play(
        start, goal, pool._rows, free, trial, random.random(COINS), normals, room, weakest, MOST_CELLS
    )
    return Forecast(weakest[:plays]) if plays >= FEWEST_PLAYS else None


def start_of(pool: "PoolPicker", trial: int) -> ForecastStart:
    """What is known of every model beside the one on trial; items that are out count as not asked about."""
    found, proof = pool._found, pool._proof
    counts, rows = proof.counts(trial), pool._rows
    out = rows[pool._labels == OUT]
    differs = out != out[:, [trial]]
    waiting, answering = differs.sum(axis=0), (differs & (out >= 0)).sum(axis=0)
    left = (counts.left + waiting).astype(np.float64)
    unsure = found.unsure / np.maximum(1e-9, found.split)
    ahead = found.ahead - found.ahead[trial]
    mean = (ahead - counts.known) / np.maximum(1.0, left)
    said = rows[pool._learned]
    right = (said == pool._labels[pool._learned][:, None]).astype(np.float64)
    drawn = rows[proof.drawn]
    apart = drawn != drawn[:, [trial]]
    hit = (drawn == proof.truth[proof.drawn][:, None]).astype(np.float64)
    x = hit[:, [trial]] - hit
    wealth, best, money = _wealth(proof, trial)
    return ForecastStart(
        known=counts.known.astype(np.float64),
        lost=(counts.open - answering).astype(np.float64),
        left=left,
        winnable=(counts.winnable + answering) / np.maximum(1.0, left),
        ahead=ahead,
        doubt=found.doubt.copy(),
        spread=np.clip(unsure + mean * mean, np.abs(mean), 1.0),
        unsure=unsure,
        tested=(said != said[:, [trial]]).sum(axis=0).astype(np.float64),
        drawn=apart.sum(axis=0).astype(np.float64),
        drawn_sum=x.sum(axis=0),
        drawn_size=np.abs(x).sum(axis=0),
        wealth=wealth,
        best=best,
        money=money,
    )


def _wealth(proof: PoolProof, model: int) -> tuple[Floats, Floats, Floats]:
    """Money times credit of a model, the most it has been, and the money alone, by the labels that have come."""
    trial = proof.trials.get(model)
    money = proof.money.copy()
    credit = np.ones_like(money) if trial is None else trial.credit.copy()
    for draw in proof.draws.values():
        if draw.x is not None:
            money *= draw.plain
            if draw.model == model:
                credit *= draw.credit
    return money * credit, (proof.richest if trial is None else trial.best).copy(), money


def _room(models: int, classes: int) -> ForecastRoom:
    """Room for a play."""
    floats = {name: np.zeros(models) for name in ForecastRoom._fields}
    return ForecastRoom(
        **floats
        | {
            "playing": np.zeros(models, dtype=np.int64),
            "by_class": np.zeros(classes + 1),
            "worth": np.zeros(LOOKED_AT),
            "items": np.zeros(LOOKED_AT, dtype=np.int64),
            "place": np.zeros(1, dtype=np.int64),
        }
    )
