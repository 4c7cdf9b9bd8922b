"""Reloads, restarts and lost connections: no answer is lost, and none counts twice."""

import json

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.server.page.desks import Desk, answers, campaign_of, messages, until
from tests.server.page.serving import Serving


def test_after_a_reload_one_goes_on_where_one_was(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(5))
    desk = Desk(page, server.url, name).open()
    desk.press("1")
    desk.sees("Message number 1")
    page.reload()
    desk.sees("Message number 1")
    desk.settled()
    assert answers(campaign) == {0: "spam"}
    page.keyboard.press("u")
    desk.sees("Message number 0")
    desk.settled()
    assert answers(campaign) == {}


def test_a_server_that_is_killed_and_comes_back_has_every_answer(
    page: Page, context: BrowserContext, own_server: Serving, name: str
) -> None:
    campaign = campaign_of(own_server.storage, name, messages(8))
    standing = context.new_page()
    standing.goto(f"{own_server.url}/#/c/{name}/standing")
    expect(standing.get_by_text("Live", exact=True)).to_be_visible()
    desk = Desk(page, own_server.url, name).open()
    with page.expect_response("**/leases"):
        desk.press("1")
    desk.settled()
    own_server.kill()
    desk.press("2")
    desk.press("3")
    desk.sees("Message number 3")
    expect(page.get_by_text("Offline: 2 answers wait to be sent.")).to_be_visible()
    expect(standing.get_by_text("Reconnecting …")).to_be_visible()
    own_server.start()
    desk.settled()
    expect(page.get_by_text("Offline")).to_have_count(0)
    expect(standing.get_by_text("Live", exact=True)).to_be_visible()
    expect(standing.locator(".headline")).to_contain_text("after 3 labels on 8 items")
    desk.press("1")
    desk.sees("Message number 4")
    desk.settled()
    assert answers(campaign) == {0: "spam", 1: "ham", 2: "urgent", 3: "spam"}


def test_without_a_connection_one_labels_on_and_undoes(
    page: Page, context: BrowserContext, server: Serving, name: str
) -> None:
    campaign = campaign_of(server.storage, name, messages(12))
    desk = Desk(page, server.url, name).open()
    expect(page.get_by_role("heading", name="Nobody leads yet")).to_be_visible()
    context.set_offline(True)
    for key in ("1", "2", "u", "3", "s", *"1111111"):  # ten items are there
        desk.press(key)
    expect(page.get_by_text("Offline: 10 answers wait to be sent.")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing more is loaded")).to_be_visible()
    assert answers(campaign) == {}
    context.set_offline(False)
    desk.sees("Message number 10")
    desk.settled()
    expect(page.get_by_text("Offline")).to_have_count(0)
    assert answers(campaign) == {0: "spam", 1: "urgent", 2: None, **dict.fromkeys(range(3, 10), "spam")}
    assert not any(record["kind"] == "retract" for record in campaign.history())  # it had never been sent


def test_answers_that_wait_survive_a_reload(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(4))
    desk = Desk(page, server.url, name).open()
    page.route("**/labels", lambda route: route.abort())
    desk.press("1")
    desk.press("2")
    expect(page.get_by_text("Offline: 2 answers wait to be sent.")).to_be_visible()
    assert answers(campaign) == {}
    page.unroute("**/labels")
    page.reload()
    desk.sees("Message number 2")
    desk.settled()
    assert answers(campaign) == {0: "spam", 1: "ham"}


def test_answers_of_a_tab_that_was_closed_are_sent_by_the_next(
    page: Page, context: BrowserContext, server: Serving, name: str
) -> None:
    campaign = campaign_of(server.storage, name, messages(2))
    left = {
        "campaign": name,
        "beat": 0,
        "entries": [{"kind": "label", "id": 1, "label": "ham", "annotator": "gone"}],
    }
    page.goto(server.url)
    page.evaluate(
        "([key, value]) => localStorage.setItem(key, value)", [f"modelpicker:outbox:{name}:dead", json.dumps(left)]
    )
    second = context.new_page()
    desk = Desk(second, server.url, name).open()
    desk.settled()
    assert answers(campaign) == {1: "ham"}


def test_an_undo_comes_after_the_label_it_undoes(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3))
    desk = Desk(page, server.url, name).open()
    held: list[Route] = []
    page.route("**/labels", lambda route: route.continue_() if held else held.append(route))
    desk.press("1")
    until(page, "Object.values(localStorage).some((kept) => kept.includes('tried'))")
    page.keyboard.press("u")
    desk.sees("Message number 0")
    desk.press("2")
    desk.sees("Message number 1")
    held[0].continue_()
    desk.settled()
    told = [record["kind"] for record in campaign.history() if record["kind"] != "ask"]
    assert told == ["label", "retract", "label"]
    assert answers(campaign) == {0: "ham"}


@pytest.mark.slow
def test_a_server_that_is_busy_is_asked_again_later(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(2))
    desk = Desk(page, server.url, name).open()
    refusals = iter((503, 429))

    def refuse(route: Route) -> None:
        status = next(refusals, None)
        if status is None:
            route.continue_()
        else:
            route.fulfill(status=status, headers={"Retry-After": "1"}, json={"detail": "Too much to do."})

    page.route("**/labels", refuse)
    desk.press("1")
    expect(page.get_by_text("1 answer waits to be sent. Too much to do. Trying again …")).to_be_visible()
    desk.settled()
    assert answers(campaign) == {0: "spam"}


def test_an_answer_that_is_refused_is_told_and_dropped(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3))
    desk = Desk(page, server.url, name).open()
    campaign.tell(0, "urgent", annotator="somebody else")
    desk.press("1")
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("the label “spam” of item 0 was not accepted")
    desk.sees("Message number 1")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    notice.get_by_role("button", name="Dismiss").click()
    expect(notice).to_be_empty()
    assert answers(campaign) == {0: "urgent"}
