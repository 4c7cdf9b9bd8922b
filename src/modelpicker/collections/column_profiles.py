"""What the cells of one column look like: as much as is needed to tell whether it can be a model."""

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from modelpicker.collections.tables import Table
from modelpicker.collections.vocabulary import Cell, reads_as_number

# Rows that are looked at: enough to know a column, few enough to cost nothing.
SAMPLE = 2**12
# The share of cells from which on a column is said to hold something, and up to which it hardly ever does.
MOSTLY, HARDLY = 0.9, 0.05
ADDRESS = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]*://|www\.|data:[a-z]+/)\S+")
FILE = re.compile(r"(?i).*[^\s.]\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|wav|mp3|flac|ogg|mp4|pdf|txt|html?|json)")
OBJECT = re.compile(r"(?s)\{.+\}|\[.+\]")
# Values that are compared with a pattern.
COMPARED = 200


@dataclass(eq=False)
class Profile:
    """One column of a sample."""

    name: str
    rows: int = 0
    kind: str = ""
    """The type of the cells, where no class can be of it."""
    counts: Counter[str] = field(default_factory=Counter)
    """How often each value occurs; white space at the ends and capitals do not matter, nor does 3 or 3.0."""
    numbers: int = 0
    """Cells that are numbers."""
    fractions: int = 0
    """Cells that are numbers, but not whole."""
    fraction: str = ""
    """The first of them."""
    counting: bool = False
    """Whether the cells count the rows, from 0 or from 1."""

    @property
    def answers(self) -> int:
        """How many cells hold something."""
        return self.counts.total()

    @property
    def variety(self) -> float:
        """Different values, as a share of the cells: 1.0 where no value occurs twice."""
        return len(self.counts) / max(1, self.answers)

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return bool(self.answers) and self.numbers >= MOSTLY * self.answers

    @property
    def fractional(self) -> bool:
        """Whether it holds numbers most of which are not whole; a single one is a slip."""
        return self.numeric and self.answers > 1 and self.fractions > self.answers / 2

    @property
    def textual(self) -> bool:
        """Whether it holds text that is not a number."""
        return bool(self.answers) and self.numbers <= (1.0 - MOSTLY) * self.answers

    @property
    def pattern(self) -> str:
        """What its cells are, if they all look alike: addresses, files or objects."""
        some = list(self.counts)[:COMPARED]
        named = {"addresses": ADDRESS, "names of files": FILE, "lists or objects": OBJECT}
        for what, pattern in named.items():
            if some and sum(pattern.fullmatch(value) is not None for value in some) >= MOSTLY * len(some):
                return what
        return ""

    def share_in(self, values: Container[str]) -> float:
        """The share of its cells that hold one of these values."""
        return sum(count for value, count in self.counts.items() if value in values) / max(1, self.answers)


def profile_columns(table: Table, names: Iterable[str]) -> dict[str, Profile]:
    """The profiles of some columns, from the first rows."""
    wanted = list(names)
    profiles = {name: Profile(name) for name in wanted}
    sample = table.first(wanted, SAMPLE) if wanted else None
    if sample is not None:
        for name in wanted:
            _fill(profiles[name], sample.column(name), table.typed)
    return profiles


def _fill(profile: Profile, values: pa.Array, typed: bool) -> None:
    """Count the cells of a column."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    profile.rows = len(values)
    if not _can_be_classes(values.type):
        profile.kind = str(values.type)
        return
    for entry in pc.value_counts(values).to_pylist():
        _count(profile, entry["values"], entry["counts"], typed)
    profile.counting = _is_counting(values, profile)


def _can_be_classes(kind: pa.DataType) -> bool:
    tests = ("null", "string", "large_string", "string_view", "integer", "floating", "boolean")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests)


def _count(profile: Profile, value: Cell, count: int, typed: bool) -> None:
    """Take note of one value, unless it stands for an abstention."""
    if value is None or value != value:
        return
    text = str(value).strip() if isinstance(value, str) else ""
    number = not isinstance(value, str) or (text != "" and reads_as_number(text))
    if number:
        whole = float(value).is_integer()
        key = _digits(value) if whole else (text or repr(value))
        if not whole:
            profile.fractions += count
            profile.fraction = profile.fraction or key
    else:
        key = text.casefold()
    if not key or (key == "-1" and not (typed and text)):
        return
    profile.numbers += count if number else 0
    profile.counts[key] += count


def _digits(value: Cell) -> str:
    """A whole number as text: 3 for 3, 3.0, "3.0" and " 3"."""
    return value.strip().partition(".")[0] if isinstance(value, str) else str(int(value or 0))


def _is_counting(values: pa.Array, profile: Profile) -> bool:
    if profile.answers < profile.rows or not profile.numeric or profile.fractions or not profile.rows:
        return False
    digits = [_digits(value) for value in values.to_pylist()]
    return any(digits == [str(first + row) for row in range(len(digits))] for first in (0, 1))
