"""The command line as a user runs it: its output, its exit code; in this process, or in one of its own."""

import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer

from modelpicker import cli
from modelpicker.campaigns.storage import database as storages

COMMAND = [sys.executable, "-m", "modelpicker"]
VERBS = typer.main.get_command(cli.app)  # made once: that takes longer than most verbs


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "80", **changes}


def run(
    *arguments: str | Path, answers: str | None = None, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a verb in a folder, with answers typed at it; in this process, for another takes a second to start."""
    opened: dict[tuple[int, str], storages.Storage] = {}  # a new process has opened none
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    code: object = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as typed, pytest.MonkeyPatch.context() as patch:
        typed.write(answers or "")
        typed.seek(0)
        patch.chdir(folder or Path.cwd())
        patch.delenv("MODELPICKER_STORAGE", raising=False)
        for name, value in {"COLUMNS": "80", **variables}.items():
            patch.setenv(name, value)
        patch.setattr(storages, "_opened", opened)
        patch.setattr(cli, "app", VERBS)
        patch.setattr("sys.argv", ["modelpicker", *map(str, arguments)])
        for name, stream in (("stdin", typed), ("stdout", out), ("stderr", err)):
            patch.setattr(f"sys.{name}", stream)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            for storage in opened.values():
                storage.engine.dispose()
    assert isinstance(code, int)
    out.seek(0)
    err.seek(0)
    return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def run_process(
    *arguments: str | Path, answers: str | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a verb in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        input=answers or "",
        cwd=folder,
        env=environment(),
    )


def start_session(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A verb in a process of its own that waits for answers, and can be interrupted."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        env=environment(),
        bufsize=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )


def listen_for(process: subprocess.Popen[bytes], wanted: str, typed: str = "") -> str:
    """Type something, and read until something is said."""
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(typed.encode())
    said = b""
    while wanted.encode() not in said:
        more = os.read(process.stderr.fileno(), 65536)
        assert more, said.decode()
        said += more
    return said.decode()
