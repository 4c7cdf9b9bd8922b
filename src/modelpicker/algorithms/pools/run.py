"""A whole pool at once: ask, tell, and write down what was recommended after each label."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.validation import check_count
from modelpicker.certificates.certificate import Certificate
from modelpicker.encoding import ModelName, as_array
from modelpicker.errors import InputError, brief
from modelpicker.frames import Backend, make_frame
from modelpicker.kernels.primitives import SKIPPED, Ints
from modelpicker.label import AnyLabel, read_label

PoolStopped: TypeAlias = Literal["end", "budget", "certified"]
TellLabel: TypeAlias = Callable[[int], AnyLabel | None]
"""Gives the label of an item of a pool, by its number; None if nobody can tell."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PoolTrace:
    """What happened to a pool in one call; arrays have one entry per label.

    >>> import modelpicker as mp
    >>> trace = mp.run_pool(mp.PoolPicker(mp.load_collection("digits"), tolerance=0.05))
    >>> trace.labels_used == len(trace.items)
    True
    """

    items: Ints
    """The items that were labelled, in order."""
    recommended: npt.NDArray[np.int32]
    """The model that was recommended after each label, as an index."""
    labels_used: int
    """Labels told in this call; items that nobody could label are not among them."""
    winner: ModelName
    """The model that is recommended in the end."""
    certificate: Certificate
    """What is proven about it."""
    stopped: PoolStopped
    """Why it ended: the pick was `certified`, the `budget` was spent, or nothing was left to ask (`end`)."""
    skipped: Ints
    """The items that were asked about and that nobody could label."""
    gaps: npt.NDArray[np.float64]
    """By how much at most another model could be better, as proven after each label; 1.0 where nothing was."""

    def __len__(self) -> int:
        return len(self.items)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """One row per label: the item, the place of the model recommended then, and the gap that was proven.

        A data frame of "pandas", "polars" or "pyarrow": by default of pandas if it is installed, else of PyArrow.

        >>> import modelpicker as mp
        >>> trace = mp.run_pool(mp.PoolPicker(mp.load_collection("digits"), tolerance=0.05))
        >>> trace.to_frame("pyarrow").num_rows == trace.labels_used
        True
        """
        columns = {"item": self.items, "recommended": self.recommended, "gap": self.gaps}
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        return f"PoolTrace(labels_used={self.labels_used}, winner={self.winner!r}, stopped={self.stopped!r})"


def run_pool(pool: PoolPicker, labels: object = None, *, budget: int | None = None) -> PoolTrace:
    """Ask about one item after the other until the pool is done, or the budget is spent.

    Args:
        pool: moved on by the labels that are told.
        labels: where they come from: an array or a list with one label per item, -1 or None where nobody can tell;
            a mapping by the numbers of the items; or a function that is given the number of an item. By default
            those that came with the predictions. Whole numbers in an array are codes if the pool is a collection's.
        budget: at most this many labels are told in this call.

    >>> import modelpicker as mp
    >>> pool = mp.PoolPicker(mp.load_collection("digits"), tolerance=0.02)
    >>> trace = mp.run_pool(pool)
    >>> pool.recommended, trace.labels_used
    ('svm-gaussian', 57)
    """
    if not isinstance(pool, PoolPicker):
        raise InputError(f"{brief(pool)} is not a pool; pass a PoolPicker, such as mp.PoolPicker(collection).")
    if budget is not None:
        budget = check_count("budget", budget)
    tell = _teller(pool, labels)
    items: list[int] = []
    skipped: list[int] = []
    recommended: list[int] = []
    gaps: list[float] = []
    stopped: PoolStopped = "end"
    before = pool.labels_used
    waiting = pool.open_items  # asked about before this call
    while True:
        if pool.done:
            stopped = "certified" if pool.certified else "end"
            break
        if budget is not None and pool.labels_used - before >= budget:
            stopped = "budget"
            break
        asked = [waiting.pop(0)] if waiting else pool.ask(1)
        if not asked:
            break
        if tell(asked[0]):
            items.append(asked[0])
            recommended.append(pool.recommended_index)
            gaps.append(pool.certificate(pool.confidence).gap)
        else:
            skipped.append(asked[0])
    return PoolTrace(
        np.array(items, dtype=np.int64),
        np.array(recommended, dtype=np.int32),
        pool.labels_used - before,
        pool.recommended,
        pool.certificate(pool.confidence),
        stopped,
        np.array(skipped, dtype=np.int64),
        np.array(gaps, dtype=np.float64),
    )


def _teller(pool: PoolPicker, labels: Any) -> Callable[[int], bool]:
    """What tells the pool the label of an item, and says whether there is one."""
    if labels is None:
        labels = pool.source.labels
        if labels is None:
            raise InputError("there are no labels: pass labels=, an array, a mapping, or a function to ask.")
        return _codes_teller(pool, labels)
    if callable(labels):
        return _names_teller(pool, labels)
    if isinstance(labels, Mapping):
        return _names_teller(pool, labels.get)
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise InputError(f"labels {brief(labels)}: pass an array, a mapping, or a function to ask.")
    if len(labels) != len(pool):
        raise InputError(
            f"there are {len(labels):,} labels, but the pool has {len(pool):,} items; pass one per item."
        )
    if not isinstance(labels, list | tuple):
        labels = as_array(labels, "labels")  # by place: a column of a frame has an index of its own
    codes = isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and pool.source.collected
    return _codes_teller(pool, labels) if codes else _names_teller(pool, lambda item: labels[item])


def _codes_teller(pool: PoolPicker, labels: Any) -> Callable[[int], bool]:
    def tell(item: int) -> bool:
        code = int(labels[item])
        pool.tell_code(item, None if code == SKIPPED else code)
        return code != SKIPPED

    return tell


def _names_teller(pool: PoolPicker, look_up: Callable[[int], Any]) -> Callable[[int], bool]:
    def tell(item: int) -> bool:
        label = read_label(look_up(item), f"label of item {item}")
        pool.tell(item, label)
        return label is not None

    return tell
