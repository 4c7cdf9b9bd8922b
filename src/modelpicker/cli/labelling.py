"""`modelpicker label`: a labelling session at the terminal, each answer on disk before the next question."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.cli import asking
from modelpicker.cli.campaigning import Annotator, Name, Storage, leader, opened, print_pick
from modelpicker.cli.terminal import Json, count, print_json, say, visible, waiting
from modelpicker.errors import ConflictError, InputError

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign, Query

# How often somebody who waits looks for new queries, in seconds.
LOOK = 1.0
SHOWN = 3


def label(
    name: Name,
    lease: Annotated[
        float, typer.Option(min=1, help="For how many seconds an item is yours before others may get it.")
    ] = 600.0,
    wait: Annotated[
        bool, typer.Option("--wait", help="When nothing is left to label, wait for more until you quit.")
    ] = False,
    by: Annotator = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Label what the campaign asks for, one item at a time: a key a class, s to skip, u to undo, q to quit."""
    campaign = opened(storage, name)
    session = Session(campaign, lease, by, wait)
    try:
        session.converse()
    except KeyboardInterrupt:
        say("", "Stopped. Every answer is saved.")
        raise
    finally:
        session.give_back()
    pick = campaign.best()
    if as_json:
        print_json(
            {"campaign": name, "labelled": session.labelled, "skipped_now": session.skipped, **pick.document()}
        )
    else:
        typer.echo("")
        print_pick(pick)


class Session:
    """One person, one campaign."""

    def __init__(self, campaign: "Campaign", lease: float, by: str | None, wait: bool) -> None:
        self.campaign = campaign
        self.lease = lease
        self.by = by
        self.wait = wait
        self.keys = asking.Keys(campaign.classes or ())
        self.answered: list[tuple[Query, bool]] = []
        self.current: Query | None = None

    @property
    def labelled(self) -> int:
        """How many labels were told."""
        return sum(told for _, told in self.answered)

    @property
    def skipped(self) -> int:
        """How many items were skipped."""
        return len(self.answered) - self.labelled

    def converse(self) -> None:
        """Ask until nothing is left, or the person quits."""
        while (query := self.current or self._next()) is not None:
            self.current = query
            for name in query.classes:
                self.keys.add(str(name)) if self.keys.classes else self._first(name)
            answer = asking.ask(self._head(), self._fields(query), self.keys, self._said(query))
            if answer.command == asking.QUIT:
                return
            if answer.command == asking.UNDO:
                self._undo()
            else:
                self._take(query, answer)
        if not self.answered:
            say("Nothing waits to be labelled.")
        else:
            say("", "That was the last one that waits.")

    def _first(self, name: Any) -> None:
        """The first class of an open vocabulary: numbers stay numbers."""
        self.keys = asking.Keys([name])

    def _next(self) -> "Query | None":
        """The next item, which is then ours for a while."""
        found = self.campaign.pending(1, lease=self.lease, annotator=self.by)
        if not found and self.wait:
            with waiting("Waiting for something to label; press Ctrl-C to stop"):
                while not found:
                    time.sleep(LOOK)
                    found = self.campaign.pending(1, lease=self.lease, annotator=self.by)
        return found[0] if found else None

    def _take(self, query: "Query", answer: asking.Answer) -> None:
        """Store an answer, and say where that leaves the models."""
        told = answer.label is not None
        try:
            if answer.label is not None:
                self.campaign.tell(query.id, self.keys.classes[answer.label], annotator=self.by)
            else:
                self.campaign.skip(query.id, annotator=self.by)
            self.answered.append((query, told))
        except ConflictError as error:  # somebody else was faster, after the lease had expired
            say(visible(f"Not taken: {error}"))
        except InputError as error:  # a class that the campaign does not take
            say(visible(f"Not taken: {error}"))
            return
        self.current = None
        say(f"  {self._standing()}")

    def _undo(self) -> None:
        """Back to the item that was answered last."""
        if not self.answered:
            say("There is nothing to undo.")
            return
        self.give_back()
        self.current, _ = self.answered.pop()
        self.campaign.retract(self.current.id, annotator=self.by)

    def give_back(self) -> None:
        """Others need not wait for what was not answered."""
        if self.current is not None:
            self.campaign.release(self.current.id)
            self.current = None

    def _head(self) -> str:
        pick = self.campaign.best()
        budget = "" if pick.budget is None else f" of {pick.budget:,}"
        labels = f"{pick.labels_used:,}{budget} labels" if budget else count(pick.labels_used, "label")
        return visible(f"{self.campaign.name} · {pick.pending:,} waiting · {labels} · {leader(pick)}")

    def _standing(self) -> str:
        """The first models in one line."""
        pick = self.campaign.best()
        if not pick.labels_used:
            return leader(pick)
        entries = []
        for entry in pick.standing[:SHOWN]:
            behind = f"{entry.estimate:,.0f} mistakes" if entry.gap is None else f"{min(entry.gap, 1):.1%} behind"
            level = entry.estimate == pick.standing[0].estimate and entry.gap is not None
            entries.append(
                f"{entry.model} {'leads' if entry is pick.standing[0] else 'level' if level else behind}"
            )
        return visible(" · ".join(entries))

    def _fields(self, query: "Query") -> dict[str, Any]:
        return query.item or {"item": query.key or query.id}

    def _said(self, query: "Query") -> list[int]:
        return sorted(self.keys.place_of[str(name)] for name in query.classes)
