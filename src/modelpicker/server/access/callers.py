"""Who calls, and what they may do."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from modelpicker.errors import ModelPickerError
from modelpicker.server.access.tokens import Token
from modelpicker.server.api.problems import Problem
from modelpicker.server.context import ServerContext
from modelpicker.server.logs import log_event

COOKIE = "modelpicker"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from."""

    role: str
    name: str | None
    predictions: bool
    """Whether they may see what the models say."""

    def annotator(self, given: str | None) -> str | None:
        """What answers are signed with: who has a token cannot sign as somebody else."""
        if self.name is None:
            return given
        return self.name if given is None else f"{self.name}/{given}"


LOCAL = Caller("owner", None, True)


async def find_caller(request: Request) -> Caller | None:
    """Who calls; None if they do not say."""
    state: ServerContext = request.app.state.service
    if not state.configuration.needs_tokens:
        return LOCAL
    given = _given(request)
    return None if given is None else await check_token(request, given)


def _given(request: Request) -> str | None:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value:
        return value.strip()
    return request.cookies.get(COOKIE)


async def _look_up(state: ServerContext, given: str) -> Token | None:
    find = state.tokens.find
    return find(given) if state.tokens.fresh else await run_in_threadpool(find, given)


async def check_token(request: Request, given: str) -> Caller:
    """Who a token belongs to; an error if it is worthless."""
    state: ServerContext = request.app.state.service
    token = await _look_up(state, given)
    if token is None:
        raise wrong_secret(request)
    return Caller(token.role, token.name, token.predictions)


def wrong_secret(request: Request) -> Problem:
    """What a worthless token is answered with; right ones are never turned away for the wrong ones of others."""
    state: ServerContext = request.app.state.service
    address = request.client.host[:100] if request.client else "unknown"
    wait = state.failures.pause(address)
    if wait > 0:
        detail = f"Too many wrong tokens came from {address}; try again in {wait:.0f} seconds."
        return Problem(429, detail, {"Retry-After": str(int(wait) + 1)})
    state.failures.add(address)
    state.metrics.failures.inc()
    log_event(logging.WARNING, "wrong token", client=address)
    return Problem(
        401, "That token is not valid here. Ask the person who runs this server for a new one.", _CHALLENGE
    )


async def is_welcome(request: Request) -> bool:
    """Whether somebody who was admitted still is: their token may have been revoked since."""
    state: ServerContext = request.app.state.service
    given = _given(request)
    if not state.configuration.needs_tokens or given is None:
        return not state.configuration.needs_tokens
    try:
        return await _look_up(state, given) is not None
    except ModelPickerError:  # the storage is away: that is no reason to send anybody away
        return True


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="modelpicker"'}


async def admit(request: Request) -> Caller:
    """Who calls; an error if they do not say."""
    caller = await find_caller(request)
    if caller is None:
        raise Problem(401, "Pass a token: Authorization: Bearer mp_…, or sign in on the page.", _CHALLENGE)
    return caller


def one_of(*roles: str) -> Callable[..., Awaitable[Caller]]:
    """A caller with one of these roles."""

    async def check(request: Request) -> Caller:
        caller = await admit(request)
        if caller.role not in roles:
            raise Problem(403, f"This needs the role {' or '.join(roles)}; this token's is {caller.role}.")
        return caller

    return check


Anybody = Annotated[Caller, Depends(one_of("owner", "annotator", "reader"))]
Owner = Annotated[Caller, Depends(one_of("owner"))]
Labeller = Annotated[Caller, Depends(one_of("owner", "annotator"))]
Reader = Annotated[Caller, Depends(one_of("owner", "reader"))]
