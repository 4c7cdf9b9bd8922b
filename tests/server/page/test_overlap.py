"""Two people label the same items, and the owner settles what they disagree on."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import modelpicker as mp
from tests.server.page.conftest import signed_in
from tests.server.page.desks import Desk, settled
from tests.server.page.serving import Serving
from tests.server.page.test_pools import chosen, table
from tests.server.servers import wait_until


def label_all(desk: Desk, key: str, items: int) -> None:
    """Press a key for each item, and see that all of it is sent."""
    for _ in range(items):
        text = desk.item.locator(".item-text").inner_text()
        desk.press(key)
        expect(desk.page.get_by_text(text, exact=True)).to_have_count(0)
    settled(desk.page)


@pytest.mark.slow
def test_two_people_disagree_and_the_owner_settles_it_in_the_labels_view(
    page: Page, other_context: BrowserContext, server: Serving, name: str
) -> None:
    chosen(page, server, name, table(8))
    page.get_by_text("More", exact=True).click()
    page.get_by_label("People per item").fill("2")
    page.get_by_label("How close").fill("0")
    page.get_by_label("Labels at most").fill("4")
    page.get_by_role("button", name="Create campaign").click()
    one = Desk(page, server.url, name)
    expect(one.item).to_be_visible(timeout=30_000)  # kernels may have to be compiled first
    campaign = mp.open_campaign(server.storage, name)
    assert (campaign.settings.overlap, campaign.budget) == (2, 4)
    label_all(one, "1", 2)
    wait_until(lambda: campaign.labels_bought == 2)
    again = Desk(page.context.new_page(), server.url, name)  # another tab of the same browser is no other person
    again.page.goto(again.address)
    expect(again.page.get_by_role("heading", name="Others have the rest")).to_be_visible()
    expect(again.page.get_by_text("2 items wait for other people.")).to_be_visible()
    other = Desk(other_context.new_page(), server.url, name).open()
    other.press("1")
    wait_until(lambda: campaign.counts().labels == 1)
    other.press("2")
    wait_until(lambda: campaign.counts().conflicts == 1)

    page.goto(f"{server.url}/#/c/{name}/label")
    page.get_by_role("link", name="Settle conflicts").click()
    conflicts = page.get_by_role("region", name="Conflicts")
    expect(conflicts).to_contain_text("1 item to settle. Until then it counts as the worst.")
    agreement = page.get_by_role("region", name="Agreement")
    expect(agreement).to_contain_text("All agree on 50 % of 2 items that several people labelled.")
    expect(agreement.get_by_role("table", name="Every two people").get_by_role("row")).to_have_count(2)
    row = page.locator(".labels-view > .label-list > li").filter(has_text="in conflict")
    expect(row.get_by_role("button", name="Correct")).to_have_count(0)
    expect(row.locator(".said-list").first.locator("div")).to_have_count(2)
    page.get_by_role("link", name="Settings").click()
    expect(page.locator(".facts div").filter(has_text="People per item")).to_contain_text("2")
    page.get_by_role("link", name="Labels").click()
    page.get_by_label("Kind").select_option("conflict")
    expect(page.get_by_text("1 answer", exact=True)).to_be_visible()
    conflicts.get_by_role("group", name="Settle").get_by_role("button", name="class-01").click()
    expect(conflicts).to_contain_text("Nobody disagrees.")
    assert campaign.counts().labels == 2
    assert campaign.label_of(campaign.labels()[0].id) == "class-01"


def test_readers_see_conflicts_and_settle_nothing_and_others_see_no_such_thing(
    page: Page, guarded: tuple[Serving, dict[str, str]], name: str, tmp_path: Path
) -> None:
    (tmp_path / "a.tsv").write_text(table(8))
    storage = guarded[0].storage
    pool = mp.load_collection(tmp_path / "a.tsv", columns={"code": "shown"})
    for called, overlap in ((name, 2), (f"{name}-1", 1)):
        campaign = mp.create_campaign(storage, called, pool=pool, overlap=overlap)
        item = campaign.pending(1)[0].id
        campaign.tell(item, "class-00", annotator="mia")
        if overlap == 2:
            campaign.skip(item, annotator="tom")
    person = signed_in(page, guarded, "reader")
    page.goto(f"{person.server.url}/#/c/{name}/labels")
    conflicts = page.get_by_role("region", name="Conflicts")
    expect(conflicts).to_contain_text("mia")
    expect(conflicts).to_contain_text("cannot tell")
    expect(conflicts.get_by_role("button")).to_have_count(0)
    page.goto(f"{person.server.url}/#/c/{name}-1/labels")
    expect(page.get_by_text("1 answer", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Conflicts")).to_have_count(0)
    expect(page.get_by_role("region", name="Agreement")).to_have_count(0)
