"""Beginning a campaign on a pool: a file that is sent to where campaigns begin."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from modelpicker.campaigns import create_campaign
from modelpicker.campaigns.input.pool_source import late_reading
from modelpicker.campaigns.pool_costs import loss_from_text, price_from_text
from modelpicker.campaigns.setting_options import BY_NAME, TOLERANCE, AskFor, OverlapRule
from modelpicker.certificates.stop_rule import CONFIDENCE, LABEL_NOISE
from modelpicker.collections.files import open_with
from modelpicker.encoding import Missing
from modelpicker.options import LARGEST_COUNT, LARGEST_SEED
from modelpicker.server.access.callers import Owner
from modelpicker.server.api.documents.fields import CampaignNameField, Guidelines
from modelpicker.server.api.documents.settings import PeopleField, SameField
from modelpicker.server.api.received_files import FILE, ColumnsQuery, FileName, chosen_roles, read_file, received
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import VERSION, Service, describe
from modelpicker.server.context import Intake
from modelpicker.server.live.group_commit import reach
from modelpicker.server.network.middleware import FILE_KIND

# The longest name of a column that can be said to be the judge.
LONGEST_COLUMN = 500
# The longest loss, and the longest list of prices: they are in the address of the request.
LONGEST_JSON = 20_000


class NewPool(BaseModel):
    """A campaign on the items of a file: how the file is read, and when the campaign is done."""

    model_config = ConfigDict(extra="forbid")

    name: CampaignNameField
    filename: FileName
    columns: ColumnsQuery = None
    tolerance: Annotated[float, Field(ge=0, lt=1, description=TOLERANCE.help)] = TOLERANCE.default
    confidence: Annotated[float, Field(gt=0, lt=1, description="How certain the proof is.")] = CONFIDENCE.default
    budget: Annotated[
        int | None, Field(ge=0, le=LARGEST_COUNT, description="At most this many labels are asked for.")
    ] = None
    overlap: Annotated[PeopleField, Field(description=BY_NAME["overlap"].help)] = 1
    overlap_rule: Annotated[OverlapRule, Field(description=BY_NAME["overlap_rule"].help)] = "all"
    ask_for: Annotated[AskFor, Field(description=BY_NAME["ask_for"].help)] = "class"
    same: Annotated[SameField, Field(description=BY_NAME["same"].help)] = "exact"
    missing: Annotated[Missing, Field(description=BY_NAME["missing"].help)] = "abstained"
    use_labels: Annotated[
        bool, Field(description="Whether labels in the file are known from the start; else they are left out.")
    ] = False
    judge: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=LONGEST_COLUMN,
            description="The column with cheap labels that may be wrong: it is not a model, and annotators do "
            "not see it. Items that come later have them in the field of that name.",
        ),
    ] = None
    slice: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=LONGEST_COLUMN,
            description="The column whose values are the slices, such as a language: the best model of each is "
            "found too. It is not a model. Items that come later have it in the field of that name.",
        ),
    ] = None
    loss: Annotated[
        str | None,
        Field(
            max_length=LONGEST_JSON,
            description="What mistakes cost: accuracy; balanced, by the labels of the file; or JSON with weights "
            'by class ({"spam": 5}) or costs by class and answer ({"spam": {"ham": 5}}).',
        ),
    ] = None
    price: Annotated[
        str | None,
        Field(
            max_length=LONGEST_JSON,
            description='What each model costs per item, as JSON: {"large": 0.03}. The pick is then the cheapest '
            "model that is certified.",
        ),
    ] = None
    label_noise: Annotated[float, Field(ge=0, lt=0.5, description=LABEL_NOISE.help)] = LABEL_NOISE.default
    guidelines: Guidelines = ""
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED, description=BY_NAME["seed"].help)] = 0


class FileRoute(APIRoute):
    """A route for bodies that are files; others continue to the route after it, which has the same path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request is for this route."""
        if scope["type"] == "http" and Headers(scope=scope).get("content-type") != FILE_KIND:
            return Match.NONE, {}
        return super().matches(scope)


def file_description() -> dict[str, Any]:
    """What OpenAPI is told about files, beside the settings that are taken at the same path."""
    schema = NewPool.model_json_schema()
    parameters = [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": f"{about['description']} Only with a file.",
            "schema": {
                key: value for key, value in about.items() if key not in ("description", "title", "examples")
            },
        }
        for name, about in schema["properties"].items()
    ]
    return {"parameters": parameters, "requestBody": {"content": FILE["requestBody"]["content"]}}


router = APIRouter(prefix=f"{VERSION}/campaigns", route_class=FileRoute)


@router.post("", include_in_schema=False)
async def create_pool(
    request: Request, caller: Owner, service: Service, wanted: Annotated[NewPool, Query()]
) -> Response:
    """Begin a campaign on the items of a file: all of them are stored, or there is no campaign."""
    fields = tuple(column for column in (wanted.judge, wanted.slice) if column is not None)
    columns = chosen_roles(wanted.columns)
    reading = late_reading(wanted.same, columns=columns, fields=fields, missing=wanted.missing)
    async with received(request, wanted.filename, service.configuration.largest_file) as file:

        def stored(done: int, total: int) -> None:
            service.intakes[wanted.name] = Intake.stored(done, total)

        def begin() -> dict[str, Any]:
            reach(service.configuration.storage)
            campaign = create_campaign(
                service.configuration.storage,
                wanted.name,
                pool=open_with(file.path, None, reading),
                progress=stored,
                loss=None if wanted.loss is None else loss_from_text(wanted.loss),
                price=None if wanted.price is None else price_from_text(wanted.price),
                **wanted.model_dump(exclude={"name", "filename", "columns", "loss", "price"}),
            )
            return describe(campaign, caller)

        service.intakes[wanted.name] = Intake("reading")
        try:
            document = await run_in_threadpool(read_file, wanted.filename, file.path, begin)
        finally:
            service.intakes.pop(wanted.name, None)
    made = json_response(document, 201)
    made.headers["Location"] = f"{VERSION}/campaigns/{quote(wanted.name, safe='')}"
    return made
