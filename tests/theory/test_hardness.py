"""Δ, θ, λ of collections, and how restricted an adversary a stream is."""

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.theory import hardness_of, restriction_of
from tests.shared_data import load


@pytest.mark.parametrize("seed", range(3))
def test_the_measures_are_those_of_the_paper(seed: int) -> None:
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, 400)
    rows = np.where(
        draw.random((400, 5)) < [0.4, 0.5, 0.6, 0.7, 0.8], labels[:, None], draw.integers(-1, 4, (400, 5))
    )
    losses = (rows != labels[:, None]).astype(float)
    found = hardness_of(rows, labels)
    best = int(losses.sum(axis=0).argmin())
    deltas = losses.mean(axis=0) - losses[:, best].mean()
    thetas = (losses != losses[:, [best]]).mean(axis=0)
    others = [model for model in range(5) if model != best]
    divided = (rows != rows[:, :1]).any(axis=1)
    assert (found.best, found.tied, found.items, found.models) == (best, (), 400, 5)
    assert found.gaps == pytest.approx(deltas)
    assert found.differences == pytest.approx(thetas)
    assert found.gap == pytest.approx(deltas[others].min())
    assert found.largest_gap == pytest.approx(deltas.max())
    assert found.closeness == pytest.approx((deltas[others] ** 2 / thetas[others]).min())
    assert found.disagreement == pytest.approx(divided.mean())
    assert found.mistakes == losses[divided, best].sum()
    assert found.classes == 5  # four that are said, and abstaining
    assert found.rivals[0] == pytest.approx(deltas[others])


def test_a_large_collection_is_counted_in_pieces() -> None:
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 2, 40_000)
    rows = labels[:, None] ^ (draw.random((40_000, 3)) < [0.1, 0.2, 0.3])
    found = hardness_of(rows, labels)
    assert found.gaps == pytest.approx((rows != labels[:, None]).mean(axis=0) - (rows[:, 0] != labels).mean())
    assert found.mistakes == ((rows[:, 0] != labels) & (rows != rows[:, :1]).any(axis=1)).sum()


def test_models_that_are_tied_for_best_make_lambda_zero() -> None:
    found = hardness_of([[0, 0, 1], [1, 1, 1], [0, 1, 0]], [0, 1, 2])
    assert found.tied == (1,)
    assert found.gap == found.closeness == 0.0
    assert hardness_of([[0, 0], [0, 0]], [0, 0]).tied == (1,)  # one class, nobody disagrees


def test_abstentions_are_wrong_and_agree_with_each_other() -> None:
    found = hardness_of([[-1, -1, 0], [-1, -1, -1], [1, -1, 1]], [0, 0, 1])
    assert found.best == 2
    assert found.gaps.tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert found.disagreement == pytest.approx(2 / 3)
    assert found.mistakes == 0  # where all abstain, nobody can be asked


@pytest.mark.parametrize("name", ["emocontext", "drift"])
def test_the_shared_collections_have_one_best_model(name: str) -> None:
    found = hardness_of(*load(name))
    assert not found.tied
    assert 0 < found.closeness <= found.gap <= found.largest_gap < 1
    assert (found.differences >= found.gaps).all()


def test_a_later_start_allows_a_larger_lead() -> None:
    draw = np.random.default_rng(1)
    labels = draw.integers(0, 2, 2_000)
    rows = labels[:, None] ^ (draw.random((2_000, 4)) < [0.1, 0.3, 0.4, 0.5])
    whole = restriction_of(rows, labels)
    lead = np.cumsum(rows != labels[:, None], axis=0)
    for start in (whole.start, 500, 1_999):
        found = restriction_of(rows, labels, start)
        ahead = (lead[start - 1 :, 1:].min(axis=1) - lead[start - 1 :, 0]) / np.arange(start, 2_001)
        assert found.best == 0
        assert found.gap == pytest.approx(ahead.min())
    assert whole.gap >= restriction_of(rows, labels, 2_000).gap / 2
    assert whole.start > 1
    earlier = (lead[whole.start - 2, 1:] - lead[whole.start - 2, 0]) / (whole.start - 1)
    assert earlier.min() < restriction_of(rows, labels, 2_000).gap / 2


@pytest.mark.parametrize(
    ("predictions", "labels", "complaint"),
    [
        ([[0], [1]], [0, 1], "predictions of 1 model"),
        (np.empty((0, 2), dtype=int), np.empty(0, dtype=int), "of no item"),
        ([0, 1], [0, 1], "of shape (2,)"),
        ([[0, 1], [1, 1]], [0], "1 labels for 2 items"),
        ([[0, 1], [1, 1]], [0, -1], "labels: 1 are missing (-1); leave the items out"),
        ([[0, 1], [1, 1]], None, "labels: there are none"),
        ([[0, -2], [1, 1]], [0, 1], "-2 is not a class code"),
        ([[0, np.nan], [1, 1]], [0, 1], "nan is not a class code"),
        ([[0, 0.5], [1, 1]], [0, 1], "0.5 is not a class code"),
        ([[0, 1], [1, 1]], [0, np.nan], "labels: nan is not a class code"),
        ([["a", "b"], ["a", "a"]], [0, 1], "is not a class code; pass integers"),
    ],
)
def test_what_cannot_be_counted_is_refused(predictions: object, labels: object, complaint: str) -> None:
    with pytest.raises(mp.InputError) as caught:
        hardness_of(predictions, labels)  # type: ignore[arg-type]
    assert complaint in str(caught.value)


def test_a_stream_without_a_lasting_lead_is_not_restricted() -> None:
    rows, labels = [[0, 1], [1, 0], [0, 1]], [0, 0, 0]
    with pytest.raises(mp.InputError, match="two models are tied for best"):
        restriction_of(rows[:2], labels[:2])
    with pytest.raises(mp.InputError, match="start 2 is too early: the best model leads permanently from round 3"):
        restriction_of(rows, labels, 2)
    with pytest.raises(mp.InputError, match="start 4 is after the last"):
        restriction_of(rows, labels, 4)
    with pytest.raises(mp.InputError, match="start 0"):
        restriction_of(rows, labels, 0)


def test_whole_numbers_may_come_as_floats_and_truth_values() -> None:
    assert hardness_of([[0.0, 1.0], [1.0, 1.0]], [0.0, 1.0]).best == 0
    assert hardness_of([[False, True], [True, True]], [False, True]).gap == 0.5
