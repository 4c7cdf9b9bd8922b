"""Pools whose kernels are not compiled yet: NumPy does the same, to the last bit."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.guesses import add_up, mean_guess, row_of
from modelpicker.algorithms.pools.picker import choose, compare, teach
from modelpicker.kernels.elsewhere import compiling_elsewhere

LOSSES: dict[str, dict[str, Any]] = {
    "accuracy": {},
    "weights": {"loss": {"0": 5, "1": 1, "2": 2}},
    "costs": {"loss": {"0": {"1": 4, "2": 1}, "1": {"0": 1, "2": 2}}},
    "grades": {"loss": "grades"},
    "prices": {"price": [1.0, 2.0, 0.5, 3.0, 1.0]},
}


@contextmanager
def not_compiled() -> Iterator[None]:
    """As if another process still compiled what pools need."""
    kernels = (teach, compare, choose, row_of, add_up)
    before = [kernel.ready for kernel in kernels]
    with compiling_elsewhere():
        for kernel in kernels:
            kernel.ready = False
        try:
            yield
        finally:
            for kernel, ready in zip(kernels, before, strict=True):
                kernel.ready = ready


def answers(seed: int, items: int, models: int, classes: int) -> npt.NDArray[np.int64]:
    """What models say: often the same, sometimes nothing, sometimes they were not run."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, (items, 1))
    said = np.where(rng.random((items, models)) < 0.7, truth, rng.integers(0, classes, (items, models)))
    said[rng.random(said.shape) < 0.05] = -1
    said[rng.random(said.shape) < 0.05] = mp.NOT_RUN
    return said


def play(pool: mp.PoolPicker, rounds: int, grades: bool) -> list[Any]:
    """What is asked, and everything that is known after each label."""
    seen: list[Any] = []
    for number in range(rounds):
        asked = pool.ask(1 + number % 2)
        for item in asked:
            said = [name for name in pool.classes if (pool.source.codes[item] == pool.classes.index(name)).any()]
            label: Any = said[number % len(said)] if said else pool.classes[0]
            if number % 9 == 8:
                label = None
            elif grades:
                label = mp.Label.graded({name: (place % 3) / 2 for place, name in enumerate(said)})
            pool.tell(item, label)
        seen.append((asked, pool.recommended, [array.tobytes() for array in pool._model[:4]], known(pool)))
        seen.append(
            [mean_guess(pool, number % len(pool.models)).tobytes(), *(row.tobytes() for row in guesses(pool))]
        )
    return seen


def guesses(pool: mp.PoolPicker) -> list[npt.NDArray[np.int8]]:
    """What was expected of every item before its label came."""
    return list(pool._foreseen.values())


def known(pool: mp.PoolPicker) -> list[bytes]:
    """What was found of every model, and of every item."""
    found = pool._found
    names = ("leader", "ahead", "doubt", "split", "known", "unsure", "right", "tested", "plausible", "worth")
    return [getattr(found, name).tobytes() for name in names]


@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("models", "classes"),
    [
        (5, 3),
        *(pytest.param(*shape, marks=pytest.mark.slow) for shape in ((2, 2), (5, 40), (12, 300))),
    ],
)
def test_arrays_and_kernels_agree_to_the_last_bit(models: int, classes: int, name: str, judged: bool) -> None:
    if name == "prices" and models != 5:
        pytest.skip("prices are of five models")
    rows = answers(models + classes, 400, models, classes)
    judge = np.where(np.arange(400) % 3 == 0, -1, rows.max(axis=1)) if judged else None
    collection = mp.ModelCollection(rows, classes=[str(number) for number in range(classes)])
    options = LOSSES[name] | ({} if judge is None else {"judge": judge})
    found = []
    for arrays in (True, False):
        pool = mp.PoolPicker(collection, seed=7, tolerance=0.02, **options)
        if arrays:
            with not_compiled():
                found.append(play(pool, 24, name == "grades"))
        else:
            found.append(play(pool, 24, name == "grades"))
    assert found[0] == found[1]


@pytest.mark.parametrize("looked_at", [2**20, 1_000 * 6])
def test_a_large_pool_is_gone_through_in_pieces(looked_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelpicker.algorithms.pools.picker.MOST_CELLS", looked_at)
    rows = answers(1, 7_000, 6, 4)
    pools = [mp.PoolPicker(rows, seed=1) for _ in range(2)]
    with not_compiled():
        first = play(pools[0], 3, grades=False)
    assert first == play(pools[1], 3, grades=False)


def test_a_forecast_waits_for_its_kernel() -> None:
    from modelpicker.algorithms.pools.forecast import play as kernel

    pool = mp.PoolPicker(answers(2, 300, 4, 3), seed=1)
    for item in pool.ask(12):
        pool.tell(item, 1)
    before = kernel.ready
    with compiling_elsewhere():
        kernel.ready = False
        assert pool.labels_to_go() is None
        kernel.ready = before
    assert pool.labels_to_go() == mp.PoolPicker.from_state_dict(pool.state_dict(), pool.source.codes).labels_to_go()
