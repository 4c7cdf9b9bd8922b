"""What a release needs agrees: one version, its notes, its citation, its workflow."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from tools.install_size import MOST_MEGABYTES, MOST_PACKAGES, InstallSize
from tools.release_notes import notes

ROOT = Path(__file__).parents[1]
VERSION = str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])
WORKFLOW = (ROOT / ".github/workflows/release.yml").read_text()


def test_the_version_is_written_once_and_read_everywhere_else() -> None:
    import modelpicker

    assert modelpicker.__version__ == version("modelpicker") == VERSION
    source = [file for file in (ROOT / "src").rglob("*.py") if f'"{VERSION}"' in file.read_text()]
    assert source == []


def test_the_citation_has_this_version_and_the_licence_of_the_project() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    fields = dict(re.findall(r"^([a-z-]+): (\S.*)$", citation, re.MULTILINE))
    assert (fields["version"], fields["license"]) == (VERSION, project["license"])
    assert project["description"] in citation
    assert re.findall(r"^  - (.+)$", citation, re.MULTILINE)[1:] == project["keywords"]


def test_the_notes_of_a_release_are_its_part_of_the_changelog() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "tools.release_notes"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() in (ROOT / "CHANGELOG.md").read_text()
    assert "## [" not in printed
    assert notes("2.0", "## [2.0] - 2030-01-01\n\n- new\n\n## [1.0] - 2029-01-01\n\n- old\n") == "- new"
    with pytest.raises(SystemExit, match=r"says nothing about version 3\.0"):
        notes("3.0", "## [2.0] - 2030-01-01\n\n- new\n")


def test_the_workflow_runs_what_is_there_and_publishes_only_tags() -> None:
    modules = set(re.findall(r"python -m (tools\.\w+)", WORKFLOW))
    assert modules == {"tools.install_size", "tools.release_notes"}
    assert [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").exists()] == []
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    publish = WORKFLOW[WORKFLOW.index("  publish:") :]
    assert "needs: [test, try]" in publish
    assert "github.ref_type == 'tag'" in publish
    assert WORKFLOW.count("id-token: write") == publish.count("id-token: write") == 1
    (check,) = re.findall(r"run: test (.+)$", WORKFLOW, re.MULTILINE)
    done = subprocess.run(["sh", "-c", f"GITHUB_REF_NAME=v{VERSION}; test {check}"], cwd=ROOT, check=False)
    wrong = subprocess.run(["sh", "-c", f"GITHUB_REF_NAME=v9{VERSION}; test {check}"], cwd=ROOT, check=False)
    assert (done.returncode, wrong.returncode) == (0, 1)


def test_an_install_past_the_bar_is_refused() -> None:
    packages = tuple(map(str, range(MOST_PACKAGES)))
    assert InstallSize(packages, MOST_MEGABYTES).fine
    assert not InstallSize((*packages, "one more"), 1.0).fine
    assert not InstallSize(packages, MOST_MEGABYTES + 1).fine
