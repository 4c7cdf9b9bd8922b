"""One press answers one item: double clicks, held keys, Enter after a click. Buttons stay where they are."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.server.page.desks import UNSEEN, Desk, Person, answers, campaign_of, messages
from tests.server.page.serving import Serving

LONG: dict[str, object] = {"text": "word " * 2_000, "meta": {"deep": ["z" * 200]}}
PICTURE = {"image": "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='900' height='2000'/>"}
# Wide, small, a phone, a phone on its side, and the first at 200 % and 400 %.
SIZES = [(1440, 900), (1024, 768), (390, 844), (844, 390), (720, 450), (360, 225)]


# A key pressed three times: twice before the page has drawn anything, and once just after, whatever else is busy.
THRICE = """async () => {
    const press = () => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true }));
    press();
    press();
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    press();
}"""


def test_one_press_answers_one_item(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(9), classes=None)
    desk = labeller.desk(name)
    page.wait_for_timeout(UNSEEN)
    desk.class_button("ham").dblclick()
    desk.sees("Message number 1")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    desk.sees("Message number 1")
    page.keyboard.down("2")
    for _ in range(20):  # the key is held: the browser repeats it
        page.keyboard.down("2")
        page.wait_for_timeout(20)
    page.keyboard.up("2")
    desk.sees("Message number 2")
    page.wait_for_timeout(UNSEEN)
    page.evaluate(THRICE)
    desk.sees("Message number 3")
    page.wait_for_timeout(UNSEEN)
    page.get_by_role("button", name="Skip").dblclick()
    desk.sees("Message number 4")
    page.keyboard.press("Enter")
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("Enter")
    desk.class_button("urgent").focus()
    page.keyboard.down("Enter")
    for _ in range(20):
        page.keyboard.down("Enter")
        page.wait_for_timeout(20)
    page.keyboard.up("Enter")
    desk.sees("Message number 5")
    page.wait_for_timeout(UNSEEN)
    page.get_by_role("button", name="Undo").dblclick()
    desk.sees("Message number 4")
    desk.settled()
    assert answers(campaign) == {0: "ham", 1: "spam", 2: "ham", 3: None}


def test_deliberate_clicks_on_one_button_all_count(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(5))
    desk = Desk(page, server.url, name).open()
    undo = page.get_by_role("button", name="Undo")
    for button, places in ((desk.class_button("ham"), (1, 2, 3)), (undo, (2, 1))):
        button.hover()
        for number, place in enumerate(places, start=1):  # the browser counts on, as for a double click
            page.wait_for_timeout(UNSEEN)
            page.mouse.down(click_count=number)
            page.mouse.up(click_count=number)
            desk.sees(f"Message number {place}")
    desk.settled()
    assert answers(campaign) == {0: "ham"}


def test_a_press_that_began_on_another_item_answers_none(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(4))
    desk = Desk(page, server.url, name).open()
    page.wait_for_timeout(UNSEEN)
    box = desk.class_button("ham").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.keyboard.press("1")  # another finger was faster
    desk.sees("Message number 1")
    page.wait_for_timeout(UNSEEN)
    page.mouse.up()
    desk.click("urgent")
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "spam", 1: "urgent"}


KINDS = {
    "few": ["spam", "ham", "a class with a rather long name"],
    "any": None,
    "digits": list(range(10)),
    "many": [f"species {number:04d}" for number in range(100)],
}


SLOW_KINDS = [pytest.param(kind, marks=[pytest.mark.slow] if kind in ("any", "digits") else []) for kind in KINDS]


@pytest.mark.slow
@pytest.mark.parametrize("kind", SLOW_KINDS)
def test_buttons_stay_where_they_are_at_every_size(page: Page, server: Serving, name: str, kind: str) -> None:
    items: list[dict[str, object]] = [{"text": "short"}, LONG, dict(PICTURE), {"text": "short again"}]
    campaign_of(server.storage, name, items, classes=KINDS[kind])
    desk = Desk(page, server.url, name).open()
    expected = places(page)
    page.keyboard.press("p")
    expect(page.locator(".said")).to_be_visible()
    assert places(page) == expected
    for number in range(1, 4):
        desk.press("s")
        expect(desk.item).to_have_attribute("aria-label", f"Item msg-{number}")
        found = places(page)
        if kind == "many":  # each item has its own candidates first, in the same places
            assert boxes(found) == boxes(expected)
            expected = found
        assert found == expected
    desk.settled()
    page.route("**/skips", refuse)
    for number in range(1, 3):
        desk.press("s")
        expect(page.locator(".notice")).to_have_count(number)
        desk.sees("short again")
    assert places(page) == expected
    page.context.set_offline(True)
    expect(page.locator(".connection")).to_contain_text("Offline")
    assert places(page) == expected


BOXES = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(
    [...document.querySelectorAll('.class-button, .class-search input, .label-actions button')]
        .map((one) => {
            const { x, y, width, height } = one.getBoundingClientRect();
            return [one.innerText || one.placeholder, x, y, width, height];
        })))))"""


def boxes(found: dict[tuple[int, int], list[list[str | float]]]) -> dict[tuple[int, int], list[list[str | float]]]:
    """Places without what is written there."""
    return {size: [button[1:] for button in buttons] for size, buttons in found.items()}


def places(page: Page) -> dict[tuple[int, int], list[list[str | float]]]:
    """Where every button of the panel is, in windows of every size."""
    found = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        found[width, height] = page.evaluate(BOXES)
        assert len(found[width, height]) >= 5
    return found


def refuse(route: Route) -> None:
    """The server takes nothing, and says so in other words every time: that is another notice."""
    route.fulfill(status=409, json={"detail": f"Not this one, says {id(route)}."})
