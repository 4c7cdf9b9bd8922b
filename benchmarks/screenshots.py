"""The pictures of README and docs, taken in a real browser: `python -m benchmarks.screenshots [FOLDER]`.

Serves the demo, labels some digits as they truly are, and photographs the page.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

import modelpicker as mp

LABELS = 110
WIDTH = 1180
HEIGHTS = {"label": 760, "standing": 1180}


def label_some(client: mp.Client, count: int) -> None:
    """Label digits as somebody who reads well would."""
    digits = mp.load_collection("digits")
    assert digits.labels is not None  # noqa: S101
    truth = {
        f"digit-{number}": int(label) for number, label in zip(digits.fields["id"], digits.labels, strict=True)
    }
    campaign = client.campaign("digits")
    while campaign.best().labels_used < count:
        for query in campaign.pending(1, lease=60):
            campaign.tell(query.id, truth[str(query.key)])


def take(url: str, folder: Path) -> None:
    """The two views that README shows."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(device_scale_factor=1.5)
        for view, ready in (("label", "img"), ("standing", ".plot path")):
            page.set_viewport_size({"width": WIDTH, "height": HEIGHTS[view]})
            page.goto(f"{url}/#/c/digits/{view}")
            page.locator(ready).first.wait_for()
            page.wait_for_timeout(1500)  # until what moves has come to rest
            page.screenshot(path=folder / f"{view}.png")
        browser.close()


@contextmanager
def labelled_demo(labels: int) -> Iterator[str]:
    """A server of our own with the demo, on which some digits are labelled; its address."""
    command = [sys.executable, "-m", "modelpicker", "serve", "--demo", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    url = next(found[1] for line in process.stderr if (found := re.search(r"is on (http://\S+)", line)))
    try:
        label_some(mp.Client(url), labels)
        yield url
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Serve, label, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/images"))
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with labelled_demo(LABELS) as url:
        take(url, folder)


if __name__ == "__main__":
    main()
