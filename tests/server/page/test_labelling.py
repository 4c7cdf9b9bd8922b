"""Labelling: by mouse and by keys, skipping, undoing; as an owner and as an annotator, and why a reader cannot."""

from itertools import pairwise

from playwright.sync_api import Page, expect

from tests.server.page.desks import Desk, Person, answers, campaign_of, digits_campaign, messages
from tests.server.page.serving import Serving


def test_an_item_is_labelled_by_a_click_or_a_key_or_skipped(either_labeller: Person, name: str) -> None:
    campaign = campaign_of(either_labeller.server.storage, name, messages(6))
    desk = either_labeller.desk(name)
    desk.sees("Message number 0")
    expect(desk.item).to_contain_text("6 items to label")
    desk.click("ham")
    desk.sees("Message number 1")
    expect(desk.item).to_contain_text("5 items to label")
    expect(desk.status).to_have_text("Labelled msg-0 ham. Next: msg-1.")
    expect(desk.class_button("urgent").locator("kbd")).to_have_text("3")
    desk.press("3")
    desk.sees("Message number 2")
    desk.press("1")
    desk.sees("Message number 3")
    desk.press("s")
    expect(desk.status).to_have_text("Skipped msg-3. Next: msg-4.")
    either_labeller.page.wait_for_timeout(260)
    either_labeller.page.get_by_role("button", name="Skip").click()
    desk.sees("Message number 5")
    desk.settled()
    assert answers(campaign) == {0: "ham", 1: "urgent", 2: "spam", 3: None, 4: None}


def test_a_reader_sees_why_nothing_can_be_labelled_and_labels_nothing(reader: Person, name: str) -> None:
    page, server = reader.page, reader.server
    for kind, classes in (("few", ("spam", "ham")), ("any", None), ("many", [f"kind {n}" for n in range(40)])):
        campaign = campaign_of(server.storage, f"{name}-{kind}", messages(2), classes=classes)
        page.goto(f"{server.url}/#/c/{name}-{kind}/label")
        expect(page.get_by_role("heading", name="You can read, but not label")).to_be_visible()
        expect(page.get_by_text("signed in as a reader")).to_be_visible()
        expect(page.locator(".class-button, [role=combobox]")).to_have_count(0)
        page.keyboard.press("1")
        page.keyboard.press("s")
        page.get_by_role("link", name="See the standing").click()
        expect(page.get_by_role("heading", name="Leader board")).to_be_visible()
        expect(page.get_by_text("You are signed in as a reader")).to_be_visible()
        assert answers(campaign) == {}


def test_a_newcomer_labels_twenty_digits_and_sees_who_leads(page: Page, server: Serving, name: str) -> None:
    campaign, truth = digits_campaign(server.storage, name, 200)
    waiting = [query.id for query in campaign.pending()][:21]
    desk = Desk(page, server.url, name).open()
    expect(page.get_by_role("heading", name="Nobody leads yet")).to_be_visible()
    picture = desk.item.get_by_role("img")
    expect(picture).to_have_css("image-rendering", "pixelated")  # it is eight pixels wide
    expect(picture).to_have_css("width", "220px")
    for number, then in pairwise(waiting):
        desk.press(str(truth[number]))  # where classes are digits, a key is that very class
        desk.sees(f"digit-{then}")
    desk.settled()
    assert answers(campaign) == {number: truth[number] for number in waiting[:-1]}
    assert all(type(label) is int for label in answers(campaign).values())
    aside = page.get_by_role("complementary")
    expect(aside).to_contain_text(f"after 20 labels on {campaign.best().covered} of 200 items")
    expect(page.locator(".mini-board li").first).to_contain_text(str(campaign.best().model))


def test_labelling_never_waits_for_the_server(labeller: Person, name: str) -> None:
    campaign = campaign_of(labeller.server.storage, name, messages(3))
    desk = labeller.desk(name)
    desk.sees("Message number 0")
    labeller.page.route("**/api/**", lambda _: None)  # requests are never answered from now on
    desk.press("1")
    desk.sees("Message number 1")
    desk.press("2")
    desk.sees("Message number 2")
    labeller.page.unroute("**/api/**")
    labeller.page.reload()
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "spam", 1: "ham"}


def test_undo_brings_items_back_one_after_the_other(either_labeller: Person, name: str) -> None:
    page = either_labeller.page
    campaign = campaign_of(either_labeller.server.storage, name, messages(6))
    desk = either_labeller.desk(name)
    for place in range(3):
        desk.sees(f"Message number {place}")
        desk.press("1")
    desk.settled()
    page.keyboard.press("u")
    desk.sees("Message number 2")
    page.keyboard.press("Control+z")
    desk.sees("Message number 1")
    expect(desk.status).to_have_text("Undone: msg-1 is back.")
    page.get_by_role("button", name="Undo").click()
    desk.sees("Message number 0")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    desk.press("2", "s", "3")
    desk.sees("Message number 3")
    desk.settled()
    assert answers(campaign) == {0: "ham", 1: None, 2: "urgent"}


def test_predictions_are_hidden_until_they_are_asked_for(page: Page, server: Serving, name: str) -> None:
    campaign_of(server.storage, name, messages(2))
    desk = Desk(page, server.url, name).open()
    expect(page.locator(".said")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator(".said")).to_contain_text("The models said")
    page.get_by_role("button", name="Predictions").click()
    expect(page.locator(".said")).to_have_count(0)
    page.reload()
    expect(desk.item).to_be_visible()
    expect(page.locator(".said")).to_have_count(0)


def test_no_key_labels_while_one_types_or_holds_a_modifier(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(3), classes=None)
    desk = labeller.desk(name)
    page.get_by_label("Your name").fill("")
    page.wait_for_timeout(260)
    page.keyboard.type("su1p?")
    page.keyboard.press("Tab")
    for key in ("Alt+1", "Control+1", "Control+Shift+z"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    desk.sees("Message number 0")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    desk.sees("Message number 0")
    assert answers(campaign) == {}


def test_labels_are_recorded_under_the_name_that_was_typed(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(3))
    desk = labeller.desk(name)
    page.get_by_label("Your name").fill("mia")
    with page.expect_response(lambda response: "mia/" in (response.request.post_data or "")):
        page.get_by_label("Your name").press("Enter")
    desk.sees("Message number 0")
    desk.press("1")
    desk.settled()
    label = next(record for record in campaign.history() if record["kind"] == "label")
    assert label["by"].startswith(f"{labeller.role}/mia/")


def test_a_name_typed_on_the_way_to_the_class_box_takes_nothing_away(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(4), classes=None)
    desk = labeller.desk(name)
    box = page.get_by_role("combobox")
    for number, person in enumerate(("mia", "")):
        page.wait_for_timeout(260)
        page.get_by_label("Your name").fill(person)
        with page.expect_response(lambda response: response.url.endswith("/leases")):
            box.click()
            page.keyboard.type("s1")
        page.keyboard.type("u2", delay=100)
        expect(box).to_be_focused()
        expect(box).to_have_value("s1u2")
        desk.sees(f"Message number {number}")
        page.keyboard.press("Escape")
        page.keyboard.type("ham")
        page.keyboard.press("Enter")
        desk.sees(f"Message number {number + 1}")
    desk.settled()
    expect(page.locator(".notice")).to_have_count(0)
    labels = [record["by"].split("/")[1][:4] for record in campaign.history() if record["kind"] == "label"]
    assert labels == ["mia", "page"]
    assert answers(campaign) == {0: "ham", 1: "ham"}


def test_when_all_is_labelled_it_says_so_and_shows_what_comes_later(labeller: Person, name: str) -> None:
    campaign = campaign_of(labeller.server.storage, name, messages(1))
    labeller.desk(name).press("1")
    expect(labeller.page.get_by_role("heading", name="Nothing to label just now")).to_be_visible()
    campaign.ask(
        dict.fromkeys(("bert", "roberta"), "spam") | {"gpt": "ham"}, item={"text": "A late one"}, key="late"
    )
    expect(labeller.page.get_by_role("article")).to_contain_text("A late one")
