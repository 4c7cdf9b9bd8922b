"""Find the best of your pre-trained classifiers on your own data, with as few labels as possible."""

from importlib.metadata import version as _version

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

__version__ = _version("modelpicker")

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
