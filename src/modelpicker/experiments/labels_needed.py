"""How many labels a method needs for a wanted identification probability, and how many times fewer than another."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.experiments.isotonic import rising
from modelpicker.experiments.realizations import key_of
from modelpicker.kernels.primitives import Floats

RESAMPLES = 1_000
# With fewer realizations, drawing them again says little about those that were not run.
FEWEST = 20
# The share of resamples in which there may be no factor, for an interval of the others to make sense.
UNTOLD = 0.05
NEVER = math.inf


def without_infinities(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON can hold it: what is not a number, or infinite, is null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


@dataclass(frozen=True)
class Outcomes:
    """What every run of a method came to, by budget: columns are budgets, rows realizations."""

    labels: npt.NDArray[np.int32]
    gaps: npt.NDArray[np.int32]
    """Mistakes on the whole stream beyond those of the best model."""

    @property
    def hits(self) -> npt.NDArray[np.bool_]:
        """Whether one of the best models was named."""
        hits: npt.NDArray[np.bool_] = self.gaps == 0
        return hits


def labels_needed(labels: Floats, scores: Floats, level: float) -> float:
    """The labels at which a score, such as the identification probability, reaches a level; infinite if never.

    Mean labels and scores by budget; between budgets the curve is straight, and it is made never to fall first, so
    that a lucky budget does not decide.

    >>> labels_needed(np.array([10.0, 20.0, 30.0]), np.array([0.5, 0.7, 0.9]), 0.8)
    25.0
    """
    at, groups, sizes = np.unique(labels, return_inverse=True, return_counts=True)  # a cell may serve many budgets
    curve = rising(np.bincount(groups, scores) / sizes)
    if curve[-1] < level:
        return NEVER
    above = int(np.argmax(curve >= level))
    if above == 0:
        return float(at[0])
    low, high = curve[above - 1], curve[above]
    return float(at[above - 1] + (level - low) / (high - low) * (at[above] - at[above - 1]))


@dataclass(frozen=True)
class Factor:
    """How many times fewer labels than the best rival a method needs.

    >>> import modelpicker as mp
    >>> methods = ["model-picker", "label-efficient"]
    >>> results = mp.compare("digits", methods=methods, budgets=[50, 100], realizations=10, stream_size=300)
    >>> results.factor(0.5).method
    'model-picker'
    """

    level: float
    method: str
    labels: float
    rival: str | None
    rival_labels: float
    factor: float
    low: float
    high: float
    """The interval that holds 95 % of the factors when realizations are drawn again from those that were run."""
    remark: str = ""
    """What the budgets that were played cannot tell."""

    def document(self) -> dict[str, Any]:
        """As JSON can hold it: what is infinite or unknown is null."""
        return without_infinities(asdict(self))

    @property
    def sentence(self) -> str:
        """The factor in words."""
        if math.isinf(self.labels):
            return f"{self.method} does not reach {self.level:.0%}"
        if self.rival is None or math.isinf(self.rival_labels):
            return f"no other method reaches {self.level:.0%}; {self.method} needs {self.labels:,.0f} labels"
        counted = f"{self.rival_labels:,.0f} over {self.labels:,.0f} labels"
        return f"{self.factor:.2f} ({self.interval}) against {self.rival}: {counted}{self.remark}"

    @property
    def interval(self) -> str:
        """The interval in words; without an upper end where resamples have no rival that reaches the level."""
        if math.isnan(self.low) or math.isnan(self.high):
            return "no interval"
        return f"{self.low:.2f} or more" if math.isinf(self.high) else f"{self.low:.2f} to {self.high:.2f}"


def factor(outcomes: dict[str, Outcomes], method: str, level: float, seed: int = 0) -> Factor:
    """The best rival's labels over those of `method`, with a bootstrap interval; pairs of runs stay together."""
    needed = {name: labels_needed(*_means(found, None), level) for name, found in outcomes.items()}
    rivals = [name for name in outcomes if name != method]
    best = min(rivals, key=needed.__getitem__, default=None)
    drawn = np.random.Generator(np.random.Philox(key_of(seed, "bootstrap")))
    runs = len(outcomes[method].labels)
    factors = []
    for _ in range(RESAMPLES if rivals and runs >= FEWEST else 0):
        times = np.bincount(drawn.integers(0, runs, runs), minlength=runs)
        again = {name: labels_needed(*_means(found, times), level) for name, found in outcomes.items()}
        factors.append(_ratio(min(again[name] for name in rivals), again[method]))
    told = [value for value in factors if not math.isnan(value)]
    enough = bool(told) and len(told) >= (1.0 - UNTOLD) * len(factors)
    low, high = np.quantile(told, [0.025, 0.975], method="nearest") if enough else (math.nan, math.nan)
    rival_labels = NEVER if best is None else needed[best]
    return Factor(
        level=level,
        method=method,
        labels=needed[method],
        rival=best,
        rival_labels=rival_labels,
        factor=_ratio(rival_labels, needed[method]),
        low=float(low),
        high=float(high),
        remark=_remark(outcomes, method, best, needed),
    )


def smallest(found: Outcomes) -> float:
    """The fewest labels that were played with, on average."""
    return float(found.labels.mean(axis=0).min())


def _remark(outcomes: dict[str, Outcomes], method: str, rival: str | None, needed: dict[str, float]) -> str:
    """Who reaches the level with the smallest budget already, and might with a smaller one."""
    early = [name for name in (method, rival) if name is not None and needed[name] == smallest(outcomes[name])]
    return f" (the smallest budget is enough for {' and '.join(early)})" if early else ""


def _ratio(rival: float, own: float) -> float:
    """Rival over own; nothing can be said if neither reaches the level."""
    if math.isinf(own):
        return math.nan if math.isinf(rival) else 0.0
    if own == 0.0:
        return math.nan if rival == 0.0 else math.inf
    return rival / own


def _means(found: Outcomes, times: npt.NDArray[np.int64] | None) -> tuple[Floats, Floats]:
    """Mean labels and identification probability by budget; each run counts that many times."""
    if times is None:
        return found.labels.mean(axis=0), found.hits.mean(axis=0)
    return times @ found.labels / times.sum(), times @ found.hits / times.sum()
