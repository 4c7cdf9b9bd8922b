"""Opinions: what different people say about an item that several people label.

An item that needs one person has no opinions: its answer is its label. An item that needs more has an opinion for
each person who answered. The campaign's rule says when they are its label: when all needed opinions are there and
equal, or as soon as more than half of them are. When all are there and there is no label, the item is in conflict
until somebody settles it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_types import Opinion, Withdrawal
from modelpicker.campaigns.setting_options import OverlapRule
from modelpicker.coins import draw_coins
from modelpicker.label import AnyLabel, as_document, read_label

# Where the coins are that say which items two people label: no round and no question has these.
OVERLAP_COINS = 2**61


def people_needed(overlap: float, seed: int, item: int) -> int:
    """How many people label an item: `overlap`, or two if the item is in the share that two people label."""
    if overlap >= 1:
        return int(overlap)
    return 1 + bool(draw_coins(seed, OVERLAP_COINS + item)[0, 0] < overlap)


def differ(labels: Iterable[AnyLabel | None]) -> bool:
    """Whether not all opinions are the same; 1 and "1" are different classes."""
    return len({(type(label), label) for label in labels}) > 1


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """An answer: a label, or None for a skip."""

    label: AnyLabel | None


@dataclass(slots=True)
class ItemOpinions:
    """What people say about one item."""

    needed: int
    said: dict[str, AnyLabel | None] = field(default_factory=dict)
    """By person; None if they cannot tell."""
    answer: KnownAnswers | None = None
    """What came of it: a label, or that nobody can tell; None while it is open."""

    @property
    def missing(self) -> int:
        """How many people are still to be asked."""
        return 0 if self.answer is not None else max(0, self.needed - len(self.said))

    @property
    def in_conflict(self) -> bool:
        """Whether all opinions are in, differ, and are not settled."""
        return self.answer is None and not self.missing and differ(self.said.values())

    @property
    def labels(self) -> int:
        """How many people gave a label; to say that one cannot tell costs nothing."""
        return sum(label is not None for label in self.said.values())

    @property
    def known(self) -> bool:
        """Whether its label is known."""
        return self.answer is not None and self.answer.label is not None


def agreed_answer(rule: OverlapRule, opinions: ItemOpinions) -> KnownAnswers | None:
    """What the opinions about an item come to; None if people have to continue, or disagree.

    "Cannot tell" is an answer as any other: if more than half of the people say so, the item is skipped.
    """
    if not opinions.said:
        return None
    votes = Counter((type(label), label) for label in opinions.said.values())
    ((_, label), most), *_ = votes.most_common(1)
    wanted = opinions.needed if rule == "all" else opinions.needed // 2 + 1
    return KnownAnswers(label) if most >= wanted else None


class OpinionBook:
    """All items that several people label."""

    def __init__(self, items: dict[int, ItemOpinions] | None = None) -> None:
        self._items = items or {}

    def __bool__(self) -> bool:
        return bool(self._items)

    def __iter__(self) -> Iterator[ItemOpinions]:
        return iter(self._items.values())

    def of(self, number: int) -> ItemOpinions | None:
        """What people say about an item; None if one person labels it, or nobody was asked."""
        return self._items.get(number)

    def ask(self, number: int, needed: int) -> None:
        """An item is asked about."""
        if needed > 1:
            self._items[number] = ItemOpinions(needed)

    def take(self, opinion: Opinion) -> None:
        """Somebody says what an item is, or says something else than before."""
        found = self._items.setdefault(opinion.round, ItemOpinions(opinion.needed))
        found.said[person_of(opinion.by)] = opinion.label

    def drop(self, withdrawal: Withdrawal) -> None:
        """An opinion is taken back."""
        self._items[withdrawal.round].said.pop(person_of(withdrawal.whose))

    def answer(self, number: int, answer: KnownAnswers | None) -> None:
        """An item has a label now, is skipped, or is open again."""
        found = self._items.get(number)
        if found is not None:
            found.answer = answer

    def conflicts(self, number: int) -> bool:
        """Whether an item is in conflict."""
        found = self._items.get(number)
        return found is not None and found.in_conflict

    @property
    def bought(self) -> int:
        """By how many labels more than those that are known people were asked and answered."""
        return sum(one.labels - one.known for one in self)

    @property
    def ordered(self) -> int:
        """By how many answers more than there are open items people are still to be asked."""
        return sum(one.missing - 1 for one in self if one.missing)

    @property
    def half_answered(self) -> int:
        """How many items wait for another person."""
        return sum(bool(one.missing and one.said) for one in self)

    def copy(self) -> Self:
        """The same, to continue with."""
        items = self._items.items()
        return type(self)({number: ItemOpinions(one.needed, dict(one.said), one.answer) for number, one in items})

    def document(self) -> dict[str, Any]:
        """Everything, in a form that JSON can hold."""
        return {
            str(number): [
                one.needed,
                {person: as_document(label) for person, label in sorted(one.said.items())},
                None if one.answer is None else [as_document(one.answer.label)],
            ]
            for number, one in sorted(self._items.items())
        }

    @classmethod
    def load(cls, document: Mapping[str, Any]) -> Self:
        """What `document` described."""
        return cls(
            {
                int(number): ItemOpinions(
                    int(needed),
                    {person: read_label(label) for person, label in said.items()},
                    None if answer is None else KnownAnswers(read_label(answer[0])),
                )
                for number, (needed, said, answer) in document.items()
            }
        )
