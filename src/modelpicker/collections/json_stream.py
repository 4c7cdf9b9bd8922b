"""JSON documents read piece by piece: a large array is never held whole."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from modelpicker.errors import FileError, InputError

# Characters that are read first; a value that is longer is read in pieces of twice the size.
CHUNK = 2**16
# No row, and no value beside the rows, is longer than this: read into memory, a value takes many times its length.
LONGEST = 2**26
SPACE = " \t\n\r"


class JsonStream:
    """A JSON text, read from its beginning as far as it is needed."""

    def __init__(self, file: IO[str], longest: int | None = LONGEST) -> None:
        """`longest` is the most characters of one value; None for no limit."""
        self._file = file
        self._longest = longest
        self._text = ""
        self._place = 0
        self._ended = False
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            while self._place < len(self._text):
                if self._text[self._place] not in SPACE:
                    return self._text[self._place]
                self._place += 1
            if not self._more(CHUNK):
                return ""

    def take(self, wanted: str) -> None:
        """Go past one character, which must be there."""
        found = self.peek()
        if found != wanted:
            raise ValueError(f"{found!r} stands where {wanted!r} should be" if found else "it ends too early")
        self._place += 1

    def value(self) -> Any:
        """The next value, whole."""
        self.peek()
        chunk = CHUNK
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._place)
                if end < len(self._text) or self._ended:  # a number may continue
                    self._place = end
                    return found
            except json.JSONDecodeError as error:
                if self._ended:
                    raise ValueError(error.msg if self._place < len(self._text) else "it ends too early") from error
            except RecursionError as error:
                raise ValueError("it is nested too deeply") from error
            if self._longest is not None and len(self._text) - self._place > self._longest:
                raise ValueError(f"one value is longer than {self._longest:,} characters")
            self._more(chunk)
            chunk *= 2

    def members(self) -> Iterator[str]:
        """The keys of an object; whoever iterates reads each value before the next key."""
        self.take("{")
        while self.peek() != "}":
            key = self.value()
            if not isinstance(key, str):
                raise ValueError(f"{key!r} is not a key")
            self.take(":")
            yield key
            if self.peek() != "}":
                self.take(",")
        self.take("}")

    def elements(self) -> Iterator[Any]:
        """The elements of an array, one at a time."""
        self.take("[")
        while self.peek() != "]":
            yield self.value()
            if self.peek() != "]":
                self.take(",")
        self.take("]")

    def _more(self, count: int) -> bool:
        """Read on; False at the end."""
        if self._ended:
            return False
        read = self._file.read(count)
        self._ended = not read
        self._text, self._place = self._text[self._place :] + read, 0
        return bool(read)


def walk(stream: JsonStream, path: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """The members of a document: each with its key, in the order of the text.

    Args:
        stream: at the beginning of an object, or of an array if there is no path.
        path: the keys that lead to an array. Its elements come one at a time, under the last of these keys.
            Members beside that path come whole.
    """
    if not path:
        yield from (("", element) for element in stream.elements())
        return
    for key in stream.members():
        if key != path[0] or stream.peek() != ("[" if len(path) == 1 else "{"):
            yield key, stream.value()
        elif len(path) == 1:
            yield from ((key, element) for element in stream.elements())
        else:
            yield from walk(stream, path[1:])


@contextmanager
def open_json(path: Path, longest: int | None = LONGEST) -> Iterator[JsonStream]:
    """A JSON file; what is wrong with it becomes one sentence."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield JsonStream(file, longest)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not written in UTF-8; save it as UTF-8 and try again.") from error
    except ValueError as error:
        raise InputError(f"{path} is damaged or cut short: it is not JSON ({error}). Write it again.") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; an error names the line."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST), ""), start=1):
                if len(line) == LONGEST and not line.endswith("\n"):
                    raise InputError(f"{path}, line {number:,}: this line is longer than {LONGEST:,} characters.")
                if line.strip():
                    yield _object(path, number, line)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not written in UTF-8; save it as UTF-8 and try again.") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    """One line, which must be an object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith("\n") else " It is the last line: the file seems to be cut short."
        raise InputError(f"{path}, line {number:,}: this line is not JSON ({error}).{cut}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}, line {number:,}: this line is not an object.")
    return found
