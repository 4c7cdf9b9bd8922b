"""What a mistake costs: the loss of every answer to an item, from 0 to 1, once its label is known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from modelpicker.encoding import ClassName, plain
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats
from modelpicker.label import STEP, AnyLabel, Label

Costs: TypeAlias = Mapping[ClassName, Mapping[ClassName | None, float]]
# What costs a mistake that nobody named.
USUAL_COST = 1.0


@dataclass(frozen=True)
class Loss:
    """What mistakes cost. Make one with `Loss.weights`, `Loss.costs` or `Loss.balanced`; the default is accuracy.

    >>> Loss.weights({"fraud": 10, "fine": 1}).losses("fine", ["fine", "fraud", None]).round(3)
    array([0. , 0.1, 0.1])
    """

    name: str = "accuracy"
    """What statements call it."""
    table: tuple[tuple[ClassName, tuple[tuple[ClassName | None, float], ...]], ...] = ()
    """By label: what each wrong answer costs; None is an abstention, or any answer that is not named."""
    dearest: float = 1.0
    """What the worst mistake costs: losses are costs divided by this."""
    unit: float = 1.0
    """What a loss of 1 is in the statements: 1, unless they speak of balanced accuracy."""

    @property
    def plain(self) -> bool:
        """Whether an answer is simply right or wrong."""
        return not self.table

    @classmethod
    def of(cls, given: object) -> "Loss":
        """A loss from what users write.

        None or "accuracy"; weights by class; costs by class and answer; or a loss.
        """
        if given is None or given == "accuracy":
            return cls()
        if isinstance(given, Loss):
            return given
        if isinstance(given, Mapping) and given:
            nested = [isinstance(value, Mapping) for value in given.values()]
            if all(nested):
                return cls.costs(given)
            if not any(nested):
                return cls.weights(given)
        raise InputError(
            f'loss {brief(given)}: pass "accuracy", weights by class ({{"spam": 5, "ham": 1}}), or costs '
            'by class and answer ({"spam": {"ham": 5}}).',
            parameter="loss",
        )

    @classmethod
    def weights(cls, weights: Mapping[ClassName, float]) -> Self:
        """A mistake costs the weight of the class that would have been right; 1 for a class that is not named."""
        found = {_name(name): _cost(f"weight of {brief(name)}", weight) for name, weight in weights.items()}
        table = tuple((name, ((None, weight),)) for name, weight in found.items())
        return cls("weighted accuracy", table, _dearest([USUAL_COST, *found.values()]))

    @classmethod
    def costs(cls, costs: Costs) -> Self:
        """What it costs to answer one class where another is right: `{"spam": {"ham": 5}}`, the right one first.

        What is not named costs 1. The key None is an abstention: by default it costs as much as the worst answer.
        """
        found = {
            _name(label): {
                None if answer is None else _name(answer): _cost(
                    f"cost of {brief(answer)} for {brief(label)}", cost
                )
                for answer, cost in row.items()
            }
            for label, row in costs.items()
        }
        for label, row in found.items():
            if row.get(label):
                raise InputError(f"loss: the right answer {brief(label)} costs {row[label]:g}; it must cost 0.")
        every = [cost for row in found.values() for cost in row.values()]
        table = tuple((label, tuple(row.items())) for label, row in found.items())
        return cls("cost", table, _dearest([USUAL_COST, *every]))

    @classmethod
    def balanced(cls, shares: Mapping[ClassName, float]) -> Self:
        """Balanced accuracy: all classes count the same, however frequent they are.

        Args:
            shares: how frequent each class is: counts or shares. A class that is not named counts nothing.
        """
        counts = {_name(name): _cost(f"share of {brief(name)}", share) for name, share in shares.items()}
        counts = {name: count for name, count in counts.items() if count > 0.0}
        if not counts:
            raise InputError("loss: balanced accuracy needs the share of at least one class.", parameter="loss")
        whole = math.fsum(counts.values())
        weights = {name: whole / (len(counts) * count) for name, count in counts.items()}
        most = max(weights.values())
        return cls("balanced accuracy", tuple((n, ((None, w),)) for n, w in weights.items()), most, most)

    def losses(self, label: AnyLabel, answers: Sequence[ClassName | None]) -> Floats:
        """The loss of each answer if this is the label, from 0 to 1; NaN where it is not known."""
        if isinstance(label, Label):
            if not self.plain and label.kind != "grades":
                return self._least(label, answers)
            return label.losses(answers)
        found = np.array([self._cost_of(label, answer) for answer in answers]) / self.dearest
        rounded: Floats = np.round(found / STEP) * STEP
        return rounded

    def _least(self, label: Label, answers: Sequence[ClassName | None]) -> Floats:
        """Of several right classes, the one for which an answer costs least; a preference says nothing of costs."""
        if label.kind == "preference":
            raise InputError(f"a preference says nothing about {self.name}; use preferences without a loss.")
        every = [self.losses(name, answers) for name, _ in label.grades]
        least: Floats = np.min(every, axis=0)
        return least

    def _cost_of(self, label: ClassName, answer: ClassName | None) -> float:
        if answer == label:
            return 0.0
        row = self._rows.get(label)
        if row is None:
            return 0.0 if self.name == "balanced accuracy" else USUAL_COST
        if self.name != "cost":
            return row[None]
        if answer is not None:
            return row.get(answer, USUAL_COST)
        return row.get(None, max(USUAL_COST, *row.values()))

    @property
    def _rows(self) -> dict[ClassName, dict[ClassName | None, float]]:
        return {label: dict(row) for label, row in self.table}

    def to_json(self) -> dict[str, Any]:
        """The loss as a document; `read_loss` reads it again."""
        table = [[label, [list(pair) for pair in row]] for label, row in self.table]
        return {"name": self.name, "table": table, "dearest": self.dearest, "unit": self.unit}


def read_loss(document: Mapping[str, Any]) -> Loss:
    """The loss that `to_json` described."""
    try:
        table = tuple(
            (label, tuple((answer, float(cost)) for answer, cost in row)) for label, row in document["table"]
        )
        return Loss(str(document["name"]), table, float(document["dearest"]), float(document["unit"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"this is not a loss: {brief(document)}.") from error


def _name(value: object) -> ClassName:
    name = plain(value, "loss, class")
    if name is None:
        raise InputError("loss: a label is a class; None stands for an abstention, which is no label.")
    return name


def _cost(what: str, value: object) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < math.inf:
        raise InputError(f"loss: the {what} is {brief(value)}; it must be a number from 0.", parameter="loss")
    return float(value)


def _dearest(costs: Sequence[float]) -> float:
    most = max(costs)
    if most <= 0.0:
        raise InputError("loss: every mistake costs 0, so there is nothing to choose.", parameter="loss")
    return most
