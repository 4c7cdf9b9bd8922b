"""A window: the best model of recent rounds, old ones being forgotten little by little."""

import json
import math
from typing import Any, ClassVar

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import as_decisions, compare_speeds, make_stream, play, same_decisions
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
from modelpicker.kernels.primitives import FIRST, LEADER, agreed, charge, drawn, largest_share, smallest_loss, weigh
from tests.algorithms.test_brute_force import all_streams, check, textbook_probability

WINDOWS = [1, 2, 7, 200, 10**6]


def paper_decides(
    state: Any, settings: Any, t: int, row: Any, coins: Any, scale: float, scratch: Any
) -> tuple[float, int]:
    if agreed(row):
        return 0.0, -1
    leader = state.standing[LEADER]
    rate = math.sqrt(settings.log_models / (2.0 * t))
    weigh(state.losses, state.losses[leader], rate, scratch.weights)
    share = largest_share(row, leader, scratch)
    speaker = drawn(scratch.cumulated, coins[FIRST])
    return min(1.0, max(scale * (share * (1.0 - share)), rate)), speaker


def paper_learns(state: Any, settings: Any, t: int, row: Any, lost: Any, probability: float) -> None:
    charge(state.losses, state.standing, lost, 1.0 / probability)


class Paper(mp.ModelPicker):
    """Algorithm 1 of the paper, to which windows are unknown."""

    kernel: ClassVar[Kernel] = Kernel(paper_decides, smallest_loss, paper_learns)


def discounted(trace: mp.Trace, predictions: Any, labels: Any, window: int) -> Any:
    """The losses by their definition: every mistake over its probability, times 1 - 1/window a round since."""
    told = trace.queried & (labels >= 0)
    ago = len(labels) - 1 - np.flatnonzero(told)
    worth = (1.0 - 1.0 / window) ** ago / trace.probability[told]
    return worth @ (predictions[told] != labels[told, None])


def switching(rounds: int, seed: int = 0) -> tuple[Any, Any]:
    """Five models, right in half of the rounds; in nine of ten the first up to the middle, then the second."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 4, rounds)
    accuracy = np.full((rounds, 5), 0.5)
    accuracy[: rounds // 2, 0] = accuracy[rounds // 2 :, 1] = 0.9
    wrong = (labels[:, None] + draw.integers(1, 4, (rounds, 5))) % 4
    return np.where(draw.random((rounds, 5)) < accuracy, labels[:, None], wrong), labels


def test_without_a_window_it_is_the_papers_algorithm_to_the_last_bit() -> None:
    predictions, labels = make_stream(17, rounds=1_500, models=7, classes=4, abstaining=0.1, skipped=0.1)
    paper, picker = Paper(7, 5), mp.ModelPicker(7, 5, window=0)
    same_decisions(play(paper, predictions, labels), as_decisions(mp.run_stream(picker, predictions, labels)))
    assert picker.losses.tolist() == paper.losses.tolist() == paper.state.losses.tolist()
    assert picker.state_dict()["state"] == paper.state_dict()["state"]


def test_with_a_window_the_new_best_model_is_named_long_before_the_plain_picker_does() -> None:
    """2,000 rounds after the change the first model is still ahead, or level, overall.

    So the coins make a plain picker change its mind 773 rounds after the change, or later, or not at all; one with
    a window of 300 does so after 116 to 292 rounds. Seeds are fixed, and the bounds leave room for other NumPys.
    """
    predictions, labels = switching(4_000)
    for seed in range(8):
        plain, recent = (
            mp.run_stream(mp.ModelPicker(5, seed, window=window), predictions, labels).recommended
            for window in (0, 300)
        )
        assert (plain[500:2_500] == 0).all()
        assert (recent[500:2_000] == 0).all()
        assert (recent[2_450:] == 1).all()


@pytest.mark.parametrize("window", [1, 50])
def test_both_speeds_agree_on_a_stream_whose_best_model_changes(window: int) -> None:
    def make(models: Models, seed: int) -> mp.Algorithm:
        return mp.ModelPicker(models, seed, window=window)

    compare_speeds(make, 5, 1, *switching(800, seed=3))


@pytest.mark.parametrize("window", WINDOWS)
def test_losses_are_the_discounted_sums(window: int) -> None:
    predictions, labels = make_stream(2, rounds=1_000, models=6, classes=3, abstaining=0.1, skipped=0.2)
    picker = mp.ModelPicker(6, 2, window=window, query_scale=0.5)
    trace = mp.run_stream(picker, predictions, labels)
    np.testing.assert_allclose(trace.losses, discounted(trace, predictions, labels, window), rtol=1e-9)
    assert picker.losses.tolist() == trace.losses.tolist()


@pytest.mark.parametrize("window", WINDOWS)
def test_probabilities_and_weights_follow_the_losses_and_a_rate_that_stops_falling(window: int) -> None:
    predictions, labels = make_stream(3, rounds=300, models=4, classes=3)
    picker = mp.ModelPicker(4, 3, window=window)
    for t, (row, label) in enumerate(zip(predictions.tolist(), labels.tolist(), strict=True), 1):
        losses, weights = picker.losses, np.exp(-math.sqrt(math.log(4) / (2 * min(t, window))) * picker.losses)
        np.testing.assert_allclose(picker.weights, weights / weights.sum(), rtol=1e-9)
        decision = picker.observe(row)
        assert decision.probability == pytest.approx(textbook_probability(losses, row, min(t, window), 1.0))
        if decision.query:
            picker.learn(decision.round, label)


@pytest.mark.parametrize("window", WINDOWS)
def test_late_labels_give_the_same_losses_as_prompt_ones(window: int) -> None:
    """At a scale of 0 the probability is the learning rate, so that decisions do not depend on the labels."""
    predictions, labels = make_stream(4, rounds=600, models=5, classes=3)
    prompt, late = (mp.ModelPicker(5, 1, query_scale=0.0, window=window) for _ in range(2))
    play(prompt, predictions, labels)
    asked = [decision.round for decision in map(late.observe, predictions) if decision.query]
    assert len(asked) > 20
    for number in np.random.default_rng(0).permutation(asked).tolist():
        late.learn(number, int(labels[number]))
    assert late.labels_used == prompt.labels_used
    np.testing.assert_allclose(late.losses, prompt.losses, rtol=1e-9)
    np.testing.assert_allclose(late.weights, prompt.weights, rtol=1e-9)
    if window > 1:  # otherwise both are level
        assert late.recommended == prompt.recommended


def test_a_label_counts_less_with_every_round_that_goes_by() -> None:
    picker = mp.ModelPicker(2, 0, window=10, query_scale=100.0)
    decision = picker.observe([0, 1])
    for _ in range(7):
        picker.observe([1, 1])
    picker.learn(decision.round, 1)
    assert picker.losses.tolist() == [pytest.approx(0.9**7), 0.0]
    for _ in range(100):
        picker.observe([1, 1])
    assert picker.losses.tolist() == [pytest.approx(0.9**107), 0.0]
    assert picker.recommended == 1


@pytest.mark.parametrize("window", [1, 2, 1_000, 10**9, 2**53])
def test_billions_of_rounds_do_no_harm(window: int) -> None:
    picker = mp.ModelPicker(3, 0, window=window, query_scale=100.0)
    first = picker.observe([0, 1, 1])
    picker.clock[0] += 3 * 10**9  # as if that many rounds had gone by
    picker.learn(first.round, 1)
    left = math.exp(3e9 * math.log1p(-1 / window)) if window > 1 else 0.0
    assert picker.losses == pytest.approx([left, 0.0, 0.0], rel=1e-6, abs=1e-300)
    second = picker.observe([1, 0, 0])
    assert second.query
    picker.learn(second.round, 1)
    assert picker.losses == pytest.approx([left, 1.0, 1.0], rel=1e-6, abs=1e-300)
    assert picker.weights.sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_discounted_estimates_are_unbiased_on_every_binary_stream_of_two_models_and_three_rounds() -> None:
    for rows, labels in all_streams(rounds=3, models=2, classes=2):
        check(rows, labels, window=2)


@pytest.mark.parametrize("window", [1, 2, 3, 50])
def test_discounted_estimates_are_unbiased_with_abstentions_and_odd_labels(window: int) -> None:
    draw = np.random.default_rng(window)
    for _ in range(4):
        check(draw.integers(-1, 3, (6, 3)).tolist(), draw.integers(0, 5, 6).tolist(), 0.5, window)


@pytest.mark.parametrize("value", [-1, 2.5, 200.0, True, False, "500", None, float("nan"), 2**53 + 1, 10**400])
def test_a_window_that_is_no_number_of_rounds_is_refused(value: Any) -> None:
    with pytest.raises(mp.InputError, match=r"^window=.* is (not a count; pass .* or 0 for all|out of range)"):
        mp.ModelPicker(3, window=value)


def test_a_window_does_not_go_with_the_model_of_a_random_round() -> None:
    with pytest.raises(mp.InputError, match=r"window=5 does not go with recommend='random-round', which names"):
        mp.ModelPicker(3, window=5, recommend="random-round")


def test_the_window_is_an_option_and_survives_json() -> None:
    predictions, labels = switching(400)
    picker = mp.ModelPicker(5, 1, window=np.int64(40), query_scale=1e3)  # type: ignore[arg-type]
    mp.run_stream(picker, predictions, labels)
    assert picker.observe([0, 1, 1, 1, 1]).query
    restored = mp.ModelPicker.from_state_dict(json.loads(json.dumps(picker.state_dict())))
    assert restored.options == picker.options
    assert restored.options["window"] == 40
    assert restored.open_queries == (400,)
    for number in restored.open_queries:
        picker.learn(number, 1)
        restored.learn(number, 1)
    trace, other = (mp.run_stream(each, predictions, labels) for each in (picker, restored))
    assert np.array_equal(trace.probability, other.probability)
    assert restored.state_dict() == picker.state_dict()


def test_losses_as_of_a_round_that_has_not_been_are_refused() -> None:
    picker = mp.ModelPicker(3, window=5)
    picker.state.as_of[0] = 1
    with pytest.raises(mp.StateError, match="as of round 1, of 0"):
        mp.ModelPicker.from_state_dict(picker.state_dict())


def test_certificates_speak_of_all_rounds_whatever_the_window() -> None:
    """Where every disagreement is queried, evidence does not depend on who is recommended: only the name does."""
    predictions, labels = switching(2_000)
    plain, recent = (mp.ModelPicker(5, 1, query_scale=1e9, window=window) for window in (0, 50))
    for picker in (plain, recent):
        mp.run_stream(picker, predictions[:1_800], labels[:1_800])
    assert plain.recorder.document() == recent.recorder.document()
    assert (plain.recommended, recent.recommended) == (0, 1)
    assert recent.certificate().rounds == 1_800
    assert recent.certificate().gap > plain.certificate().gap


def test_differences_of_losses_over_what_is_counted_are_those_of_recent_accuracies() -> None:
    predictions, labels = switching(4_000)
    picker = mp.ModelPicker(5, 1, query_scale=1e9, window=100)
    losses = mp.run_stream(picker, predictions, labels).losses
    ago = np.arange(4_000)[::-1]
    assert picker.counted(4_000) == pytest.approx((0.99**ago).sum())
    assert picker.counted(1_000, 50) == pytest.approx((0.99 ** (50 + np.arange(1_000))).sum())
    wrong = np.average(predictions != labels[:, None], axis=0, weights=0.99**ago)
    assert (losses - losses[1]) / picker.counted(4_000) == pytest.approx(wrong - wrong[1])
    assert mp.ModelPicker(5).counted(4_000, 50) == 4_000.0
