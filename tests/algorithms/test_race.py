"""Race: it stops by itself, with a statement that holds, and notices when it holds no longer."""

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import play
from tests.shared_data import need

Array = npt.NDArray[Any]


def draw(seed: int, rounds: int, accuracies: list[float]) -> tuple[Array, Array]:
    """Independent mistakes on a binary task."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, rounds)
    wrong = random.random((rounds, len(accuracies))) >= np.array(accuracies)
    return labels[:, None] ^ wrong, labels


def test_it_stops_asking_once_it_has_won_and_says_what_it_has_proved() -> None:
    rows, labels = draw(1, 3_000, [0.6, 0.9, 0.7])
    race = mp.Race(["weak", "strong", "fair"], seed=0)
    trace = mp.run_stream(race, rows, labels)
    assert race.won is not None
    assert not trace.queried[race.won :].any()
    assert trace.labels_used < 200
    assert (race.recommended, race.racing) == ("strong", ("strong",))
    certificate = race.certificate(0.95, "population")
    assert (certificate.model, certificate.gap, certificate.kind) == ("strong", 0.01, "population")
    assert "at most 1 point less accurate than the best model (95% confidence)" in certificate.sentence
    assert race.certificate(0.99, "population").gap == 1.0
    assert f"won after {race.won:,} items" in race.remark


def test_before_it_has_won_it_claims_nothing() -> None:
    rows, labels = draw(2, 60, [0.8, 0.8, 0.7])
    race = mp.Race(3)
    mp.run_stream(race, rows, labels)
    assert race.won is None
    assert race.certificate(kind="population").gap == 1.0
    assert "not over: 3 of 3" in race.remark


def test_false_stops_are_as_rare_as_promised_where_they_are_most_likely() -> None:
    """The best model is ahead of four equal ones by just more than the tolerance; at 80 % confidence.

    400 streams; a share of 0.2 would be allowed, 0.26 is three standard errors more. What is seen is far below.
    """
    false = stopped = 0
    for seed in range(400):
        rows, labels = draw(seed, 2_500, [0.7, 0.7, 0.7505, 0.7, 0.7])
        race = mp.Race(5, seed, confidence=0.8, tolerance=0.05)
        mp.run_stream(race, rows, labels)
        stopped += race.won is not None
        false += race.won is not None and race.recommended != 2
    assert stopped > 100
    assert false / 400 < 0.2 + 3.0 * (0.2 * 0.8 / 400) ** 0.5


def test_late_labels_are_worth_as_much_while_nobody_else_leads() -> None:
    """Nothing is lost by waiting but time: the bets of a round are fixed when it goes by."""
    rows, labels = draw(3, 400, [0.9, 0.6])
    prompt, late = mp.Race(2, 1, tolerance=0.05), mp.Race(2, 1, tolerance=0.05)
    assert late.recommended == 0
    play(prompt, rows, labels)
    for row in rows:
        late.observe(row)
    assert late.won is None
    for number in reversed(late.open_queries):
        late.learn(number, int(labels[number]))
    late.observe([0, 1])
    assert prompt.won is not None
    assert late.won is not None
    assert late.recommended == prompt.recommended == 0


def test_skips_count_as_the_worst_they_could_have_been() -> None:
    """Nobody gains by not telling where the better model is wrong, and other skips make it wait."""
    rows, labels = draw(4, 1_500, [0.9, 0.8])
    wrong = rows[:, 0] != labels
    told, spiteful, sparse = (mp.Race(2, tolerance=0.02) for _ in range(3))
    mp.run_stream(told, rows, labels)
    mp.run_stream(spiteful, rows, np.where(wrong, -1, labels))
    mp.run_stream(sparse, rows, np.where(np.arange(1_500) % 3, labels, -1))
    assert told.won is not None
    assert (spiteful.won, spiteful.recommended) == (told.won, 0)
    assert sparse.won is None


def test_models_that_are_the_same_need_no_label_beyond_what_tells_the_others_apart() -> None:
    rows, labels = draw(5, 4_000, [0.9, 0.6])
    race = mp.Race(["one", "its copy", "other"], tolerance=0.02)
    trace = mp.run_stream(race, np.column_stack([rows[:, 0], rows[:, 0], rows[:, 1]]), labels)
    assert race.won is not None
    assert race.recommended in ("one", "its copy")
    assert trace.labels_used < 120


def test_impatient_it_asks_less_and_proves_nothing() -> None:
    rows, labels = draw(6, 2_000, [0.9, 0.85, 0.8, 0.7])
    asked = []
    for patience in (1, 4, 4.5, 16):
        race = mp.Race(4, 3, patience=patience)
        asked.append(mp.run_stream(race, rows, labels).labels_used)
    assert asked == sorted(asked)
    assert asked[0] < asked[-1]
    hasty = mp.Race(4, 3, patience=1)
    mp.run_stream(hasty, rows, labels)
    assert hasty.won is None
    assert hasty.certificate(kind="population").gap == 1.0
    assert "given up without a proof" in hasty.remark


def test_it_notices_that_another_model_is_better_now_and_goes_on_as_model_picker() -> None:
    before, truth = draw(7, 2_000, [0.9, 0.6, 0.7])
    after, later = draw(8, 8_000, [0.6, 0.6, 0.95])
    rows, labels = np.concatenate([before, after]), np.concatenate([truth, later])
    watchful, blind = mp.Race(3, exploration=0.05), mp.Race(3)
    trace = mp.run_stream(watchful, rows, labels)
    mp.run_stream(blind, rows, labels)
    assert watchful.won is not None
    assert watchful.won < 2_000
    assert watchful.drifted is not None
    assert 2_000 < watchful.drifted < 6_000
    assert watchful.recommended == 2
    assert "another model was seen to be better" in watchful.remark
    assert watchful.certificate(kind="population").gap == 1.0
    assert blind.drifted is None
    assert blind.recommended == 0
    then = mp.ModelPicker(3, 0)
    mp.run_stream(then, rows[watchful.drifted :], labels[watchful.drifted :])
    rates = trace.probability[watchful.drifted + 1 :]
    floor = np.sqrt(np.log(3) / (2.0 * np.arange(2, len(rates) + 2)))
    divided = (rows[watchful.drifted + 1 :] != rows[watchful.drifted + 1 :, :1]).any(axis=1)
    assert (rates[divided] >= np.minimum(1.0, floor[divided]) - 1e-12).all()
    assert then.recommended == watchful.recommended


def test_a_watch_gives_no_false_alarm_where_nothing_changes() -> None:
    """At least 200 labels on average between false alarms are promised; 40 streams have some 60 each."""
    alarms = 0
    for seed in range(40):
        rows, labels = draw(seed, 4_000, [0.9, 0.7, 0.8])
        race = mp.Race(3, seed, exploration=0.05)
        mp.run_stream(race, rows, labels)
        alarms += race.drifted is not None
    assert alarms <= 4


def test_it_survives_json_in_every_phase() -> None:
    before, truth = draw(9, 1_000, [0.9, 0.6, 0.7])
    after, later = draw(10, 3_000, [0.5, 0.6, 0.99])
    rows, labels = np.concatenate([before, after]), np.concatenate([truth, later])
    whole = mp.Race(3, 5, exploration=0.1)
    mp.run_stream(whole, rows, labels)
    assert whole.drifted is not None
    parts = mp.Race(3, 5, exploration=0.1)
    for start in range(0, len(rows), 500):
        mp.run_stream(parts, rows[start : start + 500], labels[start : start + 500])
        parts = mp.Race.from_state_dict(json.loads(json.dumps(parts.state_dict())))
    assert parts.state_dict() == whole.state_dict()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"confidence": 0}, "confidence=0"),
        ({"tolerance": -0.1}, "tolerance=-0.1"),
        ({"tolerance": 1}, "tolerance=1"),
        ({"tolerance": float("nan")}, "tolerance=nan"),
        ({"patience": -1}, "patience=-1"),
        ({"patience": float("inf")}, "patience=inf"),
        ({"exploration": 1.0}, "exploration=1.0"),
        ({"exploration": "much"}, "exploration='much'"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(options: dict[str, Any], words: str) -> None:
    with pytest.raises(mp.InputError, match=words.replace(".", r"\.")):
        mp.Race(3, **options)


def test_a_damaged_state_is_refused() -> None:
    blob = mp.Race(3).state_dict()
    with pytest.raises(mp.StateError, match="damaged"):
        mp.Race.from_state_dict({**blob, "state": {**blob["state"], "opponent": [0, 7, 0]}})


def test_a_campaign_spends_its_budget_as_fast_as_a_race_asks() -> None:
    rows, labels = draw(11, 600, [0.9, 0.85, 0.6])
    campaign = mp.create_campaign(
        "memory://", "races", models=["a", "b", "c"], algorithm="race", budget=30, expected_rounds=600
    )
    queried = []
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        decision = campaign.ask([int(said) for said in row])
        if decision.query:
            campaign.tell(decision.id, int(label))
            queried.append(decision.id)
    assert len(queried) == 30
    assert queried[-1] < 200
    pick = campaign.best()
    assert (pick.labels_used, pick.certificate.gap, pick.certificate.kind) == (30, 1.0, "population")


def test_a_campaign_stops_by_itself_with_what_the_race_has_proved() -> None:
    rows, labels = draw(12, 900, [0.9, 0.6])
    campaign = mp.create_campaign(
        "memory://", "winner", models=["a", "b"], algorithm="race", options={"tolerance": 0.05}
    )
    bare = mp.Race(["a", "b"], 0, tolerance=0.05)
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        decision = campaign.ask([int(said) for said in row])
        mine = bare.observe([int(said) for said in row])
        assert (decision.query, decision.probability) == (mine.query, mine.probability)
        if decision.query:
            campaign.tell(decision.id, int(label))
            bare.learn(mine.round, int(label))
    assert bare.won is not None
    found = campaign.best()
    assert found.model == "a"
    assert (found.certificate.gap, found.certificate.kind) == (0.05, "population")


def test_wealth_against_equal_models_does_not_grow_in_the_mean() -> None:
    """Three models that are equally accurate, two of them nearly alike, so that one is soon beaten by credit alone.

    The mean of 4,000 streams may be above 1 by four standard errors; without credit it is 1 at most.
    """
    found = []
    for seed in range(4_000):
        random = np.random.default_rng(seed)
        rows = random.integers(0, 2, (80, 3))
        alike = random.random(80) < 0.95
        rows[alike, 1] = rows[alike, 0]
        race = mp.Race(3, seed, tolerance=0.3, confidence=0.6)
        mp.run_stream(race, rows, np.ones(80, dtype=int))
        found.append(race.state.earned * np.maximum(race.state.money.sum(axis=1), 0.0))
    wealth = np.array(found)
    assert (wealth.mean(axis=0) <= 1.0 + 4.0 * wealth.std(axis=0) / 4_000**0.5).all()


def test_the_leader_is_not_bet_against_somebody_who_is_out() -> None:
    met = 0
    for seed in range(40):
        rows, labels = draw(seed, 300, [0.9, 0.85, 0.6, 0.7])
        race = mp.Race(4, seed, tolerance=0.1)
        for row, label in zip(rows, labels, strict=True):
            decision = race.observe(row)
            if decision.query:
                race.learn(decision.round, int(label))
            leader = int(race.state.race[0])
            opponent = int(race.state.opponent[leader])
            if opponent not in race.racing:
                assert race.state.until[leader] <= race.rounds
                met += race.won is None
            assert race.won is not None or race.recommended in race.racing
    assert met > 5  # the opponent of a leader was out now and then while others were not


def test_a_rule_to_stop_does_not_go_with_an_algorithm_that_has_its_own() -> None:
    rows, labels = draw(1, 50, [0.9, 0.6])
    with pytest.raises(mp.InputError, match="stops by itself"):
        mp.run_stream(mp.Race(2), rows, labels, stop_when=mp.Certified(0.05))
    with pytest.raises(mp.InputError, match="stops by itself"):
        mp.create_campaign("memory://", "two-rules", models=2, algorithm="race", stop_when=mp.Certified(0.05))
    with pytest.raises(mp.InputError, match="kind='Population'"):
        mp.Race(2).certificate(kind="Population")  # type: ignore[arg-type]


def test_no_model_joins_a_race_and_one_that_leaves_takes_the_statement_with_it() -> None:
    rows, labels = draw(13, 900, [0.9, 0.6, 0.5])
    campaign = mp.create_campaign(
        "memory://", "closed", models=["a", "b", "c"], algorithm="race", options={"tolerance": 0.05}
    )
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        decision = campaign.ask([int(said) for said in row])
        if decision.query:
            campaign.tell(decision.id, int(label))
    assert campaign.best().certificate.gap == 0.05
    with pytest.raises(mp.ConflictError, match="cannot join: race may have dropped"):
        campaign.join("d")
    campaign.leave("c")
    assert campaign.best().model == "a"
    assert campaign.certificate(kind="population").gap == 1.0


@pytest.mark.parametrize(("name", "most"), [("emocontext", 180), ("drift", 855)])
def test_labels_to_a_certified_stop_on_the_released_collections(name: str, most: int) -> None:
    """The median of 300 streams, whose seeds are fixed."""
    collection = mp.load_collection(need(name))
    codes, truth = np.asarray(collection.predictions), np.asarray(collection.labels)
    labels, false = [], 0
    accuracies = np.asarray(collection.accuracies)
    for seed in range(300):
        items = np.random.default_rng(seed).integers(0, len(truth), 8_000)
        race = mp.Race(codes.shape[1], seed)
        labels.append(mp.run_stream(race, codes[items], truth[items]).labels_used)
        false += race.won is not None and accuracies.max() - accuracies[int(race.recommended)] > 0.01
    assert np.median(labels) <= most
    assert false <= 15
