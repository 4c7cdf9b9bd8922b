"""The result file of a pick: a line of settings, a line a decision, and a line that says what came of it.

While a person is asked, the same file is what a stopped session goes on from: an answer is on the disk before the
next question is shown, and a line that was cut off by a crash is dropped.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from modelpicker.errors import ConflictError, FileError, InputError

FORMAT = "modelpicker pick 1"
# Settings that change no decision.
MAY_CHANGE = ("collection", "version", "budget", "stop_when", "labels_known")


@contextmanager
def written_to(path: Path) -> Iterator[None]:
    """Turn a failure to read or write into one sentence."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"{path} cannot be written: {error.strerror or error}. What was written before is safe."
        ) from error


class Journal:
    """A result file that is being written, and from which a session can go on."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = {"format": FORMAT, **settings}
        self.rounds: list[dict[str, Any]] = []
        """Decisions that were in the file when it was opened."""
        self.places: list[int] = []
        """Where each of them begins."""
        self._file: IO[bytes] | None = None

    def start_anew(self) -> None:
        """A new file; one that holds answers of a person, or that is no result of a pick, is not overwritten."""
        self._refuse_to_overwrite()
        self._hold()
        self._cut(0)
        self.write(self.settings)

    def go_on(self) -> None:
        """The file as it was left, if it is of the same pick; else a new one."""
        self._refuse_odd_files()
        if not self.path.exists():
            self.start_anew()
            return
        self._hold()
        with written_to(self.path):
            lines = self._open.read().splitlines(keepends=True)
        entries = self._entries(lines)
        if not entries:  # nothing but a first line that was cut off
            self._cut(0)
            self.write(self.settings)
            return
        self._check_settings(entries[0])
        places = [0, *accumulate(len(line) for line in lines)]
        self.rounds = entries[1:-1] if "pick" in entries[-1] else entries[1:]
        for number, entry in enumerate(self.rounds):
            if entry.get("round") != number:
                raise InputError(f"{self.path}, line {number + 2} is not of round {number}; pass another --out.")
        self.places = places[1 : 1 + len(self.rounds)]
        self._cut(places[1 + len(self.rounds)])

    def _hold(self) -> None:
        """Open the file for this process alone."""
        with written_to(self.path):
            self.path.touch()
            self._file = self.path.open("r+b")
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConflictError(f"{self.path} is in use by another pick; pass another --out.") from error

    def _entries(self, lines: list[bytes]) -> list[dict[str, Any]]:
        """What the lines hold; the last may have been cut off, any other must be whole."""
        entries = [_sound(line) for line in lines]
        if entries and entries[-1] is None and (len(entries) > 1 or _cut_off(lines[0])):
            entries.pop()
        for number, entry in enumerate(entries, start=1):
            if entry is None:
                raise InputError(f"{self.path}, line {number} is damaged; mend it, or pass another --out.")
        return [entry for entry in entries if entry is not None]

    def place(self) -> int:
        """Where the next line will be written; `undo_to` goes back to it."""
        return self._open.tell()

    def write(self, entry: dict[str, Any]) -> None:
        """One more line, which may still be on its way to the disk."""
        with written_to(self.path):
            self._open.write(_line(entry))

    def write_lines(self, lines: list[str]) -> None:
        """Many lines at once."""
        with written_to(self.path):
            self._open.write("".join(lines).encode())

    def secure(self) -> None:
        """Everything so far is on the disk."""
        with written_to(self.path):
            self._open.flush()
            os.fsync(self._open.fileno())

    def undo_to(self, place: int) -> None:
        """Forget the lines from a place on."""
        with written_to(self.path):
            self._open.flush()
            self._cut(place)

    def close(self) -> None:
        """Everything is on the disk, and the file closed."""
        if self._file is not None:
            self.secure()
            self._file.close()
            self._file = None

    @property
    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise FileError(f"{self.path} is not open.")
        return self._file

    def _cut(self, place: int) -> None:
        self._open.truncate(place)
        self._open.seek(place)

    def _refuse_odd_files(self) -> None:
        with written_to(self.path):
            if self.path.exists() and not self.path.is_file():
                raise ConflictError(f"{self.path} is a folder or a device; pass another --out.")

    def _refuse_to_overwrite(self) -> None:
        self._refuse_odd_files()
        if not self.path.exists() or not self.path.stat().st_size:
            return
        with written_to(self.path), self.path.open("rb") as file:
            first = _sound(file.readline(2**24)) or {}
        if first.get("format") != FORMAT:
            raise ConflictError(f"{self.path} exists and is no result of a pick; pass another --out.")
        if first.get("labels") == "asked":
            raise ConflictError(f"{self.path} is of a pick in which a person was asked; pass another --out.")

    def _check_settings(self, found: dict[str, Any]) -> None:
        """The file must be of the same pick, or its answers would be put to other questions."""
        if found.get("format") != FORMAT:
            raise ConflictError(
                f"{self.path} exists and is no result of a pick; pass another --out, or move it away."
            )
        for key, value in json.loads(_line(self.settings)).items():
            if found.get(key) != value and key not in MAY_CHANGE:
                raise ConflictError(
                    f"{self.path} is of another pick: its {key} is {json.dumps(found.get(key))[:60]}, here it is "
                    f"{json.dumps(value)[:60]}. Pass another --out, or the same settings to go on."
                )


def begun_options(path: Path, algorithm: str) -> dict[str, Any]:
    """The options of a pick that was begun with this algorithm, to go on with; none if there is no such file."""
    try:
        if not path.is_file():
            return {}
        with path.open("rb") as file:
            first = _sound(file.readline(2**24))
    except OSError:
        return {}
    begun = first is not None and first.get("format") == FORMAT and first.get("algorithm") == algorithm
    options = first.get("options") if first and begun else None
    return options if isinstance(options, dict) else {}


def _cut_off(line: bytes) -> bool:
    """Whether a line may be the beginning of a first line."""
    return not line.endswith(b"\n") and b'{"format": "modelpicker'.startswith(line[:20])


def _line(entry: dict[str, Any]) -> bytes:
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode()


def _sound(line: bytes) -> dict[str, Any] | None:
    """The entry of a line; None if the line is damaged or cut off."""
    try:
        entry = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None
