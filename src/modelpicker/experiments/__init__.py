"""The paper's evaluation: protocol, tuning, metrics, engines, figures, its five set-ups."""

from modelpicker.experiments.comparison import compare
from modelpicker.experiments.labels_needed import Factor
from modelpicker.experiments.methods import Method
from modelpicker.experiments.results import Results

__all__ = ["Factor", "Method", "Results", "compare"]
