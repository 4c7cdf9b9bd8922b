"""The picture of the README: how often each method names the best model, by labels bought.

    python -m benchmarks.picture [--realizations 200] [--out docs/images/labels.png]

Each realization is a file of 748 items, drawn from `digits`, which ships: 58 classifiers of handwritten digits. All
methods play the same files. Takes some minutes.
"""

import argparse
from pathlib import Path
from typing import Any

import modelpicker as mp

# Its name in the picture, its colour, how wide its line is, and where the name stands.
METHODS = {
    "pool-picker": ("modelpicker, on a file", "#0f766e", 3.2, (8.6, 64)),
    "model-selector": ("Model Selector", "#b45309", 1.8, (5.4, 45)),
    "race": ("modelpicker, on a stream", "#2563eb", 2.4, (43, 84)),
    "label-efficient": ("labels at random", "#6b7280", 1.8, (70, 17)),
}
BUDGETS = (5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320)


def draw(results: Any, path: Path, models: int) -> None:
    """One line per method, with its name at its end."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 4.4), dpi=160)
    for method, (name, colour, width, place) in METHODS.items():
        shares = [100 * results.row(method, budget)["identification_probability"] for budget in BUDGETS]
        axes.plot(BUDGETS, shares, color=colour, linewidth=width, solid_capstyle="round")
        axes.annotate(name, place, color=colour, fontsize=12)
    axes.axhline(95, color="#d1d5db", linewidth=1, zorder=0)
    axes.set(xscale="log", xlim=(BUDGETS[0], BUDGETS[-1]), ylim=(0, 102), xlabel="labels bought")
    axes.set_xticks([5, 10, 20, 40, 80, 160, 320], ["5", "10", "20", "40", "80", "160", "320"])
    axes.minorticks_off()
    axes.set_yticks([0, 25, 50, 75, 95], ["0 %", "25 %", "50 %", "75 %", "95 %"])
    axes.set_title(f"How often the best of {models} models is found", loc="left", fontsize=14, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=0)
    figure.tight_layout()
    figure.savefig(path, facecolor="white")


def main() -> None:
    """Compare, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--realizations", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("docs/images/labels.png"))
    given = parser.parse_args()
    collection = mp.load_collection("digits")
    results = mp.compare(
        collection,
        [*METHODS],
        BUDGETS,
        len(collection) // 2,
        realizations=given.realizations,
        seed=0,
        setting="pool",
    )
    for method, (name, *_) in METHODS.items():
        shares = [f"{results.row(method, budget)['identification_probability']:.2f}" for budget in BUDGETS]
        print(f"{name:26}", *shares)
    draw(results, given.out, len(collection.models))


if __name__ == "__main__":
    main()
