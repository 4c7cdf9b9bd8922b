"""Tokens, made and revoked by owners."""

from typing import Annotated

from fastapi import APIRouter, Path, Response
from starlette.concurrency import run_in_threadpool

from modelpicker.campaigns.events.history import as_time
from modelpicker.errors import ConflictError
from modelpicker.server.access.callers import Owner
from modelpicker.server.access.tokens import create_token, list_tokens, revoke_token
from modelpicker.server.api.documents.access import MadeToken, NewToken, TokenList
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.problems import problem_responses
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import CLOSED, VERSION, Service, operation_id, replies

PREFIX = f"{VERSION}/tokens"
router = APIRouter(prefix=PREFIX, tags=["session"], route_class=FastRoute, generate_unique_id_function=operation_id)
revoking = APIRouter(prefix=PREFIX, tags=["session"], generate_unique_id_function=operation_id)


@router.get("", responses=replies(TokenList, *CLOSED))
async def list_all_tokens(caller: Owner, service: Service) -> Response:
    """List the tokens: whose they are and what they may do. The secrets are not stored."""
    found = await run_in_threadpool(list_tokens, service.storage)
    rows = [
        {"name": one.name, "role": one.role, "predictions": one.predictions, "created": as_time(one.created)}
        for one in found
    ]
    return json_response({"tokens": rows})


@router.post("", status_code=201, responses=replies(MadeToken, *CLOSED, 409, 422, status=201))
async def make_token(caller: Owner, service: Service, body: NewToken) -> Response:
    """Make a token. This answer is the only one that shows it."""

    def make() -> str:
        return create_token(service.storage, body.name, body.role, predictions=body.predictions)

    token = await run_in_threadpool(make)
    service.tokens.read_again()
    return json_response({"name": body.name, "role": body.role, "token": token}, 201)


@revoking.delete(
    "/{name}",
    status_code=204,
    response_class=Response,
    response_description="The token stops working within a second.",
    responses=problem_responses(*CLOSED, 404, 409),
)
async def drop_token(
    caller: Owner, service: Service, name: Annotated[str, Path(description="Whose it is.", examples=["mia"])]
) -> None:
    """Make a token worthless; not the one that asks for it, which would lock its owner out."""
    if name == caller.name:
        raise ConflictError("that is your own token; ask another owner, or use `modelpicker tokens revoke`.")
    await run_in_threadpool(revoke_token, service.storage, name)
    service.tokens.read_again()
