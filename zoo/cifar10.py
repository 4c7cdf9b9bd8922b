"""Train the models of the shipped collection `cifar10`, and write what they predict.

    python -m zoo.cifar10            everything, about an hour and a half on two cores
    python -m zoo.cifar10 pack       only put together what has been trained

Each finished model is kept in the work folder, so that a run that was stopped continues where it was.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from zoo.images import CLASSES, Images, load_images
from zoo.networks import Codes
from zoo.packing import Model, pack


def main() -> None:
    """Train what is not trained yet, then pack."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=["all", "classic", "networks", "pack"], default="all")
    parser.add_argument("--trained", type=Path, default=Path("zoo/trained"), help="where finished models are kept")
    options = parser.parse_args()
    options.trained.mkdir(parents=True, exist_ok=True)
    images = load_images(options.trained)
    if options.part in ("all", "networks"):
        train_networks(images, options.trained)
    if options.part in ("all", "classic"):
        train_classic(images, options.trained)
    if options.part in ("all", "pack"):
        pack("cifar10", kept(options.trained), images.test_labels, CLASSES)


def train_networks(images: Images, work: Path) -> None:
    """Train every network that has not been trained to its end."""
    import torch

    from zoo.networks import TRAININGS, train

    torch.set_num_threads(2)
    for number, training in enumerate(TRAININGS):
        if not (work / f"network-{training.name}.json").exists():
            models = list(timed(train(training, images), images))
            keep(work / f"network-{training.name}", number, models)


def train_classic(images: Images, work: Path) -> None:
    """Train every other classifier that has not been trained yet."""
    from zoo.classic import RECIPES, Kitchen, train

    kitchen = Kitchen(images)
    for number, recipe in enumerate(RECIPES):
        if not (work / f"classic-{recipe.name}.json").exists():
            keep(work / f"classic-{recipe.name}", number, list(timed(train(recipe, kitchen), images)))


def timed(looks: Iterable[tuple[str, str, Codes]], images: Images) -> Iterator[tuple[str, str, Codes]]:
    """Say what each model reaches, and when."""
    started = time.monotonic()
    for name, card, codes in looks:
        accuracy = (codes == images.test_labels).mean()
        print(f"{name:40} {accuracy:6.1%} {time.monotonic() - started:7.0f} s", flush=True)
        yield name, card, codes


def keep(path: Path, number: int, models: list[tuple[str, str, Codes]]) -> None:
    """Write down finished models; the file that marks them as finished comes last."""
    np.save(path.with_suffix(".npy"), np.stack([codes for _, _, codes in models], axis=1))
    cards = [{"model": name, "made": card} for name, card, _ in models]
    path.with_suffix(".json").write_text(json.dumps({"order": number, "models": cards}))


def kept(work: Path) -> list[Model]:
    """All models that have been trained, those that are not networks first."""
    models = []
    for kind in ("classic", "network"):
        found = [(json.loads(path.read_text()), path) for path in work.glob(f"{kind}-*.json")]
        for entry, path in sorted(found, key=lambda pair: int(pair[0]["order"])):
            codes = np.load(path.with_suffix(".npy"))
            cards = enumerate(entry["models"])
            models += [Model(card["model"], card["made"], codes[:, place]) for place, card in cards]
    return models


if __name__ == "__main__":
    main()
