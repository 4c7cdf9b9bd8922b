"""What comes with rounds and answers, checked: items, keys, notes, names, leases; decisions as a sequence."""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms import Decision
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.events.event_types import Rounds
from modelpicker.campaigns.results.pick import Item
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats

LONGEST_KEY = 500
DEEPEST_ITEM = 50
LONGEST_NOTE = 2_000
LONGEST_LEASE = 1e9
MOST_PENDING = 2**31 - 1


class Decisions(Sequence[Decision]):
    """The decisions of many rounds, in the order in which they were asked for.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://decisions", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> decisions = campaign.ask_many([["spam", "spam"], ["ham", "ham"]])
    >>> len(decisions)
    2
    """

    def __init__(
        self,
        numbers: Sequence[int],
        rounds: Sequence[Rounds],
        models_at: Callable[[int], Sequence[ModelName]],
        racing: tuple[ModelName, ...] = (),
    ) -> None:
        self.ids = numbers
        self.racing = racing
        """The models that are still in the race after the last of them."""
        self._rounds = sorted(rounds, key=lambda event: event.first)
        self._firsts = [event.first for event in self._rounds]
        self._models_at = models_at

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> Decision: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decision]: ...
    def __getitem__(self, place: int | slice) -> Decision | Sequence[Decision]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return self._decision(place)

    def _decision(self, place: int) -> Decision:
        number = self.ids[place]
        rounds = self._rounds[bisect_right(self._firsts, number) - 1]
        row = number - rounds.first
        said = int(rounds.predicted[row])
        return Decision(
            round=number,
            query=rounds.asks(number),
            probability=float(rounds.probability[row]),
            prediction=None if said < 0 else rounds.classes[said],
            recommended=self._models_at(number)[int(rounds.recommended[row])],
            racing=self.racing,
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[place] for place in range(len(self)))

    @property
    def queried(self) -> npt.NDArray[np.bool_]:
        """Whether each round is queried."""
        if self._whole:
            return np.array(self._rounds[0].queried, dtype=np.bool_)
        return np.array([one.query for one in self], dtype=np.bool_)

    @property
    def probability(self) -> Floats:
        """With what probability each round was to be queried."""
        if self._whole:
            return np.array(self._rounds[0].probability, dtype=np.float64)
        return np.array([one.probability for one in self], dtype=np.float64)

    def columns(self) -> tuple[list[bool], list[float], list[ClassName | None], list[ModelName]]:
        """Query, probability, prediction and recommended model of each, as lists: quicker than one by one."""
        if not self._whole:
            rows = [(made.query, made.probability, made.prediction, made.recommended) for made in self]
            return tuple(map(list, zip(*rows, strict=True))) if rows else ([], [], [], [])  # type: ignore[return-value]
        rounds = self._rounds[0]
        models = self._models_at(rounds.first)
        classes: list[ClassName | None] = [*rounds.classes, None]  # -1 is the last
        return (
            rounds.queried.tolist(),
            rounds.probability.tolist(),
            [classes[code] for code in rounds.predicted.tolist()],
            [models[place] for place in rounds.recommended.tolist()],
        )

    @property
    def _whole(self) -> bool:
        """Whether they are all of one event, as its columns have them."""
        return len(self._rounds) == 1 and len(self._rounds[0]) == len(self) and self._rounds[0].pairs is None

    def __repr__(self) -> str:
        return f"<{len(self):,} decisions, {int(self.queried.sum()):,} queries>"


def check_key(key: object, what: str = "key") -> str | None:
    """A key, or who answers: a text that every database can hold."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise InputError(f"{what} {brief(key)} is not a string; pass {what}=str(…).")
    if not key or len(key) > LONGEST_KEY:
        raise InputError(f"{what} {brief(key)} is empty or too long; pass 1 to {LONGEST_KEY} characters.")
    try:
        key.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} {brief(key)} holds half a character; pass valid Unicode.") from None
    if "\0" in key:
        raise InputError(f"{what} {brief(key)} holds a null character.")
    return key


def check_note(text: object, flagged: object) -> tuple[str, bool]:
    """What somebody notes about an item: a short text, which may be empty, and whether it is flagged."""
    if not isinstance(text, str):
        raise InputError(f"note {brief(text)}: pass text.", parameter="text")
    if len(text) > LONGEST_NOTE:
        raise InputError(f"note: {len(text):,} characters; pass at most {LONGEST_NOTE:,}.", parameter="text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("note: it holds half a character; pass valid Unicode.", parameter="text") from None
    if type(flagged) is not bool:
        raise InputError(f"flagged={brief(flagged)}: pass True or False.", parameter="flagged")
    return text.strip(), flagged


def check_keys(keys: object, rounds: int) -> list[str | None] | None:
    """A key a round."""
    return None if keys is None else [check_key(key) for key in _one_each(keys, rounds, "keys")]


def check_item(item: object, where: str = "item") -> Item | None:
    """The fields of an item, as JSON can hold them."""
    if item is None:
        return None
    if not isinstance(item, Mapping) or not all(isinstance(name, str) for name in item):
        raise InputError(f'{where} {brief(item)}: pass its fields by name, such as {{"text": "…"}}.')
    if _deeper_than(item, DEEPEST_ITEM):
        raise InputError(f"{where} {brief(item)} is nested more than {DEEPEST_ITEM} deep; make it flatter.")
    try:
        json.dumps(item := dict(item), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{where} {brief(item)} cannot be stored as JSON: {error}.") from error
    return item


def _deeper_than(value: object, depth: int) -> bool:
    """Whether lists and mappings are nested deeper than that."""
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
        if not level:
            return False
    return True


def check_items(items: object, rounds: int) -> list[Item | None] | None:
    """The fields of each item."""
    if items is None:
        return None
    return [check_item(item, f"item {place}") for place, item in enumerate(_one_each(items, rounds, "items"))]


def _one_each(values: object, rounds: int, what: str) -> Sequence[Any]:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise InputError(f"{what} {brief(values)}: pass a list with one per round.")
    listed = cast("Sequence[Any]", values.tolist() if hasattr(values, "tolist") else values)
    if len(listed) != rounds:
        raise InputError(f"there are {rounds} rounds but {len(listed)} {what}; pass one per round.")
    return listed


def check_annotator(annotator: object) -> str | None:
    """Who answers: any short text."""
    return None if annotator is None else check_key(annotator, "annotator")


def check_most(most: object) -> int:
    """How many queries are wanted: any count, and no more than a database can count."""
    return min(check_count("most", most), MOST_PENDING)


def seconds_of(lease: object) -> float:
    """For how long a query is leased."""
    seconds = lease.total_seconds() if isinstance(lease, timedelta) else lease
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < LONGEST_LEASE:
        raise InputError(
            f"lease={brief(lease)}: pass for how many seconds a query is to be kept, above 0 and below 1e9.",
            parameter="lease",
        )
    return float(seconds)
