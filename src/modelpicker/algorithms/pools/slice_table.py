"""What is known about the slices of a pool: one row per value of a column, and whether the pick is the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from modelpicker.certificates.wording import how_certain, if_few_are_wrong, points
from modelpicker.encoding import ModelName
from modelpicker.errors import NotFoundError, brief

SliceState: TypeAlias = Literal["certified", "not yet", "undecided"]

TITLE = "The same everywhere, or not?"
HEAD = ("items", "labels", "best model", "proven", "the same?")
# This many slices are named in a sentence.
NAMED = 5


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One slice: the items that share a value.

    >>> import modelpicker as mp
    >>> pool = mp.SlicePicker([["a", "b"]] * 8 + [["a", "a"]] * 2, ["x", "y"] * 5)
    >>> pool.slices["x"].items
    5
    """

    value: str
    items: int
    contested: int
    """On how many of them models differ."""
    labels: int
    """How many of them have a label."""
    model: ModelName
    """The best model of the slice, as far as can be told."""
    certified: bool
    """Whether it is proven to be within the tolerance of the best model of the slice."""
    gap: float
    """By how much accuracy another model can be better, as is proven; 1.0 if nothing is."""
    state: SliceState
    """`not yet`: more labels are asked for. `undecided`: none are."""
    reason: str
    """Why, in a sentence."""
    same: bool | None
    """Whether the pick of the whole file will do here: True if that is proven; False if another model is certified
    and the pick is thought to be worse by more than the tolerance; None if it is open."""
    behind: float
    """By how much accuracy the pick of the whole file is thought to be behind the best model of the slice."""

    @property
    def verdict(self) -> str:
        """Whether the pick is the same, in a word or two."""
        if self.same:
            return "yes"
        return "open" if self.same is None else f"no, {points(self.behind)} behind"

    @property
    def proved(self) -> str:
        """What is proven, in a word or two."""
        if self.certified:
            return f"within {points(self.gap)}" if self.gap else "the best"
        return self.state

    def document(self) -> dict[str, Any]:
        """The slice for programs."""
        return {name: getattr(self, name) for name in (*self.__slots__, "proved", "verdict")}


@dataclass(frozen=True, slots=True)
class SliceTable:
    """All slices, the largest first. Everything that is said to be proven holds together, with the confidence.

    >>> import modelpicker as mp
    >>> pool = mp.SlicePicker([["a", "b"]] * 8 + [["a", "a"]] * 2, ["x", "y"] * 5)
    >>> [row.value for row in pool.slices]
    ['x', 'y']
    """

    column: str
    """What the slices are of; empty if that has no name."""
    model: ModelName
    """The pick of the whole file."""
    tolerance: float
    confidence: float
    rows: tuple[SliceRow, ...]
    allowed: float
    """By how much a model may be worse that is said to be near the best: the tolerance, and what wrong labels may
    mislead by."""
    label_noise: float = 0.0
    """The probability that a label is wrong, at most."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SliceRow]:
        return iter(self.rows)

    def __getitem__(self, value: str) -> SliceRow:
        for row in self.rows:
            if row.value == value:
                return row
        raise NotFoundError(
            f"there is no slice {brief(value)}; there are {_some([row.value for row in self.rows])}."
        )

    @property
    def same_everywhere(self) -> bool | None:
        """Whether the pick of the whole file will do in every slice; None if that is open."""
        found = {row.same for row in self.rows}
        return False if False in found else None if None in found else True

    @property
    def sentence(self) -> str:
        """The answer, in plain words."""
        sure = f"({how_certain(self.confidence)} for all slices together)."
        sure += if_few_are_wrong(self.label_noise)
        near = f"within {points(self.tolerance)} of the best model" if self.tolerance else "the best model"
        near += ", apart from what wrong labels may hide," if self.label_noise else ""
        yes = [row for row in self.rows if row.same]
        others = [row for row in self.rows if row.same is False]
        count = f"{len(self):,} slice{'' if len(self) == 1 else 's'}"
        if len(yes) == len(self):
            return f"The same everywhere: {self.model} is {near} in {_all_of(len(self))} {sure}"
        if others:
            named = _some([f"{row.model} for {row.value}" for row in others])
            said = f"Not the same everywhere: {named} {_is(len(others))} certified {sure}"
        else:
            said = f"No difference was found: {self.model} is {near} in {len(yes):,} of {count} {sure}"
        open_ones = len(self) - len(yes) - len(others)
        return f"{said} {open_ones:,} {'is' if open_ones == 1 else 'are'} open." if open_ones else said

    @property
    def lines(self) -> list[str]:
        """The table in text: the title, the head, and a line per slice."""
        head = (self.column or "slice", *HEAD)
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[place]) for line in cells) for place in range(len(head))]
        lines = ["  ".join(_fit(cell, widths[place], place) for place, cell in enumerate(line)) for line in cells]
        return [TITLE, *(line.rstrip() for line in lines)]

    @property
    def reasons(self) -> list[str]:
        """Why slices are undecided."""
        return [f"{row.value}: {row.reason}" for row in self.rows if row.state == "undecided"]

    def __str__(self) -> str:
        return "\n".join([*self.lines, self.sentence, *self.reasons])

    def document(self) -> dict[str, Any]:
        """The table for programs."""
        return {
            "column": self.column,
            "same_everywhere": self.same_everywhere,
            "sentence": self.sentence,
            "tolerance": self.tolerance,
            "allowed": self.allowed,
            "confidence": self.confidence,
            "label_noise": self.label_noise,
            "slices": [row.document() for row in self.rows],
        }


def _cells(row: SliceRow) -> tuple[str, ...]:
    return (row.value, f"{row.items:,}", f"{row.labels:,}", str(row.model), row.proved, row.verdict)


def _fit(cell: str, width: int, place: int) -> str:
    """Numbers to the right, all else to the left."""
    return cell.rjust(width) if place in (1, 2) else cell.ljust(width)


def _all_of(slices: int) -> str:
    return {1: "the one slice", 2: "both slices"}.get(slices, f"all {slices:,} slices")


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _some(names: list[str]) -> str:
    """The first names."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
