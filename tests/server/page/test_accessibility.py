"""Everybody can use it: axe-core finds nothing serious, a keyboard is enough, and so is a phone."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

import modelpicker as mp
from tests.server.page.conftest import Watch
from tests.server.page.desks import UNSEEN, answers, campaign_of, digits_campaign, messages, settled
from tests.server.page.serving import Serving

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
LONG = "a-model-with-a-name-that-goes-on-and-on-" * 4
SPECIES = [f"species {number:04d} {'with a long name ' * 4}" for number in range(100)]
READY = {
    "#/": ".campaign-card",
    "#/new": "form",
    "#/c/digits/label": ".class-button",
    "#/c/species/label": "[role=option]",
    "#/c/long/label": ".class-button",
    "#/c/digits/standing": ".plot path",
    "#/c/long/standing": ".board",
    "#/c/sliced/standing": ".slices",
    "#/c/empty/standing": ".headline",
    "#/c/empty/label": "text=Nothing to label just now",
    "#/c/digits/files": ".downloads",
    "#/c/digits/labels": ".label-row",
    "#/c/opinions/labels": ".agreement-table",
    "#/c/digits/settings": ".facts",
    "#/c/long/settings": ".facts",
    "#/preferences": ".tokens form",
    "#/nowhere": "text=Not found",
}


@pytest.fixture(scope="module")
def full(server: Serving) -> Serving:
    """A server with campaigns of all kinds."""
    digits_campaign(server.storage, "digits", 200, labelled=15)
    campaign_of(server.storage, "species", messages(9), classes=SPECIES)
    item = {"text": "x" * 5_000, "url": "https://example.org/" + "y" * 300, "meta": {"deep": ["z" * 200]}}
    models = [f"{LONG}{number}" for number in range(15)]
    campaign_of(server.storage, "long", [item] * 60, classes=["w" * 120, "spam", "ham"], models=models)
    campaign_of(server.storage, "empty", [])
    pool = mp.ModelCollection([["spam", "ham"], ["ham", "spam"]] * 30, models=models[:2])
    sliced = mp.create_campaign(server.storage, "sliced", pool=pool, slice=["en", f"slice-{'x' * 90}", ""] * 20)
    sliced.tell(sliced.pending(1)[0].id, "spam")
    two = mp.create_campaign(server.storage, "opinions", models=2, overlap=2, options={"query_scale": 1e6})
    two.ask(["spam", "ham"], item={"text": "x" * 500})
    two.tell(0, "spam", annotator=f"mia-{'with-a-long-name-' * 5}")
    two.tell(0, "ham", annotator="tom")
    return server


def page_of(browser: Browser, watch: Watch, colours: Literal["light", "dark"], width: int) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 740},
        color_scheme=colours,
        reduced_motion="reduce",
        has_touch=width < 600,
    )
    watch.over(context)
    return context.new_page()


def serious(page: Page, *rules: str) -> list[str]:
    """What axe-core finds that is serious or worse, by all its rules or by some."""
    page.evaluate(AXE)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("colours", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(
    browser: Browser, watch: Watch, full: Serving, colours: Literal["light", "dark"]
) -> None:
    rules = ("color-contrast",) if colours == "dark" else ()  # nothing else depends on colours
    page = page_of(browser, watch, colours, 1280)
    for route, ready in READY.items():
        page.goto(f"{full.url}/{route}")
        page.locator(ready).first.wait_for()
        assert (route, serious(page, *rules)) == (route, [])
    page.goto(f"{full.url}/#/c/digits/label")
    page.locator(".class-button").first.wait_for()
    page.keyboard.press("p")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious(page, *rules) == []
    page.context.close()


def test_axe_finds_a_picture_that_nobody_describes(page: Page, full: Serving) -> None:
    """Or the tests around this one could not fail."""
    page.goto(f"{full.url}/#/nowhere")
    page.get_by_text("Not found").first.wait_for()
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [found.partition(":")[0] for found in serious(page)] == ["image-alt"]


def test_axe_finds_nothing_serious_where_there_is_nothing_or_no_token(page: Page, server: Serving) -> None:
    page.route("**/api/v1/campaigns", lambda route: route.fulfill(json={"campaigns": []}))
    page.goto(server.url)
    page.get_by_text("No campaigns yet").wait_for()
    assert serious(page) == []
    nobody = {"authenticated": False, "role": None, "tokens_needed": True, "demo": False}
    page.route("**/api/v1/session", lambda route: route.fulfill(json=nobody))
    page.reload()
    page.get_by_label("Token").wait_for()
    assert serious(page) == []


def test_nothing_scrolls_sideways_on_a_phone(browser: Browser, watch: Watch, full: Serving) -> None:
    page = page_of(browser, watch, "light", 360)
    for route, ready in READY.items():
        page.goto(f"{full.url}/{route}")
        page.locator(ready).first.wait_for()
        assert (route, page.evaluate("document.documentElement.scrollWidth")) == (route, 360)
    page.context.close()


def test_on_a_phone_the_classes_stay_within_reach(browser: Browser, watch: Watch, full: Serving) -> None:
    page = page_of(browser, watch, "light", 360)
    for name in ("long", "digits"):
        page.goto(f"{full.url}/#/c/{name}/label")
        page.locator(".label-actions button").first.wait_for()
        page.locator(".class-button").first.wait_for()
        buttons = page.locator(".class-button, .label-actions button").all()
        assert len(buttons) > 3
        for button in buttons:
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["y"] + box["height"] <= 740
    page.context.close()


def test_a_keyboard_is_enough(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3))
    page.goto(server.url)
    page.get_by_role("heading", name="Campaigns").wait_for()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    link = page.get_by_role("link", name=f"Label {name}", exact=False).first
    for _ in range(100):
        page.keyboard.press("Tab")
        if link.evaluate("(element) => element === document.activeElement"):
            break
    assert link.evaluate("(element) => getComputedStyle(element).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("article")).to_contain_text("Message number 0")
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("2")
    expect(page.get_by_role("article")).to_contain_text("Message number 1")
    button = page.locator(".class-button").first
    for _ in range(20):
        page.keyboard.press("Tab")
        if button.evaluate("(element) => element === document.activeElement"):
            break
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("Space")
    expect(page.get_by_role("article")).to_contain_text("Message number 2")
    settled(page)
    assert answers(campaign) == {0: "ham", 1: "spam"}
