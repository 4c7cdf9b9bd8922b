"""Fitted models instead of predictions, and the estimator that predicts with the pick so far."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import modelpicker as mp
from modelpicker.collections.fitted_models import count_items
from modelpicker.integrations.scikit_learn import BestModelClassifier

X, Y = make_classification(1_200, n_features=8, n_informative=5, flip_y=0.02, random_state=0)
TRAIN, REST = slice(0, 200), slice(200, None)
MODELS = {
    "tree": DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[TRAIN], Y[TRAIN]),
    "linear": LogisticRegression().fit(X[TRAIN], Y[TRAIN]),
    "bayes": GaussianNB().fit(X[TRAIN], Y[TRAIN]),
    "majority": DummyClassifier().fit(X[TRAIN], Y[TRAIN]),
}
SCORES = {name: model.score(X[REST], Y[REST]) for name, model in MODELS.items()}


def test_a_collection_of_fitted_models_has_their_predictions() -> None:
    made = mp.ModelCollection.from_models(MODELS, X[REST], Y[REST])
    assert made.models == tuple(MODELS)
    assert made.accuracies is not None
    assert made.accuracies.tolist() == pytest.approx(list(SCORES.values()))


def test_pick_takes_models_by_name_and_asks_for_few_labels() -> None:
    found = mp.pick(X[REST], labels=Y[REST], models=MODELS, tolerance=0.05)
    assert found.reached
    assert found.labels_used < 500
    assert SCORES[str(found.model)] >= max(SCORES.values()) - 0.05


def test_who_is_asked_sees_the_texts_that_the_models_saw() -> None:
    texts = ["buy now", "hello", "buy buy", "see you", "now now"] * 12
    model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(["buy now", "hello you"], ["spam", "ham"])
    asked = []

    def label(item: dict[str, Any]) -> str:
        asked.append(item["text"])
        return "spam" if "buy" in item["text"] or "now" in item["text"] else "ham"

    found = mp.pick(texts, label, models={"words": model, "never": lambda items: ["ham"] * len(items)})
    assert found.model == "words"
    assert set(asked) <= set(texts)
    assert len(asked) == found.labels_used > 0


def test_columns_of_text_and_identities_of_a_frame_are_fields() -> None:
    frame = pd.DataFrame({"id": [7, 8], "text": ["a", "bb"], "size": [0.5, 1.5]})
    made = mp.ModelCollection.from_models([("big", lambda rows: (rows["size"] > 1).astype(int))], frame)
    assert dict(made.fields) == {"id": (7, 8), "text": ("a", "bb")}
    assert made.predictions.tolist() == [[0], [1]]


def test_models_without_names_are_called_by_their_types() -> None:
    made = mp.ModelCollection.from_models([MODELS["tree"], MODELS["bayes"]], X[:3])
    assert made.models == ("DecisionTreeClassifier", "GaussianNB")


WRONG: list[tuple[object, object, str]] = [
    ({}, [1], "there are no models"),
    ("tree", [1], "pass models by name"),
    ({"a": 3}, [1], "model 'a' is 3, which has no predict"),
    ({"a": GaussianNB}, [1], "is the class GaussianNB; pass a fitted one"),
    ({"a": GaussianNB()}, X[:2], "model 'a' cannot predict: it is not fitted"),
    ({"a": lambda items: 1 / 0}, [1], "model 'a' cannot predict: ZeroDivisionError"),
    ({"a": lambda items: [0]}, [1, 2], "model 'a' gave 1 predictions for 2 items"),
    ({"a": lambda items: "spam"}, [1], "must give one class per item"),
    ({"a": lambda items: np.zeros((1, 3))}, [1], "from_probabilities"),
    ({"a": lambda items: [-1, 1]}, [1, 2], "model 'a' says class -1"),
    ([GaussianNB(), GaussianNB()], [1], "two models are called 'GaussianNB'"),
    ({"a": lambda items: [0]}, "spam", "pass what the models predict for"),
]


@pytest.mark.parametrize(("models", "items", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_wrong_models_are_refused_with_a_reason(models: object, items: object, said: str) -> None:
    with pytest.raises(mp.InputError, match=said):
        mp.ModelCollection.from_models(models, items)


def test_it_predicts_with_the_best_model_after_few_labels() -> None:
    best = BestModelClassifier(MODELS, tolerance=0.05).fit(X[REST], Y[REST])
    assert SCORES[best.best_model_] >= max(SCORES.values()) - 0.05
    assert best.labels_used_ == len(best.items_used_) < 500
    assert best.certificate_.gap <= 0.05
    assert (best.predict(X) == MODELS[best.best_model_].predict(X)).all()
    assert best.score(X[REST], Y[REST]) == SCORES[best.best_model_]
    assert best.predict_proba(X[:4]).shape == (4, 2)


def test_labels_that_were_not_asked_for_do_not_matter() -> None:
    first = BestModelClassifier(MODELS, tolerance=0.05).fit(X[REST], Y[REST])
    hidden = np.full(1_000, None, dtype=object)
    hidden[first.items_used_] = Y[REST][first.items_used_]
    second = BestModelClassifier(MODELS, tolerance=0.05).fit(X[REST], hidden)
    assert second.best_model_ == first.best_model_
    assert second.items_used_.tolist() == first.items_used_.tolist()


def test_it_predicts_with_the_pick_so_far_while_labels_come() -> None:
    best = BestModelClassifier(MODELS, tolerance=0.05).start(X[REST])
    assert len(best.predict(X[:5])) == 5
    for _ in range(600):
        for item in best.ask():
            best.tell(item, Y[REST][item])
    assert best.ask() == []
    assert best.best_model_ == BestModelClassifier(MODELS, tolerance=0.05).fit(X[REST], Y[REST]).best_model_


def test_a_budget_is_never_passed_and_nobody_need_know_a_label() -> None:
    assert BestModelClassifier(MODELS, budget=7).fit(X[REST], Y[REST]).labels_used_ == 7
    best = BestModelClassifier(MODELS, budget=1).start(X[REST])
    best.tell(best.ask()[0], None)
    assert best.labels_used_ == 0
    best.tell(best.ask()[0], "a class that nobody predicts")
    assert (best.labels_used_, best.ask()) == (1, [])


@pytest.mark.parametrize("values", [(-1, 1), ("no", "yes"), (0.0, 1.0), (False, True)], ids=str)
def test_classes_may_be_any_values(values: tuple[Any, Any]) -> None:
    y = np.array(values)[Y]
    models = {
        "good": GaussianNB().fit(X[TRAIN], y[TRAIN]),
        "bad": DummyClassifier().fit(X[TRAIN], y[TRAIN]),
    }
    best = BestModelClassifier(models).fit(X[REST], y[REST])
    assert best.best_model_ == "good"
    assert best.classes_.tolist() == list(values)


def test_a_clone_keeps_the_models_fitted_and_the_pick_out() -> None:
    copy = clone(BestModelClassifier(MODELS, tolerance=0.05).fit(X[REST], Y[REST]))
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert copy.fit(X[REST], Y[REST]).best_model_ in MODELS


def test_what_the_recommended_model_cannot_do_is_said() -> None:
    best = BestModelClassifier({"svm": LinearSVC().fit(X, Y), "bad": MODELS["majority"]}).fit(X, Y)
    assert best.best_model_ == "svm"
    assert best.decision_function(X).shape == (1_200,)
    assert not hasattr(best, "predict_proba")


def test_wrong_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="1,000 items, but 10 labels"):
        BestModelClassifier(MODELS).fit(X[REST], Y[:10])
    with pytest.raises(ValueError, match="Unknown label type"):
        BestModelClassifier(MODELS).fit(X[:3], [0.5, 1.5, 2.5])
    with pytest.raises(mp.InputError, match="mix strings"):
        BestModelClassifier(MODELS).fit(X[:3], ["a", "b", "a"])
    with pytest.raises(mp.InputError, match="pass models by name"):
        BestModelClassifier().fit(X, Y)


@dataclass(frozen=True)
class Always:
    """A model that needs no fitting: scikit-learn's checks bring data of every shape."""

    place: int

    def __call__(self, items: Any) -> list[int]:
        return [self.place] * count_items(items)


REASON = "its models are fitted before, so it cannot learn the classes and features of this check"
EXPECTED = {
    "check_classifiers_train": REASON,
    "check_classifiers_classes": REASON,
}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [BestModelClassifier({"zero": Always(0), "one": Always(1)}, budget=5)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_it_passes_the_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
    assert list(estimator.models) == ["zero", "one"]  # clones share them, and leave them as they are
