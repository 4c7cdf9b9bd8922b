"""Every verb of the command line, from its own help."""

from collections.abc import Iterator
from typing import Any

import typer

from modelpicker.algorithms import ALGORITHMS
from modelpicker.cli import app
from tools.reference_pages.markdown import code, table


def verbs() -> Iterator[tuple[str, Any, Any]]:
    """Each verb's whole name, the command, and the context that its help needs."""
    top = typer.main.get_command(app)
    yield from _below(top, typer.Context(top, info_name="modelpicker"), "modelpicker")


def _below(group: Any, context: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    for word, command in group.commands.items():
        inner = typer.Context(command, info_name=word, parent=context)
        if hasattr(command, "commands"):
            yield from _below(command, inner, f"{name} {word}")
        else:
            yield f"{name} {word}", command, inner


def page() -> str:
    """All verbs."""
    return "\n".join(_verb(*found) for found in verbs())


def _verb(name: str, command: Any, context: Any) -> str:
    """One verb: how it is called, what it does, what it takes."""
    records = [
        (one.param_type_name, one.get_help_record(context))
        for one in command.get_params(context)
        if one.name != "help"
    ]
    rows = {
        kind: [(code(record[0]), record[1]) for found, record in records if found == kind and record]
        for kind in ("argument", "option")
    }
    usage = command.get_usage(context).removeprefix("Usage: ").replace("\n", " ")
    parts = [
        f"## {name}\n",
        f"```text\n{' '.join(usage.split())}\n```\n",
        f"{command.help}\n",
        table(("argument", "what it is"), rows["argument"]),
        table(("option", "what it does"), rows["option"]),
    ]
    if type(command).__name__ == "AlgorithmHelp":
        parts.append(f"Algorithms: {', '.join(map(code, ALGORITHMS))}. "
                     "[All algorithms](../how-it-works/algorithms.md) has their options.\n")  # fmt: skip
    return "\n".join(filter(None, parts))
