"""Files of predictions: looked at, and taken in as rounds."""

import asyncio
import hashlib
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from modelpicker.campaigns import Decisions
from modelpicker.campaigns.input.batches import Batch
from modelpicker.campaigns.input.files import batches_of
from modelpicker.collections.column_roles import ROLES, Reading, Role
from modelpicker.collections.preview import preview_collection
from modelpicker.errors import InputError, ModelPickerError, UnclearColumnsError, brief
from modelpicker.server.access.callers import Owner
from modelpicker.server.api import documents
from modelpicker.server.api.examples import FILE_CSV
from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import from_json, json_response
from modelpicker.server.api.routes.common import CLOSED, NAMED, VERSION, Found, Service, operation_id, replies
from modelpicker.server.live.group_commit import CommitQueue
from modelpicker.server.network.upload_limits import check_unpacked

router = APIRouter(prefix=VERSION, tags=["files"], generate_unique_id_function=operation_id)
ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".npz")
MOST_CLASSES = 10_000
# The longest choice of roles: it is part of the address, and any letter of it may take twelve bytes there.
LONGEST_CHOICE = 5_000

FileName = Annotated[
    str,
    Query(
        min_length=1,
        max_length=200,
        description="What the file is called; the ending says what it is.",
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
    """A file that came in, and twelve digits that stand for its content."""

    path: Path
    digits: str


@router.post("/files", responses=replies(documents.FileLook, *CLOSED, 422), openapi_extra=FILE)
async def look(
    request: Request, caller: Owner, service: Service, filename: FileName, columns: ColumnsQuery = None
) -> Response:
    """Look into a file of predictions: its columns, its first rows, its models and classes. Nothing is kept.

    A column in doubt is no error here: `doubt` says why a person should decide about it. Send the decision as
    `columns`, here and with the upload.
    """
    reading = Reading(columns=_chosen(columns))
    async with _received(request, filename, service.configuration.largest_file) as file:
        return json_response(
            await run_in_threadpool(_read, filename, file.path, _look, filename, file.path, reading)
        )


@router.post("/campaigns/{name}/files", responses=replies(documents.FileTaken, *NAMED, 422), openapi_extra=FILE)
async def upload(
    request: Request,
    caller: Owner,
    service: Service,
    queue: Found,
    filename: FileName,
    columns: ColumnsQuery = None,
) -> Response:
    """Take in a file of predictions, one round per item.

    Items without a key get one made of the file's content and their row: the same file again brings nothing new.
    """
    reading = Reading(columns=_chosen(columns))
    async with _received(request, filename, service.configuration.largest_file) as file:
        await queue.do(lambda _: None)  # a file is read for the models that take part now
        batches = batches_of(file.path, queue.campaign, reading)
        rounds = known = queries = row = 0
        while (batch := await run_in_threadpool(_read, filename, file.path, next, batches, None)) is not None:
            first, made = await _ask(queue, batch, file.digits, row)
            fresh = {decision.id: decision.query for decision in made if decision.id >= first}
            row += len(made)
            rounds, known = rounds + len(fresh), known + len(made) - len(fresh)
            queries += sum(fresh.values())
            if await request.is_disconnected():  # what is in stays, and the same file goes on from there
                raise ClientDisconnect
    return json_response({"rounds": rounds, "known": known, "queries": queries})


def _chosen(columns: str | None) -> dict[str, Role]:
    """The roles of columns that the caller chose."""
    if columns is None:
        return {}
    try:
        found = from_json(columns.encode())
    except ValueError as error:
        raise InputError(f"columns is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise InputError(f"columns {brief(found)}: send an object, a role by column name.")
    for name, role in found.items():
        if role not in ROLES:
            raise InputError(
                f"columns: column {brief(name)} cannot be {brief(role)}; roles are {', '.join(ROLES)}."
            )
    return found


async def _ask(queue: CommitQueue, batch: Batch, digits: str, row: int) -> tuple[int, Decisions]:
    """Decide some rounds; the first that is new, and all decisions."""
    keys = batch.keys or [None] * len(batch.predictions)
    whole = [f"{digits}-{row + place}" if key is None else key for place, key in enumerate(keys)]

    def change(campaign: Any) -> tuple[int, Decisions]:
        first = campaign.rounds
        return first, campaign.ask_many(batch.predictions, items=batch.items, keys=whole)

    return await queue.do(change)


@asynccontextmanager
async def _received(request: Request, filename: str, largest: int) -> AsyncIterator[Received]:
    """The body in a file that is gone afterwards."""
    ending = Path(filename).suffix.lower()
    if ending not in ENDINGS:
        raise Problem(415, f"Files called {filename[-50:]!r} are not read here; endings are {', '.join(ENDINGS)}.")
    with TemporaryDirectory(prefix="modelpicker-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"file{ending}"
        digest = hashlib.sha256()
        with path.open("wb") as stream:
            async for piece in request.stream():
                digest.update(piece)
                await asyncio.to_thread(stream.write, piece)
        if path.stat().st_size == 0:
            raise InputError("the file is empty; send its content as the body.")
        await run_in_threadpool(_read, filename, path, check_unpacked, path, largest)
        yield Received(path, digest.hexdigest()[:12])


def _look(filename: str, path: Path, reading: Reading) -> dict[str, Any]:
    """What a file holds; where columns are in doubt, what it holds if they are what they seem to be."""
    seen = preview_collection(path, reading)
    found = seen.collection
    named = [column.name for column in seen.columns if column.role == "model"]
    return {
        "items": 0 if found is None else len(found),
        "models": named if found is None else list(found.models),
        "classes": [] if found is None else list(found.classes)[:MOST_CLASSES],
        "fields": [column.name for column in seen.columns if column.role in ("shown", "id")],
        "labelled": found is not None and found.labelled > 0,
        "columns": [column.document() for column in seen.columns],
        "rows": [*seen.rows],
        "problem": seen.problem.replace(str(path), filename) or None,
    }


def _read(filename: str, path: Path, call: Any, *arguments: Any) -> Any:
    """Read a file that may be anything; errors name it as its owner does, and not by where it lies here."""
    try:
        return call(*arguments)
    except UnclearColumnsError as error:
        raise UnclearColumnsError(str(error).replace(str(path), filename), error.columns) from error
    except ModelPickerError as error:
        raise InputError(str(error).replace(str(path), filename)) from error
    except (OSError, ValueError, LookupError, ArithmeticError, RuntimeError, zipfile.BadZipFile) as error:
        raise InputError(f"{filename} cannot be read: {str(error).replace(str(path), filename)}.") from error
