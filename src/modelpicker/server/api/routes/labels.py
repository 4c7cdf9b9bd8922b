"""Labels, skips and what is taken back; queries that wait, and leases on them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Path, Query, Response

from modelpicker.campaigns import Campaign
from modelpicker.campaigns import Query as Waiting
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.results.candidates import shuffled_answers
from modelpicker.campaigns.results.labels import is_settled
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError, InputError
from modelpicker.label import as_document
from modelpicker.server.access.callers import Anybody, Caller, Labeller
from modelpicker.server.api.documents.label import as_given
from modelpicker.server.api.documents.labels import (
    Leased,
    NewLabel,
    NewLabels,
    NewLease,
    NewRetraction,
    NewSkip,
    Retracted,
    Told,
    ToldMany,
)
from modelpicker.server.api.fast_route import FastRoute
from modelpicker.server.api.problems import Problem, problem_responses
from modelpicker.server.api.responses import json_response
from modelpicker.server.api.routes.common import NAMED, VERSION, Found, counts, operation_id, replies
from modelpicker.server.live.group_commit import CommitQueue

PREFIX = f"{VERSION}/campaigns/{{name}}"
router = APIRouter(prefix=PREFIX, tags=["labels"], route_class=FastRoute, generate_unique_id_function=operation_id)
waiting = APIRouter(prefix=PREFIX, tags=["labels"], generate_unique_id_function=operation_id)
MOST = 1_000
# Seconds that somebody waits for the next question, if many items of a file need no label.
PATIENCE = 1.0
# With more classes than these the page has no button for each, and shows candidates instead.
MANY_CLASSES = 12


@router.post("/labels", responses=replies(Told, *NAMED, 409, 422))
async def tell(caller: Labeller, queue: Found, body: NewLabel) -> Response:
    """Tell the label of a query. Told twice, it counts once; another label needs `replace`."""
    _check_replace(caller, body.replace)
    by = caller.annotator(body.annotator)

    def change(campaign: Campaign) -> dict[str, Any]:
        with _discreet(caller):
            campaign.tell(body.id, as_given(body.label), replace=body.replace, annotator=by)
        return _told(campaign, body.id, as_given(body.label))

    return json_response(await queue.do(change))


@router.post("/labels/batch", responses=replies(ToldMany, *NAMED, 409, 422))
async def tell_many(caller: Labeller, queue: Found, body: NewLabels) -> Response:
    """Tell many labels in one transaction: all of them, or none if one cannot be."""
    _check_replace(caller, body.replace)
    by = caller.annotator(body.annotator)
    labels = [(called, as_given(label)) for called, label in body.labels]

    def change(campaign: Campaign) -> dict[str, Any]:
        with _discreet(caller):
            campaign.tell_many(labels, replace=body.replace, annotator=by)
        return {"told": len(body.labels), **counts(campaign)}

    return json_response(await queue.do(change))


@router.post("/skips", responses=replies(Told, *NAMED, 409, 422))
async def skip(caller: Labeller, queue: Found, body: NewSkip) -> Response:
    """Say that nobody can tell the label of a query."""
    _check_replace(caller, body.replace)
    by = caller.annotator(body.annotator)

    def change(campaign: Campaign) -> dict[str, Any]:
        with _discreet(caller):
            campaign.skip(body.id, replace=body.replace, annotator=by)
        return _told(campaign, body.id, None)

    return json_response(await queue.do(change))


@router.post("/retractions", responses=replies(Retracted, *NAMED, 409, 422))
async def retract(caller: Labeller, queue: Found, body: NewRetraction) -> Response:
    """Take back an answer: the query waits again. Annotators may take back what they themselves have said."""
    by = caller.annotator(body.annotator)

    def change(campaign: Campaign) -> dict[str, Any]:
        if caller.role == "annotator":
            _check_own_answer(campaign, body.id, caller)
        campaign.retract(body.id, lease=body.lease, annotator=by)
        return {"id": campaign.number_of(body.id), **counts(campaign)}

    return json_response(await queue.do(change))


@waiting.get("/queries", responses=replies(Leased, *NAMED, 422))
async def list_queries(
    caller: Anybody,
    queue: Found,
    most: Annotated[int, Query(ge=1, le=MOST, description="At most this many.")] = 100,
) -> Response:
    """List queries that wait for a label, oldest first; nobody is kept from them."""
    around = await _around(queue, caller.annotator(None))
    found = await queue.read(lambda campaign: _waiting(campaign, campaign.waiting(most), caller, around))
    return json_response(found)


@router.post("/leases", responses=replies(Leased, *NAMED, 422))
async def lease(caller: Labeller, queue: Found, body: NewLease) -> Response:
    """Keep queries for an annotator: nobody else is given them until the lease expires.

    Of items that are asked about as labels come, an annotator has one at a time.
    """
    around = await _around(queue, caller.annotator(body.annotator))

    def change(campaign: Campaign) -> dict[str, Any]:
        found = campaign.pending(body.most, lease=body.seconds, annotator=around.by)
        return _waiting(campaign, found, caller, around)

    # Items of files are seen in short transactions, so that others who write get their turn.
    late = time.monotonic() + PATIENCE
    found = await queue.do(change)
    while not found["queries"] and found["deciding"] and time.monotonic() < late:
        found = await queue.do(change)
    return json_response(found)


@waiting.delete(
    "/leases/{id}",
    status_code=204,
    response_class=Response,
    response_description="The query is free.",
    responses=problem_responses(*NAMED, 409, 422),
)
async def release(
    caller: Labeller,
    queue: Found,
    number: Annotated[int, Path(alias="id", ge=0, description="The id of a query.")],
) -> None:
    """Give a query back, so that others need not wait for the lease to expire."""

    def change(campaign: Campaign) -> None:
        if caller.role == "annotator":
            _check_own(campaign.leased_by(number), caller, "that lease is somebody else's.")
        campaign.release(number)

    await queue.do(change)


class Around(NamedTuple):
    """What goes with queries that somebody is given; looked up before anything is changed."""

    by: str | None
    own: int | None
    """How many of their labels hold."""
    many: bool
    """Whether there are more classes than the page has buttons for."""


async def _around(queue: CommitQueue, by: str | None) -> Around:
    def look(campaign: Campaign) -> Around:
        own = None if by is None else campaign.labels_by(by)
        if campaign.settings.ask_for != "class":
            return Around(by, own, many=False)
        known = campaign.known_classes() if campaign.classes is None else campaign.classes
        return Around(by, own, len(known) > MANY_CLASSES)

    return await queue.read(look)


def _candidates(campaign: Campaign, query: Waiting, many: bool) -> list[ClassName] | None:
    """The answers to judge; where a class is asked for, and there are many, the classes that models say."""
    if campaign.settings.ask_for != "class":
        return list(query.candidates)
    return list(shuffled_answers(query.classes, campaign.name, query.id)) if many else None


def _waiting(campaign: Campaign, found: list[Waiting], caller: Caller, around: Around) -> dict[str, Any]:
    notes = campaign.own_notes([one.id for one in found], around.by)
    return {
        "queries": [
            {
                "id": one.id,
                "item": one.item,
                "key": one.key,
                "classes": list(one.classes) if caller.predictions else None,
                "candidates": _candidates(campaign, one, around.many),
                "note": {"text": note.text, "flagged": note.flagged} if (note := notes.get(one.id)) else None,
                "leased_until": one.leased_until,
                "leased_by": one.leased_by,
            }
            for one in found
        ],
        "pending": campaign.counts().waiting,
        "deciding": not found and campaign.deciding,
        "own": around.own,
        "ask_for": campaign.settings.ask_for,
    }


def _told(campaign: Campaign, called: int | str, label: Any) -> dict[str, Any]:
    """What was told, as the campaign calls it."""
    stored = as_document(campaign.as_stored(called, label))
    return {"id": campaign.number_of(called), "label": stored, **counts(campaign)}


@contextmanager
def _discreet(caller: Caller) -> Iterator[None]:
    """An error about a label may name what models or other people say; not to those who may not know."""
    try:
        yield
    except ConflictError as error:
        if caller.role != "annotator":
            raise
        raise ConflictError(error.discreet) from error
    except InputError as error:
        if caller.predictions:
            raise
        raise InputError(error.discreet, parameter=error.parameter) from error


def _check_replace(caller: Caller, replace: bool) -> None:
    if replace and caller.role != "owner":
        raise Problem(403, "Only owners may replace an answer; take your own back, and label it again.")


def _check_own_answer(campaign: Campaign, called: int | str, caller: Caller) -> None:
    """Annotators take back what they themselves have said, and nothing that an owner decided."""
    by_whom, said = campaign.answered_by(called), campaign.opinions(called)
    if said:  # several people label the item: each takes back what they said, whoever came last
        by_whom = caller.name if caller.name in {person_of(one.by) for one in said} else None
        if by_whom is not None and is_settled(campaign.history(called), said, campaign.settings.overlap_rule):
            raise ConflictError("that item was settled or corrected since; ask an owner to take that back.")
    _check_own(by_whom, caller, "that answer is somebody else's; ask an owner to take it back.")


def _check_own(by: str | None, caller: Caller, otherwise: str) -> None:
    """Something of an annotator's own, from this or another browser of theirs."""
    if by is None or (by != caller.name and not by.startswith(f"{caller.name}/")):
        raise ConflictError(otherwise)
