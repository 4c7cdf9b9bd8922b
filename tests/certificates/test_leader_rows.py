"""Evidence of many models, which is kept in rows: what all pairs would say, and statements that are not wrong."""

import itertools
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream, play, same_state
from modelpicker.certificates import entry_log
from modelpicker.certificates.certificate import (
    KINDS,
    MANY_CHANGES,
    RESERVED,
    bar_for,
    late_bar_for,
    tables,
)
from modelpicker.certificates.evidence import POPULATION, STREAM, new_room
from modelpicker.certificates.evidence_kernels import row_kernels
from modelpicker.certificates.leader_recorder import LeaderRecorder, new_recorder
from modelpicker.certificates.leader_rows import FORGOTTEN, FREE, LATE_ROWS, begin_late, row_of
from modelpicker.certificates.recorder import Past, Recorder
from modelpicker.kernels.primitives import GRADED

Array = npt.NDArray[Any]
MODELS = 7


def some_stream(seed: int, rounds: int = 500, models: int = MODELS) -> dict[str, Array]:
    """Rows, queries, some of whose labels never come, closed rounds, models that were not run."""
    rng = np.random.default_rng(seed)
    rows, labels = make_stream(seed, rounds, models, 3, abstaining=0.1)
    rows[rng.random(rows.shape) < 0.02] = mp.NOT_RUN
    chances = rng.choice([0.0, 1.0, 0.3, 0.9, 0.01], rounds)
    labels[rng.random(rounds) < 0.1] = -1
    closed = rng.random(rounds) < 0.05
    chances[closed] = 0.0
    return {
        "rows": rows,
        "labels": labels,
        "queried": rng.random(rounds) < chances,
        "chances": chances,
        "closed": closed,
    }


def note(recorder: Recorder, stream: dict[str, Array], seed: int, first: int = 0, last: int | None = None) -> None:
    """Round by round; half of the labels come late, some as losses, some of which are not known."""
    rng, late = np.random.default_rng(seed), []
    for number in range(first, len(stream["rows"]) if last is None else last):
        row, label = stream["rows"][number].tolist(), int(stream["labels"][number])
        query, chance = bool(stream["queried"][number]), float(stream["chances"][number])
        recorder.saw(row, number, chance, query, closed=bool(stream["closed"][number]))
        losses: tuple[float, ...] = ()
        if rng.random() < 0.2:
            grades = np.where(rng.random(len(row)) < 0.1, math.nan, rng.integers(0, 5, len(row)) / 4.0)
            label, losses = (GRADED if label >= 0 else label), tuple(grades.tolist())
        if query and label != -1:
            late.append((row, number, label, chance, losses))
        while late and rng.random() < 0.5:
            recorder.told(*late.pop(int(rng.integers(len(late)))))


def gaps(recorder: Recorder, **how: Any) -> list[float]:
    """Of each model, of both kinds."""
    names = tuple(range(recorder.models))
    return [
        recorder.certificate(names, best, 0.9, kind, **how).gap
        for best in names
        for kind in ("stream", "population")
    ]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("since", [None, [0, 0, 30, 0, 0, 120, 0]])
def test_rows_say_what_all_pairs_say_to_the_last_bit(since: list[int] | None, compiled: bool) -> None:
    """While all rounds are remembered: for every model in turn, though there are fewer rows than models."""
    if compiled:
        row_kernels().warm_up()
    row_kernels().gather.ready = row_kernels().read.ready = compiled
    first = None if since is None else np.array(since)
    for seed in range(3):
        stream = some_stream(seed)
        pairs, rows = Recorder(MODELS, first), LeaderRecorder(MODELS, first)
        for cut in ((0, 40), (40, 41), (41, 300), (300, None)):
            for recorder in (pairs, rows):
                note(recorder, stream, seed, *cut)
            assert gaps(rows) == gaps(pairs)
            assert gaps(rows, label_noise=0.01) == gaps(pairs, label_noise=0.01)
        for kind, gap in itertools.product(("stream", "population"), (0.1, 0.3, 0.6)):
            rule = mp.Certified(gap, 0.8, kind)  # type: ignore[arg-type]
            found = [
                [recorder.meets(best, rule, Past(MODELS)) for best in range(MODELS)] for recorder in (rows, pairs)
            ]
            assert found[0] == found[1]
    row_kernels().gather.ready = row_kernels().read.ready = False


def folding(rounds: int) -> LeaderRecorder:
    """A recorder that remembers few rounds."""
    recorder = LeaderRecorder(MODELS)
    recorder.most_rounds = rounds
    return recorder


def test_folded_rows_that_began_with_the_stream_say_what_all_pairs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelpicker.certificates.leader_rows.MOST_ROWS", 3)
    stream = some_stream(4)
    pairs, rows = Recorder(MODELS), folding(150)
    compared = 0
    for first in range(0, 500, 50):
        for recorder in (pairs, rows):
            note(recorder, stream, 1, first, first + 50)
        live = rows.take_in()
        whole = gaps(pairs)
        for place, gap in enumerate(gaps(rows)):
            row, forgotten = row_of(live, place // 2), bool(live.course[FORGOTTEN])
            if forgotten and row < 0:
                assert gap == 1.0
            elif not forgotten or live.turns[row] == 0:
                assert gap == whole[place]
                compared += forgotten
    assert compared > 10
    assert live.course[LATE_ROWS] > 0


def test_what_is_kept_depends_neither_on_how_it_came_nor_on_the_numbers_of_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("modelpicker.certificates.leader_rows.MOST_ROWS", 3)
    stream = some_stream(5, 700)
    asked = stream["queried"] & (stream["labels"] >= 0)
    labels = np.where(asked, stream["labels"], -1).astype(np.int32)
    documents = []
    for step in (1, 7, 100, 700):
        recorder, numbers = folding(200), np.random.default_rng(step).permutation(4)
        for at in range(0, 700, step):
            part = slice(at, at + step)
            code = np.where(stream["rows"] >= 0, numbers[stream["rows"]], stream["rows"])
            told = np.where(labels >= 0, numbers[labels], labels).astype(np.int32)
            if step == 1:
                query, chance = bool(stream["queried"][at]), float(stream["chances"][at])
                recorder.saw(code[at].tolist(), at, chance, query, bool(stream["closed"][at]))
                if told[at] >= 0:
                    recorder.told(code[at].tolist(), at, int(told[at]), chance)
            else:
                recorder.saw_stream(
                    *(code[part], at, told[part], stream["queried"][part], stream["chances"][part]),
                    stream["closed"][part],
                )
            if at == 350:
                recorder.certificate(tuple(range(MODELS)), 1, 0.9, "stream")
        documents.append(json.dumps(recorder.document()))
        again = LeaderRecorder.load(MODELS, json.loads(documents[-1]))
        assert gaps(again) == gaps(recorder)
        assert json.dumps(again.document()) == documents[-1]
    assert len(set(documents)) == 1


def test_classes_are_counted_anew_in_the_same_way_whether_they_are_few_or_many() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(-2, 9, (300, 11)).astype(np.int16)
    labels = rng.integers(-2, 10, 300).astype(np.int32)
    few, many = entry_log.by_class(rows, labels), entry_log.by_sorting(rows, labels)
    known = rows != mp.NOT_RUN
    assert (few[0][known] == many[0][known]).all()
    classes = labels >= 0
    assert (few[1][classes] == many[1][classes]).all()
    for row, anew in zip(rows[:40], few[0], strict=False):
        said = [code for code in row.tolist() if code != mp.NOT_RUN]
        assert [n for n, code in zip(anew.tolist(), row, strict=True) if code != mp.NOT_RUN] == [
            list(dict.fromkeys(said)).index(code) for code in said
        ]


@pytest.mark.parametrize("truth", [(1, 1, -1), (1, -1), (1,), (1, 1, 1, 0)])
def test_over_every_coin_of_a_stream_the_error_of_a_late_row_is_at_most_what_it_says(
    truth: tuple[int, ...],
) -> None:
    """All 2^9 coins of nine rounds; which round the row begins with depends on the coins. Exact."""
    ds = (truth * 9)[:9]
    chances = [0.5, 0.3, 0.2] * 3
    wrong = 0.0
    for coins in itertools.product((False, True), repeat=9):
        share = math.prod(q if coin else 1.0 - q for coin, q in zip(coins, chances, strict=True))
        truths = np.cumsum(ds).astype(float).tolist()
        wrong += share * ever_wrong(ds, coins, chances, STREAM, truths, math.log(1.0 / 0.7))
    assert wrong <= 0.7
    assert wrong > 0.0 or truth != (1,), "where model 1 is always better something is said too often"


@pytest.mark.slow
def test_over_every_item_and_coin_the_error_of_a_late_row_is_at_most_what_it_says() -> None:
    """All 6^5 outcomes of five rounds of a population in which model 1 is better by 0.4."""
    shares = {1: 0.6, -1: 0.2, 0: 0.2}
    chances = [0.6, 0.4, 0.4, 0.3, 0.5]
    wrong = total = 0.0
    for outcome in itertools.product(itertools.product(shares, (False, True)), repeat=5):
        share = math.prod(
            shares[d] * (q if coin else 1.0 - q) for (d, coin), q in zip(outcome, chances, strict=True)
        )
        ds, coins = zip(*outcome, strict=True)
        wrong += share * ever_wrong(ds, coins, chances, POPULATION, [0.4] * 5, math.log(1.0 / 0.95))
        total += share
    assert total == pytest.approx(1.0)
    assert wrong <= 0.95


def ever_wrong(
    ds: tuple[int, ...], coins: tuple[bool, ...], chances: list[float], kind: int, truths: list[float], bar: float
) -> bool:
    """Whether it is ever said that model 1 is better by less than it is.

    The row of model 0 begins after the first label that says it is wrong: the worst moment to choose.
    """
    recorder, lost = LeaderRecorder(2), False
    for number, (d, coin, chance, truth) in enumerate(zip(ds, coins, chances, truths, strict=True)):
        if lost and recorder.take_in().leaders[0] == FREE:
            begin_late(recorder.take_in(), 0, 0, number)
        recorder.saw([0, 1], number, chance, coin)
        if coin:
            recorder.told([0, 1], number, {1: 1, -1: 0, 0: 2}[d], chance)
        lost |= coin and d == 1
        rows = recorder.take_in()
        if truth > 0.0 and rows.leaders[0] != FREE:
            gap = (truth - 1.0) / (number + 1.0) if kind == STREAM else truth
            if row_kernels().challenger(rows, tables(), new_room(2), kind, 0, gap, 0, bar, 0) < 0:
                return True
    return False


def test_the_rounds_before_a_late_row_count_against_a_stream_and_not_for_a_population() -> None:
    stream = some_stream(8, 300)
    late, fresh = LeaderRecorder(MODELS), LeaderRecorder(MODELS)
    note(late, stream, 2, 0, 120)
    contested = late.contested
    begin_late(late.take_in(), 0, 3, 120)
    for number in range(120, 300):
        row = stream["rows"][number].tolist()
        query, chance = bool(stream["queried"][number]), float(stream["chances"][number])
        for recorder, place in ((late, number), (fresh, number - 120)):
            recorder.saw(row, place, chance, query)
            if query:
                recorder.told(row, place, 1, chance)
    late.told(stream["rows"][5].tolist(), 5, 1, 0.5)  # of a round before the row: it says nothing
    rows, other = late.take_in(), fresh.evidence_of(3)
    mine, theirs = row_of(rows, 3), row_of(other, 3)
    assert rows.turns[mine] == 1
    for field in ("lost", "won", "lost_at", "won_at", "passed", "awaited"):
        assert (getattr(rows, field)[mine] == getattr(other, field)[theirs]).all()
    assert (rows.closed[mine] == contested).all()
    assert rows.seen[0] - rows.before[mine] >= 180


def test_the_shares_of_the_error_come_to_no_more_than_was_reserved() -> None:
    """Of changes of the models, and of rows that begin late after each of them."""
    error = 0.05
    pairs = math.log(5 * 4)
    changes = math.fsum(math.exp(pairs - bar_for(5, 1.0 - error, STREAM, n)) for n in range(1, 20_000))
    late = math.fsum(
        math.exp(-(late_bar_for(5, 1.0 - error, STREAM, n) - math.log(4))) * math.pi**2 / 6 for n in range(20_000)
    )
    assert changes + late <= error * RESERVED
    assert changes + late > 0.99 * error * RESERVED
    unchanged = [math.exp(-(bar_for(5, 0.95, STREAM, n) - pairs)) for n in (1, 7, MANY_CHANGES)]
    assert unchanged == pytest.approx([error * RESERVED * 6 / (math.pi * n) ** 2 for n in (1, 7, MANY_CHANGES)])
    assert late_bar_for(9, 0.95, POPULATION) == pytest.approx(late_bar_for(9, 0.95, STREAM) - math.log(8))
    assert late_bar_for(9, 0.95, POPULATION, 1) == late_bar_for(9, 0.95, STREAM, 1)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_of_many_models_stops_where_somebody_who_looks_after_every_round_would(
    kind: Any, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are found and folded on the way; interpreted, labels are looked up."""
    monkeypatch.setattr("modelpicker.certificates.leader_recorder.LOG_BYTES", 0)
    monkeypatch.setattr("modelpicker.certificates.leader_recorder.FEWEST_ROUNDS", 90)
    monkeypatch.setattr("modelpicker.certificates.leader_rows.MOST_ROWS", 5)
    rows, labels = make_stream(2, 900, 40, 4)
    labels[::7] = labels[:60] = -1
    rule = mp.Certified(0.34 if kind == "population" else 0.35, 0.9, kind)
    whole, looking = (mp.ModelPicker(40, 3, query_scale=200.0) for _ in range(2))
    trace = mp.run_stream(whole, rows, labels if compiled else lambda place: int(labels[place]), stop_when=rule)
    for number, row in enumerate(rows):
        if looking.observe(row).query:
            looking.learn(number, int(labels[number]))
        if rule.met_by(looking.certificate(0.9, kind)):
            break
    assert trace.certificate is not None
    assert len(trace) == looking.rounds > 90
    assert trace.certificate == looking.certificate(0.9, kind)
    same_state(whole, looking)


def test_many_models_have_certificates_that_survive_being_saved() -> None:
    rows, labels = make_stream(6, 400, 300, 3)
    picker = mp.ModelPicker(300, 1, query_scale=50.0)
    mp.run_stream(picker, rows[:350], labels[:350])
    picker.observe(rows[350])
    again = mp.ModelPicker.from_state_dict(json.loads(json.dumps(picker.state_dict())))
    for one in (picker, again):
        play(one, rows[351:], labels[351:])
    same_state(picker, again)
    for kind in KINDS:
        found = picker.certificate(0.9, kind)  # type: ignore[arg-type]
        assert found == again.certificate(0.9, kind)  # type: ignore[arg-type]
        assert found.gap < 1.0


def test_a_failure_leaves_the_rows_as_they_were() -> None:
    rows, labels = make_stream(6, 200, 50, 3)
    picker = mp.ModelPicker(50, 1)
    mp.run_stream(picker, rows, labels)
    before = json.dumps(picker.state_dict()), picker.certificate(0.9)
    broken = labels.astype(object)
    broken[150] = "no code"
    with pytest.raises(mp.ModelPickerError):
        mp.run_stream(picker, rows, broken, stop_when=mp.Certified(0.5))

    def play_and_fail() -> None:
        with picker.all_or_nothing():
            mp.run_stream(picker, rows, labels, stop_when=mp.Certified(0.01))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        play_and_fail()
    assert (json.dumps(picker.state_dict()), picker.certificate(0.9)) == before


def damaged(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Evidence that cannot be."""
    log, rows = document["log"], document["rows"]
    return [
        {**document, "log": {**log, "kinds": [9] * 70}},
        {**document, "log": {**log, "numbers": [1]}},
        {**document, "log": None},
        {**document, "since": [0, 1]},
        {**document, "rows": {**rows, "leaders": [0, 0, 1]}},
        {**document, "rows": {**rows, "leaders": [0, 1, 99]}},
        {**document, "rows": {**rows, "rates": [math.inf] * MODELS}},
        {**document, "rows": {name: value for name, value in rows.items() if name != "won"}},
        {name: value for name, value in document.items() if name != "rows"},
    ]


def test_evidence_that_was_damaged_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelpicker.certificates.leader_rows.MOST_ROWS", 3)
    recorder = folding(100)
    note(recorder, some_stream(1), 1)
    document = json.loads(json.dumps(recorder.document()))
    assert gaps(LeaderRecorder.load(MODELS, document)) == gaps(recorder)
    for one in damaged(document):
        with pytest.raises(mp.StateError, match=r"evidence.*damaged"):
            LeaderRecorder.load(MODELS, one)


def test_all_pairs_are_kept_of_few_models_and_of_states_that_had_them() -> None:
    assert type(new_recorder(32)) is Recorder
    assert type(new_recorder(33)) is LeaderRecorder
