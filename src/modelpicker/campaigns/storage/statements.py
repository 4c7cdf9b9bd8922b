"""Statements that are compiled once for each kind of database, so that running them costs next to nothing."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql


class Prepared:
    """A statement of SQLAlchemy's that goes straight to the database's driver."""

    def __init__(self, statement: sa.Executable) -> None:
        self.statement: Any = statement
        self._made: dict[str, tuple[str, list[str] | None, dict[str, Any]]] = {}

    def run(self, connection: sa.Connection, values: Mapping[str, Any]) -> Any:
        """Run it with these values; the driver's cursor."""
        text, names, constants = self._made.get(connection.dialect.name) or self._compile(connection.dialect)
        return driver(connection).execute(text, _filled(constants, values, names))

    def run_many(self, connection: sa.Connection, values: Sequence[Mapping[str, Any]]) -> None:
        """Run it once for each."""
        text, names, constants = self._made.get(connection.dialect.name) or self._compile(connection.dialect)
        cursor = driver(connection).cursor()
        if names is not None and not constants.keys() - values[0].keys():
            pick = itemgetter(*names)  # nothing to fill in: the quickest way from mappings to what SQLite takes
            cursor.executemany(text, list(map(pick, values)))
            return
        cursor.executemany(text, [_filled(constants, entry, names) for entry in values])

    def _compile(self, dialect: sa.Dialect) -> tuple[str, list[str] | None, dict[str, Any]]:
        compiled = self.statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
        made = (str(compiled), compiled.positiontup, dict(compiled.params))
        self._made[dialect.name] = made
        return made


class Insert(Prepared):
    """Rows for a table: PostgreSQL takes them as an array per column, however many there are, in one statement."""

    def __init__(self, table: sa.Table) -> None:
        super().__init__(sa.insert(table))
        self._names = [column.name for column in table.columns]
        columns = ", ".join(self._names)
        arrays = ", ".join(
            f"%({column.name})s::{column.type.compile(postgresql.dialect())}[]"  # type: ignore[no-untyped-call]
            for column in table.columns
        )
        self._arrays = f"INSERT INTO {table.name} ({columns}) SELECT * FROM unnest({arrays})"  # noqa: S608

    def run_many(self, connection: sa.Connection, values: Sequence[Mapping[str, Any]]) -> None:
        """Add all rows."""
        if len(values) == 1:
            self.run(connection, values[0])
            return
        if connection.dialect.name != "postgresql":
            super().run_many(connection, values)
            return
        columns = {name: [row[name] for row in values] for name in self._names}
        driver(connection).execute(self._arrays, columns)


def _filled(constants: Mapping[str, Any], values: Mapping[str, Any], names: list[str] | None) -> Any:
    """Values in the form that the database's driver wants."""
    merged = {**constants, **values}
    return merged if names is None else tuple([merged[name] for name in names])


def driver(connection: sa.Connection) -> Any:
    """The connection as the database's driver has it: those of SQLite and PostgreSQL both have `execute`."""
    return connection.connection.driver_connection
