"""The standing: which model leads, how certain that is, live."""

import re
from itertools import pairwise

import httpx2
import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

import modelpicker as mp
from tests.server.page.desks import campaign_of, digits_campaign, messages
from tests.server.page.serving import Serving


def test_the_standing_moves_while_somebody_else_labels(page: Page, server: Serving, name: str) -> None:
    campaign, truth = digits_campaign(server.storage, name, 300)
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.locator(".headline")).to_have_text("No labels yet: all 58 models are level.")
    expect(page.get_by_role("link", name="Label the next item")).to_be_visible()
    with httpx2.Client(base_url=f"{server.url}/api/v1/campaigns/{name}") as client:
        for query in campaign.pending()[:20]:
            client.post(
                "/labels", json={"id": query.id, "label": truth[query.id], "annotator": "other"}
            ).raise_for_status()
    pick = campaign.best()
    assert pick.covered < 300
    expect(page.locator(".headline")).to_contain_text(f"after 20 labels on {pick.covered} of 300 items")
    assert page.get_by_role("rowheader").first.inner_text() == str(pick.model)
    expect(page.get_by_role("heading", name="Weights over time")).to_be_visible()
    expect(page.locator(".certificate")).to_have_text(campaign.best().certificate.sentence)
    expect(page.locator(".badge")).to_have_text("Waiting for labels")
    expect(page.get_by_text(f"Gaps are about {pick.covered} of 300 items.")).to_contain_text(
        "The others are left out: the labels that stand for them are awaited."
    )
    expect(page.get_by_role("progressbar", name="Budget")).to_have_attribute("aria-valuenow", "20")


def test_the_board_and_every_chart_show_more_on_demand(page: Page, server: Serving, name: str) -> None:
    digits_campaign(server.storage, name, 300, labelled=10)
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.get_by_role("rowheader")).to_have_count(10)
    page.get_by_role("button", name="Show all 58").click()
    expect(page.get_by_role("rowheader")).to_have_count(58)
    for title, words in (
        ("Weights over time", "After 10 labels"),
        ("Labels bought", "300 rounds seen"),
        ("Query probability of recent rounds", "Of the last 300 rounds"),
    ):
        figure = page.get_by_role("figure").filter(has=page.get_by_role("heading", name=title))
        expect(figure.locator(".plot > svg")).to_be_visible()
        expect(figure.locator("figcaption p")).to_contain_text(words)
        figure.get_by_text("As a table").click()
        expect(figure.get_by_role("row").nth(6)).to_be_visible()
    expect(page.locator(".pairs li").first).to_be_visible()
    expect(page.locator(".divided img")).to_have_count(5)


def test_where_estimates_are_no_gaps_none_are_shown(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3))
    campaign.tell(0, "spam")
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.get_by_role("columnheader", name="Mistakes on labels")).to_be_visible()
    expect(page.locator(".interval")).to_have_count(0)


def test_a_certificate_is_one_sentence_and_says_when_to_stop(page: Page, server: Serving, name: str) -> None:
    rule = mp.Certified(gap=0.05, kind="stream")
    campaign = mp.create_campaign(server.storage, name, models=["bert", "gpt"], stop_when=rule)
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.locator(".certificate")).to_have_text(re.compile("^Not proven yet"))
    for label in ["spam"] * 20:
        campaign.tell(campaign.ask({"bert": label, "gpt": label}).id, label)
    for number in range(12):
        decision = campaign.ask({"bert": "spam", "gpt": "ham"}, key=f"odd-{number}")
        if decision.query:
            campaign.tell(decision.id, "spam")
    while not campaign.best().certified:
        campaign.ask({"bert": "spam", "gpt": "spam"})
    sentence = campaign.best().certificate.sentence
    expect(page.locator(".certificate")).to_have_text(sentence)
    expect(page.locator(".badge")).to_have_text("Certified")
    assert not campaign.ask({"bert": "spam", "gpt": "ham"}).query


def test_a_campaign_that_is_not_there_is_told(page: Page, server: Serving) -> None:
    for tab in ("standing", "label", "files"):
        page.goto(f"{server.url}/#/c/nothing-here/{tab}")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    page.goto(f"{server.url}/#/c/100%25/elsewhere")
    expect(page.get_by_text("There is nothing at this address.")).to_be_visible()


def test_every_line_has_its_name_and_keeps_its_colour_and_every_chart_can_be_taken_away(
    page: Page, server: Serving, name: str
) -> None:
    campaign, truth = digits_campaign(server.storage, name, 300, labelled=10)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/#/c/{name}/standing")
    figure = page.get_by_role("figure").filter(has=page.get_by_role("heading", name="Weights over time"))
    names = figure.locator(".line-names text")
    expect(names).to_have_count(12)
    boxes = sorted(map(box_of, names.all()), key=lambda box: box["y"])
    assert all(upper["y"] + 11 <= lower["y"] for upper, lower in pairwise(boxes)), "names overlap"
    frame = box_of(figure)
    assert all(box["x"] + box["width"] <= frame["x"] + frame["width"] for box in boxes), "a name is cut off"

    before = looks(figure)
    for query in campaign.pending()[:25]:
        campaign.tell(query.id, truth[query.id])
    expect(page.locator(".headline")).to_contain_text("after 35 labels")
    expect(figure.locator("figcaption")).to_contain_text("After 35 labels")
    after = looks(figure)
    both = before.keys() & after.keys()
    assert both
    assert list(before) != list(after), "the order should have changed"
    assert {model: before[model] for model in both} == {model: after[model] for model in both}
    assert len(set(after.values())) == len(after), "two lines look the same"
    page.reload()
    expect(names).to_have_count(12)
    assert looks(figure) == after

    for form, start in (("CSV", b"labels,"), ("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        with page.expect_download() as saving:
            figure.get_by_role("button", name=form).click()
        assert saving.value.suggested_filename == f"weights-over-time.{form.lower()}"
        content = saving.value.path().read_bytes()
        assert content.startswith(start)
        if form == "SVG":
            drawn = content.decode()
            assert "Weights over time" in drawn
            assert "var(" not in drawn
            assert drawn.count("<path") >= 12
        if form == "CSV":
            assert content.count(b"\r\n") == len(content.splitlines()) > 10


def box_of(element: Locator) -> FloatRect:
    """Where an element is."""
    found = element.bounding_box()
    assert found is not None
    return found


def looks(figure: Locator) -> dict[str, str]:
    """How the line of each model looks, in the order of the legend."""
    rows = figure.locator(".legend li[class]:not(.quiet-text)").all()
    return {row.locator("bdi").inner_text(): row.get_attribute("class") or "" for row in rows}


@pytest.mark.slow
def test_a_panel_that_says_nothing_is_not_shown_and_no_dot_is_clipped(
    page: Page, server: Serving, name: str
) -> None:
    campaign = campaign_of(server.storage, name, messages(12))
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.get_by_role("heading", name="Where models disagree")).to_be_visible()
    expect(page.get_by_role("heading", name="Query probability")).to_have_count(0)  # it is always 1
    expect(page.get_by_role("heading", name="over time")).to_have_count(0)  # no label yet
    expect(page.locator(".divided")).to_have_count(0)  # all of them wait for a label: no vote on them is shown
    for place in range(3):
        campaign.tell(place, "spam")
    expect(page.locator(".divided li")).to_have_count(3)
    expect(page.locator(".divided")).not_to_contain_text("msg-7")

    digits_campaign(server.storage, f"{name}-digits", 300, labelled=10)
    page.goto(f"{server.url}/#/c/{name}-digits/standing")
    dots = page.locator(".dots circle")
    expect(dots.first).to_be_visible()
    clipped = page.evaluate(
        """() => [...document.querySelectorAll('.dots circle, .interval-dot')].filter((dot) => {
          const [own, out] = [dot, dot.closest('svg, td')].map((one) => one.getBoundingClientRect());
          return own.left < out.left || own.right > out.right || own.top < out.top || own.bottom > out.bottom;
        }).length"""
    )
    assert clipped == 0
