"""Every kind of storage: one suite runs over all of them."""

import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelpicker.campaigns.storage.database import open_storage
from tests.campaigns.servers import Server


@pytest.fixture(scope="session")
def server(postgresql: Server) -> Server:
    """A real PostgreSQL."""
    return postgresql


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """An empty database of a real PostgreSQL."""
    place = server.database()
    yield place
    open_storage(place, create=True).close()
    server.give_back(place)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty storage of each kind."""
    if request.param == "postgresql":
        yield request.getfixturevalue("database")
        return
    place = f"sqlite:///{tmp_path}/campaigns.db" if request.param == "sqlite" else f"memory://{uuid.uuid4().hex}"
    yield place
    open_storage(place, create=True).close()


@pytest.fixture
def memory() -> Iterator[str]:
    """A new storage in memory, where it does not matter what kind it is of."""
    place = f"memory://{uuid.uuid4().hex}"
    yield place
    open_storage(place, create=True).close()


@pytest.fixture
def file_url(tmp_path: Path) -> Iterator[str]:
    """A new SQLite file."""
    place = f"sqlite:///{tmp_path}/campaigns.db"
    yield place
    open_storage(place, create=True).close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte, where this process may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("A FULL DISK IS NOT TESTED: this process may not mount one")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
