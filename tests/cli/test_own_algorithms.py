"""Algorithms of one's own, from the shell: `module:Class`, and names that other packages bring."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.algorithms import registry
from tests.cli import running

MINE = """
import modelpicker as mp

class Mine(mp.LabelEfficient):
    name = "mine"

class Half(mp.Algorithm):
    pass

class Other:
    pass
"""
ROWS = "id,a,b,c,label\n" + "".join(f"{i},{i % 2},{i % 3 == 0:d},{i % 5 == 0:d},{i % 2}\n" for i in range(60))


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("mine", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "broken.py").write_text("import a_module_that_is_nowhere\n")
    (tmp_path / "t.csv").write_text(ROWS)
    return tmp_path


def install(folder: Path) -> None:
    """A package that brings the algorithm, as pip leaves it."""
    about = folder / "mine-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    lines = ("[modelpicker.algorithms]", "mine = mine:Mine", "broken = broken:Mine", "race = mine:Mine")
    (about / "entry_points.txt").write_text("\n".join(lines))


def run(folder: Path, *arguments: str) -> tuple[int, Any]:
    """A verb in a folder."""
    done = running.run(*arguments, "--json", folder=folder)
    return done.returncode, json.loads(done.stdout)


def run_with(path: Path | None, folder: Path, *arguments: str) -> tuple[int, Any]:
    """The command in a process of its own, where a package is installed; it looks for no modules in the folder."""
    call = "import sys; sys.path.remove(''); sys.argv[0] = 'modelpicker'; from modelpicker.cli import main; main()"
    paths = [*([] if path is None else [str(path)]), str(Path(mp.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", call, *arguments, "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    return done.returncode, json.loads(done.stdout)


def test_pick_takes_a_class_of_a_module_in_this_folder(folder: Path) -> None:
    code, found = run(folder, "pick", "t.csv", "--algorithm", "mine:Mine", "--option", "probability=0.9")
    assert (code, found["pick"], found["algorithm"]) == (0, "a", "mine:Mine")


def test_a_campaign_opens_again_with_its_algorithm_and_says_what_is_missing_where_it_is_not(folder: Path) -> None:
    made = ("create", "c", "--models", "a,b", "--algorithm", "mine:Mine", "--storage", "sqlite:///c.db")
    assert run(folder, *made)[0] == 0
    code, found = run(folder, "best", "c", "--storage", "sqlite:///c.db")
    assert code == 0
    (folder / "mine.py").unlink()
    del sys.modules["mine"]
    code, found = run(folder, "best", "c", "--storage", "sqlite:///c.db")
    assert code == 3
    assert "made with algorithm mine:Mine, which is not installed here" in found["error"]["message"]
    assert "there is no module mine" in found["error"]["message"]


def test_an_installed_package_gives_its_algorithm_a_name(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    install(folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    create = ("--models", "a,b", "--storage", "sqlite:///c.db", "--algorithm")
    assert run_with(folder, elsewhere, "create", "c", *create, "mine")[0] == 0
    assert run_with(folder, elsewhere, "best", "c", "--storage", "sqlite:///c.db")[0] == 0
    code, found = run_with(None, elsewhere, "best", "c", "--storage", "sqlite:///c.db")
    assert code == 3
    assert "made with algorithm mine, which is not installed here" in found["error"]["message"]
    code, found = run_with(folder, elsewhere, "create", "d", *create, "broken")
    assert code == 2
    assert "of mine (broken:Mine) cannot be imported: ModuleNotFoundError" in found["error"]["message"]


def test_a_name_of_modelpickers_own_stays_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(folder)
    monkeypatch.syspath_prepend(folder)
    registry.installed_algorithms.cache_clear()
    try:
        assert registry.known_names()[-2:] == ("mine", "broken")
        assert registry.find_algorithm("race") is mp.Race
        assert registry.algorithm_name(registry.find_algorithm("mine")) == "mine"
    finally:
        registry.installed_algorithms.cache_clear()


@pytest.mark.parametrize(
    ("algorithm", "says"),
    [
        ("mien", "there is no algorithm 'mien'; there are model-picker"),
        ("mien:Mine", "there is no module mien. Install it, or work in the folder that it is in."),
        ("broken:Mine", "there is no module a_module_that_is_nowhere"),
        ("mine:Mien", "mine has no Mien; its algorithms are Mine"),
        ("mine:", "mine has no class; its algorithms are Mine"),
        (":Mine", "its module cannot be imported"),
        ("mine:Other", "is not a class that inherits from modelpicker.Algorithm"),
        ("mine:Half", "Half is incomplete, it has no name, settings, start."),
    ],
)
def test_errors_say_what_is_wrong_with_an_algorithm(folder: Path, algorithm: str, says: str) -> None:
    code, found = run(folder, "pick", "t.csv", "--algorithm", algorithm)
    assert code == 2
    message = " ".join(found["error"]["message"].split())
    assert says in message
    if algorithm in ("mine:Other", "mine:Half"):
        assert "modelpicker.check_algorithm runs all checks on" in message


@pytest.mark.slow
def test_compare_and_the_library_take_the_same_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = ("--methods", "mine:Mine,label-efficient", "--option", "mine:Mine.probability=0.5")
    more = ("--budgets", "10", "--realizations", "20", "--no-figures", "--engine", "threads")
    code, found = run(folder, "compare", "t.csv", *methods, *more)
    assert code == 0
    assert {row["method"] for row in found["rows"]} == {"mine:Mine", "label-efficient"}
    code, found = run(folder, "compare", "t.csv", "--methods", "mine:Mien", *more)
    assert code == 2
    monkeypatch.syspath_prepend(folder)
    assert mp.pick(folder / "t.csv", algorithm="mine:Mine").model == "a"


def test_what_comes_over_http_or_in_a_file_is_never_imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from modelpicker.campaigns.settings import known_algorithm

    monkeypatch.syspath_prepend(folder)
    with pytest.raises(mp.NotFoundError, match="there is no algorithm 'mine:Mine' here"):
        known_algorithm("mine:Mine")
