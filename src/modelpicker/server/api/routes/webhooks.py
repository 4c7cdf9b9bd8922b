"""Webhooks that other tools send: Label Studio's annotations."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from fastapi import APIRouter, Response

from modelpicker.campaigns import Campaign
from modelpicker.campaigns.annotating.annotation import Annotation
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.label_studio import annotations_of
from modelpicker.campaigns.annotating.label_studio_events import Plan, perform, plan_annotation, plan_removal
from modelpicker.campaigns.annotating.task import MARK
from modelpicker.errors import InputError, NotFoundError
from modelpicker.server.access.webhook_secret import LabelStudio
from modelpicker.server.api.documents.webhooks import EventOutcomes, LabelStudioEvent
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, operation_id, replies
from modelpicker.server.live.group_commit import CommitQueue

router = APIRouter(
    prefix=f"{VERSION}/campaigns/{{name}}/webhooks",
    tags=["labels"],
    route_class=FastRoute,
    generate_unique_id_function=operation_id,
)
MADE = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")
REMOVED = ("ANNOTATIONS_DELETED", "ANNOTATION_DELETED")


@router.post("/label-studio", responses=replies(EventOutcomes, *NAMED, 409, 422))
async def label_studio(caller: LabelStudio, queue: Found, body: LabelStudioEvent) -> Response:
    """Take in what people do in Label Studio. An event that comes twice counts once.

    An annotation that is made is told, one that is changed replaces what the same person said, and one that is
    deleted is taken back. Tasks that are not of this campaign are ignored.
    """
    outcomes: list[dict[str, Any]] = []
    if body.action in MADE:
        asked = await queue.read(Asked.of)
        for found in _made(asked, body):
            outcomes.append(await _take(queue, found))
    if body.action in REMOVED:
        for one in body.annotations or []:
            number = _name(one)
            plan = await queue.read(partial(_removal, number=number))
            outcomes.append(await _carry_out(queue, plan, number))
    return json_response({"outcomes": outcomes})


def _removal(campaign: Campaign, number: str) -> Plan:
    return plan_removal(campaign, number)


def _made(asked: Asked, body: LabelStudioEvent) -> Iterator[tuple[str, Annotation | None]]:
    """The annotations of an event by their ids; None for one of a task that is not one of ours."""
    annotations, tasks = _listed(body.annotation), _listed(body.task)
    if len(annotations) != len(tasks):
        raise InputError("an event needs an annotation and its task: let the webhook send its payload.")
    for one, task in zip(annotations, tasks, strict=True):
        data = task.get("data")
        ours = isinstance(data, dict) and MARK in data
        yield _name(one), next(annotations_of(asked, task, [one], "task"), None) if ours else None


def _listed(found: dict[str, Any] | list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return found if isinstance(found, list) else [] if found is None else [found]


def _name(annotation: dict[str, Any]) -> str:
    """The id of an annotation."""
    number = annotation.get("id")
    if isinstance(number, bool) or not isinstance(number, int | str):
        raise InputError("an annotation of Label Studio has an id.")
    return str(number)[:100]


async def _take(queue: CommitQueue, found: tuple[str, Annotation | None]) -> dict[str, Any]:
    name, one = found
    if one is None:
        return _outcome(name, None, "ignored")
    try:
        plan = await queue.read(partial(_plan, one=one))
    except NotFoundError:
        return _outcome(name, None, "ignored")
    return await _carry_out(queue, plan, name)


def _plan(campaign: Campaign, one: Annotation) -> Plan:
    return plan_annotation(campaign, one)


async def _carry_out(queue: CommitQueue, plan: Plan, name: str) -> dict[str, Any]:
    """Make the changes of a plan, each on disk before the next."""
    before = await queue.read(lambda campaign: campaign.events)
    result: str = plan.result
    for change in plan.changes:
        if not await queue.do(partial(perform, change, plan.otherwise)):
            result = "conflict"
    if result == "taken" and await queue.read(lambda campaign: campaign.events) == before:
        result = "known"
    return _outcome(name, plan.item, result)


def _outcome(annotation: str, item: int | None, result: str) -> dict[str, Any]:
    return {"annotation": annotation, "item": item, "result": result}
