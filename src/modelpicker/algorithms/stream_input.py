"""A whole stream, checked and encoded chunk by chunk, so that memory does not grow with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.told_labels import ToldLabel, check_answers, grade_rows
from modelpicker.encoding import (
    ClassName,
    as_array,
    as_integers,
    cell_name,
    check_one_kind,
    check_same_kind,
    count_anew,
    is_not_run,
    plain,
    refuse,
)
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import (
    ABSTAINED,
    GRADED,
    NOBODY,
    NOT_RUN,
    SKIPPED,
    Codes,
    Grades,
    Ints,
    kernel_codes,
)
from modelpicker.label import AnyLabel, Label, read_label
from modelpicker.losses import ACCURATE, Loss

# Rounds a chunk: enough to forget the cost of a call, few enough to stay in the processor's cache.
CHUNK_ROUNDS = 4096
# Codes address the kernels' tally directly, which starts small and grows to what a stream turns out to need;
# beyond that, codes are counted again chunk by chunk.
FEW_CLASSES = 2**10
MANY_CLASSES = 2**20
# Rounds without a single 0 that give away classes of -1 and 1.
SIGNS_SEEN = 30


LookUpLabel: TypeAlias = Callable[[int], AnyLabel | None]
"""Gives the label of a row of the stream, by its place; None is a skip."""


class Chunk(NamedTuple):
    """Some consecutive rounds, ready for a kernel."""

    start: int
    rows: Codes
    labels: Codes
    classes: int
    names: Ints | None = None  # what a code stands for, if not for itself
    graded: Grades | None = None  # the losses that labels from GRADED down stand for


class StreamInput:
    """Predictions and labels, checked and encoded as they are needed."""

    def __init__(self, predictions: object, labels: object, models: int, loss: Loss = ACCURATE) -> None:
        self.loss = loss
        self.predictions = _as_matrix(predictions, models)
        self.look_up: LookUpLabel | None = labels if callable(labels) else None
        known = [SKIPPED] * len(self.predictions) if callable(labels) else labels
        self.labels, self._graded = _set_aside(_as_column(known, len(self.predictions)))
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
            yield self._grade(self._numbers(start, stop) if self.numeric else self._names(start, stop))

    def retry(self, start: int, stop: int) -> Chunk:
        """A chunk that a kernel could not take: an error, or with room for more classes, or counted again."""
        values = as_integers(self.predictions[start:stop], "predictions", start)
        refuse(values < NOT_RUN, values, "predictions", start)
        largest = int(values.max())
        if largest < MANY_CLASSES:
            self._direct = 2 ** largest.bit_length()
            return self._grade(self._numbers(start, stop))
        labels = self.labels[start:stop].astype(np.int64)
        said, rows = count_anew(values)
        names = np.array(said, dtype=np.int64)
        places = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        labels = np.where(labels == SKIPPED, SKIPPED, np.where(names[places] == labels, places, NOBODY))
        return self._grade(Chunk(start, kernel_codes(rows), labels.astype(np.int32), len(names), names))

    def _grade(self, chunk: Chunk) -> Chunk:
        """The chunk, with the losses that its labels stand for where they are more than right and wrong."""
        stop = chunk.start + len(chunk.rows)
        special = {row: label for row, label in self._graded.items() if chunk.start <= row < stop}
        if not self.loss.plain:
            told = chunk.start + np.flatnonzero(chunk.labels != SKIPPED)
            special |= {row: _as_class(self.labels[row]) for row in told.tolist()}
        if not special:
            return chunk
        places = np.array(list(special)) - chunk.start
        answers = self._answers(chunk)
        for row, label in special.items():
            check_answers(label, [0] if self.numeric else answers[:1], f"labels, row {row}")
        labels = chunk.labels.copy()
        labels[places] = GRADED - np.arange(len(places))
        graded = grade_rows(list(special.values()), chunk.rows[places], answers, self.loss)
        return chunk._replace(labels=labels, graded=graded)

    def _answers(self, chunk: Chunk) -> Sequence[ClassName]:
        """What the codes of a chunk stand for."""
        if not self.numeric:
            return list(self._codes)
        return range(MANY_CLASSES + 1) if chunk.names is None else chunk.names.tolist()

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
            names = []
            for model, value in enumerate(row):
                if is_not_run(value):
                    rows[i, model] = NOT_RUN
                    continue
                name = value if type(value) is str else plain(value, cell_name("predictions", start + i, model))
                rows[i, model] = ABSTAINED if name is None else self._codes.setdefault(name, len(self._codes))
                if name is not None:
                    names.append(name)
            check_one_kind(names, f"predictions, row {start + i}")
            label = self._label(start + i, names)
            labels[i] = SKIPPED if label is None else self._codes.get(label, NOBODY)
        return Chunk(start, kernel_codes(rows), labels, len(self._codes))

    def asked(self, chunk: Chunk) -> "AskedLabels | None":
        """The labels of a chunk, where they are looked up."""
        return None if self.look_up is None else AskedLabels(self, chunk, self.look_up)

    def told_of(self, chunk: Chunk, place: int, label: object) -> ToldLabel:
        """A label that was looked up for a row of a chunk."""
        where = f"label of row {chunk.start + place}"
        known = read_label(label, where)
        if known is None:
            return ToldLabel(SKIPPED)
        if not isinstance(known, Label) and self.loss.plain:
            return ToldLabel(self._code_of(chunk, place, known, where))
        answers = self._answers(chunk)
        check_answers(known, [0] if self.numeric else answers[:1], where)
        losses = grade_rows([known], chunk.rows[place : place + 1], answers, self.loss)
        return ToldLabel(GRADED, tuple(losses[0].tolist()))

    def _code_of(self, chunk: Chunk, place: int, known: ClassName, where: str) -> int:
        """The code of a class that is the label of a row of a chunk."""
        said: list[ClassName] = [0]
        if not self.numeric:
            names = list(self._codes)
            said = [names[code] for code in chunk.rows[place].tolist() if code >= 0]
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
        self.graded = GradeRows()
        """The losses that some of these stand for."""

    def __getitem__(self, place: int) -> int:
        label = self.look_up(self.chunk.start + place)
        told = self.stream.told_of(self.chunk, place, label)
        code = told.code
        if code == GRADED:
            code = GRADED - len(self.graded.rows)
            self.graded.rows.append(told.losses)
        self.codes[place] = code
        return code

    def table(self, models: int) -> Grades:
        """The losses that were looked up, for kernels that are compiled."""
        return np.array(self.graded.rows, dtype=np.float32).reshape(-1, models)


class GradeRows:
    """Losses, a row per label, that grow as labels are looked up; for interpreted kernels."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []

    def __getitem__(self, place: tuple[int, int]) -> float:
        return self.rows[place[0]][place[1]]


def _refuse_signs(predictions: npt.NDArray[Any], labels: npt.NDArray[Any]) -> None:
    """Classes named -1 and 1 would be taken for abstentions, skips and one single class."""
    if len(labels) >= SIGNS_SEEN and _all_signs(labels) and _all_signs(predictions):
        raise InputError(
            "predictions and labels are all -1 or 1, but -1 stands for an abstention or a skip; "
            "recode the classes to 0 and 1, or use strings."
        )


def _all_signs(values: npt.NDArray[Any]) -> bool:
    """Whether there is nothing but -1 and 1, and a -1 among them; a chunk at a time, for it may be a file."""
    if values.dtype.kind not in "if" or values.min() != ABSTAINED:
        return False
    chunks = (values[start : start + CHUNK_ROUNDS] for start in range(0, len(values), CHUNK_ROUNDS))
    return all((abs(chunk) == 1).all() for chunk in chunks)


def _within_reach(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Wide integers made to fit into narrow ones; what no kernel can take stays something that it refuses."""
    narrow = values.dtype.itemsize <= np.dtype(np.int32).itemsize
    return values if narrow else np.clip(values, NOT_RUN - 1, MANY_CLASSES)


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


def _as_class(label: Any) -> ClassName:
    """A label that was checked before, as a class."""
    return label if isinstance(label, str) else int(label)


def _set_aside(column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], dict[int, AnyLabel]]:
    """The column with a skip in place of every label that is more than a class, and those labels by their rows."""
    if column.dtype.kind != "O":
        return column, {}
    special = {
        row: read_label(label, f"labels, row {row}")
        for row, label in enumerate(column.tolist())
        if isinstance(label, Label | Mapping)
    }
    if special:
        column = column.copy()
        column[list(special)] = SKIPPED
    return column, {row: label for row, label in special.items() if label is not None}


def _as_column(labels: object, rounds: int) -> npt.NDArray[Any]:
    """Labels as an array of one per round."""
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
