"""The proof of a pool in which some models were not run: exact on tiny files, over every order of draws.

What a model that was not run would have said is known here, and counts for the truth. The proof does not see it.
"""

import copy
import itertools

import numpy as np
import pytest

from modelpicker.certificates.pool_proof import PoolProof
from modelpicker.certificates.pool_scores import PoolScores
from modelpicker.kernels.primitives import NOT_RUN
from tests.certificates.test_pool_proof import (
    TELLS,
    Tell,
    chances,
    front,
    gaps,
    late,
    prompt,
    tiny_file,
    uneven_levels,
)


def masked_file(seed: int, cells: int, items: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tiny file, the same with some models not run, and the labels."""
    whole, labels = tiny_file(seed, items=items)
    rows = whole.copy()
    hidden = np.random.default_rng(seed).permutation(rows.size)[:cells]
    rows.ravel()[hidden] = NOT_RUN
    return whole, rows, labels


def proof_of(rows: np.ndarray, allowed: int) -> PoolProof:
    """A proof that sees only what models said that were run; items on which those agree are not asked about."""
    absent = rows == NOT_RUN
    low, high = np.where(absent, 99, rows).min(axis=1), np.where(absent, -99, rows).max(axis=1)
    contested = np.flatnonzero(high > low)
    truth = np.full(len(contested), -3, dtype=np.int32)
    scores = PoolScores(rows[contested], truth, None, absent[contested], absent)
    return PoolProof(scores, allowed)


def tell(proof: PoolProof, item: int, label: int) -> None:
    """Tell a label as a pool does: the scores of models that were not run are not known."""
    assert proof.scores.absent is not None
    scores = np.where(
        proof.scores.absent[item], np.nan, (proof.rows[item] == label) & (proof.rows[item] != NOT_RUN)
    ).astype(np.float64)
    if np.isnan(scores).any():
        proof.scores.grade(item, scores)
    proof.scores.truth[item] = label
    proof.learn(item)


def chance_of_falsehood(
    proof: PoolProof,
    true: np.ndarray,
    labels: np.ndarray,
    confidence: float,
    way: Tell,
    waiting: list[int],
) -> float:
    """The probability that a false certificate is ever seen, over all orders of the draws from here on."""
    for model in range(len(true)):
        if true[model] > proof.worse_by(model, confidence)[0]:
            return 1.0
    trial = proof.trial(front(proof))
    playing = ~proof.beaten(trial, confidence)
    levels = uneven_levels(proof, playing)
    total = 0.0
    for item, chance in chances(proof, trial.model, playing, levels).items():
        branch = copy.deepcopy(proof)
        expected = np.full(len(true), 0.8)  # far too bold
        branch.draw(item, branch.trials[trial.model], playing, expected, np.full(len(true), 0.2), levels)
        told = way(branch.rows, labels, waiting, item)
        left = [*waiting, item]
        for one in told:
            left.remove(one)
            tell(branch, one, int(labels[one]))
        total += chance * chance_of_falsehood(branch, true, labels, confidence, way, left)
    return total


def check_orders(seeds: list[int], cells: int, allowed: int, way: Tell, confidences: tuple[float, ...]) -> float:
    """The largest share of the allowed error that was seen."""
    worst = 0.0
    for seed, confidence in itertools.product(seeds, confidences):
        whole, rows, labels = masked_file(seed, cells)
        proof = proof_of(rows, allowed)
        absent = rows == NOT_RUN
        low, high = np.where(absent, 99, rows).min(axis=1), np.where(absent, -99, rows).max(axis=1)
        known = labels[high > low]
        false = chance_of_falsehood(proof, gaps(whole, labels), known, confidence, way, [])
        assert false <= 1.0 - confidence + 1e-12, (seed, confidence, cells)
        worst = max(worst, false / (1.0 - confidence))
    return worst


@pytest.mark.parametrize("way", [prompt, late])
def test_over_every_order_of_draws_false_certificates_are_as_rare_as_promised(way: Tell) -> None:
    """No error is allowed: the probabilities are exact, whatever the models that were not run would have said."""
    check_orders([3, 4, 5], 1, 0, way, (0.5, 0.75))
    check_orders([0, 1, 3], 1, 1, way, (0.5,))
    check_orders([3, 4], 3, 1, way, (0.5,))


@pytest.mark.slow
@pytest.mark.parametrize("way", TELLS)
@pytest.mark.parametrize("allowed", [0, 1, 2])
@pytest.mark.parametrize("cells", [1, 2, 4])
def test_over_every_order_of_draws_of_many_files(way: Tell, allowed: int, cells: int) -> None:
    check_orders(list(range(16)), cells, allowed, way, (0.5, 0.6, 0.75, 0.9))


def test_an_item_on_which_a_model_was_not_run_counts_at_its_worst_however_many_labels_come() -> None:
    rows = np.array([[0, 1, 1], [0, 1, NOT_RUN], [1, 0, 1], [NOT_RUN, 0, 1]], dtype=np.int32)
    proof = proof_of(rows, 0)
    assert proof.scores.never_told(0).tolist() == [0.0, 1.0, 2.0]
    for item in range(4):
        tell(proof, item, 0)
    # Beside model 1: right on 0 and 1, wrong on 2, and 3 is not known. Beside model 2: right on 0; 1 and 3 unknown.
    assert proof.counts(0).worst.tolist() == [0.0, -2.0 + 1.0 + 1.0, -1.0 + 2.0]
    assert proof.worse_by(0, 0.95) == (1.0, True)


def test_counts_that_are_kept_up_are_those_of_a_fresh_look() -> None:
    _, rows, labels = masked_file(3, 25, items=30)
    proof = proof_of(rows, 2)
    trial = proof.trial(2)
    for item in range(len(proof.rows) - 6):
        proof.take_out(item)
        if item % 3:
            tell(proof, item, int(labels[item]))
    fresh = PoolProof(proof.scores, 2)
    fresh.labelled[:], fresh.drawable[:] = proof.labelled, proof.drawable
    counted, kept = fresh.trial(2).tally, trial.tally
    for name in ("known", "open", "left", "winnable"):
        assert getattr(counted, name).tolist() == getattr(kept, name).tolist(), name


def test_what_labels_can_still_say_at_best_is_known_before_they_come() -> None:
    rows = np.array([[0, 1], [0, 1], [0, NOT_RUN], [0, NOT_RUN], [NOT_RUN, 1], [0, 1]], dtype=np.int32)
    proof = proof_of(rows, 0)
    assert proof.least_worst(0) == [0.0, 3.0 - 3.0]
    tell(proof, 0, 1)
    assert proof.least_worst(0) == [0.0, 3.0 + 1.0 - 2.0]
