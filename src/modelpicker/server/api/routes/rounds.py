"""Rounds: items in, decisions out, each on disk before it is answered."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response

from modelpicker.campaigns import Campaign, Decisions
from modelpicker.encoding import ClassName, ModelName
from modelpicker.server.access.callers import Owner
from modelpicker.server.api.documents.rounds import Decided, DecidedMany, NewRound, NewRounds
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, operation_id, replies
from modelpicker.server.live.group_commit import own_names

router = APIRouter(
    prefix=f"{VERSION}/campaigns/{{name}}/rounds",
    tags=["rounds"],
    route_class=FastRoute,
    generate_unique_id_function=operation_id,
)


@router.post("", responses=replies(Decided, *NAMED, 422))
async def ask(caller: Owner, queue: Found, body: NewRound) -> Response:
    """Decide the next round: is its label worth buying?

    With a key, this may be sent again whatever went wrong: the same key returns the same decision.
    """
    made = await queue.ask(body.predictions, body.item, body.key)
    return json_response(
        _decided(
            made.id, body.key, made.query, made.probability, made.prediction, made.recommended, racing=made.racing
        )
    )


@router.post("/batch", responses=replies(DecidedMany, *NAMED, 422))
async def ask_many(caller: Owner, queue: Found, body: NewRounds) -> Response:
    """Decide many rounds in one transaction."""

    def decide(campaign: Campaign) -> Decisions:
        return campaign.ask_many(own_names(campaign, body.predictions), items=body.items, keys=body.keys)

    made = await queue.do(decide)
    keys = body.keys or [None] * len(made)
    queried, probability, said, recommended = made.columns()
    found = zip(made.ids, keys, queried, probability, said, recommended, strict=True)
    return json_response({"decisions": [_decided(*row, racing=made.racing) for row in found]})


def _decided(
    number: int,
    key: str | None,
    query: bool,
    probability: float,
    prediction: ClassName | None,
    recommended: ModelName,
    *,
    racing: Sequence[ModelName],
) -> dict[str, Any]:
    return {
        "id": number,
        "key": key,
        "query": query,
        "probability": probability,
        "prediction": prediction,
        "recommended": recommended,
        "racing": list(racing),
    }
