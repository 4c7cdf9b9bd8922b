"""Signing in on the page: the token goes into a cookie that no script can read."""

from fastapi import APIRouter, Request, Response

import modelpicker
from modelpicker.server import documents
from modelpicker.server.access import COOKIE, Caller, check_token, find_caller
from modelpicker.server.answers import answer
from modelpicker.server.problems import Problem, described
from modelpicker.server.routes.common import VERSION, Service
from modelpicker.server.state import State

router = APIRouter(prefix=f"{VERSION}/session", tags=["session"])
MONTH = 30 * 24 * 3600
ERRORS = described(400, 403, 413, 415, 421, 422, 429, 500, 503)


@router.get("", responses={200: {"model": documents.SessionDocument}, **ERRORS})
async def show(request: Request, service: Service) -> Response:
    """Who is signed in."""
    try:
        caller = await find_caller(request)
    except Problem as error:
        if error.status_code != 401:
            raise
        caller = None
    return answer(_document(service, caller))


@router.post("", responses={200: {"model": documents.SessionDocument}, **ERRORS, **described(401, 408)})
async def sign_in(request: Request, service: Service, body: documents.NewSession) -> Response:
    """Sign in with a token; browsers send it along from then on."""
    if not service.configuration.needs_tokens:
        return answer(_document(service, await find_caller(request)))
    caller = await check_token(request, body.token.strip())
    made = answer(_document(service, caller))
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


@router.delete("", status_code=204, response_class=Response, responses=ERRORS)
async def sign_out() -> Response:
    """Sign out."""
    made = Response(status_code=204)
    made.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return made


def _document(service: State, caller: Caller | None) -> dict[str, object]:
    return {
        "authenticated": caller is not None,
        "role": caller.role if caller else None,
        "name": caller.name if caller else None,
        "sees_predictions": caller is not None and caller.predictions,
        "tokens_needed": service.configuration.needs_tokens,
        "demo": service.configuration.demo,
        "version": modelpicker.__version__,
    }
