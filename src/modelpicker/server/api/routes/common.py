"""What the routes share: how a campaign is found, and how documents about it are made."""

from typing import Annotated, Any

from fastapi import Depends, Path, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel

from modelpicker.campaigns import Campaign
from modelpicker.campaigns.events.history import as_time
from modelpicker.campaigns.setting_options import JUDGE
from modelpicker.server.access.callers import Caller
from modelpicker.server.api.problems import problem_responses
from modelpicker.server.context import ServerContext
from modelpicker.server.live.group_commit import CommitQueue

VERSION = "/api/v1"
# What may go wrong: anywhere; where tokens are needed; where a campaign is named.
ANYWHERE = (400, 403, 408, 413, 415, 421, 431, 500)
CLOSED = (*ANYWHERE, 401, 429, 503)
NAMED = (*CLOSED, 404)
OPEN: dict[str, Any] = {"security": []}
"""What OpenAPI is told about a route that needs no token."""


def replies(
    model: type[BaseModel], *errors: int, status: int = 200, csv: str | None = None
) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes what a route answers: a document, or one of these errors; `csv` is an example."""
    answer: dict[str, Any] = {"model": model, "description": model.__doc__}
    if csv is not None:
        answer["content"] = {"text/csv": {"schema": {"type": "string"}, "example": csv}}
    return {status: answer, **problem_responses(*errors)}


def operation_id(route: APIRoute) -> str:
    """What programs that are made from the description call a route."""
    return route.name


async def find_state(request: Request) -> ServerContext:
    """The server."""
    state: ServerContext = request.app.state.service
    return state


Service = Annotated[ServerContext, Depends(find_state)]


async def find_queue(
    request: Request,
    name: Annotated[str, Path(description="The campaign.", examples=["tickets"])],
) -> CommitQueue:
    """The commit queue of the campaign that a path names."""
    state: ServerContext = request.app.state.service
    return await state.queues.find(name)


Found = Annotated[CommitQueue, Depends(find_queue)]


def counts(campaign: Campaign) -> dict[str, int]:
    """How far the labelling has come."""
    return {"labels_used": campaign.labels_bought, "pending": campaign.counts().waiting}


def describe(campaign: Campaign, caller: Caller) -> dict[str, Any]:
    """A campaign, as its callers may see it."""
    settings, pick = campaign.settings.document(), campaign.best()
    document = pick.document()
    secret, found = not caller.predictions, campaign.counts()
    costs = {
        name: words for name, words in campaign.settings.costs.facts().items() if not (secret and name == "price")
    }
    if secret:  # annotators need not know what a judge says, nor where to look for it; prices name the models
        hidden = (JUDGE, "price")
        settings["options"] = {name: value for name, value in settings["options"].items() if name not in hidden}
    return {
        "name": campaign.name,
        "created": as_time(campaign.created),
        **settings,
        **campaign.terms.document(),
        "models": None if secret else list(campaign.models),
        **{
            name: document[name]
            for name in (
                "state",
                "to_go",
                "more",
                "rounds",
                "labels_used",
                "labels_saved",
                "pending",
                "skipped",
                "references",
                "conflicts",
            )
        },
        "waiting_items": campaign.waiting_items(),
        "labels_known": found.labels,
        "costs": costs,
        "withdrawn": found.withdrawn,
        "pick": None if secret else document["pick"],
        "tied": None if secret else document["tied"],
    }
