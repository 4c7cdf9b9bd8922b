"""What the verbs share: where output goes, and how a wait is announced."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="What all randomness is drawn from.")]


def print_json(document: object) -> None:
    """One JSON document on standard output."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on standard error, if that is a terminal, that something takes its time."""
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
