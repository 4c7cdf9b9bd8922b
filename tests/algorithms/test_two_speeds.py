"""Hypothesis looks for a stream on which the two speeds differ by a bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import modelpicker as mp
from modelpicker.algorithms.checks import as_decisions, compare_speeds, play, same_decisions, same_state

Make = Callable[[Any, int, float], mp.Algorithm]

MAKERS: dict[str, Make] = {
    "model-picker": lambda k, seed, x: mp.ModelPicker(k, seed, query_scale=10 * x),
    "model-picker leader": lambda k, seed, x: mp.ModelPicker(
        k, seed, query_scale=x, predict="leader", recommend="random-round"
    ),
    "model-picker window": lambda k, seed, x: mp.ModelPicker(k, seed, query_scale=x, window=1 + int(30 * x)),
    "label-efficient": lambda k, seed, x: mp.LabelEfficient(k, seed, probability=max(x, 0.01)),
    "vote-entropy": lambda k, seed, x: mp.VoteEntropy(k, seed, classes=3, query_scale=4 * x),
    "structural-committee": lambda k, seed, x: mp.StructuralCommittee(k, seed, beta=x, disagreement_scale=3 * x),
    "importance-weighted": lambda k, seed, x: mp.ImportanceWeighted(k, seed, query_scale=x, delta=0.9),
    "efficient-active": lambda k, seed, x: mp.EfficientActive(k, seed, c0=x / 100, threshold_scale=2 * x),
    "race": lambda k, seed, x: mp.Race(k, seed, tolerance=min(0.9, x), exploration=min(0.9, x / 4)),
}


@st.composite
def streams(draw: st.DrawFn) -> tuple[int, Any, Any]:
    """A few models that copy each other at times, abstain at times, and labels that may be skipped or odd."""
    models = draw(st.integers(2, 12))
    classes = draw(st.sampled_from([1, 2, 3, 20]))
    rounds = draw(st.integers(0, 60))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = random.integers(-1, classes, (rounds, models))
    copies = random.random((rounds, models)) < draw(st.floats(0, 1))
    rows = np.where(copies, rows[:, :1], rows)
    labels = random.integers(-1, classes + 1, rounds)
    return models, rows, labels


@pytest.mark.parametrize("name", MAKERS)
@given(stream=streams(), seed=st.integers(0, 2**128 - 1), dial=st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_step_and_stream_agree_to_the_last_bit(
    name: str, stream: tuple[int, Any, Any], seed: int, dial: float
) -> None:
    models, rows, labels = stream
    compare_speeds(lambda k, s: MAKERS[name](k, s, dial), models, seed, rows, labels)


@pytest.mark.parametrize("name", MAKERS)
@given(stream=streams(), seed=st.integers(0, 1000), data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_stream_may_be_cut_anywhere_and_played_at_either_speed(
    name: str, stream: tuple[int, Any, Any], seed: int, data: st.DataObject
) -> None:
    models, rows, labels = stream
    whole, pieces = (MAKERS[name](models, seed, 0.4) for _ in range(2))
    mp.run_stream(whole, rows, labels)
    cut = data.draw(st.integers(0, len(rows)))
    if data.draw(st.booleans()):
        play(pieces, rows[:cut], labels[:cut])
        mp.run_stream(pieces, rows[cut:], labels[cut:])
    else:
        mp.run_stream(pieces, rows[:cut], labels[:cut])
        play(pieces, rows[cut:], labels[cut:])
    same_state(whole, pieces)


@pytest.mark.parametrize("name", MAKERS)
def test_the_speeds_agree_over_many_rounds(name: str) -> None:
    """A difference of one bit grows through 1/q until decisions differ; over 20,000 rounds it would show."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 3, 20_000)
    rows = np.where(
        draw.random((20_000, 5)) < [0.5, 0.6, 0.61, 0.62, 0.6], labels[:, None], draw.integers(0, 3, (20_000, 5))
    )
    slow, fast = (MAKERS[name](5, 9, 0.2) for _ in range(2))
    decisions = play(slow, rows, labels)
    same_decisions(decisions, as_decisions(mp.run_stream(fast, rows, labels)))
    same_state(slow, fast)
