"""What owners change while a campaign continues: budget, goal, pause, name; and deleting it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from modelpicker.campaigns import delete_campaign
from modelpicker.errors import InputError
from modelpicker.server.access.callers import Owner
from modelpicker.server.api.documents.campaigns import Described, NewTerms
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.problems import problem_responses
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, Service, describe, operation_id, replies

PREFIX = f"{VERSION}/campaigns/{{name}}"
router = APIRouter(
    prefix=PREFIX, tags=["campaigns"], route_class=FastRoute, generate_unique_id_function=operation_id
)
deleting = APIRouter(prefix=PREFIX, tags=["campaigns"], generate_unique_id_function=operation_id)


@router.patch("", responses=replies(Described, *NAMED, 409, 422))
async def revise(caller: Owner, service: Service, queue: Found, body: NewTerms) -> Response:
    """Change what may be changed while it continues. Only what is sent changes, and the history keeps it."""
    given: dict[str, Any] = body.model_dump(include=body.model_fields_set)
    by = caller.annotator(given.pop("annotator", None))
    name = given.pop("name", None)
    before = queue.campaign.name

    await queue.do(lambda campaign: campaign.revise(name=name, annotator=by, **given))
    if name is not None:
        service.queues.forget(before)
    return json_response(await queue.read(lambda campaign: describe(campaign, caller)))


@deleting.delete(
    "",
    status_code=204,
    response_class=Response,
    response_description="The campaign is gone.",
    responses=problem_responses(*NAMED, 422),
)
async def delete(
    caller: Owner,
    service: Service,
    queue: Found,
    confirm: Annotated[str, Query(description="The name of the campaign once more: what is deleted is gone.")],
) -> None:
    """Delete a campaign with all its items and labels, permanently. Export it before."""
    name = queue.campaign.name
    if confirm != name:
        raise InputError(
            f"confirm={confirm[:100]!r}: pass the name of the campaign, {name!r}.", parameter="confirm"
        )
    await queue.do(lambda _: None)  # what was sent before is done
    await service.queues.run(lambda: delete_campaign(service.configuration.storage, name))
    service.queues.forget(name)
