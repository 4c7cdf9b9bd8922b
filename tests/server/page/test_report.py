"""The report in a real browser: it fits, prints, asks for nothing, and follows the colours of the system."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import modelpicker as mp

SIZES = [(1440, 900), (1024, 768), (390, 844)]


@pytest.fixture(scope="session")  # a worker may come back to this file
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports of a pool, of a stream, and of a campaign with strange names."""
    folder = tmp_path_factory.mktemp("reports")
    long = mp.create_campaign("memory://report-page", "strange", models=["m" * 400, "a <b>b</b>", "c"])
    for number in range(40):
        decision = long.ask(["x", "y", "x" if number % 3 else "z"])
        if decision.query:
            long.tell(decision.id, "x", annotator="w" * 200)
    made = {
        "pool": mp.pick("digits", tolerance=0.02).report("digits"),
        "stream": mp.pick("digits", algorithm="model-picker", budget=30).report("digits"),
        "strange": long.report(),
        "empty": mp.create_campaign("memory://report-empty", "empty", models=3).report(),
    }
    for name, page in made.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.mark.parametrize("name", ["pool", "stream", "strange", "empty"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_fits_every_screen_and_asks_for_nothing(
    browser: Browser, pages: dict[str, Path], name: str, scheme: str
) -> None:
    asked: list[str] = []
    said: list[str] = []
    for width, height in SIZES:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(pages[name].as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")
        assert page.locator("h1").is_visible()
        context.close()
    assert asked == [pages[name].as_uri()] * len(SIZES)
    assert said == []


def test_a_report_is_printed_in_dark_ink_on_white_also_where_the_screen_is_dark(
    browser: Browser, pages: dict[str, Path]
) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(pages["pool"].as_uri())
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    colours = page.evaluate("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    context.close()


def test_the_models_that_are_folded_away_open_without_a_script(browser: Browser, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["pool"].as_uri())
    assert page.locator("details table").is_hidden()
    page.locator("summary").click()
    assert page.locator("details table").is_visible()
    context.close()
