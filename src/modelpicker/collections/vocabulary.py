"""Which classes the cells of a table name, and the codes of cells."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from modelpicker.collections.spelling import uniform
from modelpicker.collections.tables import Table, cell, quoted
from modelpicker.encoding import LARGEST_CODE, MOST_COUNTED, Array, ClassName, Missing, check_classes
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

Cell: TypeAlias = bool | int | float | str | None

# Where `save` notes what cells that are missing stand for.
MISSING = "missing"
# More different answers than this are no classes.
MOST_CLASSES = 1_000_000
NO_MODEL = "If the column is not a model, list it in fields (--fields), or list the models in models (--models)."
NO_SCORES = (
    "Pass the classes that models predict; probabilities of classes go into an .npz file, items x models x classes."
)
# Digits of the longest number that is read as one: beyond it Python refuses, and no class is so long.
LONGEST_NUMBER = 100
UNIFORM = "trimmed, in lower case, punctuation at the ends dropped"


@dataclass
class CodedColumn:
    """What a first reading found in one column."""

    kind: str | None = None  # "text" or "number"; None where every cell is missing
    cells: dict[Cell, int] = field(default_factory=dict)
    missing: int = 0


class ClassVocabulary:
    """The classes of a table: first shown every cell, then able to encode them.

    Cells of CSV files have no type: they are numbers if all of them are whole numbers, and strings otherwise.
    """

    def __init__(self, table: Table, normalise: bool, text: bool, missing: Missing = "abstained") -> None:
        self.table = table
        self.path = table.path
        self.typed = table.typed
        self.normalise = normalise
        self.text = text
        self.columns: dict[str, CodedColumn] = {}
        self.classes: tuple[ClassName, ...] = ()
        self._codes: dict[Cell, int] = {}
        self.absent = missing == "not-run"
        """Whether a cell that is missing or empty is one of a model that was not run."""
        noted = "not-run" in table.metadata.get(MISSING, ())
        self.empty = NOT_RUN if self.absent or noted else ABSTAINED
        """What stands for a cell that is missing, and for an empty string: `save` writes that for an abstention."""
        self.blank = NOT_RUN if self.absent and not noted else ABSTAINED

    def show(self, name: str, values: pa.Array, row: int) -> None:
        """Take note of the cells of one column, whose first is in this row."""
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        self._kind(name, values.type)  # refuses what cannot be counted
        entries = [] if pa.types.is_null(values.type) else pc.value_counts(values).to_pylist()
        counts = [(entry["values"], entry["counts"]) for entry in entries] or [(None, values.null_count)]

        def find(value: Cell) -> int:
            return int(row + pc.index(values, pa.scalar(value, values.type)).as_py())

        self.count(name, values.type, counts, find)

    def count(
        self, name: str, kind: pa.DataType, counts: Iterable[tuple[Cell, int]], find: Callable[[Cell], int]
    ) -> None:
        """Take note of how often each cell occurs among some of a column.

        Args:
            name: of the column.
            kind: the type of the cells.
            counts: the different cells and how often each occurs; None is a missing one.
            find: gives the row of a cell, for an error.
        """
        column, found = self.columns.setdefault(name, CodedColumn()), self._kind(name, kind)
        column.kind = column.kind or found
        for value, count in counts:
            if value is None or value != value:
                column.missing += count
            elif count:
                if isinstance(value, float) and not value.is_integer() and not self.text:
                    advice = NO_SCORES if abs(value) < 1 else NO_MODEL
                    where = cell(self.path, find(value), name)
                    raise InputError(f"{where}: {value!r} is not a class. {advice}")
                column.cells[value] = column.cells.get(value, 0) + count
        self._check_few(name)

    def merge(self, columns: Mapping[str, CodedColumn]) -> None:
        """Take note of what another vocabulary was shown, of the next rows."""
        for name, found in columns.items():
            column = self.columns.setdefault(name, CodedColumn())
            column.kind = column.kind or found.kind
            column.missing += found.missing
            for value, count in found.cells.items():
                column.cells[value] = column.cells.get(value, 0) + count
            self._check_few(name)

    def _check_few(self, name: str) -> None:
        """An error if a column has more different cells than classes can be."""
        if len(self.columns[name].cells) > MOST_CLASSES:
            raise InputError(
                f"{cell(self.path, None, name)}: more than {MOST_CLASSES:,} different answers. {NO_MODEL}"
            )

    def _kind(self, name: str, kind: pa.DataType) -> str | None:
        """What the cells of a column are, if they can be classes."""
        if pa.types.is_null(kind):
            return None
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            return "text"
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            return "number"
        raise InputError(f"{cell(self.path, None, name)}: cells of type {kind} cannot be classes. {NO_MODEL}")

    def settle(self, classes: Sequence[ClassName] | None, noted: Sequence[ClassName] | None) -> None:
        """Decide on the classes, now that every cell has been seen: those asked for, those in the file, or all."""
        numbers = self._are_numbers()
        names = {value: self._name(value, numbers) for column in self.columns.values() for value in column.cells}
        said = {name for name in names.values() if name not in (None, NOT_RUN)}
        if classes is not None:
            known = [self._name(name, numbers) for name in classes]
            self.classes = check_classes([name for name in known if name is not None])
        elif noted is not None and said <= set(noted):
            self.classes = check_classes(noted)
        else:
            self.classes = in_class_order(said)
        place_of: dict[ClassName | None, int] = {name: place for place, name in enumerate(self.classes)}
        place_of |= {None: ABSTAINED, NOT_RUN: NOT_RUN}
        for value, name in names.items():
            if name not in place_of:
                self._refuse_class(value)
            blank = isinstance(value, str) and not value.strip()
            self._codes[value] = self.blank if blank else place_of[name]
        self.merged = (len(names), len(said)) if self.normalise and not numbers else None

    def _name(self, value: Cell, numbers: bool) -> ClassName | None:
        """The class that a cell names; None for an abstention."""
        if not numbers:
            return self._answer(value)
        if isinstance(value, str) and not value.strip():
            return None
        number = int(value.partition(".")[0]) if isinstance(value, str) else int(value or 0)
        if number == NOT_RUN and self.absent:
            return NOT_RUN
        if number < ABSTAINED or number > LARGEST_CODE:
            self._refuse_number(value)
        return None if number == ABSTAINED else number

    def _answer(self, value: Cell) -> str | None:
        """A cell as a string; None if nothing is left of it, or it is a number that stands for an abstention."""
        if value == ABSTAINED or (not self.typed and str(value).strip() == str(ABSTAINED)):
            return None
        whole = isinstance(value, float) and value.is_integer()
        answer = str(int(value)) if whole else str(value)  # type: ignore[arg-type]
        if self.normalise:
            return uniform(answer) or None
        return (answer if self.typed else answer.strip()) if answer.strip() else None

    def _are_numbers(self) -> bool:
        """Whether all cells are whole numbers; a mixture is an error that names a cell."""
        if self.text:
            return False
        if self.typed:
            return self._same_kind()
        cells = [(value, count) for column in self.columns.values() for value, count in column.cells.items()]
        whole = sum(count for value, count in cells if _is_whole(value))
        strange = sum(count for _, count in cells) - whole
        scores = sum(count for value, count in cells if not _is_whole(value) and reads_as_number(value))
        if scores and scores > (whole + strange) / 2:
            culprit = next(value for value, _ in cells if not _is_whole(value) and reads_as_number(value))
            raise InputError(f"{self._place(culprit)}: {culprit} is a score, not a class. {NO_SCORES}")
        if strange and whole > strange and not self.normalise:
            culprit = next(value for value, _ in cells if not _is_whole(value))
            raise InputError(
                f"{self._place(culprit)}: {brief(culprit)} is not a whole number, but {whole:,} other cells are. "
                "Correct it, leave it empty for an abstention, or take all answers as strings with text (--text)."
            )
        return not strange

    def _same_kind(self) -> bool:
        """Whether typed columns are all numbers; False if all strings."""
        first: dict[str, str] = {}
        for name, column in self.columns.items():
            if column.kind is not None:
                first.setdefault(column.kind, name)
        if len(first) > 1:
            culprit = next(iter(self.columns[first["text"]].cells), None)
            where = self._place(culprit) if culprit else cell(self.path, None, first["text"])
            raise InputError(
                f"{where}: {brief(culprit)} is a string, but column {quoted(first['number'])} holds numbers; let "
                "all models and the label be of one type, or take all answers as strings with text (--text)."
            )
        return "number" in first

    def _refuse_number(self, value: Cell) -> None:
        raise InputError(
            f"{self._place(value)}: {value} is not a class; classes are whole numbers from 0 or strings; -1 or "
            "an empty cell stands for an abstention. With missing='not-run', -2 or an empty cell stands for a "
            "model that was not run."
        )

    def _refuse_class(self, value: Cell) -> None:
        numbers = all(isinstance(name, int) for name in self.classes)
        listed = f"{self.classes[0]} to {self.classes[-1]}" if numbers else brief(list(self.classes))
        raise InputError(
            f"{self._place(value)}: {brief(value) if isinstance(value, str) else value} is not one of the "
            f"{len(self.classes)} classes ({listed}). Pass it too in classes (--classes), or leave that out "
            "to accept whatever the models predict."
        )

    def _place(self, value: Cell) -> str:
        """Where a value stands first, for an error; the file is read once more to find it."""
        name = next(name for name, column in self.columns.items() if value in column.cells)
        return self.table.place_of(name, value)

    def code_of(self, value: Cell) -> int:
        """The code of one cell that has been shown."""
        if value is None or value != value:
            return self.empty
        if value not in self._codes:
            raise InputError(f"{self.path} has changed while it was read: {brief(value)} was not in it before.")
        return self._codes[value]

    def names_in(self, columns: Sequence[str]) -> set[ClassName]:
        """The classes that occur in some columns."""
        codes = {self.code_of(value) for name in columns for value in self.columns[name].cells}
        return {self.classes[code] for code in codes if code >= 0}

    def abstentions(self, name: str) -> int:
        """How many cells of a column stand for no answer: missing, empty, or -1."""
        column = self.columns[name]
        return column.missing + sum(count for value, count in column.cells.items() if self.code_of(value) < 0)

    def absences(self, name: str) -> int:
        """How many of those stand for a model that was not run."""
        column = self.columns[name]
        empty = column.missing if self.empty == NOT_RUN else 0
        return empty + sum(count for value, count in column.cells.items() if self.code_of(value) == NOT_RUN)

    def answers(self, name: str) -> tuple[tuple[int, int], ...]:
        """How often each code occurs in a column, in the order of the codes; abstentions are left out."""
        counts: dict[int, int] = {}
        for value, count in self.columns[name].cells.items():
            counts[self.code_of(value)] = counts.get(self.code_of(value), 0) + count
        return tuple(sorted((code, count) for code, count in counts.items() if code >= 0))

    def encode(self, values: pa.Array) -> Array:
        """The codes of cells that have been shown."""
        encoded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
        dictionary = encoded.dictionary.to_pylist()
        codes = np.array([*(self.code_of(value) for value in dictionary), self.empty], dtype=np.int64)
        places = pc.fill_null(encoded.indices.cast(pa.int64()), len(dictionary))
        found: Array = codes[places.to_numpy(zero_copy_only=False)]
        return found

    def encode_labels(self, values: pa.Array) -> Array:
        """The same for labels, which are known or not."""
        found: Array = np.maximum(self.encode(values), ABSTAINED)
        return found


def in_class_order(said: Iterable[ClassName]) -> tuple[ClassName, ...]:
    """The classes in order; those that are counted from 0 or from 1 without gaps.

    >>> in_class_order({3, 1}), in_class_order({2, 0}), in_class_order({70_000, 5}), in_class_order({"b", "a"})
    ((1, 2, 3), (0, 1, 2), (5, 70000), ('a', 'b'))
    """
    numbers = sorted(name for name in said if isinstance(name, int))
    if numbers and numbers[0] in (0, 1) and numbers[-1] < MOST_COUNTED:
        return tuple(range(numbers[0], numbers[-1] + 1))
    return tuple(numbers) or tuple(sorted(str(name) for name in said))


def _is_integer(text: str) -> bool:
    digits = text.strip().removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER


def reads_as_number(value: Cell) -> bool:
    """Whether a cell stands for a number."""
    try:
        return math.isfinite(float(value or 0))
    except (ValueError, OverflowError):
        return False


def _is_whole(value: Cell) -> bool:
    """Whether a cell stands for a whole number: 3, -1, 3.0."""
    if not isinstance(value, str) or _is_integer(value) or not value.strip():
        return True
    whole, _, rest = value.partition(".")
    return _is_integer(whole) and rest.strip().strip("0") == ""
