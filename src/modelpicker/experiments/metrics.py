"""From runs to metrics with standard errors, at the end of the stream and by round."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from modelpicker.experiments.playing import GAP, QUERIES, REGRET, SAMPLED, MarkRecord
from modelpicker.experiments.tasks import ComparisonCell
from modelpicker.kernels.primitives import Floats

# The metrics in the order of tables; each has a standard error beside it.
METRICS = (
    "queries",
    "identification_probability",
    "accuracy_gap",
    "accuracy_gap_p90",
    "regret",
    "sampled_regret",
)
# Following a method item by item makes sense on streams only.
OF_STREAMS = ("regret", "sampled_regret")
HIGH = 0.9


class MetricSums:
    """Whole-number sums over the runs of a cell, by mark: no order of summation can change them."""

    def __init__(self, marks: int, realizations: int) -> None:
        self.sums = np.zeros((marks, 4), dtype=np.int64)
        self.squares = np.zeros((marks, 4), dtype=np.int64)
        self.gaps = np.zeros((realizations, marks), dtype=np.int32)
        self.runs = 0

    def add(self, record: MarkRecord) -> None:
        """One run."""
        whole = record.astype(np.int64)
        self.sums += whole
        self.squares += whole * whole
        self.gaps[self.runs] = record[:, GAP]
        self.runs += 1

    def metrics(self, stream_size: int) -> dict[str, Floats]:
        """Every metric and its standard error, an entry a mark."""
        means = self.sums / self.runs
        errors = self._errors()
        hits = np.count_nonzero(self.gaps == 0, axis=0) / self.runs
        high, high_error = percentile(self.gaps, HIGH)
        spread = hits * (1.0 - hits) / (self.runs - 1) if self.runs > 1 else np.full(len(hits), math.nan)
        return {
            "queries": means[:, QUERIES],
            "queries_se": errors[:, QUERIES],
            "identification_probability": hits,
            "identification_probability_se": np.sqrt(spread),
            "accuracy_gap": means[:, GAP] / stream_size,
            "accuracy_gap_se": errors[:, GAP] / stream_size,
            "accuracy_gap_p90": high / stream_size,
            "accuracy_gap_p90_se": high_error / stream_size,
            "regret": means[:, REGRET],
            "regret_se": errors[:, REGRET],
            "sampled_regret": means[:, SAMPLED],
            "sampled_regret_se": errors[:, SAMPLED],
        }

    def _errors(self) -> Floats:
        """Standard errors of the means; unknown after a single run."""
        if self.runs < 2:
            return np.full(self.sums.shape, math.nan)
        # n Σx² - (Σx)² in whole numbers, as Python has them, cannot lose digits.
        spread = self.runs * self.squares.astype(object) - self.sums.astype(object) ** 2
        errors: Floats = np.sqrt(spread.astype(np.float64) / (self.runs * self.runs * (self.runs - 1)))
        return errors


def percentile(values: npt.NDArray[Any], share: float) -> tuple[Floats, Floats]:
    """A percentile of each column, and its standard error.

    The percentile is the smallest value that at least this share of the runs do not exceed. Its error is half the
    distance between the order statistics one binomial standard deviation to either side, whatever the values.
    """
    ordered = np.sort(values, axis=0)
    runs = len(ordered)
    place = math.ceil(share * runs) - 1
    width = math.sqrt(runs * share * (1.0 - share))
    low, high = max(0, math.floor(place - width)), min(runs - 1, math.ceil(place + width))
    error = (ordered[high] - ordered[low]) / 2.0 if runs > 1 else np.full(ordered.shape[1], math.nan)
    return ordered[place].astype(np.float64), error


def tally_runs(
    cells: Iterable[ComparisonCell],
    records: Iterable[tuple[ComparisonCell, int, MarkRecord]],
    marks: int,
    realizations: int,
) -> dict[ComparisonCell, MetricSums]:
    """The sums of every cell."""
    tallies = {cell: MetricSums(marks, realizations) for cell in cells}
    for cell, number, record in records:
        if number < realizations:
            tallies[cell].add(record)
    return tallies


def metrics_of(setting: str) -> tuple[str, ...]:
    """The metrics that mean something in a setting."""
    return METRICS if setting == "stream" else tuple(name for name in METRICS if name not in OF_STREAMS)


def meaningful(curve: Mapping[str, Floats], setting: str) -> dict[str, Floats]:
    """The same metrics; those that mean nothing in a setting are not a number."""
    known = metrics_of(setting)
    return {
        name: values if name.removesuffix("_se") in known else np.full(len(values), math.nan)
        for name, values in curve.items()
    }


def at_the_end(curve: Mapping[str, Floats]) -> dict[str, float]:
    """The metrics at the end of the stream or file, each followed by its standard error."""
    return {name: float(curve[name][-1]) for metric in METRICS for name in (metric, f"{metric}_se")}
