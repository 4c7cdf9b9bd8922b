"""What a mistake costs: the loss of every answer to an item, from 0 to 1, once its label is known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from modelpicker.encoding import ClassName, plain
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats
from modelpicker.label import STEP, AnyLabel, Label

Costs: TypeAlias = Mapping[Any, Mapping[Any, float]]
# What costs a mistake that nobody named.
USUAL_COST = 1.0
# With costs there may be that many classes: there is a table of all pairs.
MOST_CLASSES = 2_048
# Losses by their names, as users write them.
ACCURACY, GRADES, PREFERENCE = "accuracy", "grades", "preference"
MACRO_F1 = ("macro-f1", "f1", "f1-macro")
# What statements call those that have other names.
BALANCED, WEIGHTED, COST = "balanced accuracy", "weighted accuracy", "cost"


@dataclass(frozen=True)
class Loss:
    """What mistakes cost. Make one with `Loss.weights`, `Loss.costs` or `Loss.balanced`; the default is accuracy.

    >>> Loss.weights({"fraud": 10, "fine": 1}).losses("fine", ["fine", "fraud", None]).round(3)
    array([0. , 0.1, 0.1])
    """

    name: str = ACCURACY
    """What statements call it."""
    table: tuple[tuple[ClassName, tuple[tuple[ClassName | None, float], ...]], ...] = ()
    """By label: what each wrong answer costs; None is an abstention, or any answer that is not named."""
    dearest: float = 1.0
    """What the worst mistake costs: losses are costs divided by this."""
    unit: float = 1.0
    """What a loss of 1 is in the statements: 1, unless they are about balanced accuracy."""

    @property
    def plain(self) -> bool:
        """Whether a class says all about an answer: it is right or wrong."""
        return not self.table

    @property
    def whole(self) -> bool:
        """Whether losses are 0 or 1, and nothing between."""
        return self.plain and self.name != GRADES

    @classmethod
    def of(cls, given: object) -> "Loss":
        """A loss from what users write.

        "accuracy", which is the default; "grades"; "preference"; weights by class; costs by class and answer; or a
        loss.

        >>> import modelpicker as mp
        >>> mp.Loss.of({"spam": 5, "ham": 1}).name
        'weighted accuracy'
        """
        if given is None:
            return cls()
        if isinstance(given, str) and given.lower().replace("_", "-").replace(" ", "-") in MACRO_F1:
            raise InputError(
                "loss: macro-F1 is not a mean of losses over items, so it is estimated, and cannot be certified: "
                'PoolPicker.macro_f1() and reports have the estimate. For a proof, pass loss="balanced" '
                "(docs/how-to/losses.md).",
                parameter="loss",
            )
        if isinstance(given, str) and given in (ACCURACY, GRADES, PREFERENCE):
            return cls(given)
        if isinstance(given, Loss):
            return given
        if isinstance(given, Mapping) and given:
            nested = [isinstance(value, Mapping) for value in given.values()]
            if all(nested):
                return cls.costs(given)
            if not any(nested):
                return cls.weights(given)
        raise InputError(
            f'loss {brief(given)}: pass "accuracy", "grades", "preference", weights by class '
            '({"spam": 5, "ham": 1}), or costs by class and answer ({"spam": {"ham": 5}}).',
            parameter="loss",
        )

    @classmethod
    def weights(cls, weights: Mapping[Any, float]) -> Self:
        """A mistake costs the weight of the class that would have been right; 1 for a class that is not named.

        >>> import modelpicker as mp
        >>> mp.Loss.weights({"spam": 5}).losses("spam", ["spam", "ham"])
        array([0., 1.])
        """
        found = {_name(name): _cost(f"weight of {brief(name)}", weight) for name, weight in weights.items()}
        table = tuple((name, ((None, weight),)) for name, weight in found.items())
        return cls(WEIGHTED, table, _dearest([USUAL_COST, *found.values()]))

    @classmethod
    def costs(cls, costs: Costs) -> Self:
        """What it costs to answer one class where another is right: `{"spam": {"ham": 5}}`, the right one first.

        What is not named costs 1. The key None is an abstention: by default it costs as much as the worst answer.

        >>> import modelpicker as mp
        >>> mp.Loss.costs({"spam": {"ham": 5}}).losses("spam", ["spam", "ham"])
        array([0., 1.])
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
        return cls(COST, table, _dearest([USUAL_COST, *every]))

    @classmethod
    def balanced(cls, shares: Mapping[Any, float]) -> Self:
        """Balanced accuracy: all classes count the same, however frequent they are.

        Args:
            shares: how frequent each class is: counts or shares. A class that is not named counts nothing.

        >>> import modelpicker as mp
        >>> mp.Loss.balanced({"fraud": 1, "fine": 99}).name
        'balanced accuracy'
        """
        counts = {_name(name): _cost(f"share of {brief(name)}", share) for name, share in shares.items()}
        counts = {name: count for name, count in counts.items() if count > 0.0}
        if not counts:
            raise InputError("loss: balanced accuracy needs the share of at least one class.", parameter="loss")
        whole = math.fsum(counts.values())
        weights = {name: whole / (len(counts) * count) for name, count in counts.items()}
        most = max(weights.values())
        return cls(BALANCED, tuple((n, ((None, w),)) for n, w in weights.items()), most, most)

    def spelt_as(self, classes: Sequence[ClassName]) -> "Loss":
        """The same loss; its classes are whole numbers or text, as those of the models are: JSON has only text."""
        if self.plain or not classes:
            return self
        numbers = isinstance(classes[0], int)
        table = tuple(
            (
                _spelt(label, numbers),
                tuple((None if name is None else _spelt(name, numbers), cost) for name, cost in row),
            )
            for label, row in self.table
        )
        return replace(self, table=table)

    def coded(self, codes: Mapping[ClassName, int]) -> "Loss":
        """The same loss, of codes in the place of classes."""
        table = tuple(
            (codes[label], tuple((None if name is None else codes[name], cost) for name, cost in row))
            for label, row in self.table
        )
        return replace(self, table=table)

    @property
    def classes(self) -> list[ClassName]:
        """The classes that it names."""
        return [name for label, row in self.table for name in (label, *(one for one, _ in row)) if name is not None]

    def losses(self, label: AnyLabel, answers: Sequence[ClassName | None]) -> Floats:
        """The loss of each answer if this is the label, from 0 to 1; NaN where it is not known.

        >>> import modelpicker as mp
        >>> mp.Loss.of("accuracy").losses("spam", ["spam", "ham"])
        array([0., 1.])
        """
        if not isinstance(label, Label):
            found = np.array([self._cost_of(label, answer) for answer in answers]) / self.dearest
            rounded: Floats = np.round(found / STEP) * STEP
            return rounded
        self._check_kind(label)
        if self.plain:
            losses = label.losses(answers)
            return np.where(losses == 0.5, 0.0, losses) if label.kind == PREFERENCE else losses
        if not label.grades:
            return self._of_no_class(answers)
        # Of several right classes, the one for which an answer costs least.
        least: Floats = np.min([self.losses(name, answers) for name, _ in label.grades], axis=0)
        return least

    def _check_kind(self, label: Label) -> None:
        """An error for a label that says nothing about this loss."""
        values = {grade for _, grade in label.grades} | {label.otherwise}
        fine = {
            ACCURACY: label.kind != PREFERENCE and values <= {0.0, 1.0, None},
            GRADES: label.kind != PREFERENCE,
            PREFERENCE: label.kind == PREFERENCE,
        }.get(self.name, label.kind == "classes" or label == Label.all_wrong())
        if fine:
            return
        if label.kind == PREFERENCE:
            raise InputError(f'a preference says nothing about {self.name}; pass loss="preference".')
        if self.name == PREFERENCE:
            raise InputError(f"{brief(label.to_json())} is not a preference; the loss is one of preferences.")
        if self.plain:
            raise InputError('grades between 0 and 1 say more than right and wrong; pass loss="grades".')
        raise InputError(f"grades say nothing about {self.name}; name the right class, or several.")

    def _of_no_class(self, answers: Sequence[ClassName | None]) -> Floats:
        """The losses if no class that is named is right."""
        usual = 0.0 if self.name == BALANCED else USUAL_COST / self.dearest
        return np.full(len(answers), round(usual / STEP) * STEP)

    def scores(self, classes: Sequence[ClassName]) -> Floats:
        """How right it is to answer a class where another is the label: [label, answer], one less the loss.

        The last row is a class that nobody names, the last column an abstention.
        """
        answers = [*classes, None]
        found = np.tile(self._of_no_class(answers), (len(answers), 1))
        found[np.arange(len(classes)), np.arange(len(classes))] = 0.0
        places = {name: place for place, name in enumerate(classes)}
        for label in self._rows:
            if label in places:
                found[places[label]] = self.losses(label, answers)
        return 1.0 - found

    def reach(self, classes: Sequence[ClassName]) -> Floats:
        """By how much one answer may lose more than another, whatever the label: [the one, the other].

        The last place is an abstention.
        """
        self.check_classes(len(classes))
        answers = [*classes, None]
        most = np.zeros((len(answers), len(answers)))
        # A class without costs of its own: only the answer that is right loses less than the others.
        own = self._rows
        for place, name in enumerate(classes):
            if name not in own:
                most[:, place] = self._of_no_class([None])[0]
        for label in own:
            losses = self.losses(label, answers)
            np.maximum(most, losses[:, None] - losses, out=most)
        np.fill_diagonal(most, 0.0)
        return most

    def check_classes(self, classes: int) -> None:
        """An error if there are that many classes that a table of all pairs would take too much memory."""
        if not self.plain and classes > MOST_CLASSES:
            raise InputError(
                f"loss: there are {classes:,} classes, and {self.name} takes at most {MOST_CLASSES:,}; "
                'for free text use loss="grades".',
                parameter="loss",
            )

    def _cost_of(self, label: ClassName, answer: ClassName | None) -> float:
        if answer == label:
            return 0.0
        row = self._rows.get(label)
        if row is None:
            return 0.0 if self.name == BALANCED else USUAL_COST
        if self.name != COST:
            return row[None]
        if answer is not None:
            return row.get(answer, USUAL_COST)
        return row.get(None, max(USUAL_COST, *row.values()))

    @cached_property
    def _rows(self) -> dict[ClassName, dict[ClassName | None, float]]:
        return {label: dict(row) for label, row in self.table}

    def to_json(self) -> dict[str, Any]:
        """The loss as a document; `read_loss` reads it again.

        >>> import modelpicker as mp
        >>> mp.Loss.weights({"spam": 5}).to_json()
        {'name': 'weighted accuracy', 'table': [['spam', [[None, 5.0]]]], 'dearest': 5.0, 'unit': 1.0}
        """
        table = [[label, [list(pair) for pair in row]] for label, row in self.table]
        return {"name": self.name, "table": table, "dearest": self.dearest, "unit": self.unit}


ACCURATE = Loss()


def read_loss(document: Mapping[str, Any]) -> Loss:
    """The loss that `to_json` described."""
    try:
        table = tuple(
            (label, tuple((answer, float(cost)) for answer, cost in row)) for label, row in document["table"]
        )
        return Loss(str(document["name"]), table, float(document["dearest"]), float(document["unit"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"this is not a loss: {brief(document)}.") from error


def _spelt(name: ClassName, number: bool) -> ClassName:
    """A class as a number, if it can be one and the others are; or as text."""
    if not number:
        return str(name)
    return int(name) if isinstance(name, str) and name.isascii() and name.removeprefix("-").isdigit() else name


def _name(value: object) -> ClassName:
    name = plain(value, "loss, class")
    if name is None:
        raise InputError("loss: a label is a class; None stands for an abstention, which is not a label.")
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
