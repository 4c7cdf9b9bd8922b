"""Whether the server runs and is ready, and its metrics."""

from contextlib import suppress

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from modelpicker.server.access.callers import Reader
from modelpicker.server.api.documents.problems import Health
from modelpicker.server.api.examples import METRICS, OPEN_METRICS
from modelpicker.server.api.problems import Problem, problem_responses
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import ANYWHERE, CLOSED, OPEN, Service, operation_id, replies
from modelpicker.server.live.group_commit import reach

router = APIRouter(tags=["health"], generate_unique_id_function=operation_id)


@router.get("/health", responses=replies(Health, *ANYWHERE), openapi_extra=OPEN)
async def health() -> Response:
    """Say that the server lives."""
    return json_response({"status": "ok"})


@router.get("/ready", responses=replies(Health, *ANYWHERE, 503), openapi_extra=OPEN)
async def ready(service: Service) -> Response:
    """Say whether the server can reach its storage, has compiled what its campaigns need, and is not about to stop.

    A server that still compiles answers all the same, only more slowly. What campaigns need that begin later does
    not make it unready.
    """
    if service.stopping.is_set():
        raise Problem(503, "The server is about to stop.")
    if service.preparing:
        left = ", ".join(service.compiler.waiting) or "its campaigns"
        raise Problem(503, f"The server compiles what it needs for {left}. It answers meanwhile, more slowly.")
    await run_in_threadpool(_look, service.configuration.storage)
    return json_response({"status": "ok"})


def _look(url: str) -> None:
    storage = reach(url)
    with storage.reading() as connection:
        storage.version(connection)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={
        200: {
            "content": {
                "text/plain": {"schema": {"type": "string"}, "example": METRICS},
                "application/openmetrics-text": {"schema": {"type": "string"}, "example": OPEN_METRICS},
            },
            "description": "The text form of Prometheus, or that of OpenMetrics for clients that accept it.",
        },
        **problem_responses(*CLOSED),
    },
)
async def metrics(service: Service, caller: Reader, request: Request) -> Response:
    """Tell what this server counts, as Prometheus reads it."""
    pending = {}
    for queue in service.queues:
        with suppress(Problem):  # a campaign that is rebuilt, and of which nothing is known in the meantime
            _, pick = await queue.look()
            pending[queue.campaign.name] = pick.pending
    content, content_type = service.metrics.expose(pending, ",".join(request.headers.getlist("accept")))
    return Response(content, headers={"Content-Type": content_type})
