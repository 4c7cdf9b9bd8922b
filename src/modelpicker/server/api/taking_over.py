"""Rounds that another server on the same storage hands over: between servers, and no part of the API."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from modelpicker.server.api.problems import Problem
from modelpicker.server.api.responses import from_json
from modelpicker.server.context import ServerContext
from modelpicker.server.live.handover import Handover, answer, is_known


async def take_over(request: Request) -> Response:
    """Decide rounds for another server, each as if it had been asked here."""
    state: ServerContext = request.app.state.service
    if not is_known(state.queues.peers.secret, request.headers.get("authorization", "")):
        raise Problem(403, "This is for other servers on the same storage.")
    try:
        message = Handover.read(from_json(await request.body()))
    except (LookupError, TypeError, ValueError) as error:
        raise Problem(422, f"The message makes no sense: {error!r}.") from error
    queue = await state.queues.find(message.campaign)
    if queue.campaign.created != message.created:
        raise Problem(409, "That campaign has another name by now.")
    asks = (queue.ask(ask.predictions, ask.item, ask.key, here=True) for ask in message.asks)
    outcomes = await asyncio.gather(*asks, return_exceptions=True)
    return Response(answer(outcomes, state.storage.url), media_type="application/json")
