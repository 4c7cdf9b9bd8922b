"""Hugging Face: a collection as a dataset. A dataset as a collection needs nothing: pass it to `pick`."""

from typing import TYPE_CHECKING, Any

from modelpicker.collections import ModelCollection
from modelpicker.errors import InputError, brief
from modelpicker.extras import require

if TYPE_CHECKING:
    from datasets import Dataset


def to_dataset(collection: ModelCollection) -> "Dataset":
    """One row per item: its fields, what each model says, and `label` where labels are known.

    Predictions and labels have the type `ClassLabel`, with one list of classes for all; no answer is -1 there.
    """
    if not isinstance(collection, ModelCollection):
        raise InputError(f"{brief(collection)} is not a collection; pass a ModelCollection.")
    require("datasets")
    from datasets import ClassLabel, Dataset

    columns: dict[str, Any] = {name: list(values) for name, values in collection.fields.items()}
    columns |= {
        model: codes.tolist() for model, codes in zip(collection.models, collection.predictions.T, strict=True)
    }
    told = {} if collection.labels is None else {"label": collection.labels.tolist()}
    made = Dataset.from_dict(columns | told)
    kind = ClassLabel(names=[str(name) for name in collection.classes])
    features = made.features.copy()
    for name in (*collection.models, *told):
        features[name] = kind
    return made.cast(features)
