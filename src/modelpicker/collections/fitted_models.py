"""Models themselves instead of their predictions: fitted estimators, or functions, are asked for all items."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from modelpicker.encoding import Array
from modelpicker.errors import InputError, brief
from modelpicker.frames import NOT_MODELS, as_columns

Predict: TypeAlias = Callable[[Any], Any]


def name_models(models: object) -> dict[str, object]:
    """Models by name: a mapping, pairs of a name and a model, or models that are named by their types."""
    if isinstance(models, Mapping):
        return _checked({str(name): model for name, model in models.items()})
    if isinstance(models, str | bytes) or not isinstance(models, Iterable):
        raise InputError(
            f'models {brief(models)}: pass models by name, such as {{"forest": forest, "svm": svm}}.',
            parameter="models",
        )
    given = list(models)
    if given and all(isinstance(one, tuple) and len(one) == 2 for one in given):
        pairs = [(str(name), model) for name, model in given]
    else:
        pairs = [(_own_name(model), model) for model in given]
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(
            f'two models are called {brief(twice)}; pass them by name: models={{"…": …, "…": …}}.',
            parameter="models",
        )
    return _checked(dict(pairs))


def _own_name(model: object) -> str:
    """The name of a function, or of the type of an estimator."""
    name = str(getattr(model, "__name__", type(model).__name__))
    return name if name.isidentifier() else type(model).__name__


def _checked(models: dict[str, object]) -> dict[str, object]:
    if not models:
        raise InputError("there are no models; pass at least one.", parameter="models")
    for name, model in models.items():
        predictor_of(name, model)
    return models


def predictor_of(name: str, model: Any) -> Predict:
    """What gives a model's predictions for all items: its `predict`, or the model itself if it is a function."""
    if isinstance(model, type):
        raise InputError(
            f"model {brief(name)} is the class {model.__name__}; pass a fitted one, such as "
            f"{model.__name__}().fit(X, y).",
            parameter="models",
        )
    found = getattr(model, "predict", None) or model
    if not callable(found):
        raise InputError(
            f"model {brief(name)} is {brief(model)}, which has no predict() and is no function; pass a fitted "
            "estimator, or a function that takes all items and gives one class per item.",
            parameter="models",
        )
    return found  # type: ignore[no-any-return]


def predict_all(models: Mapping[str, object], items: object, *, any_value: bool = False) -> Array:
    """What each model says about all items, side by side; each is called once.

    With `any_value` classes may be whatever the models say, -1 and fractions too.
    """
    count = count_items(items)
    columns = [_predict(name, model, items, count) for name, model in models.items()]
    if not any_value:
        for name, column in zip(models, columns, strict=True):
            _refuse_minus_one(name, column)
    if not any_value and all(column.dtype.kind in "biu" for column in columns):
        return np.stack([column.astype(np.int64) for column in columns], axis=1)
    matrix = np.empty((count, len(columns)), dtype=object)
    for place, column in enumerate(columns):
        matrix[:, place] = column.tolist()
    return matrix


def count_items(items: Any) -> int:
    """How many items there are: rows of an array, a frame or a sparse matrix, or entries of a list."""
    shape = np.asarray(items).shape if hasattr(items, "__array__") else getattr(items, "shape", None)
    if shape:
        return int(shape[0])
    if isinstance(items, str | bytes) or not hasattr(items, "__len__"):
        raise InputError(f"items {brief(items)}: pass what the models predict for: an array, a frame or a list.")
    return len(items)


def _predict(name: str, model: object, items: object, count: int) -> Array:
    try:
        said = predictor_of(name, model)(items)
    except InputError:
        raise
    except Exception as error:  # whatever the user's model raises
        unfitted = type(error).__name__ == "NotFittedError"
        why = "it is not fitted; call its fit() first" if unfitted else f"{type(error).__name__}: {error}"
        raise InputError(f"model {brief(name)} cannot predict: {why}.", parameter="models") from error
    column = _as_column(name, said)
    if len(column) != count:
        raise InputError(
            f"model {brief(name)} gave {len(column):,} predictions for {count:,} items. It is called once, with "
            "all items, and must give one class per item.",
            parameter="models",
        )
    return column


def _as_column(name: str, said: Any) -> Array:
    """One prediction per item; probabilities by class are refused."""
    if isinstance(said, str | bytes) or not hasattr(said, "__len__"):
        raise InputError(
            f"model {brief(name)} gave {brief(said)}; it is called once, with all items, and must give one class "
            "per item.",
            parameter="models",
        )
    column = np.asarray(said)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise InputError(
            f"model {brief(name)} gave an array of shape {column.shape}; pass models that give one class per item. "
            "For probabilities, use ModelCollection.from_probabilities.",
            parameter="models",
        )
    return column


def _refuse_minus_one(name: str, column: Array) -> None:
    """Class -1 would be taken for no answer."""
    if column.dtype.kind in "if" and (column == -1).any():
        raise InputError(
            f"model {brief(name)} says class -1, which stands for no answer here; name the classes, such as "
            '"no" and "yes", or count them from 0.',
            parameter="models",
        )


def fields_of(items: object) -> dict[str, list[Any]]:
    """What a person should see of the items: texts, and columns of a frame that hold text or an identity."""
    if isinstance(items, list | tuple | np.ndarray):
        texts = items.tolist() if isinstance(items, np.ndarray) and items.ndim == 1 else items
        fine = isinstance(texts, list | tuple) and texts and all(isinstance(text, str) for text in texts)
        return {"text": list(texts)} if fine else {}
    if hasattr(items, "dtype") and getattr(items, "ndim", 0) == 1 and hasattr(items, "to_list"):
        return fields_of(items.to_list())  # a column of a frame
    columns = {} if hasattr(items, "nnz") else as_columns(items) or {}
    return {
        name: [None if value is None else value for value in column.to_pylist()]
        for name, column in columns.items()
        if name.lower() in NOT_MODELS or pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    }
