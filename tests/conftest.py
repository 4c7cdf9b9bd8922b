"""What tests of several layers share."""

from collections.abc import Iterator

import pytest

from tests.campaigns.servers import Server, postgres


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A real PostgreSQL, for all tests of one process: to start one takes seconds."""
    with postgres() as running:
        yield running
