"""A whole storage into another one of any kind: campaigns, tokens, everything, row by row."""

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from modelpicker.campaigns.storage.backup import Progress
from modelpicker.campaigns.storage.database import Storage
from modelpicker.campaigns.storage.schema import campaigns, events, metadata, tokens
from modelpicker.errors import ConflictError, InputError, StorageError

# Rows that are read and written at once: one may hold ten thousand rounds.
ROWS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied."""

    campaigns: int
    events: int
    tokens: int


def copy_storage(source: Storage, destination: Storage, progress: Progress | None = None) -> Copied:
    """Copy everything as it is at one moment, all of it or nothing, into a storage that holds nothing yet.

    Args:
        source: it stays as it is.
        destination: one without campaigns and tokens.
        progress: told how many rows are done, and of how many.
    """
    if not (destination.file or destination.postgres):
        raise InputError(f"{destination.url} is gone with the process; choose a file or a PostgreSQL database.")
    with source.reading() as here, destination.writing() as there:
        _check_empty(there, destination)
        sizes = _sizes(here)
        done, total = 0, sum(sizes.values())
        for table in metadata.sorted_tables:
            for count in _copy(here, there, table):
                done += count
                if progress is not None:
                    progress(done, total)
        if destination.postgres:  # campaigns to come are numbered after those that were copied
            there.exec_driver_sql(
                "SELECT setval(pg_get_serial_sequence('campaigns', 'id'), greatest(max(id), 1)) FROM campaigns"
            )
        if _sizes(there) != sizes:
            raise StorageError(f"{destination.url} does not hold all rows of {source.url}; nothing was copied.")
    return Copied(*(sizes[table.name] for table in (campaigns, events, tokens)))


def _check_empty(connection: sa.Connection, storage: Storage) -> None:
    if connection.execute(sa.select(campaigns.c.id)).first() or connection.execute(sa.select(tokens.c.id)).first():
        raise ConflictError(
            f"{storage.url} holds campaigns or tokens already; choose an empty storage. To bring one campaign "
            "there, use `modelpicker export` and `modelpicker import`."
        )


def _sizes(connection: sa.Connection) -> dict[str, int]:
    """How many rows each table has."""
    return {
        table.name: int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())
        for table in metadata.sorted_tables
    }


def _copy(here: sa.Connection, there: sa.Connection, table: sa.Table) -> Iterator[int]:
    """Copy a table; how many rows, each time that some are done."""
    found = here.execution_options(yield_per=ROWS_AT_ONCE).execute(sa.select(table).order_by(*table.primary_key))
    for rows in found.mappings().partitions():
        there.execute(sa.insert(table), [dict(row) for row in rows])
        yield len(rows)
