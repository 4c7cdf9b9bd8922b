"""The documentation site: it builds without a warning, every link works, and nothing comes from another host."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser
from tools.reference_pages.commands import verbs
from tools.reference_pages.http import operations

import modelpicker as mp
from modelpicker import errors
from modelpicker.campaigns.setting_options import SETTINGS
from modelpicker.cli.shared.campaign_options import SERVER_SETTINGS
from modelpicker.server.api.problems import KINDS

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


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on a server of its own, as search needs one."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """A server that does not log."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_search_finds_a_page_in_a_browser(address: str, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/index.html")
    page.get_by_role("textbox", name="Search").fill("abstention")
    page.locator(".md-search-result__item a", has_text="Glossary").first.wait_for()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    page.close()


@pytest.mark.parametrize(
    "name", ["index.html", "get-started/index.html", "reference/http.html", "how-it-works/pools.html"]
)
def test_a_page_fits_a_telephone(name: str, address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page.goto(f"{address}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    page.close()


def shown(site: Path, page: str) -> str:
    """The words of a page of the reference, without its tags."""
    text = re.sub(r"<[^>]+>", "", (site / "reference" / page).read_text("utf-8"))
    return " ".join(unescape(text).split())


def test_every_public_name_has_its_docstring_on_a_page(pages: dict[Path, Page]) -> None:
    anchors = set[str]().union(*(page.anchors for path, page in pages.items() if path.parent.name == "python"))
    failures = {name for name in mp.__all__ if name.endswith("Error")}
    assert [
        name for name in {*mp.__all__} - failures - {"__version__"} if f"modelpicker.{name}" not in anchors
    ] == []


def test_every_verb_and_option_is_on_the_page_of_commands(site: Path, pages: dict[Path, Page]) -> None:
    text, anchors = shown(site, "commands.html"), pages[site / "reference" / "commands.html"].anchors
    for name, command, context in verbs():
        assert name.replace(" ", "-") in anchors
        records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
        assert [left for left, _ in filter(None, records) if left not in text and left != "-h, --help"] == [], name


def test_every_route_is_on_the_page_of_the_http_api(site: Path, pages: dict[Path, Page]) -> None:
    text, anchors = shown(site, "http.html"), pages[site / "reference" / "http.html"].anchors
    found = [*operations()]
    assert len(found) > 40
    assert [f"{method} {path}" for method, path, _ in found if f"{method} {path} " not in text] == []
    assert {spec["operationId"] for _, _, spec in found} <= anchors


def test_every_setting_is_on_its_page(site: Path) -> None:
    text = shown(site, "settings.html")
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    wanted = {
        *re.findall(r"\bMODELPICKER_[A-Z_]+[A-Z]\b", source),
        *SERVER_SETTINGS,
        *(one.name for one in SETTINGS),
    }
    wanted -= {"MODELPICKER_SPARE_CACHE"}  # set by the server, for the process that compiles for it
    assert len(wanted) > 30
    assert [name for name in sorted(wanted) if not re.search(rf"\b{name}\b", text)] == []


def test_every_error_and_exit_code_is_explained(site: Path) -> None:
    text = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    kinds = [kind for name, kind in vars(errors).items() if name.endswith("Error")]
    assert len(kinds) > 10
    assert [
        kind.__name__
        for kind in kinds
        if kind is not errors.ModelPickerError and f"| `{kind.__name__}`" not in text
    ] == []
    assert [kind.exit_code for kind in kinds if f"| {kind.exit_code} |" not in text] == []
    assert [status for status in KINDS if str(status) not in shown(site, "errors.html")] == []


WORDS = (
    *(
        "model",
        "collection",
        "round",
        "algorithm",
        "picker",
        "decision",
        "query",
        "trace",
        "realization",
        "campaign",
    ),
    *("pool", "certificate", "loss", "judge", "slice", "stream", "population", "item", "label", "class", "budget"),
    *("confidence", "gap", "tolerance", "abstention", "contested item", "wealth", "martingale", "kappa", "regret"),
)


def test_the_glossary_has_every_word_and_is_in_order() -> None:
    terms = re.findall(
        r"^(.+)\n:   ", (ROOT / "docs" / "reference" / "glossary.md").read_text("utf-8"), re.MULTILINE
    )
    assert terms == sorted(terms)
    assert {*WORDS} <= {word for term in terms for word in term.split(", ")}
