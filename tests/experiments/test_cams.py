"""CAMS, the neighbour that slices are compared with: cases that were computed by hand."""

import numpy as np
import pytest
from benchmarks.cams import Cams, CamsOfAllMaps, play, two_model_policies, vote_contexts

DIVIDED, AGREED = np.array([0, 1]), np.array([1, 1])


def test_two_constant_policies_by_hand() -> None:
    cams = Cams(np.array([[0], [1]]), models=2, classes=2)
    assert cams.step(DIVIDED, 0) == (0, 1.0)  # 1 / sqrt(1)
    cams.learn(DIVIDED, 0, 0, 1.0)
    assert cams.losses.tolist() == [0.0, 1.0]
    served, chance = cams.step(DIVIDED, 0)
    # Rate sqrt(ln 2 / 2) = 0.5887: weights 1 and 0.5551, over their sum 0.6431 and 0.3569.
    assert cams.weights(0).tolist() == pytest.approx([0.6431, 0.3569], abs=1e-4)
    # 0.3569 · 1.4863 + 0.6431 · 0.6370 = 0.9401 bits, over two classes 0.4701; 1 / sqrt(2) is more.
    assert cams.entropy(DIVIDED, cams.weights(0)) == pytest.approx(0.4701, abs=1e-4)
    assert served == 0
    assert chance == pytest.approx(0.7071, abs=1e-4)
    cams.learn(DIVIDED, 0, 0, chance)
    assert cams.losses.tolist() == pytest.approx([0.0, 2.4142], abs=1e-4)


def test_the_entropy_of_three_classes_by_hand() -> None:
    cams = Cams(np.array([[0], [1], [2], [3]]), models=4, classes=3)
    # Not saying 0, 1, 2: 1/2, 3/4, 3/4. In base 3: 0.3155 + 2 · 0.1964 = 0.7083, over three classes 0.2361.
    assert cams.entropy(np.array([0, 0, 1, 2]), np.full(4, 0.25)) == pytest.approx(0.2361, abs=1e-4)
    assert cams.entropy(np.array([0, 0, 0, 0]), np.full(4, 0.25)) == 0.0


def test_a_policy_has_the_loss_of_the_model_that_it_names_in_the_context() -> None:
    cams = Cams(np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), models=2, classes=2)
    cams.step(DIVIDED, 1)
    cams.learn(DIVIDED, 1, 1, 0.5)  # model 0 is wrong, in context 1
    assert cams.losses.tolist() == [2.0, 0.0, 0.0, 2.0]
    assert (cams.serve(0), cams.serve(1)) == (0, 1)


def test_it_never_asks_where_all_models_agree_and_the_scale_is_a_factor() -> None:
    cams = Cams(np.array([[0], [1]]), models=2, classes=2, scale=0.5)
    assert cams.step(AGREED, 0)[1] == 0.0
    assert cams.step(DIVIDED, 0)[1] == pytest.approx(0.5 / np.sqrt(2))


def test_the_policies_are_all_models_and_all_pairs_that_differ_in_one_context() -> None:
    policies = two_model_policies(3, 2)
    assert len(policies) == 3 + 2 * 3 * 2
    assert policies[:3].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert [0, 1] in policies.tolist()


def test_contexts_are_what_most_models_say() -> None:
    assert vote_contexts(np.array([[0, 2, 2], [1, 0, -1]]), 3).tolist() == [2, 0]


def test_on_a_stream_it_learns_to_serve_the_model_of_each_context() -> None:
    """Model 0 is right in context 0, model 1 in context 1; 300 rounds, the seed is fixed."""
    contexts = np.arange(300) % 2
    rows, labels = np.tile(DIVIDED, (300, 1)), contexts
    cams = Cams(two_model_policies(2, 2), models=2, classes=2)
    found = play(cams, rows, labels, contexts, np.random.default_rng(0).random(300), budget=25)
    assert found.labels == 25
    assert found.final.tolist() == [0, 1]
    assert (found.served[200:] == contexts[200:]).all()


def test_all_maps_give_the_weights_of_a_list_of_all_of_them() -> None:
    """Two models and two contexts have four maps, which can be listed."""
    listed = Cams(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), models=2, classes=2)
    factored = CamsOfAllMaps(np.zeros((1, 2), dtype=int), models=2, classes=2)
    for context, label in ((0, 0), (1, 1), (1, 0), (0, 0)):
        assert listed.step(DIVIDED, context) == pytest.approx(factored.step(DIVIDED, context))
        for cams in (listed, factored):
            cams.learn(DIVIDED, context, label, 0.5)
    for context in (0, 1):
        assert listed.weights(context).tolist() == pytest.approx(factored.weights(context).tolist())
