"""All checks on all algorithms, and proof that every check can fail."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS
from modelpicker.algorithms.checks import Check, Factory, check_algorithm, described
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.registry import make_algorithm
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
from modelpicker.kernels.primitives import count_mistakes, smallest_loss
from modelpicker.options import Option


def usual(name: str) -> Factory:
    """An algorithm as a campaign makes it where nothing is said about its options."""
    return lambda models, seed: make_algorithm(ALGORITHMS[name], models, seed, {}, classes=4)


# All algorithms; some with options with which more happens.
FACTORIES: dict[str, Factory] = {name: usual(name) for name in ALGORITHMS} | {
    "model-picker scaled": lambda models, seed: mp.ModelPicker(models, seed, query_scale=5.0),
    "model-picker leader": lambda models, seed: mp.ModelPicker(models, seed, predict="leader"),
    "model-picker window": lambda models, seed: mp.ModelPicker(models, seed, window=200),
    "model-picker random-round": lambda models, seed: mp.ModelPicker(models, seed, recommend="random-round"),
    "label-efficient": lambda models, seed: mp.LabelEfficient(models, seed, probability=0.6),
    "structural-committee": lambda models, seed: mp.StructuralCommittee(
        models, seed, beta=0.3, disagreement_scale=1.5
    ),
    "importance-weighted": lambda models, seed: mp.ImportanceWeighted(models, seed, query_scale=0.7),
    "efficient-active": lambda models, seed: mp.EfficientActive(models, seed, c0=1e-3, threshold_scale=2.0),
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


CHECKS = [check.name for check in check_algorithm(mp.ModelPicker)]


class AsksAlways(mp.LabelEfficient):
    """Queries agreement too."""

    name: ClassVar[str] = "asks-always"
    kernel: ClassVar[Kernel]


def ask_always(
    state: Any, settings: Any, t: int, row: Any, coins: Any, scale: float, scratch: Any
) -> tuple[float, int]:
    return 1.0, 0


AsksAlways.kernel = Kernel(ask_always, smallest_loss, count_mistakes)


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
    """Loses its seed when it is saved."""

    name: ClassVar[str] = "forgets"

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | {"seed": 0}


class Drifts(mp.LabelEfficient):
    """Decides otherwise one round at a time than in a stream."""

    name: ClassVar[str] = "drifts"

    def observe(self, row: Any) -> mp.Decision:
        decision = super().observe(row)
        self.state.losses[0] += 1e-16 + 1e-16 * self.state.losses[0]
        return decision


def forget(state: Any, settings: Any, t: int, row: Any, lost: Any, probability: float) -> None:
    for i in range(len(row)):
        state.losses[i] += lost[i]  # and does not say who stands best


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


class Moody(mp.LabelEfficient):
    """Starts otherwise each time."""

    name: ClassVar[str] = "moody"
    moods: ClassVar[Iterator[int]] = count(1)

    def __init__(self, models: Models, seed: int = 0, *, probability: float = 0.5) -> None:
        super().__init__(models, seed, probability=probability)
        self.state.losses[0] = next(self.moods)


class Scribbles(mp.LabelEfficient):
    """Writes to the row that it is shown."""

    name: ClassVar[str] = "scribbles"

    def observe(self, row: Any) -> mp.Decision:
        decision = super().observe(row)
        row[0] = row[1]
        return decision


class Hurries(mp.LabelEfficient):
    """Charges more for a label, the more labels came before it."""

    name: ClassVar[str] = "hurries"

    def learn(self, round: int, label: Any) -> None:  # noqa: A002
        super().learn(round, label)
        self.state.losses[0] += round * self.labels_used


class Resents(mp.LabelEfficient):
    """Charges for a skip."""

    name: ClassVar[str] = "resents"

    def learn(self, round: int, label: Any) -> None:  # noqa: A002
        super().learn(round, label)
        self.state.losses[0] += label is None


class Exaggerates(mp.LabelEfficient):
    """Takes the first labels for twice the evidence that they are."""

    name: ClassVar[str] = "exaggerates"

    def learn(self, round: int, label: Any) -> None:  # noqa: A002
        query = self._open[round]
        super().learn(round, label)
        if label is not None and self.labels_used <= 5:
            self.recorder.told(query.row.codes, round, label, query.probability)


def forgive(state: Any, settings: Any, t: int, row: Any, lost: Any, probability: float) -> None:
    count_mistakes(state, settings, t, row, lost, probability)
    for i in range(len(row)):
        state.losses[i] -= row[i] < 0


class Forgives(mp.LabelEfficient):
    """Does not count an abstention as a mistake."""

    name: ClassVar[str] = "forgives"
    kernel: ClassVar[Kernel] = Kernel(mp.LabelEfficient.kernel.parts["decide"], smallest_loss, forgive)


class Shrugs(mp.LabelEfficient):
    """Takes a label that is more than one class for none."""

    name: ClassVar[str] = "shrugs"

    def learn(self, round: int, label: Any) -> None:  # noqa: A002
        super().learn(round, None if isinstance(label, mp.Label) else label)


class Presumes(mp.LabelEfficient):
    """Takes a model that was not run for one that abstains."""

    name: ClassVar[str] = "presumes"

    def observe(self, row: Any) -> mp.Decision:
        return super().observe([-1 if said == mp.NOT_RUN else said for said in row])


class Misreads(mp.LabelEfficient):
    """Mixes the models up where classes are words."""

    name: ClassVar[str] = "misreads"

    def observe(self, row: Any) -> mp.Decision:
        return super().observe(row[::-1] if any(isinstance(said, str) for said in row) else row)


class Stumbles(mp.LabelEfficient):
    """Moves before it has looked where to."""

    name: ClassVar[str] = "stumbles"

    def observe(self, row: Any) -> mp.Decision:
        self.state.losses[0] += 1.0
        return super().observe(row)


class Boasts(mp.LabelEfficient):
    """Declares a default that it does not have."""

    name: ClassVar[str] = "boasts"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        "Asks.", "Never.", "Nothing.", (Option("probability", float, "How often.", 0.5, low=0.0, high=1.0),)
    )


CAUGHT: list[tuple[Callable[..., mp.Algorithm], str]] = [
    (Overshoots, "well_formed"),
    (Boasts, "described"),
    (Overshoots, "probabilities_in_range"),
    (LearnsNothing, "recommends_the_best"),
    (Drifts, "step_equals_stream"),
    (Forgets, "state_round_trip"),
    (Moody, "same_seed_same_decisions"),
    (Scribbles, "input_untouched"),
    (Hoards, "memory_bounded"),
    (AsksAlways, "agreement_never_queried"),
    (Hurries, "late_labels"),
    (Resents, "skipped_labels"),
    (Exaggerates, "certificates"),
    (Forgives, "abstentions"),
    (Shrugs, "graded_labels"),
    (Presumes, "models_not_asked"),
    (Misreads, "names_and_codes_alike"),
    (Stumbles, "errors_change_nothing"),
    (Drifts, "two_models"),
    (Drifts, "two_hundred_models"),
    (AsksAlways, "one_class"),
]


def test_for_every_check_there_is_an_algorithm_that_it_catches() -> None:
    assert [name for _, name in CAUGHT] == CHECKS


@pytest.mark.parametrize(("make", "caught"), CAUGHT)
def test_a_faulty_algorithm_is_caught_by_name(make: Callable[..., mp.Algorithm], caught: str) -> None:
    checks = {
        check.name: check for check in check_algorithm(lambda models, seed: make(models, seed, probability=0.5))
    }
    with pytest.raises(AssertionError):
        checks[caught]()


PROBABILITY = Option("probability", float, "How often.", low=0.0, high=1.0)
WORDS = ("Asks.", "Sometimes.", "Nothing.")
FITTING = {"described": (*WORDS, (PROBABILITY,)), "nothing said": ("", "", "", ())}
UNFIT = {
    "another name": (*WORDS, (replace(PROBABILITY, name="chance"),)),
    "one too many": (*WORDS, (PROBABILITY, Option("more", int, "More.", 1, low=0))),
    "no help": (*WORDS, (replace(PROBABILITY, help=""),)),
    "usual out of range": (*WORDS, (replace(PROBABILITY, usual=2.0),)),
    "no summary": ("", "Sometimes.", "Nothing.", (PROBABILITY,)),
}


def described_by(*about: Any) -> type[mp.LabelEfficient]:
    """An algorithm that describes itself like this."""
    return type("Own", (mp.LabelEfficient,), {"about": AlgorithmDescription(*about)})


@pytest.mark.parametrize("about", FITTING.values(), ids=FITTING)
def test_a_description_that_fits_passes_and_none_is_needed(about: tuple[Any, ...]) -> None:
    kind = described_by(*about)
    described(lambda models, seed: kind(models, seed, probability=0.5))
    assert kind(3, probability=0.5).options == {"probability": 0.5}


@pytest.mark.parametrize("about", UNFIT.values(), ids=UNFIT)
def test_a_description_that_does_not_fit_is_caught(about: tuple[Any, ...]) -> None:
    kind = described_by(*about)
    with pytest.raises(AssertionError):
        described(lambda models, seed: kind(models, seed, probability=0.5))


def test_options_of_an_own_algorithm_are_checked_as_it_declares_them() -> None:
    kind = described_by(*FITTING["described"])
    with pytest.raises(
        mp.InputError, match=r"probability=1\.5 is out of range; pass a number from 0 up and at most 1"
    ):
        kind(3, probability=1.5)


def test_checks_have_names_that_read_as_words() -> None:
    assert len(CHECKS) == len(set(CHECKS)) >= 11
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in CHECKS)
