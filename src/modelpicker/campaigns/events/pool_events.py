"""What happens in a campaign on a pool, as it is stored: items that come, and questions that are asked about them.

Predictions and what is shown of the items are stored apart. Opening a campaign reads the predictions, which are
small. The fields of an item are read when somebody is asked about it, and only that item's are decoded.
"""

import base64
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from modelpicker.algorithms.pools.pool_state import PoolDraw, PoolQuestion, SliceQuestion
from modelpicker.campaigns.input.rows import Rows, some_rows
from modelpicker.campaigns.results.pick import Item
from modelpicker.certificates.control import Control
from modelpicker.encoding import ClassName, Matrix, said_classes

SIZE = struct.Struct("<I")
# Items of one event; and the items and bytes of a page of fields.
ITEMS_AT_ONCE = 4_096
FIELDS_AT_ONCE = 256
FIELDS_BYTES = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What the models say about consecutive items."""

    kind: ClassVar[str] = "items"
    first: int
    codes: Matrix
    classes: list[ClassName]
    settings: str | None = None
    """The checksum of the settings that the campaign had."""
    judge: Rows | None = None
    """What the judge says about each of them, as one column; None if there is no judge."""
    slices: Rows | None = None
    """What slice each of them is in, as one column; None if there are no slices."""

    def __len__(self) -> int:
        return len(self.codes)

    def said(self, number: int) -> tuple[ClassName, ...]:
        """The classes that models predict of an item."""
        return said_classes(self.codes[number - self.first], self.classes)

    def encode(self) -> bytes:
        """The content of the event."""
        header = {
            "first": self.first,
            "items": len(self),
            "models": self.codes.shape[1],
            "dtype": self.codes.dtype.name,
            "classes": self.classes,
            "settings": self.settings,
        }
        columns = {name: column for name in ("judge", "slices") if (column := getattr(self, name)) is not None}
        header |= {
            name: {"dtype": column.codes.dtype.name, "classes": column.classes} for name, column in columns.items()
        }
        return joined(header, _little(self.codes), *(_little(column.codes) for column in columns.values()))

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """The event that content stands for."""
        header, at = split_header(content)
        shape = header["items"], header["models"]
        dtype = np.dtype(header["dtype"]).newbyteorder("<")
        codes = np.frombuffer(content, dtype=dtype, count=shape[0] * shape[1], offset=at).reshape(shape)
        at += codes.nbytes
        columns: dict[str, Rows] = {}
        for name in ("judge", "slices"):
            if (about := header.get(name)) is not None:
                kind = np.dtype(about["dtype"]).newbyteorder("<")
                said = np.frombuffer(content, dtype=kind, count=shape[0], offset=at).reshape(-1, 1)
                columns[name] = Rows(said, about["classes"])
                at += said.nbytes
        return cls(header["first"], codes, header["classes"], header["settings"], **columns)


@dataclass(frozen=True, slots=True, eq=False)
class ItemFields:
    """What is shown of consecutive items, and their keys; each item's fields are decoded when they are wanted."""

    kind: ClassVar[str] = "fields"
    first: int
    keys: list[str | None] | None
    texts: tuple[bytes, ...] | None
    """The fields of each item as JSON; empty if it has none."""
    size: int

    def __len__(self) -> int:
        return self.size

    def item(self, number: int) -> Item | None:
        """The fields of an item."""
        text = b"" if self.texts is None else self.texts[number - self.first]
        found: Item | None = json.loads(text) if text else None
        return found

    def key(self, number: int) -> str | None:
        """The key of an item."""
        return None if self.keys is None else self.keys[number - self.first]

    def encode(self) -> bytes:
        """The content of the event."""
        lengths = None if self.texts is None else [len(text) for text in self.texts]
        header = {"first": self.first, "items": self.size, "keys": self.keys, "lengths": lengths}
        return joined(header, *(self.texts or ()))

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """The event that content stands for."""
        header, at = split_header(content)
        lengths = header["lengths"]
        texts = None
        if lengths is not None:
            ends = np.cumsum([at, *lengths]).tolist()
            texts = tuple(content[start:end] for start, end in pairwise(ends))
        return cls(header["first"], header["keys"], texts, header["items"])


@dataclass(frozen=True, slots=True)
class Question:
    """An item that is asked about, and how it was chosen; what was decided is never decided again."""

    kind: ClassVar[str] = "question"
    round: int
    """The item."""
    number: int
    """How many questions there were before."""
    leader: int
    """The place of the model that led."""
    draw: dict[str, Any] | None = None
    """How it was drawn for the proof: the model on trial, those still in play, and what was expected of them."""
    needed: int = 1
    """How many different people label it."""
    pair: list[ClassName] | None = None
    """The answers that are compared, where a preference is asked for."""
    own: dict[str, Any] | None = None
    """What the question did in the slice of the item: who led there, if it was asked for its sake; how it bet."""

    @classmethod
    def of(cls, question: PoolQuestion, number: int, needed: int = 1, pair: list[ClassName] | None = None) -> Self:
        """The event of a question."""
        own = question.own
        stored = None if own is None else {"leader": own.leader, "draw": _stored_draw(own.draw)}
        return cls(question.item, number, question.leader, _stored_draw(question.draw), needed, pair, stored)

    @property
    def question(self) -> PoolQuestion:
        """The question, as a pool takes it."""
        own = None
        if self.own is not None:
            own = SliceQuestion(self.own["leader"], _read_draw(self.own["draw"]))
        return PoolQuestion(self.round, self.leader, _read_draw(self.draw), own)


def _stored_draw(draw: PoolDraw | None) -> dict[str, Any] | None:
    """How an item was drawn, as it is stored."""
    if draw is None:
        return None
    return {
        "trial": draw.trial,
        "playing": draw.playing.tolist(),
        "expected": _packed(draw.expected),
        "variance": _packed(draw.variance),
        **({} if draw.levels is None else {"levels": draw.levels.tolist()}),
        **({} if draw.control is None else {"control": [_packed(part) for part in draw.control]}),
    }


def _read_draw(stored: dict[str, Any] | None) -> PoolDraw | None:
    """How an item was drawn, as a pool takes it."""
    if stored is None:
        return None
    return PoolDraw(
        int(stored["trial"]),
        np.array(stored["playing"], dtype=np.int64),
        _unpacked(stored["expected"]),
        _unpacked(stored["variance"]),
        np.array(stored["levels"], dtype=np.int64) if "levels" in stored else None,
        Control(*map(_unpacked, stored["control"])) if "control" in stored else None,
    )


def _little(codes: Matrix) -> bytes:
    """Codes as they are stored, the same on every machine."""
    return codes.astype(codes.dtype.newbyteorder("<"), copy=False).tobytes()


def _packed(values: Any) -> str:
    """Numbers to the last bit, as text."""
    return base64.b64encode(values.astype("<f8").tobytes()).decode()


def _unpacked(text: str) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype="<f8").astype(np.float64)


def joined(header: dict[str, Any], *parts: bytes) -> bytes:
    """Content that begins with a header."""
    text = json.dumps(header).encode()
    return b"".join((SIZE.pack(len(text)), text, *parts))


def split_header(content: bytes) -> tuple[dict[str, Any], int]:
    """The header, and where it ends."""
    (size,) = SIZE.unpack_from(content)
    return json.loads(content[SIZE.size : SIZE.size + size]), SIZE.size + size


def item_events(
    first: int,
    rows: Rows,
    items: Sequence[Item | None] | None,
    keys: Sequence[str | None] | None,
    settings: str,
    judge: Rows | None = None,
    slices: Rows | None = None,
) -> Iterator[Items | ItemFields]:
    """The events that items are stored as, from the number of the first of them on."""
    for start in range(0, len(rows.codes), ITEMS_AT_ONCE):
        stop = min(len(rows.codes), start + ITEMS_AT_ONCE)
        places = range(start, stop)
        some = some_rows(rows, places)
        said, own = (None if column is None else some_rows(column, places) for column in (judge, slices))
        yield Items(first + start, some.codes, some.classes, settings, said, own)
        yield from _pages(first, start, stop, items, keys)


def _pages(
    first: int, start: int, stop: int, items: Sequence[Item | None] | None, keys: Sequence[str | None] | None
) -> Iterator[ItemFields]:
    """What is shown of some items, in pages of a bounded size."""
    if items is None and keys is None:
        return
    texts: list[bytes] = []
    begun, size = start, 0
    for place in range(start, stop):
        item = None if items is None else items[place]
        texts.append(b"" if item is None else json.dumps(item).encode())
        size += len(texts[-1])
        if len(texts) == FIELDS_AT_ONCE or size > FIELDS_BYTES or place + 1 == stop:
            some = None if keys is None else list(keys[begun : place + 1])
            yield make_fields(first + begun, some, texts)
            texts, begun, size = [], place + 1, 0


def make_fields(first: int, keys: list[str | None] | None, texts: Sequence[bytes]) -> ItemFields:
    """A page of fields; what no item has is left out."""
    has_keys = keys is not None and any(key is not None for key in keys)
    return ItemFields(first, keys if has_keys else None, tuple(texts) if any(texts) else None, len(texts))
