"""What the rules that others published for pools share: one loop that asks, learns and recommends, compiled.

They are here for comparisons. A rule brings four kernels: `prepare`, `score`, `learn` and `recommend`. They take
the place of the empty functions below. An item on which all models agree is never asked about.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.kernels.compiler import CompiledKernel, Function
from modelpicker.kernels.philox import draw_many
from modelpicker.kernels.primitives import (
    FIRST,
    SPARE,
    Codes,
    Floats,
    Ints,
    Mistakes,
    agreed,
    kernel_codes,
    no_mistakes,
    note_best,
    smallest_loss,
)

Mask: TypeAlias = npt.NDArray[np.bool_]
RuleState: TypeAlias = Any  # a rule's own NamedTuple of arrays
RuleSettings: TypeAlias = Any  # a rule's own NamedTuple of numbers

# Scores that differ by no more than this are equal: only rounding tells them apart.
TIE = 1e-12
NOTHING = -1


def prepare(state: RuleState, settings: RuleSettings, rows: Codes) -> None:
    """A rule's own: what it makes of the predictions before the first label."""
    raise NotImplementedError


def score(state: RuleState, settings: RuleSettings, rows: Codes, asking: Mask, scores: Floats) -> None:
    """A rule's own: how much the label of each item that may be asked about is worth; the highest is asked."""
    raise NotImplementedError


def learn(state: RuleState, settings: RuleSettings, rows: Codes, item: int, label: int) -> None:
    """A rule's own: take in the label of an item."""
    raise NotImplementedError


def recommend(state: RuleState, settings: RuleSettings, coin: float) -> int:
    """A rule's own: the best model so far; the coin decides between equals."""
    raise NotImplementedError


EMPTY: tuple[Function, ...] = (prepare, score, learn, recommend)


def highest(scores: Floats, allowed: Mask, coin: float) -> int:
    """The allowed place with the highest score; the coin decides between equals. NOTHING if none is allowed."""
    found = NOTHING
    for i in range(len(scores)):
        if allowed[i] and (found < 0 or scores[i] > scores[found]):
            found = i
    if found < 0:
        return NOTHING
    least = scores[found] - TIE
    equals = 0
    for i in range(len(scores)):
        equals += allowed[i] and scores[i] >= least
    passed_over = min(int(coin * equals), equals - 1)
    for i in range(len(scores)):
        if allowed[i] and scores[i] >= least:
            if passed_over == 0:
                return i
            passed_over -= 1
    return found


def play_pool(
    state: RuleState,
    settings: RuleSettings,
    rows: Codes,
    labels: Codes,
    coins: Floats,
    asking: Mask,
    scores: Floats,
    items: Ints,
    recommended: Ints,
) -> int:
    """Ask, learn and recommend until there is no room or nothing is left to ask; the number of labels."""
    for i in range(len(rows)):
        asking[i] = not agreed(rows[i])
    prepare(state, settings, rows)
    recommended[0] = recommend(state, settings, coins[0, SPARE])
    for t in range(len(items)):
        score(state, settings, rows, asking, scores)
        item = highest(scores, asking, coins[t, FIRST])
        if item == NOTHING:
            return t
        asking[item] = False
        items[t] = item
        learn(state, settings, rows, item, labels[item])
        recommended[t + 1] = recommend(state, settings, coins[t + 1, SPARE])
    return len(items)


class PoolRun(NamedTuple):
    """What a rule did on one file."""

    items: Ints
    """The items whose labels it asked for, in that order."""
    recommended: Ints
    """Indices of models: what it recommends before the first label, and after each."""


class PoolRule(ABC):
    """A rule that asks for one label after the other; it plays a whole file at once."""

    name: ClassVar[str]
    about: ClassVar[AlgorithmDescription]
    parts: ClassVar[tuple[Function, ...]]
    """Its `prepare`, `score`, `learn` and `recommend`."""

    kernel: ClassVar[CompiledKernel]

    def __init_subclass__(cls) -> None:
        cls.kernel = CompiledKernel(play_pool, dict(zip(EMPTY, cls.parts, strict=True)), f"{cls.name} for pools")

    @abstractmethod
    def start(self, items: int, models: int, classes: int) -> RuleState:
        """Its state before it has seen the predictions."""

    def settings(self, classes: int) -> RuleSettings:
        """Its options as the kernels see them."""
        return NoSettings(classes)

    def play(self, rows: npt.NDArray[Any], labels: npt.NDArray[Any], classes: int, most: int, seed: int) -> PoolRun:
        """Play a file until `most` labels are bought or nothing is left to ask; ties go by coins from the seed.

        Args:
            rows: codes of classes, one row per item and one column per model; -1 is an abstention.
            labels: one code per item.
            classes: how many classes there are.
            most: how many labels may be bought.
            seed: what ties are decided by.
        """
        codes, items = kernel_codes(rows), min(most, len(rows))
        run = PoolRun(np.zeros(items, dtype=np.int64), np.zeros(items + 1, dtype=np.int64))
        bought = self.kernel(
            self.start(len(codes), codes.shape[1], classes),
            self.settings(classes),
            codes,
            kernel_codes(labels),
            draw_many(seed, 0, items + 1),
            np.zeros(len(codes), dtype=np.bool_),
            np.zeros(len(codes)),
            *run,
        )
        return PoolRun(run.items[:bought], run.recommended[: bought + 1])


class NoSettings(NamedTuple):
    """What the kernels of a rule without options are told: nothing they need, but Numba wants something."""

    classes: int


def prepare_nothing(state: RuleState, settings: RuleSettings, rows: Codes) -> None:
    """A `prepare` for rules that know nothing before the first label."""


def score_alike(state: Mistakes, settings: NoSettings, rows: Codes, asking: Mask, scores: Floats) -> None:
    """A `score`: every item is worth the same, so that coins decide. The scores are zero from the start."""


def charge_item(state: Mistakes, settings: RuleSettings, rows: Codes, item: int, label: int) -> None:
    """A `learn`: every mistake counts one."""
    for i in range(len(state.losses)):
        state.losses[i] += rows[item, i] != label
    note_best(state.losses, state.standing)


class RandomDisagreements(PoolRule):
    """Labels at random among the items on which models disagree; recommends the model with the fewest mistakes."""

    name = "label-efficient"
    about = AlgorithmDescription(
        summary="Labels at random, among the items on which models disagree.", when_to_use="Use it for comparisons."
    )
    parts = (prepare_nothing, score_alike, charge_item, smallest_loss)

    def start(self, items: int, models: int, classes: int) -> Mistakes:  # noqa: ARG002 (as it is called)
        """No mistakes, everybody tied."""
        return no_mistakes(models)
