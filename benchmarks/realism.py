"""How near synthetic collections come to the paper's: labels that Model Picker buys, by query scale.

The authors recorded that curve on their own collections; here it is measured on the presets that imitate these.

    python -m benchmarks.realism [DIR]      DIR holds the recorded curves
"""

import csv
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from modelpicker.collections.presets import PRESETS, preset_collection

RECORDED = Path(os.environ.get("MODELPICKER_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")) / "recorded"
STREAM_SIZES = {"cifar10-like": 5_000, "cifar10-v2-like": 5_000, "imagenet-like": 10_000}
# ImageNet was recorded without the floor that every query probability has, so only large scales can be compared.
SMALLEST_SCALES = {"imagenet-like": 1.0}
WANTED = 0.25


class Curve(NamedTuple):
    """Mean numbers of labels by query scale, recorded and measured."""

    scales: npt.NDArray[np.float64]
    recorded: npt.NDArray[np.float64]
    measured: npt.NDArray[np.float64]

    @property
    def deviation(self) -> float:
        """The mean relative deviation of what is measured from what was recorded."""
        return float(np.abs(self.measured / self.recorded - 1).mean())


def read_record(name: str, folder: Path) -> npt.NDArray[np.float64]:
    """Query scales and mean numbers of labels that the authors recorded."""
    path = folder / f"{name.removesuffix('-like')}_labels_by_hyperparameter.csv"
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "model-picker"]
    points = np.array([[float(row["hyperparameter"]), float(row["mean_labels"])] for row in rows])
    return points[points[:, 0] >= SMALLEST_SCALES.get(name, 0.0)]


def measure(name: str, folder: Path, points: int, realizations: int) -> Curve:
    """The recorded curve at some scales, and what Model Picker buys there on the preset."""
    record = read_record(name, folder)
    chosen = record[np.linspace(0, len(record) - 1, points).astype(int)]
    collection = preset_collection(name)
    size, labels = STREAM_SIZES[name], np.asarray(collection.labels)
    bought = np.zeros((points, realizations))
    for seed in range(realizations):
        items = np.random.default_rng(seed).permutation(len(collection))[:size]
        for place, scale in enumerate(chosen[:, 0]):
            picker = mp.ModelPicker(len(collection.models), seed, query_scale=float(scale))
            trace = mp.run_stream(picker, collection.predictions[items], labels[items])
            bought[place, seed] = trace.labels_used
    return Curve(chosen[:, 0], chosen[:, 1], bought.mean(axis=1))


def main() -> None:
    """Print every curve beside its record."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORDED
    if not folder.exists():
        sys.exit(f"{folder} does not exist; pass the folder with the recorded curves.")
    for name in PRESETS:
        curve = measure(name, folder, points=20, realizations=20)
        print(f"{name}: labels by query scale")
        print(f"{'scale':>12} {'recorded':>10} {'measured':>10} {'deviation':>10}")
        for scale, recorded, measured in zip(*curve, strict=True):
            print(f"{scale:12.4f} {recorded:10.0f} {measured:10.0f} {measured / recorded - 1:+10.1%}")
        verdict = "as wanted" if curve.deviation <= WANTED else "MORE THAN WANTED"
        print(
            f"mean relative deviation {curve.deviation:.1%} (wanted: at most {WANTED:.0%}): {verdict}\n", flush=True
        )


if __name__ == "__main__":
    main()
