"""A collection from a file: where it is unclear which columns are models, a person at the terminal is asked."""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from modelpicker.cli.shared.terminal import (
    ClassesOption,
    FieldsOption,
    IdColumn,
    Ignore,
    LabelColumn,
    MissingOption,
    ModelsOption,
    Normalise,
    Same,
    TaskOption,
    Text,
    how_to_read,
    say,
    visible,
    waiting,
)
from modelpicker.errors import UnclearColumnsError

if TYPE_CHECKING:
    from modelpicker.collections import ModelCollection
    from modelpicker.collections.column_roles import Reading, Role
    from modelpicker.collections.wide_tables import CollectionReader

    Read = TypeVar("Read", bound=ModelCollection | CollectionReader)

KEYS: Mapping[str, "Role"] = {"m": "model", "s": "shown", "i": "id", "b": "label", "l": "left out"}
QUESTION = "Is it a [m]odel, [s]hown with the item, the [i]d, the la[b]el, or [l]eft out?"


# The options that say how a file is read, in the order of the help; none of them is needed.
READING: Mapping[str, Any] = {
    "models": ModelsOption,
    "fields": FieldsOption,
    "classes": ClassesOption,
    "normalise": Normalise,
    "text": Text,
    "label": LabelColumn,
    "id_column": IdColumn,
    "ignore": Ignore,
    "same": Same,
    "missing": MissingOption,
    "task": TaskOption,
}


def with_reading(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options that say how a file is read; it gets them as one object, `reading`."""
    signature = inspect.signature(verb)
    flags = (Normalise, Text)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name != "reading":
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        parameters += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=False if option in flags else None,
                annotation=option,
            )
            for name, option in READING.items()
        ]

    @functools.wraps(verb)
    def with_one_object(**given: Any) -> None:
        from modelpicker.collections.column_roles import Reading

        said = {name: given.pop(name) for name in READING}
        verb(reading=Reading(**how_to_read(**said)), **given)

    with_one_object.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_one_object.__annotations__ = {}  # those of the signature count
    return with_one_object


def read_collection(
    read: Callable[[object, object, "Reading"], "Read"], source: str, labels: Path | None, reading: "Reading"
) -> "Read":
    """Read a file with `load_with` or `open_with`; columns in doubt are asked about at a terminal."""
    return read_and_note(read, source, labels, reading)[0]


def read_and_note(
    read: Callable[[object, object, "Reading"], "Read"],
    source: str,
    labels: Path | None,
    reading: "Reading",
    *,
    quiet: bool = False,
) -> "tuple[Read, Reading]":
    """The same; and how it was read, with what was answered, so that the file can be read so again.

    `quiet` shows nothing while it is read: `read` does so.
    """
    busy = nullcontext if quiet else waiting
    try:
        with busy(f"Reading {source}"):
            return read(source, labels, reading), reading
    except UnclearColumnsError as error:
        if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        chosen = _ask(error, source)
    from modelpicker.collections.column_roles import as_typed, options_of

    reading = replace(reading, columns={**reading.columns, **chosen})
    with busy(f"Reading {source}"):
        found = read(source, labels, reading)
    say(visible(f"To choose the same next time: {as_typed(options_of(chosen, found.models))}"))
    return found, reading


def _ask(error: UnclearColumnsError, source: str) -> dict[str, "Role"]:
    """Ask about each column in doubt; the end of the input is not an answer."""
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
