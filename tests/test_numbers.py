"""Numbers that no parameter can hold: each is an InputError that names the parameter."""

import inspect
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS
from modelpicker.algorithms.registry import make_algorithm
from modelpicker.campaigns.export import export_campaign, import_campaign
from tests.cli.running import run

NEVER = {
    "a thousand digits": 10**1000,
    "a thousand digits below zero": -(10**1000),
    "five thousand digits": 10**5000,
    "infinity": math.inf,
    "not a number": math.nan,
    "a string": "1e999",
    "true": True,
}
SELDOM = {"minus zero": -0.0, "2**63": 2**63, "2**64": 2**64, "1e308": 1e308, "-1": -1}
VALUES = NEVER | SELDOM
OPTIONS = [
    (name, option)
    for name, kind in ALGORITHMS.items()
    for option in inspect.signature(kind.__init__).parameters
    if option not in ("self", "models", "predict", "recommend")
]


def refusal(call: Callable[[], object]) -> mp.ModelPickerError | None:
    """The error that a call is refused with; None if it is not. Any other error is a mistake of ours."""
    try:
        call()
    except mp.ModelPickerError as error:
        return error
    return None


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=[f"{one}.{other}" for one, other in OPTIONS])
def test_an_option_is_taken_and_works_or_is_an_error_that_names_it(name: str, option: str, value: Any) -> None:
    seed = value if option == "seed" else 0
    given = {} if option == "seed" else {option: value}
    error = refusal(lambda: make_algorithm(ALGORITHMS[name], 3, seed, given, 2))
    if error is not None:
        assert isinstance(error, mp.InputError)
        assert error.parameter == option
        assert option in str(error)
        return
    assert value in SELDOM.values(), "nothing about that kind is ever right"
    picker = make_algorithm(ALGORITHMS[name], 3, seed, given, 2)
    for number in range(30):
        made = picker.observe([number % 2, 1, 0])
        if made.query:
            picker.learn(made.round, 1)
    assert all(math.isfinite(loss) for loss in picker.losses.tolist())


@pytest.fixture
def campaign() -> mp.Campaign:
    """A campaign with a query that waits."""
    options = {"probability": 1.0}
    made = mp.create_campaign("memory://numbers", "n", models=3, algorithm="label-efficient", options=options)
    made.ask([0, 1, 1])
    return made


@pytest.fixture(autouse=True)
def _forget() -> Any:
    from modelpicker.campaigns.storage.database import open_storage

    yield
    open_storage("memory://numbers", create=True).close()


def create(**settings: Any) -> mp.Campaign:
    return mp.create_campaign("memory://numbers", "new", **({"models": 3} | settings))


PARAMETERS: dict[str, Callable[[mp.Campaign, Any], object]] = {
    "models": lambda _, value: create(models=value),
    "budget": lambda _, value: create(budget=value),
    "expected_rounds": lambda _, value: create(budget=3, expected_rounds=value),
    "seed": lambda _, value: create(seed=value),
    "gap": lambda _, value: mp.Certified(gap=value),
    "confidence": lambda campaign, value: campaign.certificate(value),
    "lease": lambda campaign, value: campaign.pending(1, lease=value),
    "most": lambda campaign, value: campaign.pending(value),
    "items": lambda _, value: mp.synthetic_collection(value, 3, 2, [0.5, 0.6, 0.7], 0),
    "difficulty": lambda _, value: mp.synthetic_collection(9, 3, 2, [0.5, 0.6, 0.7], 0, difficulty=value),
}
NAMES: dict[str, Callable[[mp.Campaign, Any], object]] = {
    "model": lambda _, value: create(models=["a", value]),
    "class": lambda _, value: create(classes=[0, value]),
    "prediction": lambda campaign, value: campaign.ask([0, value, 1]),
    "predictions": lambda campaign, value: campaign.ask_many([[0, value, 1]]),
    "item": lambda campaign, value: campaign.ask([0, 1, 1], item={"x": value}),
    "id": lambda campaign, value: campaign.tell(value, 1),
    "label": lambda campaign, value: campaign.tell(0, value),
    "retraction": lambda campaign, value: campaign.retract(value),
    "release": lambda campaign, value: campaign.release(value),
    "joins": lambda campaign, value: campaign.join(value),
    "leaves": lambda campaign, value: campaign.leave(value),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_parameter_is_taken_or_is_an_error_that_names_it(
    campaign: mp.Campaign, parameter: str, value: Any
) -> None:
    error = refusal(lambda: PARAMETERS[parameter](campaign, value))
    if error is None:
        assert value in SELDOM.values(), "nothing about that kind is ever right"
    else:
        assert isinstance(error, mp.InputError)
        assert error.parameter == parameter
        assert parameter in str(error)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("use", NAMES.values(), ids=NAMES)
def test_a_number_that_is_a_name_is_taken_or_refused(
    campaign: mp.Campaign, use: Callable[[mp.Campaign, Any], object], value: Any
) -> None:
    error = refusal(lambda: use(campaign, value))
    assert error is None or str(error)
    assert campaign.best().rounds >= 1
    assert list(campaign.history())


# JSON, as it stands in a file: Python writes infinity and NaN in its own way.
WRITTEN = (
    "1" + "0" * 1000,
    "-1" + "0" * 1000,
    "9" * 5000,
    "1e400",
    "NaN",
    "Infinity",
    '"1e999"',
    "true",
    str(2**64),
)
HEADER = ("events", "seed", "budget", "expected_rounds", "models", "created", "stop_when", "options")
RECORD = ("event", "id", "probability", "pace", "predictions", "recommended", "prediction", "label", "round")


@pytest.mark.parametrize("value", WRITTEN, ids=range(len(WRITTEN)))
@pytest.mark.parametrize("field", [*HEADER, *RECORD])
def test_a_number_in_an_exported_campaign_is_read_or_refused(
    campaign: mp.Campaign, tmp_path: Path, field: str, value: str
) -> None:
    campaign.tell(0, 1)
    file = tmp_path / "campaign.jsonl"
    export_campaign(campaign, file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[:1] if field in HEADER else lines[1:]:
        if field in line:
            line[field] = "@"
    file.write_text("".join(json.dumps(line).replace('"@"', value) + "\n" for line in lines))
    error = refusal(lambda: import_campaign("memory://numbers", file, "again").best())
    assert error is None or str(file) in str(error)


TYPED = ("1" + "0" * 1000, "-1" + "0" * 1000, "9" * 5000, "1e400", "nan", "true")
VERBS = {
    "--budget": ("create", "n", "--models", "a,b", "--budget"),
    "--expected-rounds": ("create", "n", "--models", "a,b", "--budget", "3", "--expected-rounds"),
    "--seed": ("create", "n", "--models", "a,b", "--seed"),
    "--stop-gap": ("create", "n", "--models", "a,b", "--stop-gap"),
    "--confidence": ("create", "n", "--models", "a,b", "--stop-gap", "0.1", "--confidence"),
    "--items": ("collections", "make", "out.npz", "--items"),
    "--classes": ("collections", "make", "out.npz", "--classes"),
    "--port": ("serve", "--host", " ", "--port"),
    "classes": ("create", "n", "--models", "a,b", "--algorithm", "vote-entropy", "--option", "classes=@"),
    "tolerance": ("create", "n", "--models", "a,b", "--algorithm", "race", "--option", "tolerance=@"),
    "window": ("create", "n", "--models", "a,b", "--option", "window=@"),
    "query_scale": ("create", "n", "--models", "a,b", "--option", "query_scale=@"),
}


@pytest.mark.parametrize("value", TYPED, ids=range(len(TYPED)))
@pytest.mark.parametrize("option", VERBS)
def test_a_number_on_the_command_line_is_refused_by_name(tmp_path: Path, option: str, value: str) -> None:
    *verb, last = VERBS[option]
    arguments = [*verb, last.replace("@", value)] if "@" in last else [*verb, last, value]
    done = run(*arguments, folder=tmp_path, COLUMNS="20000")
    assert done.returncode in (1, 2)
    assert option.strip("-").replace("-", "_") in done.stderr.replace("-", "_")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", TYPED, ids=range(len(TYPED)))
@pytest.mark.parametrize("setting", ["port", "largest_body", "largest_file"])
def test_a_number_in_the_settings_is_refused_by_name(tmp_path: Path, setting: str, value: str) -> None:
    (tmp_path / "modelpicker.toml").write_text(f"[serve]\n{setting} = {value}\n")
    done = run("serve", folder=tmp_path, COLUMNS="20000")
    assert done.returncode in (1, 2)
    assert setting in done.stderr or "modelpicker.toml cannot be read" in done.stderr
