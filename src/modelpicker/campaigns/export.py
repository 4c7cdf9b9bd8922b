"""Campaigns out of one storage and into another: JSON lines or Parquet, and nothing is lost on the way.

The first line, or the file's metadata, has the settings; every other line or row is a record of the history. What
is read back is the same campaign: the same events at the same times, the same decisions, the same state.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modelpicker.algorithms import Algorithm
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.event_reader import Head
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import changes_the_past, rounds_in
from modelpicker.campaigns.events.history import HistoryRecord, as_time, events_of, from_time, records_of
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.names import check_name
from modelpicker.campaigns.registry import make_campaign
from modelpicker.campaigns.results.chart_samples import Sample, add_sample
from modelpicker.campaigns.setting_options import COSTS, JUDGE, POOL_ALGORITHM, POOL_GOAL, SLICE
from modelpicker.campaigns.settings import CampaignSettings, known_algorithm, settings_checksum, stored_settings
from modelpicker.campaigns.state.possible_events import PossibleEvents
from modelpicker.campaigns.state.states import rebuild
from modelpicker.campaigns.storage.campaign_rows import add_campaign
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.collections.writers import replacing
from modelpicker.errors import FileError, InputError, NotFoundError, brief

FORMAT = "modelpicker campaign 1"
# Columns of a Parquet file: those that hold more than one kind of value hold JSON.
COLUMNS = {
    "event": "int64",
    "at": "string",
    "kind": "string",
    "id": "int64",
    "key": "string",
    "item": "json",
    "predictions": "json",
    "judge": "json",
    "slice": "string",
    "query": "bool",
    "probability": "float64",
    "prediction": "json",
    "recommended": "json",
    "pace": "json",
    "label": "json",
    "by": "string",
    "replaces": "bool",
    "reference": "bool",
    "round": "int64",
    "model": "json",
    "heir_of": "json",
    "number": "int64",
    "leader": "json",
    "draw": "json",
    "changes": "json",
    "place": "int64",
    "file": "string",
    "mark": "string",
    "upto": "int64",
    "items": "int64",
    "dropped": "bool",
    "text": "string",
    "flagged": "bool",
    "needed": "int64",
    "pair": "json",
    "in_slice": "json",
    "whose": "string",
    "of_opinions": "bool",
}
ROWS_AT_ONCE = 20_000


def export_campaign(campaign: Campaign, path: str | os.PathLike[str]) -> int:
    """Write a whole campaign to a file, `.jsonl` or `.parquet`; how many records it has.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://export", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> path = Path(tempfile.mkdtemp()) / "tickets.jsonl"
    >>> mp.export_campaign(campaign, path)
    1
    >>> path.exists()
    True
    """
    path = Path(path)
    total = campaign.events
    records = records_of(campaign.stored(total), campaign.settings)
    document = campaign.settings.document()
    header = {
        "format": FORMAT,
        "name": campaign.name,
        "created": as_time(campaign.created),
        "events": total,
        **document,
        "checksum": settings_checksum(document),
    }
    if _is_parquet(path):
        return _write_parquet(path, header, records)
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        written = 0
        stream.write(json.dumps(header) + "\n")
        for record in records:
            stream.write(json.dumps(record) + "\n")
            written += 1
    return written


def import_campaign(
    storage: str,
    path: str | os.PathLike[str],
    name: str | None = None,
    algorithm: type[Algorithm] | None = None,
) -> Campaign:
    """Bring a campaign from a file into a storage, all of it or nothing; `name` is another one for it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://import", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> path = Path(tempfile.mkdtemp()) / "tickets.jsonl"
    >>> campaign.export(path)
    >>> mp.import_campaign("memory://elsewhere", path).rounds
    1
    """
    path = Path(path)
    with _opened(path) as (header, records):
        if header.get("format") != FORMAT:
            raise InputError(
                f"{path} is not a campaign that modelpicker exported: its format is {brief(header.get('format'))}."
            )
        try:
            settings = _settings(header, algorithm)
            created, total, given = from_time(header["created"]), int(header["events"]), name or header["name"]
            check_name(given)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise InputError(f"{path}: its settings cannot be read: {error!r}.") from error
        opened = open_storage(storage, create=True)
        with opened.writing() as connection:
            number = add_campaign(connection, given, created, settings)
            try:
                _fill(EventStore(connection, number), settings, events_of(records, settings), total)
            except InputError as error:
                raise InputError(f"{path}: {error}") from error
    return make_campaign(opened, number, given, created, settings)


def _settings(header: HistoryRecord, algorithm: type[Algorithm] | None) -> CampaignSettings:
    """The settings in a file, checked as if they were new."""
    stored = stored_settings(header)
    if not isinstance(stored["options"], dict):
        raise InputError(f"options are {brief(stored['options'])}.")
    given = stored | {"seed": int(stored["seed"])}
    if header["algorithm"] == POOL_ALGORITHM:
        options = given.pop("options")
        del given["algorithm"]
        if options.keys() - {JUDGE, SLICE, *COSTS} != {option.name for option in POOL_GOAL}:
            raise InputError(f"options are {brief(options)}.")
        made = CampaignSettings.check_pool(**given, **options)
    else:
        given["algorithm"] = algorithm or known_algorithm(header["algorithm"])
        priced = {name: value for name, value in stored["options"].items() if name in COSTS}
        given["options"] = {name: value for name, value in stored["options"].items() if name not in priced}
        made = CampaignSettings.check(source=header.get("source"), **priced, **given)
    if made.source is not None:
        stored["source"] = header["source"]
    if header.get("checksum") not in (None, settings_checksum(stored)):  # older files have none
        raise InputError("its settings do not match their checksum: they were changed. Export the campaign again.")
    return made


def _fill(store: EventStore, settings: CampaignSettings, found: Iterator[Stored], total: int) -> None:
    """Add events as they were, then find the state."""
    events = rounds = rebuilt = 0
    possible = PossibleEvents(store, settings)
    for stored in found:
        event = stored.event
        possible.check(event)
        store.add(stored.number, stored.at, event)
        events = stored.number
        rounds += rounds_in(event)
        rebuilt = events if changes_the_past(event, settings.pool is not None) else rebuilt
    if events != total:
        raise InputError(f"there are {events:,} events, but there should be {total:,}; was the file cut off?")
    store.move(Head(events, rounds, rebuilt))
    projection = rebuild(store, settings, events, rebuilt)
    if settings.pool is None and projection.left < 0:
        raise InputError(f"more labels were bought than the budget of {projection.terms.budget} allows.")
    store.keep(projection.document())
    if rounds:
        add_sample(store, Sample.take(projection))


def _is_parquet(path: Path) -> bool:
    if path.suffix.lower() in (".parquet", ".pq"):
        return True
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return False
    raise InputError(f"{path}: campaigns are exported as .jsonl or .parquet; choose one of these endings.")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[HistoryRecord, Iterator[HistoryRecord]]]:
    """The settings and the records of a file."""
    if not path.exists():
        raise NotFoundError(f"there is no file {path}.")
    try:
        if _is_parquet(path):
            yield _read_parquet(path)
            return
        with path.open(encoding="utf-8") as stream:
            lines = _read_lines(stream, path)
            yield next(lines, {}), lines
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error}.") from error


def _read_lines(stream: Iterable[str], path: Path) -> Iterator[HistoryRecord]:
    for number, line in enumerate(stream, start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number} is not JSON: {error}. Was it cut off?") from error
        if not isinstance(record, dict):
            raise InputError(f"{path}, line {number}: {brief(record)} is not a record.")
        yield record


def _write_parquet(path: Path, header: HistoryRecord, records: Iterator[HistoryRecord]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
    fields = [pa.field(name, types.get(kind, pa.string())) for name, kind in COLUMNS.items()]
    schema = pa.schema(fields, metadata={FORMAT: json.dumps(header)})
    total = 0
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for page in _pages(records):
            total += len(page)
            columns = [_column(page, name, kind) for name, kind in COLUMNS.items()]
            writer.write_table(pa.table(columns, schema=schema))
    return total


def _pages(records: Iterator[HistoryRecord]) -> Iterator[list[HistoryRecord]]:
    page: list[HistoryRecord] = []
    for record in records:
        page.append(record)
        if len(page) == ROWS_AT_ONCE:
            yield page
            page = []
    if page:
        yield page


def _column(page: list[HistoryRecord], name: str, kind: str) -> list[Any]:
    """One column; a field that a record has not, and one that is null, stay different where that matters."""
    if kind == "json":
        return [json.dumps(record[name]) if name in record else None for record in page]
    return [record.get(name) for record in page]


def _read_parquet(path: Path) -> tuple[HistoryRecord, Iterator[HistoryRecord]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path} is not a Parquet file: {error}.") from error
    header = (file.schema_arrow.metadata or {}).get(FORMAT.encode())
    if header is None:
        return {}, iter(())
    try:
        found = json.loads(header)
    except ValueError as error:
        raise InputError(f"{path}: its settings are not JSON: {error}.") from error
    return found if isinstance(found, dict) else {}, _rows(file)


def _rows(file: Any) -> Iterator[HistoryRecord]:
    import pyarrow as pa

    try:
        for batch in file.iter_batches():
            for row in batch.to_pylist():
                yield {
                    name: json.loads(value) if COLUMNS.get(name) == "json" and value is not None else value
                    for name, value in row.items()
                    if value is not None or name in ("key", "by", "whose")
                }
    except (OSError, pa.ArrowException, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"its rows cannot be read: {error}.") from error
