"""The designs that Race was chosen from: labels for 90 % identification, by design and collection.

    python -m benchmarks.designs [--realizations 300] [--only NAME]

The paper's protocol: streams drawn without replacement, a success if the model named at the end is among the best
of that stream. Every design has one dial. It is turned up until nine of ten streams succeed, and the mean labels
are interpolated between the last two settings. Every design meets the same streams and the same coins. The last
column is the geometric mean, over collections, of Model Picker's labels over the design's.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from benchmarks.collections import Case, benchmark_collections
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.realizations import draw
from modelpicker.kernels import primitives
from modelpicker.kernels.primitives import Codes, Floats, Ints

SEED = 0
LEVEL = 0.9
MOST_CLASSES = 1000
TEMPERATURE = 0.25  # of a challenger's plausibility, in the square-root allocation
FLOOR = 0.4  # of Model Picker's least query probability, in the square-root allocation
PRIOR = 4.0  # the variance that a difference of losses has before there is any label
LEAST = 0.1  # the smallest query probability of the tapered elimination
WINDOW = 50  # rounds that wait to be labelled
WINDOW_BAR = 1.5  # the log likelihood ratio beyond which the window heeds a model no more

Flags: TypeAlias = npt.NDArray[np.bool_]
Function = TypeVar("Function", bound=Callable[..., Any])


class Stream(NamedTuple):
    """What a design meets, one row per round."""

    rows: Codes
    labels: Codes
    coins: Floats


class Trial(NamedTuple):
    """A stream, and which models are among the best on it."""

    stream: Stream
    best: Flags


class Design(NamedTuple):
    """A way to buy labels and name a model."""

    name: str
    play: Callable[[Stream, float], tuple[int, int]]  # labels bought, and the model named
    dials: Sequence[float]  # from few labels to many


def compiled(function: Function) -> Function:
    """Machine code that leaves other threads free to run."""
    return cast("Function", numba.njit(nogil=True)(function))


agreed = compiled(primitives.agreed)
weigh = compiled(primitives.weigh)
largest_mass = compiled(primitives.largest_mass)


@compiled
def least_probability(models: int, t: int) -> float:
    """Model Picker's learning rate, below which its query probability does not fall."""
    return math.sqrt(math.log(models) / (2.0 * (t + 1)))


@compiled
def split(row: Codes, running: Flags, leader: int) -> bool:
    """Whether a model in the running differs from the leader."""
    differing = 0
    for i in range(len(row)):
        differing += running[i] and row[i] != row[leader]
    return differing > 0


@compiled
def first_of(losses: Floats, running: Flags, leader: int) -> int:
    """The model in the running with the smallest loss; of equals, the one that leads already."""
    for i in range(len(losses)):
        if running[i] and losses[i] < losses[leader]:
            leader = i
    return leader


@compiled
def learn(losses: Floats, spread: Floats, row: Codes, label: int, probability: float, guesses: Floats) -> None:
    """Add to the losses what a label shows beyond the guesses, and to the variance of every pair's difference."""
    shown = ((row != label) - guesses) / probability
    losses += shown
    for i in range(len(row)):
        spread[i] += (shown[i] - shown) ** 2


@compiled
def behind(losses: Floats, spread: Floats, leader: int, model: int) -> float:
    """The log likelihood ratio z²/2 by which a model is behind the leader."""
    gap = losses[model] - losses[leader]
    return float(gap * gap / (2.0 * spread[leader, model]))


@compiled
def picker(stream: Stream, scale: float) -> tuple[int, int]:
    """Model Picker (paper, Algorithm 1), the dial being its query scale β."""
    models = stream.rows.shape[1]
    losses, weights, tally = np.zeros(models), np.zeros(models), np.zeros(MOST_CLASSES + 1)
    bought = leader = 0
    for t in range(len(stream.rows)):
        row = stream.rows[t]
        if agreed(row):
            continue
        rate = least_probability(models, t)
        weigh(losses, losses[leader], rate, weights)
        share = largest_mass(row, weights, tally) / weights.sum()
        probability = min(1.0, max(scale * share * (1.0 - share), rate))
        if stream.coins[t] < probability:
            bought += 1
            losses += (row != stream.labels[t]) / probability
            leader = int(losses.argmin())
    return bought, leader


@compiled
def allocation(stream: Stream, scale: float, votes: bool) -> tuple[int, int]:
    """Query with the root of how plausible the challengers are that differ from the leader.

    With `votes`, losses are guessed on every round from what the models say, and labels correct the guesses.
    """
    models = stream.rows.shape[1]
    losses, guesses, trust = np.zeros(models), np.zeros(models), np.zeros(models)
    spread = np.full((models, models), PRIOR)
    tally = np.zeros(MOST_CLASSES + 1)
    bought = leader = 0
    for t in range(len(stream.rows)):
        row = stream.rows[t]
        if agreed(row):
            continue
        floor = FLOOR * least_probability(models, t)
        probability = min(1.0, max(scale * math.sqrt(plausible(row, losses, spread, leader)), floor))
        if votes:
            guess_mistakes(row, trust, tally, guesses)
            losses += guesses
        if stream.coins[t] < probability:
            bought += 1
            learn(losses, spread, row, stream.labels[t], probability, guesses)
            trust_by(losses, t, trust)
        leader = int(losses.argmin())
    return bought, leader


@compiled
def plausible(row: Codes, losses: Floats, spread: Floats, leader: int) -> float:
    """How plausible it is, summed over the models that differ from the leader, that they are better."""
    total = 0.0
    for i in range(len(row)):
        if row[i] != row[leader]:
            total += math.exp(-behind(losses, spread, leader, i) / TEMPERATURE)
    return total


@compiled
def guess_mistakes(row: Codes, trust: Floats, tally: Floats, guesses: Floats) -> None:
    """How likely each model is to be wrong, if a class has the odds of the trust in those who say it."""
    most = total = 0.0
    for i in range(len(row)):
        if row[i] >= 0:
            tally[row[i]] += trust[i]
            most = max(most, tally[row[i]])
    for i in range(len(row)):
        guesses[i] = math.exp(max(-30.0, tally[row[i]] - most)) if row[i] >= 0 else 0.0
        if row[i] not in row[:i]:
            total += guesses[i]
    for i in range(len(row)):
        tally[row[i]] = 0.0
        guesses[i] = 1.0 - guesses[i] / total


@compiled
def trust_by(losses: Floats, t: int, trust: Floats) -> None:
    """Trust a model by the log odds that it is right, or not at all."""
    for i in range(len(losses)):
        wrong = min(0.98, max(0.02, (losses[i] + 1.0) / (t + 3)))
        trust[i] = max(0.0, math.log((1.0 - wrong) / wrong))


@compiled
def top_two(stream: Stream, bar: float) -> tuple[int, int]:
    """Query where the leader and its most plausible challenger differ, until that one is beyond the bar."""
    models = stream.rows.shape[1]
    losses, nothing, spread = np.zeros(models), np.zeros(models), np.full((models, models), PRIOR)
    bought = leader = 0
    challenger = 1
    for t in range(len(stream.rows)):
        row = stream.rows[t]
        if row[challenger] == row[leader]:
            continue
        bought += 1
        learn(losses, spread, row, stream.labels[t], 1.0, nothing)
        leader = int(losses.argmin())
        challenger = most_plausible(losses, spread, leader)
        if behind(losses, spread, leader, challenger) > bar:
            break
    return bought, leader


@compiled
def most_plausible(losses: Floats, spread: Floats, leader: int) -> int:
    """The challenger that is least behind."""
    nearest, least = leader, math.inf
    for i in range(len(losses)):
        if i != leader and behind(losses, spread, leader, i) < least:
            nearest, least = i, behind(losses, spread, leader, i)
    return nearest


@compiled
def elimination(stream: Stream, bar: float, tapered: bool) -> tuple[int, int]:
    """Query where models in the running differ; out of it is who is behind by a likelihood ratio beyond the bar.

    With `tapered`, a label is bought less often the nearer those that differ are to the bar.
    """
    models = stream.rows.shape[1]
    losses, spread = np.zeros(models), np.full((models, models), PRIOR)
    running, nothing = np.ones(models, np.bool_), np.zeros(models)
    bought = leader = 0
    for t in range(len(stream.rows)):
        row = stream.rows[t]
        if not split(row, running, leader):
            continue
        probability = tapered_probability(row, running, losses, spread, leader, bar) if tapered else 1.0
        if stream.coins[t] < probability:
            bought += 1
            learn(losses, spread, row, stream.labels[t], probability, nothing)
            leader = first_of(losses, running, leader)
            for i in range(models):
                running[i] = running[i] and behind(losses, spread, leader, i) <= bar
    return bought, leader


@compiled
def tapered_probability(
    row: Codes, running: Flags, losses: Floats, spread: Floats, leader: int, bar: float
) -> float:
    """How much of the way to the bar is left, at most, to a model that differs from the leader."""
    probability = LEAST
    for i in range(len(row)):
        if running[i] and row[i] != row[leader]:
            probability = max(probability, 1.0 - behind(losses, spread, leader, i) / bar)
    return probability


@compiled
def betting(stream: Stream, bar: float) -> tuple[int, int]:
    """Out of the running is who loses so much against the leader that a mixture of bets on it is rich."""
    models = stream.rows.shape[1]
    stakes = 0.9 * 1.6 ** -np.arange(8.0)
    win, lose = np.log1p(stakes), np.log1p(-stakes)
    losses, wealth = np.zeros(models), np.zeros((models, len(stakes)))
    running = np.ones(models, np.bool_)
    bought = leader = 0
    for t in range(len(stream.rows)):
        row, label = stream.rows[t], stream.labels[t]
        if not split(row, running, leader):
            continue
        bought += 1
        losses += row != label
        for i in range(models):
            if row[i] != label and row[leader] == label:
                wealth[i] += win
            elif row[i] == label and row[leader] != label:
                wealth[i] += lose
        leader = first_of(losses, running, leader)
        for i in range(models):
            running[i] = i == leader or (running[i] and math.log(np.exp(wealth[i]).mean()) < bar)
    return bought, leader


@compiled
def window(stream: Stream, period: float) -> tuple[int, int]:
    """Once a period, label that of the waiting rounds on which the plausible models split most evenly."""
    models = stream.rows.shape[1]
    losses, spread = np.zeros(models), np.full((models, models), PRIOR)
    likely, nothing = np.ones(models, np.bool_), np.zeros(models)
    waiting, tally = np.zeros(0, np.int64), np.zeros(MOST_CLASSES + 1)
    bought = leader = 0
    for t in range(len(stream.rows)):
        if not agreed(stream.rows[t]):
            waiting = np.append(waiting[1 - WINDOW :], t)
        if t // period == (t + 1) // period:
            continue
        chosen = most_divided(stream.rows, waiting, likely, tally)
        if chosen < 0:
            continue
        bought += 1
        waiting = waiting[waiting != chosen]
        learn(losses, spread, stream.rows[chosen], stream.labels[chosen], 1.0, nothing)
        leader = int(losses.argmin())
        for i in range(models):
            likely[i] = behind(losses, spread, leader, i) <= WINDOW_BAR
    return bought, leader


@compiled
def most_divided(rows: Codes, waiting: Ints, likely: Flags, tally: Floats) -> int:
    """The round with the largest entropy of the plausible models' vote; -1 if they agree on all."""
    chosen, largest = -1, 1e-9
    voters = likely.sum()
    for t in waiting:
        row = rows[t]
        for j in range(len(row)):
            tally[row[j]] += likely[j]
        entropy = 0.0
        for j in range(len(row)):
            if tally[row[j]] > 0.0:
                share = tally[row[j]] / voters
                entropy -= share * math.log(share)
            tally[row[j]] = 0.0
        if entropy > largest:
            chosen, largest = t, entropy
    return chosen


@compiled
def mistakes_behind(stream: Stream, bar: float) -> tuple[int, int]:
    """Race: out of the running is who made that many mistakes more than the leader."""
    models = stream.rows.shape[1]
    losses, running = np.zeros(models), np.ones(models, np.bool_)
    bought = leader = 0
    for t in range(len(stream.rows)):
        if split(stream.rows[t], running, leader):
            bought += 1
            losses += stream.rows[t] != stream.labels[t]
            leader = first_of(losses, running, leader)
            running &= losses - losses[leader] < bar
    return bought, leader


BARS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
MISTAKES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 25, 30, 40, 60)
SCALES = tuple(2.0**power for power in range(-6, 11))
PERIODS = tuple(2.0 ** (power / 2) for power in range(18, -1, -1))

DESIGNS = (
    Design("Model Picker, tuned", picker, SCALES),
    Design("square-root allocation", partial(allocation, votes=False), SCALES),
    Design("square-root allocation, votes as control variates", partial(allocation, votes=True), SCALES),
    Design("top two", top_two, BARS),
    Design("window of 50, label the most divided", window, PERIODS),
    Design("elimination by likelihood ratio, tapered", partial(elimination, tapered=True), BARS),
    Design("elimination by likelihood ratio", partial(elimination, tapered=False), BARS),
    Design("elimination by betting", betting, BARS),
    Design("elimination by mistakes behind the leader", mistakes_behind, MISTAKES),
)


def trials_of(case: Case, realizations: int) -> list[Trial]:
    """Streams with their models in random order, so that no design gains from the order of a collection."""
    pool = pool_of(case.collection)
    trials = []
    for number in range(realizations):
        random = np.random.default_rng((SEED, number))
        drawn = draw(pool, case.stream_size, SEED, "designs", number)
        order = random.permutation(len(drawn.mistakes))
        rows = np.ascontiguousarray(drawn.rows[:, order])
        best = (drawn.mistakes == drawn.mistakes.min())[order]
        trials.append(Trial(Stream(rows, drawn.labels, random.random(case.stream_size)), best))
    return trials


def labels_needed(design: Design, trials: list[Trial], threads: ThreadPoolExecutor) -> float:
    """The mean labels at which a design names a best model on nine of ten streams; infinite where it never does."""

    def play(dial: float, trial: Trial) -> tuple[int, bool]:
        bought, named = design.play(trial.stream, float(dial))
        return bought, bool(trial.best[named])

    sizes: list[float] = []
    shares: list[float] = []
    for dial in design.dials:
        labels, found = np.mean(list(threads.map(partial(play, dial), trials)), axis=0).tolist()
        sizes.append(labels)
        shares.append(max([found, *shares]))
        if found >= LEVEL:
            return float(np.interp(LEVEL, shares[-2:], sizes[-2:]))
    return math.inf


def measure(case: Case, realizations: int, threads: ThreadPoolExecutor) -> list[float]:
    """What every design needs on a collection."""
    trials = trials_of(case, realizations)
    needed = []
    for design in DESIGNS:
        begun = time.perf_counter()
        needed.append(labels_needed(design, trials, threads))
        took = time.perf_counter() - begun
        print(f"{case.name}: {design.name}: {shown(needed[-1])} labels ({took:.0f} s)", file=sys.stderr, flush=True)
    return needed


def shown(labels: float) -> str:
    """A count, or that it was not reached."""
    return "never" if math.isinf(labels) else f"{labels:,.0f}"


def gain(needed: Sequence[float], baseline: Sequence[float]) -> str:
    """The geometric mean of how many times fewer labels than the baseline."""
    if math.inf in (*needed, *baseline):
        return "-"
    logs = [math.log(theirs / ours) for ours, theirs in zip(needed, baseline, strict=True)]
    return f"{math.exp(sum(logs) / len(logs)):.2f}"


def main() -> None:
    """Print one row per design."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--realizations", type=int, default=300)
    parser.add_argument("--only", metavar="NAME", help="one collection only")
    given = parser.parse_args()
    needed: dict[str, list[float]] = {}
    with ThreadPoolExecutor() as threads:
        for case in benchmark_collections():
            if given.only in (None, case.name):
                needed[case.name] = measure(case, given.realizations, threads)
    if not needed:
        parser.error(f"there is no collection {given.only!r} here.")
    print("| " + " | ".join(("design", *needed, "times fewer than Model Picker")) + " |")
    print("|---" + "|--:" * (len(needed) + 1) + "|")
    rows = list(zip(*needed.values(), strict=True))
    for design, row in zip(DESIGNS, rows, strict=True):
        print("| " + " | ".join((design.name, *map(shown, row), gain(row, rows[0]))) + " |")


if __name__ == "__main__":
    main()
