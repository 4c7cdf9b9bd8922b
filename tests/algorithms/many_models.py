"""Streams of many kinds and what pickers decide on them, as checksums: the same at any number of models.

    python -m tests.algorithms.many_models

prints them; tests/algorithms/many_models.json holds what was printed before pickers kept less for many models.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream

Array = npt.NDArray[Any]

# Models and rounds; certificates are read for all, but labels come late only where rounds are interpreted quickly.
SIZES = ((2, 1_500), (3, 1_500), (8, 1_500), (33, 1_200), (80, 1_000), (150, 700), (300, 500))
INTERPRETED = 33
SEEDS = (1, 2)

MAKERS: dict[str, Callable[[int, int], mp.Algorithm]] = {
    "race": lambda models, seed: mp.Race(models, seed, tolerance=0.02),
    "race that watches": lambda models, seed: mp.Race(models, seed, tolerance=0.1, exploration=0.1),
    "impatient race": lambda models, seed: mp.Race(models, seed, tolerance=0.005, patience=9.5),
    "race with prices": lambda models, seed: mp.Race(
        models, seed, tolerance=0.1, price=[1 + i % 5 for i in range(models)]
    ),
    "model picker": lambda models, seed: mp.ModelPicker(models, seed, query_scale=4.0),
    "label efficient": lambda models, seed: mp.LabelEfficient(models, seed, probability=0.3),
}


def streams(models: int, rounds: int, seed: int) -> Iterator[tuple[str, Array, Any]]:
    """Plain ones; with abstentions, skips and models that were not run; with grades."""
    yield "plain", *make_stream(seed, rounds, models, 5)
    rows, labels = make_stream(seed + 10, rounds, models, 4, abstaining=0.1, skipped=0.15)
    absent = np.random.default_rng(seed).random(rows.shape) < 0.03
    rows[absent] = mp.NOT_RUN
    yield "with gaps", rows, labels
    half = rounds // 2
    rows, labels = make_stream(seed + 20, rounds, models, 3)
    rows[half:] = rows[half:, ::-1]
    yield "turning", rows, labels


def digits(*parts: object) -> str:
    """Eight digits that stand for numbers and arrays, to the last bit."""
    checksum = 0
    for part in parts:
        raw = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
        checksum = zlib.crc32(raw, checksum)
    return f"{checksum:08x}"


def as_recorded(remark: str) -> str:
    """A remark in the words of when the checksums were recorded."""
    for word, before in (("No other model is", "Nobody else is"), ("it continues as", "it goes on as")):
        remark = remark.replace(word, before)
    return remark


def end_of(picker: mp.Algorithm) -> tuple[Any, ...]:
    """What a picker says in the end, and what it has proved."""
    gaps = [
        picker.certificate(confidence, kind, label_noise=noise).gap
        for confidence in (0.5, 0.95)
        for kind in ("stream", "population")
        for noise in (0.0, 0.01)
    ] if len(picker.models) <= 256 else []  # fmt: skip
    return (
        picker.losses,
        picker.recommended,
        picker.labels_used,
        picker.rounds,
        picker.racing,
        as_recorded(picker.remark),
        gaps,
    )


def whole(picker: mp.Algorithm, rows: Array, labels: Any) -> str:
    """A stream at once."""
    trace = mp.run_stream(picker, rows, labels)
    return digits(trace.queried, trace.probability, trace.recommended, trace.predicted, *end_of(picker))


def late(picker: mp.Algorithm, rows: Array, labels: Array, seed: int) -> str:
    """Round by round, labels in another order than they were asked for, some of them never."""
    rng, said = np.random.default_rng(seed), []
    for row in rows[:400]:
        decision = picker.observe(row)
        said.append((decision.query, decision.probability, decision.recommended, decision.prediction))
        for number in picker.open_queries:
            if rng.random() < 0.2:
                label = int(labels[number])
                picker.learn(number, None if label < 0 or rng.random() < 0.1 else label)
    return digits(said, *end_of(picker))


def stopped(picker: mp.Algorithm, rows: Array, labels: Array, noise: float) -> str:
    """Until it is certified."""
    if picker.aim is not None or len(picker.models) > 256:
        return "-"
    found = []
    for rule in (mp.Certified(0.15, 0.9, "population"), mp.Certified(0.25, 0.9, "stream")):
        again = type(picker).from_state_dict(json.loads(json.dumps(picker.state_dict())))
        trace = mp.run_stream(again, rows, labels, stop_when=rule, label_noise=noise)
        proven = trace.certificate
        found.append((len(trace), proven and (proven.model, proven.gap, proven.rounds)))
    return digits(found)


def graded(picker: type[mp.Algorithm], models: int, seed: int) -> str:
    """With grades in place of labels; on every other round one answer has none."""
    rng = np.random.default_rng(seed)
    rows, best = make_stream(seed + 30, 300, models, 4)
    labels = [
        mp.Label.graded({answer: 1.0 if answer == right else rng.random() for answer in range(4 - place % 2)})
        for place, right in enumerate(best.tolist())
    ]
    return whole(picker(models, seed, loss="grades"), rows, labels)


def checksums() -> Iterator[tuple[str, str]]:
    """All of them, by what they are of."""
    for models, rounds in SIZES:
        for seed in SEEDS:
            for stream, rows, labels in streams(models, rounds, seed):
                for name, make in MAKERS.items():
                    key = f"{models} models, seed {seed}, {stream}, {name}"
                    yield f"{key}, whole", whole(make(models, seed), rows, labels)
                    if models <= INTERPRETED and seed == SEEDS[0]:
                        yield f"{key}, late", late(make(models, seed), rows, labels, seed)
                    if seed == SEEDS[0]:
                        yield f"{key}, stopped", stopped(make(models, seed), rows, labels, 0.0)
                if stream == "plain":
                    picker = MAKERS["label efficient"](models, seed)
                    yield f"{models} models, seed {seed}, noise, stopped", stopped(picker, rows, labels, 0.002)
            for kind in (mp.Race, mp.ModelPicker):
                yield f"{models} models, seed {seed}, grades, {kind.name}", graded(kind, models, seed)


if __name__ == "__main__":
    print(json.dumps(dict(checksums()), indent=0))
