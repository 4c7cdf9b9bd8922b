"""Judges of every kind: what each says about items whose labels are known."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import modelpicker as mp

KINDS = ("good", "guessing", "silent in part", "always wrong", "unknown classes")
# For tests that take long: one kind is quick, the others are among the slow ones.
FIRST_IS_QUICK = [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])]


def judge_of(kind: str, labels: Sequence[str], seed: int = 0) -> list[str | None]:
    """What a judge of this kind says about items with these labels."""
    random, classes = np.random.default_rng(seed), sorted(set(labels))
    others = {label: [name for name in classes if name != label] or [f"not {label}"] for label in classes}
    guesses = [str(random.choice(classes)) for _ in labels]
    right = random.random(len(labels)) < 0.9
    said: dict[str, list[str | None]] = {
        "good": [label if right[place] else guesses[place] for place, label in enumerate(labels)],
        "guessing": [*guesses],
        "silent in part": [label if place % 3 else None for place, label in enumerate(labels)],
        "always wrong": [others[label][place % len(others[label])] for place, label in enumerate(labels)],
        "unknown classes": [f"{label}?!x" for label in labels],
    }
    return said[kind]


def labels_of(items: mp.ModelCollection) -> list[str]:
    """The labels of a collection, by name."""
    assert items.labels is not None
    return [str(items.classes[int(code)]) for code in items.labels]


def with_column(items: mp.ModelCollection, said: Sequence[str | None], name: str = "gpt") -> mp.ModelCollection:
    """The same items with a column for what a judge says."""
    fields = {**items.fields, name: list(said)}
    return mp.ModelCollection.of_codes(items.predictions, items.labels, items.models, items.classes, fields)


def write_csv(path: Path, items: mp.ModelCollection, *, labelled: bool = True) -> Path:
    """A file of a collection, with its fields."""
    names = [*items.classes, ""]
    labels = labels_of(items)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*items.fields, *items.models, *(["label"] if labelled else [])])
        for place, row in enumerate(items.predictions.tolist()):
            shown = [values[place] for values in items.fields.values()]
            writer.writerow([*shown, *(names[code] for code in row), *([labels[place]] if labelled else [])])
    return path
