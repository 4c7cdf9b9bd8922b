"""What the page is drawn from: right on small campaigns, found again by brute force; small on large ones."""

import json
import math
import random
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns import Campaign, create_campaign, open_campaign
from modelpicker.campaigns.results.dashboard import MOST_LINES, MOST_POINTS, Dashboard
from modelpicker.campaigns.results.recent_rounds import (
    LARGEST_PICTURE,
    LONGEST_TEXT,
    MOST_FIELDS,
    MOST_ITEMS,
    MOST_PAIRS,
    SHOWN,
    WINDOW,
)
from modelpicker.campaigns.state.classes import KnownClasses
from modelpicker.campaigns.storage.database import open_storage
from tests.server.describing import Api
from tests.server.servers import Running, serving

MODELS = ["ant", "bee", "cat"]
CLASSES = ["x", "y", "z"]
SURE: dict[str, Any] = {"options": {"query_scale": 1e6}}
"""Queries every round on which models disagree."""


@pytest.fixture
def memory() -> Iterator[str]:
    place = f"memory://{uuid.uuid4().hex}"
    yield place
    open_storage(place, create=True).close()


@pytest.fixture(scope="module")
def api(server: Running) -> Api:
    return Api.of(server.http)


def check(api: Api, board: Dashboard) -> tuple[dict[str, Any], dict[str, Any]]:
    """Standing and charts, which are what the API says they are."""
    standing, charts = board.standing(), board.charts()
    assert api.faults("#/components/schemas/StandingDocument", json.loads(json.dumps(standing))) == []
    assert api.faults("#/components/schemas/ChartsDocument", json.loads(json.dumps(charts))) == []
    return standing, charts


def play(campaign: Campaign, rounds: int, seed: int, answered: float = 0.8) -> None:
    """A stream on which the first model is best, some of its labels told, some skipped, some awaited."""
    draw = random.Random(seed)
    for _ in range(rounds):
        truth = draw.choice(CLASSES)
        row = [
            truth if draw.random() < 0.9 - 0.15 * place else draw.choice([*CLASSES, None])
            for place, _ in enumerate(campaign.models)
        ]
        made = campaign.ask(row, item={"text": "t"})
        if made.query and draw.random() < answered:
            campaign.tell(made.id, None if draw.random() < 0.1 else truth)


# How models stand.


def test_before_the_first_label_nobody_is_named(api: Api, memory: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS)
    for rounds in (0, 5):
        play(campaign, rounds, 0, answered=0)
        standing, charts = check(api, Dashboard(campaign))
        assert (standing["pick"], standing["tied"], standing["rounds"]) == (None, MODELS, rounds)
        for entry in standing["standing"]:
            assert (entry["estimate"], entry["gap"], entry["low"], entry["high"]) == (0, 0, None, None)
            assert entry["weight"] == pytest.approx(1 / 3)
        assert charts["labels"]["labels"] == [0] * (rounds + 1)
        assert charts["weights"]["kind"] == "weights"


def test_models_that_are_level_are_tied(api: Api, memory: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS, **SURE)
    for _ in range(4):
        campaign.tell(campaign.ask(["x", "x", "y"]).id, "x")
    standing, _ = check(api, Dashboard(campaign))
    assert standing["tied"] == ["ant", "bee"]
    assert standing["pick"] in standing["tied"]
    assert standing["standing"][0]["model"] == standing["pick"]
    assert [entry["gap"] for entry in standing["standing"]] == [0, 0, 1]
    level = standing["standing"][1]
    assert level["low"] <= 0 <= level["high"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_has_a_board(api: Api, memory: str, algorithm: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS, classes=CLASSES, algorithm=algorithm)
    play(campaign, 150, 1)
    with campaign.reading() as (_, projection):
        weights, weighted, drops = projection.picker.weights, projection.picker.weighted, projection.picker.drops
        losses = dict(zip(projection.picker.models, projection.picker.losses.tolist(), strict=True))
    standing, charts = check(api, Dashboard(campaign))
    assert {entry["model"]: entry["estimate"] for entry in standing["standing"]} == losses
    assert [entry["weight"] for entry in standing["standing"]] == (
        [None] * 3
        if weights is None
        else [weights.tolist()[MODELS.index(entry["model"])] for entry in standing["standing"]]
    )
    assert standing["weighted"] is weighted
    for entry in standing["standing"][1:]:
        assert (entry["gap"] is None) == (not weighted)
        assert (entry["low"] is None) == (entry["high"] is None) == (drops or not weighted)
        assert drops or not weighted or entry["low"] <= entry["gap"] <= entry["high"]
    assert charts["weights"]["kind"] == ("weights" if weights is not None else "estimates")


def missed(records: list[dict[str, Any]], budget: int | None) -> int:
    """How many rounds came when the budget was spent; a skip gives its label back."""
    spent = found = 0
    for record in records:
        found += record["kind"] == "ask" and budget is not None and spent >= budget
        spent += (record["kind"] == "ask" and record["query"]) - (record["kind"] == "skip")
    return found


def intervals(campaign: Campaign) -> dict[Any, tuple[float, float]]:
    """The intervals, found from the history alone: one label, one pair of models at a time."""
    pick = campaign.best()
    records = list(campaign.history())
    asked = {record["id"]: record for record in records if record["kind"] == "ask"}
    told = {record["id"]: record.get("label") for record in records if record["kind"] in ("label", "skip")}
    joined = {record["model"]: record for record in records if record["kind"] == "join"}
    order = [*campaign.settings.models, *joined]

    def said(model: Any, number: int) -> Any:
        while model in joined and number < joined[model]["round"]:
            model = joined[model]["heir_of"]
        return asked[number]["predictions"][order.index(model)]

    labelled = {number: label for number, label in told.items() if label is not None}
    waiting = [one for one in asked.values() if one["query"] and one["id"] not in told]
    skipped = [asked[number] for number, label in told.items() if label is None]
    missing = len(waiting) + len(skipped)
    costs = [(1 - asked[number]["probability"]) / asked[number]["probability"] ** 2 for number in labelled]
    some = (waiting or skipped)[:100]
    weight = sum(one["probability"] ** -2 for one in some) / max(1, len(some))
    found = {}

    def covered(since: int) -> float:
        """Rounds, or the share of them whose queries are answered."""
        rounds = len(asked) - missed(records, campaign.budget) - since
        without = sum(one["id"] >= since for one in (*waiting, *skipped))
        answered = sum(number >= since for number in labelled)
        return float(rounds * answered / (answered + without))

    for entry in pick.standing[1:]:
        differ = [
            cost
            for cost, (number, label) in zip(costs, labelled.items(), strict=True)
            if (said(pick.model, number) == label) != (said(entry.model, number) == label)
        ]
        share = (len(differ) + 1) / (len(labelled) + 2)
        variance = sum(differ) + 2 * sum(costs) / len(costs) + missing * weight * share
        half = 1.96 * math.sqrt(variance) / covered(max(entry.since, pick.standing[0].since))
        gap = entry.gap or 0.0
        found[entry.model] = (max(-1.0, gap - half), min(1.0, gap + half))
    return found


@pytest.mark.parametrize("budget", [None, 40])
@pytest.mark.parametrize("answered", [0.5, 1.0])
@pytest.mark.parametrize("late", [False, True])
def test_intervals_are_those_of_brute_force(
    api: Api, memory: str, budget: int | None, answered: float, late: bool
) -> None:
    campaign = create_campaign(memory, "c", models=MODELS, budget=budget)
    board = Dashboard(campaign)
    for part in range(4):
        play(campaign, 40, part, answered)
        check(api, board)
    if late:
        campaign.join("dog")
        play(campaign, 60, 9, answered)
    standing, _ = check(api, board)
    expected = intervals(campaign)
    assert expected
    for entry in standing["standing"][1:]:
        assert (entry["low"], entry["high"]) == pytest.approx(expected[entry["model"]], rel=1e-9, abs=1e-12)


def test_of_a_newcomer_little_is_known(api: Api, memory: str) -> None:
    campaign = create_campaign(memory, "c", models=["ant", "bee"])
    play(campaign, 600, 0, answered=1)
    campaign.join("new")
    play(campaign, 30, 1, answered=1)
    standing, charts = check(api, Dashboard(campaign))
    width = {
        entry["model"]: entry["high"] - entry["low"] for entry in standing["standing"] if entry["low"] is not None
    }
    new = next(entry for entry in standing["standing"] if entry["model"] == "new")
    assert new["since"] == 600
    assert new["labels"] < standing["labels_used"]
    assert width["new"] > 3 * min(width.values())
    line = charts["weights"]["values"][charts["weights"]["models"].index("new")]
    points = list(zip(charts["weights"]["rounds"], line, strict=True))
    assert {value for rounds, value in points if rounds < 600} == {None}
    assert None not in {value for rounds, value in points if rounds > 600}


def test_a_board_that_was_kept_up_shows_what_a_new_one_does(memory: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS, classes=CLASSES)
    kept = Dashboard(campaign)
    draw = random.Random(4)
    for step in range(40):
        play(campaign, draw.randrange(8), step)
        answered = [record["id"] for record in campaign.history() if record["kind"] == "label"]
        match draw.randrange(5):
            case 0 if answered:
                campaign.tell(draw.choice(answered), draw.choice(CLASSES), replace=True)
            case 1 if len(campaign.models) < 6:
                campaign.join(f"late-{step}")
            case 2 if len(campaign.models) > 3:
                campaign.leave(draw.choice(campaign.models))
            case 3:
                rows = [[draw.choice(CLASSES) for _ in campaign.models] for _ in range(draw.choice([1, 30]))]
                campaign.ask_many(rows)
        new = Dashboard(campaign)
        assert kept.charts() == new.charts()
        assert campaign.known_classes() == KnownClasses(campaign).names()
        now, then = kept.standing(), new.standing()
        for one, other in zip(now.pop("standing"), then.pop("standing"), strict=True):
            assert one.keys() == other.keys()
            for part, value in one.items():
                assert value == (pytest.approx(other[part]) if isinstance(value, float) else other[part])
        assert now == then


def test_a_storage_that_was_brought_back_from_a_backup_is_shown_as_it_is(memory: str) -> None:
    campaign, backup = (create_campaign(memory, name, models=MODELS) for name in ("now", "then"))
    play(campaign, 20, 0)
    play(backup, 7, 0)
    board = Dashboard(campaign)
    assert (board.standing()["rounds"], board.charts()["disagreement"]["rounds"]) == (20, 20)
    board.campaign = backup
    assert board.charts() == Dashboard(backup).charts()
    assert board.standing() == Dashboard(backup).standing()


def test_more_models_than_pairs_can_be_kept_of_have_no_intervals(api: Api, memory: str) -> None:
    campaign = create_campaign(memory, "c", models=1_000, classes=["x", "y"], **SURE)
    row = ["x"] * 999 + ["y"]
    campaign.tell(campaign.ask(row).id, "x")
    board = Dashboard(campaign)
    standing, _ = check(api, board)
    assert standing["standing"][1]["high"] is not None
    campaign.join("one too many")
    campaign.tell(campaign.ask([*row, "x"]).id, "x")
    standing, charts = check(api, board)
    assert len(standing["standing"]) == 1_001
    assert {entry["high"] for entry in standing["standing"]} == {None}
    assert len(charts["weights"]["models"]) == MOST_LINES
    campaign.leave("one too many")
    assert board.standing()["standing"][1]["high"] is not None


# Charts.


def brute(campaign: Campaign) -> tuple[list[dict[str, Any]], dict[int, Any]]:
    """Rounds and answers as the history has them."""
    asked, told = [], dict[int, Any]()
    for record in campaign.history():
        if record["kind"] == "ask":
            asked.append(record)
        elif record["kind"] == "label":
            told[record["id"]] = record["label"]
        elif record["kind"] in ("skip", "retract"):
            told.pop(record["id"], None)
    return asked, told


@pytest.mark.parametrize("rounds", [1, 399, 400, 401, 1_000])
def test_lines_of_queries_and_labels_are_those_of_brute_force(api: Api, memory: str, rounds: int) -> None:
    campaign = create_campaign(memory, "c", models=MODELS)
    play(campaign, min(rounds, 150), 2)
    draw = random.Random(3)
    rows = [[draw.choice(CLASSES) for _ in MODELS] for _ in range(rounds - min(rounds, 150))]
    made = campaign.ask_many(rows)
    campaign.tell_many([(one.id, "x") for one in made if one.query][::2])
    if made:
        campaign.tell(next(one.id for one in made if not one.query), "x")  # for reference
    asked, told = brute(campaign)
    _, charts = check(api, Dashboard(campaign))
    lines = charts["labels"]
    assert lines["rounds"][0] == 0
    assert lines["rounds"][-1] == rounds
    assert len(lines["rounds"]) <= MOST_POINTS + 1
    for upto, queries, labels in zip(lines["rounds"], lines["queries"], lines["labels"], strict=True):
        some = asked[:upto]
        assert queries == sum(one["query"] for one in some)
        assert labels == sum(one["query"] and one["id"] in told for one in some)


def test_the_last_rounds_and_where_models_disagree_are_those_of_brute_force(api: Api, memory: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS)
    draw = random.Random(6)
    for size in (1, 700, 3, 1_500, 1):
        rows = [[draw.choice([9, 10, 11, None]) for _ in MODELS] for _ in range(size)]
        items = [{"text": f"t{draw.random()}"} for _ in rows]
        campaign.ask_many(rows, items=items, keys=[f"k{draw.random()}" for _ in rows])
    asked, _ = brute(campaign)
    _, charts = check(api, Dashboard(campaign))
    shown = asked[-SHOWN:]
    assert charts["recent"] == {
        "rounds": [one["id"] for one in shown],
        "probability": [float(f"{one['probability']:.5g}") for one in shown],
        "queried": [one["query"] for one in shown],
    }
    window = asked[-WINDOW:]
    found = charts["disagreement"]
    divided = [one for one in window if len(set(one["predictions"])) > 1]
    assert (found["rounds"], found["divided"]) == (WINDOW, len(divided))
    pairs = Counter(
        tuple(sorted(set(one["predictions"]) - {None}))
        for one in divided
        if len(set(one["predictions"]) - {None}) == 2
    )
    threes = sum(len(set(one["predictions"]) - {None}) == 3 for one in divided)
    counted = {tuple(pair["classes"]): pair["rounds"] for pair in found["pairs"]}
    assert set(counted) == {(9, 10), (9, 11), (10, 11)}, "numbers are in the order of numbers"
    assert sum(counted.values()) == sum(pairs.values()) + threes
    assert all(counted[pair] >= number for pair, number in pairs.items())
    assert [one["rounds"] for one in found["pairs"]] == sorted(counted.values(), reverse=True)
    for item in found["items"]:
        record = asked[item["id"]]
        assert (item["key"], item["item"]) == (record["key"], record["item"])
        assert dict(item["votes"]) == Counter(record["predictions"])
        assert len(set(record["predictions"])) == 3, "those come first on which they are divided the most"
    waiting = {query.id for query in campaign.pending()}
    assert waiting
    latest = [one["id"] for one in window if len(set(one["predictions"])) == 3 and one["id"] not in waiting]
    latest = latest[-MOST_ITEMS:]
    assert [item["id"] for item in found["items"]] == latest[::-1]


def test_weights_end_where_they_are_now(api: Api, memory: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS)
    play(campaign, 300, 5)
    _, charts = check(api, Dashboard(campaign))
    lines = charts["weights"]
    with campaign.reading() as (_, projection):
        weights = projection.picker.weights
        assert weights is not None
        now = dict(zip(projection.picker.models, weights.tolist(), strict=True))
    assert {model: line[-1] for model, line in zip(lines["models"], lines["values"], strict=True)} == {
        model: pytest.approx(now[model], rel=1e-4, abs=1e-30) for model in MODELS
    }
    assert lines["models"][0] == campaign.best().model
    assert lines["rounds"] == sorted(lines["rounds"])
    assert lines["labels"] == sorted(lines["labels"])
    assert (lines["rounds"][-1], lines["labels"][-1]) == (300, campaign.best().labels_used)
    assert lines["rounds"][0] == 1
    assert len(lines["rounds"]) >= 10, "often enough for a line"


def test_items_are_shown_as_far_as_a_list_can_show_them(memory: str) -> None:
    campaign = create_campaign(memory, "c", models=MODELS)
    small, large = f"data:image/png;base64,{'A' * 1000}", f"data:image/png;base64,{'A' * LARGEST_PICTURE}"
    item = {
        "text": "x" * 10_000,
        "small": small,
        "large": large,
        "deep": {"a": ["b" * 5_000]},
        "n": 5,
        "none": None,
    }
    query = campaign.ask(["x", "y", "z"], item=item | {f"more {number}": number for number in range(20)})
    if query.query:
        campaign.skip(query.id)  # votes on an item that waits for a label are not shown
    (shown,) = Dashboard(campaign).charts()["disagreement"]["items"]
    assert len(shown["item"]) == MOST_FIELDS
    assert shown["item"]["text"] == "x" * LONGEST_TEXT + "…"
    assert (shown["item"]["small"], shown["item"]["n"], shown["item"]["none"]) == (small, 5, None)
    assert len(shown["item"]["large"]) == LONGEST_TEXT + 1
    assert len(shown["item"]["deep"]) == LONGEST_TEXT + 1


@pytest.mark.slow
def test_boards_of_large_campaigns_are_small(tmp_path_factory: pytest.TempPathFactory) -> None:
    storage = f"sqlite:///{tmp_path_factory.mktemp('large') / 'campaigns.db'}"
    generator = np.random.default_rng(0)
    models, rounds = 200, 100_500
    campaign = create_campaign(storage, "large", models=models, budget=3_000, expected_rounds=rounds)
    truth = generator.integers(0, 10, rounds)
    for start in range(0, rounds, 20_100):
        some = truth[start : start + 20_100, None]
        wrong = generator.random((len(some), models)) < np.linspace(0.05, 0.4, models)
        made = campaign.ask_many(np.where(wrong, generator.integers(0, 10, wrong.shape), some))
        campaign.tell_many([(int(one), int(truth[one])) for one in np.array(made.ids)[made.queried]])
    campaign.close()
    with serving(storage) as server:
        api = Api.of(server.http)
        standing, charts = server.get("/campaigns/large/standing"), server.get("/campaigns/large/charts")
        for answer in (standing, charts):
            api.check(answer)
            assert len(answer.content) < 100_000
        found = charts.json()
        assert len(standing.json()["standing"]) == models
        assert standing.json()["pick"] in range(40)
        assert len(found["weights"]["models"]) == MOST_LINES
        assert len(found["weights"]["rounds"]) <= MOST_POINTS
        assert len(found["labels"]["rounds"]) <= MOST_POINTS + 1
        assert (found["labels"]["rounds"][-1], found["labels"]["labels"][-1]) == (
            rounds,
            standing.json()["labels_used"],
        )
        assert len(found["recent"]["rounds"]) == SHOWN
        assert len(found["disagreement"]["pairs"]) <= MOST_PAIRS
        assert len(found["disagreement"]["items"]) <= MOST_ITEMS
        again = open_campaign(storage, "large")
        assert Dashboard(again).charts() == found


def test_boards_over_http_are_those_of_the_library(server: Running, name: str) -> None:
    remote = server.client().create_campaign(name, models=MODELS, seed=1)
    for number in range(30):
        made = remote.ask(["x", "y", "xy"[number % 2]], item={"text": str(number)}, key=str(number))
        if made.query:
            remote.tell(made.id, "x")
    here = create_campaign(f"memory://{name}", name, models=MODELS, seed=1)
    for number in range(30):
        made = here.ask(["x", "y", "xy"[number % 2]], item={"text": str(number)}, key=str(number))
        if made.query:
            here.tell(made.id, "x")
    board = Dashboard(here)
    assert server.get(f"/campaigns/{name}/standing").json() == json.loads(json.dumps(board.standing()))
    assert server.get(f"/campaigns/{name}/charts").json() == json.loads(json.dumps(board.charts()))
