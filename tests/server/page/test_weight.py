"""What comes over the line before the page can be used. Seconds are in `benchmarks/page_weight.py`."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.server.page.desks import digits_campaign, until
from tests.server.page.serving import Serving

# At 50 kB/s, 3 seconds are 150 kB. A third of it is left for the time that requests and the browser itself take.
MOST_BYTES = 100_000


class Line:
    """What a tab receives."""

    def __init__(self, page: Page) -> None:
        self.bytes = 0
        self.names: dict[str, str] = {}
        self.fetched: list[str] = []
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.loadingFinished", self._came)
        session.send("Network.enable")

    def _asked(self, event: dict[str, Any]) -> None:
        self.names[event["requestId"]] = event["request"]["url"]

    def _came(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])
        if event["encodedDataLength"] > 0:
            self.fetched.append(self.names.get(event["requestId"], ""))


def test_a_first_visit_is_light_and_the_next_fetches_nothing_again(page: Page, server: Serving, name: str) -> None:
    digits_campaign(server.storage, name, 40, labelled=3)
    for view, parts in (("label", (".item img", ".leader-aside")), ("standing", ("figure.chart",))):
        line = Line(page)
        page.goto(f"{server.url}/#/c/{name}/{view}")
        for part in parts:  # the leaders beside the item are fetched after it
            expect(page.locator(part).first).to_be_attached()
        all_has_come(page)
        assert 0 < line.bytes < MOST_BYTES, view
        if view == "label":
            assert not any(one.endswith("parts/chart.js") for one in line.fetched)
        page.goto("about:blank")
    again = Line(page)
    page.goto(f"{server.url}/#/c/{name}/label")
    expect(page.locator(".item img").first).to_be_visible()
    assert [one for one in again.fetched if "/static/" in one] == []


def all_has_come(page: Page) -> None:
    """Wait until nothing more is fetched: what is fetched late is not kept if the page is left before."""
    seen = -1
    while (now := page.evaluate("performance.getEntriesByType('resource').length")) != seen:
        seen = now
        page.wait_for_timeout(300)


def test_the_page_is_never_blank(page: Page, server: Serving) -> None:
    page.route("**/static/**", lambda route: None)  # a line on which nothing else comes
    page.goto(server.url, wait_until="commit")
    expect(page.get_by_role("img", name="Loading modelpicker")).to_be_visible()
    until(page, "performance.getEntriesByName('first-contentful-paint').length > 0")
