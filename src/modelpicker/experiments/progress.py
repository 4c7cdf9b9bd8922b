"""How long work shows itself: a bar with rate and remaining time, and who is ahead, on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress

# Seconds between looks at the standing.
PAUSE = 0.5


class Watcher(Protocol):
    """Is told how work continues."""

    def start(self, done: int, total: int) -> None:
        """This many runs are known from before, and about that many are needed in all."""

    def stage(self, name: str) -> None:
        """What is being done now."""

    def expect(self, runs: int) -> None:
        """At least that many more runs are to come."""

    def advance(self, runs: int, standing: Callable[[], str]) -> None:
        """This many runs are done; `standing` says who is ahead."""


class Silent:
    """Nobody watches."""

    def start(self, done: int, total: int) -> None:
        """Nothing."""

    def stage(self, name: str) -> None:
        """Nothing."""

    def expect(self, runs: int) -> None:
        """Nothing."""

    def advance(self, runs: int, standing: Callable[[], str]) -> None:
        """Nothing."""


class Bar:
    """A bar in a terminal, and a line on who is ahead."""

    def __init__(self, progress: "Progress", title: str) -> None:
        self.progress = progress
        self.title = title
        self.task = progress.add_task(title, total=None, counted="", rate="", standing="")
        self.done = self.before = self.total = 0
        self.started = time.monotonic()
        self.looked = 0.0

    def start(self, done: int, total: int) -> None:
        """This many runs are known from before."""
        self.done = self.before = done
        self.total = max(done, total)
        self.started = time.monotonic()
        self._update()

    def stage(self, name: str) -> None:
        """What is being done now."""
        named = f"{self.title}: {name}" if self.title else name
        self.progress.update(self.task, description=named, refresh=True)

    def expect(self, runs: int) -> None:
        """At least that many more runs are to come."""
        self.total = max(self.total, self.done + runs)
        self._update()

    def advance(self, runs: int, standing: Callable[[], str]) -> None:
        """This many runs are done."""
        self.done += runs
        now = time.monotonic()
        if now - self.looked > PAUSE:
            self.looked = now
            rate = (self.done - self.before) / max(now - self.started, 1e-9)
            self.progress.update(self.task, rate=f"{rate:,.0f} runs/s", standing=standing())
        self._update()

    def _update(self) -> None:
        counted = f"{self.done:,} of {self.total:,} runs"
        self.progress.update(self.task, completed=self.done, total=self.total, counted=counted)


@contextmanager
def on_terminal(title: str = "") -> Iterator[Watcher]:
    """A bar, if standard error is a terminal."""
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class TwoLines(Progress):
        """The bar, and below it who is ahead."""

        def get_renderables(self) -> Iterator[RenderableType]:
            yield from super().get_renderables()
            for task in self.tasks:
                if task.fields["standing"]:
                    yield Text(task.fields["standing"], style="dim", overflow="ellipsis", no_wrap=True)

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[counted]}", markup=False),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(compact=True),
    )
    console = Console(stderr=True)
    with TwoLines(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bar(progress, title)
