"""The collections that ship with the package."""

from importlib import resources

from modelpicker.collections.array_files import read_array_file
from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.column_roles import Reading

SHIPPED = {
    "digits": "handwritten digits, read by scikit-learn classifiers",
    "cifar10": "CIFAR-10's test images, seen by classifiers of many kinds",
}


def shipped_collection(name: str, reading: Reading | None = None) -> ModelCollection:
    """A collection that ships, by name."""
    with resources.as_file(resources.files("modelpicker.collections.data") / f"{name}.npz") as path:
        return read_array_file(path, reading or Reading())


def collection_card(name: str) -> str:
    """How a collection that ships was made."""
    return (resources.files("modelpicker.collections.data") / f"{name}.md").read_text(encoding="utf-8")
