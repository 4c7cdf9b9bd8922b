"""What tests of several layers share."""

import os
from collections.abc import Iterator

import pytest

from tests.campaigns.servers import Server, postgres


def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two cores: a third of the time tests wait for browsers, servers and disks."""
    return max(2, (os.cpu_count() or 1) * 3 // 2)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A real PostgreSQL, for all tests of one process: to start one takes seconds."""
    with postgres() as running:
        yield running
