"""A person at the terminal who labels the items of a pool; each answer is on the disk before the next question."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from modelpicker.cli.shared import prompts
from modelpicker.cli.shared.campaign_options import decided, leader
from modelpicker.cli.shared.cards import judge
from modelpicker.cli.shared.label_session import may_stop, standing_line, took_back
from modelpicker.cli.shared.terminal import count, say, visible, waiting

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker
    from modelpicker.campaigns import Pick
    from modelpicker.campaigns.pool_journal import PoolJournal
    from modelpicker.collections import ModelCollection
    from modelpicker.collections.same_answers import SameAnswers
    from modelpicker.encoding import ClassName
    from modelpicker.label import AnyLabel


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
        ask_for: str = "class",
        rule: "SameAnswers | None" = None,
    ) -> None:
        """`make` gives a new pool; `closed` says that no class may be added; `rule`, which answers are the same."""
        self.make = make
        self.whole = whole
        self.journal = journal
        self.name = name
        self.budget = budget
        self.by = by
        self.ask_for = ask_for
        self.rule = rule
        self.keys = prompts.Keys(whole.classes if ask_for == "class" else (), closed=closed, rule=rule)
        self.identity = _identity_of(whole)
        self.stopped = "end"
        """Why it is over: the person `quit`, it is `certified`, the `budget` is spent, or all was asked (`end`)."""
        self.pool = self._replay()

    def _replay(self) -> "PoolPicker":
        """The pool as it was after the last answer."""
        from modelpicker.campaigns.offline_pool import replay_answers

        pool = self.make()
        for answer in replay_answers(pool, self.journal.answers, self.journal.path):
            if isinstance(answer.label, int | str):
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

    def use_given(self, labels: "Mapping[int, ClassName]") -> None:
        """Tell labels that exist already, by item, unless they were told before."""
        from modelpicker.campaigns.pool_journal import PoolAnswer

        told = {answer.item for answer in self.journal.answers}
        found = [
            PoolAnswer(item, label, known=True, given=True) for item, label in labels.items() if item not in told
        ]
        for answer in found:
            self.pool.tell(answer.item, answer.label)
        if found:
            self.journal.write(*found)

    @property
    def known(self) -> int:
        """How many labels were known before anybody was asked; not those that were given."""
        return sum(answer.known and not answer.given for answer in self.journal.answers)

    @property
    def given(self) -> int:
        """How many labels existed already, and were given with --warm."""
        return sum(answer.given for answer in self.journal.answers)

    @property
    def skipped(self) -> int:
        """How many items nobody could label."""
        return sum(answer.label is None for answer in self.journal.answers)

    @property
    def spent(self) -> bool:
        """Whether the budget is spent; labels that were known cost nothing."""
        return self.budget is not None and self.pool.labels_used - self.known - self.given >= self.budget

    def converse(self, before_asking: Callable[[], None]) -> None:
        """Ask until the pick is certified, nothing is left to ask, the budget is spent, or the person quits."""
        current: int | None = None
        while not self.pool.done and not self.spent:
            current = self.pool.ask(1)[0] if current is None else current
            before_asking()
            command, label = self._ask(current)
            if command == prompts.QUIT:
                self.stopped = "quit"
                return
            if command == prompts.STOP:
                say(*may_stop(self.pick()))
            elif command == prompts.UNDO:
                current = None if self._undo() else current
            else:
                self._take(current, label)
                current = None
        settled = self.pool.certified and self.pool.done
        self.stopped = "certified" if settled else "budget" if self.spent else "end"

    def _ask(self, item: int) -> "tuple[str | None, AnyLabel | None]":
        """Ask about an item: a command, or a label; neither if it is skipped."""
        if self.ask_for == "class":
            row = sorted({int(code) for code in self.whole.predictions[item].tolist() if code >= 0})
            reply = prompts.ask(self._head(item), self._shown(item), self.keys, row)
            return reply.command, None if reply.label is None else self._spelt(item, self.keys.classes[reply.label])
        answers = self._answers(item)
        if self.ask_for == "preference" and len(answers) < 2:
            return None, None  # nothing can be compared
        return judge(self._head(item), self._shown(item), answers, self.ask_for)

    def _answers(self, item: int) -> "Sequence[ClassName]":
        """The different answers to an item, or the two to compare.

        In an order that says nothing about the models.
        """
        from modelpicker.campaigns.input.judges import names_at
        from modelpicker.campaigns.results.candidates import shuffled_answers, two_strongest

        said = names_at(self.whole, item)
        if self.ask_for == "preference":
            behind = list(self.pool.standing.values())
            return shuffled_answers(two_strongest(said, behind, self.pool.recommended_index), self.name, item)
        return shuffled_answers({name for name in said if name is not None}, self.name, item)

    def _spelt(self, item: int, label: "ClassName") -> "ClassName":
        """A class as the models spell it that give an answer that counts as the same."""
        from modelpicker.campaigns.input.judges import names_at

        if self.rule is None or self.rule.plain:
            return label
        return self.rule.find(label, [name for name in names_at(self.whole, item) if name is not None])

    def _take(self, item: int, label: "AnyLabel | None") -> None:
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
        """What the model that leads says about an item: a reader can check that it is the same item."""
        from modelpicker.campaigns.input.judges import names_at

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

        return make_pool_pick(
            self.pool, budget=self.budget, skipped=self.skipped, spent=self.spent, given=self.given
        )

    def _head(self, item: int) -> str:
        pick = self.pick()
        paid = pick.labels_used - self.known
        labels = count(pick.labels_used, "label") if self.budget is None else f"{paid:,} of {self.budget:,} labels"
        to_go = "" if pick.to_go is None else f", {pick.to_go.words}"
        place = f"{self.name} · item {item + 1:,} of {len(self.whole):,}"
        return visible(f"{place} · {labels}{to_go} · {leader(pick)}{decided(pick)}")

    def _shown(self, item: int) -> dict[str, Any]:
        """What is shown of an item."""
        fields = {name: values[item] for name, values in self.whole.fields.items()}
        return fields or {"row": item + 1}


def _identity_of(whole: "ModelCollection") -> str | None:
    """The field that tells items apart, if there is one."""
    from modelpicker.collections.column_name_hints import IDENTITIES

    return next((name for name in IDENTITIES if name in whole.fields), None)
