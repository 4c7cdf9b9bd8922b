"""The items of a file on their way into a stream: one by one, as labels come.

A label changes what is asked next. If a whole file is decided at once, before the first label, the budget goes to
items that were chosen without knowing anything of the models. So items are decided until one waits for a label, and
the next are decided when that label is there.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from modelpicker.algorithms import Decision
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.input.batches import Batch
from modelpicker.campaigns.input.files import batches_in, open_file
from modelpicker.campaigns.offline import names_at
from modelpicker.collections.column_roles import Reading
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, ModelPickerError

# Items that are decided in one transaction.
AT_ONCE = 500


class NewItem(NamedTuple):
    """An item that is to be decided about."""

    predictions: Any
    item: dict[str, Any] | None
    key: str
    place: str
    """Where it is in the file, for an error."""


class FedItem(NamedTuple):
    """An item that was decided about."""

    key: str
    decision: Decision


class FileFeed:
    """Items that are decided about one by one, until one of them waits for a label.

    Every item has a key, so feeding the same items again goes on where it stopped.
    """

    def __init__(self, campaign: Campaign, items: Iterable[NewItem], classes: Sequence[ClassName] = ()) -> None:
        """`classes` are those that are known from the start."""
        self.campaign = campaign
        self.classes = classes
        self._items = iter(items)
        self._failure: ModelPickerError | None = None

    def decide(self) -> list[FedItem]:
        """Decide about some items, up to the first that waits for a label; none are left if the list is empty.

        If an item is wrong, those before it are decided all the same; the next call raises the error.
        """
        if self._failure is not None:
            raise self._failure
        made: list[FedItem] = []
        with self.campaign.grouped() as group:
            try:
                for item in self._items:
                    made.append(self._decide(item))
                    if (made[-1].decision.query and self.waits) or len(made) == AT_ONCE:
                        break
            except ModelPickerError as error:
                if group.touched or not made:
                    raise
                self._failure = error
        return made

    def _decide(self, item: NewItem) -> FedItem:
        try:
            return FedItem(item.key, self.campaign.ask(item.predictions, item=item.item, key=item.key))
        except InputError as error:
            raise InputError(f"{item.place}: {error}") from error

    @property
    def waits(self) -> bool:
        """Whether a label is awaited."""
        return self.campaign.counts().waiting > 0

    def feed(self) -> Literal["query", "end", "going on"]:
        """The same, for a session in which somebody labels what is asked for."""
        if not self.decide():
            return "end"
        return "query" if self.waits else "going on"


def feed_file(campaign: Campaign, path: str | Path, reading: Reading | None = None) -> FileFeed:
    """Feed the items of a file of predictions.

    Items that have no key get one from their row and the file's content.
    """
    reading = reading or Reading()
    opened = open_file(path, campaign, reading)
    return FileFeed(campaign, _items(batches_in(opened, campaign, reading), file_mark(path)), opened.classes)


def _items(batches: Iterable[Batch], mark: str) -> Iterator[NewItem]:
    row = 0
    for batch in batches:
        for place in range(len(batch.predictions)):
            row += 1
            key = None if batch.keys is None else batch.keys[place]
            item = None if batch.items is None else batch.items[place]
            yield NewItem(names_at(batch.predictions, place), item, key or row_key(row, mark), f"row {row}")


def row_key(row: int, mark: str) -> str:
    """The key of an item that has none of its own; rows count from 1."""
    return f"row-{row} of {mark}"


def file_mark(path: str | Path) -> str:
    """What tells the content of a file from that of others, in a few letters."""
    found = hashlib.blake2b(digest_size=5)
    if Path(path).is_file():
        with Path(path).open("rb") as file:
            while chunk := file.read(2**20):
                found.update(chunk)
    else:  # a folder, or a collection that ships
        found.update(str(path).encode())
    return found.hexdigest()
