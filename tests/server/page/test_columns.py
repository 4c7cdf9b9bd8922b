"""Which columns of a file are models: seen, confirmed or changed by a person, on every screen and by keyboard."""

from playwright.sync_api import FilePayload, Locator, Page, expect

import modelpicker as mp
from tests.server.page.serving import Serving
from tests.server.page.test_accessibility import serious

# Columns that are no models: what people would see, a number, what is the same in every row, another text.
ROWS = "ticket,question,confidence,split,bert,roberta,remark\n" + "".join(
    f"t-{place},What is {place}?,0.{place + 10},test,spam,{'ham' if place % 2 else 'spam'},note {place}\n"
    for place in range(40)
)


def file_of(name: str, content: str = ROWS) -> FilePayload:
    return {"name": name, "mimeType": "text/csv", "buffer": content.encode()}


def column(page: Page, name: str) -> Locator:
    """The row of the table about one column."""
    return page.locator(".columns-table tbody tr").filter(has=page.get_by_role("rowheader", name=name, exact=True))


def role(page: Page, name: str) -> Locator:
    """The choice of what a column is."""
    return page.get_by_label(f"What {name} is", exact=True)


def test_a_campaign_has_the_models_that_a_person_has_confirmed(page: Page, server: Serving, name: str) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("File of predictions").set_input_files(file_of(f"{name}.csv"))
    create = page.get_by_role("button", name="Create campaign")
    expect(column(page, "question").locator(".values span")).to_have_text([f"What is {n}?" for n in range(5)])
    expect(role(page, "bert")).to_have_value("model")
    doubted = page.locator(".columns-table tr.open")
    names = [row.get_by_role("rowheader").inner_text() for row in doubted.all()]
    assert {"question", "confidence", "split"} <= set(names)
    assert not {"bert", "roberta"} & set(names)
    assert all(doubted.locator(".doubt").all_inner_texts())
    for left, one in enumerate(reversed(names)):
        expect(create).to_be_disabled()
        expect(page.locator(".columns-open")).to_contain_text(f"{len(names) - left} column")
        if one == "confidence":
            role(page, one).select_option("shown")  # to change it is to look at it
        else:
            column(page, one).get_by_role("button").click()
        expect(doubted).to_have_count(len(names) - left - 1)
    role(page, "remark").select_option("left out")
    role(page, "ticket").select_option("id")
    expect(page.get_by_text("40 items, 2 models, 2 classes.")).to_be_visible()
    create.click()
    expect(page.get_by_role("article")).to_contain_text("What is")
    campaign = mp.open_campaign(server.storage, name)
    assert campaign.models == ("bert", "roberta")
    query = campaign.pending()[0]
    assert query.key == f"t-{query.id}"
    assert query.item is not None
    assert set(query.item) == {"ticket", "question", "confidence"}


def test_a_choice_that_cannot_be_is_told_and_can_be_changed_again(page: Page, server: Serving, name: str) -> None:
    page.goto(f"{server.url}/#/new")
    for file in ("another", name):
        page.get_by_label("File of predictions").set_input_files(file_of(f"{file}.csv"))
        expect(page.get_by_label("Name", exact=True)).to_have_value(file)  # it goes with the file
    page.get_by_role("button", name="are as suggested").click()  # all doubts at once
    expect(page.locator(".columns-table tr.open")).to_have_count(0)
    expect(page.get_by_role("button", name="Create campaign")).to_be_enabled()
    for one in ("ticket", "remark"):
        role(page, one).select_option("id")
    expect(page.locator(".form-error").last).to_contain_text("remark")
    expect(page.get_by_role("button", name="Create campaign")).to_be_disabled()
    role(page, "remark").select_option("left out")
    expect(page.locator(".form-error").last).to_be_empty()
    for one in ("bert", "roberta"):
        role(page, one).select_option("left out")
    expect(page.locator(".form-error").first).not_to_be_empty()  # no models are left
    expect(page.get_by_role("button", name="Create campaign")).to_be_disabled()


def test_columns_are_decided_by_keyboard_on_a_phone(page: Page, server: Serving, name: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/#/new")
    page.get_by_label("File of predictions").set_input_files(file_of(f"{name}.csv"))
    doubted = page.locator(".columns-table tr.open")
    expect(doubted.first).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_label("File of predictions").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('tr.open button')"):
            page.keyboard.press("Enter")
        if doubted.count() == 0:
            break
    expect(doubted).to_have_count(0)
    page.get_by_role("button", name="Create campaign").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("article")).to_be_visible()
    assert mp.open_campaign(server.storage, name).models == ("bert", "roberta")


def test_predictions_that_are_added_have_the_same_choice(page: Page, server: Serving, name: str) -> None:
    campaign = mp.create_campaign(
        server.storage, name, models=["bert", "roberta"], algorithm="label-efficient", options={"probability": 1.0}
    )
    page.goto(f"{server.url}/#/c/{name}/files")
    rows = ROWS.replace("split", "gpt").replace(",test,", ",ham,")
    page.get_by_label("File of predictions").set_input_files(file_of("more.csv", rows))
    expect(column(page, "bert")).to_contain_text("a model")
    expect(role(page, "bert")).to_have_count(0)  # the campaign has decided that
    upload = page.get_by_role("button", name="Upload")
    expect(column(page, "gpt").locator(".doubt")).to_be_visible()
    expect(upload).to_be_disabled()
    for row in page.locator(".columns-table tr.open").all()[::-1]:
        row.get_by_role("button").click()
    role(page, "ticket").select_option("id")
    role(page, "question").select_option("shown")
    role(page, "remark").select_option("left out")
    upload.click()
    expect(page.get_by_text("40 new items")).to_be_visible()
    query = campaign.pending(1)[0]
    assert query.key == f"t-{query.id}"
    assert query.item is not None
    assert "question" in query.item
    assert not {"gpt", "remark"} & set(query.item)
