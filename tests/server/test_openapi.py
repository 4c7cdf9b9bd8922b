"""The description of the API is complete, says the truth, and stays as it is."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis.specs.openapi.schemas  # all of it now: beside a browser CPython 3.11 may fail to parse it
from fastapi.routing import APIRoute

from modelpicker.server.api.problems import KINDS, MEDIA_TYPE
from modelpicker.server.app import ROUTERS
from tests.server.describing import Api, Operation
from tests.server.servers import API, Running, serving

# Programs are made from these names: they change only with the version of the API.
OPERATIONS = {
    "list_campaigns": "GET /api/v1/campaigns",
    "create_campaign": "POST /api/v1/campaigns",
    "describe_campaign": "GET /api/v1/campaigns/{name}",
    "revise": "PATCH /api/v1/campaigns/{name}",
    "delete": "DELETE /api/v1/campaigns/{name}",
    "list_labels": "GET /api/v1/campaigns/{name}/labels",
    "list_notes": "GET /api/v1/campaigns/{name}/notes",
    "note": "POST /api/v1/campaigns/{name}/notes",
    "label_studio": "POST /api/v1/campaigns/{name}/webhooks/label-studio",
    "list_all_tokens": "GET /api/v1/tokens",
    "make_token": "POST /api/v1/tokens",
    "drop_token": "DELETE /api/v1/tokens/{name}",
    "list_classes": "GET /api/v1/campaigns/{name}/classes",
    "join": "POST /api/v1/campaigns/{name}/models",
    "leave": "DELETE /api/v1/campaigns/{name}/models/{model}",
    "ask": "POST /api/v1/campaigns/{name}/rounds",
    "ask_many": "POST /api/v1/campaigns/{name}/rounds/batch",
    "tell": "POST /api/v1/campaigns/{name}/labels",
    "tell_many": "POST /api/v1/campaigns/{name}/labels/batch",
    "skip": "POST /api/v1/campaigns/{name}/skips",
    "retract": "POST /api/v1/campaigns/{name}/retractions",
    "list_conflicts": "GET /api/v1/campaigns/{name}/conflicts",
    "settle": "POST /api/v1/campaigns/{name}/settlements",
    "agreement": "GET /api/v1/campaigns/{name}/agreement",
    "list_queries": "GET /api/v1/campaigns/{name}/queries",
    "lease": "POST /api/v1/campaigns/{name}/leases",
    "release": "DELETE /api/v1/campaigns/{name}/leases/{id}",
    "standing": "GET /api/v1/campaigns/{name}/standing",
    "certificate": "GET /api/v1/campaigns/{name}/certificate",
    "report": "GET /api/v1/campaigns/{name}/report",
    "list_intakes": "GET /api/v1/intakes",
    "outlook": "GET /api/v1/campaigns/{name}/outlook",
    "charts": "GET /api/v1/campaigns/{name}/charts",
    "follow": "GET /api/v1/campaigns/{name}/live",
    "history": "GET /api/v1/campaigns/{name}/history",
    "list_answers": "GET /api/v1/campaigns/{name}/answers",
    "export": "GET /api/v1/campaigns/{name}/export",
    "list_settings": "GET /api/v1/settings",
    "look": "POST /api/v1/files",
    "upload": "POST /api/v1/campaigns/{name}/files",
    "drop_items": "DELETE /api/v1/campaigns/{name}/files",
    "show_session": "GET /api/v1/session",
    "sign_in": "POST /api/v1/session",
    "sign_out": "DELETE /api/v1/session",
    "health": "GET /health",
    "ready": "GET /ready",
    "metrics": "GET /metrics",
}
# What may go wrong anywhere: broken requests, pages of others, sizes, forms, names of hosts, faults of ours.
ANYWHERE = {400, 403, 408, 413, 415, 421, 431, 500}
# Who needs no token, and so never is without one; all others may lack one, or the storage that knows it.
OPEN = {
    "health": set[int](),
    "ready": {503},
    "show_session": {429, 503},
    "sign_in": {401, 429, 503},
    "sign_out": set[int](),
}
CONFLICTS = {
    "note",
    "label_studio",
    "revise",
    "make_token",
    "drop_token",
    "create_campaign",
    "upload",
    "drop_items",
    "join",
    "leave",
    "tell",
    "tell_many",
    "skip",
    "retract",
    "settle",
    "release",
}


@pytest.fixture(scope="module")
def api(server: Running) -> Api:
    return Api.of(server.http)


def test_the_document_is_a_valid_description(api: Api) -> None:
    schemathesis.openapi.from_dict(api.document).validate()
    assert api.document["openapi"].startswith("3.1")
    assert api.document["info"]["title"] == "modelpicker"


def test_operations_are_called_as_they_always_were(api: Api) -> None:
    assert {one.id: f"{one.method} {one.path}" for one in api.operations} == OPERATIONS


def test_every_route_is_described(api: Api) -> None:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    described = {(one.method, one.path) for one in api.operations}
    assert {(method, route.path_format) for route in routes for method in route.methods or ()} == described


def test_every_operation_says_what_it_does(api: Api) -> None:
    tags = {tag["name"] for tag in api.document["tags"]}
    for one in api.operations:
        assert 5 < len(one.spec["summary"]) < 110, one.id
        assert not one.spec["summary"].endswith("."), one.id
        assert one.spec["summary"].split(":")[0] in one.spec["description"].replace("\n", " "), one.id
        assert len(one.spec["tags"]) == 1, one.id
        assert tags.issuperset(one.spec["tags"]), one.id
    assert all(tag["description"] for tag in api.document["tags"])
    assert {tag for one in api.operations for tag in one.spec["tags"]} == tags


def test_every_parameter_and_every_field_that_is_sent_is_explained(api: Api) -> None:
    for one in api.operations:
        for parameter in one.spec.get("parameters", ()):
            assert parameter["description"], f"{one.id}: {parameter['name']}"
        body = _schema_name(one.spec.get("requestBody", {}).get("content", {}).get("application/json"))
        for field, schema in api.document["components"]["schemas"].get(body, {}).get("properties", {}).items():
            assert schema.get("description") or schema.get("$ref"), f"{body}: {field}"


def test_every_answer_says_what_it_is(api: Api) -> None:
    for one in api.operations:
        for status, answer in one.spec["responses"].items():
            assert answer["description"] not in ("", "Successful Response"), f"{one.id}: {status}"


def test_bodies_and_answers_come_with_examples_that_fit(api: Api) -> None:
    for one in api.operations:
        contents = [
            *one.spec.get("requestBody", {}).get("content", {}).items(),
            *one.good.get("content", {}).items(),
        ]
        for kind, content in contents:
            assert list(_examples(api, content)), f"{one.id}: no example of {kind}"
            for example in _examples(api, content):
                if kind == "application/json":
                    assert api.faults(content["schema"]["$ref"], example) == [], one.id
                else:
                    assert isinstance(example, str), one.id


def test_examples_of_fields_fit_as_well(api: Api) -> None:
    given = [
        (f"#/components/schemas/{name}/properties/{field}", example)
        for name, schema in api.document["components"]["schemas"].items()
        for field, inside in schema.get("properties", {}).items()
        for example in inside.get("examples", ())
    ]
    assert len(given) >= 10
    assert [place for place, example in given if api.faults(place, example)] == []


def test_every_error_that_may_come_is_described(api: Api) -> None:
    for one in api.operations:
        expected = ANYWHERE | OPEN.get(one.id, {401, 429, 503})
        expected |= {404} if "{name}" in one.path else set()
        expected |= {422} if "requestBody" in one.spec else set()
        expected |= {409} if one.id in CONFLICTS else set()
        expected |= {422} if _is_choosy(one) else set()
        assert one.errors == expected, one.id


def test_errors_are_problems_of_which_each_kind_has_a_name(api: Api) -> None:
    for one in api.operations:
        for status in one.errors:
            (kind, content), *others = one.spec["responses"][str(status)]["content"].items()
            assert (kind, others) == (MEDIA_TYPE, [])
            example = content["example"]
            assert api.faults(content["schema"]["$ref"], example) == []
            assert example["status"] == status
            assert (example["type"], example["title"]) == (
                f"urn:modelpicker:problem:{KINDS[status][0]}",
                KINDS[status][1],
            )
    assert len({kind for kind, _ in KINDS.values()}) == len(KINDS)


def test_nothing_is_referred_to_that_is_not_there_and_nothing_is_there_for_nothing(api: Api) -> None:
    text = json.dumps(api.document)
    used = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert used == set(api.document["components"]["schemas"])


def test_tokens_are_described_and_who_needs_none(api: Api) -> None:
    assert set(api.document["components"]["securitySchemes"]) == {"token", "session"}
    assert {one.id for one in api.operations if one.spec.get("security") == []} == set(OPEN)
    assert {} in api.document["security"], "a server on one's own machine needs no tokens"


def test_the_examples_of_bodies_can_be_sent_as_they_are(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('examples') / 'campaigns.db'}") as server:
        api = Api.of(server.http)
        server.post("/campaigns", _example(api, "create_campaign")).raise_for_status()
        always = {"algorithm": "label-efficient", "options": {"probability": 1.0}}  # so that all can be labelled
        settings = {"name": "sure", "models": ["bert", "roberta", "gpt"], "classes": ["ham", "spam"]}
        server.post("/campaigns", settings | always).raise_for_status()
        rounds = {"predictions": [["spam", "ham", "spam"]] * 20, "keys": [f"msg-{n}" for n in range(20)]}
        server.post("/campaigns/sure/rounds/batch", rounds).raise_for_status()
        for name in ("ask", "ask_many", "lease", "tell", "retract", "skip", "retract", "tell_many", "join", "look"):
            operation = api.operation(name)
            kind, content = next(iter(operation.spec["requestBody"]["content"].items()))
            (example,) = _examples(api, content)
            sent = {"json": example} if kind == "application/json" else {"content": example}
            answer = server.http.request(
                operation.method,
                operation.url(name="sure"),
                params={"filename": "predictions.csv"} if name == "look" else {},
                **sent,
            )
            assert answer.status_code == 200, f"{name}: {answer.text}"
            api.check(answer)


def test_the_description_is_served_under_the_version_and_nowhere_else(server: Running) -> None:
    assert server.get("/openapi.json").headers["content-type"] == "application/json"
    for path in ("/openapi.json", "/docs", "/redoc", f"{API}/docs"):
        assert server.http.get(path).status_code == 404


def _is_choosy(one: Operation) -> bool:
    """Whether there are parameters that not any text is good for."""
    return any(
        parameter["in"] == "query" or parameter["schema"].get("type") == "integer"
        for parameter in one.spec.get("parameters", ())
    )


def _example(api: Api, name: str) -> Any:
    content = api.operation(name).spec["requestBody"]["content"]
    return next(_examples(api, content["application/json"]))


def _examples(api: Api, content: dict[str, Any]) -> Iterator[Any]:
    """The examples of a content: its own, or those of its schema."""
    if "example" in content:
        yield content["example"]
    yield from api.document["components"]["schemas"].get(_schema_name(content), {}).get("examples", ())


def _schema_name(content: dict[str, Any] | None) -> str:
    return "" if content is None else str(content["schema"].get("$ref", "")).rpartition("/")[2]
