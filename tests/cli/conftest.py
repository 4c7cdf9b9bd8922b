"""A file to pick from, for the tests of all forms of `modelpicker pick`."""

from pathlib import Path

import pytest

from tests.cli.picking import write_words


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A folder with x.parquet, a collection of words with labels and ids."""
    return write_words(tmp_path)
