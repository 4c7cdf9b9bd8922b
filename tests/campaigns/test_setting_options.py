"""Settings of campaigns are described once: signatures, schemas, options and documents have exactly these."""

import inspect
import json
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import pytest

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns.export import export_campaign
from modelpicker.campaigns.setting_options import ADDED_LATER, BY_NAME, FIRST, PLAIN, POOL_GOAL, SETTINGS
from modelpicker.campaigns.settings import CampaignSettings, settings_checksum, stored_settings
from modelpicker.certificates.stop_rule import STOP_RULE
from modelpicker.cli.create import create
from modelpicker.collections.column_roles import Role
from modelpicker.options import REQUIRED, Option
from modelpicker.server.api.documents.campaigns import Described, NewCampaign
from tests.cli.running import run

NAMES = [option.name for option in SETTINGS]
# What the library takes besides, for a campaign on a pool; then the models are those of the pool.
COST_NAMES = ["slice", "loss", "price", "label_noise"]
SENT_FOR_POOLS = ["pool", "columns", *(option.name for option in POOL_GOAL), "use_labels", "judge", *COST_NAMES]
FOR_POOLS = ["pool", *(option.name for option in POOL_GOAL), "use_labels", "judge", "warm", *COST_NAMES, "progress"]
# A value for every setting that is not its default.
OTHER: dict[str, Any] = {
    "models": ["bert", "roberta"],
    "classes": ["ham", "spam"],
    "budget": 7,
    "budget_way": "cap",
    "expected_rounds": 70,
    "stop_when": mp.Certified(gap=0.02),
    "overlap": 2,
    "overlap_rule": "majority",
    "ask_for": "grades",
    "same": "normalised",
    "missing": "not-run",
    "seed": 3,
    "algorithm": "label-efficient",
    "options": {"probability": 0.5},
}


def test_there_is_a_value_for_every_setting_here() -> None:
    assert set(OTHER) == set(NAMES)


@pytest.mark.parametrize("function", [mp.create_campaign, mp.Client.create_campaign], ids=["library", "client"])
def test_signatures_have_every_setting_with_its_default(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    keywords = {name: one for name, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}
    assert keywords.pop("guidelines").default == ""  # no setting: it is a term that can be revised
    assert list(keywords) == NAMES + (FOR_POOLS if function is mp.create_campaign else SENT_FOR_POOLS)
    for option in SETTINGS:
        expected = None if option.required else option.default
        assert keywords[option.name].default == expected, option.name


@pytest.mark.parametrize("function", [mp.create_campaign, mp.Client.create_campaign], ids=["library", "client"])
def test_signatures_have_the_types_of_the_settings(function: Any) -> None:
    hints = get_type_hints(function, localns={"Role": Role})
    wanted: dict[type, set[Any]] = {
        int: {int},
        float: {float},
        str: {str, type[mp.Algorithm]},
        list: {typing.Sequence, int},
        dict: {Mapping, mp.Certified},
    }
    for option in SETTINGS:
        hint = hints[option.name]
        union = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        optional = option.default is None or option.required
        assert (type(None) in union) == optional, option.name
        if option.choices:
            assert set(get_args(hint)) == set(option.choices), option.name
            continue
        if option.name == "same":  # a word, or a tolerance
            union = (str,)
        kinds = {typing.get_origin(one) or one for one in union if one not in (type(None), type[mp.Algorithm])}
        known = {typing.get_origin(one) or one for one in wanted[option.type]}
        assert kinds <= known, option.name


def test_the_documentation_of_create_campaign_says_what_the_description_says() -> None:
    words = " ".join(str(mp.create_campaign.__doc__).split())
    for option in SETTINGS:
        assert f"{option.name}: {option.help}" in words


def test_the_settings_have_a_field_for_each_plain_one() -> None:
    fields = CampaignSettings.__dataclass_fields__
    assert [option.name for option in PLAIN if option.name not in fields] == []


def test_what_the_api_takes_and_sends_has_every_setting() -> None:
    taken = NewCampaign.model_json_schema()
    assert set(taken["properties"]) == {"name", "guidelines", "loss", "price", *NAMES}
    assert set(taken["required"]) == {"name", *(option.name for option in SETTINGS if option.required)}
    assert set(NAMES) <= set(Described.model_json_schema()["required"])
    for option in SETTINGS:
        field = taken["properties"][option.name]
        assert field["description"] == option.help
        assert field.get("default", REQUIRED) == option.default
    assert taken["properties"]["algorithm"]["enum"] == list(ALGORITHMS)


def test_what_the_api_takes_has_the_ranges_of_the_description() -> None:
    schema = NewCampaign.model_json_schema()
    bounded = [
        *((option, schema["properties"][option.name]) for option in (*PLAIN, BY_NAME["seed"])),
        *((part, schema["$defs"]["StoppingRule"]["properties"][part.name]) for part in STOP_RULE),
    ]
    for option, found in bounded:
        field = next((one for one in found.get("anyOf", ()) if one.get("type") != "null"), found)
        low = field.get("exclusiveMinimum" if option.above else "minimum")
        high = field.get("exclusiveMaximum" if option.below else "maximum")
        assert (low, high) == (option.low, option.high), option.name
        assert tuple(field.get("enum", ())) == option.choices, option.name
    assert len(bounded) >= 6


def test_the_command_line_has_an_option_for_every_setting() -> None:
    shown = " ".join(run("create", "--help").stdout.split())
    said = {"stop_when": "stop-gap", "options": "option"}  # which are given part by part
    for option in SETTINGS:
        assert f"--{said.get(option.name, option.name).replace('_', '-')} " in shown
        if option.name not in said and option.name != "algorithm":
            assert option.help in shown
    parameters = inspect.signature(create).parameters
    assert [parameters[option.name].default for option in PLAIN] == [option.default for option in PLAIN]


def test_every_setting_that_is_given_arrives_and_is_stored_exported_and_loaded(memory: str, tmp_path: Any) -> None:
    usual = mp.create_campaign(memory, "usual", models=2).settings.document()
    changed: set[str] = set()
    for number, apart in enumerate(({"overlap"}, {"budget", "budget_way"})):  # they do not go together on a stream
        given = {name: value for name, value in OTHER.items() if name not in apart | {"ask_for"}}
        made = mp.create_campaign(memory, f"tickets {number}", **given)
        document = made.settings.document()
        assert list(document) == NAMES
        changed |= {name for name in NAMES if document[name] != usual[name]}
        assert CampaignSettings.load(json.loads(json.dumps(document))) == made.settings
        export_campaign(made, tmp_path / "out.jsonl")
        header = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
        assert stored_settings(header) == document
    pool = mp.create_campaign(memory, "pool", pool=[["a", "b"]], ask_for=OTHER["ask_for"])  # which needs a pool
    assert CampaignSettings.load(pool.settings.document()) == pool.settings
    changed |= {name for name in ("ask_for",) if pool.settings.document()[name] != usual[name]}
    assert changed == set(NAMES)


def test_a_setting_that_older_campaigns_lack_changes_no_checksum() -> None:
    settings = CampaignSettings.check(models=["a", "b"], budget=3)
    document = settings.document()
    older = {name: value for name, value in document.items() if name in FIRST}
    assert set(document) - set(older) == set(ADDED_LATER)
    assert settings_checksum(older) == settings_checksum(document) == settings.checksum
    assert stored_settings(older) == document
    assert settings_checksum(document | {"stop_when": {"gap": 0.5}}) != settings.checksum


def test_a_setting_that_is_not_described_is_refused_and_one_that_is_missing_is_noticed() -> None:
    with pytest.raises(TypeError, match="no setting bugdet"):
        CampaignSettings.check(models=2, bugdet=3)
    with pytest.raises(KeyError, match="models"):
        CampaignSettings.check(budget=3)
    document = CampaignSettings.check(models=2).document()
    for name in FIRST:
        with pytest.raises(KeyError, match=name):
            stored_settings({key: value for key, value in document.items() if key != name})


@pytest.mark.parametrize("option", [*PLAIN, *STOP_RULE], ids=lambda option: str(option.name))
def test_every_value_is_checked_as_it_is_described(option: Option) -> None:
    if option.default is not REQUIRED:
        assert option.check(option.default) == option.default
    wrong: list[Any] = ["no such word", True, [], float("nan")]
    if option.low is not None:
        wrong += [option.low if option.above else option.low - 1]
    if option.high is not None:
        wrong += [option.high if option.below else option.high * 2]
    for value in wrong:
        with pytest.raises(mp.InputError, match=re.escape(f"{option.name}=")) as caught:
            option.check(value)
        assert caught.value.parameter == option.name
