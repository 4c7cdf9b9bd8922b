"""What CONTRIBUTING, the changelog, the hooks and the page's types say agrees with the project."""

import ast
import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools import algorithm_tables, page_types

from modelpicker.algorithms import ALGORITHMS
from modelpicker.experiments.figures import looks_of
from modelpicker.experiments.methods import METHODS
from tests.algorithms.test_check_algorithm import FACTORIES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()]
STATIC = ROOT / "src/modelpicker/server/static"


def test_every_command_of_contributing_is_of_a_kind_that_is_tried_here() -> None:
    kinds = (
        "make ",
        ".venv/bin/python -m ",
        ".venv/bin/modelpicker ",
        ".venv/bin/deno ",
        ".venv/bin/pre-commit ",
        "git ",
    )
    assert len(COMMANDS) >= 15
    assert [command for command in COMMANDS if not command.startswith(kinds)] == []


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("make ")])
def test_make_knows_what_contributing_tells_it_to_do(command: str) -> None:
    make, *words = shlex.split(command)
    done = subprocess.run([make, "-n", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_tests_and_tools_that_contributing_runs_are_there() -> None:
    words = [word for command in COMMANDS for word in shlex.split(command)]
    paths = [word for word in words if word.startswith(("tests/", "src/"))]
    assert len(paths) >= 6
    assert [path for path in paths if not (ROOT / path).exists()] == []
    modules = {command.split()[2] for command in COMMANDS if command.startswith(".venv/bin/python -m ")}
    assert [module for module in modules if importlib.util.find_spec(module) is None] == []


@pytest.mark.parametrize("command", [command for command in COMMANDS if "bin/modelpicker" in command])
def test_the_verbs_that_contributing_runs_work(command: str, tmp_path: Path) -> None:
    words = shlex.split(command.replace("/tmp/", f"{tmp_path}/"))[1:]  # noqa: S108  # where the page writes to
    done = subprocess.run(
        [sys.executable, "-m", "modelpicker", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Pick: " in done.stdout


def test_the_tag_of_a_release_is_its_version() -> None:
    (command,) = [command for command in COMMANDS if command.startswith("git tag")]
    shown = command.replace("git tag --annotate", "echo")
    done = subprocess.run(["sh", "-c", shown], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == f"v{version()}"


def test_files_that_contributing_names_exist() -> None:
    named = set(re.findall(r"`([\w./-]+/[\w./-]*|[\w.-]+\.(?:toml|md|lock))`", PAGE))
    assert len(named) > 15
    places = (ROOT, STATIC.parent, STATIC)
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def imports_of(module: str) -> set[str]:
    """The modules of algorithms that a file there imports."""
    tree = ast.parse((ROOT / f"src/{module.replace('.', '/')}.py").read_text())
    return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}


def test_algorithms_do_not_know_each_other_and_nothing_that_they_share_knows_one() -> None:
    own = {kind.__module__ for kind in ALGORITHMS.values()}
    files = (ROOT / "src/modelpicker/algorithms").glob("*.py")
    others = {f"modelpicker.algorithms.{file.stem}" for file in files} - {"modelpicker.algorithms.__init__"}
    assert len(own) == len(ALGORITHMS)
    assert own < others
    assert {module: found for module in others if (found := imports_of(module) & own)} == {}


def test_algorithms_are_listed_once_and_everything_else_is_made_from_that_list() -> None:
    """No other file of the library, the command line, the server or the page names them all, or most of them."""
    many = len(ALGORITHMS) // 2 + 1
    files = [
        file for kind in ("py", "js") for file in (ROOT / "src").rglob(f"*.{kind}") if "vendor" not in file.parts
    ]
    assert len(files) > 150
    naming = {
        file: sum(f'"{name}"' in text or f"'{name}'" in text for name in ALGORITHMS)
        for file in files
        if (text := file.read_text())
    }
    assert [str(file) for file, names in naming.items() if names >= many] == []
    assert set(ALGORITHMS) <= set(FACTORIES)
    assert set(ALGORITHMS) == set(METHODS)
    assert len(set(looks_of([*ALGORITHMS]).values())) == len(ALGORITHMS)


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def test_the_changelog_has_a_heading_for_this_version_and_one_for_what_is_to_come() -> None:
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == ("Unreleased", "")
    dates = dict(headings[1:])
    assert version() in dates
    assert list(dates.values()) == sorted(dates.values(), reverse=True)
    assert all(dates.values())


def recipe(target: str) -> list[str]:
    """The commands of a target of the Makefile, with the environment that it makes."""
    (lines,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in lines.splitlines()]


def test_hooks_run_what_make_check_runs_and_fetch_nothing() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"^ *entry: (.+)$", hooks, re.M) == recipe("check")
    assert re.findall(r"repo: (.+)$", hooks, re.M) == ["local"]
    count = hooks.count("- id: ")
    assert hooks.count("language: system") == hooks.count("pass_filenames: false") == count == len(recipe("check"))


def test_the_pages_types_are_what_the_server_describes() -> None:
    again = "the API has changed: run .venv/bin/python -m tools.page_types"
    assert page_types.TARGET.read_text() == page_types.types(), again


@pytest.mark.parametrize("page", algorithm_tables.PAGES, ids=lambda page: str(page.name))
def test_tables_of_algorithms_are_what_the_algorithms_say_of_themselves(page: Path) -> None:
    text = page.read_text("utf-8")
    assert algorithm_tables.PART.search(text), f"{page.name} has no table"
    assert algorithm_tables.written(text) == text, "run .venv/bin/python -m tools.algorithm_tables"


def test_every_library_of_the_page_is_declared() -> None:
    declared = json.loads((ROOT / "deno.json").read_text())["imports"]
    modules = {f"./{module.relative_to(ROOT)}" for module in (STATIC / "vendor").glob("*.mjs")}
    assert set(declared) == modules
    assert [target for target in declared.values() if not (ROOT / target).exists()] == []


ARCHITECTURE = (ROOT / "docs/how-it-works/architecture.md").read_text()
SOURCE = ROOT / "src/modelpicker"


def test_files_and_rooms_that_the_architecture_names_exist() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|\.js|/))`", ARCHITECTURE))
    assert len(named) > 60
    assert [name for name in sorted(named) if not (SOURCE / name).exists()] == [
        "lib/",
        "parts/",
        "state/",
        "views/",
    ]


def test_every_room_is_in_the_table_and_every_layer_in_the_picture() -> None:
    rooms = {path.parent.relative_to(SOURCE).as_posix() + "/" for path in SOURCE.rglob("__init__.py")} - {"./"}
    table = set(re.findall(r"^\| `([a-z_/]+/)` \|", ARCHITECTURE, re.M))
    inner = {"collections/data/", "server/api/routes/"}
    assert rooms - inner <= table
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {layer.removeprefix("modelpicker.") for contract in contracts for layer in contract.get("layers", ())}
    picture = ARCHITECTURE.split("```")[1]
    assert sorted(layer for layer in layers if not re.search(rf"\b{layer}\b", picture)) == []
