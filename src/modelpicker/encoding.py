"""What the models say of one round, as integer codes that kernels can compare.

Only equality matters to an algorithm, so a code is any small integer: -1 for an abstention, and from 0 up for
the classes. Classes are whole numbers or strings; the vocabulary is open.
"""

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOBODY

ClassName: TypeAlias = int | str
ModelName: TypeAlias = int | str

LARGEST_CODE = 2**63 - 1

# What could be taken for a row but has no order, or no predictions of its own.
NOT_ROWS = (str, bytes, Mapping, Set, np.ma.MaskedArray)


class Row(NamedTuple):
    """One round's predictions: a code a model, and the class that each code stands for."""

    codes: list[int]
    classes: list[ClassName]


def plain(value: object, where: str) -> ClassName | None:
    """One prediction or label as a whole number or a string; None for an abstention or a skip."""
    if isinstance(value, np.generic):
        value = float(value) if isinstance(value, np.floating) else value.item()
    if isinstance(value, float):
        value = _whole(value, where)
    if isinstance(value, int):
        if value < ABSTAINED:
            raise InputError(
                f"{where}: {brief(value)} is not a class. Classes are whole numbers from 0 or strings; "
                "-1 or None stands for an abstention or a skip."
            )
        if value > LARGEST_CODE:
            raise InputError(f"{where}: {brief(value)} is too large for a class code; the largest is 2**63 - 1.")
        return None if value == ABSTAINED else int(value)
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ == "NAType":
        _whole(math.nan, where)
    raise InputError(
        f"{where}: {brief(value)} is a {type(value).__name__}. Classes are whole numbers or strings; "
        "-1 or None stands for an abstention or a skip."
    )


def _whole(value: float, where: str) -> int:
    if value != value:
        raise InputError(f"{where}: NaN. Use -1 or None where a model abstained or a label is missing.")
    if not value.is_integer():
        raise InputError(f"{where}: {value!r} is not a whole number. Pass class codes, not scores.")
    return int(value)


def encode_row(row: Sequence[object] | npt.NDArray[np.generic], models: int) -> Row:
    """The codes of one round, counted in the order in which the classes first appear."""
    if isinstance(row, NOT_ROWS) or not hasattr(row, "__len__"):
        raise InputError(f"row {brief(row)}: pass a sequence of {models} predictions, in the order of the models.")
    values: list[Any] = row.tolist() if isinstance(row, np.ndarray) else list(row)
    if len(values) != models:
        raise InputError(f"row has {len(values)} predictions, but there are {models} models; pass one per model.")
    try:
        distinct = dict.fromkeys(values)
    except TypeError:  # a list or the like: refused by name
        distinct = dict.fromkeys(plain(value, f"row, model {model}") for model, value in enumerate(values))
    code_of: dict[object, int] = {}
    classes: list[ClassName] = []
    for value in distinct:
        fine = type(value) is str or (type(value) is int and 0 <= value <= LARGEST_CODE)
        name = value if fine else plain(value, f"row, model {values.index(value)}")
        code_of[value] = ABSTAINED if name is None else len(classes)
        if name is not None:
            classes.append(name)
    check_one_kind(classes, "row")
    return Row([code_of[value] for value in values], classes)


def check_one_kind(classes: Sequence[ClassName], where: str) -> None:
    """Strings and numbers in one row are a mix-up: "1" and 1 are different classes."""
    if classes and len({isinstance(name, str) for name in classes}) > 1:
        word, number = (next(name for name in classes if isinstance(name, kind)) for kind in (str, int))
        raise InputError(
            f"{where}: {brief(word)} is a string and {number} a whole number; let all models answer in one form."
        )


def encode_label(label: ClassName, classes: Sequence[ClassName]) -> int:
    """The code of a label in a round whose codes stand for these classes."""
    check_same_kind(label, classes[:1], "label")
    return classes.index(label) if label in classes else NOBODY


def check_same_kind(label: ClassName, classes: Sequence[ClassName], where: str) -> None:
    """A number among strings, or a string among numbers, is a mix-up: it would count against every model."""
    if classes and isinstance(label, str) != isinstance(classes[0], str):
        kinds = ("string", "whole numbers") if isinstance(label, str) else ("whole number", "strings")
        raise InputError(
            f"{where}: {brief(label)} is a {kinds[0]}, but the models' classes are {kinds[1]}. "
            "Give labels in the same form as predictions.",
            reveals=f"One of the classes is {brief(classes[0])}.",
        )
