"""Forms as people leave them: untouched, or with any combination of what they may fill in."""

import re
from itertools import product
from typing import NamedTuple

import pytest
from playwright.sync_api import FilePayload, Page, expect

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns.setting_options import BY_NAME, PLAIN
from modelpicker.campaigns.settings import PoolGoal
from modelpicker.certificates.stop_rule import KIND
from tests.server.page.desks import campaign_of, messages
from tests.server.page.serving import Serving

ROWS = "id,text,bert,roberta,gpt\n" + "".join(
    f"msg-{place},Message number {place},spam,{'ham' if place % 2 else 'spam'},{'ham' if place % 3 else 'spam'}\n"
    for place in range(30)
)


def file_called(name: str) -> FilePayload:
    return {"name": name, "mimeType": "text/csv", "buffer": ROWS.encode()}


def create(page: Page) -> None:
    page.get_by_role("button", name="Create campaign").click()


FILES = {
    "untouched.csv": "untouched",
    "already there.csv": "already there 2",
    "predictions (1) [final], v2.csv": "predictions 1 final v2",
    "-(?).csv": "campaign",
    "ü.tar.csv": "ü.tar",
    "x" * 150 + ".csv": "x" * 95,
}


def test_a_file_and_one_press_make_a_campaign_whatever_the_file_is_called(page: Page, server: Serving) -> None:
    campaign_of(server.storage, "already there", messages(1))
    for filename, expected in FILES.items():
        page.goto(f"{server.url}/#/new")
        page.get_by_label("File of predictions").set_input_files(file_called(filename))
        expect(page.get_by_label("Name", exact=True)).to_have_value(expected)
        create(page)
        expect(page.locator(".class-button")).to_have_text(["ham1", "spam2"])
        campaign = mp.open_campaign(server.storage, expected)
        assert (campaign.rounds, campaign.budget, campaign.classes) == (30, None, None)
        assert campaign.settings.pool == PoolGoal(tolerance=0.01, confidence=0.95)


class Filled(NamedTuple):
    """What is filled in of a form."""

    budget: bool
    expected: bool
    stop: bool
    closed: bool
    algorithm: str = "model-picker"


EITHER = (False, True)
EVERY_WAY = [Filled(*chosen) for chosen in product(EITHER, EITHER, EITHER, EITHER)]
EVERY_ALGORITHM = [Filled(full, full, full, full, name) for name in ALGORITHMS for full in (False, True)]


def fill(page: Page, filled: Filled) -> None:
    if filled.budget:
        page.get_by_label("Budget", exact=True).fill("12")
    if filled.expected:
        page.get_by_label("Expected items").fill("500")
    if filled.stop:
        page.get_by_label("Stop when certified within (%)").fill("2.5")
    if filled.closed:
        page.get_by_label("Only these").check()
        page.get_by_label("Classes, one per line").fill("spam\nham")
    if filled.algorithm != "model-picker":
        page.get_by_text("More", exact=True).click()
        page.get_by_label("Algorithm").select_option(filled.algorithm)


EVERYTHING = [
    pytest.param(EVERY_WAY, id="fields"),
    pytest.param(EVERY_ALGORITHM, id="algorithms", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("some", EVERYTHING)
def test_whatever_is_filled_in_or_left_out_a_campaign_is_made_as_it_says(
    page: Page, server: Serving, name: str, some: list[Filled]
) -> None:
    for number, filled in enumerate(some):
        page.goto(f"{server.url}/#/new")
        page.get_by_label("Items arrive over time").check()
        page.get_by_label("Or the names of the models").fill("bert\nroberta\ngpt")
        page.get_by_label("Name", exact=True).fill(f"{name}-{number}")
        fill(page, filled)
        create(page)
        expect(page.get_by_role("heading", name="Add predictions")).to_be_visible()
        settings = mp.open_campaign(server.storage, f"{name}-{number}").settings
        assert settings.kind.name == filled.algorithm
        assert settings.budget == (12 if filled.budget else None)
        assert settings.expected_rounds == (500 if filled.expected else None)
        assert settings.classes == (("spam", "ham") if filled.closed else None)
        if filled.algorithm == "race":
            assert (settings.stop_when, settings.options.get("tolerance")) == (None, 0.025 if filled.stop else None)
        else:
            assert settings.stop_when == (mp.Certified(gap=0.025) if filled.stop else None)


# For every option of every algorithm, something to type that is not its default.
TYPED = {
    "probability": 0.25,
    "classes": 3,
    "beta": 0.5,
    "c0": 0.002,
    "delta": 0.05,
    "window": 300,
    "confidence": 0.9,
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_form_has_the_options_of_the_algorithm_and_sends_what_is_typed(
    page: Page, server: Serving, name: str, algorithm: str
) -> None:
    kind = ALGORITHMS[algorithm]
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("Or the names of the models").fill("bert\nroberta\ngpt")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Algorithm").select_option(algorithm)
    expect(page.locator("details .field").first).to_contain_text(kind.about.summary)
    expect(page.get_by_label("Algorithm").locator("option:checked")).to_contain_text(kind.about.when_to_use)
    options = [option for option in kind.about.options if not (kind.stops and option.name == "tolerance")]
    expect(page.locator("details .field label")).to_have_text(
        ["Algorithm", *(option.label for option in options), "Seed"]
    )
    sent: dict[str, object] = {}
    for option in options:
        field = page.locator("details").get_by_label(option.label, exact=True)
        expect(field).to_have_accessible_description(option.help)
        if option.choices:
            other = next(choice for choice in option.choices if choice != option.default)
            if option.name == "recommend":  # which does not go with a window
                continue
            field.select_option(other)
            sent[option.name] = other
        else:
            sent[option.name] = TYPED.get(option.name, 0.5)
            field.fill(str(sent[option.name]))
    create(page)
    expect(page.get_by_role("heading", name="Add predictions")).to_be_visible()
    assert mp.open_campaign(server.storage, name).settings.options == sent


def test_the_form_has_every_setting_with_its_title_its_help_and_its_range(page: Page, server: Serving) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_text("More", exact=True).click()
    for option in (*PLAIN, BY_NAME["seed"]):
        field = page.get_by_label(option.label, exact=True)
        expect(field).to_have_accessible_description(option.help)
        if option.choices:
            expect(field.locator("option")).to_have_text(list(option.choices))
            expect(field).to_have_value(str(option.default))
            continue
        expect(field).to_have_attribute("min", str(option.low))
        expect(field).to_have_attribute("placeholder", "" if option.default is None else str(option.default))
        field.fill(str((option.low or 0) - 1))
        assert field.evaluate("field => field.validity.rangeUnderflow")
        field.fill("")
    rule = BY_NAME["stop_when"]
    expect(page.get_by_label(rule.label, exact=True)).to_have_accessible_description(rule.help)
    expect(page.get_by_label("Algorithm")).to_have_value(str(BY_NAME["algorithm"].default))
    expect(page.get_by_label(KIND.label).locator("option")).to_have_text(list(KIND.choices))


@pytest.mark.slow
def test_a_form_that_the_server_cannot_describe_yet_comes_as_soon_as_it_can(page: Page, server: Serving) -> None:
    described = re.compile(r"/v1/settings")
    page.route(described, lambda route: route.fulfill(status=503, json={"detail": "Not now."}))
    page.goto(f"{server.url}/#/new")
    expect(page.get_by_role("heading", name="New campaign")).to_be_visible()
    expect(page.get_by_text("Not now.")).to_be_visible()
    page.unroute(described)
    expect(page.get_by_label("Labels at most", exact=True)).to_be_visible()
    page.route(described, lambda route: route.fulfill(status=403, json={"detail": "Not you."}))
    page.reload()
    expect(page.get_by_text("Not you.")).to_be_visible()


def test_classes_that_the_list_lacks_are_named_before_anything_is_created(
    page: Page, server: Serving, name: str
) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("File of predictions").set_input_files(file_called(f"{name}.csv"))
    page.get_by_label("Only these").check()
    classes = page.get_by_label("Classes, one per line")
    classes.fill("spam\nurgent")
    create(page)
    lacking = "The file has a class that is not in the list: ham."
    expect(page.locator(".form-error")).to_contain_text(lacking, timeout=20_000)
    assert name not in [summary.name for summary in mp.list_campaigns(server.storage)]
    classes.fill("spam\nham\nurgent")
    create(page)
    expect(page.locator(".class-button")).to_have_text(["spam1", "ham2", "urgent3"])
    assert mp.open_campaign(server.storage, name).classes == ("spam", "ham", "urgent")


def test_a_form_that_changed_after_its_campaign_was_made_needs_another_name(
    page: Page, server: Serving, name: str
) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("File of predictions").set_input_files(file_called(f"{name}.csv"))
    refused = re.compile(r"/campaigns/[^/]+/files")
    page.route(refused, lambda route: route.fulfill(status=422, json={"detail": "Not this file."}))
    create(page)
    expect(page.locator(".form-error")).to_have_text("Not this file.")
    page.unroute(refused)
    page.get_by_label("Budget", exact=True).fill("12")
    create(page)
    expect(page.locator(".form-error")).to_contain_text("Choose another name")
    page.get_by_label("Budget", exact=True).fill("")  # as it was: the file goes to the campaign that is there
    create(page)
    expect(page.get_by_role("article")).to_be_visible()
    campaign = mp.open_campaign(server.storage, name)
    assert (campaign.rounds + sum(campaign.waiting_items().values()), campaign.budget) == (30, None)


def test_one_model_is_too_few(page: Page, server: Serving, name: str) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    button, few = page.get_by_role("button", name="Create"), page.get_by_text("At least two models are needed.")
    for models, enough in (("bert", False), ("bert\n bert \n", False), ("bert\ngpt", True)):
        page.get_by_label("Or the names of the models").fill(models)
        expect(few).to_have_count(0 if enough else 1)
        expect(button).to_be_enabled(enabled=enough)
    page.get_by_label("File of predictions").set_input_files(file_called(f"{name}.csv"))
    expect(page.get_by_text("30 items, 3 models, 2 classes.")).to_be_visible()
    for model in ("bert", "roberta"):
        page.get_by_label(f"What {model} is").select_option("left out")
    expect(few).to_be_visible()
    expect(button).to_be_disabled()
    page.get_by_label("What bert is").select_option("model")
    expect(few).to_have_count(0)
    expect(button).to_be_enabled()
    page.route(
        re.compile(r"/v1/files"), lambda route: route.fulfill(status=422, json={"detail": "It cannot be read so."})
    )
    page.get_by_label("What gpt is").select_option("shown")
    expect(page.locator(".form-error")).to_have_text("It cannot be read so.")
    expect(page.locator(".seen")).to_have_text("")
    expect(button).to_be_disabled()


def test_a_form_without_what_it_needs_says_so_and_sends_nothing(page: Page, server: Serving) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.method == "POST" else None)
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    create(page)
    assert page.evaluate("document.activeElement.matches(':invalid')")
    page.get_by_label("Or the names of the models").fill("bert\nroberta")
    create(page)
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.goto(f"{server.url}/#/c/nothing/files")
    page.get_by_role("heading", name="Not found").wait_for()
    assert sent == []


def test_an_upload_without_a_file_says_so_and_sends_nothing(page: Page, server: Serving, name: str) -> None:
    campaign_of(server.storage, name, [])
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.method == "POST" else None)
    page.goto(f"{server.url}/#/c/{name}/files")
    page.get_by_role("button", name="Upload").click()
    assert page.evaluate("document.activeElement.matches('input[type=file]:invalid')")
    assert sent == []
