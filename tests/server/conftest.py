"""A server for each worker, on an SQLite file; tests make campaigns of their own."""

import uuid
from collections.abc import Iterator

import pytest

from tests.server.servers import Running, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server without tokens, as on anybody's own machine."""
    with serving(f"sqlite:///{tmp_path_factory.mktemp('server') / 'campaigns.db'}") as running:
        yield running


@pytest.fixture
def name() -> str:
    """The name of a campaign that nobody else has."""
    return f"campaign-{uuid.uuid4().hex[:12]}"
