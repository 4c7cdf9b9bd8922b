"""What people note about items: a text, and a flag to look at an item again."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from modelpicker.campaigns import Campaign
from modelpicker.server.access.callers import Labeller, Reader
from modelpicker.server.api.documents.notes import NewNote, Noted, NoteList
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, operation_id, replies

router = APIRouter(
    prefix=f"{VERSION}/campaigns/{{name}}/notes",
    tags=["labels"],
    route_class=FastRoute,
    generate_unique_id_function=operation_id,
)


@router.post("", responses=replies(Noted, *NAMED, 409, 422))
async def note(caller: Labeller, queue: Found, body: NewNote) -> Response:
    """Note something about an item, or flag it. It takes the place of what the same person noted before."""
    by = caller.annotator(body.annotator)

    def change(campaign: Campaign) -> dict[str, Any]:
        campaign.note(body.id, body.text, flagged=body.flagged, annotator=by)
        return {"id": campaign.number_of(body.id), "text": body.text.strip(), "flagged": body.flagged}

    return json_response(await queue.do(change))


@router.get("", responses=replies(NoteList, *NAMED))
async def list_notes(caller: Reader, queue: Found) -> Response:
    """List what people have noted about items, the newest first."""
    found = await queue.read(lambda campaign: campaign.notes())
    return json_response({"notes": [asdict(one) for one in found]})
