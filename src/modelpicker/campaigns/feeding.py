"""The items of a file for a stream: kept, and asked about as labels come; or all decided about at once."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.file_campaign import fingerprint_of
from modelpicker.campaigns.input.batches import Batch, KeptFile
from modelpicker.campaigns.input.files import batches_in, open_file
from modelpicker.campaigns.input.rows import encode_many, take_rows
from modelpicker.campaigns.input.slices import check_has_field
from modelpicker.campaigns.results.pick import AskedFile
from modelpicker.collections import ModelCollection
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.errors import InputError

# What items are called that come from no file.
NAMELESS = ""


def ask_file(
    campaign: Campaign, source: object, reading: Reading | None = None, *, at_once: bool = False
) -> AskedFile:
    """Ask about the items of a file of predictions; what was asked about before is left out."""
    reading = reading or Reading()
    opened = source if isinstance(source, ModelCollection) else open_file(source, campaign, reading)
    if isinstance(source, str | Path):
        file = KeptFile(Path(source).name, file_mark(source))
    else:
        opened = opened.read() if isinstance(opened, CollectionReader) else opened
        file = KeptFile(NAMELESS, fingerprint_of(opened))
    return ask_batches(campaign, file, batches_in(opened, campaign, reading), at_once=at_once)


def ask_batches(
    campaign: Campaign, file: KeptFile, batches: Iterable[Batch], *, at_once: bool = False
) -> AskedFile:
    """The same for items that are read already; each batch is a transaction of its own."""
    total = AskedFile(0, 0, 0, 0)
    for first, batch in numbered(batches):
        made = ask_batch(campaign, file, first, batch, at_once=at_once)
        total = add_up(total, made)
    return total


def numbered(batches: Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
    """Batches with the row of their first item, from 0 on."""
    row = 0
    for batch in batches:
        yield row, batch
        row += len(batch.predictions)


def ask_batch(campaign: Campaign, file: KeptFile, first: int, batch: Batch, *, at_once: bool) -> AskedFile:
    """Ask about some items of a file, the first of which is in this row: all of them, or none if one is wrong."""
    check_has_field(campaign.settings.slice, batch.items)
    own = batch.keys or [None] * len(batch.predictions)
    keys = [key or row_key(first + place, file.mark) for place, key in enumerate(own)]
    try:
        if not at_once:
            return campaign.keep_items(file, first, batch.predictions, batch.items, keys)
        before = campaign.rounds
        made = campaign.ask_many(batch.predictions, items=batch.items, keys=keys)
        fresh = {decision.id: decision.query for decision in made if decision.id >= before}
        return AskedFile(len(fresh), len(made) - len(fresh), sum(fresh.values()), 0)
    except InputError as error:
        raise _by_row(campaign, file, first, batch, error) from error


def _by_row(campaign: Campaign, file: KeptFile, first: int, batch: Batch, error: InputError) -> InputError:
    """The error about a batch, with the row that it is about."""
    models = campaign.models
    for place in range(len(batch.predictions)):
        try:
            encode_many(take_rows(batch.predictions, [place]), models, campaign.vocabulary)
        except InputError as found:
            where = f"{file.name}, row" if file.name else "row"
            return InputError(f"{where} {first + place + 1}: {found}")
    return error


def add_up(total: AskedFile, made: AskedFile) -> AskedFile:
    """What came of several batches."""
    return AskedFile(
        total.rounds + made.rounds,
        total.known + made.known,
        total.queries + made.queries,
        total.waiting + made.waiting,
    )


def row_key(row: int, mark: str) -> str:
    """The key of an item that has none of its own; rows count from 0 here, and from 1 in keys."""
    return f"row-{row + 1} of {mark}"


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
