"""From a file to the finish, as somebody does it who has never seen the page."""

import re

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

import modelpicker as mp
from modelpicker.campaigns.settings import PoolGoal
from tests.server.page.desks import Desk, settled
from tests.server.page.serving import Serving
from tests.server.servers import wait_until

CODE = '{"from": {"name": "Ann"}, "hops": [1, 2]}'
GUIDELINES = "Spam: nobody asked for it.\nHam: all else."


def table(items: int = 60, classes: int = 2) -> str:
    """The first model is always right, the second on every other item, the third never."""
    rows = ["id\ttext\tcode\tgood\tfair\tpoor"]
    for place in range(items):
        right, wrong = f"class-{place % classes:02}", f"class-{(place + 1) % classes:02}"
        rows.append(f"m-{place}\tMessage {place}\t{CODE}\t{right}\t{right if place % 2 else wrong}\t{wrong}")
    return "\n".join(rows) + "\n"


def file_called(name: str, content: str) -> FilePayload:
    return {"name": f"{name}.tsv", "mimeType": "text/tab-separated-values", "buffer": content.encode()}


def chosen(page: Page, server: Serving, name: str, content: str) -> None:
    """The form, with a file whose columns are clear."""
    page.goto(f"{server.url}/#/new")
    page.get_by_label("File of predictions").set_input_files(file_called(name, content))
    page.get_by_label("What code is").select_option("shown")
    expect(page.get_by_role("button", name="Create campaign")).to_be_enabled()


def answer(page: Page) -> None:
    """Label the item on screen as the first model does."""
    text = page.locator(".item-text").inner_text()
    place = int(re.findall(r"\d+", text)[0])
    Desk(page, "", "").click(f"class-{place % 2:02}")


def test_from_a_file_to_the_finish(page: Page, server: Serving, name: str) -> None:
    chosen(page, server, name, table())
    page.get_by_label("Guidelines").fill(GUIDELINES)
    page.get_by_label("How close").fill("10")
    page.get_by_role("button", name="Create campaign").click()
    first = page.get_by_role("article")
    expect(first).to_contain_text("0 by you, 0 in all", timeout=30_000)  # kernels may have to be compiled first
    expect(page.locator(".code")).to_have_text(re.compile(r'^{\n  "from": {\n'))
    guidelines = page.get_by_role("group", name="Guidelines")
    expect(guidelines).to_have_text(GUIDELINES)
    campaign = mp.open_campaign(server.storage, name)
    assert campaign.settings.pool == PoolGoal(tolerance=0.1, confidence=0.95)
    answer(page)
    expect(page.get_by_role("article")).to_contain_text("1 by you, 1 in all")
    expect(guidelines).to_be_visible()
    for _ in range(60):
        settled(page)
        if campaign.best().state.name == "certified":
            break
        answer(page)
    assert campaign.best().model == "good"
    page.get_by_role("button", name="Finish").click()
    expect(page).to_have_url(re.compile("/standing$"))
    expect(page.locator(".summary .badge")).to_have_text("Finished")
    expect(page.locator(".summary")).not_to_contain_text("rough")  # what is proven is said, and nothing beside it
    expect(page.get_by_role("columnheader", name="Possible")).to_be_visible()
    expect(page.get_by_role("heading", name="Labels bought")).to_have_count(0)
    assert campaign.pending(5, lease=60, annotator="somebody") == []
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    expect(opened.value.get_by_role("heading").first).to_be_visible()
    opened.value.close()
    page.get_by_role("button", name="Continue labelling").click()
    expect(page.locator(".summary .badge")).to_have_text("Certified")


def test_spent_labels_are_followed_by_an_offer_of_more(page: Page, server: Serving, name: str) -> None:
    chosen(page, server, name, table())
    page.get_by_label("Labels at most").fill("1")
    page.get_by_label("How close").fill("0")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("0 by you, 0 of at most 1")
    answer(page)
    expect(page.locator(".item-pane .empty")).to_contain_text("The goal is not proven yet")
    page.get_by_role("button", name="Ask about 10 more").click()
    expect(page.get_by_role("article")).to_contain_text("1 by you, 1 of at most 11")


def test_labels_to_go_are_said_while_labelling_and_in_the_standing_and_what_more_would_buy(
    page: Page, server: Serving, name: str
) -> None:
    chosen(page, server, name, table(200))
    page.get_by_label("Labels at most").fill("12")
    page.get_by_label("How close").fill("0")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("0 by you, 0 of at most 12")
    expect(page.get_by_role("article")).not_to_contain_text("more label")
    page.goto(f"{server.url}/#/")  # its items are given back
    campaign = mp.open_campaign(server.storage, name)
    waiting = {query.id: query for query in campaign.waiting()}
    while campaign.best().labels_used < 12:
        query = waiting.popitem()[1] if waiting else campaign.pending(1)[0]
        campaign.tell(query.id, f"class-{query.id % 2:02}")
    pick = campaign.best()
    assert pick.to_go is not None
    assert pick.more is not None
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.locator(".summary .state-line")).to_contain_text(pick.more.sentence)
    page.get_by_role("button", name=f"Ask about {pick.more.labels} more").click()
    expect(page.locator(".summary .spent")).to_contain_text(pick.to_go.words)
    page.get_by_role("link", name="Label the next item").click()
    expect(page.get_by_role("article")).to_contain_text(
        f"12 of at most {12 + pick.more.labels}, {pick.to_go.words}"
    )


def test_with_many_classes_the_candidates_for_this_item_come_first(page: Page, server: Serving, name: str) -> None:
    chosen(page, server, name, table(classes=20))
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("group", name="Candidates for this item")).to_be_visible()
    place = int(re.findall(r"\d+", page.locator(".item-text").inner_text())[0])
    shown = {text.split("\n")[0].strip() for text in page.locator(".class-button bdi").all_inner_texts()}
    assert shown == {f"class-{place % 20:02}", f"class-{(place + 1) % 20:02}"}
    page.get_by_placeholder("Search 20 classes").fill("class-07")
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")
    expect(page.locator(".last-action")).to_contain_text("class-07")


def test_a_tab_that_is_closed_gives_its_items_back(
    context: BrowserContext, page: Page, server: Serving, name: str
) -> None:
    chosen(page, server, name, table())
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_be_visible()
    campaign = mp.open_campaign(server.storage, name)
    wait_until(lambda: len([one for one in campaign.pending() if one.leased_by]) == 10)
    other = context.new_page()  # else the browser would end with its last tab
    page.close()
    wait_until(lambda: not [one for one in campaign.pending() if one.leased_by], seconds=10)
    other.close()


@pytest.mark.parametrize("way", ["drop", "pause"])
def test_a_file_can_be_dropped_and_nothing_is_asked_while_paused(
    page: Page, server: Serving, name: str, way: str
) -> None:
    if way == "drop":
        page.goto(f"{server.url}/#/new")
        expect(page.get_by_text("Choose a file first.")).to_be_visible()
        expect(page.get_by_role("button", name="Create campaign")).to_be_disabled()
        data = page.evaluate_handle(
            """([content, name]) => {
              const data = new DataTransfer();
              data.items.add(new File([content], name, { type: 'text/csv' }));
              return data;
            }""",
            ["id,text,good,poor\n1,One,a,b\n2,Two,b,a\n3,Three,a,a\n", f"{name}.csv"],
        )
        page.dispatch_event(".drop", "drop", {"dataTransfer": data})
        expect(page.get_by_text("3 items, 2 models, 2 classes.")).to_be_visible()
        page.get_by_role("button", name="Create campaign").click()
        expect(page.get_by_role("article")).to_be_visible()
        return
    pool = mp.ModelCollection([["a", "b"], ["b", "a"]], models=["good", "poor"])
    mp.create_campaign(server.storage, name, pool=pool).revise(paused=True)
    page.goto(f"{server.url}/#/c/{name}/label")
    expect(page.locator(".item-pane .empty")).to_contain_text("Nobody is asked for labels now.")


def test_a_column_is_the_judge_and_is_not_shown(page: Page, server: Serving, name: str) -> None:
    lines = table().splitlines()
    judged = [f"{lines[0]}\tgpt", *(f"{line}\tclass-{place % 2:02}" for place, line in enumerate(lines[1:]))]
    chosen(page, server, name, "\n".join(judged) + "\n")
    expect(page.locator(".seen")).to_contain_text("4 models")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Judge").select_option("gpt")
    expect(page.locator(".seen")).to_contain_text("3 models")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("0 by you, 0 in all", timeout=30_000)
    expect(page.get_by_role("article")).not_to_contain_text("gpt")
    campaign = mp.open_campaign(server.storage, name)
    assert campaign.settings.options["judge"] == "gpt"
    answer(page)
    expect(page.get_by_role("article")).to_contain_text("1 by you, 1 in all")
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.locator(".summary")).to_contain_text("The judge agreed with 1 of 1 label (100%")


def test_mistakes_models_and_wrong_labels_have_a_price(page: Page, server: Serving, name: str) -> None:
    chosen(page, server, name, table(classes=3))
    page.get_by_text("More", exact=True).click()
    page.get_by_label("What a mistake costs").select_option("more for some classes")
    expect(page.get_by_text("1 point is 1 % of")).to_contain_text("the worst mistake")
    weights = page.get_by_role("group", name="Weight of each class")
    weights.get_by_label("class-01").fill("5")
    page.get_by_text("Prices of models").click()
    prices = page.get_by_role("group", name="Price per item")
    prices.get_by_label("good").fill("0.03")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("alert").filter(has_text="price")).to_contain_text("fair")
    for model, price in {"fair": "0.02", "poor": "0.01"}.items():
        prices.get_by_label(model).fill(price)
    page.get_by_label("Mistakes of people").fill("2")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("0 by you, 0 in all", timeout=30_000)
    options = mp.open_campaign(server.storage, name).settings.options
    assert options["label_noise"] == pytest.approx(0.02)
    assert options["price"] == {"good": 0.03, "fair": 0.02, "poor": 0.01}
    assert mp.open_campaign(server.storage, name).best().certificate.loss == "weighted accuracy"
    page.goto(f"{server.url}/#/c/{name}/settings")
    expect(page.get_by_text("cheapest model that is proven")).to_be_visible()


def test_each_class_counts_the_same_if_the_file_has_labels(page: Page, server: Serving, name: str) -> None:
    lines = table().splitlines()
    labelled = [f"{lines[0]}\tlabel", *(f"{line}\tclass-{place % 2:02}" for place, line in enumerate(lines[1:]))]
    page.goto(f"{server.url}/#/new")
    page.get_by_label("File of predictions").set_input_files(file_called(name, "\n".join(labelled) + "\n"))
    page.get_by_label("What code is").select_option("shown")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("What a mistake costs").select_option("the same for each class, rare or not")
    page.get_by_label("Ask for").select_option("grades")
    expect(page.get_by_label("What a mistake costs")).to_have_count(0)
    page.get_by_label("Ask for").select_option("class")
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("0 by you, 0 in all", timeout=30_000)
    assert mp.open_campaign(server.storage, name).best().certificate.loss == "balanced accuracy"


def test_a_column_is_chosen_as_the_slices_and_each_has_a_row(page: Page, server: Serving, name: str) -> None:
    lines = table().splitlines()
    sliced = [
        f"{lines[0]}\tlanguage",
        *(f"{line}\t{('en', 'de')[place // 2 % 2]}" for place, line in enumerate(lines[1:])),
    ]
    page.goto(f"{server.url}/#/new")
    page.get_by_label("File of predictions").set_input_files(file_called(name, "\n".join(sliced) + "\n"))
    page.get_by_label("What code is").select_option("shown")
    expect(page.get_by_role("button", name="Create campaign")).to_be_disabled()  # what language is, is not clear
    page.get_by_label("How close").fill("10")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Slices").select_option("language")
    expect(page.get_by_label("What language is")).to_have_value("shown")
    expect(page.get_by_role("button", name="Create campaign")).to_be_enabled()
    page.get_by_role("button", name="Create campaign").click()
    expect(page.get_by_role("article")).to_contain_text("language", timeout=30_000)
    campaign = mp.open_campaign(server.storage, name)
    assert campaign.settings.slice == "language"
    assert campaign.settings.models == ("good", "fair", "poor")
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.locator(".summary")).to_be_visible()
    expect(page.locator(".slices")).to_have_count(0)  # no model is named before the first label
    query = campaign.pending(1)[0]
    campaign.tell(query.id, f"class-{query.id % 2:02}")
    rows = page.locator(".slices tbody tr")
    expect(rows).to_have_count(2)
    while queries := campaign.pending(1):
        campaign.tell(queries[0].id, f"class-{queries[0].id % 2:02}")
    expect(rows.nth(1)).to_contain_text("within")
    expect(rows.nth(0).get_by_role("rowheader")).to_have_text("de")
    expect(page.locator(".slices")).to_contain_text("The same everywhere: good is")
    page.goto(f"{server.url}/#/c/{name}/settings")
    expect(page.locator(".facts")).to_contain_text("Slices")
    expect(page.locator(".facts")).to_contain_text("language")
