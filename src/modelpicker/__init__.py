"""Find the best of your pre-trained classifiers on your own data, with as few labels as possible."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelpicker.algorithms import (
        Algorithm,
        Budget,
        Decision,
        EfficientActive,
        ImportanceWeighted,
        LabelEfficient,
        ModelPicker,
        Race,
        StructuralCommittee,
        Trace,
        VoteEntropy,
        run_stream,
    )
    from modelpicker.campaigns import Campaign, Pick, create_campaign, list_campaigns, open_campaign, pick
    from modelpicker.certificates.certificate import Certificate, Certified
    from modelpicker.collections import ModelCollection, load_collection, open_collection, synthetic_collection
    from modelpicker.errors import (
        AccessError,
        ConflictError,
        FileError,
        InputError,
        MissingExtraError,
        ModelPickerError,
        NotFoundError,
        RoundError,
        SchemaError,
        StateError,
        StorageError,
        UnclearColumnsError,
    )
    from modelpicker.experiments import Method, Results, compare
    from modelpicker.server.client import Client

    __version__: str

__all__ = [
    "AccessError",
    "Algorithm",
    "Budget",
    "Campaign",
    "Certificate",
    "Certified",
    "Client",
    "ConflictError",
    "Decision",
    "EfficientActive",
    "FileError",
    "ImportanceWeighted",
    "InputError",
    "LabelEfficient",
    "Method",
    "MissingExtraError",
    "ModelCollection",
    "ModelPicker",
    "ModelPickerError",
    "NotFoundError",
    "Pick",
    "Race",
    "Results",
    "RoundError",
    "SchemaError",
    "StateError",
    "StorageError",
    "StructuralCommittee",
    "Trace",
    "UnclearColumnsError",
    "VoteEntropy",
    "__version__",
    "compare",
    "create_campaign",
    "list_campaigns",
    "load_collection",
    "open_campaign",
    "open_collection",
    "pick",
    "run_stream",
    "synthetic_collection",
]
LAYERS = ("algorithms", "campaigns", "coins", "collections", "errors", "experiments", "theory", "server")
# Where names come from that are neither errors nor algorithms.
HOMES = {
    "Campaign": "campaigns",
    "Certificate": "certificates.certificate",
    "Certified": "certificates.certificate",
    "Client": "server.client",
    "Method": "experiments",
    "ModelCollection": "collections",
    "Pick": "campaigns",
    "Results": "experiments",
    "compare": "experiments",
    "create_campaign": "campaigns",
    "list_campaigns": "campaigns",
    "load_collection": "collections",
    "open_campaign": "campaigns",
    "open_collection": "collections",
    "pick": "campaigns",
    "synthetic_collection": "collections",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: `modelpicker --help` should not wait for NumPy."""
    if name == "__version__":
        from importlib.metadata import version

        return version("modelpicker")
    if name in LAYERS:
        return importlib.import_module(f"modelpicker.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'modelpicker' has no attribute {name!r}")
    layer = "errors" if name.endswith("Error") else HOMES.get(name, "algorithms")
    return globals().setdefault(name, getattr(importlib.import_module(f"modelpicker.{layer}"), name))


def __dir__() -> list[str]:
    return __all__
