"""Runs the commands that pages show, and writes what they print into the pages.

`python -m tools.shown_output` rewrites all pages with blocks of `console`; a test fails where a page shows
something else than what is printed. A block looks like this, and all below the command is written by this tool:

    ```console
    $ modelpicker pick tickets.csv --labels labels.csv
    ...
    ```

A page runs from top to bottom in one empty folder. A block with a title is a file there. What a person types
stands in a comment before the block: `<!-- typed: 2 1 q -->`. Notes on standard error are left out, unless somebody
types.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cli.running import run

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r'^```(?:python|csv) title="(?P<file>[\w.-]+)"\n(?P<code>.*?)^```$'
    r"|^(?P<head>(?:<!-- typed: (?P<typed>[^>]*) -->\n\n?)?```console\n)(?P<shown>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PROMPT = re.compile(r"^> ", re.MULTILINE)


def pages() -> list[Path]:
    """Pages that show commands with what they print."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "```console\n" in page.read_text("utf-8")]


def rewritten(text: str) -> str:
    """A page with what its commands print now."""
    with TemporaryDirectory() as folder:
        return BLOCK.sub(lambda found: _block(found, Path(folder)), text)


def _block(found: re.Match[str], folder: Path) -> str:
    if found["file"]:
        (folder / found["file"]).write_text(found["code"], "utf-8")
        return found[0]
    commands = [line.removeprefix("$ ") for line in found["shown"].splitlines() if line.startswith("$ ")]
    printed = [f"$ {command}\n{_printed(command, found['typed'], folder)}" for command in commands]
    return f"{found['head']}{''.join(printed)}```"


def _printed(command: str, typed: str | None, folder: Path) -> str:
    """What a command prints, with what a person types after each prompt."""
    answers = shlex.split(typed or "")
    words = shlex.split(command)
    if words[0] == "modelpicker" and not set(words) & {"|", ">", "&&"}:
        done = run(*words[1:], answers="".join(f"{answer}\n" for answer in answers), folder=folder)
    else:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=False,
        )
    asked = PROMPT.sub(lambda _: f"> {answers.pop(0)}\n" if answers else "> ", done.stderr) if typed else ""
    lines = f"{asked}{done.stdout}" or ("" if done.returncode == 0 else done.stderr)
    return "".join(f"{line.rstrip()}\n" for line in lines.strip("\n").splitlines())


def main() -> None:
    """Rewrite every page that shows commands."""
    for page in pages():
        page.write_text(rewritten(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
