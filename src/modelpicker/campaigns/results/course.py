"""How a pick came about: who was recommended after how many labels, and what was known by then.

Plain data, without storage or arrays of a library: a `Pick` carries one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from modelpicker.encoding import ModelName

# Points that are kept of a course at most.
MOST_POINTS = 400

LineKind: TypeAlias = Literal["weights", "mistakes", "shares"]


class Reign(NamedTuple):
    """A time during which one model was recommended."""

    model: ModelName
    first: int
    """After that many labels it was recommended."""
    last: int
    """Until that many labels."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a pick came about; everything has one entry per point in time."""

    labels: tuple[int, ...]
    """How many labels there were."""
    recommended: tuple[ModelName, ...]
    """The model that was recommended by then."""
    proved: tuple[float, ...] = ()
    """By how much at most another model could be better, as proven by then; empty where that is not known."""
    kind: LineKind = "weights"
    """What the lines are: shares of the weight; or estimated mistakes, or another loss as a share of the items,
    more than the recommended model's."""
    lines: Mapping[ModelName, tuple[float | None, ...]] = field(default_factory=dict)
    """Some models over time; None while one took no part."""

    def thinned(self, most: int = MOST_POINTS) -> "Course":
        """The same with fewer points: the first and the last stay, and every change of the recommended model."""
        total = len(self.labels)
        if total <= most:
            return self
        step = -(-total // (most // 2))
        changes = [place for place in range(1, total) if self.recommended[place] != self.recommended[place - 1]]
        kept = sorted({*range(0, total, step), *changes[-(most // 2) :], total - 1})
        return Course(
            tuple(self.labels[place] for place in kept),
            tuple(self.recommended[place] for place in kept),
            tuple(self.proved[place] for place in kept) if self.proved else (),
            self.kind,
            {model: tuple(line[place] for place in kept) for model, line in self.lines.items()},
        )

    @property
    def reigns(self) -> list[Reign]:
        """Who was recommended, one after the other, from the first label on: before it, chance decides."""
        found: list[Reign] = []
        for labels, model in zip(self.labels, self.recommended, strict=True):
            if labels < 1:
                continue
            if found and found[-1].model == model:
                found[-1] = found[-1]._replace(last=labels)
            else:
                found.append(Reign(model, labels, labels))
        return found


def joined(parts: Sequence[Course]) -> Course:
    """Courses of one pick, one after the other, without lines."""
    return Course(
        tuple(labels for part in parts for labels in part.labels),
        tuple(model for part in parts for model in part.recommended),
        tuple(gap for part in parts for gap in part.proved),
    )
