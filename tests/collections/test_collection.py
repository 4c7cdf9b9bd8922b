"""The collection itself: codes, names, what may not change, what it is called by its content."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelpicker as mp


def small(**changes: Any) -> mp.ModelCollection:
    given: dict[str, Any] = {
        "predictions": [["cat", "dog", None], ["dog", "dog", "cat"], ["bird", "cat", "cat"]],
        "labels": ["cat", None, "bird"],
        "models": ["a", "b", "c"],
    }
    return mp.ModelCollection(**(given | changes))


def test_names_become_places_in_the_sorted_list_of_classes() -> None:
    collection = small()
    assert collection.classes == ("bird", "cat", "dog")
    assert collection.predictions.tolist() == [[1, 2, -1], [2, 2, 1], [0, 1, 1]]
    assert collection.labels is not None
    assert collection.labels.tolist() == [1, -1, 0]
    assert collection.labelled == 2


def test_whole_numbers_are_codes_as_they_are() -> None:
    collection = mp.ModelCollection([[0, 3], [1, -1]], labels=[3, 0])
    assert collection.predictions.tolist() == [[0, 3], [1, -1]]
    assert collection.classes == (0, 1, 2, 3)
    assert collection.models == ("model-0", "model-1")
    assert mp.ModelCollection([[0, None], [2, 1]]).predictions.tolist() == [[0, -1], [2, 1]]
    assert mp.ModelCollection([[0.0, 1.0]], labels=[[1.0]]).labels.tolist() == [1]  # type: ignore[union-attr]


def test_numbers_too_large_to_be_counted_are_names() -> None:
    collection = mp.ModelCollection([[10**12, 5], [5, -1]], labels=[5, 10**12])
    assert collection.classes == (5, 10**12)
    assert collection.predictions.tolist() == [[1, 0], [0, -1]]
    assert collection.accuracies.tolist() == [0.0, 0.5]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("classes", "dtype"), [(1, "int8"), (128, "int8"), (129, "int16"), (2**15, "int16"), (2**15 + 1, "int32")]
)
def test_codes_take_the_smallest_type_that_fits(classes: int, dtype: str) -> None:
    collection = mp.ModelCollection([[classes - 1, 0]], labels=[0])
    assert collection.predictions.dtype == dtype
    assert collection.labels is not None
    assert collection.labels.dtype == dtype
    assert collection.predictions[0, 0] == classes - 1


def test_nothing_can_be_changed() -> None:
    source = np.array([[0, 1], [1, 1]], dtype=np.int8)
    collection = mp.ModelCollection(source, labels=np.array([0, 1], dtype=np.int8), fields={"id": ["x", "y"]})
    source[0, 0] = 1
    assert collection.predictions[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        collection.predictions[0, 0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        collection.predictions.flags.writeable = True
    locked = np.zeros((1, 2), dtype=np.int8)
    locked.flags.writeable = False
    other = mp.ModelCollection(locked)
    locked.flags.writeable = True
    locked[0, 0] = 1
    assert other.predictions[0, 0] == 0
    with pytest.raises(AttributeError):
        collection.models = ("x", "y")  # type: ignore[misc]
    with pytest.raises(TypeError):
        collection.fields["id"] = ()  # type: ignore[index]


def test_equal_content_is_equal_whatever_it_was_made_from() -> None:
    one = mp.ModelCollection([[0, 1], [1, 1]], labels=[0, 1])
    same = mp.ModelCollection(np.array([[0, 1], [1, 1]], dtype=np.float64), labels=np.array([[0.0], [1.0]]))
    assert one == same
    assert hash(one) == hash(same)
    assert one.fingerprint == same.fingerprint
    assert len(one.fingerprint) == 12


@pytest.mark.parametrize(
    "changes",
    [
        {"predictions": [["cat", "dog", None], ["dog", "dog", "dog"], ["bird", "cat", "cat"]]},
        {"labels": ["cat", "cat", "bird"]},
        {"labels": None},
        {"models": ["a", "b", "d"]},
        {"classes": ["bird", "cat", "dog", "fish"]},
    ],
)
def test_any_change_changes_the_fingerprint(changes: dict[str, Any]) -> None:
    assert small(**changes).fingerprint != small().fingerprint


def test_item_fields_do_not_change_the_fingerprint_but_equality() -> None:
    other = small(fields={"text": ["x", "y", "z"]})
    assert other.fingerprint == small().fingerprint
    assert other != small()
    assert small() != "something else"


def test_it_survives_pickling_and_stays_read_only() -> None:
    collection = small(fields={"text": ["x", "y", "z"]})
    back = pickle.loads(pickle.dumps(collection))  # noqa: S301
    assert back == collection
    assert not back.predictions.flags.writeable


def test_taking_items_takes_labels_and_fields_along() -> None:
    part = small(fields={"text": ["x", "y", "z"]}).take([2, 0])
    assert part.predictions.tolist() == [[0, 1, 1], [1, 2, -1]]
    assert part.labels is not None
    assert part.labels.tolist() == [0, 1]
    assert part.fields["text"] == ("z", "x")


def test_labels_that_nobody_predicted_become_classes() -> None:
    collection = small(labels=None).with_labels(["cat", "fish", "bird"])
    assert collection.classes == ("bird", "cat", "dog", "fish")
    assert collection.labels is not None
    assert collection.labels.tolist() == [1, 3, 0]


def test_accuracy_counts_labelled_items_only_and_abstentions_as_wrong() -> None:
    assert small().accuracies.tolist() == [1.0, 0.0, 0.0]  # type: ignore[union-attr]
    assert small(labels=None).accuracies is None
    assert small(labels=[None, None, None]).labels is None


def test_the_repr_says_what_there_is() -> None:
    assert repr(small()).startswith("<ModelCollection: 3 items, 3 models, 3 classes, 2 labelled, ")


def test_a_data_frame_brings_the_names_of_its_columns() -> None:
    frame = pd.DataFrame({"u": [0], "v": [1]})
    assert mp.ModelCollection(frame).models == ("u", "v")
    assert mp.ModelCollection(frame, models=["first", "second"]).models == ("first", "second")


def test_probabilities_become_the_most_likely_class_and_decisions_are_counted() -> None:
    chances = np.array([[[0.2, 0.8], [0.5, 0.5]], [[np.nan, 1.0], [0.9, 0.1]]])
    collection = mp.ModelCollection.from_probabilities(chances, labels=[1, 0], classes=["no", "yes"])
    assert collection.predictions.tolist() == [[1, 0], [-1, 0]]
    assert collection.classes == ("no", "yes")
    assert any("1 predictions are ties" in note for note in collection.notes)
    assert any("1 predictions have a missing probability" in note for note in collection.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": []}, "shape"),
        ({"predictions": np.empty((0, 3))}, "no items"),
        ({"predictions": [1, 2, 3]}, "row per item"),
        ({"predictions": [[0, 1], [2]]}, "row 1 has 1 entries"),
        ({"predictions": np.zeros((2, 2, 2))}, "from_probabilities"),
        ({"predictions": [[0, -3]]}, "-3 is not a class"),
        ({"predictions": [[0, 0.5]]}, "not a whole number"),
        ({"predictions": [[0, float("nan")]]}, "NaN"),
        ({"predictions": [["a", 1]]}, "one form"),
        ({"predictions": [[0, 1]], "labels": [0, 1]}, "1 items but 2 labels"),
        ({"predictions": [[0, 1]], "labels": [[0, 1]]}, "one label per item"),
        ({"predictions": [["a", "b"]], "labels": [3]}, "one form"),
        ({"predictions": [[0, 1]], "labels": ["a"]}, "whole number"),
        ({"predictions": [[0, 1]], "models": ["a"]}, "2 columns"),
        ({"predictions": [[0, 1]], "models": ["a", "a"]}, "given twice"),
        ({"predictions": [[0, 1]], "models": "ab"}, "list of names"),
        ({"predictions": [[0, 5]], "classes": ["a", "b"]}, "not a place in the 2 classes"),
        ({"predictions": [["a", "c"]], "classes": ["a", "b"]}, "'c' is not one of the 2 classes"),
        ({"predictions": [["a", "b"]], "classes": ["a", "a"]}, "given twice"),
        ({"predictions": [["a", "b"]], "classes": []}, "empty list; pass some"),
        ({"predictions": [["a", "b"]], "fields": {"id": [1, 2]}}, "has 2 values"),
        ({"predictions": None}, "not a table"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mp.InputError, match=message):
        mp.ModelCollection(**arguments)


@pytest.mark.parametrize("shape", [(2, 2), (0, 2, 2), (2, 2, 0)])
def test_probabilities_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(mp.InputError, match="items by models by classes"):
        mp.ModelCollection.from_probabilities(np.zeros(shape))


def test_a_collection_is_played_as_it_is() -> None:
    collection = mp.synthetic_collection(3000, 6, 4, np.linspace(0.5, 0.9, 6).tolist(), seed=1)
    trace = mp.run_stream(mp.ModelPicker(collection.models, seed=2), collection)
    arrays = mp.run_stream(mp.ModelPicker(6, seed=2), collection.predictions, collection.labels)
    assert np.array_equal(trace.queried, arrays.queried)
    assert np.array_equal(trace.predicted, arrays.predicted)
    assert trace.winner == collection.models[int(arrays.winner)]
    assert trace.classes == collection.classes


def test_a_picker_of_other_models_refuses_a_collection() -> None:
    collection = mp.synthetic_collection(10, ["a", "b"], 2, [0.5, 0.9])
    with pytest.raises(mp.InputError, match=r"models=collection\.models"):
        mp.run_stream(mp.ModelPicker(["b", "a"]), collection)
    with pytest.raises(mp.InputError, match="labels of its own"):
        mp.run_stream(mp.ModelPicker(["a", "b"]), collection, collection.labels)
    with pytest.raises(mp.InputError, match="None is not a table"):
        mp.run_stream(mp.ModelPicker(["a", "b"]), collection.predictions)


def test_without_labels_there_is_nothing_to_play() -> None:
    with pytest.raises(mp.InputError, match="no labels to learn from"):
        mp.run_stream(mp.ModelPicker(2), mp.ModelCollection([[0, 1]]))


def test_items_that_are_not_there_cannot_be_taken() -> None:
    with pytest.raises(mp.InputError, match="there are 3 items"):
        small().take([999])
