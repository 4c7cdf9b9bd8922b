"""What an option is: its name, its type, its range, its default, and one sentence about it.

Algorithms and campaigns declare their options once. Checks, the command line, the API, the page and the tables of
the documentation are made from these declarations. No NumPy here: `modelpicker --help` reads them.
"""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

from modelpicker.errors import InputError, brief, is_number

ValueType: TypeAlias = type[int] | type[float] | type[str] | type[list[Any]] | type[dict[str, Any]]

LARGEST_COUNT = 2**53  # whole numbers up to here are exact as floating-point numbers
LARGEST_SEED = 2**128 - 1
LARGEST_SCALE = 1e100  # its square, and that times whatever a kernel multiplies it with, are still finite
# Numbers that read better as they are thought of.
SPELT: dict[float, str] = {LARGEST_COUNT: "2**53", LARGEST_SCALE: "1e100", LARGEST_SEED: "2**128 - 1"}


class _Required:
    """The default of an option that has none."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Args:
        name: what it is called wherever it is passed.
        type: what its value is.
        help: one sentence about it.
        default: its value where none is given; with None, it may be None.
        low: the smallest value; `above` says that the value itself is not allowed.
        high: the largest value; `below` says that the value itself is not allowed.
        choices: the words that a string may be.
        wanted: the range in words, where those that are made of it do not say enough.
        usual: the value that a campaign or `pick` takes where there is no default and none is given.
        advice: what to try first.
        symbol: what the paper calls it.
        title: what a form calls it; by default its name.
        parts: what a value that is an object consists of.
    """

    name: str
    type: ValueType
    help: str = ""
    default: Any = REQUIRED
    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False
    choices: tuple[str, ...] = ()
    wanted: str = ""
    usual: Any = REQUIRED
    advice: str = ""
    symbol: str = ""
    title: str = ""
    parts: "tuple[Option, ...]" = ()

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is REQUIRED

    @property
    def label(self) -> str:
        """What a form calls it."""
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def range(self) -> str:
        """Which values are allowed, in words."""
        if self.wanted:
            return self.wanted
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        what = "whole" if self.type is int else "finite" if self.high == LARGEST_SCALE else ""
        low = f"above {spelt(self.low)}" if self.above else f"from {spelt(self.low)} up"
        high = f"below {spelt(self.high)}" if self.below else f"at most {spelt(self.high)}"
        return f"a {what} number {low}{f' and {high}' if self._bounded else ''}".replace("  ", " ")

    @property
    def _bounded(self) -> bool:
        """Whether there is a largest value that anybody could want to pass."""
        return self.high not in (None, LARGEST_COUNT, LARGEST_SCALE)

    def check(self, value: object) -> Any:
        """The value as its type, or an error that says what it may be."""
        if value is None and self.default is None:
            return None
        if self.choices:
            return self._check_choice(value)
        return self._check_whole(value) if self.type is int else self._check_number(value)

    def _check_choice(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise self._refused(f"{brief(value)} is not known; pass {self.range}.")
        return value

    def _check_whole(self, value: Any) -> int:
        number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
        if number is None or (self.low is not None and number < self.low):
            raise self._refused(f"{brief(value)} is not a count; pass {self.range}.")
        if self.high is not None and number > self.high:
            raise self._refused(f"{brief(value)} is out of range; the largest is {spelt(self.high)}.")
        return number

    def _check_number(self, value: object) -> float:
        if not is_number(value):
            raise self._refused(f"{brief(value)} is not a number; pass {self.range}.")
        number = _as_float(value)
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        inside = (
            low <= number <= high and not (self.above and number == low) and not (self.below and number == high)
        )
        if not inside:
            most = "" if self._bounded else f", at most {spelt(self.high)}"
            raise self._refused(f"{brief(value)} is out of range; pass {self.range}{most}.")
        return number

    def _refused(self, why: str) -> InputError:
        return InputError(f"{self.name}={why}", parameter=self.name)


def scale(name: str, help: str = "", **more: Any) -> Option:  # noqa: A002 (as the option has it)
    """An option that is a number from 0 up, and not beyond all measure."""
    return Option(name, float, help, low=0.0, high=LARGEST_SCALE, **more)


def count(name: str, help: str = "", **more: Any) -> Option:  # noqa: A002
    """An option that is a whole number from 1 up."""
    return Option(name, int, help, low=1, high=LARGEST_COUNT, **more)


def _as_float(value: Any) -> float:
    """A number as a floating-point number; infinite if it is too large for one."""
    try:
        return float(value) + 0.0  # there is one zero
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def spelt(value: object) -> str:
    """A bound or a default as a person would write it."""
    if isinstance(value, int | float):
        return SPELT.get(value) or (f"{value:,.0f}" if float(value).is_integer() else f"{value:g}")
    return str(value)
