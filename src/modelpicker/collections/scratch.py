"""Files that are gone when nobody needs them any more: what does not fit into memory is kept there."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
import numpy.typing as npt

from modelpicker.encoding import Array
from modelpicker.errors import FileError

# Numbers that are sorted at once.
SORTED = 2**23


@contextmanager
def _room() -> Iterator[None]:
    """Turn a full disk into one sentence."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"{tempfile.gettempdir()} cannot take what does not fit into memory ({error.strerror or error}). "
            "Make room, or let TMPDIR name a folder on a larger disk."
        ) from error


class KeptArray(NamedTuple):
    """Where an array is in a file, and of what form."""

    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class ScratchFile:
    """Arrays in a file without a name, in the order in which they came."""

    def __init__(self) -> None:
        with _room():
            self._file = tempfile.TemporaryFile(prefix="modelpicker-")  # noqa: SIM115  # as long as this object
        finalize(self, self._file.close)  # what is mapped stays
        self._size = 0

    def add(self, values: Array) -> KeptArray:
        """Keep an array; where it is."""
        kept = KeptArray(self._size, values.dtype, values.shape)
        with _room():
            self._file.seek(self._size)
            self._file.write(np.ascontiguousarray(values).data if values.size else b"")
        self._size += values.nbytes
        return kept

    def get(self, kept: KeptArray) -> Array:
        """An array that was kept, read into memory."""
        self._file.seek(kept.start)
        content = self._file.read(int(np.prod(kept.shape)) * kept.dtype.itemsize)
        return np.frombuffer(content, dtype=kept.dtype).reshape(kept.shape)

    def mapped(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        """All that was kept as one array, which is read from the file where it is looked at."""
        if not self._size:
            return np.zeros(shape, dtype=dtype)
        with _room():
            self._file.flush()
            return np.asarray(np.memmap(self._file, dtype=dtype, mode="r", shape=shape))


def repeated(scratch: ScratchFile, count: int) -> set[int]:
    """The numbers that occur more than once among that many; a part of them is sorted at a time."""
    numbers: npt.NDArray[np.uint64] = scratch.mapped(np.dtype(np.uint64), (count,))
    parts = max(1, -(-count // SORTED))
    again: set[int] = set()
    for part in range(parts):
        pieces = (numbers[start : start + SORTED] for start in range(0, count, SORTED))
        some = np.sort(np.concatenate([np.zeros(0, np.uint64), *(p[p % np.uint64(parts) == part] for p in pieces)]))
        again |= set(some[1:][some[1:] == some[:-1]].tolist())
    return again
