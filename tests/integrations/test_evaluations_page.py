"""The page on evaluation tools: its commands are run, and its Python."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.integrations import tool_files as files
from tests.integrations.inspecting import inspect_log
from tests.test_docs import blocks

pytestmark = pytest.mark.filterwarnings("ignore")  # those of inspect_ai

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "evaluations.md"
COMMANDS = sorted(set(re.findall(r"^modelpicker (.+)$", PAGE.read_text(), re.MULTILINE)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files that the page is about."""
    folder = tmp_path_factory.mktemp("page")
    files.promptfoo_results(folder / "results.json")
    files.lm_eval_folder(folder / "out")
    files.helm_suite(folder / "suite")
    for model in files.MODELS:
        files.openai_log(folder / "evallogs" / f"{model}.jsonl", model)
        files.every_eval_records(folder / "eee" / f"{model}_samples.jsonl", model)
        files.mlflow_table(folder / "runs" / model / "artifacts" / "eval_results_table.json", model)
        inspect_log(folder / "LOGS", model, files.answers(model, 12))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_works(command: str, folder: Path) -> None:
    done = run(*shlex.split(command), answers="q\n", folder=folder)
    assert done.returncode == 0, done.stderr
    assert ("Your answers are in" if "--ask-for" in command else "good") in done.stdout


def test_the_python_of_the_page_gives_what_it_says(tmp_path: Path) -> None:
    (code,) = blocks(PAGE, "python")
    lines = [line.partition("  # ") for line in code.splitlines()]
    shown = [(said, line) for line, _, said in lines if said and not line.startswith("with")]
    script = "\n".join(
        f"print(repr(({line})))" if said and (said, line) in shown else line for line, _, said in lines
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [said for said, _ in shown]
