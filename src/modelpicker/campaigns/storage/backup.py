"""Backups of an SQLite storage, made while others continue working with it."""

import os
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from modelpicker.campaigns.storage.database import Storage
from modelpicker.campaigns.storage.database_errors import explain
from modelpicker.campaigns.storage.sqlite_files import companions, create_private
from modelpicker.campaigns.storage.statements import driver
from modelpicker.collections.writers import replacing
from modelpicker.errors import ConflictError, FileError, InputError, NotFoundError, StorageError

# Pages that are copied between two looks at the progress: a few megabytes.
PAGES_AT_ONCE = 1024

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds."""

    path: str
    bytes: int
    schema: str
    campaigns: int
    tokens: int


def back_up(
    storage: Storage, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress | None = None
) -> Backup:
    """Copy a storage to a file as it is at one moment, tokens included, and check the copy.

    Args:
        storage: an SQLite storage of any schema.
        path: the file to be made. It is there whole, or not at all.
        overwrite: whether a file that is there already may be replaced.
        progress: told how many pages are done, and of how many.
    """
    target = Path(path)
    _check_source(storage, target)
    _check_target(storage, target, overwrite)
    with replacing(target) as unfinished:
        create_private(unfinished)
        _copy(storage, unfinished, target, progress)
        made = _checked(unfinished, target)
        _sync(unfinished)
    _sync(target.parent)
    return made


def _check_source(storage: Storage, target: Path) -> None:
    if storage.postgres:
        raise InputError(
            f"{storage.url} is a PostgreSQL database. Use PostgreSQL's own tool, which takes the password from "
            f"~/.pgpass or asks for it: pg_dump --format=custom --file={shlex.quote(str(target))} "
            f"{shlex.quote(_without_secrets(storage))}"
        )
    if storage.file is None:
        raise InputError(f"{storage.url} is in the memory of one process, and cannot be backed up.")


def _without_secrets(storage: Storage) -> str:
    """The URL of a PostgreSQL database as its own tools take it, without a password."""
    url = sa.make_url(storage.place)._replace(drivername="postgresql", password=None)
    return url.difference_update_query(
        [name for name in url.query if "password" in name.lower()]
    ).render_as_string()


def _check_target(storage: Storage, target: Path, overwrite: bool) -> None:
    if re.match(r"\w{2,}(\+\w+)?:/", str(target)):
        raise InputError(f"{target}: pass the path of a file, such as backup.db, and not a URL.")
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file in it, such as {target / 'backup.db'}.")
    if target.exists() and storage.file is not None and target.samefile(storage.file):
        raise InputError(f"{target} is the storage itself; choose another file.")
    if target.exists() and not overwrite:
        raise ConflictError(f"{target} already exists; pass --force to overwrite it.")
    log = companions(target)[0]
    if log.exists() and log.stat().st_size:  # SQLite would take it for the log of the new file
        raise ConflictError(
            f"{log} is there: a database of that name is in use, or was not closed. Stop what uses it, or choose "
            "another file."
        )


def _copy(storage: Storage, unfinished: Path, target: Path, progress: Progress | None) -> None:
    """Copy page by page; one transaction sees one state, however long that takes and whoever writes meanwhile."""
    with storage.reading() as source:
        if storage.version(source) is None:
            raise NotFoundError(f"{storage.url} holds no campaigns yet; there is nothing to back up.")
        try:
            with closing(sqlite3.connect(unfinished, isolation_level=None)) as copy:
                for pragma in ("journal_mode=OFF", "synchronous=OFF"):  # it is checked and synced at the end
                    copy.execute(f"PRAGMA {pragma}")
                driver(source).backup(
                    copy,
                    pages=PAGES_AT_ONCE,
                    progress=lambda _, left, total: progress(total - left, total) if progress else None,
                )
        except sqlite3.Error as error:
            raise FileError(f"{target} cannot be written: {explain(error, postgres=False)}") from error


def _checked(unfinished: Path, target: Path) -> Backup:
    """What a copy holds; an error if it is damaged."""
    with closing(sqlite3.connect(f"{unfinished.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        try:
            found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(1)")]
            if found != ["ok"]:
                raise StorageError(
                    f"the storage is damaged, so no backup was made: {found[0]}. Restore an older one."
                )
            tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_master")}
            return Backup(
                path=str(target),
                bytes=unfinished.stat().st_size,
                schema=str(copy.execute("SELECT version_num FROM alembic_version").fetchone()[0]),
                campaigns=_count(copy, "campaigns"),
                tokens=_count(copy, "tokens") if "tokens" in tables else 0,
            )
        except sqlite3.Error as error:
            raise StorageError(
                f"the storage is damaged, so no backup was made: {explain(error, postgres=False)}"
            ) from error


def _count(copy: sqlite3.Connection, table: str) -> int:
    return int(copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  # a name of our own


def _sync(path: Path) -> None:
    """Have a file, or the names in a folder, on disk."""
    if os.name != "posix" and path.is_dir():
        return  # Windows has no such thing
    opened = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
