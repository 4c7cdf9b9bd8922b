"""What an evaluation tool measured: a grade for each answer, and what each model costs per item."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modelpicker.encoding import Array, ClassName
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN
from modelpicker.label import Label


@dataclass(frozen=True, eq=False)
class Measurements:
    """Grades and prices that came with a file."""

    grades: npt.NDArray[np.float32] | None = None
    """Items by models, from 0 (wrong) to 1 (right); NaN where there is none. None if labels are used."""
    score: str = ""
    """What the tool calls the grades."""
    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What a model costs per item on average, by "cost" or "latency" and by model; only what all models have."""

    @property
    def graded(self) -> int:
        """How many items have a grade."""
        return 0 if self.grades is None else int((~np.isnan(self.grades)).any(axis=1).sum())

    def means(self, codes: Array) -> list[float]:
        """The mean grade of each model over the items that have grades; a missing answer counts as wrong.

        Items that a model was not run on (`codes`) do not count for it; NaN where it was run on none.
        """
        if self.grades is None:
            return []
        graded = (~np.isnan(self.grades)).any(axis=1)
        run = codes[graded] != NOT_RUN
        sums = np.nan_to_num(self.grades[graded].astype(np.float64)).sum(axis=0)
        numbers = run.sum(axis=0)
        return [float(total / items) if items else math.nan for total, items in zip(sums, numbers, strict=True)]

    def take(self, items: Any) -> Self:
        """The measurements of some items; what models cost stays."""
        return self if self.grades is None else replace(self, grades=self.grades[items])

    def of_models(self, places: Sequence[int], names: Sequence[str]) -> Self:
        """The measurements of some models, by their places and names."""
        prices = {kind: {name: found[name] for name in names} for kind, found in self.prices.items()}
        grades = None if self.grades is None else self.grades[:, list(places)]
        return replace(self, grades=grades, prices=prices)

    def label_at(self, item: int, codes: Array, classes: Sequence[ClassName]) -> Label | None:
        """The grades of an item as a label; None if it has none. Answers that were merged have their mean grade."""
        if self.grades is None:
            return None
        found: dict[ClassName, list[float]] = {}
        for code, grade in zip(codes[item].tolist(), self.grades[item].tolist(), strict=True):
            if code >= 0 and grade == grade:
                found.setdefault(classes[code], []).append(grade)
        if not found:
            silent = (codes[item] < 0).all() and (codes[item] == ABSTAINED).any()
            return Label.all_wrong() if silent else None
        return Label.graded({answer: sum(grades) / len(grades) for answer, grades in found.items()})

    def price(self, kind: str) -> Mapping[str, float]:
        """What models cost per item; an error if the file does not say."""
        if kind not in self.prices:
            raise InputError(
                f"price={brief(kind)}: the file does not say for every model what its answers cost in {kind}. "
                "Pass a number for each model.",
                parameter="price",
            )
        return self.prices[kind]
