"""The proof of a pool after a label was put right: exact on tiny files, by going through every order of draws.

What was drawn with a wrong label in mind is replayed with the right one. A draw counts only for models that were in
play when it was made: the item was drawn from those on which one of them differs from the model on trial.
"""

from typing import NamedTuple

import numpy as np
import pytest

from modelpicker.certificates.pool_proof import PoolProof
from modelpicker.certificates.pool_scores import Flags, PoolScores
from modelpicker.kernels.primitives import Ints
from tests.certificates.test_pool_proof import chances, front, gaps, tiny_file, uneven_levels


class Drawn(NamedTuple):
    """A draw as a campaign writes it down."""

    item: int
    trial: int
    playing: Flags
    levels: Ints | None = None


class Case(NamedTuple):
    """A tiny file with a label that is wrong at first."""

    rows: np.ndarray
    labels: np.ndarray
    told: np.ndarray
    """The labels as they are told at first."""
    corrected: int
    """After that many draws they are put right."""
    confidence: float
    allowed: int


def replayed(case: Case, draws: list[Drawn], labels: np.ndarray) -> PoolProof:
    """The proof after some draws, with these labels."""
    proof = PoolProof(PoolScores(case.rows, np.full(len(labels), -3, dtype=np.int32)), case.allowed)
    models = case.rows.shape[1]
    for drawn in draws:
        expected = np.where(drawn.playing, 0.8, 0.0)
        variance = np.full(models, 0.2)
        proof.draw(drawn.item, proof.trial(drawn.trial), drawn.playing, expected, variance, drawn.levels)
        proof.scores.truth[drawn.item] = labels[drawn.item]
        proof.learn(drawn.item)
    return proof


def chance_of_falsehood(case: Case, draws: list[Drawn]) -> float:
    """The probability that a false certificate is seen once all labels are right."""
    right = len(draws) >= case.corrected
    proof = replayed(case, draws, case.labels if right else case.told)
    if right:
        true = gaps(case.rows, case.labels)
        if any(true[model] > proof.worse_by(model, case.confidence)[0] for model in range(len(true))):
            return 1.0
    trial = proof.trial(front(proof))
    playing = ~proof.beaten(trial, case.confidence)
    levels = uneven_levels(proof, playing)
    found = chances(proof, trial.model, playing, levels)
    if not found:
        # Nothing is left to draw: the correction comes now.
        return 0.0 if right else chance_of_falsehood(case._replace(corrected=len(draws)), draws)
    return sum(
        chance * chance_of_falsehood(case, [*draws, Drawn(item, trial.model, playing, levels)])
        for item, chance in found.items()
    )


@pytest.mark.parametrize("allowed", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_a_corrected_label_leaves_the_error_what_it_was(seed: int, allowed: int) -> None:
    rows, labels = tiny_file(seed)
    for confidence in (0.5, 0.75):
        for corrected in (2, 3):
            told = labels.copy()
            told[seed % len(told)] = (labels[seed % len(told)] + 1) % 3
            case = Case(rows, labels, told, corrected, confidence, allowed)
            assert chance_of_falsehood(case, []) <= 1.0 - confidence + 1e-9


def test_a_replayed_draw_counts_only_for_the_models_that_were_in_play() -> None:
    rows = np.array([[0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=np.int32)
    case = Case(rows, np.zeros(4, dtype=np.int32), np.zeros(4, dtype=np.int32), 0, 0.9, 0)
    both = replayed(case, [Drawn(0, 0, np.array([False, True, True]))], case.labels)
    one = replayed(case, [Drawn(0, 0, np.array([False, True, False]))], case.labels)
    assert both.money[1] == one.money[1] > 1.0
    assert both.money[2] > one.money[2] == 1.0


def test_an_item_that_is_put_back_counts_as_if_it_had_never_been_out() -> None:
    rows, labels = tiny_file(3)
    proof = PoolProof(PoolScores(rows, np.full(len(labels), -3, dtype=np.int32)), 0)
    fresh = proof.counts(1)
    before = [column.copy() for column in (fresh.known, fresh.open, fresh.left, fresh.winnable)]
    proof.take_out(2)
    proof.put_back(2)
    after = proof.counts(1)
    assert all(
        (one == other).all()
        for one, other in zip(before, (after.known, after.open, after.left, after.winnable), strict=True)
    )
    assert proof.drawable.all()
