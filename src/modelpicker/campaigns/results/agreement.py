"""How far people agree who labelled the same items.

Cohen's kappa compares two people. Fleiss' kappa compares all of them. The agreement of an item is the share of
pairs of its opinions that are the same. The mean over all items with at least two opinions is compared with what
chance would give, by how often each class was said about those items. Items may have different numbers of opinions.
Where all have the same number, it is Fleiss' own. "Cannot tell" is a class of its own, named None.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from modelpicker.label import AnyLabel

if TYPE_CHECKING:  # the client needs these results, and no storage
    from modelpicker.campaigns.events.opinion_store import StoredOpinion

Rated: TypeAlias = Mapping[str, AnyLabel | None]
"""What each person says about one item."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two people agree.

    >>> import modelpicker as mp
    >>> items = [["spam", "ham"]] * 6
    >>> campaign = mp.create_campaign("memory://pair-agreement", "tickets", pool=items, overlap=2)
    >>> first = campaign.pending(1)[0]
    >>> campaign.tell(first.id, "spam", annotator="ann")
    >>> campaign.tell(first.id, "ham", annotator="bob")
    >>> [pair.annotators for pair in campaign.agreement().pairs]
    [('ann', 'bob')]
    """

    annotators: tuple[str, str]
    """An empty name stands for whoever gave none."""
    items: int
    """How many items both labelled."""
    agreed: float
    """The share of these on which they said the same."""
    kappa: float | None
    """Cohen's kappa; None where both said one and the same class throughout, so that it is undefined."""


@dataclass(frozen=True, slots=True)
class ClassAgreement:
    """How far people agree on whether an item is of one class.

    >>> import modelpicker as mp
    >>> items = [["spam", "ham"]] * 6
    >>> campaign = mp.create_campaign("memory://class-agreement", "tickets", pool=items, overlap=2)
    >>> first = campaign.pending(1)[0]
    >>> campaign.tell(first.id, "spam", annotator="ann")
    >>> campaign.tell(first.id, "ham", annotator="bob")
    >>> [found.label for found in campaign.agreement().classes]
    ['spam', 'ham']
    """

    label: AnyLabel | None
    """None for "cannot tell"."""
    opinions: int
    """How often it was said."""
    kappa: float | None
    """Fleiss' kappa of this class against all others; None where it is undefined."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agree on the items that several of them labelled.

    >>> import modelpicker as mp
    >>> items = [["spam", "ham"]] * 6
    >>> campaign = mp.create_campaign("memory://agreed", "tickets", pool=items, overlap=2)
    >>> first = campaign.pending(1)[0]
    >>> campaign.tell(first.id, "spam", annotator="ann")
    >>> campaign.tell(first.id, "ham", annotator="bob")
    >>> campaign.agreement().agreed
    0.0
    """

    items: int
    """How many items have at least two opinions."""
    agreed: float | None
    """The share of these on which all said the same; None if there are none."""
    kappa: float | None
    """Fleiss' kappa; None where it is undefined: no such items, or one class only."""
    pairs: tuple[PairAgreement, ...] = ()
    """Every two people with items in common."""
    classes: tuple[ClassAgreement, ...] = ()
    """Every class that was said, the most frequent first."""

    def document(self) -> dict[str, Any]:
        """In a form that JSON can hold."""
        pairs = [asdict(pair) | {"annotators": list(pair.annotators)} for pair in self.pairs]
        return {**asdict(self), "pairs": pairs, "classes": [asdict(one) for one in self.classes]}


def measure_agreement(opinions: Iterable[tuple[int, "StoredOpinion"]]) -> Agreement:
    """The agreement of all opinions about all items."""
    items: dict[int, dict[str, AnyLabel | None]] = {}
    for number, opinion in opinions:
        items.setdefault(number, {})[opinion.person] = opinion.label
    return agreement_of([said for said in items.values() if len(said) > 1])


def agreement_of(items: Sequence[Rated]) -> Agreement:
    """The agreement on items, each of which at least two people labelled."""
    if not items:
        return Agreement(0, None, None)
    same = sum(len(set(said.values())) == 1 for said in items)
    votes = [Counter(said.values()) for said in items]
    told = sum(votes, Counter())
    classes = [ClassAgreement(label, number, _one_class(votes, label)) for label, number in told.most_common()]
    return Agreement(len(items), same / len(items), _fleiss(votes), _pairs(items), tuple(classes))


def _one_class(votes: Sequence[Counter[AnyLabel | None]], label: AnyLabel | None) -> float | None:
    """The agreement on whether items are of one class or of another."""
    return _fleiss([Counter({True: one[label], False: one.total() - one[label]}) for one in votes])


def _fleiss(votes: Sequence[Counter[Any]]) -> float | None:
    """Fleiss' kappa of items that have different numbers of opinions, each at least two."""
    told = sum(votes, Counter())
    chance = sum(number * number for number in told.values()) / told.total() ** 2
    pairs = [one.total() * (one.total() - 1) for one in votes]
    seen = sum(
        sum(number * (number - 1) for number in one.values()) / total
        for one, total in zip(votes, pairs, strict=True)
    )
    return _above_chance(seen / len(votes), chance)


def _pairs(items: Sequence[Rated]) -> tuple[PairAgreement, ...]:
    """Every two people who labelled the same items."""
    common: dict[tuple[str, str], list[tuple[AnyLabel | None, AnyLabel | None]]] = {}
    for said in items:
        for one, other in combinations(sorted(said), 2):
            common.setdefault((one, other), []).append((said[one], said[other]))
    return tuple(PairAgreement(pair, len(both), *_cohen(both)) for pair, both in sorted(common.items()))


def _cohen(both: Sequence[tuple[AnyLabel | None, AnyLabel | None]]) -> tuple[float, float | None]:
    """The share on which two people agree, and Cohen's kappa."""
    total = len(both)
    first, second = Counter(one for one, _ in both), Counter(other for _, other in both)
    chance = sum(first[label] * second[label] for label in first) / total**2
    seen = sum(one == other for one, other in both) / total
    return seen, _above_chance(seen, chance)


def _above_chance(seen: float, chance: float) -> float | None:
    """Agreement beyond chance, as a share of what is possible; undefined if chance alone gives all of it."""
    return None if chance >= 1.0 else (seen - chance) / (1.0 - chance)
