"""Rounds that another server on the same storage hands over: between servers, and no part of the API."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from modelpicker.algorithms import Decision
from modelpicker.errors import NotFoundError
from modelpicker.server.api.problems import Problem
from modelpicker.server.context import ServerContext
from modelpicker.server.live.handover import HandedAsk, answer, is_known, read_message


async def take_over(request: Request) -> Response:
    """Decide rounds for another server, each as if it had been asked here."""
    state: ServerContext = request.app.state.service
    if not is_known(state.queues.peers.secret, request.headers.get("authorization", "")):
        raise Problem(403, "This is for other servers on the same storage.")
    try:
        asks = read_message(await request.body())
    except ValueError as error:
        raise Problem(422, f"The message makes no sense: {error}.") from error
    outcomes = await asyncio.gather(*(_decide(state, ask) for ask in asks), return_exceptions=True)
    return Response(answer(outcomes, state.storage.url), media_type="application/json")


async def _decide(state: ServerContext, ask: HandedAsk) -> Decision | None:
    """Decide a round; None if this server does not know its campaign, as it was deleted or has another name."""
    try:
        queue = await state.queues.find(ask.campaign)
    except NotFoundError:
        return None
    if queue.campaign.created != ask.created:
        return None
    return await queue.ask(ask.predictions, ask.item, ask.key, here=True)
