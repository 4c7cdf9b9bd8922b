"""Streams whose labels are more than right and wrong: grades, costs, preferences; models that were not asked."""

import copy
import json
from itertools import product
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import compare_speeds, make_stream, same_state
from modelpicker.certificates import wealth
from modelpicker.certificates.certificate import KINDS
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import NOT_RUN
from modelpicker.label import Label
from modelpicker.losses import Loss
from tests.algorithms.test_brute_force import ALWAYS, NEVER, Forced
from tests.certificates.test_wealth import new_settings, new_state

GRADES = Label.graded({0: 1.0, 1: 0.25, 2: 0.5})
COSTS = Loss.costs({0: {1: 4, 2: 1}, 1: {0: 2}})
MAKERS: dict[str, Any] = {
    "model-picker": mp.ModelPicker,
    "window": lambda models, seed, **more: mp.ModelPicker(models, seed, window=20, **more),
    "race": lambda models, seed, **more: mp.Race(models, seed, tolerance=0.1, **more),
    "watching": lambda models, seed, **more: mp.Race(models, seed, tolerance=0.3, exploration=0.3, **more),
    "label-efficient": lambda models, seed, **more: mp.LabelEfficient(models, seed, probability=0.4, **more),
    "vote-entropy": lambda models, seed, **more: mp.VoteEntropy(models, seed, classes=4, **more),
    "structural-committee": lambda models, seed, **more: mp.StructuralCommittee(models, seed, beta=0.3, **more),
    "importance-weighted": mp.ImportanceWeighted,
    "efficient-active": lambda models, seed, **more: mp.EfficientActive(models, seed, c0=0.001, **more),
}


def leaves(rows: list[list[int]], labels: list[Any], **options: Any) -> list[tuple[mp.ModelPicker, float]]:
    """A picker for every outcome of the query coins, with its probability."""
    found: list[tuple[mp.ModelPicker, float]] = []
    stack: list[tuple[Any, float]] = [(Forced(len(rows[0]), 0, **options), 1.0)]
    while stack:
        picker, mass = stack.pop()
        t = picker.rounds
        if t == len(rows):
            found.append((picker, mass))
            continue
        for coin in (ALWAYS, NEVER):
            child = copy.deepcopy(picker)
            child.coin = coin
            decision = child.observe(rows[t])
            chance = decision.probability if coin == ALWAYS else 1.0 - decision.probability
            if decision.query == (coin == ALWAYS) and chance > 0.0:
                if decision.query:
                    child.learn(decision.round, labels[t])
                stack.append((child, mass * chance))
    return found


@pytest.mark.parametrize("loss", [None, COSTS], ids=["grades", "costs"])
def test_estimates_of_graded_losses_are_unbiased_over_all_coins(loss: Any) -> None:
    """Exact: nothing is sampled. Rounds on which all agree are left out, as for classes."""
    draw = np.random.default_rng(5)
    for _ in range(3):
        rows = draw.integers(-1, 3, (4, 3)).tolist()
        labels: list[Any] = [GRADES if loss is None else int(c) for c in draw.integers(0, 2, 4)]
        found = leaves(rows, labels, loss=loss or "grades")
        assert sum(mass for _, mass in found) == pytest.approx(1.0, rel=1e-12)
        expected = sum(mass * picker.losses for picker, mass in found)
        told = Loss.of(loss or "grades")
        truth = np.zeros(3)
        for row, label in zip(rows, labels, strict=True):
            if len(set(row)) > 1:
                truth += told.losses(label, [None if code < 0 else code for code in row])
        np.testing.assert_allclose(expected, truth, rtol=1e-12)


@pytest.mark.parametrize("confidence", [0.3, 0.6])
def test_a_stream_certificate_of_graded_losses_is_wrong_no_more_often_than_it_says(confidence: float) -> None:
    """Over all coins, for streams of five rounds on which the model that looks best is worst."""
    grades = [Label.graded({0: 0.9, 1: 0.2}), Label.graded({0: 0.0, 1: 0.7}), Label.graded({0: 0.4, 1: 0.55})]
    for chosen in ((0, 1, 1, 1, 2), (2, 2, 1, 0, 1), (0, 0, 2, 2, 1)):
        labels = [grades[place] for place in chosen]
        rows = [[0, 1]] * len(labels)
        wrong = 0.0
        for picker, mass in leaves(rows, labels, loss="grades"):
            lost = np.sum([label.losses([0, 1]) for label in labels], axis=0)
            for place in range(2):
                said = picker.recorder.certificate(picker.models, place, confidence, "stream").gap
                wrong += mass * (lost[place] - lost.min() > said * len(labels) + 1e-9) / 2
        assert wrong <= 1.0 - confidence


def test_a_graded_stream_is_not_claimed_to_be_nearer_than_its_parts_allow() -> None:
    """Whole mistakes let a gap be rounded down to items; parts of a mistake do not."""
    picker = mp.LabelEfficient(2, probability=1.0, loss="grades")
    for _ in range(10):
        decision = picker.observe([0, 1])
        picker.learn(decision.round, Label.graded({0: 0.5, 1: 0.55}))
    gap = picker.recorder.certificate(picker.models, 0, 0.95, "stream").gap
    assert gap * 10 >= 0.5  # what the other model is better by


@pytest.mark.parametrize("name", MAKERS)
def test_a_loss_gives_the_same_bits_one_round_at_a_time_and_as_a_stream(name: str) -> None:
    predictions, labels = make_stream(3, rounds=120, models=4, classes=3, abstaining=0.1, skipped=0.1)
    picker = compare_speeds(lambda m, s: MAKERS[name](m, s, loss=COSTS), 4, 2, predictions, labels)
    restored = type(picker).from_state_dict(json.loads(json.dumps(picker.state_dict())))
    assert restored.loss == COSTS
    same_state(picker, restored)


def some_label(place: int, label: int, loss: str) -> Any:
    """Labels of all kinds that go with a loss, in turn, around a class."""
    after = (label + 1) % 4
    if label < 0:
        return None
    if loss == "preference":
        return Label.better(label, after) if place % 2 else Label.equal(label, after)
    kinds = (
        label,
        Label.graded({label: 1.0, after: 0.3}, otherwise=0.1),
        Label.any_of(label, after),
        Label.graded({label: 0.75}),
    )
    return kinds[place % len(kinds)]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("loss", ["grades", "preference"])
def test_grades_and_preferences_give_the_same_bits_at_both_speeds(name: str, loss: str) -> None:
    predictions, classes = make_stream(14, rounds=120, models=4, classes=4, abstaining=0.1, skipped=0.1)
    labels = [some_label(place, label, loss) for place, label in enumerate(classes.tolist())]
    picker = compare_speeds(lambda m, s: MAKERS[name](m, s, loss=loss), 4, 2, predictions, labels)
    restored = type(picker).from_state_dict(json.loads(json.dumps(picker.state_dict())))
    assert restored.loss.name == loss
    same_state(picker, restored)
    assert np.isfinite(picker.losses).all()


def test_a_certificate_names_its_loss() -> None:
    picker = mp.LabelEfficient(["a", "b"], probability=1.0, loss="grades")
    for _ in range(200):
        picker.learn(picker.observe([0, 1]).round, Label.graded({0: 1.0, 1: 0.25}))
    for kind, words in (
        ("stream", "Of the 200 items seen so far."),
        ("population", "Of all items like these, if items are drawn independently from one distribution."),
    ):
        found = picker.certificate(kind=kind)  # type: ignore[arg-type]
        assert found.loss == "grades"
        assert found.sentence == f"Proven: no model has a higher mean grade than a (95% confidence).\n{words}"


@pytest.mark.parametrize("name", ["model-picker", "race"])
def test_labels_that_are_looked_up_may_be_grades(name: str) -> None:
    predictions, classes = make_stream(4, rounds=150, models=4, classes=3)
    labels = [GRADES if label == 0 else int(label) for label in classes]
    one, other = (MAKERS[name](4, 1, loss="grades") for _ in range(2))
    known, asked = mp.run_stream(one, predictions, labels), mp.run_stream(other, predictions, lambda i: labels[i])
    assert np.array_equal(known.queried, asked.queried)
    same_state(one, other)


def test_words_are_graded_as_numbers_are() -> None:
    predictions, _ = make_stream(4, rounds=60, models=3, classes=3)
    words = np.array(["ant", "bee", "cat"], dtype=object)[predictions]
    spoken = Label.graded({"ant": 1.0, "bee": 0.25, "cat": 0.5})
    numbers = mp.run_stream(mp.ModelPicker(3, loss="grades"), predictions, [GRADES] * 60)
    named = mp.run_stream(mp.ModelPicker(3, loss="grades"), words, [spoken.to_json()] * 60)
    assert np.array_equal(numbers.losses, named.losses)
    with pytest.raises(InputError, match="labels, row 0: 0 is a whole number"):
        mp.run_stream(mp.ModelPicker(3, loss="grades"), words, [GRADES] * 60)


def test_late_grades_give_the_same_losses_as_prompt_ones() -> None:
    predictions, _ = make_stream(6, rounds=80, models=4, classes=3)
    prompt, late = (mp.LabelEfficient(4, probability=0.5, loss="grades") for _ in range(2))
    asked = [late.observe(row).round for row in predictions]
    for row in predictions:
        decision = prompt.observe(row)
        if decision.query:
            prompt.learn(decision.round, GRADES)
    for number in reversed(asked):
        if number in late.open_queries:
            late.learn(number, GRADES)
    assert prompt.losses.tolist() == late.losses.tolist()  # to the last bit: losses are multiples of 2^-20


def test_what_is_not_known_counts_at_its_worst_in_statements_and_as_the_mean_in_estimates() -> None:
    silent, skipping = (mp.LabelEfficient(3, probability=1.0, loss="preference") for _ in range(2))
    for picker, label in ((silent, Label.better(0, 1)), (skipping, None)):
        for _ in range(20):
            picker.learn(picker.observe([0, 1, 2]).round, label)
    assert silent.losses.tolist() == [0.0, 20.0, 10.0]
    gaps = [
        [p.recorder.certificate(p.models, place, 0.95, "stream").gap for place in range(3)]
        for p in (silent, skipping)
    ]
    assert gaps[0] == gaps[1] == [1.0, 1.0, 1.0]  # of model 2 nothing is known against either
    pair = mp.LabelEfficient(2, probability=1.0, loss="preference")
    for _ in range(20):
        pair.learn(pair.observe([0, 1]).round, Label.better(0, 1))
    assert pair.certificate().gap == 0.0


def test_an_answer_without_a_grade_never_wins_a_race() -> None:
    race = mp.Race(2, tolerance=0.2, confidence=0.6)
    for _ in range(300):
        decision = race.observe([0, 1])
        race.learn(decision.round, Label.graded({0: 1.0}))
    assert race.won is None


def test_a_race_over_halves_takes_longer_than_one_over_whole_mistakes() -> None:
    def rounds(label: Any) -> int:
        race = mp.Race(2, tolerance=0.1, loss="grades")
        trace = mp.run_stream(race, [[0, 1]] * 2_000, [label] * 2_000)
        assert trace.stopped == "won"
        return len(trace)

    assert rounds(0) < rounds(Label.graded({0: 1.0, 1: 0.5}))


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_accuracy_is_told_in_its_own_unit(kind: Any) -> None:
    """A loss of 1 is worth `unit`: gaps are multiplied by it, and the tolerance of a rule is divided."""
    loss = Loss.balanced({0: 9, 1: 1})
    weights = Loss("other", loss.table, loss.dearest)
    predictions = [[0, 1]] * 300
    labels = [0] * 270 + [1] * 30
    gaps = []
    for given in (loss, weights):
        picker = mp.LabelEfficient(2, probability=1.0, loss=given)
        mp.run_stream(picker, predictions, labels)
        gaps.append(picker.recorder.certificate(picker.models, 1, 0.95, kind).gap)
    assert gaps[0] == pytest.approx(min(1.0, gaps[1] * loss.unit))
    ratio = mp.Race(2, tolerance=0.1, loss=loss).told.tolerance
    assert ratio == pytest.approx(0.1 / loss.unit)


def test_a_preference_says_nothing_about_costs_and_leaves_the_query_open() -> None:
    picker = mp.ModelPicker(2, loss={0: 2, 1: 1})
    decision = next(d for d in (picker.observe([0, 1]) for _ in range(99)) if d.query)
    with pytest.raises(InputError, match="a preference says nothing about weighted accuracy"):
        picker.learn(decision.round, Label.better(0, 1))
    assert decision.round in picker.open_queries


class TestNotRun:
    """A model that was not asked is no abstention."""

    def test_who_is_in_the_race_and_was_not_asked_is_not_beaten(self) -> None:
        """Every label speaks for the first model; the third was never asked, so nothing is known about it."""
        race = mp.Race(3, tolerance=0.05)
        for _ in range(400):
            decision = race.observe([0, 1, NOT_RUN])
            if decision.query:
                race.learn(decision.round, 0)
        assert race.racing == (0, 2)
        assert race.won is None
        assert race.certificate(kind="population").gap == 1.0

    def test_an_abstention_is_a_mistake_and_beaten(self) -> None:
        race = mp.Race(3, tolerance=0.05)
        trace = mp.run_stream(race, [[0, 1, -1]] * 400, [0] * 400)
        assert trace.stopped == "won"

    def test_whoever_is_out_may_be_left_out_for_free(self) -> None:
        draw = np.random.default_rng(1)
        labels = draw.integers(0, 3, 3_000)
        right = draw.random((3_000, 3)) < [0.9, 0.85, 0.3]
        rows = np.where(right, labels[:, None], (labels[:, None] + 1) % 3)
        all_run, saving = mp.Race(3, tolerance=0.02), mp.Race(3, tolerance=0.02)
        spared = 0
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
            racing = saving.racing
            thrifty = [code if model in racing else NOT_RUN for model, code in enumerate(row)]
            spared += thrifty.count(NOT_RUN)
            for race, seen in ((all_run, row), (saving, thrifty)):
                decision = race.observe(seen)
                if decision.query:
                    race.learn(decision.round, label)
        assert spared > 1_000
        assert saving.won == all_run.won
        assert saving.labels_used == all_run.labels_used
        assert saving.recommended == all_run.recommended

    @pytest.mark.parametrize("kind", KINDS)
    def test_statements_count_what_was_not_asked_at_its_worst(self, kind: Any) -> None:
        """As if each such round had been queried, and nobody had answered."""
        missing, open_ = mp.LabelEfficient(2, probability=1.0), mp.LabelEfficient(2, probability=1.0)
        for number in range(200):
            whole = number % 4 > 0
            decision = missing.observe([0, 1] if whole else [0, NOT_RUN])
            assert decision.query == whole
            other = open_.observe([0, 1])
            for picker in (missing, open_) if whole else ():
                picker.learn(decision.round, 0)
            assert other.query
        gaps = [p.recorder.certificate(p.models, 0, 0.95, kind).gap for p in (missing, open_)]
        assert gaps[0] == pytest.approx(gaps[1])
        assert gaps[0] < 1.0

    def test_both_may_be_wrong_where_neither_was_asked(self) -> None:
        picker = mp.ModelPicker(3)
        for _ in range(50):
            picker.observe([0, NOT_RUN, NOT_RUN])
        gaps = [picker.recorder.certificate(picker.models, place, 0.95, "stream").gap for place in range(3)]
        assert gaps == [1.0, 1.0, 1.0]

    def test_codes_are_not_taken_for_places_in_a_tally(self) -> None:
        """Many models that were not asked, few classes: nothing is read or written out of bounds."""
        rows = np.full((200, 40), NOT_RUN)
        rows[:, 0] = 0
        rows[:, 1] = 1
        for name, make in MAKERS.items():
            picker = make(40, 0)
            trace = mp.run_stream(picker, rows, np.zeros(200, dtype=int))
            assert np.isfinite(trace.losses).all(), name

    def test_a_label_that_is_minus_two_is_refused(self) -> None:
        picker = mp.LabelEfficient(2, probability=1.0)
        picker.observe([0, 1])
        with pytest.raises(InputError, match="-2 is not a class"):
            picker.learn(0, NOT_RUN)
        with pytest.raises(InputError, match="-2"):
            mp.run_stream(mp.ModelPicker(2), [[0, 1]], [-2])

    def test_an_open_query_survives_a_round_trip(self) -> None:
        picker = mp.LabelEfficient(3, probability=1.0)
        picker.observe(["a", NOT_RUN, "b"])
        restored = mp.LabelEfficient.from_state_dict(json.loads(json.dumps(picker.state_dict())))
        for one in (picker, restored):
            one.learn(0, "a")
        same_state(picker, restored)
        assert picker.losses.tolist() == [0.0, 0.5, 1.0]


def test_every_false_certificate_of_a_bounded_race_is_rarer_than_it_says() -> None:
    """All sequences of four items of a population in which the first model is best; the leader may not beat it
    with more than the probability that is left. Exact: losses of -1, -0.5, 0.5 and 1 apart, equally likely."""
    items = [(0.0, 1.0), (0.5, 0.0), (0.25, 0.75), (1.0, 0.0)]  # the mean of the first is the smaller
    assert np.mean(items, axis=0)[0] <= np.mean(items, axis=0)[1]
    over = 0
    for chosen in product(items, repeat=6):
        state, settings = new_state(), new_settings(0.0)
        state.opponent[0] = 1
        wealth.begin(state, settings, 0, 0)
        most = 0.0
        for t, losses in enumerate(chosen, 1):
            row = np.array([0, 1, 1], dtype=np.int32)
            wealth.foresee(state, settings, row, t)
            wealth.put_right(state, settings, row, t, np.array([losses[0], losses[1], losses[1]]))
            most = max(most, wealth.wealth_against(state, settings, 0, 1, t))
        over += most >= 2.0
    assert over / len(items) ** 6 <= 0.5


class TestPrices:
    """Race picks the cheapest model that it proves to be close enough."""

    def test_it_never_wins_with_a_model_that_is_too_far_behind_more_often_than_allowed(self) -> None:
        """Allowed: 40 % of 60 streams whose cheapest model is 12 points behind, with a tolerance of 10."""
        false = 0
        for seed in range(60):
            draw = np.random.default_rng(seed)
            right = draw.random((1_500, 3)) < [0.9, 0.86, 0.78]
            race = mp.Race(3, seed, tolerance=0.1, confidence=0.6, price=[3, 2, 1])
            trace = mp.run_stream(race, np.where(right, 0, 1), np.zeros(1_500, dtype=int))
            false += trace.stopped == "won" and trace.winner == 2
        assert false <= 24

    def test_equal_prices_change_nothing(self) -> None:
        predictions, labels = make_stream(3, rounds=400, models=4, classes=3)
        plain, priced = mp.Race(4, tolerance=0.1), mp.Race(4, tolerance=0.1, price=[2, 2, 2, 2])
        for race in (plain, priced):
            mp.run_stream(race, predictions, labels)
        assert plain.state_dict()["state"] == priced.state_dict()["state"]

    def test_both_speeds_decide_the_same(self) -> None:
        predictions, labels = make_stream(9, rounds=300, models=4, classes=3, abstaining=0.1, skipped=0.1)
        compare_speeds(lambda m, s: mp.Race(m, s, tolerance=0.2, price=[4, 3, 2, 1]), 4, 2, predictions, labels)

    @pytest.mark.parametrize("price", [[1], {0: 1, 1: 2}, ["much", 1, 1], [1, 2, float("nan")], [1, 2, -1]])
    def test_prices_that_make_no_sense_are_refused(self, price: Any) -> None:
        with pytest.raises(InputError, match="price"):
            mp.Race(3, price=price)
