"""Verbs about campaigns, called in this process, and a campaign to call them on."""

import io
import json
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import typer

from modelpicker import cli
from modelpicker.campaigns import storage as storages

VERBS = typer.main.get_command(cli.app)  # made once: that takes longer than most verbs
# Every round on which models disagree is bought, so that a test knows which.
EVERY = ("--option", "query_scale=1e6")
DIVIDED = {"bert": "spam", "roberta": "ham"}


def call(
    folder: Path, *arguments: str | Path, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a verb as `run` does, but in this process, for another takes a second to start."""
    opened: dict[tuple[int, str], storages.Storage] = {}  # a new process has opened none
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as answers, pytest.MonkeyPatch.context() as patch:
        answers.write(typed)
        answers.seek(0)
        patch.chdir(folder)
        patch.delenv("MODELPICKER_STORAGE", raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(storages, "_opened", opened)
        patch.setattr(cli, "app", VERBS)
        patch.setattr("sys.argv", ["modelpicker", *map(str, arguments)])
        for name, stream in (("stdin", answers), ("stdout", out), ("stderr", err)):
            patch.setattr(f"sys.{name}", stream)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
        finally:
            for storage in opened.values():
                storage.engine.dispose()
    assert isinstance(code, int)
    out.seek(0)
    err.seek(0)
    return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def document(folder: Path, *arguments: str | Path, typed: str = "") -> Any:
    """What a verb that succeeds prints for programs."""
    done = call(folder, *arguments, "--json", typed=typed)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines(*entries: object) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def begin(folder: Path, *entries: object, models: str = "bert,roberta", more: tuple[str, ...] = ()) -> Path:
    """A campaign called tickets that was asked about some items."""
    assert call(folder, "create", "tickets", "--models", models, *EVERY, *more).returncode == 0
    if entries:
        assert call(folder, "ask", "tickets", typed=lines(*entries)).returncode == 0
    return folder


def sql(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "modelpicker.db")
    with connection:
        connection.execute(statement)
    connection.close()


def three_items(folder: Path) -> Path:
    """A campaign of three items, of which the first two are queries."""
    agreed = {"bert": "ham", "roberta": "ham", "key": "k2"}
    return begin(folder, {**DIVIDED, "key": "k0", "text": "hello"}, {**DIVIDED, "key": "17"}, agreed)
