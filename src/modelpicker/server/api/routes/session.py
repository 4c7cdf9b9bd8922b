"""Signing in on the page: the token goes into a cookie that no script can read."""

from fastapi import APIRouter, Request, Response

import modelpicker
from modelpicker.server.access.callers import COOKIE, Caller, check_token, find_caller
from modelpicker.server.api.documents.access import NewSession, SessionDocument
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.problems import Problem, problem_responses
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import ANYWHERE, OPEN, VERSION, Service, operation_id, replies
from modelpicker.server.context import ServerContext

router = APIRouter(
    prefix=f"{VERSION}/session",
    tags=["session"],
    route_class=FastRoute,
    generate_unique_id_function=operation_id,
)
MONTH = 30 * 24 * 3600


@router.get("", responses=replies(SessionDocument, *ANYWHERE, 429, 503), openapi_extra=OPEN)
async def show_session(request: Request, service: Service) -> Response:
    """Say who is signed in."""
    try:
        caller = await find_caller(request)
    except Problem as error:
        if error.status_code != 401:
            raise
        caller = None
    return json_response(_document(service, caller))


@router.post("", responses=replies(SessionDocument, *ANYWHERE, 422, 401, 429, 503), openapi_extra=OPEN)
async def sign_in(request: Request, service: Service, body: NewSession) -> Response:
    """Sign in with a token; browsers send it along from then on."""
    if not service.configuration.needs_tokens:
        return json_response(_document(service, await find_caller(request)))
    caller = await check_token(request, body.token.strip())
    made = json_response(_document(service, caller))
    made.set_cookie(
        COOKIE,
        body.token.strip(),
        max_age=MONTH,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return made


@router.delete(
    "",
    status_code=204,
    response_class=Response,
    response_description="The browser forgets the token.",
    responses=problem_responses(*ANYWHERE),
    openapi_extra=OPEN,
)
async def sign_out() -> Response:
    """Sign out. The token stays what it is."""
    made = Response(status_code=204)
    made.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return made


def _document(service: ServerContext, caller: Caller | None) -> dict[str, object]:
    return {
        "authenticated": caller is not None,
        "role": caller.role if caller else None,
        "name": caller.name if caller else None,
        "sees_predictions": caller is not None and caller.predictions,
        "tokens_needed": service.configuration.needs_tokens,
        "media_hosts": list(service.configuration.media_hosts) if caller else [],
        "demo": service.configuration.demo,
        "version": modelpicker.__version__,
    }
