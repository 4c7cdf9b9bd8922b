"""Put predictions together as a collection that ships, with a card that says how each model was made."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.collections import ModelCollection
from modelpicker.collections.description import describe

DATA = Path(__file__).parents[1] / "src" / "modelpicker" / "collections" / "data"


class Model(NamedTuple):
    """One model: its name, how it was made, and what it predicts."""

    name: str
    made: str
    codes: npt.NDArray[np.int8]


def pack(
    name: str,
    models: Sequence[Model],
    labels: npt.NDArray[np.int64],
    classes: Sequence[int | str],
    fields: Mapping[str, Sequence[Any]] | None = None,
) -> None:
    """Write the collection and its card into the package; the introduction is kept in zoo/cards."""
    collection = ModelCollection(
        np.stack([model.codes for model in models], axis=1),
        labels,
        [model.name for model in models],
        classes,
        fields=fields,
    )
    collection.save(DATA / f"{name}.npz")
    introduction = (Path(__file__).parent / "cards" / f"{name}.md").read_text()
    (DATA / f"{name}.md").write_text(introduction + facts(collection) + table(collection, models))
    size = (DATA / f"{name}.npz").stat().st_size
    print(f"{DATA / name}.npz: {collection!r}, {size / 1e3:,.0f} kB")


def facts(collection: ModelCollection) -> str:
    """What can be counted: shares of disagreement, accuracies."""
    accuracies = collection.accuracies
    if accuracies is None:
        raise SystemExit("a collection that ships has labels.")
    found = describe(collection)
    best = int(accuracies.argmax())
    lines = [
        f"* {found.items:,} items, {found.models} models, {found.classes} classes",
        f"* accuracies from {accuracies.min():.1%} to {accuracies.max():.1%} (median {np.median(accuracies):.1%}); "
        f"the best is `{collection.models[best]}`",
        f"* models disagree on {found.disagreement:.1%} of the items; "
        f"two models drawn at random differ on {found.pairwise:.1%}",
        f"* fingerprint `{found.fingerprint}`",
    ]
    return "\n".join(["", "## In numbers", "", *lines, ""])


def table(collection: ModelCollection, models: Sequence[Model]) -> str:
    """Every model, the best first."""
    accuracies = collection.accuracies
    if accuracies is None:
        raise SystemExit("a collection that ships has labels.")
    rows = [
        f"| `{models[place].name}` | {accuracies[place]:.1%} | {models[place].made} |"
        for place in np.argsort(-accuracies, kind="stable").tolist()
    ]
    return "\n".join(["", "## Models", "", "| model | accuracy | made |", "|---|---:|---|", *rows, ""])
