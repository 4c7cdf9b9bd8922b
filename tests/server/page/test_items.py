"""What items look like, whatever is in them."""

from playwright.sync_api import Page, expect

from tests.server.page.desks import Desk, campaign_of, messages
from tests.server.page.serving import Serving

RIGHT_TO_LEFT = "\u202e"
SCRIPT = "<script>window.ran = true; alert(1)</script>"
HANDLER = "<img src=x onerror='window.ran = true; alert(2)'>"
SVG = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(3)'><script>alert(4)</script></svg>"


def test_a_megabyte_of_text_is_cut_and_shown_on_demand(page: Page, server: Serving, name: str) -> None:
    campaign_of(server.storage, name, [{"text": "word " * 200_000 + "the end"}, {"text": "short"}])
    desk = Desk(page, server.url, name).open()
    expect(desk.item).to_contain_text("word word")
    assert len(desk.item.inner_text()) < 25_000
    page.get_by_role("button", name="Show all 1,000,007 characters").click()
    expect(desk.item).to_contain_text("the end")
    desk.press("1")
    desk.sees("short")


def test_fields_and_nested_values_are_shown(page: Page, server: Serving, name: str) -> None:
    item = {"sender": "shop@example.org", "score": 0.25, "seen": None, "meta": {"tags": ["a", "b"]}}
    campaign_of(server.storage, name, [item, None])
    desk = Desk(page, server.url, name).open()
    expect(desk.item.locator("dt")).to_have_text(["sender", "score", "seen", "meta"])
    expect(desk.item.locator("dd")).to_contain_text(["shop@example.org", "0.25", "null", '"tags": ['])
    desk.press("1")
    expect(desk.item.locator(".item-plain")).to_have_text("msg-1")


def test_hostile_content_is_text_and_nothing_else(page: Page, server: Serving, name: str) -> None:
    hostile = {
        "text": SCRIPT + HANDLER + RIGHT_TO_LEFT + "desrever &lt;b&gt;",
        "image": "https://elsewhere.example/pixel.png",
        "drawing": SVG,
        "link": "javascript:window.ran=true",
        HANDLER: HANDLER,
        "nested": {"__proto__": SCRIPT, "html": HANDLER},
    }
    classes = [HANDLER, f"{RIGHT_TO_LEFT}evil", "&lt;b&gt;bold&lt;/b&gt;"]
    models = [SCRIPT[:60], f"{HANDLER}{RIGHT_TO_LEFT}", "a" * 200]
    campaign_of(server.storage, name, [hostile, *messages(2)], classes=classes, models=models)
    desk = Desk(page, server.url, name).open()
    expect(desk.item).to_contain_text(SCRIPT)
    expect(desk.class_button("&lt;b&gt;")).to_be_visible()
    remote = desk.item.get_by_role("link")
    expect(remote).to_have_attribute("rel", "noreferrer noopener")
    expect(remote).to_have_text("https://elsewhere.example/pixel.png")
    assert desk.item.locator("[href^='javascript']").count() == 0
    assert desk.item.locator("img").evaluate_all("images => images.map((image) => image.src.slice(0, 15))") == [
        "data:image/svg+"
    ]
    names = page.locator(".class-button bdi")
    expect(names).to_have_count(len(classes))
    for element in names.all():  # letters that turn text around do not leak
        expect(element).to_have_css("unicode-bidi", "isolate")
    page.keyboard.press("p")
    desk.press("2")
    desk.sees("Message number 0")
    expect(desk.status.locator("strong bdi")).to_have_css("unicode-bidi", "isolate")
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.get_by_role("rowheader", name=SCRIPT[:60])).to_be_visible()
    expect(page.locator(".disagreement")).to_contain_text(SCRIPT)
    assert page.evaluate("window.ran") is None  # and the fixture saw no dialog, and no request to another host
