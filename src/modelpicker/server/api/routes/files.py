"""Files of predictions: looked at, and taken in as rounds."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from modelpicker.campaigns import Decisions
from modelpicker.campaigns.input.batches import Batch
from modelpicker.campaigns.input.files import batches_of
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.preview import preview_collection
from modelpicker.server.access.callers import Owner
from modelpicker.server.api import documents
from modelpicker.server.api.received_files import (
    FILE,
    ColumnsQuery,
    FileName,
    chosen_roles,
    read_file,
    received,
)
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import CLOSED, NAMED, VERSION, Found, Service, operation_id, replies
from modelpicker.server.live.group_commit import CommitQueue

router = APIRouter(prefix=VERSION, tags=["files"], generate_unique_id_function=operation_id)
MOST_CLASSES = 10_000


@router.post("/files", responses=replies(documents.FileLook, *CLOSED, 422), openapi_extra=FILE)
async def look(
    request: Request, caller: Owner, service: Service, filename: FileName, columns: ColumnsQuery = None
) -> Response:
    """Look into a file of predictions: its columns, its first rows, its models and classes. Nothing is kept.

    A column in doubt is no error here: `doubt` says why a person should decide about it. Send the decision as
    `columns`, here and with the upload.
    """
    reading = Reading(columns=chosen_roles(columns))
    async with received(request, filename, service.configuration.largest_file) as file:
        return json_response(
            await run_in_threadpool(read_file, filename, file.path, _look, filename, file.path, reading)
        )


@router.get("/intakes", responses=replies(documents.Intakes, *CLOSED))
async def list_intakes(caller: Owner, service: Service) -> Response:
    """List the files that campaigns are just being made of, and how far they have come."""
    # Another thread adds to them meanwhile.
    found = dict(service.intakes)
    return json_response(
        {"intakes": [{"name": name, **one._asdict(), "words": one.words} for name, one in found.items()]}
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
    reading = Reading(columns=chosen_roles(columns))
    async with received(request, filename, service.configuration.largest_file) as file:
        await queue.do(lambda _: None)  # a file is read for the models that take part now
        batches = batches_of(file.path, queue.campaign, reading)
        rounds = known = queries = row = 0
        while (batch := await run_in_threadpool(read_file, filename, file.path, next, batches, None)) is not None:
            first, made = await _ask(queue, batch, file.digits, row)
            fresh = {decision.id: decision.query for decision in made if decision.id >= first}
            row += len(made)
            rounds, known = rounds + len(fresh), known + len(made) - len(fresh)
            queries += sum(fresh.values())
            if await request.is_disconnected():  # what is in stays, and the same file goes on from there
                raise ClientDisconnect
    return json_response({"rounds": rounds, "known": known, "queries": queries})


async def _ask(queue: CommitQueue, batch: Batch, digits: str, row: int) -> tuple[int, Decisions]:
    """Decide some rounds; the first that is new, and all decisions."""
    keys = batch.keys or [None] * len(batch.predictions)
    whole = [f"{digits}-{row + place}" if key is None else key for place, key in enumerate(keys)]

    def change(campaign: Any) -> tuple[int, Decisions]:
        first = campaign.rounds
        return first, campaign.ask_many(batch.predictions, items=batch.items, keys=whole)

    return await queue.do(change)


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
