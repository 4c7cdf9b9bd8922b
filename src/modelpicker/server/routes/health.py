"""Whether the server lives and is ready, and what it counts."""

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from modelpicker.campaigns import Campaign
from modelpicker.server import documents
from modelpicker.server.access import Reader
from modelpicker.server.answers import answer
from modelpicker.server.desks import reach
from modelpicker.server.problems import described
from modelpicker.server.routes.common import USUAL, Service

router = APIRouter(tags=["health"])
ERRORS = described(403, 421, 500)


@router.get("/health", responses={200: {"model": documents.Health}, **ERRORS})
async def health() -> Response:
    """The server lives."""
    return answer({"status": "ok"})


@router.get("/ready", responses={200: {"model": documents.Health}, **ERRORS, **described(503)})
async def ready(service: Service) -> Response:
    """The server can reach its storage, and is not about to stop."""
    if service.stopping.is_set():
        return Response(status_code=503)
    await run_in_threadpool(_look, service.configuration.storage)
    return answer({"status": "ok"})


def _look(url: str) -> None:
    storage = reach(url)
    with storage.reading() as connection:
        storage.version(connection)


@router.get(
    "/metrics",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Metrics"}, **USUAL},
)
async def metrics(service: Service, caller: Reader) -> Response:
    """What this server counts, as Prometheus reads it."""
    pending = {desk.campaign.name: await desk.read(_pending) for desk in service.desks}
    return Response(service.metrics.text(pending), media_type="text/plain; version=0.0.4")


def _pending(campaign: Campaign) -> int:
    return campaign.best().pending
