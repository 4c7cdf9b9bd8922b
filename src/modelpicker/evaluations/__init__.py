"""Decisions about evaluations: gates, comparisons of two runs, and which calls are still worth making."""

from modelpicker.evaluations.difference import Difference
from modelpicker.evaluations.gate import Gate, gate
from modelpicker.evaluations.runs import RunComparison, compare_runs

__all__ = ["Difference", "Gate", "RunComparison", "compare_runs", "gate"]
