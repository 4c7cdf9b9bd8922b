"""Errors as RFC 9457 has them: one kind of body for everything that can go wrong."""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from modelpicker.errors import (
    ConflictError,
    FileError,
    InputError,
    ModelPickerError,
    NotFoundError,
    RoundError,
    SchemaError,
    StorageError,
    UnclearColumnsError,
)
from modelpicker.server.logs import log_event

MEDIA_TYPE = "application/problem+json"
# What each status means here; `type` is made of the first.
KINDS = {
    400: ("bad-request", "The request cannot be read"),
    401: ("not-signed-in", "A token is needed"),
    403: ("not-allowed", "This is not allowed"),
    404: ("not-found", "Not found"),
    405: ("wrong-method", "This is not possible here"),
    408: ("too-slow", "The request did not come in time"),
    409: ("conflict", "It conflicts with the current state"),
    413: ("too-large", "The request is too large"),
    415: ("unknown-form", "The request comes in a form that is not understood"),
    421: ("foreign-host", "This server does not have that name"),
    422: ("invalid-input", "The request is not valid"),
    429: ("too-many", "There were too many attempts"),
    431: ("too-long", "The headers of the request are too large"),
    500: ("internal", "Something went wrong here"),
    503: ("unavailable", "This cannot be done right now"),
}
STATUS: Sequence[tuple[type[ModelPickerError], int]] = (
    (InputError, 422),
    (NotFoundError, 404),
    (ConflictError, 409),
    (RoundError, 409),
    (SchemaError, 503),
    (StorageError, 503),
    (FileError, 503),
)


class Problem(HTTPException):
    """An error that is raised by the service itself."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers or {}))


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """The answer to a request that failed."""
    kind, title = KINDS.get(status, ("error", "The request failed"))
    body = {"type": f"urn:modelpicker:problem:{kind}", "title": title, "status": status, "detail": detail, **more}
    extra = {**({"Retry-After": "1"} if status == 503 else {}), **(headers or {})}
    return Response(json.dumps(body), status, extra, MEDIA_TYPE)


def status_of(error: ModelPickerError) -> int:
    """The status that an error of modelpicker's is answered with."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


async def as_problem(request: Request, error: Exception) -> Response:
    """An error of modelpicker's, or of a framework's, as a problem."""
    if isinstance(error, ModelPickerError):
        status = status_of(error)
        if status >= 500:
            log_event(logging.ERROR, "storage failed", path=request.url.path, error=str(error))
        more: dict[str, Any] = {"columns": [*error.columns]} if isinstance(error, UnclearColumnsError) else {}
        # Where the storage is, is nobody's business.
        return problem(status, str(error).replace(request.app.state.service.storage.url, "the storage"), **more)
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        headers = {"Allow": _methods(request)} if error.status_code == 405 else error.headers
        return problem(error.status_code, str(error.detail), headers)
    raise error


def _methods(request: Request) -> str:
    """What can be done at an address: each route knows its own methods only."""
    found = [
        route.methods or set()
        for route in request.app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] != Match.NONE
    ]
    return ", ".join(sorted(set[str]().union(*found)))


def _invalid(error: RequestValidationError) -> Response:
    """A body or a parameter that is not what the API describes."""
    found = [
        {
            "where": ".".join(str(part) for part in entry["loc"])[:200],
            "what": str(entry["msg"]).removeprefix("Value error, ")[:500],
        }
        for entry in error.errors()[:20]
    ]
    if any(entry["type"] == "json_invalid" for entry in error.errors()):
        return problem(400, f"The body is not JSON: {found[0]['what']}.", errors=found)
    if not found:
        return problem(422, "request: it is not valid.", errors=found)
    # What may be of several kinds has an error for each of them: the deepest is the one of what was meant.
    depths = [len(entry["loc"]) for entry in error.errors()[:20]]
    first = found[depths.index(max(depths))]
    return problem(422, f"{first['where']}: {first['what']}.", errors=found)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes the errors that a route may answer with."""
    return {
        status: {
            "description": KINDS[status][1],
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "example": {
                        "type": f"urn:modelpicker:problem:{KINDS[status][0]}",
                        "title": KINDS[status][1],
                        "status": status,
                        "detail": "What is wrong, and what to do.",
                    },
                }
            },
        }
        for status in sorted(statuses)
    }
