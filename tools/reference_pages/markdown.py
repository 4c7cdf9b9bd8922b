"""Pieces of Markdown."""

from collections.abc import Iterable

from modelpicker import errors
from modelpicker.errors import ModelPickerError


def cell(text: object) -> str:
    """Text that fits into a cell of a table; between backticks it stays as it is."""
    parts = " ".join(str(text).split()).split("`")
    parts[::2] = [part.replace("|", "\\|").replace("[", "\\[") for part in parts[::2]]
    return "`".join(parts)


def table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table; empty where there are no rows."""
    names = [*heading]
    body = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    return "\n".join([f"| {' | '.join(names)} |", "|" + "---|" * len(names), *body, ""]) if body else ""


def code(text: object) -> str:
    """Text in the type of code, also inside a table."""
    return f"`{text}`" if str(text) else ""


def exit_codes() -> str:
    """Every class of errors with what the command line exits with."""
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ModelPickerError)
    ]
    return table(("error", "exit code"), ((code(kind.__name__), kind.exit_code) for kind in kinds))
