"""Synthetic collections in the likeness of the paper's, which cannot be shipped: same size, same accuracies.

How alike they are is measured by `python -m benchmarks.realism`: the labels that Model Picker buys on them, by
query scale, against those that it buys on the real ones.
"""

import json
from dataclasses import dataclass
from importlib import resources

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.synthetic import synthetic_collection
from modelpicker.errors import NotFoundError, brief


@dataclass(frozen=True)
class Preset:
    """A size, and how far errors are shared."""

    items: int
    models: int
    classes: int
    difficulty: float
    kinship: float
    temptation: float


PRESETS = {
    "cifar10-like": Preset(10_000, 80, 10, difficulty=0.65, kinship=0.08, temptation=0.6),
    "cifar10-v2-like": Preset(10_000, 80, 10, difficulty=0.4, kinship=0.15, temptation=0.5),
    "imagenet-like": Preset(50_000, 102, 1_000, difficulty=0.9, kinship=0.07, temptation=0.85),
    "emocontext-like": Preset(5_509, 8, 4, difficulty=0.8, kinship=0.18, temptation=0.98),
    "drift-like": Preset(3_600, 9, 6, difficulty=0.0, kinship=0.9, temptation=0.2),
}


def preset_collection(name: str, seed: int = 0, items: int | None = None) -> ModelCollection:
    """A collection in the likeness of one of the paper's, with its models' recorded accuracies."""
    if name not in PRESETS:
        raise NotFoundError(f"there is no preset {brief(name)}; there are {', '.join(PRESETS)}.")
    preset = PRESETS[name]
    recorded = json.loads((resources.files("modelpicker.collections.data") / "recorded.json").read_text("utf-8"))
    names, accuracies, families = zip(*recorded[name], strict=True)
    return synthetic_collection(
        preset.items if items is None else items,
        names,
        preset.classes,
        accuracies,
        seed,
        families=families,
        difficulty=preset.difficulty,
        kinship=preset.kinship,
        temptation=preset.temptation,
    )
