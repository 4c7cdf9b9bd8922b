"""What callers say about rounds and labels, as codes: predictions by name or in order, one row or many.

Codes are counted again for every event, in the order of the classes themselves, so that what is stored depends on
nothing but what was said.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from types import NoneType
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from modelpicker.collections import ModelCollection
from modelpicker.collections.same_answers import SameAnswers
from modelpicker.encoding import (
    ClassName,
    Matrix,
    ModelName,
    as_array,
    as_integers,
    check_classes,
    check_one_kind,
    count_anew,
    is_not_run,
    plain,
    refuse,
    smallest_type,
)
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN


class Rows(NamedTuple):
    """Predictions of some rounds: a code a model, and the class that each code stands for."""

    codes: Matrix
    classes: list[ClassName]


class ClassCodes:
    """The classes that a campaign takes: those it was given, or whatever is said.

    Where the classes are given as strings, a whole number is the place of a class in their list. Answers that count
    as the same by the rule become one. With `missing="not-run"`, a prediction that is missing or None is one of a
    model that was not run.
    """

    def __init__(self, classes: object, rule: SameAnswers | None = None, missing: str = "abstained") -> None:
        self.rule = rule or SameAnswers()
        self.absent = missing == "not-run"
        self.classes = None if classes is None else check_classes(classes)
        self.known = frozenset(self.classes or ())
        self.by_place = bool(self.classes) and isinstance(next(iter(self.classes or ())), str)

    def name(self, value: object, where: str) -> ClassName | None:
        """One prediction or label; None for an abstention or a skip."""
        if type(value) is str and (value in self.known or self.classes is None):
            return value
        name = plain(value, where)
        if name is None or self.classes is None:
            return name
        if self.by_place and isinstance(name, int):
            if name >= len(self.classes):
                raise InputError(
                    f"{where}: {name} is not the place of one of the {len(self.classes)} classes, "
                    f"0 to {len(self.classes) - 1}."
                )
            return self.classes[name]
        found = name if name in self.known else self.rule.find(name, self.classes)
        if found not in self.known:
            raise InputError(f"{where}: {brief(name)} is not one of the classes, {brief(list(self.classes))}.")
        return found

    def classes_at(self, value: object) -> object:
        """The class at a place; what is not a place stays as it is."""
        there = self.classes is not None and type(value) is int and 0 <= value < len(self.classes)
        return self.classes[value] if there and self.classes is not None and isinstance(value, int) else value

    def said(self, value: object, where: str) -> ClassName | None:
        """One prediction; None for an abstention, NOT_RUN for a model that was not run."""
        if is_not_run(value) or (value is None and self.absent):
            return NOT_RUN
        return self.name(value, where)

    def names_of(self, values: Iterable[int], where: str) -> list[ClassName]:
        """The classes that whole numbers stand for."""
        return [name for name in (self.name(value, where) for value in values) if name is not None]


def in_model_order(predictions: object, models: Sequence[ModelName], where: str, absent: bool = False) -> list[Any]:
    """The predictions of one round in the order of the models; if `absent`, some may be missing."""
    if hasattr(predictions, "to_dict"):  # a row of a data frame, which knows its models by name
        predictions = predictions.to_dict()
    if isinstance(predictions, Mapping):
        missing = [name for name in models if name not in predictions]
        if missing and not absent:
            raise InputError(
                f"{where}: no prediction of {', '.join(map(str, missing[:5]))}; "
                "pass one of every model, None where it abstains, -2 where it was not run."
            )
        if len(predictions) > len(models) - len(missing):
            strange = [name for name in predictions if name not in set(models)]
            raise InputError(f"{where}: {brief(strange[0])} is not a model of this campaign.")
        return [predictions.get(name, NOT_RUN) for name in models]
    if isinstance(predictions, str | bytes | Set) or not hasattr(predictions, "__len__"):
        raise InputError(
            f"{where}: {brief(predictions)} are no predictions; pass {{model: class}}, or a list in the order "
            "of the models."
        )
    values: list[Any] = (
        predictions.tolist() if isinstance(predictions, np.ndarray) else list(cast("Iterable[Any]", predictions))
    )
    if len(values) != len(models):
        raise InputError(f"{where}: {len(values)} predictions, but there are {len(models)} models.")
    return values


def encode_one(predictions: object, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """The codes of one round."""
    values = in_model_order(predictions, models, "predictions", vocabulary.absent)
    names = [vocabulary.said(value, f"prediction of {model}") for model, value in zip(models, values, strict=True)]
    classes = _sorted([name for name in names if name not in (None, NOT_RUN)], "predictions")
    place = _places(classes)
    codes = [[place[name] for name in names]]
    return _merged(Rows(np.array(codes, dtype=smallest_type(len(classes))), classes), vocabulary.rule)


def _merged(rows: Rows, rule: SameAnswers) -> Rows:
    """The same rows, in which answers that count as the same are the same."""
    if rule.plain:
        return rows
    present, codes = count_anew(rule.merge(rows.codes, rows.classes))
    return _in_class_order(codes, [rows.classes[code] for code in present])


def some_rows(rows: Rows, places: Sequence[int]) -> Rows:
    """Some of the rows, with only the classes that occur in them."""
    if len(places) == len(rows.codes):
        return rows
    present, codes = count_anew(rows.codes[places])
    return _in_class_order(codes, [rows.classes[code] for code in present])


def count_rows(predictions: object) -> int:
    """How many rounds there are; an error if they are none."""
    if isinstance(predictions, str | bytes | Mapping | Set) or not hasattr(predictions, "__len__"):
        raise InputError(f"predictions {brief(predictions)}: pass a matrix or a list with one row per round.")
    return len(predictions)


def take_rows(predictions: Any, places: Sequence[int]) -> Any:
    """Some of the rounds, in the same form."""
    if len(places) == len(predictions):
        return predictions
    if isinstance(predictions, ModelCollection):
        return predictions.take(list(places))
    if isinstance(predictions, np.ndarray):
        return predictions[list(places)]
    return [predictions[place] for place in places]


def encode_many(predictions: Any, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """The codes of many rounds: a matrix of class codes, a collection, or a list of what `encode_one` takes."""
    return _merged(_encoded(predictions, models, vocabulary), vocabulary.rule)


def _encoded(predictions: Any, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """The same, as they were said."""
    if isinstance(predictions, ModelCollection):
        return _of_collection(predictions, models, vocabulary)
    if isinstance(predictions, np.ndarray):
        predictions = np.asarray(predictions)
        if predictions.dtype.kind in "buif":
            return _of_numbers(predictions, models, vocabulary)
    return _of_rows(predictions, models, vocabulary)


def _of_numbers(matrix: npt.NDArray[Any], models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """A numeric matrix: its distinct values are found at once."""
    if matrix.ndim != 2 or matrix.shape[1] != len(models):
        raise InputError(
            f"predictions have shape {matrix.shape}; pass one row per round, and {len(models)} columns: "
            "one per model."
        )
    values = as_integers(as_array(matrix, "predictions"), "predictions", 0)
    if values.size and int(values.min()) < NOT_RUN:
        refuse(values < NOT_RUN, values, "predictions", 0)
    present, codes = count_anew(values)
    names = vocabulary.names_of(present, "predictions")
    return _in_class_order(codes, names)


def _of_collection(collection: ModelCollection, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """A collection: its columns by name, its codes by their classes."""
    names = list(collection.models)
    if vocabulary.absent and not {str(name) for name in names} >= {str(model) for model in models}:
        collection = _filled(collection, models)
        names = list(collection.models)
    if [str(model) for model in models] != [str(name) for name in names]:
        try:
            columns = [[str(name) for name in names].index(str(model)) for model in models]
        except ValueError:
            raise InputError(
                f"the collection's models are {brief(names)}, but the campaign's {brief(list(models))}."
            ) from None
        if len(names) > len(models):
            raise InputError(f"the collection has {len(names)} models, but the campaign {len(models)}.")
        predictions = collection.predictions[:, columns]
    else:
        predictions = collection.predictions
    present, codes = count_anew(predictions)
    if vocabulary.absent and not collection.absent:  # where it was not said what is missing
        codes = np.where(codes == ABSTAINED, NOT_RUN, codes)
    spoken = [_given(vocabulary, collection.classes[code]) for code in present]
    return _in_class_order(codes, spoken)


def _filled(collection: ModelCollection, models: Sequence[ModelName]) -> ModelCollection:
    """A collection of all models: those that it lacks were not run. An error if it has none of them."""
    there = {str(name): place for place, name in enumerate(collection.models)}
    wanted = [str(model) for model in models]
    if not there.keys() & set(wanted):
        raise InputError(f"the collection's models are {brief(list(there))}, but the campaign's {brief(wanted)}.")
    if len(there.keys() - set(wanted)):
        raise InputError(
            f"the collection has models that are not in the campaign: {brief(sorted(there.keys() - set(wanted)))}."
        )
    codes = np.full((len(collection), len(wanted)), NOT_RUN, dtype=collection.predictions.dtype)
    for place, name in enumerate(wanted):
        if name in there:
            codes[:, place] = collection.predictions[:, there[name]]
    return ModelCollection.of_codes(codes, None, wanted, collection.classes)


def _given(vocabulary: ClassCodes, name: ClassName) -> ClassName:
    """A collection's class as the campaign knows it: numbers that were read as such may be meant as names."""
    if vocabulary.by_place and isinstance(name, int) and str(name) in vocabulary.known:
        name = str(name)
    found = vocabulary.name(name, "predictions")
    return name if found is None else found


def _of_rows(rows: Any, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """Rows of any kind: together if they are plain, and one by one if not, or if something is wrong with them."""
    return _together(rows, models, vocabulary) or _one_by_one(rows, models, vocabulary)


def _together(rows: Any, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows | None:
    """Lists or mappings of strings alone, or of whole numbers alone: each class is looked at once."""
    values: list[Any] = []
    for row in rows:
        if len(row) != len(models) if type(row) in (list, dict) else True:
            return None
        try:
            values += row if type(row) is list else [row[model] for model in models]
        except KeyError:
            return None
    if set(map(type, values)) - {NoneType} not in ({str}, {int}):
        return None
    try:
        named = {value: vocabulary.said(value, "predictions") for value in set(values)}
    except InputError:  # met again, and named by its place
        return None
    classes = _sorted([name for name in named.values() if name not in (None, NOT_RUN)], "predictions")
    place = _places(classes)
    code_of = {value: place[name] for value, name in named.items()}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=smallest_type(len(classes)), count=len(values))
    return Rows(codes.reshape(len(rows), len(models)), classes)


def _one_by_one(rows: Any, models: Sequence[ModelName], vocabulary: ClassCodes) -> Rows:
    """Rows of any kind, one by one; each value is looked at once."""
    known: dict[object, int] = {}
    names: list[ClassName] = []
    place = _places([])
    codes = np.empty((len(rows), len(models)), dtype=np.int32)
    for number, row in enumerate(rows):
        where = f"predictions, row {number}"
        values = in_model_order(row, models, where, vocabulary.absent)
        for column, value in enumerate(values):
            try:
                code = known[(type(value), value)]
            except (KeyError, TypeError):
                name = vocabulary.said(value, f"{where}, model {models[column]}")
                code = place.setdefault(name, len(names))
                if code == len(names) and name is not None:
                    names.append(name)
                known[(type(value), value)] = code
            codes[number, column] = code
        check_one_kind([names[code] for code in set(codes[number].tolist()) if code >= 0], where)
    return _in_class_order(codes, names)


def _in_class_order(codes: Matrix, names: list[ClassName]) -> Rows:
    """The same rows with classes in order, and codes as small as they can be."""
    classes = _sorted(names, "predictions")
    if classes != names:
        place = _places(classes)
        codes = np.array([*(place[name] for name in names), NOT_RUN, ABSTAINED], dtype=np.int32)[codes]
    return Rows(np.ascontiguousarray(codes, dtype=smallest_type(len(classes))), classes)


def _places(classes: Sequence[ClassName]) -> dict[ClassName | None, int]:
    """The codes of classes, of an abstention, and of a model that was not run."""
    return {None: ABSTAINED, NOT_RUN: NOT_RUN, **{name: code for code, name in enumerate(classes)}}


def _sorted(said: Iterable[ClassName | None], where: str) -> list[ClassName]:
    names = [name for name in dict.fromkeys(said) if name is not None]
    check_one_kind(names, where)
    return sorted(names)
