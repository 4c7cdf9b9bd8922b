"""Classifiers that are not networks, each on one view of the images."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from zoo import features
from zoo.features import Floats
from zoo.images import Images
from zoo.networks import Codes

Views = tuple[Floats, Floats]


@dataclass(frozen=True)
class Recipe:
    """A view of the images, an estimator, and what it is trained on."""

    view: str
    method: str
    estimator: Callable[[], Any]
    items: int = 50_000
    noise: float = 0.0

    @property
    def name(self) -> str:
        """The view and the method, and what is unusual about the training."""
        parts = [self.view, self.method]
        if self.items < 50_000:
            parts.append(str(self.items))
        if self.noise:
            parts.append(f"noise-{self.noise:.0%}".rstrip("%"))
        return "-".join(parts).replace(" ", "-").lower()

    def card(self) -> str:
        """How the model was made, in a line."""
        parts = [f"{self.method} on {VIEWS[self.view]}"]
        if self.items < 50_000:
            parts.append(f"trained on {self.items:,} images")
        if self.noise:
            parts.append(f"{self.noise:.0%} of the training labels drawn at random")
        return "; ".join(parts)


class Kitchen:
    """The images and every view of them, each made when it is first needed."""

    def __init__(self, images: Images) -> None:
        self.images = images
        self.view = cache(self._view)

    def _view(self, name: str) -> Views:
        if name.endswith(("-50", "-200")):
            source, _, count = name.rpartition("-")
            return features.components(*self.view(source), int(count))
        if name == "edges+patches":
            pairs = zip(self.view("edges"), self.view("patches"), strict=True)
            train, test = (np.concatenate([edges, patches / 8], axis=1) for edges, patches in pairs)
            return train, test
        if name in ("patches", "random"):
            describe: Callable[[Any], Floats] = features.Patches(self.images.train, learned=name == "patches")
        else:
            describe = getattr(features, name)
        return describe(self.images.train), describe(self.images.test)


def train(recipe: Recipe, kitchen: Kitchen) -> Iterator[tuple[str, str, Codes]]:
    """Train one classifier, and give what it predicts for the test images."""
    train_view, test_view = kitchen.view(recipe.view)
    draw = np.random.default_rng(0)
    chosen = draw.permutation(len(train_view))[: recipe.items]
    labels = kitchen.images.train_labels[chosen].copy()
    wrong = draw.random(len(labels)) < recipe.noise
    labels[wrong] = draw.integers(0, 10, int(wrong.sum()))
    estimator = recipe.estimator().fit(train_view[chosen], labels)
    yield recipe.name, recipe.card(), estimator.predict(test_view).astype(np.int8)


VIEWS = {
    "pixels": "raw pixels",
    "pixels-50": "50 principal components of the pixels",
    "pixels-200": "200 principal components of the pixels",
    "thumbnails": "8 x 8 thumbnails",
    "colours": "colour histograms",
    "edges": "histograms of oriented gradients",
    "edges-50": "50 principal components of the histograms of oriented gradients",
    "edges-200": "200 principal components of the histograms of oriented gradients",
    "patches": "soft k-means features of 400 patches",
    "patches-50": "50 principal components of the patch features",
    "patches-200": "200 principal components of the patch features",
    "random": "soft features of 400 random patches",
    "edges+patches": "gradients and patch features together",
}


def ridge() -> Any:
    """Least squares on standardised features."""
    return make_pipeline(StandardScaler(), RidgeClassifier(alpha=1000))


def logistic() -> Any:
    """Multinomial logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.002, max_iter=60, tol=1e-3))


def nystroem(kernel: str = "rbf", components: int = 1500) -> Any:
    """Least squares on an approximate kernel."""
    options = {"gamma": None} if kernel == "rbf" else {"gamma": None, "coef0": 1, "degree": 3}
    approximate = Nystroem(kernel=kernel, n_components=components, random_state=0, **options)
    return make_pipeline(StandardScaler(), approximate, RidgeClassifier(alpha=0.01))


def waves() -> Any:
    """Least squares on random Fourier features."""
    return make_pipeline(
        StandardScaler(), RBFSampler(gamma=0.002, n_components=2000, random_state=0), RidgeClassifier()
    )


def perceptron() -> Any:
    """One hidden layer of 128 units."""
    return make_pipeline(StandardScaler(), MLPClassifier((128,), batch_size=256, max_iter=8, random_state=0))


def forest() -> Any:
    """A random forest of 150 trees."""
    return RandomForestClassifier(150, n_jobs=2, random_state=0)


def extra_trees() -> Any:
    """A forest of 150 trees that split at random."""
    return ExtraTreesClassifier(150, n_jobs=2, random_state=0)


def boosting() -> Any:
    """Gradient boosting of histograms."""
    return HistGradientBoostingClassifier(max_iter=60, learning_rate=0.15, random_state=0)


def svm() -> Any:
    """A support vector machine with a Gaussian kernel."""
    return make_pipeline(StandardScaler(), SVC(C=5))


def hinge() -> Any:
    """A linear support vector machine, by stochastic gradients."""
    return make_pipeline(StandardScaler(), SGDClassifier(alpha=0.001, max_iter=8, tol=None, random_state=0))


def neighbours(count: int, metric: str = "euclidean") -> Callable[[], Any]:
    """The class of the nearest training images."""
    return lambda: KNeighborsClassifier(count, metric=metric, algorithm="brute", n_jobs=2)


RECIPES = (
    Recipe("pixels", "nearest centroid", NearestCentroid),
    Recipe("pixels", "ridge", ridge),
    Recipe("pixels", "hinge", hinge),
    Recipe("pixels-50", "naive Bayes", GaussianNB),
    Recipe("pixels-50", "quadratic discriminant", QuadraticDiscriminantAnalysis),
    Recipe("pixels-50", "1 neighbour", neighbours(1)),
    Recipe("pixels-50", "15 neighbours", neighbours(15)),
    Recipe("pixels-50", "15 neighbours", neighbours(15), items=5_000),
    Recipe("pixels-50", "forest", forest),
    Recipe("pixels-200", "linear discriminant", LinearDiscriminantAnalysis),
    Recipe("pixels-200", "15 cosine neighbours", neighbours(15, "cosine")),
    Recipe("pixels-200", "Gaussian kernel", nystroem),
    Recipe("pixels-200", "cubic kernel", lambda: nystroem("poly")),
    Recipe("pixels-200", "random waves", waves),
    Recipe("pixels-200", "support vectors", svm, items=6_000),
    Recipe("pixels-200", "perceptron", perceptron),
    Recipe("thumbnails", "decision tree", lambda: DecisionTreeClassifier(min_samples_leaf=20, random_state=0)),
    Recipe("thumbnails", "extra trees", extra_trees),
    Recipe("thumbnails", "boosting", boosting),
    Recipe("thumbnails", "boosting", boosting, items=5_000),
    Recipe(
        "thumbnails", "boosted stumps", lambda: AdaBoostClassifier(n_estimators=100, random_state=0), items=10_000
    ),
    Recipe("colours", "logistic", logistic),
    Recipe("colours", "forest", forest),
    Recipe("colours", "15 neighbours", neighbours(15, "cityblock"), items=10_000),
    Recipe("edges", "logistic", logistic),
    Recipe("edges", "ridge", ridge),
    Recipe("edges", "ridge", ridge, items=4_000),
    Recipe("edges", "ridge", ridge, noise=0.5),
    Recipe("edges-50", "naive Bayes", GaussianNB),
    Recipe("edges-50", "quadratic discriminant", QuadraticDiscriminantAnalysis),
    Recipe("edges-50", "boosting", boosting),
    Recipe("edges-50", "forest", forest),
    Recipe("edges-200", "15 neighbours", neighbours(15)),
    Recipe("edges-200", "Gaussian kernel", nystroem),
    Recipe("edges-200", "support vectors", svm, items=6_000),
    Recipe("edges-200", "support vectors", svm, items=6_000, noise=0.5),
    Recipe("edges-200", "perceptron", perceptron),
    Recipe("patches", "ridge", ridge),
    Recipe("patches", "logistic", logistic),
    Recipe("patches", "ridge", ridge, items=5_000),
    Recipe("patches", "ridge", ridge, items=15_000),
    Recipe("patches", "ridge", ridge, noise=0.5),
    Recipe("patches-50", "quadratic discriminant", QuadraticDiscriminantAnalysis),
    Recipe("patches-50", "forest", forest),
    Recipe("patches-200", "15 neighbours", neighbours(15)),
    Recipe("patches-200", "Gaussian kernel", nystroem),
    Recipe("random", "ridge", ridge),
    Recipe("edges+patches", "ridge", ridge),
    Recipe("edges+patches", "logistic", logistic),
)
