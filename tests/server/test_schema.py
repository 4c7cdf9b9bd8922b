"""Whatever is sent, no answer is outside the API's own description, and nothing fails inside.

Schemathesis makes the requests: examples, every bound of every field, methods that are not there, and chance, which
is the same each time. A campaign with rounds, queries and labels is there to be hit.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import schemathesis
from schemathesis import engine
from schemathesis.engine import events
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.schemas import BaseSchema

from modelpicker.server.api.openapi import TAGS
from modelpicker.server.network.middleware import FILE_KIND
from tests.server.describing import PROBLEM, Api
from tests.server.servers import API, Running, serving

ROUNDS = 60
SECRET = "a secret of sixteen letters"  # noqa: S105 - of this test
# What is often chosen where chance would hardly ever find something that is there.
WORDS: dict[str, list[str | int]] = {
    "campaigns": ["tickets"],
    "ids": list(range(ROUNDS)),
    "classes": ["ham", "spam"],
    "keys": [f"msg-{number}" for number in range(ROUNDS)],
    "models": ["bert", "gpt", "newcomer"],
    "files": ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.npz"],
}
CHOSEN = {
    "path.name": ("campaigns", 0.9),
    "path.id": ("ids", 0.7),
    "path.model": ("models", 0.5),
    "query.id": ("ids", 0.5),
    "query.key": ("keys", 0.5),
    "query.filename": ("files", 0.7),
    "body.id": ("ids", 0.7),
    "body.label": ("classes", 0.7),
    "body.key": ("keys", 0.3),
    "body.model": ("models", 0.3),
}


def _configuration(phases: Sequence[str], examples: int) -> dict[str, Any]:
    return {
        "headers": {"X-Modelpicker-Secret": SECRET},
        "dictionaries": {name: {"values": values} for name, values in WORDS.items()},
        "parameters": {
            place: {"dictionary": name, "probability": share} for place, (name, share) in CHOSEN.items()
        },
        # What came back, which has times in it, has no say in what is sent next: each run is the same.
        "generation": {"max-examples": examples, "deterministic": True},
        "phases": {
            "examples": {"enabled": "examples" in phases},
            "coverage": {"enabled": "coverage" in phases, "extra-data-sources": {"responses": False}},
            "fuzzing": {
                "enabled": "fuzzing" in phases,
                "extra-data-sources": {"responses": False},
                "error-feedback": {"enabled": False},
            },
            "stateful": {"enabled": "stateful" in phases},
        },
        # What fits the description may still are not valid: a class that is none, a file that is not what it says.
        "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "404", "409", "415", "422"]}},
    }


@pytest.fixture
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a campaign in which something has happened; it is called as it is in the examples."""
    storage = f"sqlite:///{tmp_path_factory.mktemp('schema') / 'campaigns.db'}"
    with serving(storage, label_studio_secret=SECRET) as running:
        _prepare(running)
        yield running


def _prepare(server: Running) -> None:
    campaign = server.client().create_campaign("tickets", models=["bert", "roberta", "gpt"], budget=100)
    rows = [["spam", "ham", "spam" if number % 3 else "ham"] for number in range(ROUNDS)]
    items = [{"text": f"message {number}"} for number in range(ROUNDS)]
    campaign.ask_many(rows, items=items, keys=[f"msg-{number}" for number in range(ROUNDS)])
    first, second, third, *_ = campaign.pending(10, lease=300)
    campaign.tell(first.id, "spam")
    campaign.skip(second.id)
    campaign.tell(third.id, "ham")
    campaign.retract(third.id)


def _schema(server: Running, phases: Sequence[str], examples: int) -> BaseSchema:
    config = schemathesis.Config.from_dict(_configuration(phases, examples))
    found = schemathesis.openapi.from_url(f"{server.url}{API}/openapi.json", config=config)
    return found.exclude(path_regex="/live$")  # it never ends: see below


class Run:
    """What came of many requests."""

    def __init__(self, schema: BaseSchema) -> None:
        self.faults: list[str] = []
        self.done: Counter[str] = Counter()
        """How often each operation was answered as it is meant to be."""
        self.checks: Counter[str] = Counter()
        for event in engine.from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                self._take(event.recorder)
            elif isinstance(event, events.NonFatalError):
                self.faults.append(f"{event.label}: {event.value!r}")
            elif isinstance(event, events.FatalError):
                raise event.exception

    def _take(self, recorder: ScenarioRecorder) -> None:
        for number, made in recorder.interactions.items():
            if made.response is not None and made.response.status_code < 300:
                self.done[recorder.cases[number].value.operation.label] += 1
        for check in (check for checks in recorder.checks.values() for check in checks):
            self.checks[check.name] += 1
            if check.failure_info is not None:
                failure = check.failure_info.failure
                self.faults.append(f"{check.name}: {failure.message}\n{check.failure_info.code_sample}")


# Seldom done by chance: deleting wants the name of the campaign twice (test_terms.py), beginning a campaign takes
# settings without a query, or a file with one (each has a test of its own below), and settling wants two people who
# disagree (test_overlap.py).
SELDOM_BY_CHANCE = {"delete", "create_campaign", "settle"}
CAMPAIGNS = f"{API}/campaigns"
ALWAYS = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
}


@pytest.mark.parametrize("examples", [5, pytest.param(400, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("tag", [tag["name"] for tag in TAGS])
def test_no_request_gets_an_answer_that_is_not_described(busy: Running, tag: str, examples: int) -> None:
    run = Run(_schema(busy, ("examples", "coverage", "fuzzing"), examples).include(tag=tag))
    assert run.faults == []
    assert set(run.checks) >= ALWAYS
    expected = {
        f"{one.method} {one.path}"
        for one in Api.of(busy.http).operations
        if tag in one.spec["tags"] and not one.path.endswith("/live") and one.id not in SELDOM_BY_CHANCE
    }
    assert expected - set(run.done) == set(), f"some were never answered as they are meant to be: {run.done}"


def _only_beginning(server: Running, kind: str, examples: int) -> BaseSchema:
    """How a campaign is started with one kind of body, as if there were no other."""
    document: dict[str, Any] = server.http.get(f"{API}/openapi.json").json()
    operation = document["paths"][CAMPAIGNS]["post"]
    operation["requestBody"]["content"] = {kind: operation["requestBody"]["content"][kind]}
    given = operation.pop("parameters")
    if kind == FILE_KIND:
        operation["parameters"] = [one | {"required": one["name"] in ("name", "filename")} for one in given]
    config = schemathesis.Config.from_dict(_configuration(("examples", "coverage", "fuzzing"), examples))
    found = schemathesis.openapi.from_dict(document, config=config)
    found.config.update(base_url=server.url)
    return found.include(path=CAMPAIGNS, method="POST")


@pytest.mark.parametrize("examples", [5, pytest.param(400, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("kind", ["application/json", FILE_KIND])
def test_a_campaign_is_begun_with_settings_or_with_a_file_as_described(
    busy: Running, kind: str, examples: int
) -> None:
    run = Run(_only_beginning(busy, kind, examples))
    assert run.faults == []
    assert set(run.checks) >= ALWAYS
    assert run.done[f"POST {CAMPAIGNS}"] > 0, "none was started"


@pytest.mark.parametrize("scenarios", [10, pytest.param(500, marks=pytest.mark.slow)], ids=["few", "many"])
def test_what_one_call_brings_can_be_used_in_the_next(busy: Running, scenarios: int) -> None:
    run = Run(_schema(busy, ("stateful",), scenarios))
    assert run.faults == []
    assert set(run.checks) >= {*ALWAYS, "use_after_free", "ensure_resource_availability"}


def test_what_is_followed_is_described_as_well(busy: Running) -> None:
    api = Api.of(busy.http)
    with busy.http.stream("GET", f"{API}/campaigns/tickets/live") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        told: dict[str, Any] = {}
        kind = ""
        for line in answer.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                kind = value
            elif field == "data":
                told[kind] = json.loads(value)
            if len(told) == 2:
                break
    assert api.faults("#/components/schemas/StandingDocument", told["standing"]) == []
    assert api.faults("#/components/schemas/ChartsDocument", told["charts"]) == []
    missing = busy.get("/campaigns/nobody/live")
    assert (missing.status_code, missing.headers["content-type"]) == (404, PROBLEM)
    api.check(missing)
