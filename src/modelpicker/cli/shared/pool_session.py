"""A person at the terminal who labels the items of a pool; each answer is on the disk before the next question."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from modelpicker.cli.shared import prompts
from modelpicker.cli.shared.campaign_options import leader
from modelpicker.cli.shared.label_session import may_stop, standing_line, took_back
from modelpicker.cli.shared.terminal import count, say, visible, waiting

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker
    from modelpicker.campaigns import Pick
    from modelpicker.campaigns.pool_journal import PoolJournal
    from modelpicker.collections import ModelCollection
    from modelpicker.encoding import ClassName


class PoolSession:
    """One person, one pool, and the journal of the answers."""

    def __init__(
        self,
        make: "Callable[[], PoolPicker]",
        whole: "ModelCollection",
        journal: "PoolJournal",
        *,
        name: str,
        budget: int | None,
        by: str | None,
        closed: bool,
    ) -> None:
        """`make` gives a new pool; `closed` says that no class may be added."""
        self.make = make
        self.whole = whole
        self.journal = journal
        self.name = name
        self.budget = budget
        self.by = by
        self.keys = prompts.Keys(whole.classes, closed=closed)
        self.identity = _identity_of(whole)
        self.stopped = "end"
        """Why it is over: the person `quit`, it is `certified`, the `budget` is spent, or all was asked (`end`)."""
        self.pool = self._replay()

    def _replay(self) -> "PoolPicker":
        """The pool as it was after the last answer."""
        from modelpicker.campaigns.offline_pool import replay_answers

        pool = self.make()
        for answer in replay_answers(pool, self.journal.answers, self.journal.path):
            if answer.label is not None:
                self.keys.add(str(answer.label))
        return pool

    def use_known(self) -> None:
        """Tell the labels that are known already: nobody is asked for them."""
        from modelpicker.campaigns.offline_pool import known_places
        from modelpicker.campaigns.pool_journal import PoolAnswer

        labels = self.whole.labels
        told = {answer.item for answer in self.journal.answers}
        places = [place for place in known_places(self.whole) if place not in told]
        if labels is None or not places:
            return
        found = [PoolAnswer(place, self.whole.classes[int(labels[place])], known=True) for place in places]
        for answer in found:
            self.pool.tell(answer.item, answer.label)
        self.journal.write(*found)

    @property
    def known(self) -> int:
        """How many labels were known before anybody was asked."""
        return sum(answer.known for answer in self.journal.answers)

    @property
    def skipped(self) -> int:
        """How many items nobody could label."""
        return sum(answer.label is None for answer in self.journal.answers)

    @property
    def spent(self) -> bool:
        """Whether the budget is spent; labels that were known cost nothing."""
        return self.budget is not None and self.pool.labels_used - self.known >= self.budget

    def converse(self) -> None:
        """Ask until the pick is certified, nothing is left to ask, the budget is spent, or the person quits."""
        current: int | None = None
        while not self.pool.done and not self.spent:
            current = self.pool.ask(1)[0] if current is None else current
            row = sorted({int(code) for code in self.whole.predictions[current].tolist() if code >= 0})
            reply = prompts.ask(self._head(current), self._shown(current), self.keys, row)
            if reply.command == prompts.QUIT:
                self.stopped = "quit"
                return
            if reply.command == prompts.STOP:
                say(*may_stop(self.pick()))
            elif reply.command == prompts.UNDO:
                current = None if self._undo() else current
            else:
                self._take(current, None if reply.label is None else self.keys.classes[reply.label])
                current = None
        settled = self.pool.certified and self.pool.done
        self.stopped = "certified" if settled else "budget" if self.spent else "end"

    def _take(self, item: int, label: "ClassName | None") -> None:
        """Store an answer, None for a skip, and say where that leaves the models."""
        from modelpicker.campaigns.pool_journal import PoolAnswer

        more = {
            "id": None if self.identity is None else self._shown(item)[self.identity],
            "prediction": self._said(item),
            "by": self.by,
            "time": round(time.time(), 3),
        }
        self.journal.write(PoolAnswer(item, label), **more)
        self.pool.tell(item, label)
        say(f"  {standing_line(self.pick())}")

    def _said(self, item: int) -> "ClassName | None":
        """What the model that leads says of an item: a reader can check that it is the same item."""
        from modelpicker.campaigns.offline import names_at

        return names_at(self.whole, item)[self.pool.recommended_index]

    def _undo(self) -> bool:
        """Back to the item that was answered last, in this session or before it."""
        taken = self.journal.undo()
        if taken is None:
            say("There is nothing to undo.")
            return False
        say(took_back(taken.label, taken.item + 1, self._shown(taken.item)))
        with waiting("Going back"):
            self.pool = self._replay()
        return True

    def pick(self) -> "Pick":
        """The best model so far."""
        from modelpicker.campaigns.results.pool_pick import make_pool_pick

        return make_pool_pick(self.pool, budget=self.budget, skipped=self.skipped, spent=self.spent)

    def _head(self, item: int) -> str:
        pick = self.pick()
        paid = pick.labels_used - self.known
        labels = count(pick.labels_used, "label") if self.budget is None else f"{paid:,} of {self.budget:,} labels"
        to_go = "" if pick.to_go is None else f", {pick.to_go.words}"
        place = f"{self.name} · item {item + 1:,} of {len(self.whole):,}"
        return visible(f"{place} · {labels}{to_go} · {leader(pick)}{_decided(pick)}")

    def _shown(self, item: int) -> dict[str, Any]:
        """What is shown of an item."""
        fields = {name: values[item] for name, values in self.whole.fields.items()}
        return fields or {"row": item + 1}


def _decided(pick: "Pick") -> str:
    """How many slices are decided; empty if there are none."""
    if pick.slices is None:
        return ""
    return f" · {sum(row.certified for row in pick.slices):,} of {len(pick.slices):,} slices certified"


def _identity_of(whole: "ModelCollection") -> str | None:
    """The field that tells items apart, if there is one."""
    from modelpicker.collections.column_name_hints import IDENTITIES

    return next((name for name in IDENTITIES if name in whole.fields), None)
