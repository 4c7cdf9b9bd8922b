"""One run of a comparison: the very decisions of `run_stream`, and metrics that follow from them."""

from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms import Trace
from modelpicker.experiments.methods import METHODS
from modelpicker.experiments.playing import FIELDS, Player
from modelpicker.experiments.realizations import Pool, Realization, coins_of, draw, key_of
from modelpicker.experiments.tasks import EVALUATION, ComparisonCell, Job, Task

VALUES = {
    "model-picker": 3.0,
    "label-efficient": 0.3,
    "vote-entropy": 1.5,
    "structural-committee": 0.4,
    "importance-weighted": 0.5,
    "efficient-active": 0.001,
    "race": 6.0,
}


def collection(seed: int = 0, items: int = 400, models: int = 6) -> mp.ModelCollection:
    """Models of different accuracy, some of which abstain now and then."""
    made = mp.synthetic_collection(items, models, 5, np.linspace(0.4, 0.8, models).tolist(), seed=seed)
    codes = made.predictions.astype(np.int64)
    codes[np.random.default_rng(seed).random(codes.shape) < 0.05] = -1
    return mp.ModelCollection(codes, made.labels, classes=made.classes)


def a_stream(size: int = 300, number: int = 0) -> Realization:
    found = collection()
    return draw(Pool(found.predictions, np.asarray(found.labels, dtype=np.int32)), size, 7, EVALUATION, number)


def by_hand(trace: Trace, stream: Realization, rounds: int, winner: int) -> list[int]:
    """The fields of a record after some rounds, from the arrays of a trace."""
    rows, labels = stream.rows[:rounds], stream.labels[:rounds]
    places = np.arange(rounds)
    best = (rows[:, stream.best] != labels).sum()
    followed = (rows[places, trace.recommended[:rounds]] != labels).sum()
    return [
        int(trace.labels_used),
        int(stream.mistakes[winner] - stream.mistakes.min()),
        int(followed - best),
        int((trace.predicted[:rounds] != labels).sum() - best),
    ]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("most", [10**6, 20, 1])
def test_a_run_is_what_run_stream_does(name: str, most: int) -> None:
    """Bit for bit, also when labels beyond the budget are not bought: then they are skips to `run_stream`."""
    stream = a_stream()
    key = key_of(7, EVALUATION, 0, name)
    marks = np.array([1, 17, 150, 300])
    player = Player(METHODS[name].make(6, 5, VALUES[name]), 5, marks)
    record = player.play(stream, coins_of(name, 300, 7, EVALUATION, 0), most)
    for place, rounds in enumerate(marks.tolist()):
        made = METHODS[name].make(6, 5, VALUES[name])
        uncut, picker = (type(made)(6, key, **made.options) for _ in range(2))
        asked = np.flatnonzero(mp.run_stream(uncut, stream.rows[:rounds], stream.labels[:rounds]).queried)
        labels = stream.labels[:rounds].copy()
        if len(asked) > most:
            labels[asked[most - 1] + 1 :] = -1
        trace = mp.run_stream(picker, stream.rows[:rounds], labels)
        assert record[place].tolist() == by_hand(trace, stream, rounds, int(trace.winner)), rounds


def test_a_player_starts_from_the_beginning_every_time() -> None:
    player = Player(METHODS["structural-committee"].make(6, 5, 0.4), 5, np.array([300]))
    coins = coins_of("any", 300, 1, EVALUATION, 0)
    first = player.play(a_stream(), coins, 300)
    player.play(a_stream(number=1), coins, 300)
    assert np.array_equal(player.play(a_stream(), coins, 300), first)


def test_streams_are_drawn_without_replacement() -> None:
    found = collection()
    pool = Pool(np.arange(400, dtype=np.int32)[:, None].repeat(2, axis=1), np.asarray(found.labels, dtype=np.int32))
    for size in (1, 399, 400):
        items = draw(pool, size, 0, EVALUATION, 5).rows[:, 0]
        assert len(set(items.tolist())) == size
    whole = draw(pool, 400, 0, EVALUATION, 5).rows[:, 0]
    assert np.array_equal(draw(pool, 100, 0, EVALUATION, 5).rows[:, 0], whole[:100])
    assert not np.array_equal(draw(pool, 400, 0, EVALUATION, 6).rows[:, 0], whole)


def test_every_item_is_as_likely_at_every_place() -> None:
    """4,000 draws of 3 of 8 items: each place should see each item 500 times, sd 21; 110 off is above five sd.

    The seed is fixed, so that the test cannot flake.
    """
    pool = Pool(np.arange(8, dtype=np.int32)[:, None].repeat(2, axis=1), np.zeros(8, dtype=np.int32))
    counts = np.zeros((3, 8))
    for number in range(4_000):
        counts[np.arange(3), draw(pool, 3, 11, EVALUATION, number).rows[:, 0]] += 1
    assert abs(counts - 500).max() < 110


def test_ties_at_the_top_all_count_as_best() -> None:
    """Models 0 and 1 are equally good, so that naming either is success and its gap is zero."""
    codes = np.array([[0, 1, 2], [1, 0, 2]] * 50)
    labels = np.zeros(100, dtype=np.int32)
    stream = draw(Pool(codes, labels), 100, 0, EVALUATION, 0)
    assert stream.mistakes.tolist() == [50, 50, 100]
    for seed in range(20):
        player = Player(METHODS["label-efficient"].make(3, 3, 1.0), 3, np.array([100]))
        record = player.play(stream, coins_of(str(seed), 100, 0, EVALUATION, 0), 100)
        assert record[0, FIELDS.index("gap")] == 0


def test_a_task_gives_the_same_whatever_it_is_done_with() -> None:
    found = collection()
    job = Job(
        pool=Pool(found.predictions, np.asarray(found.labels, dtype=np.int32)),
        methods=tuple(METHODS.values()),
        classes=5,
        stream_size=200,
        seed=3,
        marks=np.array([100, 200]),
    )
    cells = tuple(ComparisonCell(name, value, 30) for name, value in VALUES.items())
    together = job.play(Task(cells, (4, 7)))
    assert together.records.shape == (7, 2, 2, 4)
    for place, cell in enumerate(cells):
        alone = job.play(Task((cell,), (7,)))
        assert np.array_equal(alone.records[0, 0], together.records[place, 1])
        assert alone.asked[0, 0] == together.asked[place, 1]
    assert (together.records[:, :, -1, 0] <= 30).all()
    assert (together.asked >= together.records[:, :, -1, 0]).all()


def test_methods_meet_the_same_stream_with_coins_of_their_own() -> None:
    one: Any = coins_of("one", 50, 0, EVALUATION, 0)
    assert not np.array_equal(one, coins_of("two", 50, 0, EVALUATION, 0))
    assert not np.array_equal(one, coins_of("one", 50, 0, EVALUATION, 1))
    assert not np.array_equal(one, coins_of("one", 50, 1, EVALUATION, 0))
    assert np.array_equal(one, coins_of("one", 50, 0, EVALUATION, 0))
