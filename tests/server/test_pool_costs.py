"""Losses, prices and wrong labels of a pool over HTTP: sent as JSON in the address, and by the client."""

import json
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from tests.server.describing import Api
from tests.server.servers import API, Running, serving
from tests.server.test_pools import begin, table

PRICES = {"good": 3.0, "fair": 1.0, "poor": 0.5}
ROLES: dict[str, Any] = {"notes": "left out"}


def test_a_pool_is_begun_with_costs_in_the_address(server: Running, name: str) -> None:
    made = begin(
        server, table(20), name=name, loss='{"spam": 5}', price=json.dumps(PRICES), label_noise=0.01, tolerance=0.1
    )
    Api.of(server.http).check(made)
    assert made.status_code == 201, made.text
    options = made.json()["options"]
    assert (options["loss"]["name"], options["price"], options["label_noise"]) == (
        "weighted accuracy",
        PRICES,
        0.01,
    )
    campaign = server.client().campaign(name)
    item = campaign.pending(1, lease=60)[0].id
    campaign.tell(item, "spam")
    best = server.get(f"/campaigns/{name}/standing")
    Api.of(server.http).check(best)
    assert best.json()["certificate"]["loss"] == "weighted accuracy"
    assert best.json()["saved_per_item"] is not None


@pytest.mark.parametrize(
    "given",
    [
        {"loss": {"spam": 5}},
        {"loss": mp.Loss.costs({"spam": {"ham": 2, None: 3}})},
        {"loss": "balanced"},
        {"loss": "accuracy", "price": PRICES, "label_noise": 0.02},
    ],
    ids=["weights", "costs", "balanced", "prices"],
)
def test_the_client_sends_what_the_library_takes(
    server: Running, name: str, tmp_path: Path, given: dict[str, Any]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(20))
    campaign = server.client().create_campaign(name, pool=path, columns=ROLES, **given)
    local = mp.create_campaign("memory://client-costs", name, pool=mp.load_collection(path, columns=ROLES), **given)
    assert campaign.describe()["options"] == json.loads(json.dumps(dict(local.settings.options)))
    with pytest.raises(mp.ConflictError):
        server.client().create_campaign(name, pool=path, columns=ROLES, **given, tolerance=0.3)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"loss": "macro-f1"}, "estimated, and cannot be certified"),
        ({"loss": '{"spam": '}, "is not JSON"),
        ({"loss": '{"spam": -1}'}, "must be a number from 0"),
        ({"price": "[1, 2, 3]"}, "pass something like"),
        ({"price": '{"good": 1}'}, "give a price for every model"),
        ({"label_noise": "0.5"}, "0.5"),
        ({"loss": '{"spam": 5}', "ask_for": "grades"}, "a loss of its own"),
    ],
)
def test_costs_that_make_no_sense_make_no_campaign(
    server: Running, name: str, wrong: dict[str, Any], words: str
) -> None:
    answer = begin(server, table(4), name=name, **wrong)
    Api.of(server.http).check(answer)
    assert (answer.status_code, words in answer.text) == (422, True), answer.text
    assert server.get(f"/campaigns/{name}").status_code == 404


def test_a_stream_is_told_why_it_takes_no_noise(server: Running, name: str) -> None:
    answer = server.post("/campaigns", {"name": name, "models": ["a", "b"], "label_noise": 0.1})
    assert (answer.status_code, "label_noise goes with pool= only" in answer.text) == (422, True)


def test_annotators_do_not_learn_the_models_from_their_prices() -> None:
    storage = open_storage("memory://secret-prices", create=True)
    tokens = {role: create_token(storage, role, role) for role in ("owner", "annotator", "reader")}
    pool = [["a", "b", "a"]] * 4
    mp.create_campaign("memory://secret-prices", "t", pool=pool, price=[1, 2, 3], loss={"a": 2})
    with serving("memory://secret-prices", tokens=True) as running:
        for role, seen in (("owner", True), ("annotator", False), ("reader", True)):
            headers = {"Authorization": f"Bearer {tokens[role]}"}
            options = running.http.get(f"{API}/campaigns/t", headers=headers).json()["options"]
            assert ("price" in options, "loss" in options) == (seen, True), role
