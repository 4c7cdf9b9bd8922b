"""A whole stream, checked and encoded chunk by chunk, so that memory does not grow with it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.encoding import (
    ClassName,
    as_array,
    as_integers,
    cell_name,
    check_one_kind,
    check_same_kind,
    count_anew,
    plain,
    refuse,
)
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import ABSTAINED, NOBODY, SKIPPED, Codes, Ints, kernel_codes

# Rounds a chunk: enough to forget the cost of a call, few enough to stay in the processor's cache.
CHUNK_ROUNDS = 4096
# Codes address the kernels' tally directly, which starts small and grows to what a stream turns out to need;
# beyond that, codes are counted anew chunk by chunk.
FEW_CLASSES = 2**10
MANY_CLASSES = 2**20
# Rounds without a single 0 that give away classes of -1 and 1.
SIGNS_SEEN = 30


LookUpLabel: TypeAlias = Callable[[int], ClassName | None]
"""Gives the label of a row of the stream, by its place; None is a skip."""


class Chunk(NamedTuple):
    """Some consecutive rounds, ready for a kernel."""

    start: int
    rows: Codes
    labels: Codes
    classes: int
    names: Ints | None = None  # what a code stands for, if not for itself


class StreamInput:
    """Predictions and labels, checked and encoded as they are needed."""

    def __init__(self, predictions: object, labels: object, models: int) -> None:
        self.predictions = _as_matrix(predictions, models)
        self.look_up: LookUpLabel | None = labels if callable(labels) else None
        known = [SKIPPED] * len(self.predictions) if callable(labels) else labels
        self.labels = _as_column(known, len(self.predictions))
        self.numeric = self.predictions.dtype.kind in "buif"
        self._codes: dict[ClassName, int] = {}
        self._direct = FEW_CLASSES
        if self.numeric and len(self):
            self._take_numeric_labels()

    def _take_numeric_labels(self) -> None:
        """Check all labels of a numeric stream: there is but one per round."""
        if self.labels.dtype.kind in "buif":
            self.labels = as_integers(self.labels, "labels", 0)
        else:
            known = [self._label(row, [0]) for row in range(len(self))]
            self.labels = np.array([SKIPPED if label is None else label for label in known], dtype=np.int64)
        if self.labels.min() < ABSTAINED:
            refuse(self.labels < ABSTAINED, self.labels, "labels", 0)
        self._common_labels = bool(self.labels.max() < MANY_CLASSES)
        if self.look_up is None:  # of labels that nobody has seen nothing can be said
            _refuse_signs(self.predictions, self.labels)

    def __len__(self) -> int:
        return len(self.predictions)

    def decode(self, codes: Ints) -> tuple[Ints, tuple[ClassName, ...] | None]:
        """Codes as a trace shows them: classes that are numbers as they are, others by their place in a list."""
        names = tuple(self._codes)
        if self.numeric or not all(isinstance(name, int) for name in names):
            return codes, None if self.numeric else names
        return np.array([*names, ABSTAINED], dtype=np.int64)[codes], None

    def chunks(self) -> Iterator[Chunk]:
        """The whole stream in order; memory for one chunk at a time."""
        for start in range(0, len(self), CHUNK_ROUNDS):
            stop = min(start + CHUNK_ROUNDS, len(self))
            yield self._numbers(start, stop) if self.numeric else self._names(start, stop)

    def retry(self, start: int, stop: int) -> Chunk:
        """A chunk that a kernel could not take: an error, or with room for more classes, or counted anew."""
        values = as_integers(self.predictions[start:stop], "predictions", start)
        refuse(values < ABSTAINED, values, "predictions", start)
        largest = int(values.max())
        if largest < MANY_CLASSES:
            self._direct = 2 ** largest.bit_length()
            return self._numbers(start, stop)
        labels = self.labels[start:stop].astype(np.int64)
        said, rows = count_anew(values)
        names = np.array(said, dtype=np.int64)
        places = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        labels = np.where(labels == SKIPPED, SKIPPED, np.where(names[places] == labels, places, NOBODY))
        return Chunk(start, kernel_codes(rows), labels.astype(np.int32), len(names), names)

    def _numbers(self, start: int, stop: int) -> Chunk:
        """A chunk of a numeric matrix, its codes still unchecked."""
        values = as_integers(self.predictions[start:stop], "predictions", start)
        labels = self.labels[start:stop]
        if not self._common_labels:
            labels = np.where(labels < MANY_CLASSES, labels, NOBODY)
        return Chunk(start, kernel_codes(_within_reach(values)), labels.astype(np.int32), self._direct)

    def _names(self, start: int, stop: int) -> Chunk:
        """A chunk of strings, or of anything that is not simply numeric."""
        rows = np.empty((stop - start, self.predictions.shape[1]), dtype=np.int32)
        labels = np.empty(stop - start, dtype=np.int32)
        for i, row in enumerate(self.predictions[start:stop].tolist()):
            said = [
                value if type(value) is str else plain(value, cell_name("predictions", start + i, model))
                for model, value in enumerate(row)
            ]
            for model, name in enumerate(said):
                rows[i, model] = ABSTAINED if name is None else self._codes.setdefault(name, len(self._codes))
            names = [name for name in said if name is not None]
            check_one_kind(names, f"predictions, row {start + i}")
            label = self._label(start + i, names)
            labels[i] = SKIPPED if label is None else self._codes.get(label, NOBODY)
        return Chunk(start, kernel_codes(rows), labels, len(self._codes))

    def asked(self, chunk: Chunk) -> "AskedLabels | None":
        """The labels of a chunk, where they are looked up."""
        return None if self.look_up is None else AskedLabels(self, chunk, self.look_up)

    def code_of(self, chunk: Chunk, place: int, label: object) -> int:
        """The code of a label that was looked up for a row of a chunk."""
        where = f"label of row {chunk.start + place}"
        known = plain(label, where)
        if known is None:
            return SKIPPED
        said: list[ClassName] = [0]
        if not self.numeric:
            names = list(self._codes)
            said = [names[code] for code in chunk.rows[place].tolist() if code != ABSTAINED]
        check_same_kind(known, said, where)
        if not self.numeric:
            return self._codes.get(known, NOBODY)
        if chunk.names is not None:
            found = np.flatnonzero(chunk.names == known)
            return int(found[0]) if len(found) else NOBODY
        return int(known) if int(known) < MANY_CLASSES else NOBODY

    def _label(self, row: int, classes: Sequence[ClassName]) -> ClassName | None:
        """The label of a row whose models say these classes; None for a skip."""
        label = plain(self.labels[row], f"labels, row {row}")
        if label is not None:
            check_same_kind(label, classes, f"labels, row {row}")
        return label


class AskedLabels:
    """The labels of a chunk, each looked up when it is bought; for interpreted kernels."""

    def __init__(self, stream: StreamInput, chunk: Chunk, look_up: LookUpLabel) -> None:
        self.stream, self.chunk, self.look_up = stream, chunk, look_up
        self.codes = chunk.labels.copy()
        """What was looked up so far."""

    def __getitem__(self, place: int) -> int:
        label = self.look_up(self.chunk.start + place)
        code = self.stream.code_of(self.chunk, place, label)
        self.codes[place] = code
        return code


def _refuse_signs(predictions: npt.NDArray[Any], labels: npt.NDArray[Any]) -> None:
    """Classes named -1 and 1 would be taken for abstentions, skips and one single class."""
    if len(labels) >= SIGNS_SEEN and _all_signs(labels) and _all_signs(predictions):
        raise InputError(
            "predictions and labels are all -1 or 1, but -1 stands for an abstention or a skip; "
            "recode the classes to 0 and 1, or use strings."
        )


def _all_signs(values: npt.NDArray[Any]) -> bool:
    """Whether there is nothing but -1 and 1, and a -1 among them; a chunk at a time, for it may be a file."""
    if values.dtype.kind not in "if":
        return False
    chunks = (values[start : start + CHUNK_ROUNDS] for start in range(0, len(values), CHUNK_ROUNDS))
    return all((abs(chunk) == 1).all() for chunk in chunks) and bool(values.min() == ABSTAINED)


def _within_reach(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Wide integers made to fit into narrow ones; what no kernel can take stays something that it refuses."""
    narrow = values.dtype.itemsize <= np.dtype(np.int32).itemsize
    return values if narrow else np.clip(values, ABSTAINED - 1, MANY_CLASSES)


def _as_matrix(predictions: object, models: int) -> npt.NDArray[Any]:
    """Predictions as an array of rounds by models."""
    matrix = as_array(predictions, "predictions")
    if matrix.shape == (0,):
        matrix = matrix.reshape(0, models)
    if matrix.ndim != 2:
        hint = " Of class probabilities, take argmax(axis=-1)." if matrix.ndim == 3 else ""
        wanted = "pass a matrix with a row per round and a column per model."
        raise InputError(f"predictions have shape {matrix.shape}; {wanted}{hint}")
    if matrix.shape[1] != models:
        hint = " Are they transposed?" if matrix.shape[0] == models else ""
        wanted = f"but there are {models} models; pass one per model."
        raise InputError(f"predictions have {matrix.shape[1]} columns, {wanted}{hint}")
    return matrix


def _as_column(labels: object, rounds: int) -> npt.NDArray[Any]:
    """Labels as an array of one a round."""
    column = as_array(labels, "labels")
    if column.ndim != 1:
        flat = "; labels.ravel() makes it so" if column.shape == (rounds, 1) else ""
        raise InputError(
            f"labels have shape {column.shape}; pass one label per round, -1 where there is none{flat}."
        )
    if len(column) != rounds:
        raise InputError(
            f"there are {rounds} rows of predictions but {len(column)} labels; pass one label per row, "
            "-1 where there is none."
        )
    return column
