"""How near synthetic collections come to the paper's: labels that Model Picker buys, by query scale.

The authors recorded that curve on their own collections; here it is measured on the presets that imitate these. On
Drift nothing was recorded, so the curve is measured on its predictions, which the authors released.

    python -m benchmarks.realism [DIR]      DIR holds recorded/, emocontext/ and drift/
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

DATA = Path(os.environ.get("MODELPICKER_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
STREAM_SIZES = {
    "cifar10-like": 5_000,
    "cifar10-v2-like": 5_000,
    "imagenet-like": 10_000,
    "emocontext-like": 1_000,
    "drift-like": 2_500,
}
# ImageNet was recorded without the floor that every query probability has, so only large scales can be compared.
SMALLEST_SCALES = {"imagenet-like": 1.0}
# Where nothing was recorded: the range of scales of EmoContext's record, and enough streams to make a record of.
SCALES = (2.0**-12, 60.0)
REAL_REALIZATIONS = 100
WANTED = 0.25

FloatArray = npt.NDArray[np.float64]


class Curve(NamedTuple):
    """Mean numbers of labels by query scale, recorded and measured."""

    scales: FloatArray
    recorded: FloatArray
    measured: FloatArray

    @property
    def deviation(self) -> float:
        """The mean relative deviation of what is measured from what was recorded."""
        return float(np.abs(self.measured / self.recorded - 1).mean())


class Disagreement(NamedTuple):
    """The share of items on which models disagree: any of them, and the two that do so least and most."""

    any: float
    least: float
    most: float


def disagreement(collection: mp.ModelCollection) -> Disagreement:
    """On how many items the models of a collection disagree."""
    codes = collection.predictions
    pairs = [(codes[:, one] != codes[:, two]).mean() for one in range(codes.shape[1]) for two in range(one)]
    return Disagreement(float((codes != codes[:, :1]).any(axis=1).mean()), float(min(pairs)), float(max(pairs)))


def real_folder(name: str, folder: Path) -> Path:
    """Where the collection that a preset imitates is, if it is to be had."""
    return folder / name.removesuffix("-like")


def labels_bought(collection: mp.ModelCollection, scales: FloatArray, size: int, realizations: int) -> FloatArray:
    """Mean numbers of labels that Model Picker buys on random streams of the collection, by query scale."""
    labels = np.asarray(collection.labels)
    bought = np.zeros(len(scales))
    for seed in range(realizations):
        items = np.random.default_rng(seed).permutation(len(collection))[:size]
        for place, scale in enumerate(scales):
            picker = mp.ModelPicker(len(collection.models), seed, query_scale=float(scale))
            trace = mp.run_stream(picker, collection.predictions[items], labels[items])
            bought[place] += trace.labels_used / realizations
    return bought


def read_record(name: str, path: Path, points: int) -> tuple[FloatArray, FloatArray]:
    """Some query scales, and the mean numbers of labels that the authors recorded there."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "model-picker"]
    record = np.array([[float(row["hyperparameter"]), float(row["mean_labels"])] for row in rows])
    record = record[record[:, 0] >= SMALLEST_SCALES.get(name, 0.0)]
    chosen = record[np.linspace(0, len(record) - 1, points).astype(int)]
    return chosen[:, 0], chosen[:, 1]


def real_curve(name: str, folder: Path, points: int) -> tuple[FloatArray, FloatArray]:
    """Some query scales, and the mean numbers of labels bought there on the real collection."""
    path = folder / "recorded" / f"{name.removesuffix('-like')}_labels_by_hyperparameter.csv"
    if path.exists():
        return read_record(name, path, points)
    real = mp.load_collection(real_folder(name, folder))
    scales = np.geomspace(*SCALES, points)
    return scales, labels_bought(real, scales, STREAM_SIZES[name], REAL_REALIZATIONS)


def measure(name: str, folder: Path, points: int, realizations: int) -> Curve:
    """The curve of the real collection at some scales, and what Model Picker buys there on the preset."""
    scales, recorded = real_curve(name, folder, points)
    return Curve(scales, recorded, labels_bought(preset_collection(name), scales, STREAM_SIZES[name], realizations))


def print_curve(name: str, curve: Curve) -> None:
    """Print a curve beside its record."""
    print(f"{name}: labels by query scale")
    print(f"{'scale':>12} {'recorded':>10} {'measured':>10} {'deviation':>10}")
    for scale, recorded, measured in zip(*curve, strict=True):
        print(f"{scale:12.4f} {recorded:10.0f} {measured:10.0f} {measured / recorded - 1:+10.1%}")
    verdict = "as wanted" if curve.deviation <= WANTED else "MORE THAN WANTED"
    print(f"mean relative deviation {curve.deviation:.1%} (wanted: at most {WANTED:.0%}): {verdict}")


def print_disagreement(made: Disagreement, real: Disagreement) -> None:
    """Print on how many items models disagree, beside the real collection."""
    print(f"models disagree on {made.any:.1%} of the items (real: {real.any:.1%});")
    print(f"two models on {made.least:.1%} to {made.most:.1%} (real: {real.least:.1%} to {real.most:.1%})")


def main() -> None:
    """Print how near every preset comes."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    for part in ("recorded", "drift"):
        if not (folder / part).exists():
            sys.exit(f"{folder / part} does not exist; pass the folder that holds it.")
    for name in PRESETS:
        print_curve(name, measure(name, folder, points=20, realizations=20))
        if (place := real_folder(name, folder)).exists():
            print_disagreement(disagreement(preset_collection(name)), disagreement(mp.load_collection(place)))
        print(flush=True)


if __name__ == "__main__":
    main()
