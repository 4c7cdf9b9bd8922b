"""Many models: the same decisions as when everything was kept of every two; states of older versions."""

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms import race as racing
from modelpicker.algorithms.checks import make_stream, play
from modelpicker.certificates import credit
from modelpicker.packing import packed, unpacked
from tests.algorithms.many_models import checksums, digits, end_of

HERE = Path(__file__).parent
OLD: dict[str, Any] = json.loads(gzip.decompress((HERE / "old" / "states-4.json.gz").read_bytes()))


@pytest.mark.slow
def test_decisions_and_certificates_are_those_of_all_pairs_to_the_last_bit() -> None:
    """Up to 300 models, abstentions, skips, late labels, noise, grades, models that were not run."""
    recorded = json.loads((HERE / "many_models.json").read_text())
    found = dict(checksums())
    assert {key for key in recorded if recorded[key] != found.get(key)} == set()
    assert found.keys() == recorded.keys()


@pytest.mark.parametrize("name", OLD)
def test_a_state_of_the_version_before_goes_on_as_it_would_have(name: str) -> None:
    kind: Any = mp.Race if name.startswith("race") else mp.ModelPicker
    picker = kind.from_state_dict(OLD[name]["state"])
    rows, labels = make_stream(50, 900, len(picker.models), 4, abstaining=0.05, skipped=0.1)
    rows[450:] = rows[450:, ::-1]
    again = kind.from_state_dict(json.loads(json.dumps(picker.state_dict())))
    for one in (picker, again):
        for number in one.open_queries:
            one.learn(number, int(abs(labels[number])))
        trace = mp.run_stream(one, rows[600:], labels[600:])
        then = digits(trace.queried, trace.probability, trace.recommended, *end_of(one))
        assert then == OLD[name]["then"]


def test_an_old_state_that_was_damaged_is_refused() -> None:
    blob = OLD["race"]["state"]
    dense = [row.copy() for row in blob["state"]["credit"]]
    dense[1][2] += 0.5
    for other in (dense, dense[:-1]):
        with pytest.raises(mp.StateError, match=r"damaged: .*(checksum|credit has shape)"):
            mp.Race.from_state_dict({**blob, "state": {**blob["state"], "credit": other}})


def test_a_race_with_ten_thousand_models_is_saved_in_a_few_megabytes() -> None:
    rows, labels = make_stream(3, 300, 10_000, 3)
    race = mp.Race(10_000, 1)
    mp.run_stream(race, rows, labels)
    race.observe(rows[0])
    text = json.dumps(race.state_dict())
    assert len(text) < 3e6
    again = mp.Race.from_state_dict(json.loads(text))
    for one in (race, again):
        play(one, rows[:2], labels[:2])
    assert race.state_dict() == again.state_dict()
    assert race.state.given[credit.ROWS] > 2, "leaders have changed"


def test_credit_that_finds_no_room_any_more_is_lost_and_only_makes_wealth_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With two rows and two entries: models are dropped later, if at all; both speeds and a saved state agree."""
    rows, labels = make_stream(5, 700, 12, 4)
    rows[300:] = rows[300:, ::-1]

    def race() -> mp.Race:
        return mp.Race(12, 1, tolerance=0.1)

    whole = race()
    mp.run_stream(whole, rows, labels)
    assert whole.state.given[credit.ROWS] > 3
    monkeypatch.setattr(racing, "MOST_ROWS", 2)
    monkeypatch.setattr(racing, "MOST_SINGLES", 2)
    fast, slow = race(), race()
    mp.run_stream(fast, rows, labels)
    play(slow, rows[:400], labels[:400])
    slow = mp.Race.from_state_dict(json.loads(json.dumps(slow.state_dict())))
    if not slow.finished:
        play(slow, rows[400:], labels[400:])
    assert fast.state_dict() == slow.state_dict()
    assert fast.won is None or (whole.won is not None and whole.won <= fast.won)


def test_credit_of_two_models_is_found_wherever_it_is_kept() -> None:
    """Single entries, rows, entries that move to a row, rows that are given to another leader."""
    state = mp.Race(5).start(5)
    expected: dict[tuple[int, int], float] = {}
    rng = np.random.default_rng(0)
    for step in range(200):
        i, opponent = rng.integers(0, 5, 2).tolist()
        if step % 20 == 19:
            credit.open_row(state, opponent, opponent)
        credit.give_credit(state, i, opponent, 1.0 + rng.random())
        found = credit.credit_against(state, i, opponent)
        assert found > expected.get((i, opponent), 1.0)
        expected[i, opponent] = found
        for one, other in itertools.product(range(5), repeat=2):
            assert credit.credit_against(state, one, other) == expected.get((one, other), 1.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [("place", [0, 7, -1]), ("owner", [9]), ("given", [-1, 0]), ("pair", [[0, 9]]), ("credit", [[1.0, 1.0]])],
)
def test_rows_of_credit_that_cannot_be_are_refused(field: str, value: Any) -> None:
    rows, labels = make_stream(1, 40, 3, 3)
    race = mp.Race(3, 1)
    play(race, rows, labels)
    blob = race.state_dict()
    with pytest.raises(mp.StateError, match="damaged"):
        mp.Race.from_state_dict({**blob, "state": {**blob["state"], field: value}})


@pytest.mark.parametrize("kind", ["<f8", "<i8", "<i4", "<f4"])
def test_arrays_survive_being_packed(kind: str) -> None:
    rng = np.random.default_rng(1)
    for shape in ((0, 5), (3,), (64,), (65,), (40, 7), (2, 3, 50)):
        array = (1e6 * rng.random(shape)).astype(kind)
        text = json.dumps(packed(array))
        again = unpacked(json.loads(text), array.dtype)
        assert again.size == array.size
        assert (again.reshape(shape) == array).all()


@pytest.mark.parametrize(
    "change",
    [{"type": "<i8"}, {"shape": [9, 9]}, {"data": "nonsense"}, {"shape": None}, {"type": "words"}],
)
def test_packed_arrays_that_were_damaged_are_refused(change: dict[str, Any]) -> None:
    picker = mp.ModelPicker(100)
    blob = picker.state_dict()
    blob["state"] = {**blob["state"], "losses": {**blob["state"]["losses"], **change}}
    with pytest.raises(mp.StateError, match="damaged"):
        mp.ModelPicker.from_state_dict(blob)
