"""What is measured beside the promises: streams that do not depend on how they are cut up."""

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.experiments import promises
from modelpicker.experiments.plan import pool_of
from modelpicker.experiments.promises import (
    MEASURED,
    make_needs,
    make_promises,
    measure_promises,
    usual_realizations,
)
from modelpicker.theory import hardness_of


def test_a_stream_played_in_pieces_is_the_stream_played_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(mp.load_collection("digits"))
    found = hardness_of(*pool)
    whole = measure_promises(pool, found, 700, 3, 0, lambda: None)
    monkeypatch.setattr(promises, "PIECE", 97)
    assert measure_promises(pool, found, 700, 3, 0, lambda: None) == pytest.approx(whole)


def test_items_are_drawn_evenly_and_runs_differ() -> None:
    """A uniform draw of 20,000 from 10 items has each within 2,000 ± 42 (one deviation); 6 are allowed."""
    labels = np.arange(10)
    pool = pool_of(mp.ModelCollection(np.column_stack([labels, labels[::-1]]), labels))
    rows, drawn = promises._drawn(pool, 0, 20_000, 5)
    assert (rows[:, 0] == drawn).all()
    assert (abs(np.bincount(drawn, minlength=10) - 2_000) < 252).all()
    runs = measure_promises(pool, hardness_of(*pool), 50, 4, 0, lambda: None)
    assert runs.shape == (4, len(MEASURED))
    assert len({tuple(run) for run in runs.tolist()}) > 1


def test_a_single_run_has_no_standard_error_and_ties_have_fewer_promises() -> None:
    tie = mp.ModelCollection([[0, 1], [0, 1]], [0, 1])
    found = hardness_of(*pool_of(tie))
    made = make_promises(found, 20, measure_promises(pool_of(tie), found, 20, 1, 0, lambda: None))
    assert all(promise.measured is not None and promise.measured_se is None for promise in made)
    made = make_promises(found, 20, measure_promises(pool_of(tie), found, 20, 0, 0, lambda: None))
    assert all(promise.measured is promise.measured_se is None for promise in made)
    assert [promise.quantity for promise in made if promise.sharper is not None] == [
        "regret",
        "queries",
        "random_round_accuracy_gap",
    ]
    assert len(make_needs(found)) == 1


def test_long_and_wide_streams_are_played_less_often() -> None:
    assert usual_realizations(100, 2) == 500
    assert usual_realizations(10_000, 119) == 42
    assert usual_realizations(10**5, 100) == 10
    assert usual_realizations(10**7, 100) == 0
