"""What can be promised: the paper's theorems as functions, and certificates that hold at any moment."""

from modelpicker.theory import bounds, sharper
from modelpicker.theory.hardness import Hardness, Restriction, hardness_of, restriction_of

__all__ = ["Hardness", "Restriction", "bounds", "hardness_of", "restriction_of", "sharper"]
