"""Settings, labels and preferences: what each role may see and change."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import modelpicker as mp
from modelpicker.campaigns.terms import Terms
from tests.server.page.conftest import PATIENCE, Watch, signed_in
from tests.server.page.desks import campaign_of, messages
from tests.server.page.serving import Serving

SIZES = [(1440, 900, "light"), (1024, 768, "dark"), (390, 844, "dark")]


@pytest.fixture
def opened(browser: Browser, watch: Watch) -> Iterator[list[BrowserContext]]:
    """Browsers that a test opens."""
    made: list[BrowserContext] = []
    yield made
    for context in made:
        context.close()


def test_an_owner_raises_the_budget_pauses_renames_and_deletes(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(6))
    campaign.tell(0, "spam")
    page.goto(f"{server.url}/#/c/{name}/settings")
    expect(page.get_by_text("3: bert, roberta, gpt")).to_be_visible()

    page.get_by_label("Labels at most").fill("40")
    page.get_by_label("Stop when this close to the best").fill("2.5")
    page.get_by_label("Confidence").fill("90")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert campaign.budget == 40
    assert campaign.terms.stop_when == mp.Certified(gap=0.025, confidence=0.9, kind="population")
    page.get_by_label("Labels at most").fill("")
    page.get_by_label("Stop when this close to the best").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("Budgetnone")
    assert campaign.terms == Terms(budget=None, stop_when=None)
    page.get_by_label("For annotators").fill("Spam is what nobody asked for.")
    page.get_by_role("button", name="Save guidelines").click()
    expect(page.get_by_role("button", name="Save guidelines")).to_be_disabled()
    assert campaign.terms.guidelines == "Spam is what nobody asked for."

    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".badge")).to_have_text("Paused")
    assert campaign.terms.paused
    page.goto(f"{server.url}/#/c/{name}/label")
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    page.get_by_role("link", name="Resume it").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".badge")).to_have_text("Waiting for labels")

    page.get_by_label("Name", exact=True).fill(f"{name} 2")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{name} 2")
    expect(page.locator(".badge")).to_have_text("Waiting for labels")

    page.get_by_role("button", name="Delete …").click()
    for_good = page.get_by_role("button", name="Delete permanently")
    expect(for_good).to_be_disabled()
    page.get_by_label("Type the name").fill(name)
    expect(for_good).to_be_disabled()
    with page.expect_download() as saving:
        page.get_by_role("link", name="Download everything").click()
    assert saving.value.suggested_filename == f"{name} 2.jsonl"
    page.get_by_label("Type the name").fill(f"{name} 2")
    for_good.click()
    expect(page.get_by_role("heading", name="Campaigns", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=f"{name} 2", exact=True)).to_have_count(0)
    with pytest.raises(mp.NotFoundError):
        mp.open_campaign(server.storage, f"{name} 2")


def test_an_owner_loosens_the_goal_of_a_pool(page: Page, server: Serving, name: str) -> None:
    pool = mp.ModelCollection([["a", "b"], ["b", "a"]] * 20, models=["one", "two"])
    campaign = mp.create_campaign(server.storage, name, pool=pool)
    page.goto(f"{server.url}/#/c/{name}/settings")
    close = page.get_by_label("Stop when this close to the best")
    expect(close).to_have_value("1")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert campaign.terms.stop_when is None  # as it was
    close.fill("5")
    page.get_by_label("Confidence").fill("90")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".facts")).to_contain_text("within 5 points of accuracy, confidence 90")
    assert campaign.terms.stop_when == mp.Certified(gap=0.05, confidence=0.9)


def test_answers_are_searched_corrected_taken_back_and_downloaded(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(60))
    for place in range(55):
        campaign.tell(place, ("spam", "ham", "urgent")[place % 3], annotator=("mia", "tom")[place % 2])
    page.goto(f"{server.url}/#/c/{name}/labels")
    rows = page.locator(".label-row")
    expect(page.get_by_text("55 answers")).to_be_visible()
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("Message number 54")
    page.get_by_role("button", name="Older").click()
    expect(rows).to_have_count(5)
    page.get_by_label("Search").fill("number 7")
    expect(page.get_by_text("1 answer", exact=True)).to_be_visible()
    expect(rows).to_contain_text(["msg-7"])
    rows.get_by_text("models agree").click()
    expect(rows.locator(".said-list .same")).to_have_count(1)
    rows.get_by_role("button", name="Correct").click()
    rows.get_by_label("Right class").select_option("urgent")
    rows.get_by_role("button", name="Save").click()
    expect(rows.locator(".badge")).to_have_text("urgent")
    assert campaign.label_of(7) == "urgent"
    rows.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("No answer matches.")).to_be_visible()
    assert campaign.label_of(7) is None
    page.get_by_label("Search").fill("")
    page.get_by_label("Annotator").select_option("mia")
    page.get_by_label("Class").select_option("spam")
    expect(page.get_by_text("10 answers")).to_be_visible()
    with page.expect_download() as saving:
        page.get_by_role("link", name="Download these as CSV").click()
    table = list(csv.DictReader(io.StringIO(saving.value.path().read_text())))
    assert {(row["annotator"], row["label"]) for row in table} == {("mia", "spam")}
    assert len(table) == 10
    assert table[0]["item.text"].startswith("Message number")
    assert {"model.bert", "model.roberta", "model.gpt", "time"} <= table[0].keys()


def test_owners_make_and_revoke_tokens_and_everybody_chooses_a_theme(
    page: Page, guarded: tuple[Serving, dict[str, str]]
) -> None:
    person = signed_in(page, guarded, "owner")
    page.emulate_media(color_scheme="light")
    page.goto(f"{person.server.url}/#/preferences")
    page.get_by_label("Whose").fill("newcomer")
    page.get_by_label("Role").select_option("reader")
    page.get_by_role("button", name="Make a token").click()
    token = page.locator(".made-token code").inner_text()
    answer = page.request.get(
        f"{person.server.url}/api/v1/campaigns", headers={"Authorization": f"Bearer {token}", "Cookie": ""}
    )
    assert answer.ok
    row = page.locator(".token-list li").filter(has_text="newcomer")
    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Revoke permanently").click()
    expect(row).to_have_count(0)
    expect(page.locator(".token-list li").filter(has_text="this is you").get_by_role("button")).to_have_count(0)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_label("Dark").check()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    expect(page.get_by_label("Dark")).to_be_checked()
    assert page.evaluate(ground) == dark
    page.get_by_label("As the system").check()
    assert page.evaluate(ground) == light


@pytest.mark.parametrize("role", ["annotator", "reader"])
def test_others_change_nothing(page: Page, guarded: tuple[Serving, dict[str, str]], name: str, role: str) -> None:
    person = signed_in(page, guarded, role)
    campaign = campaign_of(person.server.storage, name, messages(3))
    campaign.tell(0, "spam", annotator="mia")
    for view in ("settings", "labels"):
        page.goto(f"{person.server.url}/#/c/{name}/{view}")
        if role == "annotator":
            expect(page).to_have_url(f"{person.server.url}/#/c/{name}/label")
            continue
        expect(page.get_by_text({"settings": "About this campaign", "labels": "1 answer"}[view])).to_be_visible()
        expect(page.get_by_role("main").get_by_role("button")).to_have_count(0)
    page.goto(f"{person.server.url}/#/preferences")
    expect(page.get_by_label("Dark")).to_be_visible()
    expect(page.get_by_role("heading", name="Tokens")).to_have_count(0)


# Goes on to a second address as soon as the page has left the first one, before it is told of that.
HURRY = """([first, second]) => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    if (location.hash === first) return port2.postMessage(0);
    location.hash = second;
    done();
  };
  location.hash = first;
  port2.postMessage(0);
})"""


def test_whoever_goes_from_one_barred_view_to_another_at_once_is_sent_on(
    page: Page, guarded: tuple[Serving, dict[str, str]], name: str
) -> None:
    person = signed_in(page, guarded, "annotator")
    campaign_of(person.server.storage, name, messages(3))
    page.goto(f"{person.server.url}/#/c/{name}/label")
    expect(page.get_by_role("main").get_by_role("button").first).to_be_visible()
    page.evaluate(HURRY, [f"#/c/{name}/settings", f"#/c/{name}/labels"])
    expect(page).to_have_url(f"{person.server.url}/#/c/{name}/label")
    expect(page.get_by_role("main").get_by_role("button").first).to_be_visible()


def test_every_view_fits_every_screen_in_both_themes(
    browser: Browser, watch: Watch, opened: list[BrowserContext], server: Serving, name: str
) -> None:
    campaign = campaign_of(server.storage, name, messages(5))
    campaign.tell(0, "spam", annotator="mia")
    for width, height, theme in SIZES:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
        )
        opened.append(context)
        watch.over(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        for view, ready in (
            (f"c/{name}/settings", "About this campaign"),
            (f"c/{name}/labels", "1 answer"),
            (f"c/{name}/standing", "Leader board"),
            ("preferences", "Tokens"),
        ):
            page.goto(f"{server.url}/#/{view}")
            expect(page.get_by_text(ready).first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (view, width)
            last = page.get_by_role("navigation", name="Campaign").get_by_role("link").last
            if view != "preferences":
                box = last.bounding_box()
                assert box is not None
                assert box["x"] + box["width"] <= width, "the last tab is cut off"


def test_settings_say_in_words_what_a_campaign_was_made_with(
    page: Page, other_context: BrowserContext, guarded: tuple[Serving, dict[str, str]], name: str
) -> None:
    server, _ = guarded
    rows = [["spam", "ham"], ["ham", "spam"], ["spam", "ham"]]
    pool = mp.ModelCollection(rows, models=["ada", "ben"], fields={"cheap": ["spam", "spam", "ham"]})
    costs: dict[str, Any] = {
        "loss": {"spam": {"ham": 5}},
        "price": {"ada": 0.03, "ben": 0.002},
        "label_noise": 0.02,
    }
    people: dict[str, Any] = {"overlap": 3, "overlap_rule": "majority", "same": "normalised"}
    mp.create_campaign(server.storage, name, pool=pool, judge="cheap", **costs, **people)

    def facts(of: Page) -> dict[str, str]:
        of.goto(f"{server.url}/#/c/{name}/settings")
        expect(of.locator(".facts")).to_be_visible()
        return {
            row.locator("dt").inner_text(): row.locator("dd").inner_text()
            for row in of.locator(".facts > div").all()
        }

    signed_in(page, guarded, "owner")
    said = facts(page)
    assert "5 for answering ham where spam is right, 1 for any other mistake" in said["What is measured"]
    assert said["Prices"].startswith("ada 0.03, ben 0.002 per item. The pick is the cheapest")
    assert said["Wrong labels"] == "each label is wrong with a probability of at most 2%"
    assert said["Judge"].startswith("the column or field \N{LEFT DOUBLE QUOTATION MARK}cheap")
    assert said["People per item"].startswith("3; the answer of more than half of them counts")
    assert "capitals" in said["Same answer"]
    assert "object" not in json.dumps(said)
    other = signed_in(other_context.new_page(), guarded, "annotator").page
    told = other.request.get(f"{server.url}/api/v1/campaigns/{name}").text()
    assert "5 for answering ham" in told
    for secret in ("0.03", "ada", "cheap"):
        assert secret not in told
