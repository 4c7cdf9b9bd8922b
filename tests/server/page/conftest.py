"""A real browser, and a real server that the tests of one process share, each with a campaign of its own."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from modelpicker.campaigns.storage.database import open_storage
from modelpicker.server.access.tokens import create_token
from tests.server.page.desks import Person
from tests.server.page.serving import Serving, serving

ROLES = ("owner", "annotator", "reader")
PATIENCE = 10_000  # milliseconds; a wait ends as soon as it can


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that needs no tokens."""
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, dict[str, str]]]:
    """A server that needs tokens, and a token of each role."""
    folder = tmp_path_factory.mktemp("guarded")
    storage = open_storage(f"sqlite:///{folder}/campaigns.db", create=True)
    tokens = {role: create_token(storage, role, role) for role in ROLES}
    with serving(folder, "--tokens") as running:
        yield running, tokens


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Serving]:
    """A server for one test, which may kill it."""
    with serving(tmp_path) as running:
        yield running


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for the test's campaign."""
    return re.sub(r"\W+", "-", request.node.name).strip("-")[:90]


class Watch:
    """What must never happen on a page: errors, dialogs, and requests to other hosts."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.elsewhere: list[str] = []

    def over(self, context: BrowserContext) -> None:
        """Watch all pages of a context."""
        context.on("page", self._page)
        context.on("request", self._request)

    def _page(self, page: Page) -> None:
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))
        page.on("console", lambda said: self.errors.append(said.text) if "Content Security" in said.text else None)

    def _request(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.elsewhere.append(request.url)


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Sees to it that no test ends with errors in the page, or a request that left for another host."""
    watching = Watch()
    yield watching
    assert watching.errors == []
    assert watching.elsewhere == []


@pytest.fixture
def context(browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """Somebody's browser."""
    made = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    watch.over(made)
    yield made
    made.close()


@pytest.fixture
def other_context(browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """Somebody else's browser."""
    made = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    watch.over(made)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab."""
    return context.new_page()


@pytest.fixture(params=["annotator", pytest.param("owner", marks=pytest.mark.slow)])
def labeller(request: pytest.FixtureRequest, page: Page, guarded: tuple[Serving, dict[str, str]]) -> Person:
    """Somebody who may label, signed in: whatever is true of labelling is true of both roles.

    The page asks who may label in one place (state/session.js), so that the quick tests try most things as one.
    """
    return signed_in(page, guarded, request.param)


@pytest.fixture(params=["owner", "annotator"])
def either_labeller(request: pytest.FixtureRequest, page: Page, guarded: tuple[Serving, dict[str, str]]) -> Person:
    """Somebody of each role that may label, in the quick tests too."""
    return signed_in(page, guarded, request.param)


@pytest.fixture
def reader(page: Page, guarded: tuple[Serving, dict[str, str]]) -> Person:
    """Somebody who may look at everything and label nothing."""
    return signed_in(page, guarded, "reader")


def signed_in(page: Page, guarded: tuple[Serving, dict[str, str]], role: str) -> Person:
    """A tab of somebody with this role."""
    server, tokens = guarded
    answer = page.context.request.post(f"{server.url}/api/v1/session", data={"token": tokens[role]})
    assert answer.ok
    return Person(page, server, role)
