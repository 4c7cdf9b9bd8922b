"""The collection: what k models predict for n items, and what is known about them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.collections import matrices
from modelpicker.collections.fingerprint import Fingerprint
from modelpicker.collections.label_checks import check_common, identical_notes
from modelpicker.collections.measurements import Measurements
from modelpicker.encoding import (
    Array,
    ClassName,
    Matrix,
    check_missing,
    encode_labels,
    encode_table,
    smallest_type,
)
from modelpicker.errors import InputError, brief
from modelpicker.frames import Backend, make_frame
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FieldValue: TypeAlias = str | int | float | bool | None
Fields: TypeAlias = Mapping[str, Sequence[FieldValue]]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ModelCollection:
    """A prediction matrix, and optionally the true labels, the names of models and classes, and item fields.

    Args:
        predictions: one row per item, one column per model. Whole numbers are codes, that is places in `classes`;
            strings are class names; -1 or None is an abstention, and `mp.NOT_RUN` stands for a model that was not
            run on the item. Or a data frame (pandas, polars, Arrow), or a
            mapping of arrays, which are read as files are: `id`, `text`, `label` and the like are no models there.
        labels: one per item, in the form of the predictions; -1 or None where it is not known.
        models: the names of the models; by default `model-0`, `model-1`, …. Of a data frame, the columns that are
            models.
        classes: the names of the classes; by default what predictions and labels say, in order.
        fields: what a person should see of an item, such as an `id`, a `text`, an `image`: one value per item each.
        notes: what a reader of files did that its user should know.

    >>> collection = ModelCollection([["cat", "dog"], ["cat", None]], labels=["dog", "cat"])
    >>> collection
    <ModelCollection: 2 items, 2 models, 2 classes, labelled, a9284743897f>
    >>> collection.predictions.tolist(), collection.classes
    ([[0, 1], [0, -1]], ('cat', 'dog'))
    """

    predictions: Matrix
    """Places in `classes`, -1 for an abstention, -2 for a model that was not run; read-only, as small as can be."""
    labels: Matrix | None
    """Places in `classes`, -1 where the label is not known; None where no label is."""
    models: tuple[str, ...]
    classes: tuple[ClassName, ...]
    fields: Fields = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    measured: Measurements | None = None
    """Grades and prices that came with the file of an evaluation tool."""

    def __init__(
        self,
        predictions: object,
        labels: object = None,
        models: Sequence[object] | None = None,
        classes: Sequence[ClassName] | None = None,
        *,
        fields: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        from modelpicker.collections.data_frames import collect_frame

        framed = collect_frame(predictions, labels, models, classes, fields or {})
        if framed is not None:
            given = (*framed.notes, *notes)
            self._set(framed.predictions, framed.labels, framed.models, framed.classes, framed.fields, given)
            return
        matrix = matrices.as_matrix(predictions)
        column = None if labels is None else matrices.as_column(labels, len(matrix))
        encoded = encode_table(matrix, column, classes)
        names = check_model_names(models, matrix.shape[1])
        codes = encoded.predictions.copy()  # the caller's array may be unlocked again
        labels = None if encoded.labels is None else encoded.labels.copy()
        self._set(codes, labels, names, encoded.classes, fields or {}, notes)
        self.check_labels()
        object.__setattr__(self, "notes", (*self.notes, *identical_notes(self.identical)))

    def check_labels(self) -> None:
        """An error if no class of the labels is ever predicted: that is a mix-up.

        >>> import modelpicker as mp
        >>> rows = [["cat", "dog"], ["cat", "cat"]]
        >>> collection = mp.ModelCollection(rows, labels=["cat", "cat"], models=["small", "large"])
        >>> collection.check_labels()  # no error: a model predicts "cat"
        """
        if self.labels is not None:
            said, told = (self._names(codes) for codes in (self.predictions, self.labels))
            check_common("labels", said, told, self.labelled)

    def _names(self, codes: Matrix) -> list[ClassName]:
        """The classes that occur among some codes."""
        return [self.classes[code] for code in np.unique(codes).tolist() if code >= 0]

    def _set(
        self,
        predictions: Array,
        labels: Array | None,
        models: tuple[str, ...],
        classes: tuple[ClassName, ...],
        fields: Mapping[str, Any],
        notes: Sequence[str],
    ) -> None:
        dtype = smallest_type(len(classes))
        if labels is not None and not (labels != ABSTAINED).any():
            labels = None
        values = {
            "predictions": matrices.frozen(predictions, dtype),
            "labels": None if labels is None else matrices.frozen(labels, dtype),
            "models": models,
            "classes": classes,
            "fields": MappingProxyType(_check_fields(fields, len(predictions))),
            "notes": tuple(notes),
            "measured": None,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_codes(
        cls,
        predictions: Array,
        labels: Array | None,
        models: Sequence[str],
        classes: Sequence[ClassName],
        fields: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """A collection of codes that are known to be in order: no look at each."""
        collection = cls.__new__(cls)
        collection._set(predictions, labels, tuple(models), tuple(classes), fields or {}, notes)
        return collection

    @classmethod
    def from_probabilities(
        cls,
        probabilities: object,
        labels: object = None,
        models: Sequence[object] | None = None,
        classes: Sequence[ClassName] | None = None,
        *,
        fields: Mapping[str, Any] | None = None,
    ) -> Self:
        """The classes that models find most likely, from an array of items by models by classes.

        Of equals the first class is taken; where a number is missing (NaN) the model abstains; `notes` says
        how often each happened.

        >>> import modelpicker as mp
        >>> probabilities = [[[0.9, 0.1], [0.2, 0.8]]]  # one item, two models, two classes
        >>> mp.ModelCollection.from_probabilities(probabilities, classes=["cat", "dog"]).predictions
        array([[0, 1]], dtype=int8)
        """
        found = matrices.most_likely(probabilities)
        names = list(range(found.classes)) if classes is None else list(classes)
        if len(names) != found.classes:
            raise InputError(f"there are {found.classes} probabilities per model, but {len(names)} classes.")
        return cls(found.codes, labels, models, names, fields=fields, notes=found.notes)

    @classmethod
    def from_models(
        cls,
        models: object,
        items: object,
        labels: object = None,
        classes: Sequence[ClassName] | None = None,
        *,
        fields: Mapping[str, Any] | None = None,
    ) -> Self:
        """The predictions of fitted models, each of which is called once with all items.

        Args:
            models: by name: estimators with a `predict`, such as scikit-learn's, or functions that take all items
                and give one class per item. Without names, they are called by their types.
            items: what the models predict for: an array, a data frame, a list of texts.
            labels: one per item; None where it is not known.
            classes: the names of the classes, if the models give their places.
            fields: what a person should see of an item. By default texts, and columns of text.

        >>> models = {"never": lambda texts: ["ham"] * len(texts), "long": lambda texts: [
        ...     "spam" if len(text) > 9 else "ham" for text in texts]}
        >>> ModelCollection.from_models(models, ["hello", "buy this now"]).predictions.tolist()
        [[0, 0], [0, 1]]
        """
        from modelpicker.collections.fitted_models import fields_of, name_models, predict_all

        named = name_models(models)
        said = predict_all(named, items)
        return cls(said, labels, list(named), classes, fields=fields_of(items) if fields is None else fields)

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} items", f"{len(self.models)} models", f"{len(self.classes):,} classes"]
        if self.labels is not None:
            whole = (self.labels != ABSTAINED).all()
            parts.append("labelled" if whole else f"{self.labelled:,} labelled")
        return f"<ModelCollection: {', '.join(parts)}, {self.fingerprint}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ModelCollection):
            return NotImplemented
        return self.fingerprint == other.fingerprint and dict(self.fields) == dict(other.fields)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.predictions, self.labels, self.models, self.classes, dict(self.fields), self.notes)
        return _restored, (*parts, self.measured)

    @cached_property
    def fingerprint(self) -> str:
        """Twelve digits that stand for predictions, labels and names: equal content, equal digits."""
        whole = Fingerprint()
        whole.add(self.predictions, self.labels)
        return whole.digits(self.models, self.classes)

    @cached_property
    def identical(self) -> tuple[tuple[str, ...], ...]:
        """Groups of models that give the same answer to every item, in the order of the collection."""
        groups: dict[bytes, list[str]] = {}
        for model, column in zip(self.models, self.predictions.T, strict=True):
            groups.setdefault(hashlib.sha256(column.tobytes()).digest(), []).append(model)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @cached_property
    def absent(self) -> bool:
        """Whether some model was not run on some item."""
        return bool((self.predictions == NOT_RUN).any())

    @property
    def labelled(self) -> int:
        """How many items have a label."""
        return 0 if self.labels is None else int((self.labels != ABSTAINED).sum())

    @cached_property
    def accuracies(self) -> npt.NDArray[np.float64] | None:
        """The share of the labelled items that each model gets right; None without labels.

        Items that a model was not run on do not count for it; NaN where it was run on none.
        """
        if self.labels is None:
            return None
        known = self.labels != ABSTAINED
        labels = self.labels[known]
        right = [np.count_nonzero(column[known] == labels) for column in self.predictions.T]
        run = [np.count_nonzero(column[known] != NOT_RUN) for column in self.predictions.T]
        accuracies = np.array([hits / items if items else np.nan for hits, items in zip(right, run, strict=True)])
        accuracies.flags.writeable = False
        return accuracies

    def take(self, items: object) -> Self:
        """The collection of some items, in the order given.

        >>> import modelpicker as mp
        >>> rows = [["cat", "dog"], ["cat", "cat"]]
        >>> collection = mp.ModelCollection(rows, labels=["cat", "cat"], models=["small", "large"])
        >>> len(collection.take([1]))
        1
        """
        places = np.asarray(items)
        try:
            self.predictions[places]
        except IndexError as error:
            raise InputError(f"items {brief(items)}: there are {len(self):,} items, counted from 0.") from error
        labels = None if self.labels is None else self.labels[places]
        fields = {name: np.array(values, dtype=object)[places].tolist() for name, values in self.fields.items()}
        taken = self.of_codes(self.predictions[places], labels, self.models, self.classes, fields, self.notes)
        return taken.with_measured(None if self.measured is None else self.measured.take(places))

    def with_labels(self, labels: object, *, check: bool = True) -> Self:
        """The same collection with these labels; names as in `classes`, new ones are added to them.

        Unless `check`, no class of the labels need be predicted by a model.

        >>> import modelpicker as mp
        >>> rows = [["cat", "dog"], ["cat", "cat"]]
        >>> collection = mp.ModelCollection(rows, labels=["cat", "cat"], models=["small", "large"])
        >>> collection.with_labels(["dog", "cat"]).labels
        array([1, 0], dtype=int8)
        """
        column = matrices.as_column(labels, len(self))
        encoded = encode_labels(column, self.classes)
        told = self.of_codes(
            self.predictions, encoded.labels, self.models, encoded.classes, self.fields, self.notes
        )
        if check:
            told.check_labels()
        return told.with_measured(self.measured)

    def with_measured(self, measured: Measurements | None) -> Self:
        """The same collection with what an evaluation tool measured of it."""
        if measured is None:
            return self
        parts = (self.predictions, self.labels, self.models, self.classes, self.fields, self.notes)
        same = self.of_codes(*parts)
        object.__setattr__(same, "measured", measured)
        return same

    def batches(self, fields: bool = True) -> Iterator[Self]:  # noqa: ARG002  # as readers of files have it
        """The collection in one piece: what `run_stream` asks of anything that it can play.

        >>> import modelpicker as mp
        >>> rows = [["cat", "dog"], ["cat", "cat"]]
        >>> collection = mp.ModelCollection(rows, labels=["cat", "cat"], models=["small", "large"])
        >>> [len(batch) for batch in collection.batches()]
        [2]
        """
        yield self

    def to_frame(self, backend: Backend | None = None) -> Any:
        """One row per item: its fields, what each model says, and `label` where labels are known.

        A data frame of "pandas", "polars" or "pyarrow": by default of pandas if it is installed, else of PyArrow.

        >>> import modelpicker as mp
        >>> rows = [["cat", "dog"], ["cat", "cat"]]
        >>> collection = mp.ModelCollection(rows, labels=["cat", "cat"], models=["small", "large"])
        >>> collection.to_frame("pyarrow").column_names
        ['small', 'large', 'label']
        """
        columns: dict[str, list[Any]] = {name: list(values) for name, values in self.fields.items()}
        for model, codes in zip(self.models, self.predictions.T, strict=True):
            columns[model] = [self.classes[code] if code >= 0 else None for code in codes.tolist()]
        if self.labels is not None:
            columns["label"] = [self.classes[code] if code >= 0 else None for code in self.labels.tolist()]
        return make_frame(columns, backend)

    def plot(self) -> "Figure":
        """How good and how alike the models are: a figure of matplotlib.

        >>> import modelpicker as mp
        >>> figure = mp.load_collection("digits").plot()
        >>> len(figure.axes) > 0
        True
        """
        from modelpicker.collections.description import describe
        from modelpicker.collections.plots import draw_collection

        return draw_collection(self, describe(self))

    def _repr_html_(self) -> str:
        from modelpicker.collections.card import collection_card

        return collection_card(self)

    def save(self, path: str | Path) -> None:
        """Write the collection to a file whose ending says how: .npz, .parquet, .arrow, .csv or .jsonl.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import modelpicker as mp
        >>> rows = [["cat", "dog"], ["cat", "cat"]]
        >>> collection = mp.ModelCollection(rows, labels=["cat", "cat"], models=["small", "large"])
        >>> path = Path(tempfile.mkdtemp()) / "animals.csv"
        >>> collection.save(path)
        >>> path.read_text().splitlines()[0]
        '"small","large","label"'
        """
        from modelpicker.collections.writers import save_collection

        save_collection(self, Path(path))


def _restored(*parts: Any) -> ModelCollection:
    """A collection that was pickled."""
    return ModelCollection.of_codes(*parts[:-1]).with_measured(parts[-1])


def read_missing(collection: ModelCollection, missing: object) -> ModelCollection:
    """A collection that was not read with `missing`: what looks like an abstention stands for a model not run.

    One that has models that were not run says so itself, and stays as it is.
    """
    if check_missing(missing) == "abstained" or collection.absent:
        return collection
    codes = np.where(collection.predictions == ABSTAINED, NOT_RUN, collection.predictions)
    parts = (collection.labels, collection.models, collection.classes, collection.fields, collection.notes)
    return ModelCollection.of_codes(codes, *parts)


def check_all_run(collection: ModelCollection, what: str) -> None:
    """An error if some model was not run on some item, where that cannot be counted."""
    if collection.absent:
        item, model = (int(place) for place in np.argwhere(collection.predictions == NOT_RUN)[0])
        raise InputError(
            f"{what} needs the answers of all models, but {collection.models[model]} was not run on item {item}. "
            "Leave the model or the item out, or read the collection without missing='not-run'."
        )


def check_model_names(models: object, count: int) -> tuple[str, ...]:
    """The names of the models: as many as columns, all different."""
    if models is None:
        return tuple(f"model-{number}" for number in range(count))
    if isinstance(models, str | bytes) or not isinstance(models, Iterable):
        raise InputError(f"models {brief(models)}: pass a list of names.")
    names = tuple(str(name) for name in models)
    if len(names) != count:
        raise InputError(f"there are {count} columns of predictions, but {len(names)} model names; pass one each.")
    if len(set(names)) < count:
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"model name {brief(twice)} is given twice; names must differ.")
    return names


def _check_fields(fields: Mapping[str, Any], items: int) -> dict[str, tuple[FieldValue, ...]]:
    """Item fields: a plain value an item each."""
    checked = {}
    for name, values in fields.items():
        plain = tuple(values.tolist() if isinstance(values, np.ndarray) else values)
        if len(plain) != items:
            raise InputError(f"item field {brief(name)} has {len(plain)} values, but there are {items} items.")
        for value in plain:
            if not (value is None or isinstance(value, str | int | float)):
                raise InputError(
                    f"item field {brief(name)}: {brief(value)} is neither text nor number; show it as text."
                )
        checked[str(name)] = plain
    return checked
