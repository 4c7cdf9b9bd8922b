"""What is said about a collection, against counts made by hand and by brute force."""

from pathlib import Path

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.collections.description import describe
from modelpicker.collections.plots import plot_collection
from tests.shared_data import need


def test_a_collection_counted_by_hand() -> None:
    collection = mp.ModelCollection(
        [["x", "x", "y", "x"], ["y", "y", "y", "y"], ["x", "x", None, "x"], ["y", "y", "x", "y"]],
        ["x", "y", "z", "x"],
        ["a", "b", "c", "copy"],
    )
    found = describe(collection, "small")
    assert (found.items, found.models, found.classes, found.labelled) == (4, 4, 3, 4)
    assert found.divided_rounds == 3
    assert found.disagreement == 0.75
    assert found.telling_rounds == 2  # in the third, all are wrong
    assert found.identical == (("a", "b", "copy"),)
    assert found.abstentions == {"c": 1}
    assert found.unsaid == ("z",)
    assert found.pairwise == pytest.approx(3 * 6 / (4 * 12))
    assert found.accuracies == {"a": 0.5, "b": 0.5, "c": 0.5, "copy": 0.5}
    assert found.hardness is not None
    assert found.hardness.tied == ("b", "c", "copy")
    assert found.hardness.gap == found.hardness.closeness == 0.0


def test_without_labels_nothing_is_said_of_accuracy() -> None:
    found = describe(mp.ModelCollection([[0, 1], [1, 1]]))
    assert found.accuracies is None
    assert found.hardness is None
    assert found.telling_rounds is None
    assert describe(mp.ModelCollection([[0], [1]], [0, 1])).hardness is None


def test_a_class_that_no_label_has_is_named() -> None:
    assert describe(mp.ModelCollection([[0, 1], [2, 1]], [1, 1])).unlabelled == (0, 2)
    assert describe(mp.ModelCollection([[0, 1], [2, 1]], [1, -1])).unlabelled == ()


@pytest.mark.parametrize("seed", range(3))
def test_delta_theta_and_lambda_are_the_papers(seed: int) -> None:
    collection = mp.synthetic_collection(500, 6, 4, [0.5, 0.55, 0.6, 0.64, 0.7, 0.72], seed)
    labels = np.asarray(collection.labels)
    losses = (collection.predictions != labels[:, None]).astype(float)
    best = 5
    deltas = [(losses[:, j] - losses[:, best]).mean() for j in range(6)]
    thetas = [(losses[:, j] != losses[:, best]).mean() for j in range(6)]
    found = describe(collection).hardness
    assert found is not None
    assert found.best == "model-5"
    assert found.gap == pytest.approx(min(deltas[:5]))
    assert found.closeness == pytest.approx(min(d**2 / t for d, t in zip(deltas[:5], thetas[:5], strict=True)))
    rival = collection.models.index(found.rival)
    assert (found.rival_gap, found.rival_difference) == pytest.approx((deltas[rival], thetas[rival]))


def test_pairs_are_counted_as_brute_force_does() -> None:
    codes = np.random.default_rng(0).integers(-1, 5, (300, 7))
    differ = [(codes[:, i] != codes[:, j]).mean() for i in range(7) for j in range(7) if i != j]
    assert describe(mp.ModelCollection(codes)).pairwise == pytest.approx(np.mean(differ))


def test_the_shared_collections_are_as_the_reference_says() -> None:
    emocontext = describe(mp.load_collection(need("emocontext")))
    assert (emocontext.items, emocontext.models, emocontext.classes) == (5509, 8, 4)
    assert not emocontext.identical
    drift = describe(mp.load_collection(need("drift"))).hardness
    assert drift is not None
    assert drift.rival_difference >= drift.rival_gap >= drift.gap


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_plot_is_written(tmp_path: Path, ending: str) -> None:
    collection = mp.synthetic_collection(200, 40, 3, np.linspace(0.4, 0.9, 40).tolist())
    path = tmp_path / f"x.{ending}"
    plot_collection(collection, describe(collection), path)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("models", [1, 2])
def test_tiny_unlabelled_collections_can_be_plotted(tmp_path: Path, models: int) -> None:
    collection = mp.ModelCollection(np.zeros((1, models), dtype=int))
    plot_collection(collection, describe(collection), tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_a_plot_to_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    collection = mp.ModelCollection([[0, 1]])
    with pytest.raises(mp.InputError, match=r"use \.png"):
        plot_collection(collection, describe(collection), tmp_path / "x.bmp")
