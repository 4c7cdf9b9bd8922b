"""The one runner: every way to keep a budget, every stop rule and every kind of labels, against a loop by hand.

The loop by hand is the plain reading of the documentation: observe a round, learn its label, look whether to stop.
It is interpreted, and knows nothing about the runner's loop.
"""

import math
import os
import subprocess
import sys
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.base import listed
from modelpicker.algorithms.budgets import Budget, Paced, kept_by
from modelpicker.algorithms.checks import make_stream, same_state
from modelpicker.algorithms.pacing import FACTOR, MISSED, SPENT, make_plan, new_pace, turned
from modelpicker.algorithms.run_modes import CAMPAIGN, Replay
from modelpicker.algorithms.runner import END, new_outcome, no_labels, runner
from modelpicker.algorithms.told_labels import ToldLabel
from modelpicker.certificates.recorder import Past
from modelpicker.coins import draw_coins
from modelpicker.kernels.primitives import kernel_codes, new_scratch
from tests.algorithms.test_check_algorithm import FACTORIES

ROUNDS, MODELS, CLASSES = 260, 5, 3
BUDGETS = {
    "none": None,
    "cap": Budget(14),
    "paced": Budget(14, "paced", rounds=ROUNDS),
    "open": Budget(14, "paced"),
}
RULES = {"none": None, "certified": mp.Certified(gap=0.3, confidence=0.6)}
MAKERS = FACTORIES | {
    "race, soon won": lambda models, seed: mp.Race(models, seed, tolerance=0.4, confidence=0.5),
}
NAMES = sorted(MAKERS)
# Compiling takes seconds, so only these are compiled in every mode. Interpreted, with labels that are looked up,
# all algorithms are compared in every mode.
COMPILED = {"model-picker": set(RULES), "race, soon won": {"none"}}


def combinations() -> list[tuple[str, str, str, str]]:
    """Algorithm, budget, stop rule and labels; one that stops by itself takes no rule."""
    found = []
    for name, budget, rule in product(NAMES, BUDGETS, RULES):
        if rule == "none" or MAKERS[name](MODELS, 3).aim is None:
            found.append((name, budget, rule, "looked up"))
            if (rule == "none" and budget in ("none", "cap")) or rule in COMPILED.get(name, ()):
                found.append((name, budget, rule, "known"))
    return found


class Played(NamedTuple):
    """What a run came to, to the last bit."""

    queried: list[bool]
    probability: list[float]
    recommended: list[Any]
    labels_used: int
    losses: list[float]
    stopped: str


def streams(missing: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """A stream some of whose labels nobody knows."""
    predictions, labels = make_stream(5, ROUNDS, MODELS, CLASSES, abstaining=0.05)
    labels[np.random.default_rng(2).random(ROUNDS) < missing] = -1
    return predictions, labels


def decide(picker: mp.Algorithm, row: list[int], kept: object) -> tuple[bool, float, int]:
    """One round within a budget, by hand."""
    scale = picker.scale
    coins = picker.coins(picker.rounds)
    if isinstance(kept, Paced):
        scale *= max(1.0, kept.pace[FACTOR])
    query, probability, recommended, _ = picker.kernel.observe(
        *picker.views, row, list(coins), picker.first_spare, scale, picker.scratch
    )
    if isinstance(kept, Paced):
        kept.pace[MISSED] += kept.pace[SPENT] >= kept.plan.budget
        if kept.plan.budget < math.inf and probability > 0.0:
            probability = turned(kept.pace, kept.plan, picker.rounds - kept.first, probability)
            query = coins[0] < probability
        kept.pace[SPENT] += query
    return bool(query), float(probability), recommended


def by_hand(
    picker: mp.Algorithm, rows: Any, labels: Any, budget: Budget | None, rule: mp.Certified | None
) -> Played:
    """Round by round, and a look after each whether to stop."""
    kept = kept_by(budget, picker.rounds, picker.labels_used, spread=picker.spreads)
    first = picker.labels_used
    made: list[tuple[Any, ...]] = []
    stopped = "won" if picker.finished else "end"
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        if stopped != "end":
            break
        number = picker.rounds
        query, probability, recommended = decide(picker, row, kept)
        picker.recorder.saw(row, number, probability, query)
        if query and label >= 0:
            picker.take_in(number, row, ToldLabel(label), probability)
            picker.recorder.told(row, number, label, probability)
        elif query and isinstance(kept, Paced):
            kept.pace[SPENT] -= 1
        made.append((query, probability, recommended))
        if rule is not None and picker.recorder.meets(
            picker.models.index(picker.recommended), rule, Past(len(picker.models))
        ):
            stopped = "certified"
        elif picker.finished:
            stopped = "won"
        elif budget is not None and picker.labels_used - first >= budget.labels:
            stopped = "budget"
    queried, chances, best = ([one[field] for one in made] for field in range(3))
    return Played(queried, chances, best, picker.labels_used - first, picker.losses.tolist(), stopped)


def by_runner(
    picker: mp.Algorithm, rows: Any, labels: Any, budget: Budget | None, rule: mp.Certified | None
) -> Played:
    trace = mp.run_stream(picker, rows, labels, budget=budget, stop_when=rule)
    assert (trace.certificate is not None) == (trace.stopped == "certified")
    queried, probability, recommended, losses = (
        column.tolist() for column in (trace.queried, trace.probability, trace.recommended, trace.losses)
    )
    return Played(queried, probability, recommended, trace.labels_used, losses, trace.stopped)


@pytest.mark.parametrize(("name", "budget", "rule", "labels"), combinations())
def test_every_budget_stop_rule_and_kind_of_labels_is_the_loop_by_hand(
    name: str, budget: str, rule: str, labels: str
) -> None:
    rows, known = streams()
    slow, fast = MAKERS[name](MODELS, 3), MAKERS[name](MODELS, 3)
    expected = by_hand(slow, rows, known, BUDGETS[budget], RULES[rule])
    given = known if labels == "known" else lambda place: int(known[place])
    assert by_runner(fast, rows, given, BUDGETS[budget], RULES[rule]) == expected
    same_state(slow, fast)
    assert slow.recorder.document() == fast.recorder.document()


def learn_late(picker: mp.Algorithm, rows: Any, known: Any, made: list[tuple[bool, float]], first: int) -> None:
    """Tell the labels of rounds that have gone by, the last first."""
    for place in range(len(made) - 1, -1, -1):
        query, probability = made[place]
        label = int(known[first + place])
        if query and label >= 0:
            picker.take_in(first + place, rows[first + place].tolist(), ToldLabel(label), probability)


@pytest.mark.parametrize(("name", "compiled"), [("model-picker", True), *((name, False) for name in NAMES)])
@pytest.mark.parametrize("budget", ["none", "paced", "open"])
def test_late_labels_stay_on_order_and_are_learned_as_by_hand(name: str, budget: str, compiled: bool) -> None:
    """A hundred rounds, then their labels in reverse, then the rest: campaigns play so."""
    rows, known = streams()
    slow, fast = MAKERS[name](MODELS, 3), MAKERS[name](MODELS, 3)
    allowed = BUDGETS[budget]
    labels, rounds = (None, None) if allowed is None else (allowed.labels, allowed.rounds)
    mine, yours = (Paced(new_pace(), make_plan(labels, rounds, spread=slow.spreads), 0) for _ in range(2))
    for first, last in ((0, 100), (100, ROUNDS)):
        by_hand = [decide(slow, row, mine)[:2] for row in rows[first:last].tolist()]
        outcome, codes = new_outcome(last - first), kernel_codes(rows[first:last])
        played_by = runner(fast.kernel, CAMPAIGN)
        coins = draw_coins(fast.seed, first, last - first)
        scratch = new_scratch(MODELS, CLASSES)
        given = (fast.first_spare, fast.scale)
        if compiled:
            arrays = (fast.state, fast.told, fast.clock, codes, no_labels(last - first), coins)
            done = played_by.play(*arrays, *given, scratch, yours, Replay(outcome, False))
        else:
            views = (*fast.views, codes.data, no_labels(last - first), coins.data)
            done = played_by.play_interpreted(*views, *given, listed(scratch), yours, Replay(outcome, False))
        assert done == (last - first, END)
        made = list(zip(outcome.queried.tolist(), outcome.probability.tolist(), strict=True))
        assert made == by_hand
        assert yours.pace.tolist() == mine.pace.tolist()
        for picker in (slow, fast):
            learn_late(picker, rows, known, made, first)
    same_state(slow, fast)
    if allowed is not None:
        assert mine.pace[SPENT] <= allowed.labels


def test_the_combinations_end_for_every_reason() -> None:
    """Otherwise the comparison above would not say much."""
    rows, known = streams()
    found = set()
    for name in NAMES:
        for budget in BUDGETS.values():
            for rule in RULES.values():
                picker = MAKERS[name](MODELS, 3)
                if rule is None or picker.aim is None:
                    found.add(by_hand(picker, rows, known, budget, rule).stopped)
    assert found == {"end", "budget", "certified", "won"}


@pytest.mark.parametrize("budget", ["cap", "paced", "open"])
@pytest.mark.parametrize("name", NAMES)
def test_no_way_to_keep_a_budget_buys_more(name: str, budget: str) -> None:
    rows, known = streams(missing=0.0)
    trace = mp.run_stream(MAKERS[name](MODELS, 1), rows, lambda place: int(known[place]), budget=BUDGETS[budget])
    assert trace.labels_used <= 14
    assert trace.stopped == "budget" or trace.labels_used < 14


def test_a_paced_budget_lasts_for_the_stream_where_a_capped_one_does_not() -> None:
    rows, known = make_stream(4, 2_000, MODELS, CLASSES)
    capped = mp.run_stream(mp.LabelEfficient(MODELS, probability=1.0), rows, known, budget=100)
    paced = mp.run_stream(
        mp.LabelEfficient(MODELS, probability=1.0), rows, known, budget=Budget(100, "paced", rounds=2_000)
    )
    assert (capped.labels_used, paced.labels_used) == (100, 100)
    assert len(capped) < 200
    assert len(paced) > 1_500


def test_a_skip_gives_its_label_back_to_a_paced_budget() -> None:
    rows = np.tile([0, 1], (400, 1))
    half = np.where(np.arange(400) % 2, 0, -1)
    picker = mp.LabelEfficient(2, probability=1.0)
    trace = mp.run_stream(picker, rows, half, budget=Budget(50, "paced", rounds=400))
    assert trace.labels_used == 50
    assert trace.queried.sum() > 60


def test_a_plan_begins_where_the_picker_stands() -> None:
    """A picker that has seen much is paced over the rounds to come, as a new one is."""
    rows, known = make_stream(4, 1_500, MODELS, CLASSES)
    picker = mp.LabelEfficient(MODELS, probability=1.0)
    mp.run_stream(picker, np.zeros((5_000, MODELS), dtype=int), np.zeros(5_000, dtype=int))
    trace = mp.run_stream(picker, rows, known, budget=Budget(60, "paced", rounds=1_500))
    assert trace.labels_used == 60
    assert len(trace) > 1_000


def test_the_same_stream_in_pieces_of_a_collection_is_paced_as_one() -> None:
    rows, known = make_stream(4, 900, MODELS, CLASSES)

    class Pieces:
        models, classes = [str(model) for model in range(MODELS)], tuple(range(CLASSES))

        def batches(self) -> Any:
            for places in np.array_split(np.arange(900), 4):
                yield mp.ModelCollection.of_codes(rows[places], known[places], self.models, self.classes)

    budget = Budget(30, "paced", rounds=900)
    whole = mp.run_stream(mp.ModelPicker(MODELS, 2), rows, known, budget=budget)
    pieces = mp.run_stream(mp.ModelPicker(MODELS, 2), Pieces(), budget=budget)
    asked = mp.run_stream(mp.ModelPicker(MODELS, 2), Pieces(), lambda place: int(known[place]), budget=budget)
    for trace in (pieces, asked):
        assert trace.queried.tolist() == whole.queried.tolist()
        assert trace.losses.tolist() == whole.losses.tolist()


def test_only_labels_that_are_bought_are_looked_up_each_once_and_in_order() -> None:
    rows, known = streams(missing=0.0)
    asked: list[int] = []

    def look_up(place: int) -> int:
        asked.append(place)
        return int(known[place])

    trace = mp.run_stream(mp.ModelPicker(MODELS, 3), rows, look_up)
    assert asked == np.flatnonzero(trace.queried).tolist()


@pytest.mark.parametrize("far", [0, 2**40])
@pytest.mark.parametrize("form", ["numbers", "words"])
def test_looked_up_labels_come_in_the_form_of_the_predictions(form: str, far: int) -> None:
    rows, known = streams()
    rows, known = np.where(rows < 0, -1, rows + far), np.where(known < 0, -1, known + far)
    given: Any = rows
    told: list[Any] = known.tolist()
    if form == "words":
        given = [[None if code < 0 else f"class {code}" for code in row] for row in rows.tolist()]
        told = [None if code < 0 else f"class {code}" for code in known.tolist()]
    expected = mp.run_stream(mp.ModelPicker(MODELS, 3), rows, known)
    trace = mp.run_stream(mp.ModelPicker(MODELS, 3), given, lambda place: told[place])
    assert trace.losses.tolist() == expected.losses.tolist()
    assert trace.labels_used == expected.labels_used


@pytest.mark.parametrize("answer", ["spam", 1.5, -7, [1], 2**70])
def test_a_label_that_cannot_be_one_changes_nothing(answer: Any) -> None:
    rows, _ = streams()
    picker, untouched = mp.ModelPicker(MODELS, 3, query_scale=9.0), mp.ModelPicker(MODELS, 3, query_scale=9.0)
    with pytest.raises(mp.InputError, match="label of row"):
        mp.run_stream(picker, rows, lambda place: answer)
    same_state(picker, untouched)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"labels": 0}, "budget=0 is not a count"),
        ({"labels": True}, "budget=True is not a count"),
        ({"labels": 5, "way": "soft"}, "way='soft' is not known; pass one of 'cap', 'paced'"),
        ({"labels": 5, "rounds": 10}, "only a paced budget plans ahead"),
        ({"labels": 5, "way": "paced", "rounds": 0}, "rounds=0 is not a count"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused_when_it_is_made(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(mp.InputError, match=said):
        Budget(**arguments)


SMALL = """
import sys, modelpicker as mp
rows = [[0, 1, 1], [1, 1, 0]] * 10
found = mp.pick(mp.ModelCollection(rows), lambda item: 1, setting="stream", tolerance=0.2, budget=5)
trace = mp.run_stream(mp.ModelPicker(3), rows, lambda place: 1, budget=mp.Budget(5, "paced", rounds=20))
assert found.labels_used == trace.labels_used == 5
print("numba" in sys.modules)
"""


def test_labels_that_are_looked_up_need_no_numba() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SMALL], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout == "False\n"
