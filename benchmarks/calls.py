"""Calls of models, beside labels: UCB-E, UCB-E-LRF, and Race and pools with models left out once they are beaten.

    python -m benchmarks.calls [--files 100] [--case digits] [--only pool]

The table of docs/how-to/calls.md. UCB-E (Zhou et al., ICLR 2025; the bandit is Audibert and Bubeck's, COLT 2010)
chooses which model to run on which item next. It needs the label of every item that any model is run on. Written
from the paper: next comes the model with the largest mean plus sqrt(a / n), where n counts the items it was run on,
and an item is drawn from those it was not run on. The model with the largest mean is named.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.collections import Case
from benchmarks.pools import MOST, Given, pool_cases
from benchmarks.ucb_e_lrf import run_ucb_e_lrf
from modelpicker.algorithms.pools.pool_state import error_share, grow, has_bets
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.realizations import Realization, draw, key_of
from modelpicker.experiments.tasks import EVALUATION
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import Floats, Ints

LEVELS = (0.8, 0.9, 0.95)
CASES = ("emocontext", "drift", "digits", "cifar10")
EXPLORATIONS = (0.1, 1.0, 10.0)
SEED = 0
# A pool in parts gets the next part after that many labels.
PARTS, LABELS_PER_PART = 10, 20
# A model that is out of the race there is not run any more if it is behind by that many standard deviations.
CLEARLY = 3.0
# UCB-E-LRF fits all scores after every 32 calls, which takes long with more models.
MOST_MODELS = 20
Mask = npt.NDArray[np.bool_]


class Course(NamedTuple):
    """How a method went through one file, step by step."""

    calls: Ints
    """By then."""
    labels: Ints
    named: Mask
    """Whether the best model was the one named then."""


class Reached(NamedTuple):
    """Calls after which the best model is named in a share of the files permanently, and mean labels by then."""

    calls: float
    labels: float


def explore(
    lost: Floats, order: Ints, a: float, seen: Ints, sums: Floats, runs: Ints, named: Ints, labels: Ints
) -> None:
    """UCB-E: run one model on one item at a time, and note who is named and how many items are labelled by then."""
    items, models = lost.shape
    for step in range(len(named)):
        chosen = -1
        largest = -1.0
        for f in range(models):
            if runs[f] < items:
                bound = 1e9 if runs[f] == 0 else sums[f] / runs[f] + math.sqrt(a / runs[f])
                if bound > largest:
                    chosen, largest = f, bound
        item = order[chosen, runs[chosen]]
        sums[chosen] += 1.0 - lost[item, chosen]
        runs[chosen] += 1
        labels[step] = (labels[step - 1] if step > 0 else 0) + (1 - seen[item])
        seen[item] = 1
        best = -1
        for f in range(models):
            if runs[f] > 0 and (best < 0 or sums[f] * runs[best] > sums[best] * runs[f]):
                best = f
        named[step] = best


_explore = CompiledKernel(explore, {}, "UCB-E")


def run_ucb_e(lost: npt.NDArray[np.float64], a: float, seed: int, steps: int | None = None) -> tuple[Ints, Ints]:
    """Who is named after each call, and how many items are labelled by then; models come in a random order."""
    items, models = lost.shape
    random = np.random.default_rng(seed)
    places = random.permutation(models)
    order = np.stack([random.permutation(items) for _ in range(models)])
    total = items * models if steps is None else steps
    named, labels = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    given = np.ascontiguousarray(lost[:, places])
    runs, seen = np.zeros(models, dtype=np.int64), np.zeros(items, dtype=np.int64)
    _explore(given, order, a, seen, np.zeros(models), runs, named, labels)
    return places[named], labels


def ucb_e(file: Realization, a: float, seed: int) -> Course:
    """UCB-E on one file."""
    named, labels = run_ucb_e((file.rows != file.labels[:, None]).astype(np.float64), a, seed)
    return Course(np.arange(1, len(named) + 1), labels, file.mistakes[named] == file.mistakes[file.best])


def race(file: Realization, seed: int, **options: Any) -> Course:
    """Race on one file as a stream: models that are out are not run any more."""
    models = file.rows.shape[1]
    picker = mp.Race(models, seed % 2**64, **options)
    racing, calls, labels, named = picker.racing, [0], [0], []
    for row, label in zip(file.rows.tolist(), file.labels.tolist(), strict=True):
        left = set(racing)
        decision = picker.observe([code if model in left else mp.NOT_RUN for model, code in enumerate(row)])
        if decision.query:
            picker.learn(decision.round, label)
        racing = picker.racing
        calls.append(calls[-1] + len(left))
        labels.append(picker.labels_used)
        named.append(file.mistakes[int(picker.recommended)] == file.mistakes[file.best])
        if picker.finished:
            break
    return Course(np.array(calls[1:]), np.array(labels[1:]), np.array(named, dtype=np.bool_))


def pool(file: Realization, seed: int) -> Course:
    """A pool: all models were run on all items before the first label."""
    picker = mp.PoolPicker(np.asarray(file.rows), seed=seed % 2**32, tolerance=0.0)
    trace = mp.run_pool(picker, np.asarray(file.labels), budget=MOST)
    named = file.mistakes[np.asarray(trace.recommended)] == file.mistakes[file.best]
    return Course(np.full(len(named), file.rows.size), np.arange(len(named)), named)


def pool_in_parts(file: Realization, seed: int) -> Course:
    """A pool that grows by a tenth of the file after every few labels; who is beaten is not run any more."""
    items, models = file.rows.shape
    size = -(-items // PARTS)
    classes = tuple(range(1 + int(max(file.rows.max(), file.labels.max()))))
    whole = np.asarray(file.rows)
    picker = mp.PoolPicker(mp.ModelCollection(whole[:size], classes=classes), seed=seed % 2**32, tolerance=0.0)
    racing, known = np.ones(models, dtype=np.bool_), whole[:size].size
    calls, named, growths, told = [known], [_is_best(file, picker)], 0, 0
    while picker.labels_used < MOST:
        asked = [] if picker.done else picker.ask(1)
        for item in asked:
            picker.tell(item, int(file.labels[item]))
            told += 1
            calls.append(known)
            named.append(_is_best(file, picker))
        grown = len(picker)
        if (not asked or told >= LABELS_PER_PART) and (grown == items or racing.sum() == 1):
            if not asked:
                break
        elif not asked or told >= LABELS_PER_PART:
            racing &= ~_clearly_beaten(picker, whole[:grown])
            added = np.where(racing, whole[grown : grown + size], mp.NOT_RUN)
            if racing.sum() > 1:
                growths += has_bets(picker)
                grow(picker, added, classes, error_share(growths))
                known += int(racing.sum()) * len(added)
            told = 0
    return Course(np.array(calls), np.arange(len(calls)), np.array(named, dtype=np.bool_))


def _clearly_beaten(picker: mp.PoolPicker, rows: npt.NDArray[Any]) -> Mask:
    """The models that are out of the race on the items so far, and further behind than these happen to differ.

    The items so far are drawn at random from the file: by their number, the gap on them spreads around that on all.
    """
    best = picker.recommended_index
    out = ~np.isin(np.arange(rows.shape[1]), [picker.models.index(name) for name in picker.racing])
    spread = np.sqrt((rows != rows[:, [best]]).sum(axis=0)) / len(rows)
    return np.asarray(out & (np.array(list(picker.standing.values())) > CLEARLY * spread))


def _is_best(file: Realization, picker: mp.PoolPicker) -> bool:
    return bool(file.mistakes[picker.recommended_index] == file.mistakes[file.best])


def ucb_e_lrf(file: Realization, seed: int) -> Course:
    """UCB-E-LRF on one file."""
    calls, labels, named = run_ucb_e_lrf((file.rows != file.labels[:, None]).astype(np.float64), seed % 2**32)
    return Course(calls, labels, file.mistakes[named] == file.mistakes[file.best])


def all_models(file: Realization) -> Course:
    """Every model on one item after the other, in random order."""
    items, models = file.rows.shape
    lost = np.cumsum(file.rows != file.labels[:, None], axis=0)
    named = file.mistakes[lost.argmin(axis=1)] == file.mistakes[file.best]
    return Course(models * np.arange(1, items + 1), np.arange(1, items + 1), named)


def reached(courses: list[Course], level: float) -> Reached:
    """When a share of the files has the best model named, never to be lost again.

    Who continues for longer than others is compared with their last word.
    """
    marks = np.unique(np.concatenate([course.calls for course in courses]))
    if len(marks) == 1:
        return _by_labels(courses, level)
    places = [np.searchsorted(course.calls, marks, side="right") - 1 for course in courses]
    named = np.stack(
        [np.where(at >= 0, course.named[at], False) for at, course in zip(places, courses, strict=True)]
    )
    at = _for_good(named.mean(axis=0), level)
    if at is None:
        return Reached(math.inf, math.inf)
    bought = [course.labels[max(0, place[at])] for course, place in zip(courses, places, strict=True)]
    return Reached(float(marks[at]), float(np.mean(bought)))


def _by_labels(courses: list[Course], level: float) -> Reached:
    """The same where all calls are made at once, and only labels are bought step by step."""
    longest = max(len(course.named) for course in courses)
    named = np.stack([np.append(c.named, np.full(longest - len(c.named), c.named[-1])) for c in courses])
    at = _for_good(named.mean(axis=0), level)
    return Reached(float(courses[0].calls[0]), math.inf if at is None else float(at))


def _for_good(share: Floats, level: float) -> int | None:
    """The first place from which on a share never falls below a level."""
    below = np.flatnonzero(share < level - 1e-9)
    first = int(below[-1]) + 1 if len(below) else 0
    return first if first < len(share) else None


def methods(case: Case, files: int, only: str | None = None) -> Iterator[tuple[str, list[Course]]]:
    """Every method on the same files, or only one of them."""
    source = pool_of(case.collection)
    drawn = [draw(source, case.stream_size, SEED, EVALUATION, number) for number in range(files)]
    played: dict[str, tuple[str, Callable[[Realization, int], Course]]] = {
        "all models": ("all", lambda file, _: all_models(file)),
        **{f"UCB-E, a = {a:g}": ("ucb-e", partial(_ucb_e, a)) for a in EXPLORATIONS},
        "UCB-E-LRF": ("ucb-e-lrf", ucb_e_lrf),
        "Race": ("race", race),
        "Race, patience 10": ("race", partial(race, patience=10)),
        "pool": ("pool", pool),
        "pool in parts": ("pool", pool_in_parts),
    }
    for name, (key, play) in played.items():
        slow = name == "UCB-E-LRF" and drawn[0].rows.shape[1] > MOST_MODELS
        if only in (None, name) and not slow:
            yield name, [play(file, key_of(SEED, number, key)) for number, file in enumerate(drawn)]


def _ucb_e(a: float, file: Realization, seed: int) -> Course:
    return ucb_e(file, a, seed)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--only")
    given = parser.parse_args()
    print("| collection | method | " + " | ".join(f"{level:.0%}" for level in LEVELS) + " |")
    print("|---|---|" + "---:|" * len(LEVELS))
    for case in pool_cases(Given(given.files, 0, given.case)):
        if case.name not in CASES:
            continue
        every = case.stream_size * len(case.collection.models)
        for name, courses in methods(case, given.files, given.only):
            cells = [reached(courses, level) for level in LEVELS]
            shown = [
                f"{cell.calls / every:.1%}, {cell.labels:,.0f}" if cell.labels < math.inf else "never"
                for cell in cells
            ]
            print(f"| {case.name} | {name} | {' | '.join(shown)} |", flush=True)
        print(f"{case.name}: {case.stream_size:,} items, {every:,} calls.", file=sys.stderr)


if __name__ == "__main__":
    main()
