"""What evidence is: checked against the formulas, against every coin, and between its two speeds."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream
from modelpicker.certificates import evidence_arrays
from modelpicker.certificates.certificate import KINDS, bar_for, tables
from modelpicker.certificates.evidence import (
    BETS,
    LEVELS,
    NEAR,
    POPULATION,
    STREAM,
    challenger,
    largest_gap,
    level_of,
    new_room,
    rounds_of,
    weigh_pair,
)
from modelpicker.certificates.evidence_arrays import weigh_all
from modelpicker.certificates.evidence_kernels import evidence_kernels
from modelpicker.certificates.recorder import Recorder
from modelpicker.kernels.primitives import GRADED
from modelpicker.losses import Loss

Array = npt.NDArray[Any]


def by_the_book(rows: Array, labels: Array, queried: Array, chances: Array, i: int, j: int, kind: str) -> Array:
    """The log wealth of every bet before the gap is put in, round by round, from the formulas of the docs.

    A label of -1 has not come.
    """
    total = np.zeros(BETS)
    for row, label, query, chance in zip(rows, labels, queried, chances, strict=True):
        if row[i] == row[j]:
            continue
        d = int(row[i] != label) - int(row[j] != label) if label >= 0 else 1
        for g, bet in enumerate(tables().bets):
            counts = bet <= NEAR * chance
            if not query:
                total[g] += 0.0 if counts else math.log(1.0 - bet)
            elif d == 1:
                total[g] += math.log(1.0 - (bet / chance if counts else bet))
            elif d == -1:
                step = bet / chance if counts else bet
                total[g] += math.log(1.0 + (step / (1.0 - bet) if kind == "stream" else step))
    return total


def watched(rows: Array, labels: Array, queried: Array, chances: Array) -> Recorder:
    """The same stream as a picker's recorder sees it."""
    recorder = Recorder(rows.shape[1])
    for number, (row, label, query, chance) in enumerate(zip(rows, labels, queried, chances, strict=True)):
        recorder.saw(row.tolist(), number, chance, query)
        if query and label >= 0:
            recorder.told(row.tolist(), number, label, chance)
    return recorder


def some_stream(seed: int, rounds: int = 300, models: int = 4) -> tuple[Array, Array, Array, Array]:
    """Rows, labels of which some are missing, queries and their probabilities, some of which are 0 or 1."""
    rng = np.random.default_rng(seed)
    rows, labels = make_stream(seed, rounds, models, 3, abstaining=0.1)
    chances = rng.choice([0.0, 1.0, 0.3, 0.9, 0.002], rounds) * rng.choice([1.0, rng.random()], rounds)
    labels[rng.random(rounds) < 0.1] = -1
    return rows, labels, rng.random(rounds) < chances, chances


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_evidence_is_never_more_than_the_formulas_give_and_hardly_less(seed: int, kind: str) -> None:
    """Chords cost something, and awaited labels count at the end of their level; with all labels told, small bets
    lose at most 5 %.
    """
    stream = some_stream(seed)
    evidence = watched(*stream).take_in()
    complete = watched(stream[0], np.abs(stream[1]), *stream[2:]).take_in()
    for i, j in itertools.permutations(range(4), 2):
        weights = np.zeros(BETS)
        weigh_pair(evidence, tables(), weights, KINDS[kind], i, j)
        exact = by_the_book(*stream, i, j, kind)
        assert (weights <= exact + 1e-9).all()
        weigh_pair(complete, tables(), weights, KINDS[kind], i, j)
        exact = by_the_book(stream[0], np.abs(stream[1]), *stream[2:], i, j, kind)
        assert (weights <= exact + 1e-9).all()
        small = tables().bets < 0.001
        assert np.allclose(weights[small], exact[small], rtol=0.05, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_gaps_read_with_arrays_are_those_of_the_kernel_to_the_last_bit(seed: int, kind: str) -> None:
    """For each model, wealth and gap, with parts of mistakes and rounds that were closed among them."""
    models = 3 + 2 * seed
    rows, labels, queried, chances = some_stream(seed, 600, models)
    recorder = Recorder(models, np.array([0] * (models - 1) + [seed * 20]), Loss.of("grades" if seed % 2 else None))
    closed = np.arange(600) > 550
    chances[closed], queried[closed] = 0.0, False
    graded = np.random.default_rng(seed).random((600, models)).astype(np.float32) if seed % 2 else None
    told = np.where(queried, labels if graded is None else GRADED - np.arange(600), -1).astype(np.int32)
    recorder.saw_stream(rows, 0, told, queried, chances, closed, graded)
    evidence = recorder.take_in()
    for i in range(models):
        weights, worst = weigh_all(evidence, KINDS[kind], i)
        for j in set(range(models)) - {i}:
            kernels = np.zeros(BETS)
            assert weigh_pair(evidence, tables(), kernels, KINDS[kind], i, j) == worst[j]
            assert (kernels == weights[j]).all()
        for bar in (0.0, 2.0, 9.0):
            gap = largest_gap(evidence, tables(), new_room(models), KINDS[kind], i, bar)
            assert gap == evidence_arrays.largest_gap(evidence, KINDS[kind], i, bar)


def test_what_a_level_covers_fits_its_bets() -> None:
    """On a level every bet from its first on is at most NEAR of the smallest probability."""
    edges, first, bets = tables().edges, tables().first, tables().bets
    for level in range(LEVELS):
        smallest = 1.0 / edges[level + 1]
        assert bets[first[level]] <= NEAR * smallest * (1 + 1e-12)
    assert (np.diff(first) >= 0).all()
    assert first[LEVELS] == BETS
    assert level_of(edges, 1.0) == 0
    assert level_of(edges, 0.0) == LEVELS
    assert all(level_of(edges, 1.0 / edge) in (place - 1, place) for place, edge in enumerate(edges[1:], 1))


@pytest.mark.parametrize("truth", [(1, 1, -1), (1, -1), (1,), (1, 1, 1, 0)])
def test_over_every_coin_of_a_stream_the_error_is_at_most_what_it_says(truth: tuple[int, ...]) -> None:
    """All 2^9 coins of nine rounds, at a confidence of 30 %, so that there are errors to be seen; exact."""
    ds = (truth * 9)[:9]
    chances = [0.5, 0.3, 0.2] * 3
    rounds = [_round_of(d) for d in ds]
    wrong = 0.0
    for coins in itertools.product((False, True), repeat=9):
        share = math.prod(q if coin else 1.0 - q for coin, q in zip(coins, chances, strict=True))
        gaps = np.cumsum(ds).astype(float)
        wrong += share * _ever_refuted(rounds, coins, chances, STREAM, gaps.tolist(), math.log(1.0 / 0.7))
    assert 0.0 < wrong <= 0.7


@pytest.mark.slow
def test_over_every_item_and_coin_of_a_population_the_error_is_at_most_what_it_says() -> None:
    """All 6^5 outcomes of five rounds, likewise; the better model is so by 0.4."""
    shares = {1: 0.6, -1: 0.2, 0: 0.2}
    chances = [0.6, 0.4, 0.4, 0.3, 0.5]
    wrong = total = 0.0
    for outcome in itertools.product(itertools.product(shares, (False, True)), repeat=5):
        share = math.prod(
            shares[d] * (q if coin else 1.0 - q) for (d, coin), q in zip(outcome, chances, strict=True)
        )
        rounds = [_round_of(d) for d, _ in outcome]
        coins = tuple(coin for _, coin in outcome)
        wrong += share * _ever_refuted(rounds, coins, chances, POPULATION, [0.4] * 5, math.log(1.0 / 0.9))
        total += share
    assert total == pytest.approx(1.0)
    assert 0.0 < wrong <= 0.9


def _round_of(d: int) -> tuple[list[int], int]:
    """A row of two models and its label: model 0 is wrong and model 1 right if d is 1."""
    return [0, 1], {1: 1, -1: 0, 0: 2}[d]


def _ever_refuted(
    rounds: list[tuple[list[int], int]],
    coins: tuple[bool, ...],
    chances: list[float],
    kind: int,
    gaps: list[float],
    bar: float,
) -> bool:
    """Whether it is ever said that model 1 is better by less than it is."""
    recorder = Recorder(2)
    for number, ((row, label), query, chance) in enumerate(zip(rounds, coins, chances, strict=True)):
        recorder.saw(row, number, chance, query)
        if query:
            recorder.told(row, number, label, chance)
        if gaps[number] > 0.0:
            gap = (gaps[number] - 1.0) / (number + 1.0) if kind == STREAM else gaps[number]
            if challenger(recorder.take_in(), tables(), new_room(2), kind, 0, gap, 0, bar, 0) < 0:
                return True
    return False


@pytest.mark.parametrize("chance", [1.0, 0.9, 0.5, 0.2, 0.05, 0.004, 0.0002, 0.0])
@pytest.mark.parametrize("d", [-1, 0, 1])
def test_a_round_multiplies_the_wealth_by_at_most_what_it_may(chance: float, d: int) -> None:
    """In the mean over the coin: (1 - b)^d for the stream and 1 - b·d for a population, for every bet."""
    row = [0, 1]
    label = {1: 1, -1: 0, 0: 2}[d]
    for kind, number in KINDS.items():
        mean = np.zeros(BETS)
        for query, share in ((True, chance), (False, 1.0 - chance)):
            if share == 0.0:
                continue
            recorder = Recorder(2)
            recorder.saw(row, 0, chance, query)
            if query:
                recorder.told(row, 0, label, chance)
            weights = np.zeros(BETS)
            weigh_pair(recorder.take_in(), tables(), weights, number, 0, 1)
            mean += share * np.exp(weights)
        bets = tables().bets
        allowed = (1.0 - bets) ** d if kind == "stream" else 1.0 - bets * d
        assert (mean <= allowed * (1.0 + 1e-12)).all()


def test_both_speeds_gather_the_same_bits() -> None:
    rows, labels, queried, chances = some_stream(3)
    slow, fast = Recorder(4), Recorder(4)
    evidence_kernels().warm_up()
    for recorder in (slow, fast):
        evidence_kernels().gather.ready = recorder is fast
        for half in (slice(0, 100), slice(100, None)):
            recorder.saw_stream(rows[half], half.start, labels[half].astype(np.int32), queried[half], chances[half])
        recorder.take_in()
    assert evidence_kernels().gather.ready
    by_step = watched(rows, labels, queried, chances)
    assert _bits(slow) == _bits(fast) == _bits(by_step)


def test_rounds_of_agreement_leave_nothing_but_their_count() -> None:
    recorder = Recorder(3)
    for number in range(5):
        recorder.saw([1, 1, 1], number, 0.0, False)
    evidence = recorder.take_in()
    assert not any(array.any() for array in evidence[:5])
    assert evidence.seen.tolist() == [5, 5, 0, 0, 0]


def test_closed_rounds_count_against_the_stream_and_not_for_the_population() -> None:
    before, after = (Recorder(2) for _ in range(2))
    for recorder in (before, after):
        for number in range(200):
            recorder.saw([0, 1], number, 0.5, True)
            recorder.told([0, 1], number, 0, 0.5)
    for number in range(200, 300):
        after.saw([0, 1], number, 0.0, False, closed=True)
    assert _gap(after, "population") == _gap(before, "population") < 0.1
    weights = [np.zeros(BETS) for _ in range(2)]
    worst = [
        weigh_pair(recorder.take_in(), tables(), found, STREAM, 0, 1)
        for recorder, found in zip((before, after), weights, strict=True)
    ]
    assert worst == [-200.0, -100.0]
    assert np.allclose(weights[1] - weights[0], 100 * np.log1p(-tables().bets))


def _gap(recorder: Recorder, kind: Any, best: int = 0) -> float:
    return recorder.certificate(tuple(range(recorder.models)), best, 0.95, kind).gap


def test_who_joins_late_is_judged_by_the_rounds_since() -> None:
    """Before it joins, a model's column holds what its predecessor said: none of that counts."""
    rows, labels, queried, chances = some_stream(5, rounds=400)
    late = Recorder(4, np.array([0, 0, 0, 250]))
    young = Recorder(4)
    for number, (row, query, chance) in enumerate(zip(rows.tolist(), queried, chances, strict=True)):
        for recorder, first in ((late, 0), (young, 250)):
            if number >= first:
                recorder.saw(row, number - first if recorder is young else number, chance, query)
    for number in np.flatnonzero(queried & (labels >= 0)).tolist():  # all labels late: some are of rounds before
        late.told(rows[number].tolist(), number, int(labels[number]), chances[number])
        if number >= 250:
            young.told(rows[number].tolist(), number - 250, int(labels[number]), chances[number])
    for other, kind in itertools.product(range(3), (STREAM, POPULATION)):
        found = []
        for recorder in (late, young):
            weights = np.zeros(BETS)
            worst = weigh_pair(recorder.take_in(), tables(), weights, kind, 3, other)
            rounds = rounds_of(recorder.take_in(), kind, 3, other)
            found.append((rounds, worst, weights.tolist()))
        assert found[0] == found[1]


def test_a_model_that_has_seen_nothing_yet_is_not_known_to_be_worse() -> None:
    recorder = Recorder(3, np.array([0, 0, 100]))
    for number in range(100):
        recorder.saw([0, 1, 1], number, 1.0, True)
        recorder.told([0, 1, 1], number, 0, 1.0)
    assert _gap(recorder, "population") == _gap(recorder, "stream") == 1.0
    for number in range(100, 110):
        recorder.saw([0, 1, 1], number, 1.0, True)
        recorder.told([0, 1, 1], number, 0 if number % 5 else 1, 1.0)
    found = recorder.certificate((0, 1, 2), 0, 0.95, "stream")
    assert (found.gap, found.rounds) == (0.0, 10)
    found = recorder.certificate((0, 1, 2), 2, 0.95, "stream")
    assert found.gap == 0.6, "model 0 makes six mistakes fewer on the ten items since"
    assert found.sentence == (
        "Proven: 2 is at most 60 points less accurate than the best model (95% confidence).\n"
        "Of the 110 items seen so far; a model that joined late is compared on the items since then."
    )


@pytest.mark.parametrize("kind", KINDS)
def test_reading_compiled_gives_the_same_gap(kind: str) -> None:
    evidence = watched(*some_stream(7)).take_in()
    bar = bar_for(4, 0.8, KINDS[kind])
    ready = evidence_kernels().read.ready
    try:
        evidence_kernels().read.ready = False
        slow = [evidence_kernels().gap(evidence, KINDS[kind], place, bar) for place in range(4)]
        evidence_kernels().read.ready = True
        assert slow == [evidence_kernels().gap(evidence, KINDS[kind], place, bar) for place in range(4)]
        assert len(set(slow)) == 4
    finally:
        evidence_kernels().read.ready = ready


def test_evidence_survives_being_saved() -> None:
    stream = some_stream(6)
    recorder = watched(*stream)
    again = Recorder.load(4, recorder.document())
    assert _bits(recorder) == _bits(again)


def _bits(recorder: Recorder) -> list[bytes]:
    arrays: list[Array] = list(recorder.take_in())
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("text", ["", "nonsense", None, 7, "c$@$~Nem"])
def test_evidence_that_was_damaged_is_refused(text: object) -> None:
    with pytest.raises(mp.StateError, match=r"evidence.*damaged"):
        Recorder.load(4, text)
