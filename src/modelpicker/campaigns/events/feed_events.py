"""Items of files that wait to be asked about in a stream, as they are stored; and how many of them were taken.

A file is kept whole, in pages. Its items become rounds later, one after the other, as labels come.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from modelpicker.campaigns.events.pool_events import joined, split_header
from modelpicker.campaigns.input.batches import KeptFile
from modelpicker.campaigns.input.rows import Rows, some_rows
from modelpicker.campaigns.results.pick import Item
from modelpicker.encoding import ClassName, Matrix, ModelName

# The items of a page, and the bytes of what is shown of them. A page is decided about in one transaction at most:
# others who write should not wait for long.
ITEMS_AT_ONCE = 250
BYTES_AT_ONCE = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class FeedItems:
    """Consecutive items of a file that wait."""

    kind: ClassVar[str] = "feed"
    first: int
    """How many items were kept before, of all files."""
    file: str
    mark: str
    """What tells the content of the file from that of others."""
    upto: int
    """Rows of the file before this one are kept, or were asked about before."""
    models: list[ModelName]
    codes: Matrix
    classes: list[ClassName]
    keys: list[str]
    texts: tuple[bytes, ...] | None
    """The fields of each item as JSON; empty if it has none."""

    def __len__(self) -> int:
        return len(self.codes)

    def item(self, place: int) -> Item | None:
        """The fields of the item at a place of this page."""
        text = b"" if self.texts is None else self.texts[place]
        found: Item | None = json.loads(text) if text else None
        return found

    def rows(self, models: Sequence[ModelName]) -> Rows:
        """What some of the models said, in their order."""
        if list(models) == self.models:
            return Rows(self.codes, self.classes)
        return Rows(self.codes[:, [self.models.index(model) for model in models]], self.classes)

    def encode(self) -> bytes:
        """The content of the event."""
        header = {
            "first": self.first,
            "file": self.file,
            "mark": self.mark,
            "upto": self.upto,
            "models": self.models,
            "items": len(self),
            "dtype": self.codes.dtype.name,
            "classes": self.classes,
            "keys": self.keys,
            "lengths": None if self.texts is None else [len(text) for text in self.texts],
        }
        codes = self.codes.astype(self.codes.dtype.newbyteorder("<"), copy=False)
        return joined(header, codes.tobytes(), *(self.texts or ()))

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """The event that content stands for."""
        header, at = split_header(content)
        shape = header["items"], len(header["models"])
        dtype = np.dtype(header["dtype"]).newbyteorder("<")
        codes = np.frombuffer(content, dtype=dtype, count=shape[0] * shape[1], offset=at).reshape(shape)
        texts = None
        if header["lengths"] is not None:
            ends = np.cumsum([at + codes.nbytes, *header["lengths"]]).tolist()
            texts = tuple(content[start:end] for start, end in pairwise(ends))
        names = {name: header[name] for name in ("first", "file", "mark", "upto", "models", "classes", "keys")}
        return cls(**names, codes=codes, texts=texts)


@dataclass(frozen=True, slots=True)
class FeedTaken:
    """Items that no longer wait: they were decided about, were known already, or were dropped."""

    kind: ClassVar[str] = "fed"
    round: int
    """How many rounds there were by then."""
    items: int
    dropped: bool = False
    by: str | None = None


def feed_pages(
    first: int,
    file: KeptFile,
    models: Sequence[ModelName],
    rows: Rows,
    numbers: Sequence[int],
    items: Sequence[Item | None] | None,
    keys: Sequence[str],
) -> Iterator[FeedItems]:
    """Items as they are stored, in pages of a bounded size; `numbers` are their rows in the file."""
    texts: list[bytes] = []
    begun, size, total = 0, 0, len(rows.codes)
    for place in range(total):
        item = None if items is None else items[place]
        texts.append(b"" if item is None else json.dumps(item).encode())
        size += len(texts[-1])
        if len(texts) == ITEMS_AT_ONCE or size > BYTES_AT_ONCE or place + 1 == total:
            some = some_rows(rows, range(begun, place + 1))
            yield FeedItems(
                first=first + begun,
                file=file.name,
                mark=file.mark,
                upto=numbers[place] + 1,
                models=list(models),
                codes=some.codes,
                classes=some.classes,
                keys=list(keys[begun : place + 1]),
                texts=tuple(texts) if any(texts) else None,
            )
            texts, begun, size = [], place + 1, 0
