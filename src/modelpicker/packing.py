"""Arrays in a form that JSON can hold: short ones as lists, long ones compressed, as text."""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

# Arrays of at most this many numbers are lists, which people can read.
SHORT = 64


def compressed(raw: bytes) -> str:
    """Bytes as text."""
    return base64.b85encode(zlib.compress(raw, 1)).decode("ascii")


def decompressed(text: object) -> bytes:
    """What `compressed` made text of; a ValueError if it cannot be."""
    try:
        return zlib.decompress(base64.b85decode(str(text)))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def packed(array: npt.NDArray[Any]) -> Any:
    """An array of numbers in a form that JSON can hold, the same on every machine.

    The first bytes of all numbers come first, then the second ones: that is what compresses well.
    """
    if array.size <= SHORT:
        return array.tolist()
    portable = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    by_place = portable.reshape(-1).view(np.uint8).reshape(-1, array.itemsize).T
    return {"type": portable.dtype.str, "shape": list(array.shape), "data": compressed(by_place.tobytes())}


def unpacked(value: object, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The array of `packed`, or of nested lists; a ValueError, KeyError or TypeError if it cannot be."""
    if not isinstance(value, Mapping):
        return np.array(value, dtype=dtype)
    kind, shape = np.dtype(value["type"]), tuple(int(side) for side in value["shape"])
    if kind != np.dtype(dtype).newbyteorder("<"):
        raise ValueError(f"it holds numbers of type {kind}, not {np.dtype(dtype)}")
    by_place = np.frombuffer(decompressed(value["data"]), np.uint8).reshape(kind.itemsize, -1)
    return np.ascontiguousarray(by_place.T).view(kind).reshape(shape).astype(dtype)
