"""The search for hyperparameters: it lands, says where it cannot, and spends little."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.experiments.isotonic import rising
from modelpicker.experiments.methods import METHODS, Method
from modelpicker.experiments.tuning import GRID_POINTS, TOLERANCE, Aims, Probe, Tuning, grid_search, search, untuned

PICKER = METHODS["model-picker"]
Asked = Callable[[float, int], float]


def carry_out(tuning: Tuning, asked: Asked) -> tuple[Aims, dict[float, set[int]]]:
    """What a tuning finds if runs ask for these numbers of labels, and which runs it wanted."""
    wanted: dict[float, set[int]] = {}
    answers = None
    try:
        while True:
            probes: list[Probe] = next(tuning) if answers is None else tuning.send(answers)
            for probe in probes:
                wanted.setdefault(probe.value, set()).update(probe.streams)
            answers = [np.array([round(asked(p.value, r)) for r in p.streams], dtype=np.int64) for p in probes]
    except StopIteration as stop:
        return stop.value, wanted


def assert_landed(aims: Aims, asked: Asked, budgets: list[int], realizations: int) -> None:
    """Every budget is met within the tolerance."""
    found = means(aims, asked, realizations)
    assert sorted(found) == sorted(budgets)
    assert [b for b in budgets if abs(found[b] - b) > TOLERANCE * b] == []


def means(aims: Aims, asked: Asked, realizations: int) -> dict[int, float]:
    return {b: float(np.mean([round(asked(aim.value, r)) for r in range(realizations)])) for b, aim in aims.items()}


NOISE: npt.NDArray[np.float64] = np.random.default_rng(0).normal(size=1000)


def saturating(value: float, number: int) -> float:
    """From 40 to 1,040 labels, a tenth more or less by stream."""
    return float((40.0 + 1000.0 * value / (value + 3.0)) * (1.0 + 0.1 * NOISE[number]))


def test_it_lands_with_a_fraction_of_the_runs_of_a_grid() -> None:
    budgets = [50, 100, 200, 400, 600, 800, 900, 1000]
    aims, wanted = carry_out(search(PICKER, budgets, 500, 0.0), saturating)
    assert_landed(aims, saturating, budgets, 500)
    kept = {aim.value for aim in aims.values()}
    spent = sum(len(numbers) for value, numbers in wanted.items() if value not in kept)
    assert spent <= 250 * 100 / 10


def test_what_cannot_be_bought_is_marked_and_the_end_is_taken() -> None:
    aims, _ = carry_out(search(PICKER, [10, 300, 5000], 100, 0.0), saturating)
    bought = means(aims, saturating, 100)
    assert aims[10].mark == "least"
    assert bought[10] == pytest.approx(40, rel=0.02)
    assert aims[5000].mark == "most"
    assert bought[5000] == pytest.approx(1040, rel=0.02)
    assert abs(bought[300] - 300) <= TOLERANCE * 300


def test_the_mildest_of_the_values_that_buy_most_is_taken() -> None:
    """From 2 on nothing changes, so that there is no reason to go to the end of the range."""
    aims, _ = carry_out(search(PICKER, [90], 100, 0.0), lambda value, number: min(value, 2.0) * 25.0)
    assert aims[90].mark == "most"
    assert 2.0 <= aims[90].value < 2.0**20


def test_a_method_that_buys_fewer_with_larger_values() -> None:
    aims, _ = carry_out(search(PICKER, [50, 500, 900], 200, 0.0), lambda v, r: saturating(1.0 / v, r))
    assert_landed(aims, lambda v, r: saturating(1.0 / v, r), [50, 500, 900], 200)


def test_a_method_that_jumps_about_is_met_too() -> None:
    """Each stream has its own threshold, below which it asks for 20 labels and above which for 500."""
    thresholds = np.exp(3.0 * NOISE)

    def jumping(value: float, number: int) -> float:
        return 500.0 if value > thresholds[number] else 20.0

    aims, _ = carry_out(search(PICKER, [40, 100, 250, 400, 480], 200, 0.0), jumping)
    assert_landed(aims, jumping, [40, 100, 250, 400, 480], 200)


def test_a_single_realization_can_be_tuned_on() -> None:
    aims, _ = carry_out(search(PICKER, [100], 1, 0.0), saturating)
    assert abs(means(aims, saturating, 1)[100] - 100) <= 2


def test_a_method_that_never_asks_does_not_stop_the_search() -> None:
    aims, _ = carry_out(search(PICKER, [10, 20], 50, 0.0), lambda value, number: 0.0)
    assert {aim.mark for aim in aims.values()} == {"most"}


def test_the_closed_form_is_the_first_guess_and_costs_nothing() -> None:
    label_efficient = METHODS["label-efficient"]
    aims, wanted = carry_out(search(label_efficient, [20, 80], 100, 100.0), lambda v, r: 100.0 * v)
    assert {budget: round(aim.value, 6) for budget, aim in aims.items()} == {20: 0.2, 80: 0.8}
    assert len(wanted) == 2


def test_the_grid_takes_the_nearest_point() -> None:
    aims, wanted = carry_out(grid_search(PICKER, [100, 500], 0.0), saturating)
    assert len(wanted) == GRID_POINTS
    assert all(len(numbers) == 100 for numbers in wanted.values())
    assert min(wanted) == pytest.approx(2.0**-12)
    logs = np.log2(sorted(wanted))
    assert np.allclose(np.diff(logs), logs[1] - logs[0])
    assert list(aims) == [100, 500]
    for budget, mean in means(aims, saturating, 100).items():
        grid = [means({0: mp.experiments.tuning.Tuned(value)}, saturating, 100)[0] for value in wanted]
        assert abs(mean - budget) == min(abs(np.array(grid) - budget))
    aims, wanted = carry_out(grid_search(METHODS["label-efficient"], [20, 400], 100.0), saturating)
    assert ({b: aim.value for b, aim in aims.items()}, wanted) == ({20: 0.2, 400: 1.0}, {})


def test_a_method_that_is_fixed_is_not_tuned() -> None:
    fixed = PICKER.with_options({"query_scale": 2.5}).fixed
    assert fixed == 2.5
    aims, wanted = carry_out(untuned(fixed, [5, 50]), saturating)
    assert [(aim.value, aim.mark) for aim in aims.values()] == [(2.5, "fixed"), (2.5, "fixed")]
    assert not wanted


def test_isotonic_regression_against_brute_force() -> None:
    """The best non-falling fit from a fine grid of levels cannot be better than the one that is found."""
    draws = np.random.default_rng(5)
    for _ in range(20):
        values, weights = draws.integers(0, 4, 5).astype(float), draws.integers(1, 3, 5).astype(float)
        found = rising(values, weights)
        assert (np.diff(found) >= 0).all()
        cost = float((weights * (values - found) ** 2).sum())
        levels = np.linspace(0, 3, 13)
        grid = np.stack(np.meshgrid(*[levels] * 5, indexing="ij"), axis=-1).reshape(-1, 5)
        grid = grid[(np.diff(grid, axis=1) >= 0).all(axis=1)]
        assert cost <= (weights * (values - grid) ** 2).sum(axis=1).min() + 1e-9


def test_methods_that_make_no_sense_are_refused() -> None:
    with pytest.raises(mp.InputError, match="is not a class of algorithms"):
        Method("odd", dict)  # type: ignore[arg-type]
    with pytest.raises(mp.InputError, match="pass 0 < low < high"):
        Method("odd", mp.ModelPicker, search=(1.0, 0.5))
    with pytest.raises(mp.InputError, match="pass 0 < low < high"):
        Method("odd", mp.ModelPicker, search=(1.0, 2.0, 3.0))  # type: ignore[arg-type]
    with pytest.raises(mp.InputError, match="is not a name"):
        Method(5, mp.ModelPicker)  # type: ignore[arg-type]
    with pytest.raises(mp.InputError, match="does not take its options"):
        Method("odd", mp.ModelPicker, options={"colour": 3}).make(3, 2, 1.0)
