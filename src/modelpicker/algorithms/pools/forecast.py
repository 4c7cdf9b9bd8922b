"""How many more labels a pool needs, and what a number of labels would buy: an estimate, never a promise.

The rest of the proof is played forward many times (`forecast_kernel.py`). The coins of these plays are their own:
an estimate changes nothing in the pool, and the same pool always gives the same estimate.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from modelpicker.algorithms.pools.guesses import mean_guess, trust_in_guess
from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.certificates.pool_proof import PoolProof, confidence_of
from modelpicker.certificates.pool_scores import USUAL_SPREAD
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
FORECAST_FROM = 10
FEWEST_PLAYS = 8
# What is usual counts as much as that many labels.
FEW_TESTED = 5.0
LOW, HIGH = 0.05, 0.95
# The ends of the range are moved apart by this: the plays know no more than the pool does, which may be wrong.
MARGIN = 1.25
# A range whose ends are farther apart says nothing.
WIDEST = 20.0

play = CompiledKernel(play_forward, {}, "pool-picker forecast")


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """All plays: the wealth of the weakest proof, one row per play and one column per label."""

    weakest: Floats
    items: int
    """Items without a label on which models differ: with all of them labelled, the pick is certain."""
    confidence: float
    """That is wanted, and the share of the error that may be used."""
    share: float

    @property
    def needed(self) -> Ints:
        """The labels until the pick is certified, one per play, in order; one more than was played if it is not."""
        over = self.weakest >= OVER
        needed = np.where(over.any(axis=1), over.argmax(axis=1) + 1, self.weakest.shape[1] + 1)
        return np.sort(np.minimum(needed, self.items))

    def labels_to_go(self, audit: float) -> LabelsToGo | None:
        """The middle of the plays, and a range that most of them are in; None if they are too far apart.

        `audit` is the share of labels that the proof does not need.
        """
        needed, played = self.needed, self.weakest.shape[1]
        low, expected, high = (int(needed[int(share * len(needed))]) for share in (LOW, 0.5, HIGH))
        if high > played or high > WIDEST * low:
            return None
        low, high = max(1, int(low / MARGIN)), min(self.items, math.ceil(high * MARGIN))
        return LabelsToGo(*(math.ceil(labels / (1.0 - audit)) for labels in (expected, low, high)))

    def outlook(self, labels: int, audit: float) -> PoolOutlook | None:
        """How the plays stand after that many labels; None if they do not go so far."""
        played = min(max(1, int(labels * (1.0 - audit))), self.items)
        if played > self.weakest.shape[1]:
            return None
        reached = confidence_of(float(np.median(self.weakest[:, played - 1])), self.share)
        return PoolOutlook(labels, float((self.needed <= played).mean()), min(self.confidence, reached))


def make_forecast(pool: "PoolPicker") -> Forecast | None:
    """Play the rest of the proof forward; None if too little is known, or what plays is not compiled yet."""
    if len(pool._learned) < FORECAST_FROM:
        return None
    trial = pool._next_on_trial()
    return play_from(pool, trial, start_of(pool, trial))


def play_from(pool: "PoolPicker", trial: int, start: ForecastStart) -> Forecast | None:
    """Play forward with a model on trial, and from what is thought of the others beside it."""
    free = pool._sample[pool._unlabelled()[pool._sample]]
    if not len(free) or play.on_its_way:
        return None
    goal = ForecastGoal(
        allowed=float(pool._proof.allowed),
        bad=pool._proof.bad,
        wanted=1.0 / (1.0 - pool._strict(pool.confidence)),
        fine=FINE * len(pool),
        looking=LOOKING,
        sure=SURE,
        very_sure=VERY_SURE,
        labels=len(pool._learned),
    )
    key = np.array([pool.seed % 2**64, len(pool._learned)], dtype=np.uint64)
    random = np.random.Generator(np.random.Philox(key=key))
    items = int(pool._unlabelled().sum())
    weakest = np.full((PLAYS, min(FARTHEST, items)), OVER)
    normals = random.standard_normal((PLAYS, len(pool.models) + 1))
    room = _room(len(pool.models), len(pool.classes))
    plays = play(start, goal, pool._rows, free, trial, random.random(COINS), normals, room, weakest, MOST_CELLS)
    if plays < FEWEST_PLAYS:
        return None
    return Forecast(weakest[:plays], items, pool.confidence, pool.error_share)


def start_of(pool: "PoolPicker", trial: int) -> ForecastStart:
    """What is known about every model beside the one on trial; items that are out count as not asked about."""
    found, proof = pool._found, pool._proof
    counts, scores = proof.counts(trial), proof.scores
    out = np.flatnonzero(pool._labels == OUT)
    waiting, answering = scores.differs(out, trial).sum(axis=0), scores.may_lose(out, trial).sum(axis=0)
    left = (counts.left + waiting).astype(np.float64)
    unsure = found.unsure / np.maximum(1e-9, found.split)
    ahead = found.ahead - found.ahead[trial]
    mean = (ahead - counts.known) / np.maximum(1.0, left)
    tested, _, sizes = _outcomes(pool, pool._learned, trial)
    drawn, drawn_sum, drawn_size = _outcomes(pool, proof.drawn, trial)
    spread = (sizes + FEW_TESTED * USUAL_SPREAD) / (tested + FEW_TESTED)
    wealth, best, money = _wealth(proof, trial)
    unexplained, highest = _control(pool, trial)
    return ForecastStart(
        known=counts.known.copy(),
        lost=counts.open - answering,
        left=left,
        winnable=(counts.winnable + answering) / np.maximum(1.0, left),
        ahead=ahead,
        doubt=found.doubt.copy(),
        spread=np.clip(spread, np.abs(mean), 1.0),
        unsure=unsure,
        unexplained=unexplained,
        highest=highest,
        tested=tested,
        drawn=drawn,
        drawn_sum=drawn_sum,
        drawn_size=drawn_size,
        wealth=wealth,
        best=best,
        money=money,
    )


def _control(pool: "PoolPicker", trial: int) -> tuple[Floats, Floats]:
    """The share of the variance that the guess leaves, and the most that it may put an item above its mean."""
    proof, models = pool._proof, len(pool.models)
    known = proof.trials.get(trial)
    playing = np.arange(models) != trial if known is None else ~proof.beaten(known, pool._strict(pool.confidence))
    trust = trust_in_guess(pool, trial, playing)
    if not trust.share.any():
        return np.ones(models), np.zeros(models)
    return trust.unexplained, trust.share * (1.0 - mean_guess(pool, trial))


def _outcomes(pool: "PoolPicker", items: list[int], trial: int) -> tuple[Floats, Floats, Floats]:
    """Of labelled items: on how many the model on trial and each other differ, the sum of x, and of its size."""
    scores = pool._proof.scores
    known = scores.at(items)
    x = np.nan_to_num(known[:, [trial]] - known)
    return scores.differs(items, trial).sum(axis=0).astype(np.float64), x.sum(axis=0), (x * x).sum(axis=0)


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
    floats: dict[str, Any] = {name: np.zeros(models) for name in ForecastRoom._fields}
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
