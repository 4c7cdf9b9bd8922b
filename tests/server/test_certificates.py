"""Certificates over the wire: those of the library, and a rule to stop by."""

from typing import Any

import pytest

import modelpicker as mp
from tests.campaigns.streams import stream
from tests.server.describing import Api
from tests.server.servers import Running

MODELS = ["ant", "bee", "cat", "dog"]
KINDS: Any = ("stream", "population")


@pytest.fixture(scope="module")
def api(server: Running) -> Api:
    return Api.of(server.http)


def test_a_certificate_that_came_over_the_wire_is_the_bare_pickers(server: Running, api: Api, name: str) -> None:
    predictions, labels = stream(200)
    campaign = server.client().create_campaign(name, models=MODELS)
    made = campaign.ask_many(predictions.tolist())
    campaign.tell_many([(one.id, int(labels[one.id])) for one in made if one.query])
    bare = mp.ModelPicker(MODELS)
    for decision in [bare.observe(row) for row in predictions]:
        if decision.query:
            bare.learn(decision.round, int(labels[decision.round]))
    for kind in KINDS:
        assert campaign.certificate(0.9, kind) == bare.certificate(0.9, kind)
    assert campaign.best().certificate == campaign.certificate() == bare.certificate()
    found = server.get(f"/campaigns/{name}/certificate", params={"kind": "population"})
    api.check(found)
    assert found.json() == bare.certificate(kind="population").document()
    assert server.get(f"/campaigns/{name}/standing").json()["certificate"] == bare.certificate().document()


@pytest.mark.parametrize("query", [{"confidence": 1}, {"confidence": "nan"}, {"confidence": "x"}, {"kind": "both"}])
def test_what_is_no_certificate_is_refused(server: Running, api: Api, name: str, query: Any) -> None:
    server.client().create_campaign(name, models=MODELS)
    answer = server.get(f"/campaigns/{name}/certificate", params=query)
    assert answer.status_code == 422
    api.check(answer)


def test_a_campaign_on_the_server_stops_by_its_rule(server: Running, name: str) -> None:
    rule = mp.Certified(gap=0.2, confidence=0.8)
    campaign = server.client().create_campaign(name, models=["ant", "bee"], stop_when=rule)
    assert campaign.describe()["stop_when"] == {"gap": 0.2, "confidence": 0.8, "kind": "population"}
    while not campaign.best().certified:
        decision = campaign.ask({"ant": 0, "bee": 1})
        if decision.query:
            campaign.tell(decision.id, 0)
    assert campaign.best().certificate.gap <= 0.2
    assert campaign.best().model == "ant"
    assert not any(decision.query for decision in campaign.ask_many([[0, 1]] * 50))
    with pytest.raises(mp.ConflictError):
        server.client().create_campaign(name, models=["ant", "bee"], stop_when=mp.Certified(gap=0.1))


@pytest.mark.parametrize(
    "rule",
    [0.01, {"gap": 1}, {"gap": -0.1}, {"confidence": 1}, {"kind": "both"}, {"colour": 1}, {"gap": "small"}, []],
)
def test_a_rule_that_is_none_is_refused(server: Running, api: Api, name: str, rule: Any) -> None:
    answer = server.post("/campaigns", {"name": name, "models": MODELS, "stop_when": rule})
    assert answer.status_code == 422
    api.check(answer)
    assert "stop_when" in answer.text
