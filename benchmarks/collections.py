"""The collections that several benchmarks share: four of real models, four made up to be difficult.

EmoContext and Drift are read from MODELPICKER_TEST_DATA, by default ../shared/data, and left out where absent.
"""  # noqa: A005 - hides nothing from `python -m benchmarks.x`

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import modelpicker as mp
from modelpicker.collections.presets import preset_collection

DATA = Path(os.environ.get("MODELPICKER_TEST_DATA", "../shared/data"))
SEED = 7


class Case(NamedTuple):
    """A collection, and how long the streams are that are drawn from it."""

    name: str
    collection: mp.ModelCollection
    stream_size: int


def benchmark_collections() -> Iterator[Case]:
    """Those that are here, each made or read when it is its turn."""
    for name, stream_size in (("emocontext", 1000), ("drift", 2500)):
        if (DATA / name).exists():
            yield Case(name, mp.load_collection(DATA / name), stream_size)
        else:
            print(f"{name} left out: {DATA / name} is not there; set MODELPICKER_TEST_DATA.", file=sys.stderr)
    yield Case("digits", mp.load_collection("digits"), 1000)
    yield Case("cifar10", mp.load_collection("cifar10"), 5000)
    yield Case("binary, 100 models, many bad", many_bad(), 5000)
    yield Case("near tie", near_tie(), 2500)
    yield Case("10 classes, abstentions", abstentions(), 2500)
    yield Case("1,000 classes", preset_collection("imagenet-like", 0, 20_000), 5000)


def many_bad() -> mp.ModelCollection:
    """Of 100 models on a binary task, 80 are little better than a coin."""
    random = np.random.default_rng(SEED)
    accuracies = [*random.uniform(0.45, 0.62, 80), *random.uniform(0.62, 0.80, 17), 0.82, 0.84, 0.86]
    return mp.synthetic_collection(
        10_000, 100, 2, random.permutation(accuracies).tolist(), seed=1, difficulty=0.3, kinship=0.2
    )


def near_tie() -> mp.ModelCollection:
    """The best of ten models and its runner-up are 0.2 % apart."""
    accuracies = [0.70, 0.74, 0.78, 0.80, 0.81, 0.82, 0.83, 0.84, 0.848, 0.85]
    return mp.synthetic_collection(10_000, 10, 4, accuracies, seed=2, difficulty=0.5, kinship=0.2)


def abstentions() -> mp.ModelCollection:
    """Twenty models that abstain, some never and some on a quarter of the items, which counts as a mistake."""
    random = np.random.default_rng(SEED)
    accuracies = random.permutation(np.linspace(0.55, 0.86, 20)).tolist()
    whole = mp.synthetic_collection(10_000, 20, 10, accuracies, seed=3)
    abstained = random.uniform(0.0, 0.25, 20)
    predictions = np.asarray(whole.predictions).astype(np.int64)
    predictions[random.random(predictions.shape) < abstained] = -1
    return mp.ModelCollection(predictions, np.asarray(whole.labels))
