"""What an algorithm says about itself. Help, forms, tables and checks are made from it, so that it is said once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelpicker.options import Option


@dataclass(frozen=True, slots=True)
class AlgorithmDescription:
    """An algorithm in words, and its options.

    Args:
        summary: what it does, in one line.
        when_to_use: when to choose it, in one sentence.
        promises: what is proven about it, in one sentence.
        options: what it is made with besides models and seed, in the order of its `__init__`.
    """

    summary: str = ""
    when_to_use: str = ""
    promises: str = ""
    options: tuple[Option, ...] = ()

    def option(self, name: str) -> Option | None:
        """One option by its name; None if it is not declared."""
        return next((option for option in self.options if option.name == name), None)

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options as their types; those that are not declared are left as they are."""
        declared = {option.name: option for option in self.options}
        return {name: declared[name].check(value) if name in declared else value for name, value in given.items()}
