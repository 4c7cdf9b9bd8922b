"""The walk through the code is counted as it was gone."""

import importlib
import sys
import threading
from pathlib import Path

import pyarrow.csv
import pytest
from benchmarks.walks import count_opens, recorded, write_csv

FIRST = """
def run(path):
    from walked import second
    again()
    for _ in range(3):
        second.there(again)

def again():
    sorted([2, 1], key=abs)
"""
SECOND = """
def local():
    pass
local()  # at import: does not count

def there(back):
    local()
    sorted([2, 1], key=lambda one: one)
    list(map(lambda one: back(), [1]))
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "walked"
    folder.mkdir()
    for name, code in {"__init__": "", "first": FIRST, "second": SECOND}.items():
        (folder / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("walked", "walked.first", "walked.second"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def test_a_walk_counts_calls_between_files_and_neither_imports_nor_calls_within_one(package: Path) -> None:
    first = importlib.import_module("walked.first")
    with recorded(package) as walk:
        first.run("")
    assert dict(walk.entries) == {"first.py": 1 + 3, "second.py": 3}
    assert list(walk.entries) == ["first.py", "second.py"]
    assert walk.switches == 3 + 3


def test_a_walk_in_another_thread_counts_too(package: Path) -> None:
    first = importlib.import_module("walked.first")
    with recorded(package) as walk:
        thread = threading.Thread(target=first.again)
        thread.start()
        thread.join()
    assert dict(walk.entries) == {"first.py": 1}
    assert walk.switches == 0


def test_nothing_is_recorded_afterwards(package: Path) -> None:
    first = importlib.import_module("walked.first")
    with recorded(package) as walk:
        first.again()
    first.run("")
    assert dict(walk.entries) == {"first.py": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often a file is opened")
def test_every_time_that_a_file_is_opened_counts_whoever_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "twenty.csv"
    write_csv(path)

    def act() -> None:
        path.read_text()
        path.open("rb").close()
        assert pyarrow.csv.read_csv(path).num_rows == 20
        (tmp_path / "another.csv").write_text("")

    assert count_opens(path, act) == 3
    assert count_opens(path, lambda: None) == 0
