"""Files that are sent to the server: received, checked, and read; what the caller says about their columns."""

import asyncio
import re
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool

from modelpicker.collections.column_roles import ROLES, Role
from modelpicker.collections.tables import UNPACKING, ending_of
from modelpicker.errors import ConflictError, InputError, ModelPickerError, UnclearColumnsError, brief
from modelpicker.server.api.examples import FILE_CSV
from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import from_json
from modelpicker.server.network.unpacked_folder import unpack_folder
from modelpicker.server.network.upload_limits import CHECKS, check_unpacked

FOLDER = ".zip"
ENDINGS = (*CHECKS, FOLDER)
# As much of the name of a file is kept: models may be called after their files.
LONGEST_STEM = 50
# The longest choice of roles: it is part of the address, and any letter of it may take twelve bytes there.
LONGEST_CHOICE = 5_000

FileName = Annotated[
    str,
    Query(
        min_length=1,
        max_length=200,
        description="What the file is called; the ending says what it is. A folder, as evaluation tools write it, "
        "is sent as a .zip archive.",
        examples=["predictions.csv"],
    ),
]
ColumnsQuery = Annotated[
    str | None,
    Query(
        max_length=LONGEST_CHOICE,
        description="What columns are, as a JSON object: a role by column name. Roles are model, shown (with the "
        "item), id, label and left out. A column that is not named keeps the role that it would have.",
        examples=['{"question": "shown", "confidence": "left out"}'],
    ),
]
FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The content of the file.",
        "content": {
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary"},
                "example": FILE_CSV,
            }
        },
    }
}


class Received(NamedTuple):
    """A file that came in."""

    path: Path
    """What to read: the file, or the folder that was in it."""
    sent: Path
    """The file as it came."""


@asynccontextmanager
async def received(request: Request, filename: str, largest: int) -> AsyncIterator[Received]:
    """The body in a file that is gone afterwards."""
    ending = ending_of(Path(filename))
    if ending not in ENDINGS:
        raise Problem(415, f"Files called {filename[-50:]!r} are not read here; endings are {', '.join(ENDINGS)}.")
    with TemporaryDirectory(prefix="modelpicker-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"{_stem(filename, ending)}{ending}"
        with path.open("wb") as stream:
            async for piece in request.stream():
                await asyncio.to_thread(stream.write, piece)
        if path.stat().st_size == 0:
            raise InputError("The file is empty.")
        found = path
        if ending == FOLDER:
            found = await run_in_threadpool(read_file, filename, path, unpack_folder, path, largest)
        await run_in_threadpool(read_file, filename, found, check_unpacked, found, largest)
        yield Received(found, path)


def _stem(filename: str, ending: str) -> str:
    """The name of a file without its ending, as far as it can be a name here."""
    stem = Path(filename).name[: -len(ending)]
    return re.sub(r"[^\w.-]", "_", stem)[:LONGEST_STEM].strip(".") or "file"


def chosen_roles(columns: str | None) -> dict[str, Role]:
    """The roles of columns that the caller chose."""
    if columns is None:
        return {}
    try:
        found = from_json(columns.encode())
    except ValueError as error:
        raise InputError(f"columns is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise InputError(f"columns {brief(found)}: send an object, a role by column name.")
    for name, role in found.items():
        if role not in ROLES:
            raise InputError(
                f"columns: column {brief(name)} cannot be {brief(role)}; roles are {', '.join(ROLES)}."
            )
    return found


def read_file(filename: str, path: Path, call: Any, *arguments: Any) -> Any:
    """Read a file that may be anything; errors name it as its owner does, and not by where it lies here."""
    try:
        return call(*arguments)
    except UnclearColumnsError as error:
        raise UnclearColumnsError(str(error).replace(str(path), filename), error.columns) from error
    except ConflictError as error:  # it is about the campaign, or about two rows
        raise ConflictError(str(error).replace(str(path), filename)) from error
    except ModelPickerError as error:
        raise InputError(str(error).replace(str(path), filename)) from error
    except (
        OSError,
        ValueError,
        LookupError,
        ArithmeticError,
        RuntimeError,
        zipfile.BadZipFile,
        *UNPACKING,
    ) as error:
        raise InputError(f"{filename} cannot be read: {str(error).replace(str(path), filename)}.") from error
