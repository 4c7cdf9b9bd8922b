"""Find the best of your pre-trained classifiers on your own data, with as few labels as possible."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modelpicker.algorithms import (
        Algorithm,
        Decision,
        EfficientActive,
        ImportanceWeighted,
        LabelEfficient,
        ModelPicker,
        StructuralCommittee,
        Trace,
        VoteEntropy,
        run_stream,
    )
    from modelpicker.errors import InputError, ModelPickerError, RoundError, StateError

    __version__: str

__all__ = [
    "Algorithm",
    "Decision",
    "EfficientActive",
    "ImportanceWeighted",
    "InputError",
    "LabelEfficient",
    "ModelPicker",
    "ModelPickerError",
    "RoundError",
    "StateError",
    "StructuralCommittee",
    "Trace",
    "VoteEntropy",
    "__version__",
    "run_stream",
]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: `modelpicker --help` should not wait for NumPy."""
    if name == "__version__":
        from importlib.metadata import version

        return version("modelpicker")
    if name in ("algorithms", "coins", "errors"):
        return importlib.import_module(f"modelpicker.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'modelpicker' has no attribute {name!r}")
    home = "modelpicker.errors" if name.endswith("Error") else "modelpicker.algorithms"
    return globals().setdefault(name, getattr(importlib.import_module(home), name))


def __dir__() -> list[str]:
    return __all__
