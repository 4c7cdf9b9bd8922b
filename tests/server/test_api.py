"""The API from end to end: what each route does, and what it says when it cannot."""

import csv
import http.client
import io
import json
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS, ModelPicker
from modelpicker.campaigns import create_campaign
from modelpicker.campaigns.export import import_campaign
from modelpicker.campaigns.kernel_needs import KernelNeed
from modelpicker.server.api.problems import KINDS
from modelpicker.server.app import create_app
from modelpicker.server.configuration import Configuration
from tests.server.describing import PROBLEM, Api, Operation
from tests.server.servers import API, Running, finished, serving

MODELS = ["ant", "bee", "cat"]
SURE = {"algorithm": "label-efficient", "options": {"probability": 1.0}}
"""Queries every round on which models disagree."""


@pytest.fixture(scope="module")
def api(server: Running) -> Api:
    return Api.of(server.http)


class Desk:
    """A campaign on the server, spoken to without the client."""

    def __init__(self, server: Running, api: Api, name: str, **settings: Any) -> None:
        self.server, self.api, self.path = server, api, f"/campaigns/{name}"
        body = {"name": name, "models": MODELS, "classes": ["no", "yes"], **SURE} | settings
        self._checked(server.post("/campaigns", body), 201)

    def _checked(self, answer: httpx2.Response, status: int) -> Any:
        assert answer.status_code == status, answer.text
        self.api.check(answer)
        return answer.json() if answer.content else None

    def get(self, path: str = "", status: int = 200, **values: Any) -> Any:
        return self._checked(self.server.get(f"{self.path}{path}", params=values), status)

    def post(self, path: str, status: int = 200, /, **body: Any) -> Any:
        return self._checked(self.server.post(f"{self.path}{path}", body), status)

    def delete(self, path: str, status: int) -> Any:
        return self._checked(self.server.http.delete(f"{API}{self.path}{path}"), status)

    def ask(self, *said: Any, **more: Any) -> Any:
        return self.post("/rounds", predictions=said or ("no", "yes", "no"), **more)

    def fill(self, rounds: int, **more: Any) -> Any:
        return self.post("/rounds/batch", predictions=[["no", "yes", "no"]] * rounds, **more)["decisions"]


@pytest.fixture
def desk(server: Running, api: Api, name: str) -> Desk:
    return Desk(server, api, name)


# Campaigns.


def test_a_campaign_from_beginning_to_end(server: Running, api: Api, name: str) -> None:
    desk = Desk(server, api, name)
    asked = desk.post(
        "/rounds", predictions={"ant": "no", "bee": "yes", "cat": None}, item={"text": "Hello"}, key="m-0"
    )
    assert (asked["id"], asked["key"], asked["query"]) == (0, "m-0", True)
    assert len(desk.fill(9, keys=[f"m-{number}" for number in range(1, 10)])) == 9
    (query,) = desk.post("/leases", most=1, seconds=60, annotator="ann")["queries"]
    assert (query["id"], query["item"], query["classes"]) == (0, {"text": "Hello"}, ["no", "yes"])
    assert desk.post("/labels", id=query["id"], label="yes", annotator="ann") == {
        "id": 0,
        "label": "yes",
        "labels_used": 1,
        "pending": 9,
    }
    desk.post("/labels/batch", labels=[["m-1", "yes"], [2, None]])
    desk.post("/skips", id="m-3")
    desk.post("/retractions", id=3)
    desk.post("/models", model="dog")
    desk.delete("/models/ant", 200)
    found = desk.get("/standing")
    assert (found["pick"], found["labels_used"], found["skipped"], found["pending"]) == ("bee", 2, 1, 7)
    assert {entry["model"] for entry in found["standing"]} == {"bee", "cat", "dog"}
    kinds = [record["kind"] for record in desk.get("/history")["records"]]
    assert kinds == ["ask"] * 10 + ["label", "label", "skip", "skip", "retract", "join", "leave"]
    assert [one["name"] for one in server.get("/campaigns").json()["campaigns"] if one["name"] == name] == [name]


def test_a_campaign_is_described_with_what_it_was_made_with(server: Running, api: Api, name: str) -> None:
    before = datetime.now(UTC)
    desk = Desk(server, api, name, budget=9, expected_rounds=90, seed=2**128 - 1)
    found = desk.get()
    assert before <= datetime.fromisoformat(found.pop("created")) <= datetime.now(UTC)
    assert found == {
        "name": name,
        "algorithm": "label-efficient",
        "options": {"probability": 1.0},
        "seed": str(2**128 - 1),
        "models": MODELS,
        "classes": ["no", "yes"],
        "budget": 9,
        "budget_way": "paced",
        "expected_rounds": 90,
        "stop_when": None,
        "paused": False,
        "archived": False,
        "finished": False,
        "waiting_items": {},
        "guidelines": "",
        "overlap": 1,
        "ask_for": "class",
        "same": "exact",
        "missing": "abstained",
        "overlap_rule": "all",
        "to_go": None,
        "more": None,
        "state": {
            "name": "running",
            "title": "Running",
            "reason": "There are no items yet.",
            "next": "Add items with the models' predictions.",
            "takes_items": True,
        },
        "rounds": 0,
        "labels_used": 0,
        "labels_saved": 0,
        "pending": 0,
        "skipped": 0,
        "references": 0,
        "withdrawn": 0,
        "conflicts": 0,
        "labels_known": 0,
        "costs": {},
        "pick": None,
        "tied": MODELS,
    }


def test_campaigns_are_listed_by_name_with_how_far_they_have_come(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/campaigns.db") as server:
        api = Api.of(server.http)
        desks = [Desk(server, api, name) for name in ("z 9", "ä-1", "a.b")]
        for number in (1, 2):
            desks[1].ask()
            desks[1].post("/labels", id=number - 1, label="no")
        answer = server.get("/campaigns")
        api.check(answer)
        found = answer.json()["campaigns"]
        assert sorted(one["name"] for one in found) == [one["name"] for one in found] == ["a.b", "z 9", "ä-1"]
        assert [(one["rounds"], one["labels_used"]) for one in found] == [(0, 0), (0, 0), (2, 2)]
        assert [one["pick"] for one in found[:2]] == [None, None]
        assert found[2]["pick"] in ("ant", "cat")
        assert found[2]["tied"] == 2


def test_a_campaign_whose_algorithm_is_not_here_is_listed_as_such_and_hides_no_other(tmp_path: Path) -> None:
    class Mine(ModelPicker):
        name = "mine"

    storage = f"sqlite:///{tmp_path}/campaigns.db"
    create_campaign(storage, "strange", models=2, algorithm=Mine)
    create_campaign(storage, "usual", models=2)
    with serving(storage) as server:
        strange, usual = server.get("/campaigns").json()["campaigns"]
        assert (strange["name"], strange["state"]) == ("strange", None)
        assert "algorithm" in strange["damage"]
        assert (usual["name"], usual["state"]["name"], usual["damage"]) == ("usual", "running", None)
        assert server.get("/campaigns/strange").status_code == 404


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_can_be_had_by_its_name(server: Running, api: Api, name: str, algorithm: str) -> None:
    desk = Desk(server, api, name, algorithm=algorithm, options={})
    assert desk.get()["algorithm"] == algorithm
    desk.ask()


GOOD = {"models": MODELS}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"models": 1}, "models"),
    ({"models": 10_001}, "models"),
    ({"models": ["a"]}, "models"),
    ({"models": ["a", "a"]}, "given twice"),
    ({"models": [True, False]}, "models"),
    ({"models": [1.0, 2.0]}, "models"),
    ({"models": {"a": 1}}, "models"),
    ({}, "models: Field required"),
    (GOOD | {"name": ""}, "name"),
    (GOOD | {"name": "a/b"}, "campaign name 'a/b'"),
    (GOOD | {"name": " a"}, "campaign name"),
    (GOOD | {"name": "a "}, "campaign name"),
    (GOOD | {"name": "a" * 101}, "name"),
    (GOOD | {"name": "a\0"}, "campaign name"),
    (GOOD | {"classes": []}, "classes"),
    (GOOD | {"classes": ["a", 1]}, "classes"),
    (GOOD | {"classes": ["a", "a"]}, "given twice"),
    (GOOD | {"budget": 0}, "budget"),
    (GOOD | {"budget": 2.0}, "budget"),
    (GOOD | {"budget": "2"}, "budget"),
    (GOOD | {"budget": True}, "budget"),
    (GOOD | {"budget": 2**53 + 1}, "budget"),
    (GOOD | {"expected_rounds": 0}, "expected_rounds"),
    (GOOD | {"algorithm": "nobody"}, "no algorithm 'nobody'"),
    (GOOD | {"algorithm": "os:system"}, "no algorithm 'os:system'"),
    (GOOD | {"options": {"nonsense": 1}}, "nonsense"),
    (GOOD | {"options": {"query_scale": "much"}}, "query_scale"),
    (GOOD | {"options": []}, "options"),
    (GOOD | {"seed": -1}, "seed"),
    (GOOD | {"seed": 2**128}, "seed"),
    (GOOD | {"sede": 1}, "sede"),
]


@pytest.mark.parametrize(("settings", "text"), REFUSED, ids=range(len(REFUSED)))
def test_settings_that_make_no_sense_are_refused(
    server: Running, api: Api, name: str, settings: dict[str, Any], text: str
) -> None:
    answer = server.post("/campaigns", {"name": name} | settings)
    assert answer.status_code == 422
    api.check(answer)
    assert text in answer.json()["detail"]
    assert server.get(f"/campaigns/{name}").status_code == 404


def test_what_is_given_twice_is_soon_found_among_many(server: Running, api: Api, name: str) -> None:
    many = [str(number) for number in range(99_999)]
    for settings in ({"models": 2, "classes": [*many, many[-1]]}, {"models": [*many[:9_999], many[9_998]]}):
        answer = server.post("/campaigns", {"name": name, **settings})
        assert answer.status_code == 422
        api.check(answer)
        assert "given twice" in answer.json()["detail"]


def test_a_name_can_be_had_once(server: Running, api: Api, name: str, desk: Desk) -> None:
    again = server.post("/campaigns", {"name": name, "models": 2})
    api.check(again)
    assert again.status_code == 409
    assert desk.get()["models"] == MODELS


def test_what_a_label_may_be_is_what_was_declared_or_what_was_said(server: Running, api: Api, name: str) -> None:
    assert Desk(server, api, name).get("/classes") == {"classes": ["no", "yes"], "open": False}
    desk = Desk(server, api, f"{name}-open", classes=None)
    assert desk.get("/classes") == {"classes": [], "open": True}
    desk.ask("b", "a", None)
    desk.ask(10, 9, 9)
    desk.post("/labels", id=0, label="neither")
    assert desk.get("/classes") == {"classes": ["a", "b", 9, 10, "neither"], "open": True}
    desk.ask("0 comes first in the alphabet", "a", "b")  # what came before keeps its place, and its key
    assert desk.get("/classes")["classes"] == ["a", "b", 9, 10, "neither", "0 comes first in the alphabet"]
    desk.post("/retractions", id=0)
    assert desk.get("/classes")["classes"] == ["a", "b", 9, 10, "0 comes first in the alphabet"]


def test_models_join_and_leave_whatever_they_are_called(server: Running, api: Api, name: str) -> None:
    strange: list[int | str] = ["meta/llama-3 70B?", "50%", "ü#1", "..", 7]
    desk = Desk(server, api, name, models=[*strange, "one"])
    assert desk.post("/models", model="two/2")["models"] == [*strange, "one", "two/2"]
    remote = server.client().campaign(name)
    for model in strange:
        remote.leave(model)
    assert desk.get()["models"] == ["one", "two/2"]
    assert "nothing to choose" in desk.delete("/models/one", 409)["detail"]
    desk.delete("/models/nobody", 404)
    desk.post("/models", 409, model="one")
    for wrong in (True, None, 1.5, ["a"]):
        desk.post("/models", 422, model=wrong)


# Rounds.


def test_predictions_come_by_name_or_in_order(desk: Desk) -> None:
    by_name = desk.post("/rounds", predictions={"cat": "no", "bee": "yes", "ant": None})
    assert desk.get("/history", id=by_name["id"])["records"][0]["predictions"] == [None, "yes", "no"]
    by_place = desk.ask(0, 1, -1)
    assert desk.get("/history", id=by_place["id"])["records"][0]["predictions"] == ["no", "yes", None]


def test_models_that_are_numbers_are_named_by_strings(server: Running, api: Api, name: str) -> None:
    desk = Desk(server, api, name, models=2, classes=None)
    desk.post("/rounds", predictions={"1": 5, "0": 4})
    desk.post("/models", model="7")
    desk.post("/models", model=12)
    desk.post("/rounds", predictions={"7": 1, "12": 2, "0": 3, "1": 4})
    desk.post("/rounds/batch", predictions=[{"0": 1, "1": 2, "7": 3, "12": 4}, [5, 6, 7, 8]])
    found = [record["predictions"] for record in desk.get("/history")["records"] if record["kind"] == "ask"]
    assert found == [[4, 5], [3, 4, 1, 2], [1, 2, 3, 4], [5, 6, 7, 8]]
    assert (
        "no prediction of 0" in desk.post("/rounds", 422, predictions={"00": 1, "1": 2, "7": 3, "12": 4})["detail"]
    )


ROWS: list[tuple[Any, str]] = [
    (["no", "yes"], "2 predictions, but there are 3 models"),
    ({"ant": "no", "bee": "no"}, "no prediction of cat"),
    ({"ant": "no", "bee": "no", "cat": "no", "dog": "no"}, "'dog' is not a model"),
    (["no", "yes", "maybe"], "'maybe' is not one of the classes"),
    (["no", "yes", 2], "2 is not the place"),
    (["no", "yes", -3], "-3 is not a class"),
    (["no", "yes", 10**30], "too large"),
    (["no", "yes", 1.0], "a string, a whole number, or null"),
    (["no", "yes", True], "a string, a whole number, or null"),
    (["no", "yes", ["no"]], "a string, a whole number, or null"),
    ("no", "an object by model, or a list"),
    (None, "an object by model, or a list"),
    (3, "an object by model, or a list"),
]


@pytest.mark.parametrize(("row", "text"), ROWS, ids=range(len(ROWS)))
def test_predictions_that_make_no_sense_are_refused_and_nothing_is_decided(desk: Desk, row: Any, text: str) -> None:
    assert text in desk.post("/rounds", 422, predictions=row)["detail"]
    batch = desk.post("/rounds/batch", 422, predictions=[["no", "yes", "no"], row])
    assert text in batch["detail"]
    assert desk.get()["rounds"] == 0


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"key": ""}, "key"),
    ({"key": "k" * 501}, "key"),
    ({"key": "a\0b"}, "null character"),
    ({"key": 5}, "key"),
    ({"item": "text"}, "item"),
    ({"item": ["text"]}, "item"),
    ({"item": {"deep": json.loads("[" * 60 + "]" * 60)}}, "nested more than"),
    ({"items": [None]}, "items"),
]


@pytest.mark.parametrize(("more", "text"), WRONG, ids=range(len(WRONG)))
def test_keys_and_items_are_checked(desk: Desk, more: dict[str, Any], text: str) -> None:
    found = desk.post("/rounds", 422, predictions=["no", "yes", "no"], **more)
    assert text in found["detail"]


def test_a_batch_has_an_item_and_a_key_for_each_round_or_none(desk: Desk) -> None:
    assert (
        "2 rounds but 1 keys" in desk.post("/rounds/batch", 422, predictions=[[0, 1, 0]] * 2, keys=["a"])["detail"]
    )
    assert (
        "2 rounds but 3 items"
        in desk.post("/rounds/batch", 422, predictions=[[0, 1, 0]] * 2, items=[None] * 3)["detail"]
    )
    assert desk.post("/rounds/batch", predictions=[]) == {"decisions": []}
    assert desk.post("/rounds/batch", predictions=[], keys=[], items=[]) == {"decisions": []}
    made = desk.fill(3, keys=["a", None, "c"], items=[{"n": 1}, None, {"n": 3}])
    assert [one["key"] for one in made] == ["a", None, "c"]
    assert [one["item"] for one in desk.get("/queries")["queries"]] == [{"n": 1}, None, {"n": 3}]


def test_there_is_an_end_to_how_many_rounds_come_at_once(server: Running, desk: Desk) -> None:
    answer = server.post(f"{desk.path}/rounds/batch", {"predictions": [[]] * 100_001})
    assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
    assert len(answer.content) < 5_000


def test_the_same_key_gets_the_same_decision_whatever_comes_with_it(desk: Desk) -> None:
    first = desk.ask(key="k")
    assert desk.ask("yes", "yes", "yes", key="k") == first
    assert desk.ask("nonsense", key="k", item={"other": 1}) == first
    desk.post("/models", model="dog")
    first["racing"] = ["ant", "bee", "cat", "dog"]  # who races now; the decision stays, though models have changed
    assert desk.ask(key="k") == first
    batch = desk.post("/rounds/batch", predictions=[[0, 1, 0, 1]] * 3, keys=["k", "new", "new"])["decisions"]
    assert batch[0] == first
    assert batch[1] == batch[2]
    assert desk.get()["rounds"] == 2
    assert (
        desk.post("/rounds/batch", predictions=[[0, 1, 0, 1]] * 3, keys=["k", "new", "new"])["decisions"] == batch
    )


# Labels.


def test_labels_are_told_by_id_or_key_and_as_the_campaign_knows_them(desk: Desk) -> None:
    desk.fill(4, keys=["a", "b", "c", "d"])
    assert desk.post("/labels", id=0, label="no")["label"] == "no"
    assert desk.post("/labels", id="b", label=1) == {"id": 1, "label": "yes", "labels_used": 2, "pending": 2}
    assert desk.post("/labels", id="c", label=-1) == {"id": 2, "label": None, "labels_used": 2, "pending": 1}
    assert desk.get()["skipped"] == 1


def test_an_answer_told_twice_counts_once_and_another_needs_to_be_meant(desk: Desk) -> None:
    desk.fill(1)
    first = desk.post("/labels", id=0, label="no")
    assert desk.post("/labels", id=0, label="no") == first
    assert "was labelled 'no' before" in desk.post("/labels", 409, id=0, label="yes")["detail"]
    desk.post("/skips", 409, id=0)
    assert desk.post("/labels", id=0, label="yes", replace=True)["label"] == "yes"
    assert desk.post("/skips", id=0, replace=True) == {"id": 0, "label": None, "labels_used": 0, "pending": 0}
    assert [record["replaces"] for record in desk.get("/history")["records"][1:]] == [False, True, True]


def test_labels_of_rounds_that_were_not_queried_are_kept_for_reference(desk: Desk) -> None:
    assert desk.ask("no", "no", "no")["query"] is False
    assert desk.post("/labels", id=0, label="yes") == {"id": 0, "label": "yes", "labels_used": 0, "pending": 0}
    assert desk.get()["references"] == 1
    desk.post("/skips", 409, id=0, replace=True)
    assert desk.post("/retractions", id=0)["labels_used"] == 0
    assert desk.get()["references"] == 0
    desk.post("/retractions", 409, id=0)


def test_many_labels_are_told_or_none(desk: Desk) -> None:
    desk.fill(5)
    desk.post("/labels/batch", 404, labels=[[0, "no"], [1, "yes"], [99, "no"]])
    desk.post("/labels/batch", 422, labels=[[0, "no"], [1, "maybe"]])
    desk.post("/labels/batch", 409, labels=[[0, "no"], [0, "yes"]])
    assert desk.get()["labels_used"] == 0
    told = desk.post("/labels/batch", labels=[[0, "no"], [0, "no"], [1, 0], [2, None], [3, -1]])
    assert told == {"told": 5, "labels_used": 2, "pending": 1}
    assert desk.post("/labels/batch", labels=[]) == {"told": 0, "labels_used": 2, "pending": 1}


ANSWERS: list[tuple[str, dict[str, Any], int]] = [
    ("/labels", {"id": 0}, 422),
    ("/labels", {"label": "no"}, 422),
    ("/labels", {"id": 0, "label": None}, 422),
    ("/labels", {"id": 0, "label": True}, 422),
    ("/labels", {"id": 0, "label": 1.0}, 422),
    ("/labels", {"id": 0, "label": "maybe"}, 422),
    ("/labels", {"id": 0, "label": 2}, 422),
    ("/labels", {"id": 0, "label": -2}, 422),
    ("/labels", {"id": 0, "label": "no", "replace": 1}, 422),
    ("/labels", {"id": 0, "label": "no", "annotator": ""}, 422),
    ("/labels", {"id": 0, "label": "no", "annotator": "a" * 301}, 422),
    ("/labels", {"id": 0, "label": "no", "annotator": "\0"}, 422),
    ("/labels", {"id": True, "label": "no"}, 422),
    ("/labels", {"id": None, "label": "no"}, 422),
    ("/labels", {"id": 0.0, "label": "no"}, 422),
    ("/labels", {"id": -1, "label": "no"}, 404),
    ("/labels", {"id": 1, "label": "no"}, 404),
    ("/labels", {"id": 10**40, "label": "no"}, 404),
    ("/labels", {"id": "0", "label": "no"}, 404),
    ("/labels", {"id": "", "label": "no"}, 422),
    ("/labels/batch", {"labels": [[0]]}, 422),
    ("/labels/batch", {"labels": [[0, "no", 1]]}, 422),
    ("/labels/batch", {"labels": {"0": "no"}}, 422),
    ("/skips", {"id": 1}, 404),
    ("/skips", {"id": "nobody"}, 404),
    ("/skips", {}, 422),
    ("/retractions", {"id": 0}, 409),
    ("/retractions", {"id": 1}, 404),
    ("/retractions", {"id": 0, "lease": 0}, 422),
    ("/retractions", {"id": 0, "lease": "5"}, 422),
    ("/leases", {"most": 0}, 422),
    ("/leases", {"most": 101}, 422),
    ("/leases", {"most": 1.0}, 422),
    ("/leases", {"seconds": 0}, 422),
    ("/leases", {"seconds": -1}, 422),
    ("/leases", {"seconds": 86_401}, 422),
    ("/leases", {"seconds": "5"}, 422),
    ("/leases", {"seconds": True}, 422),
]


@pytest.mark.parametrize(("path", "body", "status"), ANSWERS, ids=range(len(ANSWERS)))
def test_answers_that_make_no_sense_change_nothing(
    desk: Desk, path: str, body: dict[str, Any], status: int
) -> None:
    desk.fill(1)
    desk.post(path, status, **body)
    (record,) = desk.get("/history")["records"]
    assert record["kind"] == "ask"
    assert desk.get("/queries")["queries"][0]["leased_until"] is None


def test_a_skip_gives_its_label_back_until_the_budget_is_spent_on_others(
    server: Running, api: Api, name: str
) -> None:
    desk = Desk(server, api, name, budget=1, expected_rounds=1, options={"probability": 1.0})
    assert desk.ask()["query"] is True
    desk.post("/skips", id=0)
    while not desk.ask()["query"]:
        assert desk.get()["rounds"] < 100
    assert "the budget is spent" in desk.post("/labels", 409, id=0, label="no", replace=True)["detail"]
    assert "the budget is spent" in desk.post("/retractions", 409, id=0)["detail"]


def test_leased_queries_are_kept_from_others_until_they_are_given_back(desk: Desk) -> None:
    desk.fill(4)
    ann = desk.post("/leases", most=2, seconds=60, annotator="ann")
    assert [query["id"] for query in ann["queries"]] == [0, 1]
    assert (ann["pending"], {query["leased_by"] for query in ann["queries"]}) == (4, {"ann"})
    assert [one["id"] for one in desk.post("/leases", most=9, seconds=60, annotator="bob")["queries"]] == [2, 3]
    assert [one["id"] for one in desk.post("/leases", most=9, annotator="ann")["queries"]] == [0, 1]
    assert desk.post("/leases", most=9, annotator="cyd")["queries"] == []
    desk.delete("/leases/1", 204)
    desk.delete("/leases/1", 204)
    assert [one["id"] for one in desk.post("/leases", most=9, annotator="cyd")["queries"]] == [1]
    assert [one["leased_by"] for one in desk.get("/queries")["queries"]] == ["ann", "cyd", "bob", "bob"]
    desk.post("/labels", id=0, label="no", annotator="bob")
    assert desk.get("/history", id=0)["records"][-1]["by"] == "bob", "an answer counts whoever gives it"


def test_leases_expire(desk: Desk) -> None:
    desk.fill(1)
    desk.post("/leases", seconds=0.001, annotator="ann")
    assert [one["id"] for one in desk.post("/leases", seconds=60, annotator="bob")["queries"]] == [0]


def test_who_takes_an_answer_back_may_keep_the_query(desk: Desk) -> None:
    desk.fill(1)
    desk.post("/labels", id=0, label="no", annotator="ann")
    assert desk.post("/retractions", id=0, lease=60, annotator="ann") == {"id": 0, "labels_used": 0, "pending": 1}
    assert desk.post("/leases", annotator="bob")["queries"] == []
    assert [one["id"] for one in desk.post("/leases", annotator="ann")["queries"]] == [0]


def test_leases_that_cannot_be_given_back(desk: Desk) -> None:
    desk.fill(1)
    desk.delete("/leases/1", 404)
    for wrong in ("-1", "x", "1.5", ""):
        assert desk.server.http.delete(f"{API}{desk.path}/leases/{wrong}").status_code in (404, 422)


def test_waiting_queries_are_listed_oldest_first(desk: Desk) -> None:
    desk.fill(5)
    desk.post("/labels", id=1, label="no")
    found = desk.get("/queries", most=3)
    assert ([query["id"] for query in found["queries"]], found["pending"]) == ([0, 2, 3], 4)
    for most in (0, 1001, "many", ""):
        desk.get("/queries", 422, most=most)


# History, answers and exports.


def test_the_history_comes_in_pages_that_make_up_the_whole(desk: Desk) -> None:
    desk.fill(5)
    for number in range(5):
        desk.post("/labels", id=number, label="no")
    desk.post("/models", model="dog")
    desk.post("/rounds", predictions={"ant": "no", "bee": "no", "cat": "no", "dog": "yes"})
    whole = desk.get("/history", most=1000)
    assert whole["next"] is None
    for most in (1, 2, 3, 7, 8):
        found, after = [], 0
        while after is not None:
            page = desk.get("/history", after=after, most=most)
            assert len({record["event"] for record in page["records"]}) <= most
            found += page["records"]
            after = page["next"]
        assert found == whole["records"]
    assert desk.get("/history", after=8) == {"records": [], "next": None}
    assert desk.get("/history", after=2**53) == {"records": [], "next": None}
    for values in ({"after": -1}, {"after": 2**53 + 1}, {"most": 0}, {"most": 1001}, {"most": "x"}, {"id": -1}):
        desk.get("/history", 422, **values)


def test_the_history_of_one_round(desk: Desk) -> None:
    desk.fill(3, keys=["a", "b", "c"])
    desk.post("/labels", id=1, label="no")
    desk.post("/labels", id=1, label="yes", replace=True, annotator="ann")
    desk.post("/retractions", id=1)
    found = desk.get("/history", id=1)["records"]
    assert [record["kind"] for record in found] == ["ask", "label", "label", "retract"]
    assert desk.get("/history", key="b")["records"] == found
    desk.get("/history", 404, id=3)
    desk.get("/history", 404, id=10**30)
    desk.get("/history", 404, key="nobody")
    desk.get("/history", 422, key="")


def test_a_page_of_the_history_is_bounded_even_if_events_are_large(desk: Desk) -> None:
    for _ in range(6):
        desk.fill(15)
    sizes, after = [], 0
    while after is not None:
        page = desk.get("/history", after=after, most=20)
        sizes.append(len(page["records"]))
        after = page["next"]
    assert sizes == [30, 30, 30]


def test_exports_read_back_are_the_same_campaign(server: Running, api: Api, name: str, tmp_path: Path) -> None:
    desk = Desk(server, api, name, algorithm="model-picker", options={}, budget=30, classes=None)
    desk.fill(40, keys=[f"k{number}" for number in range(40)], items=[{"text": "😀 \0", "n": 1.5}] * 40)
    for query in desk.get("/queries")["queries"][:6]:
        desk.post("/labels", id=query["id"], label="yes", annotator="ann")
    desk.post("/skips", id=desk.get("/queries")["queries"][0]["id"])
    desk.post("/models", model="dog")
    records = desk.get("/history", most=1000)["records"]
    there = {}
    for form in ("jsonl", "parquet"):
        path = tmp_path / f"campaign.{form}"
        answer = server.get(f"{desk.path}/export", params={"format": form})
        api.check(answer)
        assert int(answer.headers["content-length"]) == len(answer.content)
        path.write_bytes(answer.content)
        there[form] = import_campaign(f"memory://{uuid.uuid4().hex}", path)
        assert json.loads(json.dumps(list(there[form].history()))) == records
    rows = [["a", "b", "c", "d"], ["a", "a", "b", "b"]] * 10
    expected = [
        (one["query"], one["probability"]) for one in desk.post("/rounds/batch", predictions=rows)["decisions"]
    ]
    for campaign in there.values():
        assert [(one.query, one.probability) for one in campaign.ask_many(rows)] == expected
    desk.get("/export", 422, format="xml")


def test_an_export_comes_whole_and_under_its_name(server: Running, api: Api, name: str) -> None:
    desk = Desk(server, api, f"Größe {name}")
    whole = server.get(f"{desk.path}/export")
    part = server.get(f"{desk.path}/export", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (200, whole.content), "another export may differ"
    assert whole.headers["content-disposition"] == (
        f"attachment; filename=\"Gr__e {name}.jsonl\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20{name}.jsonl"
    )


def test_answers_come_as_json_and_as_a_table(server: Running, api: Api, name: str) -> None:
    desk = Desk(server, api, name, classes=None)
    strange = 'he said "x,\ny"; =1+1 ü'
    desk.fill(4, keys=["a", None, strange, "d"])
    desk.ask("no", "no", "no", key="e")
    for called, label in (("a", "no"), (strange, strange), ("e", "yes")):
        desk.post("/labels", id=called, label=label)
    desk.post("/skips", id="d")
    found = desk.get("/answers")["answers"]
    assert found == [
        {"id": 0, "key": "a", "label": "no", "state": "labelled"},
        {"id": 1, "key": None, "label": None, "state": "waiting"},
        {"id": 2, "key": strange, "label": strange, "state": "labelled"},
        {"id": 3, "key": "d", "label": None, "state": "skipped"},
        {"id": 4, "key": "e", "label": "yes", "state": "reference"},
    ]
    table = server.get(f"{desk.path}/answers", params={"format": "csv"})
    api.check(table)
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(table.content.decode(), newline="")))
    assert rows == [{part: "" if value is None else str(value) for part, value in one.items()} for one in found]
    desk.get("/answers", 422, format="xml")


# What is the same everywhere.


def test_what_is_not_there_is_not_found(server: Running, api: Api) -> None:
    # A webhook tells nobody without the secret what is there.
    of_campaigns = [one for one in api.operations if "{name}" in one.path and "webhooks" not in one.path]
    assert len(of_campaigns) >= 21
    for one in of_campaigns:
        body = {"json": _example(api, one)} if "requestBody" in one.spec else {}
        params = {"filename": "a.csv"} if one.path.endswith("files") else {}
        for name in ("nobody", "a%2Fb", "%00", "a" * 3000, "%F0%9F%98%80", "..%5C..", " "):
            answer = server.http.request(one.method, one.url(name=name), params=params, **body)
            assert answer.status_code == 404, f"{one.id}: {answer.text}"
            assert answer.headers["content-type"] == PROBLEM
            assert len(answer.content) < 500


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        f"{API}/nothing",
        f"{API}/campaigns/",
        f"{API}/campaigns/a/",
        "/health/",
        "/api",
        "/api/v2/campaigns",
    ],
)
def test_paths_that_are_not_there_are_problems_and_lead_nowhere_else(server: Running, path: str) -> None:
    answer = server.http.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["content-type"]) == (404, PROBLEM)
    assert answer.json()["type"] == "urn:modelpicker:problem:not-found"


def test_methods_that_are_not_there_are_told_which_are(server: Running, api: Api) -> None:
    for path in {one.path for one in api.operations}:
        here = {one.method for one in api.operations if one.path == path}
        some = next(one for one in api.operations if one.path == path)
        for method in {"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "MADE-UP"} - here:
            answer = server.http.request(method, some.url())
            if method == "MADE-UP" and answer.status_code == 400:
                continue  # not even HTTP to the server
            assert (answer.status_code, answer.headers["content-type"]) == (405, PROBLEM), f"{method} {path}"
            assert set(answer.headers["allow"].split(", ")) == here


def test_what_stands_before_all_routes_is_described_for_all(server: Running, api: Api) -> None:
    asked: list[tuple[dict[str, str], int]] = [
        ({"Host": "localhost", "host": "localhost"}, 400),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Encoding": "br"}, 415),
        ({"Content-Length": str(10**12)}, 413),
    ]
    for one in api.operations:
        for headers, status in asked:
            found, kind, content = _raw(server, one, headers.items())
            assert found == status, f"{one.id}: {headers}: {content[:300]!r}"
            api.check_content(one, found, kind, content)


def _raw(server: Running, one: Operation, headers: Iterable[tuple[str, str]]) -> tuple[int, str, bytes]:
    """An answer to a request that no decent client would send."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.putrequest(one.method, one.url(), skip_host=any(name == "Host" for name, _ in headers))
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers["content-type"], answer.read()
    finally:
        connection.close()


def _with_json(api: Api) -> list[Operation]:
    """The operations that take JSON."""
    found = [
        one
        for one in api.operations
        if "application/json" in one.spec.get("requestBody", {}).get("content", {})
        and "webhooks" not in one.path  # which tells nobody anything without the secret
    ]
    assert len(found) == 14
    return found


def _example(api: Api, one: Operation) -> Any:
    content = one.spec["requestBody"]["content"].get("application/json")
    if content is None:
        return {}
    return api.document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]["examples"][0]


BODIES: list[tuple[bytes, int]] = [
    (b"", 400),
    (b" ", 400),
    (b"{", 400),
    (b"{}x", 400),
    (b"{'a': 1}", 400),
    (b'{"a": 1,}', 400),
    (b'{"a": \xff}', 400),
    (b'{"a": "\xff"}', 400),
    (b'{"a": "\\ud800"}', 400),
    (b'\xef\xbb\xbf{"a": 1}', 400),
    ('{"a": 1}'.encode("utf-16"), 400),
    (b'{"a": ' + b"1" * 5_000 + b"}", 400),
    (b'{"a": ' + b"[" * 100_000 + b"}", 400),
    (b"[]", 422),
    (b"null", 422),
    (b'"text"', 422),
    (b"1", 422),
    (b"NaN", 422),
    (b'{"surprise": 1}', 422),
    (b'{"' + b"s" * 100_000 + b'": 1}', 422),
]


def test_bodies_are_read_in_one_way_everywhere(server: Running, api: Api, desk: Desk) -> None:
    for one in _with_json(api):
        for body, status in BODIES:
            answer = server.http.request(
                one.method,
                one.url(name=desk.path.rpartition("/")[2]),
                content=body,
                headers={"Content-Type": "application/json"},
            )
            assert answer.status_code == status, f"{one.id}: {body[:50]!r}: {answer.text[:300]}"
            api.check(answer)
            assert len(answer.content) < 2_000


KINDS_OF_BODY = [
    ("application/json", True),
    ("application/json; charset=utf-8", True),
    ("Application/JSON", True),
    ("application/merge-patch+json", True),
    ("text/plain", False),
    ("text/json", False),
    ("application/x-www-form-urlencoded", False),
    ("multipart/form-data; boundary=x", False),
    ("application/jsonx", False),
    ("", False),
]


def test_bodies_say_that_they_are_json(server: Running, api: Api, desk: Desk) -> None:
    for one in _with_json(api):
        for kind, known in KINDS_OF_BODY:
            path = one.url(name=desk.path.rpartition("/")[2])
            headers = {"Content-Type": kind} if kind else {}
            answer = server.http.request(one.method, path, content=b'{"surprise": 1}', headers=headers)
            assert answer.status_code == (422 if known else 415), f"{one.id}: {kind}"
            api.check(answer)


def test_numbers_that_are_none_are_never_taken_in(server: Running, desk: Desk, name: str) -> None:
    for number in (b"NaN", b"Infinity", b"-Infinity", b"1e999"):
        for path, body in (
            (f"{desk.path}/rounds", b'{"predictions": [0, 1, 0], "item": {"x": [%s]}}'),
            (f"{desk.path}/rounds", b'{"predictions": [0, 1, %s]}'),
            (f"{desk.path}/rounds/batch", b'{"predictions": [[0, 1, 0]], "items": [{"x": %s}]}'),
            (f"{desk.path}/leases", b'{"seconds": %s}'),
            (f"{desk.path}/retractions", b'{"id": 0, "lease": %s}'),
            (f"{desk.path}/labels", b'{"id": 0, "label": %s}'),
            (f"{desk.path}/models", b'{"model": %s}'),
            ("/campaigns", b'{"name": "%s-x", "models": 2, "options": {"query_scale": %%s}}' % name.encode()),
            ("/campaigns", b'{"name": "%s-x", "models": 2, "budget": %%s}' % name.encode()),
        ):
            answer = server.http.post(
                f"{API}{path}", content=body % number, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == 422, f"{path}: {body % number!r}: {answer.text}"
            assert answer.headers["content-type"] == PROBLEM
    assert desk.get()["rounds"] == 0
    assert server.get(f"/campaigns/{name}-x").status_code == 404


def test_problems_say_what_kind_they_are_and_where(server: Running, desk: Desk) -> None:
    answer = server.post(f"{desk.path}/labels", {"id": 0.5, "label": [], "more": 1})
    assert answer.json() == {
        "type": "urn:modelpicker:problem:invalid-input",
        "title": KINDS[422][1],
        "status": 422,
        "detail": answer.json()["detail"],
        "errors": answer.json()["errors"],
    }
    assert {error["where"].split(".")[1] for error in answer.json()["errors"]} == {"id", "label", "more"}
    assert answer.json()["detail"].startswith("body.id")
    query = desk.get("/queries", 422, most="x")
    assert [error["where"] for error in query["errors"]] == ["query.most"]


def test_errors_do_not_tell_where_the_storage_is(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/secret.db"
    with serving(storage) as server:
        api = Api.of(server.http)
        desk = Desk(server, api, "here")
        for answer in (
            server.get("/campaigns/nobody"),
            server.post("/campaigns", {"name": "here", "models": 2}),
            server.post(f"{desk.path}/labels", {"id": 5, "label": "no"}),
        ):
            assert answer.status_code >= 400
            assert "secret" not in answer.text


def test_it_lives_and_is_ready(server: Running, api: Api) -> None:
    for path in ("/health", "/ready"):
        answer = server.http.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        api.check(answer)


def test_a_server_that_compiles_what_its_campaigns_need_is_not_ready_and_says_for_which(api: Api) -> None:
    app = create_app(Configuration(storage=f"memory://{uuid.uuid4().hex}"))
    app.state.service.compiler.want(KernelNeed.of_pools())

    async def look(path: str) -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get(path)

    answer = finished(look("/ready"))
    assert answer.status_code == 503
    assert answer.json()["detail"] == (
        "The server compiles what it needs for pools. It answers meanwhile, more slowly."
    )
    api.check(answer)
    assert finished(look("/health")).status_code == 200


def test_a_server_that_is_about_to_stop_is_alive_but_not_ready(api: Api) -> None:
    app = create_app(Configuration(storage=f"memory://{uuid.uuid4().hex}"))

    async def look(path: str) -> httpx2.Response:
        app.state.service.stopping.set()
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get(path)

    answer = finished(look("/ready"))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    api.check(answer)
    assert finished(look("/health")).status_code == 200


def test_a_campaign_that_another_process_changes_is_seen_as_it_is(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/campaigns.db"
    with serving(storage) as server:
        desk = Desk(server, Api.of(server.http), "shared")
        desk.ask(key="a")
        here = mp.open_campaign(storage, "shared")
        here.tell("a", "no")
        made = here.ask(["no", "yes", "no"], key="b")
        here.join("dog")
        assert desk.get()["labels_used"] == 1
        assert desk.ask(key="b")["id"] == made.id
        assert desk.get("/standing")["event"] == 4
        assert desk.get()["models"] == [*MODELS, "dog"]
