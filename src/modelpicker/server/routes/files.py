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
from modelpicker.campaigns.feeding import Batch, batches_of
from modelpicker.collections import open_collection
from modelpicker.errors import InputError, ModelPickerError
from modelpicker.server import documents
from modelpicker.server.access import Owner
from modelpicker.server.answers import answer
from modelpicker.server.desks import Desk
from modelpicker.server.examples import FILE_CSV
from modelpicker.server.problems import Problem
from modelpicker.server.routes.common import CLOSED, NAMED, VERSION, Found, Service, operation_id, replies
from modelpicker.server.unpacking import check_unpacked

router = APIRouter(prefix=VERSION, tags=["files"], generate_unique_id_function=operation_id)
ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".npz")
MOST_CLASSES = 10_000

FileName = Annotated[
    str,
    Query(
        min_length=1,
        max_length=200,
        description="What the file is called; the ending says what it is.",
        examples=["predictions.csv"],
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
async def look(request: Request, caller: Owner, service: Service, filename: FileName) -> Response:
    """Look into a file of predictions: which models, which classes, how many items. Nothing is kept."""
    async with _received(request, filename, service.configuration.largest_file) as file:
        return answer(await run_in_threadpool(_read, filename, file.path, _look, file.path))


@router.post("/campaigns/{name}/files", responses=replies(documents.FileTaken, *NAMED, 422), openapi_extra=FILE)
async def upload(request: Request, caller: Owner, service: Service, desk: Found, filename: FileName) -> Response:
    """Take in a file of predictions, a round an item.

    Items without a key get one made of the file's content and their row: the same file again brings nothing new.
    """
    async with _received(request, filename, service.configuration.largest_file) as file:
        await desk.do(lambda _: None)  # a file is read for the models that take part now
        batches = batches_of(file.path, desk.campaign)
        rounds = known = queries = row = 0
        while (batch := await run_in_threadpool(_read, filename, file.path, next, batches, None)) is not None:
            first, made = await _ask(desk, batch, file.digits, row)
            fresh = {decision.id: decision.query for decision in made if decision.id >= first}
            row += len(made)
            rounds, known = rounds + len(fresh), known + len(made) - len(fresh)
            queries += sum(fresh.values())
            if await request.is_disconnected():  # what is in stays, and the same file goes on from there
                raise ClientDisconnect
    return answer({"rounds": rounds, "known": known, "queries": queries})


async def _ask(desk: Desk, batch: Batch, digits: str, row: int) -> tuple[int, Decisions]:
    """Decide some rounds; the first that is new, and all decisions."""
    keys = batch.keys or [None] * len(batch.predictions)
    whole = [f"{digits}-{row + place}" if key is None else key for place, key in enumerate(keys)]

    def change(campaign: Any) -> tuple[int, Decisions]:
        first = campaign.rounds
        return first, campaign.ask_many(batch.predictions, items=batch.items, keys=whole)

    return await desk.do(change)


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


def _look(path: Path) -> dict[str, Any]:
    collection = open_collection(path)
    items, fields, labelled = 0, list[str](), False
    for batch in collection.batches(fields=True):
        items += len(batch)
        fields = list(batch.fields)
        labelled |= batch.labels is not None
    return {
        "items": items,
        "models": list(collection.models),
        "classes": list(collection.classes)[:MOST_CLASSES],
        "fields": fields,
        "labelled": labelled,
    }


def _read(filename: str, path: Path, call: Any, *arguments: Any) -> Any:
    """Read a file that may be anything; errors name it as its owner does, and not by where it lies here."""
    try:
        return call(*arguments)
    except ModelPickerError as error:
        raise InputError(str(error).replace(str(path), filename)) from error
    except (OSError, ValueError, LookupError, ArithmeticError, RuntimeError, zipfile.BadZipFile) as error:
        raise InputError(f"{filename} cannot be read: {str(error).replace(str(path), filename)}.") from error
