"""The list of campaigns, creating one, files in and out."""

import csv
import json
import re
from pathlib import Path

from playwright.sync_api import FilePayload, Page, expect

import modelpicker as mp
from tests.server.page.desks import UNSEEN, answers, campaign_of, messages
from tests.server.page.serving import Serving

ROWS = "id,text,bert,roberta,gpt\n" + "".join(
    f"msg-{place},Message number {place},spam,{'ham' if place % 2 else 'spam'},{'ham' if place % 3 else 'spam'}\n"
    for place in range(60)
)


def predictions(name: str, content: str = ROWS) -> FilePayload:
    return {"name": name, "mimeType": "text/csv", "buffer": content.encode()}


def test_where_there_is_nothing_the_page_says_what_to_do_first(page: Page, own_server: Serving) -> None:
    page.goto(own_server.url)
    expect(page.get_by_role("heading", name="No campaigns yet")).to_be_visible()
    page.get_by_role("link", name="Create a campaign").click()
    expect(page.get_by_role("heading", name="New campaign")).to_be_focused()
    expect(page).to_have_title("New campaign · modelpicker")


def test_a_campaign_is_created_from_a_file_and_labelled(page: Page, server: Serving, name: str) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("File of predictions").set_input_files(predictions(f"{name}.csv"))
    expect(page.get_by_text("60 items, 3 models, 2 classes.")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    expect(page.get_by_label("Expected items")).to_have_value("60")
    page.get_by_label("Budget", exact=True).fill("10")
    page.get_by_label("Stop when certified within (%)").fill("2.5")
    page.get_by_label("Certified for").select_option("stream")
    page.get_by_label("Only these").check()
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("Message number")
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("1")
    expect(page.locator(".last-action")).to_contain_text("Labelled")
    campaign = mp.open_campaign(server.storage, name)
    assert campaign.budget == 10
    assert campaign.settings.stop_when == mp.Certified(gap=0.025, kind="stream")
    assert campaign.classes == ("ham", "spam")
    assert campaign.models == ("bert", "roberta", "gpt")


def test_a_campaign_is_created_from_names_and_a_file_added_later(page: Page, server: Serving, name: str) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("Or the names of the models").fill("bert\nroberta\ngpt\n")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("heading", name="Add predictions")).to_be_visible()
    for said in ("60 new items, asked about as labels come", "0 new items"):
        page.get_by_label("File of predictions").set_input_files(predictions("later.csv"))
        expect(page.get_by_label("Ask as labels come (recommended)")).to_be_checked()
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("60 items of later.csv")).to_be_visible()
    wrong = "id,bert,other\n1,x,y\n2,y,x\n"
    page.get_by_label("File of predictions").set_input_files(predictions("wrong.csv", wrong))
    expect(page.get_by_text("This file has no column for roberta and gpt.")).to_be_visible()
    expect(page.get_by_role("button", name="Upload")).to_be_disabled()
    page.get_by_label("File of predictions").set_input_files(predictions("empty.csv", ""))
    expect(page.get_by_role("alert").filter(has_text="empty")).to_be_visible()


def test_a_file_is_asked_about_as_labels_come_or_all_at_once(page: Page, server: Serving, name: str) -> None:
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("File of predictions").set_input_files(predictions("later.csv"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("later")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Guidelines for annotators").fill("Be kind.")
    page.get_by_role("button", name="Create campaign").click()
    campaign = None
    for done in range(3):
        expect(page.get_by_role("article")).to_contain_text("Message number")
        shown = page.get_by_role("article").inner_text()
        campaign = campaign or mp.open_campaign(server.storage, name)
        assert campaign.counts().waiting == 1, "one question at a time"
        page.wait_for_timeout(UNSEEN)
        page.keyboard.press("1")
        expect(page.get_by_role("article")).not_to_have_text(shown, use_inner_text=True)
        expect(page.get_by_role("article")).to_contain_text("Message number")
        assert campaign.counts().labels == done + 1
    assert campaign is not None
    assert campaign.terms.guidelines == "Be kind."
    assert sum(campaign.waiting_items().values()) > 0
    page.goto(f"{server.url}/#/c/{name}/files")
    page.get_by_role("button", name="Drop them").click()
    page.get_by_role("button", name="Yes, ask about none of them").click()
    expect(page.get_by_role("heading", name="Items that wait")).to_have_count(0)
    assert campaign.waiting_items() == {}
    page.get_by_label("File of predictions").set_input_files(predictions("later.csv"))
    page.get_by_label("Decide about all items now").check()
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text(re.compile(r"\d+ items known already\."))).to_be_visible()
    assert campaign.rounds == 60
    assert campaign.waiting_items() == {}


def test_what_is_wrong_with_a_new_campaign_is_said(page: Page, server: Serving, name: str) -> None:
    campaign_of(server.storage, name, messages(1))
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    page.get_by_label("Or the names of the models").fill("bert\nroberta")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("alert").filter(has_text=name)).to_be_visible()
    page.get_by_label("Name", exact=True).fill("/")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.locator(".form-error")).to_contain_text("/")
    page.get_by_label("File of predictions").set_input_files(predictions("empty.csv", ""))
    expect(page.locator(".form-error")).to_contain_text("empty")
    expect(page.get_by_role("button", name="Create campaign")).to_be_disabled()


def test_the_list_says_who_leads_and_what_waits(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(5))
    campaign.tell(0, "spam")
    page.goto(server.url)
    card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name, exact=True))
    expect(card).to_contain_text(f"{campaign.best().model} leads")
    expect(card).to_contain_text("3 models · 5 items · 1 label")
    card.get_by_role("link", name="Label").click()
    expect(page.get_by_role("article")).to_be_visible()
    expect(page).to_have_title(f"Label · {name} · modelpicker")
    page.go_back()
    expect(page).to_have_title("Campaigns · modelpicker")


def test_results_can_be_downloaded(page: Page, server: Serving, name: str, tmp_path: Path) -> None:
    campaign = campaign_of(server.storage, name, messages(3))
    campaign.tell(0, "spam")
    page.goto(f"{server.url}/#/c/{name}/files")
    found = {}
    for title in (
        "Labels, short",
        "Labels, with annotators",
        "Everything, as JSON lines",
        "Everything, as Parquet",
    ):
        with page.expect_download() as download:
            page.get_by_role("link", name=title).click()
        found[title] = Path(download.value.path()).read_bytes()
    rows = list(csv.DictReader(found["Labels, short"].decode().splitlines()))
    assert {row["key"]: row["label"] for row in rows if row["state"] == "labelled"} == {"msg-0": "spam"}
    (row,) = csv.DictReader(found["Labels, with annotators"].decode().splitlines())
    assert (row["key"], row["label"], row["item.text"], row["model.bert"]) == (
        "msg-0",
        "spam",
        "Message number 0",
        "spam",
    )
    assert [json.loads(line) for line in found["Everything, as JSON lines"].splitlines()]
    assert found["Everything, as Parquet"].startswith(b"PAR1")
    assert answers(campaign) == {0: "spam"}
