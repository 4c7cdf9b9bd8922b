"""scikit-learn: an estimator that predicts with the best of some fitted models, as far as labels tell."""

from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.extras import require

require("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.run import run_pool
from modelpicker.certificates.certificate import Certificate
from modelpicker.collections import ModelCollection
from modelpicker.collections.fitted_models import count_items, name_models, predict_all, predictor_of
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import ABSTAINED

Values: TypeAlias = npt.NDArray[Any]


def _chosen_has(method: str) -> Any:
    """A check that the recommended model has a method: else scikit-learn says that this estimator has none."""

    def check(self: "BestModelClassifier") -> bool:
        check_is_fitted(self)
        if not hasattr(self.best_estimator_, method):
            raise AttributeError(f"{self.best_model_!r}, the recommended model, has no {method}().")
        return True

    return check


class BestModelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts with the best of some fitted models, and needs only a few labels to find it.

    `fit(X, y)` looks at few of the labels: `labels_used_` says at how many, `items_used_` at which. To be asked for
    labels instead, call `start(X)`, then `ask` and `tell`: it predicts with the pick so far, from the start.

    Args:
        models: by name: fitted classifiers, or functions that take all items and give one class per item. When
            scikit-learn clones this estimator, they stay fitted.
        tolerance: how much less accurate than the best model the pick may be.
        confidence: of the certificate.
        budget: at most this many labels are looked at.
        random_state: the seed of all randomness.
    """

    classes_: Values
    """All classes that models or labels have."""
    items_used_: Values
    """The items whose labels were looked at, in order."""
    pool_: PoolPicker
    """What chooses the items."""
    models_: dict[str, object]
    n_features_in_: int

    def __init__(
        self,
        models: Mapping[str, object] | None = None,
        *,
        tolerance: float = 0.01,
        confidence: float = 0.95,
        budget: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.models = models
        self.tolerance = tolerance
        self.confidence = confidence
        self.budget = budget
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # the models look at their input themselves, which may be texts
        tags.input_tags.sparse = True
        return tags

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))  # with the same models: clones would not be fitted

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Find the best model; labels that are not needed are not looked at. None in `y`: nobody can tell."""
        if y is None:
            raise InputError(
                "requires y to be passed, but the target y is None: pass labels, or call start(X), then ask() and "
                "tell()."
            )
        labels = _labels(y, count_items(X))
        self._start(X, [label for label in labels.tolist() if label is not None])
        places = {value: code for code, value in enumerate(self.classes_.tolist())}
        codes = np.array([places.get(label, ABSTAINED) for label in labels.tolist()], dtype=np.int64)
        trace = run_pool(self.pool_, codes, budget=self.budget)
        self.items_used_ = trace.items
        return self

    def start(self, X: Any) -> Self:  # noqa: N803
        """Begin with items and without labels: `ask` says which labels are needed."""
        self._start(X, [])
        return self

    def ask(self, count: int = 1) -> list[int]:
        """The items of `X` whose labels are needed next; an empty list if no more are needed."""
        check_is_fitted(self)
        spent = self.budget is not None and self.labels_used_ >= self.budget
        return [] if self.pool_.done or spent else self.pool_.ask(count)

    def tell(self, item: int, label: object) -> Self:
        """The label of an item; None if nobody can tell."""
        check_is_fitted(self)
        if label is None:
            self.pool_.tell(item, None)
            return self
        value: Any = label.item() if isinstance(label, np.generic) else label
        found = np.flatnonzero([one == value for one in self.classes_.tolist()])
        if not len(found):
            self.classes_ = np.append(self.classes_, value)
            found = np.array([len(self.classes_) - 1])
        self.pool_.tell(item, int(found[0]))  # the pool calls classes by their places
        self.items_used_ = np.append(self.items_used_, item)
        return self

    def _start(self, X: Any, told: list[Any]) -> None:  # noqa: N803
        """A pool of what the models say, as places in all classes that models or labels have."""
        models = name_models(self.models)
        said = predict_all(models, X, any_value=True)
        self.classes_ = _unique([*said.ravel().tolist(), *told])
        places = {value: code for code, value in enumerate(self.classes_.tolist())}
        codes = np.array([[places[value] for value in row] for row in said.tolist()], dtype=np.int64)
        names = tuple(range(len(self.classes_)))
        collection = ModelCollection.of_codes(codes.reshape(said.shape), None, list(models), names)
        self.pool_ = PoolPicker(
            collection, seed=self.random_state, confidence=self.confidence, tolerance=self.tolerance
        )
        self.models_ = models
        self.items_used_ = np.array([], dtype=np.int64)
        features = [one.n_features_in_ for one in models.values() if hasattr(one, "n_features_in_")]
        if features:
            self.n_features_in_ = features[0]

    @property
    def best_model_(self) -> str:
        """The name of the recommended model."""
        check_is_fitted(self, "pool_")
        return str(self.pool_.recommended)

    @property
    def best_estimator_(self) -> Any:
        """The recommended model itself."""
        return self.models_[self.best_model_]

    @property
    def labels_used_(self) -> int:
        """How many labels were looked at."""
        return self.pool_.labels_used

    @property
    def certificate_(self) -> Certificate:
        """What is proven about the recommended model, of exactly the items it was chosen on."""
        return self.pool_.certificate(self.confidence)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pool_")

    def predict(self, X: Any) -> Values:  # noqa: N803
        """What the recommended model says."""
        check_is_fitted(self)
        return np.asarray(predictor_of(self.best_model_, self.best_estimator_)(X))

    @available_if(_chosen_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:  # noqa: N803
        """The recommended model's probabilities; columns are its own `classes_`."""
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(_chosen_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Values:  # noqa: N803
        """The recommended model's decision function."""
        return np.asarray(self.best_estimator_.decision_function(X))


def _labels(y: Any, items: int) -> Values:
    """Labels as an array of values, one per item."""
    labels = column_or_1d(y, warn=True)
    known = np.array([label for label in labels.tolist() if label is not None])
    check_classification_targets(known) if len(known) else None
    if len(labels) != items:
        raise InputError(f"inconsistent numbers of samples: there are {items:,} items, but {len(labels):,} labels.")
    return np.asarray(labels)


def _unique(values: list[Any]) -> Values:
    """All values once, in order; an error if they have none."""
    distinct = list(dict.fromkeys(values))
    try:
        return np.array(sorted(distinct), dtype=None if distinct else object)
    except TypeError as error:
        text = next(value for value in distinct if isinstance(value, str))
        other = next(value for value in distinct if not isinstance(value, str))
        raise InputError(
            f"models and labels mix strings, such as {brief(text)}, and others, such as {brief(other)}; "
            "use one kind."
        ) from error
