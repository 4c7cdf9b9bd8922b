"""What can be promised beforehand: the paper's theorems as functions, sharper ones, how hard a collection is."""

from modelpicker.theory import bounds, sharper
from modelpicker.theory.hardness import Hardness, Restriction, hardness_of, restriction_of

__all__ = ["Hardness", "Restriction", "bounds", "hardness_of", "restriction_of", "sharper"]
