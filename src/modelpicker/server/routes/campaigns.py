"""Campaigns: listed, begun, described; models that join and leave."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Response
from starlette.concurrency import run_in_threadpool

from modelpicker.campaigns import Listed, Pick
from modelpicker.campaigns import create_campaign as begin_campaign
from modelpicker.campaigns import list_campaigns as find_campaigns
from modelpicker.campaigns.records import as_time
from modelpicker.campaigns.settings import known_algorithm
from modelpicker.errors import InputError, NotFoundError
from modelpicker.guarantees.certificate import Certified
from modelpicker.server import documents
from modelpicker.server.access import Anybody, Caller, Owner
from modelpicker.server.answers import answer
from modelpicker.server.desks import reach
from modelpicker.server.quick import QuickRoute
from modelpicker.server.routes.common import (
    CLOSED,
    NAMED,
    VERSION,
    Found,
    Service,
    describe,
    operation_id,
    replies,
)

PREFIX = f"{VERSION}/campaigns"
router = APIRouter(
    prefix=PREFIX, tags=["campaigns"], route_class=QuickRoute, generate_unique_id_function=operation_id
)
leaving = APIRouter(prefix=PREFIX, tags=["campaigns"], generate_unique_id_function=operation_id)


@router.get("", responses=replies(documents.Summaries, *CLOSED))
async def list_campaigns(caller: Anybody, service: Service) -> Response:
    """List the campaigns, by name."""
    found = await run_in_threadpool(_listed, service.configuration.storage)
    rows = []
    for one in found:
        try:
            desk = await service.desks.find(one.name)
            rows.append(_summary(one, await desk.pick(), caller))
        except NotFoundError:  # its algorithm is of somebody's own, and not here
            continue
    return answer({"campaigns": rows})


def _listed(url: str) -> list[Listed]:
    reach(url)
    return find_campaigns(url)


def _summary(listed: Listed, pick: Pick, caller: Caller) -> dict[str, Any]:
    seen = caller.predictions
    return {
        "name": listed.name,
        "created": as_time(listed.created),
        "algorithm": listed.algorithm,
        "models": listed.models if seen else None,
        "budget": listed.budget,
        "state": pick.state.document(),
        "rounds": pick.rounds,
        "labels_used": pick.labels_used,
        "pending": pick.pending,
        "skipped": pick.skipped,
        "pick": pick.model if seen and pick.labels_used else None,
        "tied": len(pick.tied) if seen else None,
    }


@router.post("", status_code=201, responses=replies(documents.Described, *CLOSED, 409, 422, status=201))
async def create_campaign(caller: Owner, service: Service, body: documents.NewCampaign) -> Response:
    """Begin a campaign."""
    try:
        algorithm = known_algorithm(body.algorithm)
    except NotFoundError as error:
        raise InputError(str(error)) from error

    def begin() -> dict[str, Any]:
        reach(service.configuration.storage)
        campaign = begin_campaign(
            service.configuration.storage,
            body.name,
            models=body.models,
            classes=body.classes,
            budget=body.budget,
            expected_rounds=body.expected_rounds,
            stop_when=None if body.stop_when is None else Certified(**body.stop_when.model_dump()),
            seed=body.seed,
            algorithm=algorithm,
            options=body.options,
        )
        return describe(campaign, caller)

    made = answer(await run_in_threadpool(begin), 201)
    made.headers["Location"] = f"{VERSION}/campaigns/{quote(body.name, safe='')}"
    return made


@router.get("/{name}", responses=replies(documents.Described, *NAMED))
async def describe_campaign(caller: Anybody, desk: Found) -> Response:
    """Describe a campaign: what it is made with, how far it has come, who leads."""
    return answer(await desk.read(lambda campaign: describe(campaign, caller)))


@router.get("/{name}/classes", responses=replies(documents.Classes, *NAMED))
async def list_classes(caller: Anybody, desk: Found) -> Response:
    """List what a label may be: the campaign's classes, or all that was said so far where those are open.

    Annotators see it too: it does not tell which model named a class, or of which item.
    """
    found = await desk.read(lambda _: desk.board.classes.names())
    return answer({"classes": found, "open": desk.campaign.classes is None})


@router.post("/{name}/models", responses=replies(documents.Members, *NAMED, 409, 422))
async def join(caller: Owner, desk: Found, body: documents.NewModel) -> Response:
    """Let another model take part from the next round on."""
    await desk.do(lambda campaign: campaign.join(body.model))
    return answer({"models": list(await desk.read(lambda campaign: campaign.models))})


@leaving.delete("/{name}/models/{model:path}", responses=replies(documents.Members, *NAMED, 409))
async def leave(
    caller: Owner, desk: Found, model: Annotated[str, Path(description="Its name.", examples=["roberta"])]
) -> Response:
    """Let a model take no part any more, from the next round on."""
    await desk.do(lambda campaign: campaign.leave(model))
    return answer({"models": list(await desk.read(lambda campaign: campaign.models))})
