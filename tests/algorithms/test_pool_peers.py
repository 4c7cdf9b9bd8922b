"""Model Selector, CODA and labels at random, against cases that can be computed by hand."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools import coda, model_selector, peers
from modelpicker.algorithms.pools.coda import Coda
from modelpicker.algorithms.pools.model_selector import ModelSelector
from modelpicker.algorithms.pools.peers import PoolRule, RandomDisagreements
from modelpicker.coins import draw_coins
from modelpicker.kernels.compiler import with_parts

RULES: list[PoolRule] = [ModelSelector(), Coda(), RandomDisagreements()]


def made(items: int = 60, models: int = 6, classes: int = 3, abstained: float = 0.1) -> tuple[Any, Any]:
    """A small file with abstentions."""
    found = mp.synthetic_collection(items, models, classes, np.linspace(0.4, 0.8, models).tolist(), seed=4)
    codes = np.asarray(found.predictions).astype(np.int32)
    codes[np.random.default_rng(0).random(codes.shape) < abstained] = -1
    return codes, np.asarray(found.labels)


def entropy(chances: Any) -> float:
    return float(-sum(p * math.log(p) for p in chances))


def test_the_entropy_after_a_label_is_that_of_the_belief_multiplied_by_gamma() -> None:
    """Beliefs 0.5, 0.3, 0.2; the label makes the first and the last right, at γ = 3."""
    belief = np.array([0.5, 0.3, 0.2])
    spread = belief * np.log(belief)
    told = ModelSelector(epsilon=0.25).settings(classes=2)
    assert told.growth == 3.0
    after = belief * [3.0, 1.0, 3.0]
    found = model_selector.entropy_after(0.7, spread[0] + spread[2], spread.sum(), told)
    assert found == pytest.approx(entropy(after / after.sum()), rel=1e-12)


def test_model_selector_by_hand() -> None:
    """Four models, γ = 3, four classes. The first item splits the models in two halves, the second one from three.

    An even split leaves two labels with beliefs 3:3:1:1, and two classes that nobody says leave the uniform belief.
    """
    rows = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [2, 2, 2, 2]], dtype=np.int32)
    rule = ModelSelector(epsilon=0.25)
    state, told = rule.start(3, 4, 4), rule.settings(4)
    whole = model_selector.update_belief(state, told)
    assert whole == pytest.approx(-math.log(4), rel=1e-12)
    even = entropy([3 / 8, 3 / 8, 1 / 8, 1 / 8])
    alone, others = entropy([3 / 6, 1 / 6, 1 / 6, 1 / 6]), entropy([1 / 10, 3 / 10, 3 / 10, 3 / 10])
    found = [model_selector.expected_entropy(state, told, rows[item], whole) for item in (0, 1)]
    assert found[0] == pytest.approx((2 * even + 2 * math.log(4)) / 4, rel=1e-12)
    assert found[1] == pytest.approx((alone + others + 2 * math.log(4)) / 4, rel=1e-12)
    assert not state.mass.any()
    assert not state.mass_spread.any()
    run = rule.play(rows, np.array([1, 1, 2]), 4, 3, seed=0)
    assert run.items.tolist() == [0, 1]  # all agree on the third
    assert run.recommended[1] in (2, 3)


def test_an_abstention_is_never_right() -> None:
    """Two answer 0, one abstains: only the label 0 changes the belief, and the abstainer loses."""
    rows = np.array([[0, 0, -1]], dtype=np.int32)
    rule = ModelSelector(epsilon=0.25)
    state, told = rule.start(1, 3, 2), rule.settings(2)
    whole = model_selector.update_belief(state, told)
    found = model_selector.expected_entropy(state, told, rows[0], whole)
    assert found == pytest.approx((entropy([3 / 7, 3 / 7, 1 / 7]) + math.log(3)) / 2, rel=1e-12)
    assert rule.play(rows, np.array([0]), 2, 1, seed=3).recommended[1] != 2


@pytest.mark.parametrize("epsilon", [0.3, 0.46])
def test_model_selector_asks_what_its_definition_says(epsilon: float) -> None:
    """Each item that it asks about is among those that the definition allows after the labels before."""
    rows, labels = made()
    run = ModelSelector(epsilon=epsilon).play(rows, labels, 3, 25, seed=1)
    gamma = (1 - epsilon) / epsilon
    belief = np.ones(6) / 6
    asked: set[int] = set()
    for item in run.items.tolist():
        expected = {}
        for i in range(len(rows)):
            if i not in asked and len(set(rows[i].tolist())) > 1:
                after = [belief * np.where(rows[i] == c, gamma, 1.0) for c in range(3)]
                expected[i] = np.mean([entropy(p / p.sum()) for p in after])
        assert expected[item] <= min(expected.values()) + 1e-11
        asked.add(item)
        belief = belief * np.where(rows[item] == labels[item], gamma, 1.0)
        belief /= belief.sum()
    assert len(asked) == 25


def beta_grid(right: float, wrong: float) -> tuple[Any, Any]:
    """Density and distribution function of a Beta distribution, with the gamma function."""
    x = np.linspace(1e-6, 1 - 1e-6, 256)
    factor = math.lgamma(right + wrong) - math.lgamma(right) - math.lgamma(wrong)
    density = np.exp(factor + (right - 1) * np.log(x) + (wrong - 1) * np.log(1 - x))
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(x)
    return density, np.concatenate([[0.0], np.cumsum(steps)])


def chances(pairs: Any) -> Any:
    """How likely each of some Beta variables is the largest, by the trapezoidal rule."""
    x = np.linspace(1e-6, 1 - 1e-6, 256)
    grids = [beta_grid(*pair) for pair in pairs]
    found = []
    for i, (density, _) in enumerate(grids):
        others = np.prod([below for j, (_, below) in enumerate(grids) if j != i], axis=0)
        found.append(np.trapezoid(density * others, x))
    return np.array(found) / sum(found)


class Textbook:
    """CODA as its paper writes it, with nothing kept from one step to the next."""

    def __init__(self, rows: Any, classes: int) -> None:
        self.rows, self.classes = rows, classes
        models = rows.shape[1]
        votes = np.array([[np.count_nonzero(row == c) for c in range(classes)] for row in rows])
        consensus = np.where(votes.any(axis=1), votes.argmax(axis=1), -1)
        self.counts = np.zeros((models, classes, classes + 1))
        for model in range(models):
            for c in range(classes):
                said = rows[consensus == c, model]
                shares = np.array([np.count_nonzero(said == s) for s in [*range(classes), -1]]) / max(1, len(said))
                base = np.full(classes + 1, 1.0 / (classes - 1))
                base[c], base[-1] = 1.0, 0.0
                self.counts[model, c] = 2.0 * (base + 0.1 * shares)

    def learn(self, item: int, label: int) -> None:
        for model, said in enumerate(self.rows[item]):
            self.counts[model, label, said] += 0.01

    def look(self) -> tuple[Any, Any, Any]:
        """How likely each class is for each item, how frequent classes are, and P(best) for each class."""
        belief = np.array(
            [
                [sum(self.counts[m, c, said] for m, said in enumerate(row)) for c in range(self.classes)]
                for row in self.rows
            ]
        )
        belief /= belief.sum(axis=1, keepdims=True)
        return belief, belief.mean(axis=0), np.array([self.best(c) for c in range(self.classes)])

    def best(self, c: int, row: Any = None) -> Any:
        pairs = []
        for model in range(self.rows.shape[1]):
            right = self.counts[model, c, c]
            wrong = self.counts[model, c].sum() - right
            hit = row is not None and row[model] == c
            pairs.append((right + hit, wrong + (row is not None and not hit)))
        return chances(pairs)

    def gains(self, items: list[int]) -> dict[int, float]:
        belief, share, best = self.look()
        mixture = share @ best
        found = {}
        for item in items:
            after = [mixture + share[c] * (self.best(c, self.rows[item]) - best[c]) for c in range(self.classes)]
            found[item] = -sum(belief[item, c] * entropy(np.maximum(after[c], 1e-12)) for c in range(self.classes))
        return found


@pytest.mark.slow
def test_coda_is_its_paper_step_by_step() -> None:
    """Items, and the model that is most likely the best, on a file with abstentions.

    The kernel normalises densities on the grid and not by the gamma function: scores agree to 1e-5.
    """
    rows, labels = made(items=40, models=5)
    run = Coda().play(rows, labels, 3, 12, seed=1)
    book = Textbook(rows, 3)
    left = [i for i in range(40) if len(set(rows[i].tolist())) > 1]
    assert len(run.items) == 12
    for t, item in enumerate(run.items.tolist()):
        gains = book.gains(left)
        assert gains[item] >= max(gains.values()) - 1e-5
        left.remove(item)
        book.learn(item, labels[item])
        _, share, best = book.look()
        mixture = share @ best
        assert mixture[run.recommended[t + 1]] >= mixture.max() - 1e-5


def test_codas_prior_by_hand() -> None:
    """Three items with consensus 0, 0 and 1. The third model says 1 of the first and abstains on the second."""
    rows = np.array([[0, 0, 1], [0, 0, -1], [1, 1, 1]], dtype=np.int32)
    state = Coda().start(3, 3, 2)
    coda.prepare_prior(state, peers.NoSettings(2), rows)
    assert state.counts[0, 0] == pytest.approx([2.2, 2.0, 0.0], rel=1e-12)
    assert state.counts[2, 0] == pytest.approx([2.0, 2.1, 0.1], rel=1e-12)
    assert state.counts[2, 1] == pytest.approx([2.0, 2.2, 0.0], rel=1e-12)
    assert state.belief[0] == pytest.approx([2.2 + 2.2 + 2.1, 2.0 + 2.0 + 2.2], rel=1e-12)
    assert state.belief[1, 0] == pytest.approx(2.2 + 2.2 + 0.1, rel=1e-12)
    assert state.best[0] == pytest.approx(chances([(2.2, 2.0), (2.2, 2.0), (2.0, 2.2)]), abs=1e-4)
    assert state.mixture.sum() == pytest.approx(1.0, rel=1e-9)


def test_labels_at_random_choose_every_disagreement_equally_often() -> None:
    """Of four disagreements each is first in a quarter of 400 files: 100, with a standard deviation of 8.7.

    35 is allowed, four standard deviations; the seeds are fixed.
    """
    rows = np.array([[0, 1], [0, 0], [1, 0], [0, 1], [1, 0]], dtype=np.int32)
    first = [RandomDisagreements().play(rows, np.zeros(5), 2, 1, seed).items[0] for seed in range(400)]
    counts = np.bincount(first, minlength=5)
    assert counts[1] == 0
    assert all(abs(counts[i] - 100) <= 35 for i in (0, 2, 3, 4))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_asks_every_disagreement_once_and_nothing_else(rule: PoolRule) -> None:
    rows, labels = made()
    run = rule.play(rows, labels, 3, len(rows), seed=2)
    contested = [i for i, row in enumerate(rows) if any(a != b for a, b in combinations(row.tolist(), 2))]
    assert sorted(run.items.tolist()) == contested
    assert len(run.recommended) == len(contested) + 1
    assert len(contested) < len(rows)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_longer_run_begins_like_a_shorter_one(rule: PoolRule) -> None:
    rows, labels = made()
    short, long = (rule.play(rows, labels, 3, most, seed=5) for most in (7, 20))
    assert np.array_equal(short.items, long.items[:7])
    assert np.array_equal(short.recommended, long.recommended[:8])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_interpreted_and_compiled_a_rule_does_the_same(rule: PoolRule) -> None:
    rows, labels = made(items=12, models=3)
    compiled = rule.play(rows, labels, 3, 4, seed=6)
    interpreted = peers.PoolRun(np.zeros(4, dtype=np.int64), np.zeros(5, dtype=np.int64))
    bought = with_parts(peers.play_pool, dict(zip(peers.EMPTY, rule.parts, strict=True)))(
        rule.start(12, 3, 3),
        rule.settings(3),
        rows,
        labels,
        draw_coins(6, 0, 5),
        np.zeros(12, dtype=np.bool_),
        np.zeros(12),
        *interpreted,
    )
    assert bought == len(compiled.items) == 4
    assert np.array_equal(compiled.items, interpreted.items)
    assert np.array_equal(compiled.recommended, interpreted.recommended)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_without_a_disagreement_nothing_is_asked(rule: PoolRule) -> None:
    run = rule.play(np.zeros((5, 3), dtype=np.int32), np.zeros(5), 2, 5, seed=0)
    assert len(run.items) == 0
    assert len(run.recommended) == 1


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_seeds_decide_ties(rule: PoolRule) -> None:
    rows = np.array([[0, 1], [1, 0]] * 20, dtype=np.int32)
    runs = [rule.play(rows, np.zeros(40), 2, 5, seed).items.tolist() for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("epsilon", [0.0, 0.5, -1, math.nan, "much", True])
def test_epsilon_is_between_0_and_a_half(epsilon: Any) -> None:
    with pytest.raises(mp.InputError, match="epsilon"):
        ModelSelector(epsilon=epsilon)


@pytest.mark.parametrize("classes", [1, 21])
def test_coda_says_how_many_classes_it_compares(classes: int) -> None:
    with pytest.raises(mp.InputError, match=f"2 to 20 classes, and here are {classes}"):
        Coda().play(np.array([[0, -1]]), np.zeros(1), classes, 1, seed=0)
