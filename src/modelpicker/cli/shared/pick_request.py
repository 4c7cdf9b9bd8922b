"""What the command line asks of `modelpicker pick`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modelpicker.campaigns.offline import Goal
    from modelpicker.collections.column_roles import Reading
    from modelpicker.encoding import Missing
    from modelpicker.experiments.engines import Workforce


@dataclass(frozen=True)
class PickRequest:
    """The options of one call."""

    source: str
    labels: Path | None
    algorithm: str
    options: Mapping[str, Any]
    """Of the algorithm, with the goal of one that stops by itself."""
    goal: "Goal"
    seed: int
    shuffle: bool
    play_unlabelled: bool
    out: Path | None
    by: str | None
    reading: "Reading"
    confidence: float
    tolerance: float | None
    judge: str | None
    """The column that holds cheap labels which may be wrong."""
    warm: Path | None
    """A file with labels that exist already."""
    slice: str | None
    """The column of the slices."""
    typed: Mapping[str, Any]
    """The options that were typed, by the names of their parameters: the others may be as they were started
    with."""
    ask_for: str = "class"
    """What a person is asked for."""
    how: "Workforce | None" = None
    """Who scans files that are larger than memory; None: they are read into memory."""
    missing: "Missing" = "abstained"
    """What an empty cell of a stream stands for."""
    costs: Mapping[str, Any] = field(default_factory=dict)
    """The loss, the prices and the noise, as they were typed."""

    def reading_again(self) -> dict[str, Any]:
        """What is needed to read the same items and labels again, for the first line of a result."""
        sliced = {} if self.slice is None else {"slice": self.slice}
        return {
            **sliced,
            "collection": self.source,
            "labels_from": None if self.labels is None else str(self.labels),
            "reading": self.reading.document(),
            **({} if self.judge is None else {"judge": self.judge}),
            **({} if self.warm is None else {"warm_from": str(self.warm)}),
        }
