"""A collection as a picture: who is how accurate, who differs from whom, and how far items divide the models."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.description import BLOCK, Description
from modelpicker.collections.writers import replacing
from modelpicker.encoding import Array
from modelpicker.errors import InputError
from modelpicker.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, ACCENT = "#1f2937", "#9ca3af", "#2563eb"
# Models whose names can be read on one axis.
MOST_NAMES = 30
# Items that are enough to see who differs from whom.
SAMPLE = 5_000
ENDINGS = (".png", ".svg", ".pdf")


def plot_collection(collection: ModelCollection, description: Description, path: Path) -> None:
    """Write the picture; the ending says how."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{path}: cannot plot to {path.suffix or 'a file without ending'}; use {', '.join(ENDINGS)}."
        )
    figure = draw_collection(collection, description)
    with replacing(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix.lower().removeprefix("."), dpi=130)


def draw_collection(collection: ModelCollection, description: Description) -> "Figure":
    """The picture."""
    require("figures")
    from modelpicker.pictures import Picture

    order = _order(collection)
    figure = Picture(figsize=(13, 4.6), layout="constrained", facecolor="white")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
    _plot_models(left, collection, order)
    _plot_pairs(middle, figure, collection, order)
    _plot_items(right, collection, description)
    named = f"{description.name}: " if description.name else ""
    figure.suptitle(
        f"{named}{description.items:,} items, {description.models} models, {description.classes:,} classes",
        color=INK,
        fontsize=13,
        parse_math=False,
    )
    return figure


def _order(collection: ModelCollection) -> Array:
    """The best first; without labels those that most often side with the majority."""
    score = collection.accuracies if collection.accuracies is not None else _agreement(collection)
    return np.argsort(-score, kind="stable")


def _agreement(collection: ModelCollection) -> Array:
    """How often each model says what most models say, on a sample of items."""
    codes = collection.predictions[:SAMPLE]
    counts = (codes[:, :, None] == codes[:, None, :]).sum(axis=2) if codes.shape[1] <= 200 else None
    if counts is None:
        return np.zeros(codes.shape[1])
    majority = np.take_along_axis(codes, counts.argmax(axis=1)[:, None], axis=1)
    share: Array = (codes == majority).mean(axis=0)
    return share


def _plot_models(axes: "Axes", collection: ModelCollection, order: Array) -> None:
    """Accuracies, or the shares of items on which a model sides with most."""
    known = collection.accuracies is not None
    values = (collection.accuracies if collection.accuracies is not None else _agreement(collection))[order]
    places = np.arange(len(order))
    axes.hlines(places, 0, values, color=QUIET, linewidth=0.8)
    axes.plot(values, places, "o", color=ACCENT, markersize=4)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(0, min(1.0, float(values.max()) * 1.08) or 1.0)
    axes.xaxis.set_major_formatter(_percent)
    axes.set_title("accuracy" if known else "sides with the majority", color=INK, fontsize=11)
    if len(order) <= MOST_NAMES:
        names = [_short(collection.models[model]) for model in order]
        axes.set_yticks(places, names, fontsize=8, parse_math=False)
    else:
        axes.set_ylabel("models, the best first" if known else "models", color=INK)
        step = max(1, len(order) // 12)
        axes.set_yticks(
            places[::step],
            [_short(collection.models[model]) for model in order[::step]],
            fontsize=7,
            parse_math=False,
        )
    _tidy(axes)


def _plot_pairs(axes: "Axes", figure: Any, collection: ModelCollection, order: Array) -> None:
    """How often two models differ."""
    sample = np.linspace(0, len(collection) - 1, min(SAMPLE, len(collection))).astype(int)
    codes = collection.predictions[sample][:, order]
    differ = np.array([(codes != codes[:, [model]]).mean(axis=0) for model in range(codes.shape[1])])
    image = axes.imshow(differ, cmap="Blues", vmin=0.0, interpolation="nearest")
    axes.set_title("share of items on which two models differ", color=INK, fontsize=11)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel("models in the same order", color=INK)
    bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.02)
    bar.ax.yaxis.set_major_formatter(_percent)
    bar.outline.set_visible(False)


def _plot_items(axes: "Axes", collection: ModelCollection, description: Description) -> None:
    """How many different answers an item gets."""
    counts = np.concatenate(
        [_answers(collection.predictions[start : start + BLOCK]) for start in range(0, len(collection), BLOCK)]
    )
    most = min(int(counts.max()), 20)
    shares = np.bincount(np.minimum(counts, most), minlength=most + 1)[1:] / len(counts)
    axes.bar(np.arange(1, most + 1), shares, color=[QUIET, *[ACCENT] * (most - 1)], width=0.8)
    axes.set_title(f"models disagree on {description.disagreement:.1%} of the items", color=INK, fontsize=11)
    axes.set_xlabel(
        "different answers to an item" + (f" ({most}: or more)" if counts.max() > most else ""), color=INK
    )
    axes.yaxis.set_major_formatter(_percent)
    axes.locator_params(axis="x", integer=True)
    _tidy(axes)


def _answers(codes: Array) -> Array:
    """How many different answers each item gets; abstaining is one."""
    rows = np.sort(codes, axis=1)
    found: Array = 1 + (rows[:, 1:] != rows[:, :-1]).sum(axis=1)
    return found


def _percent(value: float, _: object) -> str:
    return f"{100 * value:g}%"


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:26]}…"


def _tidy(axes: "Axes") -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(QUIET)
    axes.tick_params(colors=INK)
