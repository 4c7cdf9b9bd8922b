"""What tests of several layers share."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.campaigns.servers import Server, postgres

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",  # an address bar unseen takes half the time
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # whatever a page asks for, nothing leaves
]


def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two cores: a third of the time tests wait for browsers, servers and disks."""
    return max(2, (os.cpu_count() or 1) * 3 // 2)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A real PostgreSQL, for all tests of one process: to start one takes seconds."""
    with postgres() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; where there is none, the test is skipped, loudly."""
    found = os.environ.get("MODELPICKER_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(
            f"NO BROWSER: none of {', '.join(NAMES)} is on PATH; set MODELPICKER_CHROMIUM to test the page."
        )
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        yield running
        running.close()
