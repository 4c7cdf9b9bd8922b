"""Where campaigns live: an SQLite file, a PostgreSQL database, or the memory of this process.

Everything that changes a storage happens in a transaction that is on disk when it ends. On SQLite it begins by
taking the one write lock there is, so that nobody who got in has to be turned away later; on PostgreSQL campaigns
are locked one by one. SQLite writes to a log beside its file first; the last one to leave a storage moves the log
into the file, so that the file alone is the whole storage.
"""

import atexit
import os
import re
import shlex
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from modelpicker.campaigns.storage import schema
from modelpicker.campaigns.storage.database_errors import PATIENCE, explain, is_busy
from modelpicker.campaigns.storage.sqlite_files import (
    SQLITE,
    companions,
    create_private,
    shared_files,
    warn_of_shared,
)
from modelpicker.campaigns.storage.statements import driver
from modelpicker.errors import InputError, NotFoundError, SchemaError, StorageError, brief
from modelpicker.extras import require

FORMS = "sqlite:///file.db, postgresql://user:password@host/database or memory://"

# Connections to PostgreSQL that a process keeps. It opens as many again while it is busy; whoever needs more waits.
CONNECTIONS = 10
# Seconds after which PostgreSQL ends a change that nobody continues: a process that is frozen, or cut off, would
# keep everybody else waiting. It is set for each change alone, as others may use the connection afterwards.
FROZEN = 30
THRESHOLD = "prepare_threshold"

_opened: dict[tuple[int, str], "Storage"] = {}
_opening = threading.Lock()


def open_storage(url: str, *, create: bool = False) -> "Storage":
    """The storage at a URL, opened once a process; `create` makes one where there is none."""
    place = _checked(url)
    with _opening:
        key = (os.getpid(), place)
        storage = _opened.get(key)
        if storage is None:
            storage = Storage(place)
        storage.prepare(create=create)
        _opened[key] = storage
        return storage


def find_storage(url: str) -> "Storage":
    """The storage at a URL, whatever its schema; an error if there is none."""
    storage = Storage(_checked(url))
    if storage.file is not None and not storage.file.exists():
        raise NotFoundError(f"there is no storage {storage.url}; `modelpicker create` makes one.")
    return storage


@atexit.register
def _close_all() -> None:
    """Leave nothing in the logs of storages when this process ends in order."""
    for (process, _), storage in list(_opened.items()):
        if process == os.getpid():
            storage.close()


def _checked(url: object) -> str:
    """A URL in one form for one storage."""
    if not isinstance(url, str):
        raise InputError(f"storage {brief(url)} is not a URL; pass {FORMS}.")
    if url.startswith("sqlite:///"):
        path = url.removeprefix("sqlite:///")
        if not path or path == ":memory:":
            return "memory://"
        if "\0" in path:
            raise InputError(f"storage {brief(url)}: a path cannot hold a null character.")
        return f"sqlite:///{Path(path).expanduser().absolute()}"
    if re.match(r"postgres(ql)?(\+psycopg)?://", url):
        return re.sub(r"^postgres(ql)?(\+psycopg)?://", "postgresql+psycopg://", url)
    if url.startswith("memory://"):
        return url
    hint = f" For the file {url}, that is sqlite:///{url}." if "://" not in url else ""
    raise InputError(f"storage {brief(url)} is of no known kind; pass {FORMS}.{hint}")


class Storage:
    """A database of campaigns: connections, transactions, and errors that people understand."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.file = Path(place.removeprefix("sqlite:///")) if place.startswith("sqlite:///") else None
        self.postgres = place.startswith("postgresql")
        self.url = self._shown()
        self.engine = self._engine()
        self._alone = threading.RLock() if not (self.file or self.postgres) else None
        self._ready = False
        self._lost = False
        self._identity: tuple[int, int] | None = None
        self._process = os.getpid()
        self._users: weakref.WeakSet[object] = weakref.WeakSet()
        self._entering = threading.Lock()

    def _shown(self) -> str:
        """The URL as messages show it: without anything secret."""
        if not self.postgres:
            return self.place
        try:
            url = sa.make_url(self.place)
        except (sa.exc.ArgumentError, ValueError):
            return "postgresql://…"
        secret = {name: "***" for name in url.query if "password" in name.lower()}
        return url.update_query_dict(secret).set(drivername="postgresql").render_as_string(hide_password=True)

    def _engine(self) -> sa.Engine:
        try:
            if self.postgres:
                require("postgresql")
                url, options = _postgresql(self.place)
                return sa.create_engine(
                    url,
                    connect_args=options,
                    isolation_level="AUTOCOMMIT",
                    pool_reset_on_return=None,
                    pool_size=CONNECTIONS,
                    max_overflow=CONNECTIONS,
                )
            if self.file is None:
                engine = sa.create_engine(
                    "sqlite://",
                    isolation_level="AUTOCOMMIT",
                    poolclass=StaticPool,
                    connect_args={"check_same_thread": False},
                )
            else:
                engine = sa.create_engine(
                    sa.URL.create("sqlite", database=str(self.file)),
                    isolation_level="AUTOCOMMIT",
                    pool_reset_on_return=None,
                    max_overflow=-1,
                    connect_args={"timeout": PATIENCE},
                )
        except (sa.exc.ArgumentError, ValueError) as error:
            raise InputError(f"storage {self._shown()!r} is not a URL: {error}. Pass {FORMS}.") from error
        sa.event.listen(engine, "connect", _set_up_sqlite)
        return engine

    def prepare(self, *, create: bool) -> None:
        """Refuse what is not a storage of this version; make the tables where there are none, if that is wanted."""
        if self._ready and self._same_file():
            return
        self._forget()
        shared = shared_files(self.file) if self.file is not None else {}  # before SQLite makes more of them
        if self.file is not None and not self._exists():
            if not create:
                raise NotFoundError(
                    f"there is no storage {self.url}; `modelpicker create` or create_campaign makes one."
                )
            if not self.file.parent.is_dir():
                raise StorageError(f"the folder of {self.url} does not exist; make it first.")
            create_private(self.file)
        elif self.file is not None:
            self._check_file()
        self._lost = False
        with self.reading() as connection:
            found = self.version(connection)
        if found is None:
            if not create and (self.file or self.postgres):
                raise NotFoundError(
                    f"{self.url} holds no campaigns yet; `modelpicker create` or create_campaign makes one."
                )
            self._make_tables()
        elif found != schema.SCHEMA:
            raise SchemaError(self._outdated(found))
        self._identity = self._identify()
        self._ready = True
        warn_of_shared(shared)

    def _exists(self) -> bool:
        with self._translated():
            return self.file is not None and self.file.exists()

    def _identify(self) -> tuple[int, int] | None:
        """Which file is at the storage's path."""
        try:
            found = self.file.stat() if self.file is not None else None
        except OSError:
            return None
        return None if found is None else (found.st_dev, found.st_ino)

    def _same_file(self) -> bool:
        """Whether the file is still the one that was opened: connections continue writing to one that is gone."""
        return self.file is None or (self._identity is not None and self._identify() == self._identity)

    def _forget(self) -> None:
        """Open everything again next time."""
        self._ready = False
        self._identity = None
        if self.file is not None:
            self.engine.dispose()

    def _check_same_file(self) -> None:
        if self._lost or (self._ready and not self._same_file()):
            self._lost = True
            self._forget()
            raise StorageError(
                f"{self.url} was removed or replaced while it was in use; restore the file, then open it again."
            )

    def _check_file(self) -> None:
        """Refuse a file that SQLite did not make, before it is written to."""
        with self._translated(), self.file.open("rb") if self.file else nullcontext() as stream:
            start = stream.read(len(SQLITE)) if stream else b""
        if start and start != SQLITE:
            raise StorageError(f"{self.url} is not an SQLite database; choose another file.")

    def version(self, connection: sa.Connection) -> str | None:
        """The schema that is there; None where there is nothing at all."""
        tables = sa.inspect(connection).get_table_names()
        if "alembic_version" in tables:
            found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
            if found is not None:
                return str(found)
        if not tables or (self.postgres and not set(tables) & set(schema.metadata.tables)):
            return None
        if set(schema.metadata.tables) <= set(tables):
            raise StorageError(
                f"{self.url} has campaigns, but does not say which schema they have; restore a backup."
            )
        raise StorageError(f"{self.url} is a database of something else: it has tables, but no campaigns.")

    def _outdated(self, found: str) -> str:
        if found > schema.SCHEMA:
            return (
                f"{self.url} has schema {found}, which a newer modelpicker made; this one knows {schema.SCHEMA}. "
                "Upgrade modelpicker: pip install --upgrade modelpicker."
            )
        return (
            f"{self.url} has schema {found}, but this modelpicker needs {schema.SCHEMA}. Make a backup, then run: "
            f"modelpicker storage upgrade --storage {shlex.quote(self.url)}"
        )

    def _make_tables(self) -> None:
        """All tables at once; of several processes that try, one does it."""
        if self.file is not None:
            self._write_ahead()
        with self.writing() as connection:
            if self.postgres:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7020653)")
            if self.version(connection) is None:
                schema.metadata.create_all(connection)
                connection.exec_driver_sql(
                    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
                    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
                )
                connection.execute(sa.text("INSERT INTO alembic_version VALUES (:v)"), {"v": schema.SCHEMA})

    def _write_ahead(self) -> None:
        """SQLite's write-ahead log, which lets many read while one writes; the file remembers it."""
        stop = time.monotonic() + PATIENCE
        while True:  # changing the mode does not wait for others by itself
            with self._translated(), self.engine.connect() as connection:
                try:
                    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                    return
                except sa.exc.OperationalError as error:
                    if not is_busy(error) or time.monotonic() > stop:
                        raise
            time.sleep(0.01)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state of the storage."""
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if self.postgres else "BEGIN"
        with self._transaction(begin) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is on disk when it ends, or has never been."""
        begin = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = '{FROZEN}s'"
        with self._transaction(begin if self.postgres else "BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        self._check_same_file()  # before SQLite would make a new one
        with self._translated(), self._alone or nullcontext(), self._begun(begin) as connection:
            raw = driver(connection)
            try:
                yield connection
                raw.execute("COMMIT")
                self._check_same_file()
            except BaseException:
                self._roll_back(connection, raw)
                raise

    @contextmanager
    def _begun(self, begin: str) -> Iterator[sa.Connection]:
        """A connection on which a transaction has begun; one that PostgreSQL ended meanwhile is opened again."""
        with self.engine.connect() as connection:
            try:
                self._check_same_file()
                self._begin(connection, begin)
            except self._errors:
                connection.invalidate()
                if not self.postgres:
                    raise
            else:
                yield connection
                return
        self.engine.dispose()  # the others that wait there have ended as well
        with self.engine.connect() as connection:
            self._begin(connection, begin)
            yield connection

    def _begin(self, connection: sa.Connection, begin: str) -> None:
        """What has two commands cannot be prepared."""
        driver(connection).execute(begin, **({"prepare": False} if self.postgres else {}))

    def _roll_back(self, connection: sa.Connection, raw: Any) -> None:
        """Undo what a transaction did; a connection that is in doubt is not used again."""
        try:
            if self.postgres or raw.in_transaction:
                raw.execute("ROLLBACK")
        except self._errors:
            connection.invalidate()

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        """What goes wrong in a database, as SQLAlchemy and the driver have it."""
        dbapi: Any = self.engine.dialect.loaded_dbapi
        return (sa.exc.SQLAlchemyError, dbapi.Error)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of a database as errors for people."""
        try:
            yield
        except self._errors as error:
            raise StorageError(f"{self.url}: {explain(error, self.postgres)}") from error
        except OSError as error:
            raise StorageError(f"{self.url}: {error.strerror or error}.") from error

    def now(self, connection: sa.Connection) -> float:
        """Seconds since 1970, by one clock for all who use the storage."""
        if self.postgres:
            return float(connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar_one())
        return time.time()

    def enter(self, user: object) -> None:
        """Note that somebody uses the storage."""
        with self._entering:
            self._users.add(user)

    def leave(self, user: object) -> None:
        """Note that somebody uses it no longer; the last one in this process leaves the file in order."""
        with self._entering:
            last = user in self._users and len(self._users) == 1
            self._users.discard(user)
        if last:
            self.checkpoint()

    def log_state(self) -> tuple[int, int] | None:
        """The size of SQLite's write-ahead log and when it was last written to; None if there is nothing in it."""
        try:
            found = companions(self.file)[0].stat() if self.file is not None else None
        except OSError:
            return None
        return (found.st_size, found.st_mtime_ns) if found is not None and found.st_size else None

    def checkpoint(self) -> bool:
        """Move SQLite's write-ahead log into the file, so that a copy of the file has everything; whether it did.

        Nobody is disturbed: if others are at work, what they need stays in the log, and nothing is lost.
        """
        if self.file is None or self._process != os.getpid() or not (self._ready and self._same_file()):
            return False
        try:
            with self.engine.connect() as connection:
                raw = driver(connection)
                raw.execute("PRAGMA busy_timeout=0")
                try:
                    busy = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                finally:
                    raw.execute(f"PRAGMA busy_timeout={PATIENCE * 1000:.0f}")
        except self._errors:
            return False
        return not busy

    def close(self) -> None:
        """Give back all connections; what is in memory is gone."""
        self.checkpoint()
        self.engine.dispose()
        with _opening:
            if _opened.get((os.getpid(), self.place)) is self:
                del _opened[os.getpid(), self.place]


def _postgresql(place: str) -> tuple[sa.URL, dict[str, Any]]:
    """The URL of a database, and what the driver takes as no text: after how many times it prepares a statement.

    A pooler that gives every transaction another connection may know nothing of statements that were prepared.
    """
    url = sa.make_url(place)
    threshold = url.query.get(THRESHOLD)
    if threshold is None:
        return url, {}
    return url.difference_update_query([THRESHOLD]), {
        THRESHOLD: None if threshold == "none" else int(str(threshold))
    }


def _set_up_sqlite(connection: Any, _: object) -> None:
    """Every commit is synced; the tables know each other; memory for the usual campaign."""
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "cache_size=-16000", "wal_autocheckpoint=4000"):
        connection.execute(f"PRAGMA {pragma}")
