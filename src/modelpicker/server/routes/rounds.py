"""Rounds: items in, decisions out, each on disk before it is answered."""

from typing import Any

from fastapi import APIRouter, Response

from modelpicker.algorithms import Decision
from modelpicker.campaigns import Campaign, Decisions
from modelpicker.server import documents
from modelpicker.server.access import Owner
from modelpicker.server.answers import answer
from modelpicker.server.metrics import Metrics
from modelpicker.server.routes.common import CHANGES, Found, named

router = APIRouter(prefix="/campaigns/{name}/rounds", tags=["rounds"])


@router.post("", responses={200: {"model": documents.Decided}, **CHANGES})
async def ask(caller: Owner, desk: Found, body: documents.NewRound) -> Response:
    """Decide the next round: is its label worth buying?

    With a key, this may be sent again whatever went wrong: the same key returns the same decision.
    """
    made = await desk.ask(named(desk.campaign, body.predictions), body.item, body.key)
    _count(desk.metrics, 1, int(made.query))
    return answer(_decided(made, body.key))


@router.post("/batch", responses={200: {"model": documents.DecidedMany}, **CHANGES})
async def ask_many(caller: Owner, desk: Found, body: documents.NewRounds) -> Response:
    """Decide many rounds in one transaction."""

    def decide(campaign: Campaign) -> Decisions:
        rows = [named(campaign, row) for row in body.predictions]
        return campaign.ask_many(rows, items=body.items, keys=body.keys)

    made = await desk.do(decide)
    _count(desk.metrics, len(made), int(made.queried.sum()))
    keys = body.keys or [None] * len(made)
    return answer({"decisions": [_decided(*pair) for pair in zip(made, keys, strict=True)]})


def _decided(made: Decision, key: str | None) -> dict[str, Any]:
    return {
        "id": made.id,
        "key": key,
        "query": made.query,
        "probability": made.probability,
        "prediction": made.prediction,
        "recommended": made.recommended,
    }


def _count(metrics: Metrics, rounds: int, queries: int) -> None:
    metrics.rounds.add(rounds)
    metrics.queries.add(queries)
