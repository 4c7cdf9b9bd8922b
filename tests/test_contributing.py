"""What CONTRIBUTING, the changelog, the hooks and the page's types say agrees with the project."""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools import page_types

from modelpicker.algorithms import ALGORITHMS
from modelpicker.cli.shared.algorithm_options import NAMES
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


def test_lists_in_which_contributing_says_to_add_an_algorithm_hold_all_of_them() -> None:
    assert set(NAMES) == set(ALGORITHMS)
    assert set(ALGORITHMS) <= set(FACTORIES)
    (listed,) = re.findall(r"const ALGORITHMS = \[(.*?)\]", (STATIC / "views/create.js").read_text(), re.S)
    assert set(re.findall(r"'([\w-]+)'", listed)) == set(ALGORITHMS)
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (apart,) = [contract["modules"] for contract in contracts if contract["type"] == "independence"]
    assert set(apart) == {kind.__module__ for kind in ALGORITHMS.values()}


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


def test_every_library_of_the_page_is_declared() -> None:
    declared = json.loads((ROOT / "deno.json").read_text())["imports"]
    modules = {f"./{module.relative_to(ROOT)}" for module in (STATIC / "vendor").glob("*.mjs")}
    assert set(declared) == modules
    assert [target for target in declared.values() if not (ROOT / target).exists()] == []
