"""How long work shows itself: a bar with rate, remaining time and current standing, on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress

# Seconds between looks at the standing.
PAUSE = 0.5


class Watcher(Protocol):
    """Is told how work goes on."""

    def stage(self, name: str) -> None:
        """What is being done now."""

    def expect(self, runs: int) -> None:
        """So many more runs are to come."""

    def advance(self, runs: int, standing: Callable[[], str]) -> None:
        """So many runs are done; `standing` says who is ahead."""


class Silent:
    """Nobody watches."""

    def stage(self, name: str) -> None:
        """Nothing."""

    def expect(self, runs: int) -> None:
        """Nothing."""

    def advance(self, runs: int, standing: Callable[[], str]) -> None:
        """Nothing."""


class Bar:
    """A bar in a terminal."""

    def __init__(self, progress: "Progress", title: str) -> None:
        self.progress = progress
        self.title = title
        self.task = progress.add_task(title, total=None, rate="", standing="")
        self.started = time.monotonic()
        self.looked = 0.0

    def stage(self, name: str) -> None:
        """What is being done now."""
        named = f"{self.title}: {name}" if self.title else name
        self.progress.update(self.task, description=named, refresh=True)

    def expect(self, runs: int) -> None:
        """So many more runs are to come."""
        self.progress.update(self.task, total=self.progress.tasks[0].completed + runs)

    def advance(self, runs: int, standing: Callable[[], str]) -> None:
        """So many runs are done."""
        self.progress.advance(self.task, runs)
        now = time.monotonic()
        if now - self.looked > PAUSE:
            self.looked = now
            rate = self.progress.tasks[0].completed / (now - self.started)
            self.progress.update(self.task, rate=f"{rate:,.0f} runs/s", standing=standing())


@contextmanager
def on_terminal(title: str = "") -> Iterator[Watcher]:
    """A bar, if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[standing]}"),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bar(progress, title)
