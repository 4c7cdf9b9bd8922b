"""What is said of items that were added to a pool: whether they have been asked about."""

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms import Decision
from modelpicker.campaigns.input.validation import Decisions
from modelpicker.encoding import ClassName, ModelName
from modelpicker.kernels.primitives import Floats


class PoolDecisions(Decisions):
    """The decisions about items of a pool, in the order in which they were added: queried are those asked about."""

    def __init__(
        self,
        numbers: Sequence[int],
        asked: Sequence[bool],
        said: Sequence[ClassName | None],
        recommended: ModelName,
    ) -> None:
        super().__init__(numbers, (), lambda _: (recommended,))
        self._asked = asked
        self._said = said
        self._recommended = recommended

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decision]: ...
    def __getitem__(self, place: int | slice) -> Decision | Sequence[Decision]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        asked = self._asked[place]
        return Decision(self.ids[place], asked, float(asked), self._said[place], self._recommended)

    @property
    def queried(self) -> npt.NDArray[np.bool_]:
        """Whether each item has been asked about."""
        return np.array(self._asked, dtype=np.bool_)

    @property
    def probability(self) -> Floats:
        """1 for each item that has been asked about, and 0 for the others."""
        return np.array(self._asked, dtype=np.float64)

    def columns(self) -> tuple[list[bool], list[float], list[ClassName | None], list[ModelName]]:
        """Query, probability, prediction and recommended model of each, as lists."""
        asked = list(self._asked)
        return asked, [float(one) for one in asked], list(self._said), [self._recommended] * len(self)
