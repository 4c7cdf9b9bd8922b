"""Many classes, new classes, odd classes; for owners and for annotators."""

from playwright.sync_api import Page, expect

from tests.server.page.desks import UNSEEN, Desk, Person, answers, campaign_of, messages
from tests.server.page.serving import Serving

SPECIES = [f"species {number:04d}" for number in range(1_000)]


def test_a_thousand_classes_are_found_by_typing(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(5), classes=SPECIES)
    desk = labeller.desk(name)
    search = page.get_by_role("combobox", name="Search for a class")
    assert page.get_by_role("option").count() == 50
    desk.press("/")
    expect(search).to_be_focused()
    search.press("Enter")  # nothing is marked yet, so nothing is labelled
    search.fill("phishing")
    expect(page.get_by_text("No class matches.")).to_be_visible()
    search.press("Enter")
    search.fill("species 0")
    search.press("Enter")  # that is many of them
    desk.sees("Message number 0")
    search.fill("")
    search.type("0777")
    expect(page.get_by_role("option")).to_have_count(1)
    search.press("Enter")  # it is in the name, but the name does not begin with it
    desk.sees("Message number 0")
    search.fill("species 0777")
    search.press("Enter")
    desk.sees("Message number 1")
    page.wait_for_timeout(UNSEEN)
    search.type("090")
    for _ in range(3):
        search.press("ArrowDown")
    search.press("Enter")
    desk.sees("Message number 2")
    page.wait_for_timeout(UNSEEN)
    page.get_by_role("option", name="species 0003").click()
    desk.sees("Message number 3")
    desk.press("4")  # after what models said, the class that was used first
    desk.sees("Message number 4")
    desk.settled()
    page.reload()
    buttons = page.get_by_role("group", name="Candidates for this item").locator(".class-button")
    expect(buttons).to_have_count(6)
    names = buttons.locator("bdi").all_inner_texts()
    assert sorted(names[:3]) == SPECIES[:3]  # what the models said, shuffled; then those that were used
    assert names[3:] == ["species 0777", "species 0901", "species 0003"]
    assert answers(campaign) == {0: "species 0777", 1: "species 0901", 2: "species 0003", 3: "species 0777"}


def test_classes_that_nobody_declared_have_buttons_and_keys(labeller: Person, name: str) -> None:
    rows = [["cat", "dog", "dog"]] * 2 + [["Owl", "cat", "dog"]]
    campaign = campaign_of(labeller.server.storage, name, messages(3), classes=None, rows=rows)
    desk = labeller.desk(name)
    expect(labeller.page.locator(".class-button")).to_have_text(["Owl1", "cat2", "dog3"])
    desk.press("3")
    desk.sees("Message number 1")
    desk.click("Owl")
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "dog", 1: "Owl"}


def test_what_is_typed_means_a_class_whatever_its_case_and_the_space_around_it(labeller: Person, name: str) -> None:
    rows = [["cat", "catfish", "Straße"]] * 4
    campaign = campaign_of(labeller.server.storage, name, messages(4), classes=None, rows=rows)
    desk = labeller.desk(name)
    box = labeller.page.get_by_role("combobox", name="Another class")
    for place, typed in enumerate(("CAT", "  Catfish ", "STRASSE")):
        desk.sees(f"Message number {place}")
        desk.press("/")
        labeller.page.keyboard.type(typed)
        labeller.page.keyboard.press("Enter")
    desk.sees("Message number 3")
    expect(box).to_have_value("")
    desk.settled()
    assert answers(campaign) == {0: "cat", 1: "catfish", 2: "Straße"}


def test_a_new_class_is_asked_about_before_it_is_added(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(3), classes=None)
    desk = labeller.desk(name)
    desk.press("/")
    page.keyboard.type("d")
    expect(page.get_by_role("option")).to_have_text("Add “d” as a new class …")
    page.keyboard.press("Enter")
    question = page.get_by_role("dialog", name="Add “d” as a new class?")
    expect(question).to_be_visible()
    page.keyboard.press("Enter")  # once too often: that adds nothing
    expect(question).to_have_count(0)
    desk.sees("Message number 0")
    page.get_by_role("combobox").fill("phishing")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add it").click()
    desk.sees("Message number 1")
    desk.click("phishing")
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "phishing", 1: "phishing"}


def test_a_class_that_only_has_it_in_its_name_is_not_what_was_typed(labeller: Person, name: str) -> None:
    page = labeller.page
    rows = [["ham", "not spam", "not spam"]] * 3
    campaign = campaign_of(labeller.server.storage, name, messages(3), classes=None, rows=rows)
    desk = labeller.desk(name)
    for typed in ("no", "spam"):  # a beginning is not a class either, where one can be added
        page.get_by_role("combobox").fill(typed)
        expect(page.get_by_role("option")).to_have_count(2)
        desk.press("Enter")
        expect(page.get_by_role("dialog", name=f"Add “{typed}” as a new class?")).to_be_visible()
        if typed == "no":
            page.keyboard.press("Escape")
    page.get_by_role("button", name="Add it").click()
    desk.sees("Message number 1")
    page.get_by_role("combobox").fill("SPAM ")
    desk.press("Enter")
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "spam", 1: "spam"}


def test_a_beginning_is_enough_where_the_classes_are_given(labeller: Person, name: str) -> None:
    classes = ["spam", "not spam", *SPECIES[:60]]
    campaign = campaign_of(labeller.server.storage, name, messages(3), classes=classes)
    desk = labeller.desk(name)
    for place, typed in enumerate(("not", "sPa")):
        desk.sees(f"Message number {place}")
        labeller.page.get_by_role("combobox").fill(typed)
        desk.press("Enter")
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "not spam", 1: "spam"}


def test_keys_never_land_in_the_box_and_what_is_typed_in_it_labels_nothing(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(3), classes=None)
    desk = labeller.desk(name)
    box = page.get_by_role("combobox")
    desk.press("/", "/")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    page.keyboard.type("12su?/")
    expect(box).to_have_value("12su?/")
    desk.sees("Message number 0")
    page.keyboard.press("Escape")
    page.keyboard.type("spam")
    page.keyboard.press("Enter")
    desk.sees("Message number 1")
    expect(box).not_to_be_focused()
    desk.press("1")  # the keys work again at once
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "spam", 1: "ham"}


def test_what_somebody_else_added_meanwhile_is_known(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3), classes=None)
    desk = Desk(page, server.url, name).open()
    campaign.tell(2, "phishing")
    desk.press("/")
    page.keyboard.type("PHISHING")
    expect(page.get_by_role("option")).to_have_text("phishing")
    page.keyboard.press("Enter")
    desk.sees("Message number 1")
    desk.settled()
    assert answers(campaign) == {0: "phishing", 2: "phishing"}
