"""What campaigns can be made with: programs and the page build their forms from it."""

from fastapi import APIRouter, Response

from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns.setting_options import SETTINGS
from modelpicker.server.access.callers import Anybody
from modelpicker.server.api.documents.fields import LONGEST_NAME
from modelpicker.server.api.documents.settings import SettingsDocument, algorithm_document, option_document
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import CLOSED, VERSION, operation_id, replies

router = APIRouter(
    prefix=f"{VERSION}/settings",
    tags=["campaigns"],
    route_class=FastRoute,
    generate_unique_id_function=operation_id,
)


@router.get("", responses=replies(SettingsDocument, *CLOSED))
async def list_settings(caller: Anybody) -> Response:
    """List what a campaign may be made with: settings, and algorithms with their options."""
    return json_response(
        {
            "settings": [option_document(option) for option in SETTINGS],
            "algorithms": [algorithm_document(kind) for kind in ALGORITHMS.values()],
            "longest_name": LONGEST_NAME,
        }
    )
