"""What the server says a campaign may be made with is what it takes."""

from typing import Any

import pytest

from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns.setting_options import SETTINGS
from modelpicker.options import Option
from tests.server.describing import Api
from tests.server.servers import API, Running


@pytest.fixture(scope="module")
def described(server: Running) -> dict[str, Any]:
    answer = server.get("/settings")
    Api.of(server.http).check(answer)
    found: dict[str, Any] = answer.raise_for_status().json()
    return found


def check(found: dict[str, Any], option: Option) -> None:
    """A document says what an option says about itself."""
    assert (found["name"], found["title"], found["help"]) == (option.name, option.label, option.help)
    assert (found["low"], found["high"]) == (option.low, option.high)
    assert (found["above"], found["below"]) == (option.above, option.below)
    assert option.required or found["default"] == option.default
    for part, one in zip(found["parts"], option.parts, strict=True):
        check(part, one)


def test_every_setting_is_described_as_it_is_declared(described: dict[str, Any]) -> None:
    for found, option in zip(described["settings"], SETTINGS, strict=True):
        check(found, option)
        assert found["required"] == option.required
    (algorithm,) = [found for found in described["settings"] if found["name"] == "algorithm"]
    assert algorithm["choices"] == list(ALGORITHMS)


def test_every_algorithm_is_described_as_it_describes_itself(described: dict[str, Any]) -> None:
    for found, kind in zip(described["algorithms"], ALGORITHMS.values(), strict=True):
        said = (found["name"], found["summary"], found["when_to_use"], found["promises"], found["stops"])
        assert said == (kind.name, kind.about.summary, kind.about.when_to_use, kind.about.promises, kind.stops)
        for one, option in zip(found["options"], kind.about.options, strict=True):
            check(one, option)
            assert one["choices"] == list(option.choices)
            assert not one["required"]  # a campaign has a value for each


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_campaign_can_be_made_with_the_defaults_and_with_nothing_beyond_the_range(
    server: Running, described: dict[str, Any], name: str, algorithm: str
) -> None:
    (found,) = [one for one in described["algorithms"] if one["name"] == algorithm]
    usual = {one["name"]: one["default"] for one in found["options"] if one["default"] is not None}
    body = {"name": name, "models": ["bert", "roberta"], "algorithm": algorithm, "options": usual}
    made = server.post("/campaigns", body)
    assert made.status_code == 201, made.text
    assert usual.items() <= made.json()["options"].items()
    numbers = [one for one in found["options"] if one["high"] is not None]
    for one in numbers:
        beyond = one["high"] if one["below"] else one["high"] * 2
        refused = server.post("/campaigns", body | {"name": f"{name}-2", "options": usual | {one["name"]: beyond}})
        assert refused.status_code == 422, one["name"]
        assert one["name"] in refused.json()["detail"]


def test_a_name_of_the_longest_length_is_taken_and_no_longer_one(
    server: Running, described: dict[str, Any]
) -> None:
    longest = "x" * described["longest_name"]
    assert server.post("/campaigns", {"name": longest, "models": 2}).status_code == 201
    assert server.post("/campaigns", {"name": f"{longest}x", "models": 2}).status_code == 422
    assert server.http.get(f"{API}/campaigns/{longest}").status_code == 200


def test_options_may_be_null_as_every_setting_that_has_no_default(server: Running, name: str) -> None:
    nothing = {option.name: None for option in SETTINGS if option.default is None}
    made = server.post("/campaigns", {"name": name, "models": 2, **nothing})
    assert made.status_code == 201, made.text
