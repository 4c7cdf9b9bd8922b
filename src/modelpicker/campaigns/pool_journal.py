"""The answers of a person about a pool, in a file of JSON lines: each is on the disk before the next question.

The first line is a header with everything that decides which questions are asked. Then comes one line per answer.
Telling a pool these answers in their order gives the same pool again, so nothing else is kept. `--labels` reads the
file like the result of a pick.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, Self

from modelpicker.errors import ConflictError, FileError
from modelpicker.label import AnyLabel, as_document, read_label

FORMAT = "modelpicker pick pool 1"
START = f'{{"format": "{FORMAT}"'.encode()

KEPT = "All earlier answers are saved: make room, and run the same command again."


@dataclass(frozen=True)
class PoolAnswer:
    """What is known about an item."""

    item: int
    label: AnyLabel | None
    """None: nobody can tell."""
    known: bool = False
    """Whether the label was known before: then nobody was asked."""
    given: bool = False
    """Whether it is such a label that existed already, given with `warm`: then it is not among the labels used."""
    by: str | None = field(default=None, compare=False)
    """Who said so, if they gave a name."""
    time: float | None = field(default=None, compare=False)
    """When, in seconds since 1970; None if that is not known."""


class PoolJournal:
    """A journal that is open, and locked: nobody else can write to it."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self.path = path
        self._file = file
        self.header: dict[str, Any] | None = None
        """None in a journal that was not started."""
        self.answers: list[PoolAnswer] = []
        self._ends: list[int] = []
        """Where the lines end: that of the header first, then those of the answers."""
        self.torn = False
        """Whether the last line was incomplete, and dropped."""
        self._read()

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Self]:
        """Open a journal, or make one; it is locked until it is closed, and removed if nothing was written."""
        if path.exists() and not path.is_file():
            raise ConflictError(f"{path} is a folder or a device; pass another --out.")
        made = not path.exists()
        with explained(path, "Pass another --out."):
            file = path.open("a+b", buffering=0)
        with file:
            _lock(path, file)
            journal = cls(path, file)
            try:
                yield journal
            finally:
                if made and journal.header is None:
                    with suppress(OSError):
                        path.unlink()

    def begin(self, header: Mapping[str, Any]) -> None:
        """Write the first line."""
        self._append([{"format": FORMAT, **header}])
        self.header = dict(header)

    def write(self, *answers: PoolAnswer, **more: Any) -> None:
        """Write answers down, with more about them; they are on the disk when this returns."""
        told = {name: value for name, value in more.items() if value is not None}
        self._append([_line(answer) | told for answer in answers])
        self.answers += answers

    def undo(self) -> PoolAnswer | None:
        """Take back the last answer that a person gave; None if there is none."""
        place = next((n for n in reversed(range(len(self.answers))) if not self.answers[n].known), None)
        if place is None:
            return None
        taken, later = self.answers[place], self.answers[place + 1 :]
        with explained(self.path, KEPT):
            self._cut(self._ends[place])
            os.fsync(self._file.fileno())
        del self.answers[place:], self._ends[place + 1 :]
        self.write(*later)  # labels that were known
        return taken

    def _append(self, entries: list[dict[str, Any]]) -> None:
        """Write lines to the disk; if that fails, the file is as it was."""
        lines = [json.dumps(entry).encode() + b"\n" for entry in entries]
        end = self._ends[-1] if self._ends else 0
        with explained(self.path, KEPT):
            try:
                left = memoryview(b"".join(lines))
                while left:
                    left = left[self._file.write(left) :]
                os.fsync(self._file.fileno())
            except OSError:
                with suppress(OSError):
                    self._cut(end)
                raise
        for line in lines:
            end += len(line)
            self._ends.append(end)

    def _cut(self, end: int) -> None:
        self._file.truncate(end)

    def _read(self) -> None:
        """Read all lines; one that a crash tore is dropped."""
        with explained(self.path, "Pass another --out."):
            self._file.seek(0)
            content = self._file.read()
        if not content.startswith(START) and not START.startswith(content):
            raise ConflictError(f"{self.path} exists and has no answers about a pool; pass another --out.")
        found = _parse(self.path, content)
        self.header, self.answers, self._ends, self.torn = found
        end = self._ends[-1] if self._ends else 0
        if self.torn:
            with explained(self.path, KEPT):
                self._cut(end)


class ParsedJournal(NamedTuple):
    """What a journal holds."""

    header: dict[str, Any] | None
    answers: list[PoolAnswer]
    ends: list[int]
    torn: bool


def read_journal(path: Path) -> ParsedJournal:
    """What a journal holds by now, without a lock: somebody may be answering. A torn line is left out."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    return _parse(path, content)


def _parse(path: Path, content: bytes) -> ParsedJournal:
    *lines, rest = content.split(b"\n")
    header: dict[str, Any] | None = None
    answers: list[PoolAnswer] = []
    ends: list[int] = []
    end = 0
    for number, line in enumerate(lines, 1):
        end += len(line) + 1
        entry = _entry(line, answer=number > 1)
        if entry is None:
            raise FileError(
                f"{path}, line {number}: this is not an answer about a pool, so the file is damaged. "
                "Restore it from a copy, or remove this line and all that follow."
            )
        if number == 1:
            header = entry
        else:
            answers.append(_answer(entry))
        ends.append(end)
    return ParsedJournal(header, answers, ends, bool(rest))


def _answer(entry: Mapping[str, Any]) -> PoolAnswer:
    """An answer as it was written; what is beside it may have been changed by hand."""
    by, time = entry.get("by"), entry.get("time")
    return PoolAnswer(
        entry["item"],
        read_label(entry["label"]),
        bool(entry.get("known")),
        bool(entry.get("known") and entry.get("given")),
        by if isinstance(by, str) else None,
        float(time) if isinstance(time, int | float) and not isinstance(time, bool) else None,
    )


def read_header(path: Path) -> dict[str, Any] | None:
    """What a journal was started with; None if there is no journal."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                line = file.readline(2**24)
            return _entry(line, answer=False) if line.startswith(START) else None
    return None


def _line(answer: PoolAnswer) -> dict[str, Any]:
    """An answer as it is written."""
    marks = {"known": answer.known, "given": answer.given}
    said = {name: True for name, holds in marks.items() if holds}
    return {"item": answer.item, "label": as_document(answer.label), **said}


def _entry(line: bytes, *, answer: bool) -> dict[str, Any] | None:
    """A line of the file; None if it is damaged."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    if answer and not (type(entry.get("item")) is int and _is_label(entry.get("label", 0.5))):
        return None
    return entry


def _is_label(value: object) -> bool:
    """Whether a line has a label, or says that nobody can tell."""
    try:
        read_label(value)
    except ValueError:
        return False
    return not isinstance(value, float)


def _lock(path: Path, file: FileIO) -> None:
    """Keep other terminals out."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ConflictError(
            f"{path} is in use: somebody is answering at another terminal. Wait until they are done, "
            "or pass another --out."
        ) from error
    except OSError:  # a file system without locks
        return


@contextmanager
def explained(path: Path, advice: str) -> Iterator[None]:
    """Turn a failure to read or write into a sentence, with what to do."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}. {advice}") from error
