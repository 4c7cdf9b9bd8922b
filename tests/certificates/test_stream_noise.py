"""Statements about streams whose labels may be wrong: true of the right labels, as often as they say."""

import base64
import zlib
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.certificates.certificate import KINDS
from modelpicker.certificates.evidence import CONTESTED, ROUNDS
from modelpicker.certificates.evidence_kernels import evidence_kernels
from modelpicker.certificates.label_noise import NOISE_SHARE
from modelpicker.certificates.stream_noise import COUNTS, stream_noise, widened_by

NOISE = 0.15
ACCURACIES = (0.80, 0.75, 0.60)


def chance_of_more(share: float, kind: str, confidence: float, rounds: int) -> float:
    """The probability that a bound is ever broken, exactly: every count after every round is seen.

    For a stream the share is that of wrong labels, and all rounds are contested; for a population it is that of
    contested items, whose labels are wrong with probability NOISE.
    """
    noise = stream_noise(share if kind == "stream" else NOISE, confidence, KINDS[kind])
    chances, broken = np.array([1.0]), 0.0
    for seen in range(1, rounds + 1):
        chances = np.append(chances * (1.0 - share), 0.0) + np.append(0.0, chances * share)
        counts = np.arange(seen + 1)
        if kind == "stream":
            wider = widened_by(noise, seen, seen)
            bad = (counts > round(wider * seen / 2)) & (wider < 1.0)
        else:
            bad = np.array([widened_by(noise, int(count), seen) < 2.0 * NOISE * share for count in counts])
        broken += chances[bad].sum()
        chances[bad] = 0.0
    return float(broken)


@pytest.mark.parametrize("kind", ["stream", "population"])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.45])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_bounds_are_broken_no_more_often_than_they_may(share: float, kind: str, confidence: float) -> None:
    broken = chance_of_more(share, kind, confidence, 150)
    assert broken <= NOISE_SHARE * (1.0 - confidence) / COUNTS


def test_the_bounds_are_not_idle() -> None:
    """With hardly any confidence they are broken now and then, or the test above could not see a fault."""
    assert chance_of_more(0.2, "stream", 0.01, 150) > 1e-4


def told_wrongly(random: np.random.Generator, rows: Any, truth: Any) -> Any:
    """Labels that are wrong with probability NOISE, but only where that makes the best model look bad."""
    hurts = (rows[:, 0] == truth) & (rows[:, 1] != truth)
    return np.where(hurts & (random.random(len(truth)) < NOISE), 1 - truth, truth)


def false_streams(kind: Any, admitted: float, streams: int, confidence: float) -> int:
    """Of how many streams a statement was false at any of four looks."""
    evidence_kernels().warm_up()
    false = 0
    for seed in range(streams):
        random = np.random.default_rng(seed)
        truth = random.integers(0, 2, 400)
        right = random.random((400, 3)) < ACCURACIES
        rows = np.where(right, truth[:, None], 1 - truth[:, None])
        told = told_wrongly(random, rows, truth)
        picker = mp.LabelEfficient(3, seed=seed, probability=1.0)
        wrong = False
        for start in range(0, 400, 100):
            mp.run_stream(picker, rows[start : start + 100], told[start : start + 100])
            found = picker.certificate(confidence, kind, label_noise=admitted)
            seen = right[: start + 100].mean(axis=0) if kind == "stream" else np.array(ACCURACIES)
            wrong |= bool(seen.max() - seen[int(found.model)] > found.gap + 1e-9)
        false += wrong
    return false


@pytest.mark.parametrize("kind", ["stream", "population"])
def test_hardly_any_noisy_stream_sees_a_false_statement(kind: str) -> None:
    """Of 60 streams at most 9 may be wrong: more would be seen once in 1,000 times if 5 % were. Seeds are fixed."""
    assert false_streams(kind, NOISE, 60, 0.95) <= 9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stream", "population"])
def test_of_four_hundred_noisy_streams_at_most_one_in_twenty_is_wrong(kind: str) -> None:
    """Up to 35 of 400 may be wrong: more would be seen once in 1,000 times if 5 % were."""
    assert false_streams(kind, NOISE, 400, 0.95) <= 35


def test_without_the_noise_the_same_statements_of_a_stream_are_false_far_too_often() -> None:
    """All labels are asked for: what they say is known, and it is not the truth."""
    assert false_streams("stream", 0.0, 60, 0.95) > 30


def agreeing(rounds: int, differ: int) -> tuple[Any, Any]:
    """Rounds of which models differ on every so manieth; the first is right."""
    rows = np.zeros((rounds, 3), dtype=np.int64)
    rows[::differ, 1:] = 1
    return rows, np.zeros(rounds, dtype=np.int64)


@pytest.mark.parametrize("kind", ["stream", "population"])
def test_where_models_seldom_differ_wrong_labels_cost_little(kind: Any) -> None:
    wider = []
    for differ in (1, 10):
        picker = mp.LabelEfficient(3, probability=1.0)
        mp.run_stream(picker, *agreeing(20_000, differ))
        plain, noisy = picker.certificate(0.95, kind), picker.certificate(0.95, kind, label_noise=0.05)
        assert (plain.label_noise, noisy.label_noise) == (0.0, 0.05)
        assert noisy.sentence.endswith("This holds if each label is wrong with a probability of at most 5%.")
        wider.append(noisy.gap - plain.gap)
    assert 0.1 <= wider[0] < 0.13
    assert 0.01 <= wider[1] < 0.02


@pytest.mark.parametrize("kind", ["stream", "population"])
def test_a_rule_stops_by_the_wider_gap_compiled_and_interpreted(kind: Any) -> None:
    rows, labels = agreeing(1_500, 4)
    rule = mp.Certified(0.15, 0.95, kind)
    ends = {}
    for noise in (0.0, 0.05):
        traces = [
            mp.run_stream(mp.LabelEfficient(3, probability=0.9), rows, told, stop_when=rule, label_noise=noise)
            for told in (labels, lambda place: 0)
        ]
        assert [trace.stopped for trace in traces] == ["certified", "certified"]
        ends[noise], interpreted = map(len, traces)
        assert ends[noise] == interpreted
        certificate = traces[0].certificate
        assert certificate is not None
        assert (certificate.gap <= 0.15, certificate.label_noise) == (True, noise)
    assert ends[0.05] > ends[0.0]


@pytest.mark.slow
def test_a_race_is_won_by_its_labels_and_says_what_that_is_worth() -> None:
    rows, labels = agreeing(2_000, 2)
    race = mp.Race(3, tolerance=0.05)
    mp.run_stream(race, rows, labels)
    assert race.won is not None
    assert race.certificate(0.95, "population", label_noise=0.02).gap == pytest.approx(0.05 + 0.04)
    assert race.certificate(0.95, "population", label_noise=0.48).gap == 1.0
    assert race.certificate(0.95, "population", label_noise=0.48).sentence == "Not proven yet."


@pytest.mark.parametrize("wrong", [-0.1, 0.5, float("nan"), "some", None])
def test_a_noise_that_makes_no_sense_is_refused(wrong: Any) -> None:
    picker = mp.ModelPicker(3)
    with pytest.raises(mp.InputError, match="label_noise"):
        picker.certificate(label_noise=wrong)
    with pytest.raises(mp.InputError, match="label_noise"):
        mp.run_stream(picker, *agreeing(5, 2), label_noise=wrong)
    with pytest.raises(mp.InputError, match="never closed"):
        mp.run_stream(picker, *agreeing(5, 2), stop_when=mp.Certified(0.0), label_noise=0.1)
    assert picker.rounds == 0


def test_before_the_first_round_nothing_is_said() -> None:
    for kind in ("stream", "population"):
        assert mp.ModelPicker(3).certificate(0.95, kind, label_noise=0.1).gap == 1.0


def test_evidence_of_older_versions_counts_every_round_as_contested() -> None:
    picker = mp.LabelEfficient(3, probability=1.0)
    mp.run_stream(picker, *agreeing(100, 5))
    recorder = picker.recorder
    assert recorder.contested == 20
    raw = zlib.decompress(base64.b85decode(str(recorder.document())))
    assert type(recorder).load(3, recorder.document()).contested == 20
    older = base64.b85encode(zlib.compress(raw[:-8])).decode()
    loaded = type(recorder).load(3, older).take_in()
    assert (loaded.seen[CONTESTED], loaded.seen[ROUNDS]) == (100, 100)
    with pytest.raises(mp.StateError, match="damaged"):
        type(recorder).load(3, base64.b85encode(zlib.compress(raw[:-16])).decode())
