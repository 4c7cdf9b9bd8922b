"""What a pool is made of: a matrix, a collection or a data frame, checked and encoded."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.pools.kept_rows import KeptRows
from modelpicker.algorithms.validation import check_models
from modelpicker.certificates.pool_scores import Flags
from modelpicker.encoding import Array, ClassName, ModelName, as_array, check_same_kind, encode_table, plain
from modelpicker.errors import InputError, brief
from modelpicker.frames import LABEL, NOT_MODELS, as_columns, matrix_of
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN, Codes, Ints, kernel_codes

PIECE = 2**16


class PoolInput(NamedTuple):
    """The predictions of a pool as codes."""

    codes: Array
    """One row per item; of a pool that keeps only some of its items, their rows."""
    labels: Array | None
    """Codes as well, where the source has labels."""
    models: tuple[ModelName, ...]
    classes: tuple[ClassName, ...]
    collected: bool
    """Whether it came from a collection: whole numbers that are given as labels are then codes."""
    kept: KeptRows | None = None
    """The items that are kept, if not all are."""

    @property
    def items(self) -> int:
        """How many items there are, kept or not."""
        return len(self.codes if self.kept is None else self.kept)

    def contested(self) -> tuple[Ints, Codes]:
        """The items on which models differ, and their rows in the form that kernels take."""
        places = contested_items(self.codes)
        if self.kept is None:
            return places, contested_rows(self.codes, places)
        if len(places) == len(self.codes):  # as they are: they may be a file that is mapped into memory
            return self.kept.places, kernel_codes(self.codes)
        return self.kept.places[places], contested_rows(self.codes, places)

    def row(self, item: int) -> Codes:
        """What the models say about an item."""
        return kernel_codes(self.rows(np.array([item]))[0])

    def rows(self, items: Ints) -> Array:
        """What the models say about some items."""
        found: Array = self.codes[items] if self.kept is None else self.kept.rows(items)
        return found

    def said_by(self, model: int) -> Array:
        """What a model says about all items."""
        found: Array = self.codes[:, model] if self.kept is None else self.kept.said_by(model)
        return found

    def every_row(self, what: str) -> Array:
        """The rows of all items; an error where only some are kept."""
        if self.kept is None:
            return self.codes
        raise InputError(
            f"{what} needs the answers to all items, but only those to the {len(self.codes):,} of {self.items:,} "
            "items on which models differ are in memory. Read the file without an engine."
        )


def read_pool(predictions: Any, models: object) -> PoolInput:
    """Predictions in any form that is taken, with the names of the models."""
    if isinstance(kept := getattr(predictions, "kept", None), KeptRows):
        classes = tuple(predictions.classes)
        return _checked(kept.codes, predictions.labels, predictions.models, classes, True)._replace(kept=kept)
    if hasattr(predictions, "read") and hasattr(predictions, "batches"):
        predictions = predictions.read()  # a file that was opened
    if hasattr(predictions, "predictions") and hasattr(predictions, "classes"):
        codes, names = _some_models(predictions, models)
        return _checked(codes, predictions.labels, names, tuple(predictions.classes), True)
    columns = as_columns(predictions)
    told: Array | None = None
    if columns is not None:
        found = [name for name in columns if name.lower() not in (LABEL, *NOT_MODELS)]
        if isinstance(models, int | np.integer) and models != len(found):
            raise InputError(
                f"there are {models} models, but {len(found)} columns that may be models: {found}.",
                parameter="models",
            )
        if models is None or isinstance(models, int | np.integer):
            models = found
        names = [str(name) for name in check_models(models)]
        missing = [name for name in names if name not in columns]
        if missing:
            raise InputError(f"no column is called {missing[0]!r}, as a model is; there are {list(columns)}.")
        matrix = matrix_of(columns, names)
        label = next((name for name in columns if name.lower() == LABEL and name not in names), None)
        told = None if label is None else matrix_of(columns, [label])[:, 0]
    else:
        matrix = as_array(predictions, "predictions")
    if matrix.ndim != 2:
        raise InputError(
            f"predictions have {matrix.ndim} dimensions; pass one row per item and one column per model."
        )
    if len(matrix) == 0:
        raise InputError("predictions are empty; a pool needs at least one item.")
    encoded = encode_table(matrix, told, None)
    given = matrix.shape[1] if models is None else models
    return _checked(encoded.predictions, encoded.labels, given, encoded.classes, False)


def _some_models(collection: Any, models: object) -> tuple[Array, object]:
    """The columns of a collection by the names of their models; names that it does not have are new names."""
    own = tuple(collection.models)
    if models is None:
        return collection.predictions, own
    names = check_models(models)
    if not set(names) & set(own):
        return collection.predictions, names
    unknown = [name for name in names if name not in own]
    if unknown:
        raise InputError(f"the collection has no model {unknown[0]!r}; it has {list(own)}.", parameter="models")
    return collection.predictions[:, [own.index(name) for name in names]], names


def _checked(
    codes: Array, labels: Array | None, models: object, classes: tuple[ClassName, ...], collected: bool
) -> PoolInput:
    names = check_models(models)
    if len(names) != codes.shape[1]:
        raise InputError(
            f"there are {len(names)} models, but predictions have {codes.shape[1]} columns; pass one per model.",
            parameter="models",
        )
    return PoolInput(codes, labels, names, classes, collected)


def read_judge(judge: Any, pool: PoolInput) -> Array | None:
    """What a judge says about each item, as codes.

    -1 where it says nothing, or a class that no model ever predicts.

    Args:
        judge: one class per item, None where it says nothing; whole numbers in an array are codes if the pool is a
            collection's. None: there is no judge.
        pool: that it judges.
    """
    if judge is None:
        return None
    if isinstance(judge, str | bytes | Mapping) or not hasattr(judge, "__len__"):
        raise InputError(
            f"judge {brief(judge)}: pass one class per item, None where the judge says nothing.", parameter="judge"
        )
    if len(judge) != pool.items:
        raise InputError(
            f"the judge has {len(judge):,} answers, but the pool has {pool.items:,} items; pass one per item, "
            "None where it says nothing.",
            parameter="judge",
        )
    said = judge if isinstance(judge, list | tuple) else as_array(judge, "judge")
    if isinstance(said, np.ndarray) and said.dtype.kind in "iu" and pool.collected:
        return np.where((said >= 0) & (said < len(pool.classes)), said, -1).astype(np.int64)
    codes = {name: code for code, name in enumerate(pool.classes)}
    names = [plain(one, f"what the judge says about item {place}") for place, one in enumerate(said)]
    known = next((name for name in names if name is not None), None)
    if known is not None:
        check_same_kind(known, pool.classes[:1], "what the judge says")
    return np.array([-1 if name is None else codes.get(name, -1) for name in names], dtype=np.int64)


def with_judge(rows: Codes, judged: Codes | None, absent: Flags | None = None) -> Codes:
    """What the label model looks at: what the models say, and what the judge says if there is one.

    A model that was not run has no say, as one that abstains.
    """
    said = rows if absent is None else np.where(absent, ABSTAINED, rows)
    if judged is None:
        return rows if absent is None else kernel_codes(said)
    return kernel_codes(np.concatenate([said, judged[:, None]], axis=1))


def absent_models(codes: Array) -> Flags | None:
    """Which models were not run on which items; None if all were run on all."""
    pieces = range(0, len(codes), PIECE)
    if not any((codes[start : start + PIECE] == NOT_RUN).any() for start in pieces):
        return None
    absent: Flags = codes == NOT_RUN
    return absent


def contested_items(codes: Array) -> npt.NDArray[np.int64]:
    """The items on which not all models that were run say the same."""
    pieces = [
        start + np.flatnonzero(_differ(codes[start : start + PIECE])) for start in range(0, len(codes), PIECE)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)


def _differ(codes: Array) -> Flags:
    """On which items models that were run differ."""
    absent = absent_models(codes)
    if absent is None:
        found: Flags = (codes != codes[:, :1]).any(axis=1)
        return found
    run = np.where(absent, codes.max(axis=1, keepdims=True), codes)  # the largest code is of a model that was run
    return np.asarray((run != run[:, :1]).any(axis=1))


def contested_rows(codes: Array, contested: npt.NDArray[np.int64]) -> Codes:
    """Their rows, in the form that kernels take."""
    return kernel_codes(codes[contested])


def identical_models(rows: Codes, models: Sequence[ModelName]) -> tuple[tuple[ModelName, ...], ...]:
    """The groups of models that say the same of every item."""
    digests = [hashlib.sha256() for _ in models]
    for start in range(0, len(rows), PIECE):
        for digest, column in zip(digests, np.ascontiguousarray(rows[start : start + PIECE].T), strict=True):
            digest.update(column.data)
    groups: dict[bytes, list[ModelName]] = {}
    for name, digest in zip(models, digests, strict=True):
        groups.setdefault(digest.digest(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
