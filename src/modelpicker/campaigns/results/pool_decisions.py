"""What is said about items that were added to a pool: whether they have been asked about."""

from collections.abc import Sequence

from modelpicker.algorithms import Decision
from modelpicker.campaigns.input.validation import Decisions
from modelpicker.encoding import ClassName, ModelName


class PoolDecisions(Decisions):
    """The decisions about items of a pool, in the order in which they were added: queried are those asked about."""

    def __init__(
        self,
        numbers: Sequence[int],
        asked: Sequence[bool],
        said: Sequence[ClassName | None],
        recommended: ModelName,
        racing: tuple[ModelName, ...] = (),
    ) -> None:
        super().__init__(numbers, (), lambda _: (recommended,), racing)
        self._asked = asked
        self._said = said
        self._recommended = recommended

    def _decision(self, place: int) -> Decision:
        asked = self._asked[place]
        said = self._said[place]
        return Decision(self.ids[place], asked, float(asked), said, self._recommended, self.racing)
