"""The files of an SQLite storage: readable by their owner alone, and where the write-ahead log is."""

import logging
import os
import shlex
import stat
from contextlib import suppress
from pathlib import Path

SQLITE = b"SQLite format 3\0"
PRIVATE = 0o600

log = logging.getLogger(__name__)
_warned: set[Path] = set()


def is_sqlite(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read, whatever the umask; SQLite gives its logs the same mode.

    If that is not possible, SQLite says why when it tries.
    """
    with suppress(OSError):
        made = os.open(_real(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE)
        try:
            if os.name == "posix":
                os.fchmod(made, PRIVATE)
        finally:
            os.close(made)


def companions(path: Path) -> tuple[Path, Path]:
    """The write-ahead log of a database, and its index: SQLite keeps them beside the file itself."""
    real = _real(path)
    return real.with_name(f"{real.name}-wal"), real.with_name(f"{real.name}-shm")


def _real(path: Path) -> Path:
    """The file that a path leads to, as SQLite finds it; a loop of links is left for SQLite to refuse."""
    return Path(os.path.realpath(path))


def shared_files(path: Path) -> dict[Path, int]:
    """Those files of a database that other users of this machine may open, with their modes."""
    modes = {file: _mode(file) for file in (path, *companions(path))}
    return {file: mode for file, mode in modes.items() if mode & (stat.S_IRWXG | stat.S_IRWXO)}


def warn_of_shared(files: dict[Path, int]) -> None:
    """Say that others may open a storage; once in a process, and not where modes mean nothing."""
    first = next(iter(files), None)
    if first is None or first in _warned or os.name != "posix":
        return
    _warned.add(first)
    log.warning(
        "other users of this machine may open %s (mode %04o). It holds labels and hashes of tokens. "
        "To keep it private: chmod 600 %s",
        first,
        files[first],
        " ".join(shlex.quote(str(file)) for file in files),
    )


def _mode(path: Path) -> int:
    """The permissions of a file; none if it is not there."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
