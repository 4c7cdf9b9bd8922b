"""A person at the terminal who labels what a campaign asks for; each answer is on disk before the next question."""

import textwrap
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from modelpicker.cli.shared import prompts
from modelpicker.cli.shared.campaign_options import decided, in_words, leader
from modelpicker.cli.shared.cards import judge
from modelpicker.cli.shared.terminal import WIDTH, count, say, visible, waiting
from modelpicker.errors import ConflictError, brief

if TYPE_CHECKING:
    from modelpicker.campaigns import Campaign, Pick, Query
    from modelpicker.campaigns.file_campaign import Feeder
    from modelpicker.encoding import ClassName
    from modelpicker.label import AnyLabel

# How often somebody who waits looks for new queries, in seconds.
LOOK = 1.0
SHOWN = 3
# What is shown of an item whose answer was taken back, in characters.
SHORT = 50
# Who answers about a file, where nobody says: the same person continues with the item that a crash left open.
ANNOTATOR = "terminal"


class LabelSession:
    """One person, one campaign."""

    def __init__(
        self,
        campaign: "Campaign",
        lease: float,
        by: str | None,
        *,
        wait: bool = False,
        feeder: "Feeder | None" = None,
    ) -> None:
        """Where there is a `feeder`, it asks about more items when nothing waits."""
        self.campaign = campaign
        self.lease = lease
        self.by = by
        self.wait = wait
        self.feeder = feeder
        self.classes: Sequence[ClassName] = () if feeder is None else feeder.classes
        """Those that are known from the start, so that their keys stay the same."""
        self.keys_of: dict[type, prompts.Keys] = {}
        self.answered: list[tuple[Query, bool]] = []
        self.current: Query | None = None
        self.over = False
        """Whether it has been said that labels need no longer be bought."""
        self.pool = campaign.settings.pool is not None
        self.stopped = "end"
        """Why it is over: the person `quit`, or what the feeder says."""

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
            command, label = self._ask(query)
            if command == prompts.QUIT:
                self.stopped = "quit"
                return
            if command == prompts.STOP:
                say(*may_stop(self.campaign.best()))
            elif command == prompts.UNDO:
                self._undo()
            else:
                self._take(query, label)
        self._say_end()

    def _ask(self, query: "Query") -> "tuple[str | None, AnyLabel | None]":
        """Ask about an item: a command, or a label; neither if it is skipped."""
        head, item = self._head(query), query.item or {"item": query.key or query.id}
        if query.candidates:
            return judge(head, item, query.candidates, self.campaign.settings.ask_for)
        keys = self._keys(query)
        said = sorted(keys.place_of[str(name)] for name in query.classes)
        answer = prompts.ask(head, item, keys, said)
        return answer.command, None if answer.label is None else keys.classes[answer.label]

    def _say_end(self) -> None:
        """Why nothing more is asked."""
        others = self.campaign.counts().waiting
        if self.pool and (not others or self.campaign.best().state.over):
            return  # the pick says why
        if others and self.campaign.settings.overlap != 1:
            say("", f"Nothing is left for you: {self.campaign.best().state.reason}")
        elif others:
            waits = "1 more item waits" if others == 1 else f"{others:,} more items wait"
            say("", f"{waits}, but somebody else is labelling {'it' if others == 1 else 'them'} just now.")
        elif self.feeder is None:
            say("", "That was the last item that waited." if self.answered else "Nothing waits to be labelled.")

    def _keys(self, query: "Query") -> prompts.Keys:
        """The keys of the campaign's classes; in an open vocabulary, of all that were said about the same kind."""
        rule = self.campaign.settings.rule
        if self.campaign.classes is not None:
            return self.keys_of.setdefault(object, prompts.Keys(self.campaign.classes, closed=True, rule=rule))
        kind = type(query.classes[0]) if query.classes else str
        names = dict.fromkeys((*self.classes, *self.campaign.known_classes()))
        known = [name for name in names if isinstance(name, kind)]
        keys = self.keys_of.setdefault(kind, prompts.Keys(known, rule=rule))
        for name in known:
            keys.add(str(name))
        return keys

    def _next(self) -> "Query | None":
        """The next item, which is then ours for a while; of a pool that is certified, nothing more is asked."""
        if self.pool and not self.wait and self.campaign.best().state.over:
            return None
        found = self._lease_one()
        while not found and self.feeder is not None:
            fed = self._feed(self.feeder)
            if fed != "query":
                self.stopped = fed
                break
            found = self._lease_one()
        if not found and self.wait:
            with waiting("Waiting for something to label; press Ctrl-C to stop"):
                while not found:
                    time.sleep(LOOK)
                    found = self._lease_one()
        return found[0] if found else None

    def _lease_one(self) -> "list[Query]":
        return self.campaign.pending(1, lease=self.lease, annotator=self.by)

    @staticmethod
    def _feed(feeder: "Feeder") -> str:
        """Ask about more items until one is a query, or there is a reason to stop; say so if that takes long."""
        fed = feeder.feed()
        if fed == "going on":
            with waiting("Looking for an item that is worth a label"):
                while fed == "going on":
                    fed = feeder.feed()
        return fed

    def _take(self, query: "Query", label: "AnyLabel | None") -> None:
        """Store an answer, None for a skip, and say where that leaves the models."""
        try:
            self.campaign.tell(query.id, label, annotator=self.by)
            self.answered.append((query, label is not None))
        except ConflictError as error:  # somebody else was faster, after the lease had expired
            say(visible(f"Not taken: {error}"))
        self.current = None
        pick = self.campaign.best()
        say(f"  {standing_line(pick)}")
        ends = self.pool and not self.wait  # then the pick is printed, with its state
        if pick.state.over and not self.over and self.feeder is None and not ends:
            say("", *textwrap.wrap(visible(in_words(pick)), WIDTH - 1))
        self.over = pick.state.over

    def _undo(self) -> None:
        """Back to the item that was answered last, in this session or before it."""
        last = self.answered.pop()[0].id if self.answered else self._answered_before()
        if last is None:
            say("There is nothing to undo.")
            return
        label = self._own().get(last, self.campaign.label_of(last))
        try:
            with waiting("Going back"):  # everything is rebuilt
                self.campaign.retract(last, lease=self.lease, annotator=self.by)
        except ConflictError as error:  # somebody else took it back, or the budget is spent
            say(visible(f"Not undone: {error}"))
            return
        self.give_back()
        self.current = next((query for query in self.campaign.pending() if query.id == last), None)
        item = None if self.current is None else self.current.item
        # The number of a pool's item is what `retract` and `tell` take; a stream's items are counted.
        say(took_back(label, last if self.pool else last + 1, item or {}))

    def _answered_before(self) -> int | None:
        """The round that the same annotator answered last."""
        return next(reversed(self._own()), None)

    def _own(self) -> "dict[int, AnyLabel | None]":
        """What the same annotator answered, here and before; nobody knows who they are without a name."""
        from modelpicker.campaigns.file_campaign import answers_by

        return {} if self.by is None else answers_by(self.campaign, self.by)

    def give_back(self) -> None:
        """Others need not wait for what was not answered."""
        if self.current is not None:
            self.campaign.release(self.current.id)
            self.current = None

    def _head(self, query: "Query") -> str:
        pick = self.campaign.best()
        if self.pool:
            return visible(f"{self.campaign.name} · {self._progress(pick)} · {leader(pick)}{decided(pick)}")
        budget = "" if pick.budget is None else f" of {pick.budget:,}"
        labels = f"{pick.labels_used:,}{budget} labels" if budget else count(pick.labels_used, "label")
        items = self.campaign.settings.expected_rounds
        of_file = self.campaign.settings.source is not None and items is not None
        where = f"item {query.id + 1:,} of {items:,}" if of_file else f"{pick.pending:,} waiting"
        return visible(f"{self.campaign.name} · {where} · {labels} · {leader(pick)}")

    def _progress(self, pick: "Pick") -> str:
        """How many labels are from this person, and how many there are in all."""
        mine = self.labelled if self.by is None else self.campaign.labels_by(self.by)
        most = "" if pick.budget is None else f" of at most {pick.budget:,}"
        to_go = "" if pick.to_go is None else f", {pick.to_go.words}"
        return f"{mine:,} by you, {pick.labels_used:,}{most}{'' if most else ' in all'}{to_go}"


def took_back(label: "AnyLabel | None", item: int, fields: Mapping[str, Any]) -> str:
    """What was undone: the answer, and the item that it was about."""
    what = "the skip" if label is None else in_short(label)
    shown = next((str(value) for value in fields.values() if isinstance(value, str | int | float)), "")
    text = " ".join(shown.split())
    if text.startswith("data:") or not text:
        return visible(f"Took back {what} for item {item:,}.")
    return visible(f"Took back {what} for item {item:,}: {text if len(text) <= SHORT else f'{text[:SHORT]}…'}")


def in_short(label: "AnyLabel") -> str:
    """A label in a few words."""
    from modelpicker.label import Label

    if not isinstance(label, Label):
        return brief(label)
    if label.kind == "preference":
        return "the preference"
    return "the grades" if label.kind == "grades" else " or ".join(brief(name) for name, _ in label.grades)


def may_stop(pick: "Pick") -> list[str]:
    """Whether a person may stop, why, and what they would have by then."""
    told = [f"May I stop? {_answer(pick)}"]
    if pick.named and not pick.state.over:
        told += [f"If you stop now, the pick is {pick.model}.", *pick.certificate.sentence.splitlines()]
    labels = count(pick.labels_used, "label")
    if pick.budget is not None:
        labels = f"{pick.labels_used:,} of at most {count(pick.budget, 'label')}"
    skipped = f", {pick.skipped:,} skipped" if pick.skipped else ""
    told.append(f"{labels}{skipped}: {standing_line(pick)}.")
    return ["", *(line for part in told for line in textwrap.wrap(visible(part), WIDTH - 1))]


def _answer(pick: "Pick") -> str:
    """Yes, or why not yet."""
    if pick.state.over:
        return f"Yes. {pick.state.reason}"
    if not pick.named:
        return f"Not yet. {pick.no_label_sentence}"
    if pick.reached is None:
        return f"You decide: no goal was set. {pick.state.title}: {pick.state.reason}"
    return f"Not yet: the goal is not reached. {pick.state.title}: {pick.state.reason}"


def standing_line(pick: "Pick") -> str:
    """The first models in one line, and what is proven about the first."""
    from modelpicker.certificates.wording import points

    if not pick.named:
        return leader(pick)
    gap = pick.certificate.gap
    counted = pick.certificate.certain  # which proves next to nothing
    proved = f" · proven: within {points(gap)}" if 0.0 < gap < 1.0 and not counted else ""
    return visible(_leaders(pick)) + proved


def _leaders(pick: "Pick") -> str:
    """The first models, and how far behind they are."""
    if len(pick.tied) > SHOWN:
        return leader(pick)
    entries = []
    for entry in pick.standing[:SHOWN]:
        behind = f"{entry.estimate:,.0f} mistakes" if entry.gap is None else f"{min(entry.gap, 1):.1%} behind"
        tied = len(pick.tied) > 1 and entry.model in pick.tied
        entries.append(f"{entry.model} {'tied' if tied else 'leads' if entry is pick.standing[0] else behind}")
    return " · ".join(entries)
