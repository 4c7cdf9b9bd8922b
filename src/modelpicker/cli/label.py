"""`modelpicker label`: a labelling session at the terminal, each answer on disk before the next question."""

import textwrap
import time
from typing import TYPE_CHECKING, Annotated

import typer

from modelpicker.cli.shared import prompts
from modelpicker.cli.shared.campaign_options import (
    Annotator,
    Name,
    StorageOption,
    in_words,
    leader,
    opened,
    print_pick,
)
from modelpicker.cli.shared.terminal import WIDTH, Json, count, print_json, say, visible, waiting
from modelpicker.errors import ConflictError

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign, Pick, Query

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
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Label what the campaign asks for, one item at a time: a key a class, s to skip, u to undo, q to quit."""
    campaign = opened(storage, name)
    session = LabelSession(campaign, lease, by, wait)
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


class LabelSession:
    """One person, one campaign."""

    def __init__(self, campaign: "Campaign", lease: float, by: str | None, wait: bool) -> None:
        self.campaign = campaign
        self.lease = lease
        self.by = by
        self.wait = wait
        self.keys_of: dict[type, prompts.Keys] = {}
        self.answered: list[tuple[Query, bool]] = []
        self.current: Query | None = None
        self.over = False
        """Whether it has been said that labels need no longer be bought."""

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
            keys = self._keys(query)
            said = sorted(keys.place_of[str(name)] for name in query.classes)
            answer = prompts.ask(self._head(), query.item or {"item": query.key or query.id}, keys, said)
            if answer.command == prompts.QUIT:
                return
            if answer.command == prompts.UNDO:
                self._undo()
            else:
                self._take(query, None if answer.label is None else keys.classes[answer.label])
        others = self.campaign.counts().waiting
        if others:
            waits = "1 more item waits" if others == 1 else f"{others:,} more items wait"
            say("", f"{waits}, but somebody else is labelling {'it' if others == 1 else 'them'} just now.")
        else:
            say("", "That was the last item that waited." if self.answered else "Nothing waits to be labelled.")

    def _keys(self, query: "Query") -> prompts.Keys:
        """The keys of the campaign's classes; in an open vocabulary, of all that were said of the same kind."""
        if self.campaign.classes is not None:
            return self.keys_of.setdefault(object, prompts.Keys(self.campaign.classes, closed=True))
        kind = type(query.classes[0]) if query.classes else str
        known = [name for name in self.campaign.known_classes() if isinstance(name, kind)]
        keys = self.keys_of.setdefault(kind, prompts.Keys(known))
        for name in known:
            keys.add(str(name))
        return keys

    def _next(self) -> "Query | None":
        """The next item, which is then ours for a while."""
        found = self.campaign.pending(1, lease=self.lease, annotator=self.by)
        if not found and self.wait:
            with waiting("Waiting for something to label; press Ctrl-C to stop"):
                while not found:
                    time.sleep(LOOK)
                    found = self.campaign.pending(1, lease=self.lease, annotator=self.by)
        return found[0] if found else None

    def _take(self, query: "Query", name: int | str | None) -> None:
        """Store an answer, None for a skip, and say where that leaves the models."""
        try:
            self.campaign.tell(query.id, name, annotator=self.by)
            self.answered.append((query, name is not None))
        except ConflictError as error:  # somebody else was faster, after the lease had expired
            say(visible(f"Not taken: {error}"))
        self.current = None
        pick = self.campaign.best()
        say(f"  {_standing(pick)}")
        if pick.state.over and not self.over:
            say("", *textwrap.wrap(visible(in_words(pick)), WIDTH - 1))
        self.over = pick.state.over

    def _undo(self) -> None:
        """Back to the item that was answered last."""
        if not self.answered:
            say("There is nothing to undo.")
            return
        last, _ = self.answered.pop()
        try:
            self.campaign.retract(last.id, lease=self.lease, annotator=self.by)
        except ConflictError as error:  # somebody else took it back, or the budget is spent
            say(visible(f"Not undone: {error}"))
            return
        self.give_back()
        self.current = last

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


def _standing(pick: "Pick") -> str:
    """The first models in one line."""
    if not pick.labels_used or len(pick.tied) > SHOWN:
        return leader(pick)
    entries = []
    for entry in pick.standing[:SHOWN]:
        behind = f"{entry.estimate:,.0f} mistakes" if entry.gap is None else f"{min(entry.gap, 1):.1%} behind"
        tied = len(pick.tied) > 1 and entry.model in pick.tied
        entries.append(f"{entry.model} {'tied' if tied else 'leads' if entry is pick.standing[0] else behind}")
    return visible(" · ".join(entries))
