"""How good a judge was, against the labels that are known."""

import math

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.results.judge_quality import JudgeQuality, wilson
from modelpicker.campaigns.results.pool_pick import measure_judge


def test_the_interval_of_a_share_is_that_of_wilson() -> None:
    """41 of 52 by hand: z² = 3.8415; middle (41 + 1.9207)/55.8415; half 1.96·√(41·11/52 + 0.9604)/55.8415."""
    low, high = wilson(41, 52)
    assert low == pytest.approx(0.65968, abs=1e-5)
    assert high == pytest.approx(0.87756, abs=1e-5)
    assert wilson(0, 10) == pytest.approx((0.0, 3.8414588 / 13.8414588))
    assert wilson(10, 10) == pytest.approx((10 / 13.8414588, 1.0))
    assert wilson(0, 0) == (0.0, 1.0)


def test_kappa_and_classes_are_those_counted_by_hand() -> None:
    """Of 50 labels, 25 are yes; the judge says yes of 20 of them and of 5 others: 0.8 agree, 0.5 by chance."""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 5 + [("no", "no")] * 20
    found = JudgeQuality.measure(pairs, items=900, silent=3)
    assert (found.items, found.labels, found.agreed, found.silent, found.share) == (900, 50, 40, 3, 0.8)
    assert found.kappa == pytest.approx(0.6)
    assert found.kappa_low == pytest.approx((found.low - 0.5) / 0.5)
    assert found.kappa_high == pytest.approx((found.high - 0.5) / 0.5)
    assert [(one.label, one.labels, one.agreed) for one in found.classes] == [("yes", 25, 20), ("no", 25, 20)]
    assert (found.classes[0].low, found.classes[0].high) == wilson(20, 25)
    assert found.sentence == "The judge agreed with 40 of 50 labels (80%, 95% interval 67 to 89%), κ 0.60."


def test_a_label_that_no_model_says_is_a_mistake_of_the_judge() -> None:
    found = JudgeQuality.measure([(None, "a"), ("a", "a")], items=2, silent=0)
    assert (found.agreed, found.labels) == (1, 2)
    assert {one.label: one.agreed for one in found.classes} == {None: 0, "a": 1}
    assert found.kappa == pytest.approx(0.0)  # half agree, and half would by chance


def test_what_cannot_be_said_is_not_said() -> None:
    nothing = JudgeQuality.measure([], items=0, silent=4)
    assert (nothing.share, nothing.kappa, nothing.low, nothing.high) == (None, None, 0.0, 1.0)
    assert nothing.sentence == "The judge says nothing about these items that a model says."
    early = JudgeQuality.measure([], items=9, silent=0)
    assert early.sentence == "No label is known yet of an item about which the judge says something."
    one_class = JudgeQuality.measure([("a", "a")], items=9, silent=0)
    assert one_class.kappa is None
    assert one_class.sentence == "The judge agreed with 1 of 1 label (100%, 95% interval 21 to 100%)."
    always_wrong = JudgeQuality.measure([("a", "b")] * 3 + [("b", "a")] * 3, items=6, silent=0)
    assert always_wrong.kappa == -1.0
    assert always_wrong.kappa_low == -1.0


def test_the_interval_of_the_agreement_holds_on_average_as_often_as_it_says() -> None:
    """Exactly, for 40 labels and 99 judges: Wilson's interval is right on average, not for each share."""
    ends = [wilson(agreed, 40) for agreed in range(41)]
    held = [
        sum(
            math.comb(40, agreed) * share**agreed * (1 - share) ** (40 - agreed)
            for agreed, (low, high) in enumerate(ends)
            if low <= share <= high
        )
        for share in np.arange(1, 100) / 100
    ]
    assert 0.94 <= np.mean(held) <= 0.96
    assert min(held) > 0.83  # next to 0 and 1


def test_the_interval_of_kappa_holds_about_as_often_as_it_says() -> None:
    """1,000 judges of 30 labels, right on 95 %, seeds fixed: 93.7 % by benchmarks.judge_intervals; 0.91 leaves
    three standard errors. By the usual standard error it would be 78 %."""
    random, held = np.random.default_rng(0), 0
    kappa = (0.95 - 0.25) / 0.75
    for _ in range(1_000):
        labels = random.integers(0, 4, 30)
        said = np.where(random.random(30) < 0.95, labels, (labels + random.integers(1, 4, 30)) % 4)
        found = JudgeQuality.measure(zip(labels.tolist(), said.tolist(), strict=True), items=30, silent=0)
        assert found.kappa_low is not None
        assert found.kappa_high is not None
        held += found.kappa_low <= kappa <= found.kappa_high
    assert 910 <= held <= 990


def test_the_quality_counts_labels_of_items_about_which_the_judge_says_something() -> None:
    rows = [["a", "b"], ["a", "b"], ["b", "a"], ["a", "a"], ["a", "b"]]
    pool = mp.PoolPicker(rows, judge=["a", None, "a", "b", "a class that no model says"])
    for item, label in ((0, "a"), (1, "a"), (2, "c"), (3, "a")):
        pool.tell(item, label)
    found = measure_judge(pool)
    assert found is not None
    assert (found.items, found.labels, found.agreed, found.silent) == (3, 3, 1, 1)
    assert {one.label: (one.labels, one.agreed) for one in found.classes} == {"a": (2, 1), None: (1, 0)}
    assert measure_judge(mp.PoolPicker(rows)) is None


def test_a_judge_agrees_with_a_label_if_what_it_says_is_right_by_it() -> None:
    rows = [["a", "b", "c"]] * 5
    pool = mp.PoolPicker(rows, judge=["b", "c", "a", "c", "b"], loss="grades")
    pool.tell(0, mp.Label.any_of("a", "b"))
    pool.tell(1, mp.Label.any_of("a", "b"))
    pool.tell(2, mp.Label.graded({"a": 0.8, "b": 0.1, "c": 0}))  # the best answer, though not quite right
    pool.tell(3, mp.Label.graded({"a": 1, "b": 0}))  # which says nothing about c
    pool.tell(4, mp.Label.all_wrong())
    found = measure_judge(pool)
    assert found is not None
    assert (found.labels, found.agreed, found.silent) == (4, 2, 1)


def test_a_pick_says_how_good_its_judge_was() -> None:
    rows = np.random.default_rng(1).integers(0, 3, (300, 4))
    labels = np.where(np.random.default_rng(2).random(300) < 0.7, rows[:, 2], rows[:, 0])
    right = mp.pick(mp.ModelCollection(rows, labels), judge=labels, tolerance=0.05)
    assert right.judge is not None
    assert (right.judge.items, right.judge.labels, right.judge.agreed) == (
        300,
        right.labels_used,
        right.labels_used,
    )
    assert right.document()["judge"]["sentence"] == right.judge.sentence
    assert right.judge.sentence in right.report()
    alone = mp.pick(mp.ModelCollection(rows, labels), tolerance=0.05)
    assert (alone.judge, alone.document()["judge"]) == (None, None)
    assert "judge" not in alone.report()
    assert math.isclose(right.judge.high, 1.0)
