"""Two annotators never get the same item."""

from playwright.sync_api import BrowserContext, Page, expect

from tests.server.page.desks import Desk, answers, campaign_of, messages
from tests.server.page.serving import Serving


def text_of(desk: Desk) -> str:
    return desk.item.locator(".item-text").inner_text()


def test_two_people_share_the_work(
    context: BrowserContext, other_context: BrowserContext, server: Serving, name: str
) -> None:
    campaign = campaign_of(server.storage, name, messages(20))
    one = Desk(context.new_page(), server.url, name).open()
    other = Desk(other_context.new_page(), server.url, name).open()
    seen: list[str] = []
    for _ in range(5):
        for desk, label in ((one, "1"), (other, "2")):
            expect(desk.item.locator(".item-text")).to_be_visible()
            text = text_of(desk)
            seen.append(text)
            desk.press(label)
            expect(desk.item.locator(".item-text")).not_to_have_text(text)
    one.settled()
    other.settled()
    assert len(set(seen)) == 10
    assert sorted(answers(campaign).values()) == ["ham"] * 5 + ["spam"] * 5


def test_every_tab_is_an_annotator_of_its_own(context: BrowserContext, server: Serving, name: str) -> None:
    campaign_of(server.storage, name, messages(30))  # ten for each tab
    first = Desk(context.new_page(), server.url, name).open()
    second = Desk(context.new_page(), server.url, name).open()
    tab = first.page.evaluate("sessionStorage['modelpicker:tab']")
    duplicate = context.new_page()
    duplicate.add_init_script(f"sessionStorage['modelpicker:tab'] ??= '{tab}'")
    third = Desk(duplicate, server.url, name).open()
    assert len({text_of(first), text_of(second), text_of(third)}) == 3


def test_leaving_the_view_gives_the_items_back(
    page: Page, other_context: BrowserContext, server: Serving, name: str
) -> None:
    campaign_of(server.storage, name, messages(2))
    one = Desk(page, server.url, name).open()
    waiting = other_context.new_page()
    waiting.goto(f"{server.url}/#/c/{name}/label")
    expect(waiting.get_by_role("heading", name="Others have the rest")).to_be_visible()
    page.get_by_role("link", name="Standing").first.click()
    expect(one.item).to_have_count(0)
    expect(waiting.get_by_role("article")).to_be_visible()
