"""Classes as codes: the one module that turns what models and people say into integers that kernels can compare.

Only equality matters to an algorithm, so a code is any small integer: -1 for an abstention, and from 0 up for
the classes. Classes are whole numbers or strings; the vocabulary is open.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOBODY, NOT_RUN

ClassName: TypeAlias = int | str
ModelName: TypeAlias = int | str
Missing: TypeAlias = Literal["abstained", "not-run"]
"""What a prediction that is missing stands for."""
Array: TypeAlias = npt.NDArray[Any]
Matrix: TypeAlias = npt.NDArray[np.signedinteger[Any]]

LARGEST_CODE = 2**63 - 1
# Whole numbers up to here are taken for classes that are counted, gaps and all; beyond, for names.
MOST_COUNTED = 2**16
# Codes below this are looked up in a table, others are sorted.
FEW = 2**16

# What could be taken for a row but has no order, or no predictions of its own.
NOT_ROWS = (str, bytes, Mapping, Set, np.ma.MaskedArray)


class Encoded(NamedTuple):
    """Codes of predictions and labels, and what they stand for."""

    predictions: Array
    labels: Array | None
    classes: tuple[ClassName, ...]


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
        if is_not_run(value):
            code_of[value] = NOT_RUN
            continue
        fine = type(value) is str or (type(value) is int and 0 <= value <= LARGEST_CODE)
        name = value if fine else plain(value, f"row, model {values.index(value)}")
        code_of[value] = ABSTAINED if name is None else len(classes)
        if name is not None:
            classes.append(name)
    check_one_kind(classes, "row")
    return Row([code_of[value] for value in values], classes)


def is_not_run(value: object) -> bool:
    """Whether it stands for a model that was not asked."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value == NOT_RUN


def check_missing(missing: object) -> Missing:
    """What a prediction that is missing stands for."""
    if missing == "abstained":
        return "abstained"
    if missing == "not-run":
        return "not-run"
    raise InputError(f'missing={brief(missing)}: pass "abstained" or "not-run".', parameter="missing")


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


def said_classes(codes: Matrix, classes: Sequence[ClassName]) -> tuple[ClassName, ...]:
    """The different classes that the codes of a row stand for, in the order of the classes."""
    return tuple(classes[code] for code in sorted(set(codes.tolist())) if code >= 0)


def check_same_kind(label: ClassName, classes: Sequence[ClassName], where: str) -> None:
    """A number among strings, or a string among numbers, is a mix-up: it would count against every model."""
    if classes and isinstance(label, str) != isinstance(classes[0], str):
        kinds = ("string", "whole numbers") if isinstance(label, str) else ("whole number", "strings")
        raise InputError(
            f"{where}: {brief(label)} is a {kinds[0]}, but the models' classes are {kinds[1]}. "
            "Give labels in the same form as predictions.",
            reveals=f"One of the classes is {brief(classes[0])}.",
        )


def as_array(values: object, what: str) -> Array:
    """An array of numbers, or of Python objects where the values are not simply numbers."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{what} are a masked array; fill what is masked with -1: values.filled(-1).")
    if values is None or isinstance(values, str | bytes | Iterator | Mapping | Set):
        raise InputError(f"{what}: {brief(values)} is not a table; pass an array or a list of rows.")
    if isinstance(values, np.ndarray):
        array = values.astype(object) if values.dtype.kind == "T" else values
    else:
        try:
            array = np.asarray(values)
            if array.dtype.kind not in "bi":  # what NumPy would round or turn into strings stays as it is
                array = np.asarray(values, dtype=object)
        except ValueError as error:
            raise InputError(f"{what} do not form a table: {_ragged(values)}") from error
    if array.dtype.kind not in "buifUO":
        raise InputError(f"{what} are of type {array.dtype}; pass whole numbers or strings.")
    return array


def _ragged(values: object) -> str:
    """Which row is not as long as the first."""
    rows = list(values) if isinstance(values, Sequence) else []
    sizes = [len(row) if isinstance(row, Sequence) else 0 for row in rows]
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            return f"row {i} has {size} entries, row 0 has {sizes[0]}."
    return "rows differ in length or kind."


def as_integers(values: Array, what: str, start: int) -> Array:
    """Whole numbers as signed integers, or small unsigned ones; the first culprit is named."""
    if values.dtype.kind == "b":
        return values.astype(np.int8)
    if values.dtype.kind == "f":
        exact = values.astype(np.float64)
        refuse(~np.isfinite(exact) | (exact != np.trunc(exact)), values, what, start)
        refuse((exact < NOT_RUN) | (exact >= 2.0**63), values, what, start)
        return exact.astype(np.int64)
    if values.dtype.kind == "u" and values.dtype.itemsize > 1:
        refuse(values > LARGEST_CODE, values, what, start)
        return values.astype(np.int64)
    return values


def refuse(wrong: npt.NDArray[np.bool_], values: Array, what: str, start: int) -> None:
    """Raise the error of the first wrong value, if there is one."""
    if not wrong.any():
        return
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f"{what}, row {start + place[0]}" if len(place) == 1 else cell_name(what, start + place[0], place[1])
    plain(values[place], where)
    raise InputError(f"{where}: {values[place]} is too large for a class code; the largest is 2**63 - 1.")


def cell_name(what: str, row: int, model: int) -> str:
    """A cell, as an error names it."""
    return f"{what}, row {row}, model {model}"


def smallest_type(classes: int) -> np.dtype[Any]:
    """The smallest signed integer type that holds the codes of that many classes."""
    return np.dtype(np.min_scalar_type(-max(classes, 1)))


def check_classes(classes: object) -> tuple[ClassName, ...]:
    """The names of the classes: strings or whole numbers, all different."""
    if hasattr(classes, "tolist"):
        classes = classes.tolist()
    if isinstance(classes, str | bytes | Mapping | Set) or not isinstance(classes, Iterable):
        raise InputError(
            f"classes {brief(classes)}: pass a list of names, or None to take whatever is said.",
            parameter="classes",
        )
    names = []
    for place, value in enumerate(classes):
        name = plain(value, f"class {place}")
        if name is None:
            raise InputError(f"class {place} is {brief(value)}, which stands for an abstention; leave it out.")
        names.append(name)
    if not names:
        raise InputError("classes are an empty list; pass some, or None to take whatever is said.")
    check_one_kind(names, "classes")
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(f"class {brief(twice)} is given twice.")
    return tuple(names)


def count_anew(values: Array) -> tuple[list[int], Matrix]:
    """The distinct values from 0 up, and the values by their place among them; -1 and -2 stay as they are."""
    absent = values == NOT_RUN
    if absent.any():
        said, codes = count_anew(np.where(absent, ABSTAINED, values))
        return said, np.where(absent, NOT_RUN, codes).astype(np.int32)
    highest = int(values.max()) if values.size else ABSTAINED
    if highest < FEW:
        seen = np.zeros(highest + 2, dtype=np.bool_)
        seen[values] = True  # -1 is the last place
        seen[-1] = False
        places = np.cumsum(seen, dtype=np.int32) - 1
        places[-1] = ABSTAINED
        return np.flatnonzero(seen).tolist(), places[values]
    distinct, codes = np.unique(values, return_inverse=True)
    shift = int(distinct[0] == ABSTAINED)
    return distinct[shift:].tolist(), (codes.reshape(values.shape) - shift).astype(np.int32)


def encode_table(matrix: Array, column: Array | None, classes: Sequence[ClassName] | None) -> Encoded:
    """Codes for predictions and labels: names are looked up, whole numbers are codes already."""
    known = None if classes is None else check_classes(classes)
    if matrix.dtype.kind in "buif":
        return _encode_numbers(matrix, column, known)
    names = [_said(row, f"predictions, row {place}") for place, row in enumerate(matrix.tolist())]
    said = {name for row in names for name in row if name not in (None, NOT_RUN)}
    if not any(isinstance(name, str) for name in said):
        numbers = np.array([[ABSTAINED if name is None else name for name in row] for row in names], dtype=np.int64)
        return _encode_numbers(numbers, column, known)
    labels = None if column is None else _names(column.tolist(), "labels")
    said |= {name for name in labels or [] if name is not None}
    check_one_kind(sorted(said, key=str), "predictions and labels")
    known = known or tuple(sorted(map(str, said)))
    place_of = {name: place for place, name in enumerate(known)}
    rows = [_places(row, place_of, f"predictions, row {place}") for place, row in enumerate(names)]
    codes = np.array(rows, dtype=np.int64).reshape(matrix.shape)
    return Encoded(codes, None if labels is None else _array(_places(labels, place_of, "labels")), known)


def _encode_numbers(matrix: Array, column: Array | None, known: tuple[ClassName, ...] | None) -> Encoded:
    """Whole numbers, which are codes; but numbers too large to be counted are names."""
    codes = as_integers(matrix, "predictions", 0)
    refuse(codes < NOT_RUN, codes, "predictions", 0)
    labels = None if column is None else _label_codes(column, known)
    largest = max(int(values.max(initial=0)) for values in (codes, labels) if values is not None)
    if known is None and largest < MOST_COUNTED:
        known = tuple(range(largest + 1))
    elif known is None:
        return _encode_large_numbers(codes, labels)
    elif largest >= len(known):
        where = "predictions" if int(codes.max()) >= len(known) else "labels"
        raise InputError(f"{where}: {largest} is not a place in the {len(known)} classes, which count from 0.")
    return Encoded(codes, labels, known)


def _label_codes(column: Array, known: tuple[ClassName, ...] | None) -> Array:
    """Labels beside predictions that are codes: codes too, or names of the classes that were given."""
    if column.dtype.kind in "buif":
        labels = as_integers(column, "labels", 0)
        refuse(labels < ABSTAINED, labels, "labels", 0)
        return labels
    names = _names(column.tolist(), "labels")
    words = [name for name in names if isinstance(name, str)]
    if not words:
        return _array([ABSTAINED if name is None else int(name) for name in names])
    if known is None:
        raise InputError(
            f"labels: {brief(words[0])} is a string, but predictions are whole numbers; pass classes too."
        )
    return _array(_places(names, {name: place for place, name in enumerate(known)}, "labels"))


def _encode_large_numbers(codes: Array, labels: Array | None) -> Encoded:
    """Codes for whole numbers that are names."""
    said, places = count_anew(codes if labels is None else np.concatenate([codes.ravel(), labels]))
    split = codes.size
    rows = places.ravel()[:split].reshape(codes.shape)
    return Encoded(rows, None if labels is None else places[split:], tuple(said))


def encode_labels(column: Array, classes: tuple[ClassName, ...]) -> Encoded:
    """Labels by name, among classes that may grow by what only labels say."""
    labels = _names(column.tolist(), "labels")
    said = {name for name in labels if name is not None}
    check_one_kind([*classes[:1], *sorted(said, key=str)], "classes and labels")
    known = (*classes, *sorted(said - set(classes), key=str))
    place_of = {name: place for place, name in enumerate(known)}
    return Encoded(np.empty((0, 0)), _array(_places(labels, place_of, "labels")), known)


def _names(values: list[Any], where: str) -> list[ClassName | None]:
    return [value if type(value) is str else plain(value, where) for value in values]


def _said(values: list[Any], where: str) -> list[ClassName | None]:
    """The names of predictions; NOT_RUN stays as it is."""
    return [value if type(value) is str or is_not_run(value) else plain(value, where) for value in values]


def _places(names: list[ClassName | None], place_of: dict[ClassName, int], where: str) -> list[int]:
    try:
        return [ABSTAINED if name is None else NOT_RUN if name == NOT_RUN else place_of[name] for name in names]
    except KeyError as error:
        raise InputError(
            f"{where}: {brief(error.args[0])} is not one of the {len(place_of)} classes; "
            "pass it too, or leave classes out to accept whatever the models predict."
        ) from error


def _array(places: list[int]) -> Array:
    return np.array(places, dtype=np.int64)
