"""Items that several people label: what they disagree on, how far they agree, and who settles it."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from modelpicker.campaigns import Campaign
from modelpicker.label import as_document
from modelpicker.server.access.callers import Owner, Reader
from modelpicker.server.api.documents.conflicts import AgreementDocument, ConflictList, NewSettlement
from modelpicker.server.api.documents.label import as_given
from modelpicker.server.api.documents.labels import Told
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, counts, operation_id, replies

PREFIX = f"{VERSION}/campaigns/{{name}}"
router = APIRouter(prefix=PREFIX, tags=["labels"], generate_unique_id_function=operation_id)
settling = APIRouter(
    prefix=PREFIX, tags=["labels"], route_class=FastRoute, generate_unique_id_function=operation_id
)


@router.get("/conflicts", responses=replies(ConflictList, *NAMED, 422))
async def list_conflicts(
    caller: Reader,
    queue: Found,
    first: Annotated[int, Query(ge=0, le=10**9, description="Skip this many.")] = 0,
    most: Annotated[int, Query(ge=1, le=1000, description="At most this many.")] = 100,
) -> Response:
    """List the items on which people disagree, with what each of them said."""
    found = await queue.read(lambda campaign: campaign.conflicts())
    shown = [asdict(one) for one in found[first : first + most]]
    return json_response({"conflicts": shown, "total": len(found)})


@settling.post("/settlements", responses=replies(Told, *NAMED, 409, 422))
async def settle(caller: Owner, queue: Found, body: NewSettlement) -> Response:
    """Decide what an item is on which people disagree. Said twice, it counts once."""
    by = caller.annotator(body.annotator)

    def change(campaign: Campaign) -> dict[str, Any]:
        campaign.settle(body.id, as_given(body.label), annotator=by)
        number = campaign.number_of(body.id)
        return {"id": number, "label": as_document(campaign.label_of(number)), **counts(campaign)}

    return json_response(await queue.do(change))


@router.get("/agreement", responses=replies(AgreementDocument, *NAMED))
async def agreement(caller: Reader, queue: Found) -> Response:
    """Tell how far people agree on the items that several of them labelled."""
    return json_response((await queue.read(lambda campaign: campaign.agreement())).document())
