"""What happens in a campaign, as it is stored: nothing is ever changed or deleted, only added.

An event is stored as a kind, a time and a body. The body is a checksum, the length of a JSON header, the header,
and for rounds the arrays, one after the other, little-endian. The checksum covers the event's other columns too; in
older events it covers the body alone.
"""

import json
import struct
import zlib
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.campaigns.events.pool_events import ItemFields, Items, Question
from modelpicker.campaigns.results.pick import Item
from modelpicker.encoding import ClassName, Matrix, ModelName, said_classes
from modelpicker.errors import StorageError
from modelpicker.kernels.primitives import Floats
from modelpicker.label import AnyLabel, as_document, read_label

HEAD = struct.Struct("<II")


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Consecutive rounds that were decided together."""

    kind: ClassVar[str] = "rounds"
    first: int
    codes: Matrix
    classes: list[ClassName]
    queried: npt.NDArray[np.bool_]
    probability: Floats
    recommended: npt.NDArray[np.int32]
    predicted: npt.NDArray[np.int32]
    items: list[Item | None] | None
    keys: list[str | None] | None
    pace: list[float]
    """The pace after the last of them."""
    settings: str | None = None
    """The checksum of the settings that they were decided with; older events have none."""
    pairs: list[list[ClassName] | None] | None = None
    """The answers to compare in each round that is queried, if preferences are asked for."""

    def __len__(self) -> int:
        return len(self.codes)

    def item(self, number: int) -> Item | None:
        """The fields of a round's item."""
        return None if self.items is None else self.items[number - self.first]

    def said(self, number: int) -> tuple[ClassName, ...]:
        """The classes that models predict in a round."""
        return said_classes(self.codes[number - self.first], self.classes)

    def key(self, number: int) -> str | None:
        """The key that a round was asked with."""
        return None if self.keys is None else self.keys[number - self.first]

    def pair(self, number: int) -> list[ClassName] | None:
        """The answers to compare in a round."""
        return None if self.pairs is None else self.pairs[number - self.first]

    def asks(self, number: int) -> bool:
        """Whether somebody is asked about a round: not if there is nothing to compare."""
        pair = self.pair(number)
        return bool(self.queried[number - self.first]) and (pair is None or len(pair) == 2)


@dataclass(frozen=True, slots=True)
class Answer:
    """A label for a round, or a skip."""

    kind: ClassVar[str] = "answer"
    round: int
    label: AnyLabel | None
    """None for a skip."""
    by: str | None = None
    replaces: bool = False
    """Whether there was another answer before."""
    of_opinions: bool = False
    """Whether several people labelled the round: they agreed, or somebody settled it."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one person says about a round that several people label; it is learned when all of them agree."""

    kind: ClassVar[str] = "opinion"
    round: int
    label: AnyLabel | None
    """None if they cannot tell."""
    by: str | None
    needed: int
    """How many different people label the round."""
    replaces: bool = False
    """Whether the same person said something else before."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An opinion taken back."""

    kind: ClassVar[str] = "withdrawal"
    round: int
    whose: str | None
    by: str | None = None
    """Who took it back."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A label for a round that was never queried: kept, and learned from in a pool only."""

    kind: ClassVar[str] = "reference"
    round: int
    label: AnyLabel
    by: str | None = None
    replaces: bool = False
    """Whether there was another reference before."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """An answer or a reference taken back."""

    kind: ClassVar[str] = "retraction"
    round: int
    by: str | None = None
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Joining:
    """A model that takes part from here on; what was before, it is taken to have said what `heir_of` said."""

    kind: ClassVar[str] = "joining"
    round: int
    model: ModelName
    heir_of: ModelName


@dataclass(frozen=True, slots=True)
class Leaving:
    """A model that no longer takes part."""

    kind: ClassVar[str] = "leaving"
    round: int
    model: ModelName


@dataclass(frozen=True, slots=True)
class Revision:
    """Settings that hold from here on, by name; what was decided before stays as it was."""

    kind: ClassVar[str] = "revision"
    round: int
    changes: dict[str, Any]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody noted about an item; the last note of each person holds, and nothing is learned from it."""

    kind: ClassVar[str] = "note"
    round: int
    text: str
    flagged: bool
    """Whether the item should be looked at again."""
    by: str | None = None


PlainEvent: TypeAlias = (
    Answer
    | Opinion
    | Withdrawal
    | Reference
    | Retraction
    | Joining
    | Leaving
    | Question
    | Revision
    | FeedTaken
    | Note
)
Event: TypeAlias = Rounds | Items | ItemFields | FeedItems | PlainEvent
PLAIN: dict[str, type[PlainEvent]] = {kind.kind: kind for kind in get_args(PlainEvent)}
LARGE: dict[str, type[Items | ItemFields | FeedItems]] = {
    kind.kind: kind for kind in (Items, ItemFields, FeedItems)
}


def rounds_in(event: Event) -> int:
    """How many rounds, or items of a pool, come with an event."""
    return len(event) if isinstance(event, Rounds | Items) else 0


def changes_the_past(event: Event, pool: bool) -> bool:
    """Whether an event changes what was learned before it, so that everything is rebuilt.

    In a pool, labels that nobody asked for are learned as well.
    """
    match event:
        case Reference(replaces=replaces):
            return pool and replaces
        case Retraction(reference=True):
            return pool
        case Answer(replaces=replaces):
            return replaces
        case Retraction() | Joining() | Leaving():
            return True
    return False


def encode(event: Event, number: int, at: int) -> bytes:
    """The body of an event that is stored under a number, at a time."""
    if isinstance(event, Rounds):
        return seal(_encode_rounds(event), _columns(event.kind, number, event.first, at))
    if isinstance(event, Items | ItemFields | FeedItems):
        return seal(event.encode(), _columns(event.kind, number, event.first, at))
    fields = {name: getattr(event, name) for name in event.__slots__}
    if "label" in fields:
        fields["label"] = as_document(fields["label"])
    return seal(json.dumps(fields).encode(), _columns(event.kind, number, event.round, at))


def decode(kind: str, body: bytes, number: int, first: int, at: int) -> Event:
    """The event that a body stands for; a damaged one is an error, and so is one whose columns were changed."""
    content = unseal(body, _columns(kind, number, first, at))
    try:
        if kind == Rounds.kind:
            return _decode_rounds(content)
        if kind in LARGE:
            return LARGE[kind].decode(content)
        fields = json.loads(content)
        if isinstance(fields.get("label"), dict):
            fields["label"] = read_label(fields["label"])
        return PLAIN[kind](**fields)
    except (LookupError, TypeError, ValueError, RecursionError, struct.error) as error:
        raise StorageError(f"an event of kind {kind!r} cannot be read: {error!r}.") from error


def _columns(kind: str, number: int, first: int, at: int) -> bytes:
    """The other columns of an event, as its checksum covers them."""
    return f"{number} {kind} {first} {at}".encode()


def seal(content: bytes, columns: bytes = b"") -> bytes:
    """Content with a checksum of it, and of the columns beside it."""
    return HEAD.pack(zlib.crc32(content, zlib.crc32(columns)), len(content)) + content


def unseal(body: bytes, columns: bytes = b"") -> bytes:
    """The content, if it and the columns beside it are as they were sealed."""
    content = body[HEAD.size :]
    possible = {zlib.crc32(content, zlib.crc32(columns)), zlib.crc32(content)}  # the second is that of older events
    checksum, size = HEAD.unpack_from(body) if len(body) >= HEAD.size else (None, None)
    if checksum not in possible or size != len(content):
        raise StorageError("a record is damaged: its checksum is wrong.")
    return content


def _encode_rounds(event: Rounds) -> bytes:
    header: dict[str, Any] = {
        "first": event.first,
        "rounds": len(event),
        "models": event.codes.shape[1],
        "dtype": event.codes.dtype.name,
        "classes": event.classes,
        "pace": event.pace,
    }
    if event.items is not None:
        header["items"] = event.items
    if event.keys is not None:
        header["keys"] = event.keys
    if event.settings is not None:
        header["settings"] = event.settings
    if event.pairs is not None:
        header["pairs"] = event.pairs
    text = json.dumps(header).encode()
    return b"".join(
        (
            struct.pack("<I", len(text)),
            text,
            event.probability.astype("<f8", copy=False).tobytes(),
            event.recommended.astype("<i4", copy=False).tobytes(),
            event.predicted.astype("<i4", copy=False).tobytes(),
            event.queried.tobytes(),
            event.codes.astype(event.codes.dtype.newbyteorder("<"), copy=False).tobytes(),
        )
    )


def _decode_rounds(content: bytes) -> Rounds:
    (size,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + size])
    rounds, models = header["rounds"], header["models"]
    at = 4 + size

    def column(dtype: str, count: int) -> npt.NDArray[Any]:
        nonlocal at
        found = np.frombuffer(content, dtype=dtype, count=count, offset=at)
        at += found.nbytes
        return found

    return Rounds(
        first=header["first"],
        classes=header["classes"],
        pace=header["pace"],
        items=header.get("items"),
        keys=header.get("keys"),
        settings=header.get("settings"),
        pairs=header.get("pairs"),
        probability=column("<f8", rounds),
        recommended=column("<i4", rounds),
        predicted=column("<i4", rounds),
        queried=column("|b1", rounds),
        codes=column(np.dtype(header["dtype"]).newbyteorder("<").str, rounds * models).reshape(rounds, models),
    )
