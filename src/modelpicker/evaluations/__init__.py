"""Decisions about evaluations: gates, comparisons of two runs, and which calls are still worth making."""

from modelpicker.evaluations.difference import Difference
from modelpicker.evaluations.early_stopping import EarlyStop, ScoredItem, WorthRunning, worth_running
from modelpicker.evaluations.gates import Gate, gate
from modelpicker.evaluations.runs import RunComparison, compare_runs

__all__ = [
    "Difference",
    "EarlyStop",
    "Gate",
    "RunComparison",
    "ScoredItem",
    "WorthRunning",
    "compare_runs",
    "gate",
    "worth_running",
]
