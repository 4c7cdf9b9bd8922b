"""The command line as a user runs it: a process, its output, its exit code."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "modelpicker"]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", **changes}


def run(
    *arguments: str | Path, answers: str | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a verb in a folder, with answers typed at it."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        input=answers or "",
        cwd=folder,
        env=environment(),
    )
