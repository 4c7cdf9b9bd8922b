"""Signing in, and what each role sees."""

import pytest
from playwright.sync_api import Page, expect

import modelpicker as mp
from tests.server.page.desks import UNSEEN, campaign_of, messages, settled
from tests.server.page.serving import Serving


@pytest.fixture(scope="module", autouse=True)
def tickets(guarded: tuple[Serving, dict[str, str]]) -> None:
    """A campaign that everybody looks at."""
    campaign_of(guarded[0].storage, "tickets", messages(20))


def sign_in(page: Page, url: str, token: str) -> None:
    page.goto(url)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def test_nobody_sees_anything_without_a_token(page: Page, guarded: tuple[Serving, dict[str, str]]) -> None:
    server, tokens = guarded
    sign_in(page, f"{server.url}/#/c/tickets/standing", "mp_wrong")
    expect(page.get_by_role("alert").filter(has_text="token")).to_be_visible()
    page.get_by_label("Token").fill(tokens["owner"])
    page.get_by_label("Token").press("Enter")
    expect(page.get_by_role("heading", name="Leader board")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Leader board")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_annotator_labels_and_sees_no_standing(page: Page, guarded: tuple[Serving, dict[str, str]]) -> None:
    server, tokens = guarded
    sign_in(page, server.url, tokens["annotator"])
    page.get_by_role("link", name="Label tickets").click()
    expect(page.get_by_role("article")).to_be_visible()
    expect(page.get_by_role("link", name="Standing")).to_have_count(0)
    expect(page.get_by_role("button", name="Predictions")).to_have_count(0)
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("1")
    expect(page.locator(".last-action")).to_contain_text("Labelled")
    page.goto(f"{server.url}/#/c/tickets/standing")
    expect(page).to_have_url(f"{server.url}/#/c/tickets/label")
    page.goto(f"{server.url}/#/new")
    expect(page.get_by_role("heading", name="Only owners create campaigns")).to_be_visible()


def test_a_reader_sees_all_and_changes_nothing(page: Page, guarded: tuple[Serving, dict[str, str]]) -> None:
    server, tokens = guarded
    sign_in(page, server.url, tokens["reader"])
    page.get_by_role("link", name="tickets", exact=True).click()
    expect(page.get_by_role("heading", name="Leader board")).to_be_visible()
    expect(page.get_by_role("link", name="Label", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Files").click()
    expect(page.get_by_role("heading", name="Download results")).to_be_visible()
    expect(page.get_by_role("heading", name="Add predictions")).to_have_count(0)


def test_answers_wait_while_nobody_is_signed_in(page: Page, guarded: tuple[Serving, dict[str, str]]) -> None:
    server, tokens = guarded
    sign_in(page, f"{server.url}/#/c/tickets/label", tokens["annotator"])
    expect(page.get_by_role("article")).to_be_visible()
    page.context.clear_cookies()
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Token").fill(tokens["annotator"])
    page.get_by_label("Token").press("Enter")
    expect(page.get_by_role("article")).to_be_visible()
    settled(page)


def test_an_answer_is_not_sent_under_somebody_elses_name(
    page: Page, guarded: tuple[Serving, dict[str, str]]
) -> None:
    server, tokens = guarded
    sign_in(page, f"{server.url}/#/c/tickets/label", tokens["annotator"])
    expect(page.get_by_role("article")).to_be_visible()
    page.context.clear_cookies()
    page.wait_for_timeout(UNSEEN)
    page.keyboard.press("3")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Token").fill(tokens["owner"])
    page.get_by_label("Token").press("Enter")
    expect(page.get_by_text("given by annotator")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").fill(tokens["annotator"])
    page.get_by_label("Token").press("Enter")
    expect(page.get_by_role("article").or_(page.locator(".empty"))).to_be_visible()
    expect(page.get_by_text("given by annotator")).to_have_count(0)
    settled(page)
    signed = [record["by"] for record in mp.open_campaign(server.storage, "tickets").history() if "by" in record]
    assert signed
    assert all(by.startswith("annotator/") for by in signed)
