"""Train the models of the shipped collection `digits`, and write what they predict; takes a minute or two.

python -m zoo.digits
"""

import base64
import struct
import time
import warnings
import zlib

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    LogisticRegression,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from zoo.packing import Model, pack

TRAINED_ON = 300
NOISE = 0.3


def recipes() -> dict[str, tuple[str, object]]:
    """Each model by name: how it is made, and the estimator."""
    tree, forest = DecisionTreeClassifier(random_state=0), RandomForestClassifier(200, random_state=0)
    svm, linear = SVC(C=5), LogisticRegression(max_iter=2000)
    return {
        "nearest-centroid": ("the nearest mean image", NearestCentroid()),
        "naive-bayes-gaussian": ("naive Bayes, Gaussian", GaussianNB(var_smoothing=1e-2)),
        "naive-bayes-multinomial": ("naive Bayes, multinomial", MultinomialNB()),
        "naive-bayes-complement": ("naive Bayes, complement", ComplementNB()),
        "naive-bayes-bernoulli": ("naive Bayes on black and white pixels", BernoulliNB(binarize=8)),
        "neighbour-1": ("the nearest training image", KNeighborsClassifier(1)),
        "neighbours-3": ("the nearest 3 training images", KNeighborsClassifier(3)),
        "neighbours-15": ("the nearest 15 training images", KNeighborsClassifier(15)),
        "neighbours-60": ("the nearest 60 training images", KNeighborsClassifier(60)),
        "neighbours-5-cosine": ("the nearest 5 by angle", KNeighborsClassifier(5, metric="cosine")),
        "neighbours-5-binary": (
            "the nearest 5 in black and white",
            make_pipeline(Binarizer(threshold=8), KNeighborsClassifier(5, metric="hamming")),
        ),
        "neighbours-5-components-4": (
            "the nearest 5 by 4 principal components",
            make_pipeline(PCA(4, random_state=0), KNeighborsClassifier(5)),
        ),
        "neighbours-5-components-12": (
            "the nearest 5 by 12 principal components",
            make_pipeline(PCA(12, random_state=0), KNeighborsClassifier(5)),
        ),
        "tree": ("a decision tree", tree),
        "tree-depth-4": ("a decision tree of depth 4", DecisionTreeClassifier(max_depth=4, random_state=0)),
        "tree-depth-6": ("a decision tree of depth 6", DecisionTreeClassifier(max_depth=6, random_state=0)),
        "tree-random": ("a tree that splits at random", ExtraTreeClassifier(random_state=0)),
        "trees-bagged": ("40 bagged trees", BaggingClassifier(tree, 40, random_state=0)),
        "forest-10": ("a random forest of 10 trees", RandomForestClassifier(10, random_state=0)),
        "forest-200": ("a random forest of 200 trees", forest),
        "forest-extra": ("200 trees that split at random", ExtraTreesClassifier(200, random_state=0)),
        "boosted-stumps": ("100 boosted stumps", AdaBoostClassifier(n_estimators=100, random_state=0)),
        "boosted-trees": (
            "gradient boosting, 60 rounds",
            GradientBoostingClassifier(n_estimators=60, random_state=0),
        ),
        "boosted-histograms": (
            "gradient boosting of histograms",
            HistGradientBoostingClassifier(max_iter=60, random_state=0),
        ),
        "linear-discriminant": ("linear discriminant analysis", LinearDiscriminantAnalysis()),
        "linear-discriminant-shrunk": (
            "linear discriminant analysis, shrunk",
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        ),
        "quadratic-discriminant": (
            "quadratic discriminant analysis of 10 principal components",
            make_pipeline(PCA(10, random_state=0), QuadraticDiscriminantAnalysis()),
        ),
        "ridge": ("ridge regression", RidgeClassifier()),
        "logistic": ("logistic regression", make_pipeline(StandardScaler(), linear)),
        "logistic-strong": (
            "logistic regression, C = 0.001",
            make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)),
        ),
        "logistic-components-6": (
            "logistic regression on 6 principal components",
            make_pipeline(PCA(6, random_state=0), LogisticRegression(max_iter=2000)),
        ),
        "perceptron": ("Rosenblatt's perceptron", Perceptron(random_state=0)),
        "passive-aggressive": ("passive-aggressive updates", PassiveAggressiveClassifier(random_state=0)),
        "stochastic-gradient": (
            "a linear support vector machine by stochastic gradients",
            make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        ),
        "svm-linear": (
            "a linear support vector machine",
            make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
        ),
        "svm-gaussian": ("a support vector machine, Gaussian kernel", svm),
        "svm-cubic": ("a support vector machine, cubic kernel", SVC(kernel="poly", degree=3)),
        "svm-sigmoid": (
            "a support vector machine, sigmoid kernel",
            make_pipeline(StandardScaler(), SVC(kernel="sigmoid", gamma=0.005)),
        ),
        "svm-nu": ("a nu support vector machine", NuSVC(nu=0.3)),
        "kernel-ridge": (
            "ridge regression on an approximate Gaussian kernel",
            make_pipeline(StandardScaler(), Nystroem(n_components=150, random_state=0), RidgeClassifier(0.1)),
        ),
        "gaussian-process": (
            "a Gaussian process on 10 principal components",
            make_pipeline(PCA(10, whiten=True, random_state=0), GaussianProcessClassifier(random_state=0)),
        ),
        "label-spreading": ("labels spread to neighbours", LabelSpreading(kernel="knn", n_neighbors=7)),
        "network-8": ("a network of 8 hidden units", scaled(MLPClassifier((8,), max_iter=400, random_state=0))),
        "network-64": ("a network of 64 hidden units", scaled(MLPClassifier((64,), max_iter=400, random_state=0))),
        "network-64-64": (
            "a network of two hidden layers",
            scaled(MLPClassifier((64, 64), max_iter=400, random_state=0)),
        ),
        "network-early": (
            "a network stopped after 10 epochs",
            scaled(MLPClassifier((64,), max_iter=10, random_state=0)),
        ),
        "voting": ("a vote of forest, support vectors and logistic regression", voting(forest, svm, linear)),
        "stacking": (
            "a stack of forest and support vectors",
            StackingClassifier([("forest", forest), ("svm", svm)]),
        ),
    }


def scaled(estimator: object) -> object:
    """An estimator that sees standardised pixels."""
    return make_pipeline(StandardScaler(), estimator)


def voting(*estimators: object) -> object:
    """The majority of some estimators."""
    return VotingClassifier([(str(place), estimator) for place, estimator in enumerate(estimators)])


# Models that are trained once more, on fewer images or on images with wrong labels.
ON_FEWER = ("svm-gaussian", "forest-200", "neighbour-1", "logistic", "network-64")
ON_NOISE = ("svm-gaussian", "forest-200", "neighbour-1", "logistic", "tree")


def main() -> None:
    """Train all models on a few images, and write what they say about the others."""
    warnings.simplefilter("ignore")
    started = time.monotonic()
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    train, rest = order[:TRAINED_ON], np.sort(order[TRAINED_ON:])
    models = []
    for name, made, estimator, chosen, targets in trainings(labels, train):
        codes = estimator.fit(images[chosen], targets).predict(images[rest]).astype(np.int8)
        print(f"{name:32} {(codes == labels[rest]).mean():6.1%} {time.monotonic() - started:5.0f} s", flush=True)
        models.append(Model(name, made, codes))
    fields = {"id": rest.tolist(), "image": [data_uri(image) for image in images[rest]]}
    pack("digits", models, labels[rest], tuple(range(10)), fields)


def trainings(labels: npt.NDArray[np.int64], train: npt.NDArray[np.int64]):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Every model: its name, how it is made, its estimator, and what it is trained on."""
    draw = np.random.default_rng(1)
    noisy = labels[train].copy()
    wrong = draw.random(len(train)) < NOISE
    noisy[wrong] = draw.integers(0, 10, int(wrong.sum()))
    made = recipes()
    for name, (how, estimator) in made.items():
        yield name, f"{how}; trained on {len(train)} images", estimator, train, labels[train]
    for name in ON_FEWER:
        few = train[:60]
        yield f"{name}-few", f"{made[name][0]}; trained on {len(few)} images", recipes()[name][1], few, labels[few]
    for name in ON_NOISE:
        how = f"{made[name][0]}; trained on {len(train)} images, {NOISE:.0%} of the labels drawn at random"
        yield f"{name}-noise", how, recipes()[name][1], train, noisy


def data_uri(image: npt.NDArray[np.float64]) -> str:
    """A picture of 8 x 8 pixels as a PNG that a browser shows as it is: dark ink on white."""
    grey = (255 - image.reshape(8, 8) * 255 / 16).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


if __name__ == "__main__":
    main()
