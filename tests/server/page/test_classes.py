"""Many classes, new classes, odd classes."""

from playwright.sync_api import Page, expect

from tests.server.page.desks import Desk, answers, campaign_of, messages
from tests.server.page.serving import Serving

SPECIES = [f"species {number:04d}" for number in range(1_000)]


def test_a_thousand_classes_are_found_by_typing(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(5), classes=SPECIES)
    desk = Desk(page, server.url, name).open()
    search = page.get_by_role("combobox", name="Search for a class")
    assert page.get_by_role("option").count() == 50
    page.keyboard.press("/")
    expect(search).to_be_focused()
    search.press("Enter")  # nothing is marked yet, so nothing is labelled
    search.fill("phishing")
    expect(page.get_by_text("No class matches.")).to_be_visible()
    search.press("Enter")
    desk.sees("Message number 0")
    search.fill("")
    search.type("0777")
    expect(page.get_by_role("option")).to_have_count(1)
    search.press("Enter")
    desk.sees("Message number 1")
    search.type("090")
    search.press("ArrowDown")
    search.press("ArrowDown")
    search.press("Enter")
    desk.sees("Message number 2")
    page.get_by_role("option", name="species 0003").click()
    desk.sees("Message number 3")
    search.press("Escape")
    page.keyboard.press("1")  # the class that was used first
    desk.sees("Message number 4")
    desk.settled()
    page.reload()  # the keys of recent classes stay where they are
    expect(page.locator(".class-button")).to_have_text(["species 07771", "species 09012", "species 00033"])
    assert answers(campaign) == {0: "species 0777", 1: "species 0901", 2: "species 0003", 3: "species 0777"}


def test_where_any_class_may_be_said_a_new_one_can_be_typed(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3), classes=None)
    desk = Desk(page, server.url, name).open()
    other = page.get_by_role("combobox", name="Another class")
    other.fill("phishing")
    expect(page.get_by_role("option")).to_have_text("use “phishing” as a new class")
    other.press("Enter")
    desk.sees("Message number 1")
    desk.class_button("phishing").click()
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "phishing", 1: "phishing"}
