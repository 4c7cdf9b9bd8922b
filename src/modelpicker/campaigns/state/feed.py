"""Items of files that wait to be asked about in a stream: how many, of which files, and how far it has come."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.errors import StorageError


@dataclass(slots=True)
class KeptRun:
    """Consecutive items of one file."""

    file: str
    mark: str
    """What tells the content of the file from that of others; empty if some of the items were dropped."""
    items: int
    upto: int
    """Rows of the file before this one need not be kept again."""


@dataclass(slots=True)
class FeedState:
    """The files that were kept, in the order in which they came."""

    runs: list[KeptRun] = field(default_factory=list)
    taken: int = 0
    """How many items no longer wait; the first ones."""

    @property
    def total(self) -> int:
        """How many items were ever kept."""
        return sum(run.items for run in self.runs)

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return self.total - self.taken

    def rows_of(self, mark: str) -> int:
        """How many rows of a file, the first ones, need not be kept again."""
        return max((run.upto for run in self.runs if run.mark == mark), default=0)

    def waiting_by_file(self) -> dict[str, int]:
        """How many items of each file wait, in the order in which they will be asked about."""
        found: dict[str, int] = {}
        before = self.taken
        for run in self.runs:
            left = max(0, run.items - before)
            before = max(0, before - run.items)
            if left:
                found[run.file] = found.get(run.file, 0) + left
        return found

    def follow(self, event: object) -> None:
        """Move on by an event; others than these mean nothing here."""
        if isinstance(event, FeedItems):
            self.keep(event)
        elif isinstance(event, FeedTaken):
            self.take(event)

    def keep(self, event: FeedItems) -> None:
        """More items wait."""
        if event.first != self.total:
            raise StorageError(f"item {self.total:,} of the files that were kept is missing; restore a backup.")
        last = self.runs[-1] if self.runs else None
        if last is not None and (last.file, last.mark) == (event.file, event.mark):
            last.items, last.upto = last.items + len(event), event.upto
        else:
            self.runs.append(KeptRun(event.file, event.mark, len(event), event.upto))

    def take(self, event: FeedTaken) -> None:
        """Some items no longer wait; a file whose items were dropped may come again."""
        if not 0 <= event.items <= self.waiting:
            raise StorageError(f"{event.items:,} items cannot have been taken; restore a backup.")
        if event.dropped:
            before = 0
            for run in self.runs:
                before += run.items
                run.mark = run.mark if before <= self.taken else ""
        self.taken += event.items

    def copy(self) -> "FeedState":
        """The same, to count on with."""
        return FeedState([replace(run) for run in self.runs], self.taken)

    def document(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        return {"runs": [[run.file, run.mark, run.items, run.upto] for run in self.runs], "taken": self.taken}

    @classmethod
    def load(cls, document: Mapping[str, Any] | None) -> Self:
        """What `document` described; older states have none."""
        if document is None:
            return cls()
        return cls([KeptRun(*run) for run in document["runs"]], int(document["taken"]))
