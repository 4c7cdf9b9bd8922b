"""How accurate the pick is: the interval is right as often as it says, whoever looks whenever."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.audit import Audit
from modelpicker.certificates.accuracy import (
    AuditDraw,
    RightCounts,
    cell_bounds,
    measure_accuracy,
    money_after,
    peak_money,
)

CONFIDENCES = (0.2, 0.5, 0.8, 0.95)
Codes = npt.NDArray[np.int64]

# Every order of draws.

MANNERS = ("prompt", "late", "wrong ones skipped", "others known meanwhile", "others out meanwhile")


class TinyFile:
    """A file of a few items, played by somebody who knows all labels and whose draws can be chosen."""

    def __init__(self, right: tuple[bool, ...], manner: str) -> None:
        self.right, self.manner = right, manner
        self.audit = Audit(0.5, len(right))
        self.free = list(range(len(right)))
        self.told: dict[int, int] = {}
        self.waiting: list[int] = []

    def draw(self, choice: int) -> None:
        """One draw, and what happens until the next."""
        first = len(self.free) == len(self.right)
        item = self.audit.draw(0.5 * (choice + 0.5) / len(self.free))
        assert item == self.free.pop(choice)
        self.answer(item)
        if first and self.manner.startswith("others"):
            # Somebody takes out an item on which the model is right, if there is one.
            other = max(self.free, key=lambda item: self.right[item])
            self.free.remove(other)
            self.tell(other) if self.manner == "others known meanwhile" else self.audit.ask(other)

    def answer(self, item: int) -> None:
        if self.manner == "late":
            self.waiting.append(item)
            if len(self.waiting) > 1:
                self.tell(self.waiting.pop(0))
        elif self.manner == "wrong ones skipped" and not self.right[item]:
            self.audit.tell(item, False)
        else:
            self.tell(item)

    def tell(self, item: int) -> None:
        self.told[item] = 1
        self.audit.tell(item, True)


def every_order(
    right: tuple[bool, ...], manner: str, choices: tuple[int, ...] = (), chance: float = 1.0
) -> Iterator[tuple[float, list[AuditDraw]]]:
    """Every order in which the items may be drawn: its probability, and the draws as they are seen in the end."""
    file = TinyFile(right, manner)
    for choice in choices:
        file.draw(choice)
    if not file.free:
        yield chance, file.audit.replay(np.array(right, dtype=np.int64), file.told)
    for choice in range(len(file.free)):
        yield from every_order(right, manner, (*choices, choice), chance / len(file.free))


@pytest.mark.parametrize("manner", MANNERS)
def test_over_every_order_of_a_tiny_file_the_truth_is_refuted_no_more_often_than_allowed(manner: str) -> None:
    """Exact: all 32 files of five items, all orders. The money against the truth is 1 or less on average, and the
    chance that it ever reaches 1 / (1 - c) is at most 1 - c. Nothing is random, so the allowed error is rounding.
    """
    seen = 0.0
    for right in product((False, True), repeat=5):
        mean, wrong = 0.0, dict.fromkeys(CONFIDENCES, 0.0)
        for chance, draws in every_order(right, manner):
            *_, money = money_after(draws, 5)
            mean += chance * money[sum(right)]
            peak = peak_money(draws, 5, models=1, since=0)[sum(right)]
            for confidence in CONFIDENCES:
                wrong[confidence] += chance * (peak * (1.0 - confidence) >= 1.0)
        assert mean <= 1.0 + 1e-9
        assert all(share <= 1.0 - confidence + 1e-9 for confidence, share in wrong.items())
        seen = max(seen, *wrong.values())
    assert seen > 0.0 or manner != "prompt", "or the test could not see a truth that is refuted"


# Many files.


def drawn_in_order(right: npt.NDArray[np.bool_], rng: np.random.Generator, labels: int) -> list[AuditDraw]:
    """The first draws of a file, each labelled at once."""
    audit = Audit(0.5, len(right))
    told = {}
    for coin in rng.random(labels):
        item = audit.draw(0.5 * float(coin))
        told[item] = 1
        audit.tell(item, True)
    return audit.replay(right.astype(np.int64), told)


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.97])
def test_of_a_thousand_files_at_most_one_in_twenty_sees_the_truth_refuted_at_any_time(accuracy: float) -> None:
    """What counts is the peak of the money: somebody stops at the worst moment. Of 1,000 files at 95 % at most
    50 may be wrong. Seeds are fixed, so that what passes passes again.
    """
    rng = np.random.default_rng(18)
    wrong = 0
    for _ in range(1_000):
        right = rng.random(100) < accuracy
        peak = peak_money(drawn_in_order(right, rng, 60), 100, models=1, since=0)
        wrong += peak[right.sum()] >= 20.0
    assert 0 < wrong <= 50, "none at all would mean that nothing is ever refuted"


def random_file(rng: np.random.Generator, items: int) -> tuple[Codes, Codes]:
    """Four models of two classes; on half of the items they agree, and are right on nine in ten of those."""
    labels = rng.integers(0, 2, items)
    wrong = rng.random((items, 4)) > np.array([0.55, 0.6, 0.65, 0.75])
    same = rng.random(items) < 0.5
    wrong[same] = (rng.random(items) < 0.1)[same, None]
    return labels[:, None] ^ wrong, labels


def looks(pool: mp.PoolPicker, labels: Codes, truth: npt.NDArray[np.float64], confidence: float) -> bool:
    """Whether any statement about the pick is false, to somebody who looks after each label and never stops."""
    false = False
    while items := pool.ask(1):
        pool.tell_code(items[0], int(labels[items[0]]))
        found = pool.accuracy(confidence)
        accuracy = truth[pool.recommended_index]
        false |= not found.low <= accuracy <= found.high
        false |= pool.certificate(confidence).gap < truth.max() - accuracy - 1e-9
    return false


def false_files(files: int, confidence: float = 0.95) -> int:
    """In how many files a statement was false at any time."""
    wrong = 0
    for seed in range(files):
        codes, labels = random_file(np.random.default_rng(seed), 60)
        truth = (codes == labels[:, None]).mean(axis=0)
        pool = mp.PoolPicker(codes, seed=seed, tolerance=0.05, audit=0.5, confidence=confidence)
        wrong += looks(pool, labels, truth, confidence)
    return wrong


@pytest.mark.slow
def test_hardly_any_pool_makes_a_false_statement_about_its_pick() -> None:
    """Of 20 pools at 95 % at most 4 may be wrong: more would be seen once in 388 times if 5 % were. Fixed seeds."""
    assert false_files(20) <= 4


def test_statements_of_little_confidence_are_false_now_and_then() -> None:
    """Or the simulation could not see a false one: at 10 % confidence at least one of 20, and at most 90 %."""
    assert 0 < false_files(20, confidence=0.1) <= 18


@pytest.mark.slow
def test_of_a_thousand_pools_at_most_one_in_twenty_makes_a_false_statement() -> None:
    """At most 50 of 1,000, with a look after each label until all items are labelled. Fixed seeds."""
    assert false_files(1_000) <= 50


# What a pool does with it.


def small_pool(**more: Any) -> mp.PoolPicker:
    """100 items: on 40 of them two models differ."""
    return mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], **more)


WIDE = (
    "On these 100 items, the accuracy of {} (certain). No item was drawn at random to measure it, so nothing is "
    "known about {}. With audit=0.05, one label in 20 is bought to measure it."
)


def test_without_an_audit_only_what_was_counted_is_known_and_the_sentence_says_so() -> None:
    pool = small_pool()
    for item in range(30):
        pool.tell(item, "dog")
    found = pool.accuracy()
    assert (found.model, found.low, found.estimate, found.high) == ("large", 0.3, 0.65, 1.0)
    which = "70 items without a label, 60 of them items on which all models agree"
    assert found.sentence == WIDE.format("large is between 30% and 100%", which)
    for item in range(30, 40):
        pool.tell(item, "dog")
    which = "60 items on which all models agree"
    assert pool.accuracy().sentence == WIDE.format("large is between 40% and 100%", which)
    for item in range(40, 100):
        pool.tell(item, "cat")
    assert pool.accuracy().sentence == "On these 100 items, the accuracy of large is 100% (certain)."


@pytest.mark.parametrize("seed", range(3))
def test_an_audit_without_draws_changes_no_question_until_the_pick_is_proved(seed: int) -> None:
    """The share is so small that the coin never falls that way; the machinery runs all the same."""
    codes, labels = random_file(np.random.default_rng(seed), 200)
    plain, audited = mp.PoolPicker(codes, seed=seed), mp.PoolPicker(codes, seed=seed, audit=1e-300)
    asked = []
    while not plain.certified:
        asked += plain.ask(1)
        assert audited.ask(1) == asked[-1:]
        for pool in (plain, audited):
            pool.tell_code(asked[-1], int(labels[asked[-1]]))
    assert len(asked) > 10
    assert plain.certificate() == audited.certificate()
    states = plain.state_dict(), audited.state_dict()
    assert states[0].pop("audit") is None
    assert states[1].pop("audit") is not None
    assert states[0] == states[1]


@pytest.mark.parametrize("audit", [0.0, 0.5])
def test_when_everything_is_labelled_the_interval_is_a_point(audit: float) -> None:
    pool = small_pool(audit=audit)
    for item in range(100):
        pool.tell(item, "cat" if item < 70 else "cow")
    found = pool.accuracy(0.999)
    assert (found.model, found.low, found.estimate, found.high) == ("small", 0.7, 0.7, 0.7)
    assert found.sentence == "On these 100 items, the accuracy of small is 70% (certain)."
    assert pool.ask(1) == []


def test_with_an_audit_every_item_is_asked_about_in_the_end_and_once() -> None:
    pool = small_pool(audit=0.2)
    asked = pool.ask(1_000)  # the contested ones, and some of the others: the pick comes first
    assert sorted(asked) == pool.open_items
    assert 40 <= len(asked) < 100
    for item in asked:
        pool.tell(item, "cat")
    rest = pool.ask(1_000)
    assert sorted([*asked, *rest]) == list(range(100))
    for item in rest:
        pool.tell(item, "cat")
    assert pool.open_items == []
    assert pool.accuracy().low == pool.accuracy().high == 1.0


def test_where_all_models_agree_a_pool_is_done_and_an_audit_may_go_on() -> None:
    assert mp.PoolPicker([[1, 1]] * 50).ask(1) == []
    pool = mp.PoolPicker([[1, 1]] * 50, audit=0.05)
    assert pool.done
    found = []
    for _ in range(25):
        pool.tell(pool.ask(1)[0], 1)
        found.append(pool.accuracy())
    assert found[-1].low > 0.75
    assert found[-1].high == 1.0


def test_the_share_of_draws_is_the_audit_and_draws_are_uniform() -> None:
    """Of 2,000 questions at 20 % between 330 and 470 are draws (four standard deviations), half of them about the
    agreed half. Seeds are fixed.
    """
    rng = np.random.default_rng(5)
    codes = np.where(np.arange(8_000)[:, None] < 4_000, 0, rng.integers(0, 2, (8_000, 2)))
    codes[4_000:, 1] = 1 - codes[4_000:, 0]
    pool = mp.PoolPicker(codes, tolerance=0.0, audit=0.2)
    asked = np.array(pool.ask(2_000))
    assert 130 <= (asked < 4_000).sum() <= 270
    first = [mp.PoolPicker(codes[3_995:4_005], seed=seed, audit=0.999).ask(1)[0] for seed in range(1_000)]
    assert all(60 <= first.count(item) <= 140 for item in range(10))


@pytest.mark.parametrize("label", ["dog", None])
def test_a_label_that_is_late_or_missing_counts_at_its_worst(label: str | None) -> None:
    prompt, late = (small_pool(audit=0.9, seed=3) for _ in range(2))
    for pool in (prompt, late):
        for item in range(40):
            pool.tell(item, "dog")
    asked = late.ask(40)
    assert asked == prompt.ask(40)
    for item in asked:
        prompt.tell(item, "cat")
    for item in asked[5:]:
        late.tell(item, "cat")
    if label is None:
        for item in asked[:5]:
            late.tell(item, None)
    before = late.accuracy()
    assert before.low < prompt.accuracy().low
    for item in asked[:5]:
        late.tell(item, "cat")  # somebody can tell after all
    assert before.low < late.accuracy().low
    assert late.accuracy().high == prompt.accuracy().high == 1.0


def test_looks_are_nested_for_one_model_in_any_order_of_labels() -> None:
    codes, labels = random_file(np.random.default_rng(2), 150)
    codes[:, 3] = labels ^ (np.arange(150) % 10 == 0)  # one model is clearly the best
    pool = mp.PoolPicker(codes, audit=0.5)
    waiting: list[int] = []
    found = []
    rng = np.random.default_rng(3)
    for _ in range(40):
        waiting += pool.ask(3)
        rng.shuffle(waiting)
        for item in (waiting.pop(), waiting.pop(), int(rng.integers(0, 150))):
            pool.tell_code(item, int(labels[item]))
        waiting = [item for item in waiting if item in pool.open_items]
        found.append(pool.accuracy())
    mine = [one for one in found if one.model == found[-1].model]
    assert len(mine) > 20
    assert all(a.low <= b.low <= 0.9 <= b.high <= a.high for a, b in pairwise(mine))
    assert mine[-1].high - mine[-1].low < 0.3


def test_a_label_told_twice_counts_once_and_another_one_is_refused() -> None:
    pool = small_pool(audit=0.9)
    item = next(item for item in pool.ask(20) if item >= 40)
    pool.tell(item, "cat")
    state = pool.state_dict()
    pool.tell(item, "cat")
    with pytest.raises(mp.ConflictError, match="told"):
        pool.tell(item, "dog")
    assert pool.state_dict() == state


def test_an_item_that_nobody_can_label_is_not_drawn_again() -> None:
    pool = small_pool(audit=0.9)
    for item in range(40, 100):
        pool.tell(item, None)
    assert sorted(pool.ask(100)) == list(range(40))
    assert pool.accuracy().high == 1.0


def test_abstentions_are_wrong_without_a_label() -> None:
    pool = mp.PoolPicker([[None, 1]] * 10 + [[None, None]] * 30, ["shy", "bold"])
    for item in range(10):
        pool.tell(item, 1)
    found = pool.accuracy()
    assert (found.model, found.low, found.high) == ("bold", 0.25, 0.25)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_state_carries_the_audit_at_any_moment(share: float) -> None:
    codes, labels = random_file(np.random.default_rng(7), 120)
    pool = mp.PoolPicker(codes, audit=share, tolerance=0.05)
    waiting: list[int] = []
    for number in range(25):
        waiting += pool.ask(3)
        for item in waiting[: 2 + number % 3]:
            pool.tell_code(item, None if item % 11 == 0 else int(labels[item]))
        waiting = pool.open_items
        again = mp.PoolPicker.from_state_dict(pool.state_dict(), codes)
        assert again.accuracy() == pool.accuracy()
        assert again.open_items == pool.open_items
        assert again.state_dict() == pool.state_dict()
        pool = again
    assert (pool.accuracy().high - pool.accuracy().low < 0.5) == bool(share)


@pytest.mark.parametrize(
    "audit",
    [{"share": 0.5}, {"share": 2.0, "events": [], "favourite": None}, 7, {"share": 0.5, "events": [[9, 1, 1]]}],
)
def test_a_damaged_audit_is_said_to_be_damaged(audit: object) -> None:
    state = small_pool(audit=0.5).state_dict() | {"audit": audit}
    with pytest.raises(mp.ModelPickerError):
        mp.PoolPicker.from_state_dict(state, [["cat", "dog"]] * 40 + [["cat", "cat"]] * 60)


@pytest.mark.parametrize("audit", [-0.1, 1.0, 1, float("nan"), float("inf"), "0.05", True, None])
def test_an_audit_that_is_no_share_is_refused_by_name(audit: Any) -> None:
    with pytest.raises(mp.InputError, match="audit") as caught:
        small_pool(audit=audit)
    assert caught.value.parameter == "audit"


@pytest.mark.parametrize("confidence", [0.0, 1.0, float("nan"), "much"])
def test_a_confidence_that_is_none_is_refused_by_name(confidence: Any) -> None:
    with pytest.raises(mp.InputError, match="confidence"):
        small_pool().accuracy(confidence)


# How it is counted and said.


def test_neighbours_share_a_bet_in_a_large_pool_and_every_number_has_a_cell() -> None:
    for items in (1, 7, 2_000, 2_001, 5_000, 1_000_003):
        first, last = cell_bounds(items)
        assert len(first) == min(items + 1, 2_001)
        assert first[0] == 0
        assert last[-1] == items
        assert (first[1:] == last[:-1] + 1).all()
        assert (first <= last).all()


def test_a_share_is_rounded_outwards() -> None:
    found = measure_accuracy("a", RightCounts(30_000, 29_999, 0, 0), [], 0.95, models=2)
    assert "99.9%" in found.sentence
    found = measure_accuracy("a", RightCounts(30_000, 1, 1, 0), [], 0.95, models=2)
    assert "between 0% and 0.1%" in found.sentence


def test_money_that_contradicts_what_was_counted_leaves_what_was_counted() -> None:
    draws = [AuditDraw(100 - n, n, 0, n, 0, 0.9, right=True) for n in range(60)]
    found = measure_accuracy("a", RightCounts(100, 20, 3, 0), draws, 0.95, models=2)
    assert (found.low, found.high) == (0.2, 0.23)
