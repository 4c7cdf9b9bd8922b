"""Routes without detours: FastAPI describes them, but what it does for a request costs more than deciding a round.

A fast route's function takes what is available at once: the request, callers and campaigns, as `Depends` names
them, and a body.
They are found in the order of the parameters, so that nobody learns anything of a campaign who may not.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, get_args, get_type_hints

from fastapi.exceptions import RequestValidationError
from fastapi.params import Depends
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from modelpicker.server.api.problems import Problem

Finder = Callable[[Request], Awaitable[Any]]
# Errors in one body that are looked at one by one.
MOST_ERRORS = 1_000


class FastRoute(APIRoute):
    """A route whose parameters are found by a few calls."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        endpoint: Any = self.endpoint
        hints = get_type_hints(endpoint, include_extras=True)
        finders = {name: _finder(hint) for name, hint in hints.items() if name != "return"}

        async def handle(request: Request) -> Response:
            found = {name: await finder(request) for name, finder in finders.items()}
            made: Response = await endpoint(**found)
            return made

        return handle


def _finder(hint: Any) -> Finder:
    """How a parameter is found."""
    marks = [mark for mark in get_args(hint)[1:] if isinstance(mark, Depends)]
    if marks:
        called: Any = marks[0].dependency
        return _by_name(called) if "name" in get_type_hints(called) else called
    if hint is Request:
        return _itself
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return _body(hint)
    raise TypeError(f"a fast route takes no parameter of {hint}")


async def _itself(request: Request) -> Request:
    return request


def _by_name(called: Any) -> Finder:
    async def find(request: Request) -> Any:
        return await called(request, request.path_params["name"])

    return find


def _body(model: type[BaseModel]) -> Finder:
    async def read(request: Request) -> BaseModel:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise Problem(415, f"The body is {kind[:50] or 'of no stated kind'}; send application/json.")
        try:
            return model.model_validate_json(await request.body())
        except ValidationError as error:
            raise RequestValidationError(_entries(error)) from error

    return read


def _entries(error: ValidationError) -> list[dict[str, Any]]:
    """What is wrong with a body; of a flood of errors, only how many there are."""
    count = error.error_count()
    if count > MOST_ERRORS:
        return [{"type": "flood", "loc": ("body",), "msg": f"{count:,} things are wrong with it"}]
    return [{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors(include_url=False)]
