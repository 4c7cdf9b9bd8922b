"""Verbs about campaigns, called in this process, and a campaign to call them on."""

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.running import run

# Every round on which models disagree is bought, so that a test knows which.
EVERY = ("--option", "query_scale=1e6")
DIVIDED = {"bert": "spam", "roberta": "ham"}


def call(
    folder: Path, *arguments: str | Path, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a verb in a folder."""
    return run(*arguments, answers=typed, folder=folder, **variables)


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
