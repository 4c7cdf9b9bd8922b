"""All checks on all six algorithms, and proof that the checks can fail."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.engine import Kernel
from modelpicker.algorithms.kernels import count_mistakes, smallest_loss
from modelpicker.algorithms.options import Models
from modelpicker.algorithms.testing import Check, Factory, check_algorithm

FACTORIES: dict[str, Factory] = {
    "model-picker": mp.ModelPicker,
    "model-picker scaled": lambda models, seed: mp.ModelPicker(models, seed, query_scale=5.0),
    "model-picker leader": lambda models, seed: mp.ModelPicker(models, seed, predict="leader"),
    "model-picker window": lambda models, seed: mp.ModelPicker(models, seed, window=200),
    "model-picker random-round": lambda models, seed: mp.ModelPicker(models, seed, recommend="random-round"),
    "label-efficient": lambda models, seed: mp.LabelEfficient(models, seed, probability=0.6),
    "vote-entropy": lambda models, seed: mp.VoteEntropy(models, seed, classes=4),
    "structural-committee": lambda models, seed: mp.StructuralCommittee(
        models, seed, beta=0.3, disagreement_scale=1.5
    ),
    "importance-weighted": lambda models, seed: mp.ImportanceWeighted(models, seed, query_scale=0.7),
    "efficient-active": lambda models, seed: mp.EfficientActive(models, seed, c0=1e-3, threshold_scale=2.0),
    "race": mp.Race,
    "race, impatient": lambda models, seed: mp.Race(models, seed, patience=5.5),
    "race, watchful": lambda models, seed: mp.Race(models, seed, exploration=0.1, tolerance=0.05),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{name}-{check}")
        for name, make in FACTORIES.items()
        for check in check_algorithm(make)
    ],
)
def test_every_algorithm_passes_every_check(check: Check) -> None:
    check()


def failures(factory: Factory) -> set[str]:
    failed = set()
    for check in check_algorithm(factory):
        try:
            check()
        except (AssertionError, mp.ModelPickerError):
            failed.add(check.name)
    return failed


class AsksAlways(mp.LabelEfficient):
    """Queries agreement too."""

    name: ClassVar[str] = "asks-always"
    kernel: ClassVar[Kernel]


def ask_always(
    state: Any, settings: Any, t: int, row: Any, coins: Any, scale: float, scratch: Any
) -> tuple[float, int]:
    return 1.0, 0


AsksAlways.kernel = Kernel(ask_always, smallest_loss, count_mistakes)


def test_an_algorithm_that_queries_agreement_is_caught() -> None:
    assert {"agreement_never_queried", "one_class"} <= failures(lambda k, s: AsksAlways(k, s, probability=0.5))


class Hoards(mp.LabelEfficient):
    """Keeps every row."""

    name: ClassVar[str] = "hoards"

    def __init__(self, models: Models, seed: int = 0, *, probability: float = 0.5) -> None:
        super().__init__(models, seed, probability=probability)
        self.rows: list[Any] = []

    def observe(self, row: Any) -> mp.Decision:
        self.rows.append(np.array(row, dtype=object))
        return super().observe(row)


class Forgets(mp.LabelEfficient):
    """Loses its standing when it is saved."""

    name: ClassVar[str] = "forgets"

    def state_dict(self) -> dict[str, Any]:
        blob = super().state_dict()
        blob["state"]["losses"] = [0.0] * len(self.models)
        return blob


class Drifts(mp.LabelEfficient):
    """Decides otherwise one round at a time than in a stream."""

    name: ClassVar[str] = "drifts"

    def observe(self, row: Any) -> mp.Decision:
        decision = super().observe(row)
        self.state.losses[0] += 1e-16 + 1e-16 * self.state.losses[0]
        return decision


def forget(state: Any, settings: Any, t: int, row: Any, label: int, probability: float) -> None:
    for i in range(len(row)):
        state.losses[i] += row[i] != label  # and does not say who stands best


class LearnsNothing(mp.LabelEfficient):
    """Counts mistakes without ever looking at them."""

    name: ClassVar[str] = "learns-nothing"
    kernel: ClassVar[Kernel] = Kernel(mp.LabelEfficient.kernel.parts["decide"], smallest_loss, forget)


def overshoot(
    state: Any, settings: Any, t: int, row: Any, coins: Any, scale: float, scratch: Any
) -> tuple[float, int]:
    return 1.5, 0


class Overshoots(mp.LabelEfficient):
    """Has probabilities above 1."""

    name: ClassVar[str] = "overshoots"
    kernel: ClassVar[Kernel] = Kernel(overshoot, smallest_loss, count_mistakes)


@pytest.mark.parametrize(
    ("make", "caught"),
    [
        (Hoards, "memory_bounded"),
        (Forgets, "state_round_trip"),
        (Drifts, "step_equals_stream"),
        (LearnsNothing, "recommends_the_best"),
        (Overshoots, "well_formed"),
    ],
)
def test_a_faulty_algorithm_is_caught_by_name(make: Callable[..., mp.Algorithm], caught: str) -> None:
    assert caught in failures(lambda models, seed: make(models, seed, probability=0.5))


def test_checks_have_names_that_read_as_words() -> None:
    names = [check.name for check in check_algorithm(mp.ModelPicker)]
    assert len(names) == len(set(names)) >= 11
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
