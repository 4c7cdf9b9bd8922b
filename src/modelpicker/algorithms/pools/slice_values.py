"""The values that slices are made of: one per item, read and checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from modelpicker.encoding import as_array
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Ints

MISSING = "(no value)"
MOST_SLICES = 1_000


class SliceValues(NamedTuple):
    """Values in the order in which they came first, and the place of each item's value among them."""

    names: tuple[str, ...]
    of: Ints

    @classmethod
    def group(cls, values: Iterable[object]) -> "SliceValues":
        """Those of some items. None, NaN and "" are a value as well."""
        return cls((), np.zeros(0, dtype=np.int64)).extended(values)

    def extended(self, values: Iterable[object]) -> "SliceValues":
        """The same with the values of more items."""
        places = {name: place for place, name in enumerate(self.names)}
        added = [places.setdefault(value_name(value), len(places)) for value in values]
        return SliceValues(tuple(places), np.concatenate([self.of, np.array(added, dtype=np.int64)]))


def read_slices(slices: object, items: int, column: str = "") -> SliceValues:
    """The values of slices, one per item; an error if they are not valid."""
    if isinstance(slices, SliceValues):
        return slices
    found = one_per_item(slices, items, column)
    check_values(found.names, items, column)
    return found


def one_per_item(slices: object, items: int, column: str = "") -> SliceValues:
    """The values of slices; an error if there is not one per item."""
    what = _words(column)
    if isinstance(slices, str | bytes | Mapping) or not hasattr(slices, "__len__"):
        raise InputError(f"{what}: {brief(slices)} is not one value per item; pass a list.", parameter="slice")
    given: Any = slices if isinstance(slices, list | tuple) else as_array(slices, "slices")
    if len(given) != items:
        raise InputError(
            f"{what}: there are {len(given):,} values, but {items:,} items; pass one per item.", parameter="slice"
        )
    return SliceValues.group(given)


def check_values(names: Sequence[str], items: int, column: str = "") -> None:
    """An error if that many items cannot be sliced by these values."""
    if items > 1 and len(names) == items:
        raise InputError(
            f"{_words(column)}: every item has another value, such as {brief(names[0])} and {brief(names[1])}. "
            "Slices must have several items each, such as those of a language or a customer.",
            parameter="slice",
        )
    check_number(len(names), items, column)


def check_number(names: int, items: int, column: str = "") -> None:
    """An error if there are too many slices."""
    if names > MOST_SLICES:
        raise InputError(
            f"{_words(column)}: there are {names:,} values for {items:,} items, but at most {MOST_SLICES:,} slices "
            "are possible. Pass a coarser column.",
            parameter="slice",
        )


def value_name(value: object) -> str:
    """The name of a value; what is missing has one too."""
    missing = value is None or (isinstance(value, float) and value != value)
    return MISSING if missing or not str(value).strip() else str(value)


def _words(column: str) -> str:
    return f"slice {brief(column)}" if column else "slices"
