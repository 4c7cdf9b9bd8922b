"""The collections that ship: what they hold, and that nothing else is needed to use them."""

import base64
from importlib import resources

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.collections.description import describe
from modelpicker.collections.shipped import SHIPPED, collection_card


@pytest.mark.parametrize(
    ("name", "items", "models", "classes"), [("digits", 1497, 40, 10), ("cifar10", 10_000, 80, 10)]
)
def test_it_has_the_size_that_was_promised(name: str, items: int, models: int, classes: int) -> None:
    collection = mp.load_collection(name)
    assert len(collection) == collection.labelled == items
    assert len(collection.models) >= models
    assert len(collection.classes) == classes
    assert collection.predictions.dtype == np.int8
    assert not describe(collection).identical


@pytest.mark.parametrize("name", SHIPPED)
def test_its_card_tells_how_every_model_was_made(name: str) -> None:
    card, collection = collection_card(name), mp.load_collection(name)
    assert collection.accuracies is not None
    for model, accuracy in zip(collection.models, collection.accuracies, strict=True):
        assert f"| `{model}` | {accuracy:.1%} |" in card
    assert f"disagree on {describe(collection).disagreement:.1%} of the items" in card
    assert f"fingerprint `{collection.fingerprint}`" in card


def test_all_of_it_is_small() -> None:
    folder = resources.files("modelpicker.collections.data")
    sizes = {file.name: len(file.read_bytes()) for file in folder.iterdir() if file.is_file()}
    assert sizes["cifar10.npz"] < 1_000_000
    assert sum(sizes.values()) < 1_500_000


def test_cifar10_is_spread_from_bad_to_good() -> None:
    collection = mp.load_collection("cifar10")
    assert collection.accuracies is not None
    accuracies = np.sort(collection.accuracies)
    assert accuracies[0] < 0.35
    assert accuracies[-1] > 0.85
    assert np.diff(accuracies[(accuracies > 0.35) & (accuracies < 0.75)]).max() < 0.03
    assert collection.classes[0] == "airplane"
    assert np.bincount(np.asarray(collection.labels)).tolist() == [1000] * 10


def test_digits_brings_its_pictures() -> None:
    collection = mp.load_collection("digits")
    pictures = collection.fields["image"]
    for picture in pictures[:50]:
        content = base64.b64decode(str(picture).removeprefix("data:image/png;base64,"), validate=True)
        assert content.startswith(b"\x89PNG")
    assert len(set(pictures)) == len(pictures)
    assert len(set(collection.fields["id"])) == len(collection)
