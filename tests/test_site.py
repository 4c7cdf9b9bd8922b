"""The documentation site: it builds without a warning, every link works, and nothing comes from another host."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs", reason="NO MKDOCS: the documentation site is not built")
ROOT = Path(__file__).parents[1]
PARTS = ("get-started", "how-to", "how-it-works", "reference")
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
NOT_FETCHED = {"canonical", "next", "prev", "alternate", "edit"}


class Page(HTMLParser):
    """What a built page links to, what it fetches, and where one can jump to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if FETCHED.get(tag, "") in values and values.get("rel") not in NOT_FETCHED:
            self.fetched.append(values[FETCHED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once as `make docs` builds it, at any other place."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_has_its_place_in_one_of_the_four_parts(site: Path, pages: dict[Path, Page]) -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    assert {path.parts[0] for path in written} == {*PARTS, "index"}
    assert {path.relative_to(site).with_suffix("") for path in pages} >= written


def inside(pages: dict[Path, Page]) -> Iterator[tuple[Path, str, Path, str]]:
    """All links that stay in the site: the page, the link, the file it leads to, and the place in it."""
    for path, page in pages.items():
        for link in page.links:
            where = urlsplit(link)
            if not where.scheme and not where.netloc and path.name != "404.html":
                target = (path.parent / unquote(where.path)).resolve() if where.path else path
                yield path, link, target / "index.html" if target.is_dir() else target, unquote(where.fragment)


def test_every_link_and_every_anchor_exists(pages: dict[Path, Page]) -> None:
    links = list(inside(pages))
    assert len(links) > 1000
    assert [f"{page.name}: {link}" for page, link, target, _ in links if not target.exists()] == []
    lost = [
        f"{page.name}: {link}"
        for page, link, target, place in links
        if place and target in pages and place not in pages[target].anchors
    ]
    assert lost == []


def test_nothing_is_fetched_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    fetched = [(path.name, link) for path, page in pages.items() for link in page.fetched]
    assert len(fetched) > len(pages)
    assert [place for place in fetched if urlsplit(place[1]).netloc] == []
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*", style.read_text("utf-8"))
        assert "@import" not in style.read_text("utf-8")


def test_the_site_can_be_searched_and_turned_dark(site: Path, pages: dict[Path, Page]) -> None:
    assert "certificate" in (site / "search" / "search_index.json").read_text("utf-8")
    assert 'data-md-color-scheme="slate"' in (site / "index.html").read_text("utf-8")
