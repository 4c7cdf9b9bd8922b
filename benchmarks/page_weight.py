"""How soon the page can be used over a slow line: `python -m benchmarks.page_weight`.

Serves the demo with some labels, and opens each view in a real Chromium with an empty cache and a line of 50 kB/s
(throttled by the browser itself, through the DevTools protocol); then once more with what the browser has kept.
"""

import argparse
import json
import shutil
import time
from typing import Any, NamedTuple

from playwright.sync_api import Browser, CDPSession, sync_playwright

from benchmarks.screenshots import labelled_demo

VIEWS = {
    "campaigns": ("#/", ".campaign-card"),
    "label": ("#/c/digits/label", ".item img"),
    "standing": ("#/c/digits/standing", "figure.chart .plot > *"),
    "new campaign": ("#/new", "form"),
}
LABELS = 60


class Visit(NamedTuple):
    """One visit to a view."""

    view: str
    cache: str
    painted: float
    """Seconds until something is on screen."""
    usable: float
    """Seconds until it is what somebody came for."""
    requests: int
    kilobytes: float


class Traffic:
    """What comes over the line."""

    def __init__(self, session: CDPSession, rate: int, latency: int) -> None:
        self.requests, self.bytes = 0, 0
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")
        conditions = {"offline": False, "latency": latency, "downloadThroughput": rate, "uploadThroughput": rate}
        session.send("Network.emulateNetworkConditions", conditions)

    def _finished(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])
        self.requests += event["encodedDataLength"] > 0


def visit(browser: Browser, url: str, view: str, rate: int, latency: int) -> list[Visit]:
    """A view with an empty cache, and again with what was kept."""
    address, ready = VIEWS[view]
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    visits = []
    for cache in ("cold", "warm"):
        page = context.new_page()
        traffic = Traffic(context.new_cdp_session(page), rate, latency)
        began = time.perf_counter()
        page.goto(f"{url}/{address}", wait_until="commit")
        page.locator(ready).first.wait_for(timeout=60_000)
        usable = time.perf_counter() - began
        came = traffic.requests, traffic.bytes / 1000
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
        page.wait_for_timeout(4_000)  # until the other views are fetched, too
        visits.append(Visit(view, cache, round(painted / 1000, 2), round(usable, 2), came[0], round(came[1], 1)))
        page.close()
    context.close()
    return visits


def measure(rate: int, latency: int) -> list[Visit]:
    """All views of a server of our own."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with labelled_demo(LABELS) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        visits = [one for view in VIEWS for one in visit(browser, url, view, rate, latency)]
        browser.close()
        return visits


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=50_000, help="bytes per second")
    parser.add_argument("--latency", type=int, default=40, help="milliseconds per request")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    visits = measure(options.rate, options.latency)
    if options.json:
        print(json.dumps([one._asdict() for one in visits]))
        return
    print(f"{options.rate / 1000:g} kB/s, {options.latency} ms per request; seconds")
    print(f"{'view':14}{'cache':7}{'painted':>9}{'usable':>9}{'requests':>10}{'kB':>8}")
    for one in visits:
        print(f"{one.view:14}{one.cache:7}{one.painted:9.2f}{one.usable:9.2f}{one.requests:10}{one.kilobytes:8.1f}")


if __name__ == "__main__":
    main()
