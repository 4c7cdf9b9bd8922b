"""What errors of databases mean, by their codes: SQLite's result codes and PostgreSQL's SQLSTATE."""

import sqlite3

# How long one waits for others who write, in seconds.
PATIENCE = 120.0

FULL = "the disk is full. Nothing was lost: free some space, then continue."
READ_ONLY = "it is read-only. Nothing was lost: check the permissions of the file and its folder, then continue."
DAMAGED = "it is damaged, or not a database. Restore a backup; `modelpicker verify` tells what is wrong."
CLOSED = "it cannot be opened; check that its folder exists and may be written to. Nothing was lost."
BUSY = f"others have been writing for {PATIENCE:.0f} seconds without a break. Nothing was lost: try again."
STOPPED = (
    "this process did nothing for too long in the midst of a change, so that PostgreSQL let others go on. Nothing "
    "acknowledged was lost: try again."
)
BROKEN = "the disk reports an error. Nothing acknowledged was lost: check the disk, then continue."

SQLITE: dict[int, str] = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_IOERR: BROKEN,
}
POSTGRESQL: dict[str, str] = {
    "53100": FULL,
    "25006": READ_ONLY,
    "XX001": DAMAGED,
    "XX002": DAMAGED,
    "55P03": BUSY,
    "58030": BROKEN,
    "25P03": STOPPED,
}
# Classes of SQLSTATE for: no connection, who one is, no such database, too few resources, an operator's doing.
UNREACHABLE = ("08", "28", "3D", "53", "57")
PRIMARY = 0xFF  # the rest of a result code tells more of the same


def is_busy(error: Exception) -> bool:
    """Whether SQLite could not do it because somebody else is at it."""
    return _meaning(error) == BUSY


def explain(error: Exception, postgres: bool) -> str:
    """What went wrong in a database, and what to do."""
    meaning = _meaning(error)
    if meaning:
        return meaning
    said = str(_cause(error)).strip().splitlines()
    first = (said[0] if said else type(error).__name__).rstrip(".") + "."
    state = getattr(_cause(error), "sqlstate", None)
    if postgres and (state is None or state.startswith(UNREACHABLE)):
        return f"PostgreSQL cannot be reached, or refuses: {first} Nothing acknowledged was lost: try again later."
    return first


def _cause(error: Exception) -> object:
    """The driver's own error."""
    return getattr(error, "orig", None) or error


def _meaning(error: Exception) -> str:
    cause = _cause(error)
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return SQLITE.get(code & PRIMARY, "")
    return POSTGRESQL.get(getattr(cause, "sqlstate", None) or "", "")
