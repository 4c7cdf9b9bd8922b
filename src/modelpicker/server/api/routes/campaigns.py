"""Campaigns: listed, started, described; models that join and leave."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from modelpicker.campaigns import Campaign, Listed
from modelpicker.campaigns import create_campaign as begin_campaign
from modelpicker.campaigns import list_campaigns as find_campaigns
from modelpicker.campaigns.events.history import as_time
from modelpicker.campaigns.results.status import Status
from modelpicker.campaigns.settings import known_algorithm
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, NotFoundError, StorageError
from modelpicker.server.access.callers import Anybody, Owner
from modelpicker.server.api.documents.campaigns import Classes, Described, Members, NewCampaign, NewModel, Summaries
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import (
    CLOSED,
    NAMED,
    VERSION,
    Found,
    Service,
    describe,
    operation_id,
    replies,
)
from modelpicker.server.api.routes.pools import file_description
from modelpicker.server.context import ServerContext, Summarized
from modelpicker.server.live.group_commit import reach

PREFIX = f"{VERSION}/campaigns"
# Of more classes than these, which no list of classes is for, only those are listed that people have told.
MOST_LISTED = 2_000
router = APIRouter(
    prefix=PREFIX, tags=["campaigns"], route_class=FastRoute, generate_unique_id_function=operation_id
)
LEARNING = Status(
    "running", "How it stands is being found again from everything that happened.", "Look again in a moment."
)
# What annotators who see no predictions are not told.
HIDDEN = {"models": None, "pick": None, "tied": None}
leaving = APIRouter(prefix=PREFIX, tags=["campaigns"], generate_unique_id_function=operation_id)


@router.get("", responses=replies(Summaries, *CLOSED))
async def list_campaigns(caller: Anybody, service: Service) -> Response:
    """List the campaigns, by name."""
    found = await run_in_threadpool(_listed, service.configuration.storage)
    known = service.summaries
    for gone in known.keys() - {one.name for one in found}:
        del known[gone]
    rows = []
    for one in found:
        last = _damaged(one, one.damage) if one.damage else known.get(one.name)
        if last is None or (last.created, last.event) != (one.created, one.events):
            try:
                last = await _summarized(service, one)
            except NotFoundError as error:  # its algorithm is of somebody's own, and not here
                last = _damaged(one, str(error))
            except StorageError as error:  # it cannot be found from its events; the others can
                last = _damaged(one, str(error))
            known[one.name] = last
        rows.append(last.row if caller.predictions else {**last.row, **HIDDEN})
    return json_response({"campaigns": rows})


def _damaged(listed: Listed, why: str) -> Summarized:
    """A campaign that cannot be opened, in a list; looked at again the next time only if something has changed."""
    row = {**_summary(listed, None, listed.rounds, 0, 0, 0), "damage": why}
    return Summarized(listed.created, listed.events, row)


def _listed(url: str) -> list[Listed]:
    reach(url)
    return find_campaigns(url)


async def _summarized(service: ServerContext, listed: Listed) -> Summarized:
    """How a campaign stands, for a list."""
    queue = await service.queues.find(listed.name)
    try:
        event, pick = await queue.look()
    except Problem:  # it is rebuilt, and nothing is known but how many labels there are
        found = await queue.read(lambda campaign: campaign.stored_counts())
        counted = found["labelled"], found["waiting"], found["skipped"]
        return Summarized(listed.created, -1, _summary(listed, LEARNING, listed.rounds, *counted))
    leads = {"pick": pick.model if pick.labels_used else None, "tied": len(pick.tied)}
    row = _summary(listed, pick.state, pick.rounds, pick.labels_used, pick.pending, pick.skipped)
    return Summarized(listed.created, event, {**row, **leads})


def _summary(
    listed: Listed, state: Status | None, rounds: int, labels: int, pending: int, skipped: int
) -> dict[str, Any]:
    return {
        "name": listed.name,
        "created": as_time(listed.created),
        "algorithm": listed.algorithm,
        "models": listed.models,
        "budget": listed.budget,
        "state": None if state is None else state.document(),
        "damage": None,
        "rounds": rounds,
        "labels_used": labels,
        "pending": pending,
        "skipped": skipped,
        "pick": None,
        "tied": None,
    }


@router.post(
    "",
    status_code=201,
    responses=replies(Described, *CLOSED, 409, 422, status=201),
    openapi_extra=file_description(),
)
async def create_campaign(caller: Owner, service: Service, request: Request, body: NewCampaign) -> Response:
    """Begin a campaign. The body has its settings; or it is a file of items, and the query has the settings.

    With settings it is on a stream, whose items arrive one by one. With a file it is on a pool: the items are those
    of the file, and which of them is asked about next is decided when somebody is ready to answer.
    """
    if request.query_params:
        raise InputError("the query goes with a file; send settings in the body, or a file as the body.")
    try:
        algorithm = known_algorithm(body.algorithm)
    except NotFoundError as error:
        raise InputError(str(error)) from error

    def begin() -> dict[str, Any]:
        reach(service.configuration.storage)
        campaign = begin_campaign(
            service.configuration.storage,
            body.name,
            **body.model_dump(exclude={"name"}) | {"algorithm": algorithm},
        )
        return describe(campaign, caller)

    made = json_response(await run_in_threadpool(begin), 201)
    made.headers["Location"] = f"{VERSION}/campaigns/{quote(body.name, safe='')}"
    return made


@router.get("/{name}", responses=replies(Described, *NAMED))
async def describe_campaign(caller: Anybody, queue: Found) -> Response:
    """Describe a campaign: what it is made with, how far it has come, which model leads."""
    return json_response(await queue.read(lambda campaign: describe(campaign, caller)))


@router.get("/{name}/classes", responses=replies(Classes, *NAMED))
async def list_classes(caller: Anybody, queue: Found) -> Response:
    """List what a label may be: the campaign's classes, or all that was said so far where those are open.

    Annotators see it too: it does not tell which model named a class, or of which item. Of thousands, which are
    free text, only those are listed that people told. Where grades or preferences are asked for, there are none.
    """

    def look(campaign: Campaign) -> list[ClassName]:
        found = campaign.known_classes()
        few = campaign.classes is not None or len(found) <= MOST_LISTED
        return found if few else campaign.told_classes()[:MOST_LISTED]

    return json_response({"classes": await queue.read(look), "open": queue.campaign.classes is None})


@router.post("/{name}/models", responses=replies(Members, *NAMED, 409, 422))
async def join(caller: Owner, queue: Found, body: NewModel) -> Response:
    """Let another model take part from the next round on."""

    def change(campaign: Campaign) -> list[ModelName]:
        before = campaign.models
        campaign.join(body.model)
        return [*before, body.model]

    return json_response({"models": await queue.do(change)})


@leaving.delete("/{name}/models/{model:path}", responses=replies(Members, *NAMED, 409))
async def leave(
    caller: Owner, queue: Found, model: Annotated[str, Path(description="Its name.", examples=["roberta"])]
) -> Response:
    """Let a model no longer take part, from the next round on."""

    def change(campaign: Campaign) -> list[ModelName]:
        before = campaign.models
        campaign.leave(model)
        return [one for one in before if str(one) != model]

    return json_response({"models": await queue.do(change)})
