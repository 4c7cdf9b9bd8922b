"""Tuning a method to budgets: the paper's grid search, and a search that needs far fewer runs.

The search plays a method on the very streams and with the very coins on which it will be judged, so that its mean
number of labels is a fixed, nearly smooth function of the hyperparameter, and can be met instead of estimated. A
rough curve comes from a few streams; then every budget is played in full at the value that the curve suggests, and
every full run corrects the curve for the next. Only numbers of labels are looked at, never who was right. A run in
full that lands is the evaluation itself; only those that miss are spent on tuning.
"""

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from modelpicker.experiments.isotonic import rising
from modelpicker.experiments.methods import Method
from modelpicker.kernels.primitives import Floats, Ints

# How near is near enough, in labels bought over labels wanted.
TOLERANCE = 0.02
# Streams for the rough curve, its first points, and how far apart neighbours on it may be in the log of labels.
FEW = 20
FIRST_POINTS = 9
WIDE = 0.3
HALVINGS = 6
LEAST = 0.02
# A value is first tried on one stream in five, and given up if it would miss by more than this, and by more than so
# many standard errors of the trial.
SIFTED = 5
SIFTINGS = 4
FAR = 0.015
DOUBT = 0.5
# How often a budget is aimed at, and how many runs may miss: the mean of a method whose number of labels varies as
# much as it is large is not available to two in a hundred for a reasonable number of runs.
TRIES = 8
MOST_RUNS = 10_000
FEWEST_MISSES = 2

GRID_POINTS = 250
GRID_REALIZATIONS = 100


class Probe(NamedTuple):
    """A request: play this value on some streams, with no more than `most` labels each."""

    value: float
    streams: Sequence[int]
    most: int | None = None


class Tuned(NamedTuple):
    """The value that a budget is played at, and why no better one, if it misses."""

    value: float
    mark: str = ""


# What a search asks for, what it is told (labels that each run asked for), and what it finds.
Aims: TypeAlias = dict[int, Tuned]
Tuning: TypeAlias = Generator[list[Probe], list[Ints], Aims]

# Why a row has another number of labels than its budget.
MARKS = {
    "most": "the most that this method can buy here",
    "least": "the least that this method can buy here",
    "nearest": "the nearest number that the search found",
    "grid": "the nearest number on the grid",
    "formula": "what came of the closed form",
    "fixed": "not tuned",
    "done": "in some files nothing was left to ask, or the pick was certain",
    "cut": "no run may buy more than the budget, and some buy less",
}


class Curve:
    """Mean numbers of labels by value, from few streams or many; points of many set those of few right."""

    def __init__(self) -> None:
        self.asked: dict[float, Ints] = {}

    @property
    def falls(self) -> bool:
        """Whether larger values buy fewer labels."""
        return bool(self.asked[min(self.asked)].mean() > self.asked[max(self.asked)].mean())

    def add(self, probes: Sequence[Probe], counts: Sequence[Ints]) -> None:
        """What the runs of some probes asked for."""
        for probe, asked in zip(probes, counts, strict=True):
            if len(asked) >= len(self.asked.get(probe.value, ())):
                self.asked[probe.value] = asked

    def labels_at(self, value: float) -> float:
        """The labels that a value which was played would buy on all streams.

        What the first few streams lack or have too much of is known from values that were played on more.
        """
        asked = self.asked[value]
        few = len(asked)
        pairs = sorted(
            (np.log(other), np.log(more.mean() / more[:few].mean()))
            for other, more in self.asked.items()
            if len(more) > few and more[:few].any()
        )
        correction = np.interp(np.log(value), *np.array(pairs).T) if pairs else 0.0
        return float(asked.mean() * np.exp(correction))

    def misses(self, value: float, budget: int) -> bool:
        """Whether a value that was tried would miss, by more than the trial may be wrong."""
        asked = self.asked[value]
        doubt = float(asked.std()) / np.sqrt(len(asked)) * DOUBT
        return bool(abs(self.labels_at(value) - budget) > max(FAR * budget, doubt))

    def points(self) -> tuple[Floats, Floats]:
        """Values in the order in which they buy more, as logs, and the labels they buy, never falling."""
        values = sorted(self.asked, reverse=self.falls)
        labels = np.array([self.labels_at(value) for value in values])
        runs = np.array([len(self.asked[value]) for value in values])
        kept = [place for place in range(len(values)) if not _surpassed(place, labels, runs)]
        return np.log(np.array(values)[kept]), rising(labels[kept], runs[kept].astype(np.float64))

    def wide_gaps(self, budgets: Sequence[int]) -> list[float]:
        """Values halfway between neighbours that are far apart and have budgets between them."""
        places, labels = self.points()
        logs = _log(labels)
        wanted = np.log(np.array(budgets))
        return [
            float(np.exp((places[i] + places[i + 1]) / 2.0))
            for i in range(len(places) - 1)
            if logs[i + 1] - logs[i] > WIDE and ((wanted > logs[i]) & (wanted < logs[i + 1])).any()
        ]

    def aims(self, budgets: Sequence[int]) -> Aims:
        """The values that should buy these numbers of labels, marked at the ends of what can be bought."""
        places, labels = self.points()
        return {budget: self._aim(budget, places, labels) for budget in budgets}

    def _aim(self, budget: int, places: Floats, labels: Floats) -> Tuned:
        if budget >= labels[-1]:
            return Tuned(self._end(last=True), "most")
        if budget <= labels[0]:
            return Tuned(self._end(last=False), "least")
        above = int(np.argmax(labels > budget))
        low, high = _log(labels[above - 1 : above + 1])
        share = (np.log(budget) - low) / (high - low)
        return Tuned(float(np.exp(places[above - 1] + share * (places[above] - places[above - 1]))), "nearest")

    def _end(self, *, last: bool) -> float:
        """The value that buys most, or least: the mildest of those that buy the same on every stream."""
        values = sorted(self.asked, reverse=self.falls is last)
        extreme = self.asked[values[-1]]
        return next(value for value in values if _alike(self.asked[value], extreme))


def _alike(one: Ints, other: Ints) -> bool:
    """Whether two values bought the same on the streams on which both were played."""
    common = min(len(one), len(other))
    return bool(np.array_equal(one[:common], other[:common]))


def _log(labels: Floats) -> Floats:
    """Logs of numbers of labels, of which none is too few to have one."""
    logs: Floats = np.log(np.maximum(labels, LEAST))
    return logs


def _surpassed(place: int, labels: Floats, runs: Ints) -> bool:
    """Whether points of more runs are close on both sides, so that this one tells nothing more."""
    near = (runs > runs[place]) & (abs(_log(labels) - _log(labels[place : place + 1])) < WIDE / 2.0)
    return bool(near[:place].any() and near[place + 1 :].any())


def search(method: Method, budgets: Sequence[int], realizations: int, expected: float) -> Tuning:
    """Find a value for every budget.

    Args:
        method: what is tuned.
        budgets: numbers of labels.
        realizations: how many streams the method is judged on.
        expected: for a method with a closed form, the labels that value 1 buys on average.
    """
    curve = Curve()
    if method.closed_form:
        for value in np.geomspace(*method.search, FIRST_POINTS).tolist():
            curve.asked[value] = np.full(realizations, value * expected)
    else:
        yield from _rough_curve(method, curve, budgets, min(FEW, realizations))
    played: dict[float, float] = {}  # labels on average, of the values that were played on all streams
    found: Aims = {}
    misses = dict.fromkeys(budgets, np.inf)
    for wave in _waves(budgets):
        room = max(0, max(FEWEST_MISSES, MOST_RUNS // realizations) - len(played) + len(found))
        missed = [budget for budget in wave if budget not in found]
        missed += [budget for budget in wave if TOLERANCE < misses[budget] < np.inf][:room]
        closer = {budget: _between(played, budget, falls=curve.falls) for budget in missed if budget in found}
        aims = {budget: aim for budget, aim in closer.items() if aim is not None}
        first = [budget for budget in missed if budget not in aims]
        aims.update((yield from _sifted(curve, first, realizations)))
        aims = {
            budget: aim for budget, aim in aims.items() if budget not in found or aim.value != found[budget].value
        }
        if not aims:
            continue
        probes = [Probe(aim.value, range(realizations), budget) for budget, aim in aims.items()]
        curve.add(probes, (yield probes))
        for budget, aim in aims.items():
            played[aim.value] = float(curve.asked[aim.value].mean())
            miss = abs(played[aim.value] - budget) / budget
            if miss < misses[budget]:
                misses[budget], found[budget] = miss, aim
    return found


def _rough_curve(
    method: Method, curve: Curve, budgets: Sequence[int], few: int
) -> Generator[list[Probe], list[Ints], None]:
    """Points from end to end, and halfway between them wherever budgets lie in wide gaps."""
    values: list[float] = np.geomspace(*method.search, FIRST_POINTS).tolist()
    for _ in range(HALVINGS):
        probes = [Probe(value, range(few)) for value in values]
        curve.add(probes, (yield probes))
        values = curve.wide_gaps(budgets)
        if not values:
            return


def _sifted(curve: Curve, budgets: Sequence[int], realizations: int) -> Generator[list[Probe], list[Ints], Aims]:
    """Where the curve says to aim, tried on the first streams, and again where they show that it would miss."""
    aims = curve.aims(budgets)
    some = -(-realizations // SIFTED)
    for _ in range(SIFTINGS):
        probes = [
            Probe(aim.value, range(some)) for aim in aims.values() if len(curve.asked.get(aim.value, ())) < some
        ]
        if probes:
            curve.add(probes, (yield probes))
        far = [budget for budget, aim in aims.items() if curve.misses(aim.value, budget)]
        again = curve.aims(far)
        if all(aims[budget].value == aim.value for budget, aim in again.items()):
            break
        aims.update(again)
    return aims


def _between(played: dict[float, float], budget: int, *, falls: bool) -> Tuned | None:
    """The value between the closest neighbours of which one buys too few labels and one too many.

    The mean of a method that a single label can throw off its course is a rough function of its hyperparameter, but
    not if one looks closely enough: the nearer two values, the more runs they have in common.
    """
    values = sorted(played, reverse=falls)
    crossed = [pair for pair in pairwise(values) if played[pair[0]] < budget < played[pair[1]]]
    if not crossed:
        return None
    few, many = min(crossed, key=lambda pair: abs(np.log(pair[1] / pair[0])))
    low, high = _log(np.array([played[few], played[many]]))
    share = (np.log(budget) - low) / (high - low)
    return Tuned(float(np.exp((1.0 - share) * np.log(few) + share * np.log(many))), "nearest")


def _waves(budgets: Sequence[int]) -> list[list[int]]:
    """First the middle, then the ends and the quarters, which set the curve right, then all who have missed."""
    ordered = sorted(budgets)
    middle, last = len(ordered) // 2, len(ordered) - 1
    places = [[middle], [0, last], [middle // 2, (middle + last) // 2]]
    return [*([ordered[place] for place in wave] for wave in places), *[ordered] * TRIES]


def grid_search(method: Method, budgets: Sequence[int], expected: float) -> Tuning:
    """The paper's: the mean number of labels at each point of a grid; every budget takes the nearest."""
    if method.closed_form:
        return {b: Tuned(min(1.0, b / expected), "most" if b > expected else "formula") for b in budgets}
    values = np.geomspace(*method.grid, GRID_POINTS).tolist()
    counts = yield [Probe(value, range(GRID_REALIZATIONS)) for value in values]
    means = np.array([asked.mean() for asked in counts])
    return {budget: Tuned(values[int(abs(means - budget).argmin())], "grid") for budget in budgets}


def untuned(value: float, budgets: Sequence[int], mark: str = "fixed") -> Tuning:
    """The one value that a method is fixed to."""
    return dict.fromkeys(budgets, Tuned(value, mark))
    yield []
