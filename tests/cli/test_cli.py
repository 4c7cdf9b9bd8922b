"""The command line, run as a user would: a process, its output, its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelpicker.cli import app

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
VERBS = [command.callback.__name__ for command in app.registered_commands if command.callback]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelpicker", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80", **environment},
    )


def test_help_lists_every_verb_with_a_sentence() -> None:
    done = run("--help")
    assert done.returncode == 0
    for verb in VERBS:
        assert f" {verb} " in done.stdout


def test_without_arguments_it_shows_its_help() -> None:
    assert "Usage: modelpicker" in run().stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_takes_json_and_is_documented(verb: str) -> None:
    help_text = run(verb, "--help").stdout
    assert "--json" in help_text
    assert f"modelpicker {verb}" in DOCS.read_text()


def test_version() -> None:
    assert run("--version").stdout.startswith("modelpicker 0.")


def test_the_demo_says_that_its_collection_is_synthetic_and_names_a_pick() -> None:
    done = run("demo")
    assert done.returncode == 0
    assert "synthetic" in done.stdout
    assert "Pick: model-" in done.stdout
    assert "labels" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "\x1b" not in done.stdout  # plain where nobody looks
    assert not done.stderr


def test_the_demo_as_json_is_one_document_and_repeats_itself() -> None:
    one, same, other = run("demo", "--json"), run("demo", "--json"), run("demo", "--json", "--seed", "1")
    report = json.loads(one.stdout)
    assert one.stdout == same.stdout != other.stdout
    assert report["collection"]["kind"] == "synthetic"
    assert 0 < report["labels_used"] < report["rounds"] == 2000
    assert report["standing"][0]["model"] == report["pick"]
    assert report["true_rank"] == 1


@pytest.mark.parametrize(
    "arguments",
    [("dmeo",), ("demo", "--seed", "x"), ("demo", "--seed", "-1"), ("demo", "--sede", "1"), ("demo", "extra")],
)
def test_wrong_usage_exits_with_2_and_no_traceback(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Error" in done.stderr


def test_an_error_made_for_people_is_one_line_and_exits_with_1() -> None:
    done = run("demo", "--seed", str(2**128))
    assert done.returncode == 1
    assert done.stderr.startswith("modelpicker: seed")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started deaf to it
from modelpicker import cli
from modelpicker.bench import speed

def measure_ratios():
    os.kill(os.getpid(), signal.SIGINT)
    yield from ()

speed.measure_ratios = measure_ratios
sys.argv = ["modelpicker", "bench"]
cli.main()
"""


def test_an_interrupt_in_mid_work_exits_with_130_and_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
