"""Files of predictions: looked at, taken in, and dropped again."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from modelpicker.campaigns import AskedFile, Campaign
from modelpicker.campaigns.feeding import add_up, ask_batch, file_mark, numbered
from modelpicker.campaigns.input.batches import Batch, KeptFile
from modelpicker.campaigns.input.files import batches_of
from modelpicker.campaigns.input.pool_source import late_reading
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.preview import preview_collection
from modelpicker.errors import InputError
from modelpicker.server.access.callers import Owner
from modelpicker.server.api.documents.files import FileLook, FileTaken, Intakes, ItemsDropped
from modelpicker.server.api.documents.settings import SameField
from modelpicker.server.api.received_files import FILE, ColumnsQuery, FileName, chosen_roles, read_file, received
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import CLOSED, NAMED, VERSION, Found, Service, operation_id, replies

router = APIRouter(prefix=VERSION, tags=["files"], generate_unique_id_function=operation_id)
MOST_CLASSES = 10_000
AtOnce = Annotated[
    bool,
    Query(
        description="For a stream: decide about all items now. All questions are there at once, for many "
        "annotators in parallel, but there are more of them. By default items are asked about as labels come."
    ),
]
SameAnswerQuery = Annotated[
    SameField,
    Query(
        description="What will count as the same answer in the campaign. With a number, answers are read as they "
        "are written, also numbers that are not whole."
    ),
]


@router.post("/files", responses=replies(FileLook, *CLOSED, 422), openapi_extra=FILE)
async def look(
    request: Request,
    caller: Owner,
    service: Service,
    filename: FileName,
    columns: ColumnsQuery = None,
    same: SameAnswerQuery = "exact",
) -> Response:
    """Look into a file of predictions: its columns, its first rows, its models and classes. Nothing is kept.

    A column in doubt is no error here: `doubt` says why a person should decide about it. Send the decision as
    `columns`, here and with the upload.
    """
    reading = late_reading(same, columns=chosen_roles(columns))
    async with received(request, filename, service.configuration.largest_file) as file:
        return json_response(
            await run_in_threadpool(read_file, filename, file.path, _look, filename, file.path, reading)
        )


@router.get("/intakes", responses=replies(Intakes, *CLOSED))
async def list_intakes(caller: Owner, service: Service) -> Response:
    """List the files that campaigns are just being made of, and how far they have come."""
    # Another thread adds to them meanwhile.
    found = dict(service.intakes)
    return json_response(
        {"intakes": [{"name": name, **one._asdict(), "words": one.words} for name, one in found.items()]}
    )


@router.post("/campaigns/{name}/files", responses=replies(FileTaken, *NAMED, 409, 422), openapi_extra=FILE)
async def upload(
    request: Request,
    caller: Owner,
    service: Service,
    queue: Found,
    filename: FileName,
    columns: ColumnsQuery = None,
    at_once: AtOnce = False,
) -> Response:
    """Take in a file of predictions. A pool adds its items; a stream asks about them as labels come.

    Items without a key get one made of the file's content and their row: the same file again brings nothing new.
    """
    reading = late_reading(queue.campaign.settings.same, columns=chosen_roles(columns))
    async with received(request, filename, service.configuration.largest_file) as file:
        await queue.do(lambda _: None)  # a file is read for the models that take part now
        campaign = queue.campaign
        pool = campaign.settings.pool is not None
        if pool and at_once:
            raise InputError("at_once goes with a stream; a pool decides when somebody is ready to answer.")
        kept = KeptFile(" ".join(filename.split()), await run_in_threadpool(file_mark, file.sent))
        batches = numbered(batches_of(file.path, campaign, reading))
        total = AskedFile(0, 0, 0, 0)
        while (found := await run_in_threadpool(read_file, filename, file.path, next, batches, None)) is not None:
            first, batch = found
            total = add_up(total, await queue.do(partial(_ask, kept, first, batch, at_once or pool)))
            if await request.is_disconnected():  # what is in stays, and the same file continues from there
                raise ClientDisconnect
    return json_response(asdict(total))


def _ask(file: KeptFile, first: int, batch: Batch, at_once: bool, campaign: Campaign) -> AskedFile:
    return ask_batch(campaign, file, first, batch, at_once=at_once)


@router.delete("/campaigns/{name}/files", responses=replies(ItemsDropped, *NAMED, 409, 422))
async def drop_items(
    caller: Owner,
    queue: Found,
    annotator: Annotated[str | None, Query(min_length=1, max_length=300, description="Who says so.")] = None,
) -> Response:
    """Ask about none of the items of files that wait. Rounds, labels and open questions stay."""
    by = caller.annotator(annotator)
    return json_response({"dropped": await queue.do(lambda campaign: campaign.drop_items(annotator=by))})


def _look(filename: str, path: Path, reading: Reading) -> dict[str, Any]:
    """What a file holds; where columns are in doubt, what it holds if they are what they seem to be."""
    seen = preview_collection(path, reading)
    found = seen.collection
    named = [column.name for column in seen.columns if column.role == "model"]
    return {
        "items": 0 if found is None else len(found),
        "models": named if found is None else list(found.models),
        "answers": 0 if found is None else len(found.classes),
        "classes": [] if found is None else list(found.classes)[:MOST_CLASSES],
        "fields": [column.name for column in seen.columns if column.role in ("shown", "id")],
        "labelled": found is not None and found.labelled > 0,
        "columns": [column.document() for column in seen.columns],
        "rows": [*seen.rows],
        "problem": seen.problem.replace(str(path), filename) or None,
    }
