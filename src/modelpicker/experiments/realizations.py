"""Realizations: streams drawn at random from a collection, each known by its number alone.

A stream depends on the seed and its number, the coins of a method on the seed, the number and the method's label.
So it does not matter which worker plays what, in which order, or which other methods take part; and a method meets
the same stream and the same coins whatever its hyperparameter: common random numbers.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.philox import draw_many
from modelpicker.kernels.primitives import Codes, Floats, Ints, kernel_codes


class Pool(NamedTuple):
    """The items that streams are drawn from: what every model says, and the label."""

    predictions: npt.NDArray[Any]
    labels: Codes


class Realization(NamedTuple):
    """One stream, and the truth about it."""

    rows: Codes
    labels: Codes
    mistakes: Ints  # of each model on the whole stream
    best: int  # the first of the models that make the fewest


def key_of(*parts: object) -> int:
    """A key for Philox that stands for these parts, and practically for no others."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def draw(pool: Pool, size: int, seed: int, streams: str, number: int) -> Realization:
    """A stream of `size` different items in random order."""
    places = np.arange(len(pool.labels))
    coins = draw_many(key_of(seed, streams, number), 0, -(-size // 4)).reshape(-1)
    _shuffle(places, coins, size)
    items = places[:size]
    rows, labels = kernel_codes(pool.predictions[items]), kernel_codes(pool.labels[items])
    mistakes = np.count_nonzero(rows != labels[:, None], axis=0)
    return Realization(rows, labels, mistakes, int(mistakes.argmin()))


def coins_of(method: str, rounds: int, seed: int, streams: str, number: int) -> Floats:
    """The coins of a method on a stream."""
    return draw_many(key_of(seed, streams, number, method), 0, rounds)


def shuffle(places: Ints, coins: Floats, size: int) -> None:
    """Put `size` of the places, drawn without replacement, to the front."""
    for i in range(size):
        j = i + int(coins[i] * (len(places) - i))
        places[i], places[j] = places[j], places[i]


_shuffle = CompiledKernel(shuffle, {}, "random orders")
