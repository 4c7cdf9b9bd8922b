"""The command line, run as a user would: a process, its output, its exit code."""

import subprocess
import sys
from pathlib import Path

import pytest

from modelpicker.algorithms import ALGORITHMS
from modelpicker.cli import app
from tests.cli.running import run

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
VERBS = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
GROUPS = {
    str(group.name): [
        command.name or str(command.callback and command.callback.__name__)
        for command in group.typer_instance.registered_commands
    ]
    for group in app.registered_groups
    if group.typer_instance
}
ALL = [*VERBS, *(f"{group} {verb}" for group, verbs in GROUPS.items() for verb in verbs)]


def test_verbs_of_every_group_are_found() -> None:
    assert {"demo", "pick", "compare", "serve", "ask", "tell", "best"} <= set(VERBS)
    assert {"collections list", "storage upgrade", "tokens create"} <= set(ALL)


def test_help_lists_every_verb_with_a_sentence() -> None:
    done = run("--help")
    assert done.returncode == 0
    for verb in (*VERBS, *GROUPS):
        assert f" {verb} " in done.stdout


def test_without_arguments_it_shows_its_help() -> None:
    assert "Usage: modelpicker" in run().stdout


def test_a_group_without_a_verb_shows_its_help() -> None:
    for group, verbs in GROUPS.items():
        said = run(group)
        assert all(f" {verb} " in said.stdout + said.stderr for verb in verbs)


@pytest.mark.parametrize("verb", ALL)
def test_every_verb_has_help_takes_json_and_is_documented(verb: str) -> None:
    help_text = run(*verb.split(), "--help").stdout
    assert "--json" in help_text
    assert f"modelpicker {verb}" in DOCS.read_text()


@pytest.mark.parametrize("verb", ["pick", "compare", "create"])
def test_the_help_of_a_verb_with_algorithms_has_what_they_say_of_themselves(verb: str) -> None:
    shown = " ".join(run(verb, "--help").stdout.replace("-\n", "-").split())
    for name, kind in ALGORITHMS.items():
        about = kind.about
        assert f"{name} {about.summary} {about.when_to_use}" in shown
        for option in about.options:
            assert f"{option.name} {option.help} [{option.range}" in shown


def test_version() -> None:
    assert run("--version").stdout.startswith("modelpicker 0.")


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
