"""The bets on a pool take nothing from the truth: what they take from the guess has mean zero over the draw."""

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools import picker
from modelpicker.algorithms.pools.guesses import control_of

MODELS, CLASSES = 6, 5


def hard_pool(judged: bool, items: int) -> tuple[mp.PoolPicker, np.ndarray]:
    """Models that are right on 50 to 60 % of the items, and a judge that is right on nine of ten."""
    random = np.random.default_rng(4)
    labels = random.integers(0, CLASSES, items)
    wrong = random.random((items, MODELS)) < np.linspace(0.5, 0.4, MODELS)
    rows = np.where(wrong, random.integers(0, CLASSES, (items, MODELS)), labels[:, None])
    judge = np.where(random.random(items) < 0.1, (labels + 1) % CLASSES, labels)
    return mp.PoolPicker(rows, judge=judge if judged else None, tolerance=0.0), labels


def check_next_draw(pool: mp.PoolPicker) -> bool:
    """Whether the guess is trusted; if it is, what it takes has mean zero over the items that can be drawn."""
    pool._commit()
    trial = pool._on_trial()
    playing = ~pool._proof.beaten(trial, 0.95)
    drawable = np.flatnonzero(pool._proof.drawable)
    first = control_of(pool, int(drawable[0]), trial.model, playing)
    if first is None:
        return False
    differs = pool._proof.scores.differs(drawable, trial.model)
    taken = np.zeros((len(drawable), MODELS))
    for place, item in enumerate(drawable):
        control = control_of(pool, int(item), trial.model, playing)
        assert control is not None
        assert control.possible
        assert (control.above[differs[place]] <= control.highest[differs[place]] + 1e-9).all()
        taken[place] = np.where(differs[place], control.above, 0.0)
    left = np.maximum(1, differs.sum(axis=0))
    assert np.abs(taken.sum(axis=0) / left).max() < 1e-9
    assert np.abs(taken).max() > 0.01  # else nothing was tried
    return True


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize(("items", "cells"), [(400, picker.MOST_CELLS), (1_100, 1_000 * MODELS)])
def test_what_the_bets_take_from_the_guess_has_mean_zero_over_the_draw(
    items: int, cells: int, judged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error is allowed: the mean is counted. Of a pool with more cells only a sample is looked at."""
    monkeypatch.setattr(picker, "MOST_CELLS", cells)
    pool, labels = hard_pool(judged, items)
    assert (len(pool._sample) < len(pool._rows)) == (items > 1_000)
    trusted = 0
    for number in range(120):
        item = pool.ask(1)[0]
        pool.tell(item, int(labels[item]))
        if number % 40 == 39:
            trusted += check_next_draw(pool)
    assert trusted > 0 or not judged
