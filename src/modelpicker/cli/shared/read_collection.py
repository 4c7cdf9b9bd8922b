"""A collection from a file: where it is unclear which columns are models, a person at the terminal is asked."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from modelpicker.cli.shared.terminal import say, visible, waiting
from modelpicker.errors import UnclearColumnsError

if TYPE_CHECKING:
    from modelpicker.collections import ModelCollection
    from modelpicker.collections.column_roles import Role
    from modelpicker.collections.wide_tables import WideReader

    Read = TypeVar("Read", bound=ModelCollection | WideReader)

KEYS: Mapping[str, "Role"] = {"m": "model", "s": "shown", "i": "id", "b": "label", "l": "left out"}
QUESTION = "Is it a [m]odel, [s]hown with the item, the [i]d, the la[b]el, or [l]eft out?"


def read_collection(
    read: Callable[..., "Read"], source: str, labels: Path | None, reading: dict[str, Any]
) -> "Read":
    """Read a file with `load_collection` or `open_collection`; columns in doubt are asked about at a terminal.

    What was answered is noted in `reading`, so that the file can be read so again.
    """
    try:
        with waiting(f"Reading {source}"):
            return read(source, labels, **reading)
    except UnclearColumnsError as error:
        if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        chosen = _ask(error, source)
    from modelpicker.collections.column_roles import as_typed, options_of

    reading["columns"] = {**reading.get("columns", {}), **chosen}
    with waiting(f"Reading {source}"):
        found = read(source, labels, **reading)
    say(visible(f"To say so next time: {as_typed(options_of(chosen, found.models))}"))
    return found


def _ask(error: UnclearColumnsError, source: str) -> dict[str, "Role"]:
    """Ask about each column in doubt; the end of the input is no answer."""
    from modelpicker.collections.preview import first_values

    values = first_values(Path(source))
    chosen: dict[str, Role] = {}
    for column in error.columns:
        name, usual = column["name"], next(key for key, role in KEYS.items() if role == column["role"])
        say(visible(f'\nColumn "{name}": {column["doubt"]}').removeprefix("\\n"))
        if values.get(name):
            say(visible(f"  first values: {' | '.join(values[name])}"))
        role = None
        while role is None:
            print(f"  {QUESTION} [{usual}] ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line:
                raise error
            role = _role_of(line.strip().lower() or usual)
        chosen[name] = role
    return chosen


def _role_of(typed: str) -> "Role | None":
    """The role that was typed: by its key, by its name, or by a beginning that no other name has."""
    if typed in KEYS:
        return KEYS[typed]
    words = " ".join(typed.split())
    meant = [role for role in KEYS.values() if words and role.startswith(words)]
    return meant[0] if len(meant) == 1 else None
