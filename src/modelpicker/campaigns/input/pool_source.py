"""Where the items of a pool come from: a file, a collection, a data frame or a matrix, read in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from modelpicker.algorithms.validation import check_models
from modelpicker.campaigns.input.batches import batch_of
from modelpicker.campaigns.input.judges import called_judge, check_column, column_of, listed_judge
from modelpicker.campaigns.input.slices import column_values, listed_values
from modelpicker.campaigns.results.pick import Item
from modelpicker.campaigns.setting_options import check_judge_name, is_tolerance
from modelpicker.campaigns.slicing import check_column as check_column_of_slices
from modelpicker.campaigns.slicing import check_no_model, fields_with_slice
from modelpicker.collections import ModelCollection
from modelpicker.collections.collection import read_missing
from modelpicker.collections.column_roles import Reading, Role
from modelpicker.collections.files import open_with
from modelpicker.collections.long_tables import as_long
from modelpicker.collections.spelling import EXACT
from modelpicker.collections.tables import ARRAYS, open_table
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.encoding import Array, ClassName, Missing, ModelName
from modelpicker.errors import InputError, brief
from modelpicker.frames import as_columns
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

# Items that are read from a collection at once.
AT_ONCE = 2**16


class SourcePiece(NamedTuple):
    """Some items of a pool."""

    predictions: ModelCollection
    items: list[Item | None] | None
    keys: list[str | None] | None
    labels: dict[int, ClassName]
    """Those that are known, by the place of the item in the piece."""
    judge: list[Any] | None
    """What the judge says about each item; None if it says nothing about any."""
    slices: list[Any] | None
    """What slice each item is in; None if there are no slices."""


@dataclass(frozen=True)
class PoolSource:
    """Items with the predictions of some models, read in pieces."""

    found: ModelCollection | CollectionReader
    models: tuple[ModelName, ...]
    """The models as the campaign calls them."""
    columns: tuple[str | None, ...]
    """The same, as the source calls them; None for a model that was run on none of the items."""
    judge: str | None = None
    """The column that holds what the judge says; a source of more items may lack it."""
    answers: list[ClassName | None] | None = None
    """What the judge says about each item, where that does not come in a column."""
    slice: str | None = None
    """The column that says what slice an item is in."""
    values: list[str] | None = None
    """The slice of each item, where that does not come in a column."""

    def __len__(self) -> int:
        return len(self.found)

    @property
    def classes(self) -> tuple[ClassName, ...]:
        """What models say, as far as it is known before the items are read."""
        return self.found.classes

    @classmethod
    def open(
        cls,
        source: object,
        models: object = None,
        judge: str | None = None,
        *,
        slice: str | None = None,  # noqa: A002 - as users say it
        same: str | float = EXACT,
        missing: Missing = "abstained",
    ) -> Self:
        """Open whatever can be a pool.

        Args:
            source: a file, a collection, a data frame or a matrix.
            models: some of its models, or names for the columns of a matrix.
            judge: the column that holds what a judge says: it is not a model, and is not shown.
            slice: the column that says what slice an item is in: it is not a model either.
            same: what counts as the same answer, as the campaign has it.
            missing: what a prediction that is missing stands for; that of a model that was not run may be missing
                of all items.
        """
        fields_with_slice({}, slice)  # an error if it has the labels
        absent = missing == "not-run"
        if isinstance(source, ModelCollection | CollectionReader):
            found: ModelCollection | CollectionReader = _with_missing(source, missing)
        elif isinstance(source, str | Path) or as_columns(source) is not None:
            wanted = None if models is None or _is_count(models) else [str(name) for name in check_models(models)]
            fields = () if wanted is not None else tuple(name for name in (judge, slice) if name is not None)
            if wanted is not None and absent:
                wanted = models_there(source, wanted)
            found = open_with(source, None, late_reading(same, models=wanted, fields=fields, missing=missing))
        else:
            found = _with_missing(ModelCollection(source), missing)
            if models is not None:
                names = check_models(models)
                _check_count(len(found.models), len(names))
                return cls(found, names, found.models, judge, slice=slice)
        return replace(cls._of_models(found, models, judge, absent), slice=slice)

    @classmethod
    def _of_models(
        cls, found: ModelCollection | CollectionReader, models: object, judge: str | None, absent: bool = False
    ) -> Self:
        if not len(found):
            raise InputError("there are no items; a pool needs at least one.", parameter="pool")
        own = tuple(name for name in found.models if name != judge)
        if models is not None and _is_count(models):
            _check_count(len(own), int(models))  # type: ignore[call-overload]
            models = None
        if models is None:
            return cls(found, check_models(own), own, judge)
        names = check_models(models)
        check_judge_name(judge, names)
        missing = [name for name in names if str(name) not in own]
        if missing and (not absent or len(missing) == len(names)):
            raise InputError(
                f"the items have no predictions of {brief(missing[0])}; their models are {brief(list(own))}.",
                parameter="models",
            )
        return cls(found, names, tuple(str(name) if str(name) in own else None for name in names), judge)

    def judged_by(self, judge: object) -> Self:
        """The same with what a judge says: a function of an item, or one class per item; a column must be there."""
        if judge is None:
            return self
        if isinstance(judge, str):
            fields = self.found.fields if isinstance(self.found, ModelCollection) else self.found.roles.fields
            check_column(judge, [*fields, *self.found.models])
            return self
        if callable(judge):
            return replace(self, answers=called_judge(judge, self.whole))
        return replace(self, answers=listed_judge(judge, len(self)))

    def sliced_by(self, chosen: object) -> Self:
        """The same with the slice of each item: a function of an item, or one value per item, if not a column."""
        if chosen is None or isinstance(chosen, str):
            return self
        return replace(self, values=listed_values(chosen, self.whole))  # type: ignore[arg-type]  # it is checked

    @property
    def whole(self) -> ModelCollection:
        """All of it, read at once."""
        return self.found.read() if isinstance(self.found, CollectionReader) else self.found

    def check_slice(self) -> None:
        """An error if the column of the slices looks like a model."""
        if self.slice is not None and self.values is None:
            first = next(self._collections())
            check_column_of_slices(self.slice, first)
            check_no_model(self.slice, first)

    def pieces(self) -> Iterator[SourcePiece]:
        """The items, in order."""
        chosen: dict[str, Role] = {}
        if isinstance(self.found, CollectionReader) and self.found.roles.id is not None:
            chosen = {self.found.roles.id: "id"}
        done = 0
        for collection in self._collections():
            piece = self._piece(collection, chosen)
            if self.answers is not None:
                piece = piece._replace(judge=self.answers[done : done + len(collection)])
            if self.values is not None:
                piece = piece._replace(slices=self.values[done : done + len(collection)])
            yield piece
            done += len(collection)

    def _collections(self) -> Iterator[ModelCollection]:
        if isinstance(self.found, CollectionReader):
            yield from self.found.batches(fields=True)
            return
        for start in range(0, len(self.found), AT_ONCE):
            yield self.found.take(range(start, min(len(self.found), start + AT_ONCE)))

    def _piece(self, collection: ModelCollection, chosen: dict[str, Role]) -> SourcePiece:
        batch = batch_of(collection, frozenset(() if self.judge is None else (self.judge,)), chosen)
        names = [str(name) for name in self.models]
        codes = collection.predictions if names == list(collection.models) else self._codes(collection)
        told = collection.labels
        labels = {}
        if told is not None:
            known = np.flatnonzero(told != ABSTAINED).tolist()
            labels = {place: collection.classes[int(told[place])] for place in known}
        bare = ModelCollection.of_codes(codes, None, names, collection.classes)
        sliced = None if self.slice is None or self.values is not None else column_values(collection, self.slice)
        return SourcePiece(bare, batch.items, batch.keys, labels, self._judged(collection), sliced)

    def _codes(self, collection: ModelCollection) -> Array:
        """The predictions in the order of the models."""
        codes: Array = np.full((len(collection), len(self.columns)), NOT_RUN, dtype=collection.predictions.dtype)
        for place, name in enumerate(self.columns):
            if name is not None:
                codes[:, place] = collection.predictions[:, collection.models.index(name)]
        return codes

    def _judged(self, collection: ModelCollection) -> list[Any] | None:
        """What the column of the judge says, if there is one."""
        there = self.judge is not None and (self.judge in collection.fields or self.judge in collection.models)
        return column_of(collection, self.judge) if there and self.judge is not None else None


def late_reading(same: object, **reading: Any) -> Reading:
    """How a file is read for a campaign, which decides itself which answers are the same."""
    told = {**reading, "text": True} if is_tolerance(same) else reading
    return Reading(**told, same_later=same not in (None, EXACT))


def _with_missing(
    found: ModelCollection | CollectionReader, missing: Missing
) -> ModelCollection | CollectionReader:
    """The same; what is missing stands for models that were not run, if that is meant."""
    if isinstance(found, CollectionReader):
        if missing == "abstained" or found.vocabulary.absent:
            return found
        found = found.read()
    return read_missing(found, missing)


def models_there(source: object, models: list[str]) -> list[str]:
    """Those of some models that a file or a data frame has a column for; all of them where that cannot be seen."""
    columns = as_columns(source)
    if columns is not None:
        there = set(columns)
    else:
        path = Path(str(source))
        if not path.is_file() or path.suffix.lower() in ARRAYS:
            return models
        table = open_table(path)
        if as_long(table) is not None:
            return models
        there = set(table.columns)
    return [name for name in models if name in there] or models


def _is_count(models: Any) -> bool:
    return isinstance(models, int | np.integer) and not isinstance(models, bool)


def _check_count(found: int, wanted: int) -> None:
    if found != wanted:
        raise InputError(
            f"there are {wanted} models, but the items have predictions of {found}; pass the names of some, or "
            "leave it out.",
            parameter="models",
        )
