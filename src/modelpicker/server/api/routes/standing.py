"""Which model leads, how the result came about, and downloads."""

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from modelpicker.campaigns import Campaign
from modelpicker.campaigns.export import export_campaign
from modelpicker.campaigns.results.campaign_report import campaign_report
from modelpicker.campaigns.results.labels import as_table, label_cell
from modelpicker.campaigns.results.pick import LabelFilter
from modelpicker.campaigns.results.report_page import report_page
from modelpicker.html_pages import POLICY
from modelpicker.options import LARGEST_COUNT
from modelpicker.server.access.callers import Reader
from modelpicker.server.api.documents.campaigns import OutlookAnswer
from modelpicker.server.api.documents.history import HistoryPage
from modelpicker.server.api.documents.labels import Answers, LabelRows
from modelpicker.server.api.documents.standing import CertificateDocument, ChartsDocument, StandingDocument
from modelpicker.server.api.examples import ANSWERS_CSV, EXPORT, LABELS_CSV, LIVE
from modelpicker.server.api.problems import problem_responses
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, Service, operation_id, replies
from modelpicker.server.live.live_events import stream

router = APIRouter(
    prefix=f"{VERSION}/campaigns/{{name}}", tags=["standing"], generate_unique_id_function=operation_id
)
PIECE = 2**18
BINARY = {"type": "string", "format": "binary"}
After = Annotated[int, Query(ge=0, le=LARGEST_COUNT, description="Only events after this one.")]


@router.get("/standing", responses=replies(StandingDocument, *NAMED))
async def standing(caller: Reader, queue: Found) -> Response:
    """Name the best model so far, and tell how all models stand."""
    return json_response(await queue.read(lambda _: queue.dashboard.standing()))


@router.get("/certificate", responses=replies(CertificateDocument, *NAMED, 422))
async def certificate(
    caller: Reader,
    queue: Found,
    confidence: Annotated[
        float, Query(gt=0, lt=1, description="That no such statement, made at any time, is ever wrong.")
    ] = 0.95,
    kind: Annotated[
        Literal["stream", "population", "pool"],
        Query(description="Of the items seen so far (of a pool: all), or of the population they are drawn from."),
    ] = "stream",
) -> Response:
    """Tell how certain the pick is, in a statement that holds whenever you look."""
    return json_response((await queue.read(lambda campaign: campaign.certificate(confidence, kind))).document())


@router.get("/outlook", responses=replies(OutlookAnswer, *NAMED, 422))
async def outlook(
    caller: Reader,
    queue: Found,
    labels: Annotated[int, Query(ge=1, le=LARGEST_COUNT, description="This many more labels.")],
) -> Response:
    """Estimate what more labels of a pool would buy."""
    found = await queue.read(lambda campaign: campaign.outlook(labels))
    return json_response({"outlook": None if found is None else found.document()})


@router.get("/charts", responses=replies(ChartsDocument, *NAMED))
async def charts(caller: Reader, queue: Found) -> Response:
    """Tell what the page's charts are drawn from."""
    return json_response(await queue.read(lambda _: queue.dashboard.charts()))


@router.get(
    "/report",
    response_class=Response,
    responses={
        200: {
            "description": "One page in one file: open it, print it, or send it by mail.",
            "content": {"text/html": {"schema": {"type": "string"}, "example": "<!doctype html>…"}},
        },
        **problem_responses(*NAMED),
    },
)
async def report(caller: Reader, queue: Found) -> Response:
    """Make a report for the person who decides: the pick, how certain it is, what it cost, and how to repeat it."""
    page = await queue.read(lambda campaign: report_page(campaign_report(campaign, queue.dashboard)))
    shown = _attached(queue.campaign, "-report.html", "inline")
    # Nothing in it may run, whatever a model or an annotator is called.
    headers = {**shown, "Content-Security-Policy": f"{POLICY}; sandbox allow-modals; frame-ancestors 'none'"}
    return Response(page.encode(), 200, headers, "text/html")


@router.get(
    "/live",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `standing` and `charts`, whenever something has changed.",
            "content": {"text/event-stream": {"schema": {"type": "string"}, "example": LIVE}},
        },
        **problem_responses(*NAMED),
    },
)
async def follow(request: Request, caller: Reader, queue: Found, service: Service) -> StreamingResponse:
    """Follow a campaign: how it stands at once, and again whenever something has changed."""
    return await stream(request, queue, service)


@router.get("/history", responses=replies(HistoryPage, *NAMED, 422))
async def history(
    caller: Reader,
    queue: Found,
    after: After = 0,
    most: Annotated[
        int, Query(ge=1, le=1000, description="This many records, and the rest of the last one's event.")
    ] = 100,
    id: Annotated[int | None, Query(ge=0, description="Only what happened to this round.")] = None,  # noqa: A002
    key: Annotated[str | None, Query(max_length=500, description="The same, by the key of its item.")] = None,
) -> Response:
    """Tell everything that happened, in order, page by page; or all that happened to one round."""
    called = key if id is None else id
    if called is not None:
        found = await queue.read(lambda campaign: list(campaign.history(called)))
        return json_response({"records": found, "next": None})
    return json_response(await queue.read(lambda campaign: _page(campaign, after, most)))


def _page(campaign: Campaign, after: int, most: int) -> dict[str, Any]:
    records, last = campaign.records(after, most), campaign.events
    end = records[-1]["event"] if records else last
    return {"records": records, "next": end if end < last else None}


@router.get("/answers", responses=replies(Answers, *NAMED, 422, csv=ANSWERS_CSV))
async def list_answers(
    caller: Reader,
    queue: Found,
    form: Annotated[Literal["json", "csv"], Query(alias="format", description="In what form.")] = "json",
) -> Response:
    """List all queries with their labels, and labels that were kept for reference."""
    found = await queue.read(lambda campaign: campaign.answers())
    rows = [asdict(one) for one in found]
    if form == "json":
        return json_response({"answers": rows})
    text = io.StringIO()
    writer = csv.DictWriter(text, ["id", "key", "label", "state"])
    writer.writeheader()
    writer.writerows([row | {"label": label_cell(one.label)} for row, one in zip(rows, found, strict=True)])
    return Response(
        text.getvalue().encode(errors="backslashreplace"), 200, _attached(queue.campaign, "-labels.csv"), "text/csv"
    )


@router.get("/labels", responses=replies(LabelRows, *NAMED, 422, csv=LABELS_CSV))
async def list_labels(
    caller: Reader,
    queue: Found,
    search: Annotated[
        str | None, Query(max_length=200, description="Text in the item, in its key, or in a note.")
    ] = None,
    label: Annotated[str | None, Query(max_length=500, description="Only this class.")] = None,
    annotator: Annotated[str | None, Query(max_length=500, description="Only what this person said.")] = None,
    state: Annotated[
        Literal["labelled", "skipped", "reference", "waiting", "conflict", "withdrawn"] | None,
        Query(
            description="Only answers of this kind. Items that wait are found if they are flagged or half answered."
        ),
    ] = None,
    flagged: Annotated[bool | None, Query(description="Only items that somebody flagged, or only others.")] = None,
    first: Annotated[int, Query(ge=0, le=LARGEST_COUNT, description="Skip this many.")] = 0,
    most: Annotated[int, Query(ge=1, le=1000, description="At most this many.")] = 50,
    form: Annotated[
        Literal["json", "csv"], Query(alias="format", description="In what form; CSV has all that match.")
    ] = "json",
) -> Response:
    """List every answer with who gave it, when, to which item, and what each model said; the newest first."""
    wanted = LabelFilter(search or None, label, annotator, state, flagged)
    found = await queue.read(lambda campaign: campaign.labels(wanted))
    if form == "csv":
        text = io.StringIO()
        columns, rows = as_table(found)
        writer = csv.DictWriter(text, columns)
        writer.writeheader()
        writer.writerows(rows)
        body = text.getvalue().encode(errors="backslashreplace")
        return Response(body, 200, _attached(queue.campaign, "-answers.csv"), "text/csv")
    everybody = await queue.read(lambda campaign: campaign.annotators())
    shown = [asdict(one) | {"predictions": list(one.predictions.items())} for one in found[first : first + most]]
    return json_response({"labels": shown, "total": len(found), "annotators": everybody})


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The whole campaign, as `modelpicker import` reads it.",
            "content": {
                "application/x-ndjson": {"schema": BINARY, "example": EXPORT},
                "application/vnd.apache.parquet": {"schema": BINARY, "example": "PAR1…"},
            },
        },
        **problem_responses(*NAMED, 422),
    },
)
async def export(
    caller: Reader,
    queue: Found,
    form: Annotated[Literal["jsonl", "parquet"], Query(alias="format", description="In what form.")] = "jsonl",
) -> StreamingResponse:
    """Export the whole campaign in one file; nothing is lost on the way."""
    folder = TemporaryDirectory(prefix="modelpicker-")
    path = FilePath(folder.name) / f"campaign.{form}"
    try:
        await queue.read(lambda campaign: export_campaign(campaign, path))
    except BaseException:
        folder.cleanup()
        raise
    media = "application/x-ndjson" if form == "jsonl" else "application/vnd.apache.parquet"
    headers = {**_attached(queue.campaign, f".{form}"), "Content-Length": str(path.stat().st_size)}
    return StreamingResponse(_pieces(path), 200, headers, media, BackgroundTask(folder.cleanup))


def _pieces(path: FilePath) -> Iterator[bytes]:
    """A file, whole: another export may differ, so that there are no ranges to continue with."""
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            yield piece


def _attached(campaign: Campaign, ending: str, how: str = "attachment") -> dict[str, str]:
    """A file to be saved, named after its campaign; names of other alphabets as RFC 6266 has them."""
    plain = campaign.name.encode("ascii", "replace").decode().replace("?", "_")
    whole = quote(f"{campaign.name}{ending}")
    return {"Content-Disposition": f"{how}; filename=\"{plain}{ending}\"; filename*=UTF-8''{whole}"}
