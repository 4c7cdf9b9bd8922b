"""The last rounds of a campaign: with what probability they were queried, and where the models disagreed."""

import json
from collections import Counter, deque
from itertools import islice
from typing import Any, NamedTuple

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Rounds
from modelpicker.campaigns.results.chart_samples import drawn
from modelpicker.encoding import ClassName

# Rounds that are looked at for disagreement, and those whose probability is shown.
WINDOW = 2_000
SHOWN = 500
MOST_PAIRS = 10
MOST_ITEMS = 5
MOST_FIELDS = 10
LONGEST_TEXT = 300
LARGEST_PICTURE = 50_000
# What a round takes in memory, in bytes, and what it takes more for each class that models say.
SEEN_BYTES, VOTE_BYTES = 300, 100


class Seen(NamedTuple):
    """One round, as far as charts need it."""

    number: int
    probability: float
    queried: bool
    votes: tuple[tuple[ClassName | None, int], ...]
    """How many models say what, the most frequent first; None for those that abstain."""

    @property
    def pair(self) -> tuple[ClassName, ClassName] | None:
        """The two classes that most models say; None if they say one only."""
        said = sorted([name for name, _ in self.votes if name is not None][:2], key=_order)
        return (said[0], said[1]) if len(said) == 2 else None

    @property
    def division(self) -> int:
        """How many models do not say what most do."""
        return sum(count for _, count in self.votes[1:])


class RoundWindow:
    """The last rounds, kept up as more come."""

    def __init__(self) -> None:
        self._seen: deque[Seen] = deque(maxlen=WINDOW)
        self._next = 0

    @property
    def nbytes(self) -> int:
        """The memory that it takes, roughly: as if all rounds were like the last."""
        last = self._seen[-1].votes if self._seen else ()
        return len(self._seen) * (SEEN_BYTES + VOTE_BYTES * len(last))

    def follow(self, store: EventStore) -> None:
        """Take in the rounds that came since."""
        rounds = store.head().rounds
        if rounds < self._next:  # the storage was brought back from a backup
            self._seen.clear()
            self._next = 0
        number = max(self._next, rounds - WINDOW)
        while number < rounds:
            event = store.rounds_with(number)
            self._take(event, number - event.first)
            number = event.first + len(event)
        self._next = rounds

    def _take(self, event: Rounds, start: int) -> None:
        names: list[ClassName | None] = [*event.classes, None, None]  # -1 and -2: no answer
        for place in range(max(start, len(event) - WINDOW), len(event)):
            votes = Counter(event.codes[place].tolist()).most_common()
            self._seen.append(
                Seen(
                    event.first + place,
                    float(event.probability[place]),
                    bool(event.queried[place]),
                    tuple((names[code], count) for code, count in votes),
                )
            )

    def recent(self) -> dict[str, Any]:
        """The probabilities of the last rounds."""
        shown = list(islice(reversed(self._seen), SHOWN))[::-1]
        return {
            "rounds": [seen.number for seen in shown],
            "probability": [drawn(seen.probability) for seen in shown],
            "queried": [seen.queried for seen in shown],
        }

    def disagreement(self, store: EventStore) -> dict[str, Any]:
        """Between which classes models are divided, and on which items the most.

        Items that wait for a label are not shown: whoever labels them must not know what the models say.
        """
        divided = [seen for seen in self._seen if len(seen.votes) > 1]
        waiting = store.waiting_from(divided[0].number) if divided else set()
        pairs = Counter(seen.pair for seen in divided if seen.pair is not None)
        known = (seen for seen in divided if seen.number not in waiting)
        most = sorted(known, key=lambda seen: (-seen.division, -seen.number))[:MOST_ITEMS]
        return {
            "rounds": len(self._seen),
            "divided": len(divided),
            "pairs": [{"classes": list(pair), "rounds": count} for pair, count in pairs.most_common(MOST_PAIRS)],
            "items": [describe_item(store, seen) for seen in most],
        }


def _order(name: ClassName) -> tuple[bool, ClassName]:
    """Numbers, then strings."""
    return isinstance(name, str), name


def describe_item(store: EventStore, seen: Seen) -> dict[str, Any]:
    """What a list shows of an item."""
    stored = store.item_of(seen.number)
    return {
        "id": seen.number,
        "key": stored.key,
        "item": _shortened(stored.item),
        "votes": [list(vote) for vote in seen.votes],
    }


def _shortened(item: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a list can show of an item: pictures whole if they are small, the beginning of anything else."""
    if item is None:
        return None
    short = {}
    for name, value in islice(item.items(), MOST_FIELDS):
        text = value if isinstance(value, str) else json.dumps(value)
        most = LARGEST_PICTURE if text.startswith("data:image/") else LONGEST_TEXT
        short[name] = value if len(text) <= most else f"{text[:LONGEST_TEXT]}…"
    return short
