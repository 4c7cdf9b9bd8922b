"""The algorithms, one per file, and what runs them."""

from modelpicker.algorithms.base import Algorithm, Decision
from modelpicker.algorithms.budgets import Budget
from modelpicker.algorithms.efficient_active import EfficientActive
from modelpicker.algorithms.importance_weighted import ImportanceWeighted
from modelpicker.algorithms.label_efficient import LabelEfficient
from modelpicker.algorithms.model_picker import ModelPicker
from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import PoolTrace, run_pool
from modelpicker.algorithms.pools.slice_table import SliceRow, SliceTable
from modelpicker.algorithms.pools.slices import SlicePicker
from modelpicker.algorithms.race import Race
from modelpicker.algorithms.stream import Trace, run_stream
from modelpicker.algorithms.structural_committee import StructuralCommittee
from modelpicker.algorithms.vote_entropy import VoteEntropy

__all__ = [
    "Algorithm",
    "Budget",
    "Decision",
    "EfficientActive",
    "ImportanceWeighted",
    "LabelEfficient",
    "LabelsToGo",
    "ModelPicker",
    "PoolOutlook",
    "PoolPicker",
    "PoolTrace",
    "Race",
    "SlicePicker",
    "SliceRow",
    "SliceTable",
    "StructuralCommittee",
    "Trace",
    "VoteEntropy",
    "run_pool",
    "run_stream",
]

ALGORITHMS: dict[str, type[Algorithm]] = {
    kind.name: kind
    for kind in (
        ModelPicker,
        LabelEfficient,
        VoteEntropy,
        StructuralCommittee,
        ImportanceWeighted,
        EfficientActive,
        Race,
    )
}
"""The algorithms by their names: the paper's six, and Race."""
