"""The GitHub Action: its file is read, and its script is run as GitHub runs it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integrations import tool_files

yaml = pytest.importorskip("yaml")

FOLDER = Path(__file__).parents[2] / "action"
ROWS = "id,prod,new,label\n" + "".join(f"{i},a,{'a' if i % 10 else 'b'},a\n" for i in range(100))


def action() -> Any:
    return yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))


def script() -> dict[str, Any]:
    return next(step for step in action()["runs"]["steps"] if step.get("id") == "gate")


def run_gate(folder: Path, **inputs: str) -> tuple[int, dict[str, str], str]:
    """Run the step with these inputs: its exit code, its outputs, and the summary."""
    given = {name: str(entry.get("default", "")) for name, entry in action()["inputs"].items()} | inputs
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)
        for name, value in script()["env"].items()
    }
    binaries = folder / "bin"
    binaries.mkdir(exist_ok=True)
    for name, more in (("modelpicker", "-m modelpicker"), ("python", "")):
        (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {more} "$@"\n')
        (binaries / name).chmod(0o755)
    files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    environment |= {name: str(file) for name, file in files.items()} | {"RUNNER_TEMP": str(folder)}
    path = f"{binaries}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script()["run"]],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path},
        capture_output=True,
        text=True,
    )
    lines = files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
    return (
        done.returncode,
        dict(line.split("=", 1) for line in lines),
        files["GITHUB_STEP_SUMMARY"].read_text("utf-8"),
    )


def test_every_input_is_described_and_used() -> None:
    text = (FOLDER / "action.yml").read_text("utf-8")
    for name, entry in action()["inputs"].items():
        assert entry["description"]
        assert f"inputs.{name} }}}}" in text
        assert entry.get("required") or "default" in entry


def test_scripts_get_inputs_as_variables_only_so_that_no_input_can_be_a_command() -> None:
    steps = [step for step in action()["runs"]["steps"] if "run" in step]
    for step in steps:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


@pytest.mark.parametrize(
    ("inputs", "code", "verdict"),
    [
        ({"gap": "0.2"}, 0, "pass"),
        ({"gap": "0.01"}, 1, "fail"),
        ({"gap": "0.1", "of": "population"}, 6, "undecided"),
        ({"gap": "0.1", "of": "population", "undecided": "pass"}, 0, "undecided"),
    ],
)
def test_the_job_ends_as_the_gate_does(tmp_path: Path, inputs: dict[str, str], code: int, verdict: str) -> None:
    (tmp_path / "r.csv").write_text(ROWS)
    given = {"results": "r.csv", "champion": "prod", "challenger": "new", **inputs}
    ended, outputs, summary = run_gate(tmp_path, **given)
    assert (ended, outputs["verdict"]) == (code, verdict)
    assert outputs["sentence"] in json.loads((tmp_path / "gate.json").read_text("utf-8"))["sentence"]
    assert outputs["sentence"] in summary


def test_an_error_fails_the_job(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(ROWS)
    ended, outputs, summary = run_gate(tmp_path, results="r.csv", champion="prod", challenger="$(touch pwned)")
    assert ended == 1
    assert outputs["verdict"] == ""
    assert summary == ""
    assert not (tmp_path / "pwned").exists()


def test_results_of_an_evaluation_tool_are_taken_with_the_score_that_is_named(tmp_path: Path) -> None:
    rows = [
        tool_files.promptfoo_row(item, place, model, f"{model} {item}", score=0.5 * place, success=place == 0)
        for place, model in enumerate(["prod", "new"])
        for item in range(20)
    ]
    tool_files.promptfoo_results(tmp_path / "results.json", rows)
    inputs = {"results": "results.json", "champion": "prod", "challenger": "new"}
    assert run_gate(tmp_path, **inputs)[0] == 0
    assert run_gate(tmp_path, **inputs, label="pass")[0] == 1
    assert run_gate(tmp_path, **inputs, task="other")[0] == 1
