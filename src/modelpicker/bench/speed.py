"""Measurements of speed, each a ratio or a rate taken in one run on one core."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from modelpicker.algorithms import (
    Algorithm,
    EfficientActive,
    ImportanceWeighted,
    LabelEfficient,
    ModelPicker,
    StructuralCommittee,
    Trace,
    VoteEntropy,
    run_stream,
)
from modelpicker.bench import textbook
from modelpicker.bench.streams import make_stream
from modelpicker.coins import draw_coins
from modelpicker.encoding import Array

KERNEL_SECONDS = 0.3  # a kernel is timed for so long before its textbook, and again after it
TEXTBOOK_SECONDS = 1.0  # a textbook run shorter than this is repeated, and the best is taken
STEP_ROUNDS = 50  # so few that every one of them is queried
DECADES = (10_000, 100_000, 1_000_000)
WIDTHS = (50, 500)


@dataclass(frozen=True)
class Case:
    """One algorithm on one shape of stream."""

    algorithm: type[Algorithm]
    written: textbook.Textbook
    rounds: int
    models: int
    classes: int
    wanted: int
    options: Mapping[str, float] = field(default_factory=dict)
    only_kernel: Mapping[str, float] = field(default_factory=dict)

    def picker(self) -> Algorithm:
        """The algorithm with this case's options."""
        return self.algorithm(self.models, 0, **self.options, **self.only_kernel)


CASES = (
    Case(ModelPicker, textbook.model_picker, 10_000, 102, 1_000, wanted=4_000),
    Case(ModelPicker, textbook.model_picker, 1_000, 8, 4, wanted=200),
    Case(VoteEntropy, textbook.vote_entropy, 5_000, 80, 10, wanted=300, only_kernel={"classes": 10}),
    Case(
        ImportanceWeighted,
        textbook.importance_weighted,
        *(5_000, 80, 10),
        wanted=300,
        options={"query_scale": 0.3},
    ),
    Case(
        EfficientActive,
        textbook.efficient_active,
        *(5_000, 80, 10),
        wanted=300,
        options={"c0": 1e-3, "threshold_scale": 5.0},
    ),
    Case(LabelEfficient, textbook.label_efficient, 5_000, 80, 10, wanted=100, options={"probability": 0.3}),
    Case(StructuralCommittee, textbook.structural_committee, 5_000, 80, 10, wanted=80, options={"beta": 0.3}),
)


@dataclass(frozen=True)
class Ratio:
    """A kernel against its textbook transcription, on the same stream and the same coins."""

    method: str
    rounds: int
    models: int
    classes: int
    textbook_seconds: float
    kernel_seconds: float
    ratio: float
    wanted: int
    same_decisions: bool


@dataclass(frozen=True)
class Growth:
    """How much longer ten times the rounds take, or ten times the models."""

    method: str
    seconds: dict[int, float]
    ratios: list[float]


@dataclass(frozen=True)
class Step:
    """One observe and one learn from Python, interpreted."""

    method: str
    models: int
    microseconds: float


def measure_ratios(cases: tuple[Case, ...] = CASES) -> Iterator[Ratio]:
    """Each case's kernel against its textbook."""
    for case in cases:
        predictions, labels = make_stream(case.rounds, case.models, case.classes)
        coins = draw_coins(0, 0, case.rounds)
        trace = _run(case, predictions, labels)
        run = partial(_run, case, predictions, labels)
        kernel = fastest_within(run, KERNEL_SECONDS)
        write = partial(case.written, predictions, labels, coins, case.classes, **case.options)
        started = time.perf_counter()
        written = write()
        slow = time.perf_counter() - started
        if slow < TEXTBOOK_SECONDS:
            slow = min(slow, fastest(write, 2))
        kernel = min(kernel, fastest_within(run, KERNEL_SECONDS))
        yield Ratio(
            method=case.algorithm.name,
            rounds=case.rounds,
            models=case.models,
            classes=case.classes,
            textbook_seconds=slow,
            kernel_seconds=kernel,
            ratio=slow / kernel,
            wanted=case.wanted,
            same_decisions=bool(
                np.array_equal(written.queried, trace.queried)
                and np.array_equal(written.recommended, trace.recommended)
            ),
        )


def measure_growth(cases: tuple[Case, ...] = CASES[1:], models: int = 20) -> Iterator[Growth]:
    """Each algorithm on streams of ten thousand to a million rounds."""
    predictions, labels = make_stream(max(DECADES), models, 10)
    for case in cases:
        few = replace(case, models=models)
        _run(few, predictions[:10], labels[:10])
        runs = {rounds: partial(_run, few, predictions[:rounds], labels[:rounds]) for rounds in DECADES}
        seconds = fastest_of_each(runs, 7)
        ratios = [seconds[10 * rounds] / seconds[rounds] for rounds in DECADES[:-1]]
        yield Growth(case.algorithm.name, seconds, ratios)


def measure_width(cases: tuple[Case, ...] = CASES[1:], rounds: int = 5_000) -> Iterator[Growth]:
    """Each algorithm on streams of few and of many models."""
    streams = {models: make_stream(rounds, models, 10) for models in WIDTHS}
    for case in cases:
        runs = {models: partial(_run, replace(case, models=models), *stream) for models, stream in streams.items()}
        seconds = fastest_of_each(runs, 5)
        yield Growth(case.algorithm.name, seconds, [seconds[WIDTHS[1]] / seconds[WIDTHS[0]]])


def measure_step(models: int = 102) -> Step:
    """Model Picker one round at a time, every round queried."""
    predictions, labels = make_stream(STEP_ROUNDS, models, 1_000)
    rows = predictions.tolist()

    def once() -> None:
        picker = ModelPicker(models, query_scale=1e9)
        for row, label in zip(rows, labels.tolist(), strict=True):
            picker.learn(picker.observe(row).round, label)

    return Step(ModelPicker.name, models, fastest(once, 20) / STEP_ROUNDS * 1e6)


def _run(case: Case, predictions: Array, labels: Array) -> Trace:
    return run_stream(case.picker(), predictions, labels)


def fastest_of_each(runs: Mapping[int, Callable[[], object]], repeats: int) -> dict[int, float]:
    """The shortest time of each run, taken in turns so that a busy spell hits all alike."""
    times = [{size: fastest(run, 1) for size, run in runs.items()} for _ in range(repeats)]
    return {size: min(turn[size] for turn in times) for size in runs}


def fastest_within(run: Callable[[], object], seconds: float) -> float:
    """The shortest of the times that fit into a span, so that no busy spell fills it."""
    until = time.perf_counter() + seconds
    best = fastest(run, 1)
    while time.perf_counter() < until:
        best = min(best, fastest(run, 1))
    return best


def fastest(run: Callable[[], object], repeats: int) -> float:
    """The shortest of several times: noise of a shared machine only ever adds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)
