"""Tiny streams, every outcome of the query coins, exact expectations.

Nothing here is sampled: the tree of all outcomes is walked, each leaf weighted by its probability. The error
allowed, 1e-12 relative, is that of summing a few hundred floating-point products.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest

import modelpicker as mp

NEVER = 1.0 - 2.0**-53  # the largest coin: queries only what is queried for sure
ALWAYS = 0.0


class Forced(mp.ModelPicker):
    """Model Picker whose query coin is put down by hand."""

    coin = ALWAYS

    def coins(self, number: int) -> list[float]:
        return [self.coin, *super().coins(number)[1:]]


@dataclass
class Expected:
    """Exact expectations over all outcomes of the coins."""

    losses: Any = 0.0
    queries: float = 0.0
    sum_of_probabilities: float = 0.0
    mass: float = 0.0
    wrong_probabilities: list[str] = field(default_factory=list)


def textbook_probability(losses: Any, row: list[int], t: float, scale: float) -> float:
    """Eq. 1 of the paper, read off literally: the maximum over all classes."""
    eta = np.sqrt(np.log(len(row)) / (2 * t))
    weights = np.exp(-eta * (losses - losses.min()))
    weights /= weights.sum()
    expected = [weights @ [said != c for said in row] for c in range(5)]
    variance = max(a * (1 - a) for a in expected)
    return float(min(1.0, max(scale * variance, eta))) if len(set(row)) > 1 else 0.0


def walk(rows: list[list[int]], labels: list[int], scale: float = 1.0, window: int = 0) -> Expected:
    expected = Expected(losses=np.zeros(len(rows[0])))
    first = Forced(len(rows[0]), 0, query_scale=scale, window=window)
    stack: list[tuple[mp.ModelPicker, float, int]] = [(first, 1.0, 0)]
    while stack:
        picker, mass, queries = stack.pop()
        t = picker.rounds
        if t == len(rows):
            expected.losses = expected.losses + mass * picker.losses
            expected.queries += mass * queries
            expected.mass += mass
            continue
        want = textbook_probability(picker.losses, rows[t], min(t + 1, window or np.inf), scale)
        for coin in (ALWAYS, NEVER):
            child = copy.deepcopy(picker)
            child.coin = coin  # type: ignore[attr-defined]
            decision = child.observe(rows[t])
            if abs(decision.probability - want) > 1e-12:
                expected.wrong_probabilities.append(f"{rows[: t + 1]}: {decision.probability}, not {want}")
            if decision.query and coin == ALWAYS:
                expected.sum_of_probabilities += mass * decision.probability
                child.learn(decision.round, labels[t])
                stack.append((child, mass * decision.probability, queries + 1))
            elif not decision.query and decision.probability < 1.0 and coin == NEVER:
                stack.append((child, mass * (1.0 - decision.probability), queries))
    return expected


def check(rows: list[list[int]], labels: list[int], scale: float = 1.0, window: int = 0) -> None:
    expected = walk(rows, labels, scale, window)
    assert not expected.wrong_probabilities
    assert expected.mass == pytest.approx(1.0, rel=1e-12)
    divided = [len(set(row)) > 1 for row in rows]
    wrong = [[d and s != y for s in row] for row, y, d in zip(rows, labels, divided, strict=True)]
    ago = np.arange(len(rows))[::-1]
    counts = (1 - 1 / window) ** ago if window else np.ones(len(rows))
    np.testing.assert_allclose(expected.losses, counts @ np.array(wrong, dtype=float), rtol=1e-12, atol=1e-12)
    assert expected.queries == pytest.approx(expected.sum_of_probabilities, rel=1e-12)


def all_streams(rounds: int, models: int, classes: int) -> Iterator[tuple[list[list[int]], list[int]]]:
    rows = list(product(range(classes), repeat=models))
    for chosen in product(rows, repeat=rounds):
        for labels in product(range(classes), repeat=rounds):
            yield [list(row) for row in chosen], list(labels)


def test_estimates_are_unbiased_on_every_binary_stream_of_two_models_and_three_rounds() -> None:
    for rows, labels in all_streams(rounds=3, models=2, classes=2):
        check(rows, labels)


@pytest.mark.parametrize("scale", [0.25, 1.0, 3.0])
@pytest.mark.parametrize(("rounds", "models"), [(6, 4), (6, 2), (5, 3)])
def test_estimates_are_unbiased_on_longer_streams_with_abstentions_and_odd_labels(
    rounds: int, models: int, scale: float
) -> None:
    draw = np.random.default_rng([rounds, models, int(4 * scale)])
    for _ in range(6):
        rows = draw.integers(-1, 3, (rounds, models)).tolist()
        labels = draw.integers(0, 5, rounds).tolist()  # 3 and 4 are predicted by nobody
        check(rows, labels, scale)


def test_the_expected_number_of_queries_of_two_models_that_always_differ() -> None:
    """By hand: at t = 1 the weights are even, so q_1 = max(1/4, sqrt(ln 2 / 2)); at t = 2 the loser's weight is
    1/(1 + exp(η_2 / q_1)) if round 1 was queried and 1/2 if not."""
    eta = [np.sqrt(np.log(2) / (2 * t)) for t in (1, 2)]
    first = max(0.25, eta[0])
    loser = 1 / (1 + np.exp(eta[1] / first))
    second = first * max(loser * (1 - loser), eta[1]) + (1 - first) * max(0.25, eta[1])
    assert walk([[0, 1], [0, 1]], [0, 0]).queries == pytest.approx(first + second, rel=1e-12)
