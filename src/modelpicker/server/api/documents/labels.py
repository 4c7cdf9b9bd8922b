"""Queries that wait, answers to them, and the labels that there are."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from modelpicker.campaigns.setting_options import AskFor
from modelpicker.server.api.documents.conflicts import OpinionDocument
from modelpicker.server.api.documents.fields import (
    LONGEST_LEASE,
    MOST_ROUNDS,
    Annotator,
    Called,
    Count,
    Id,
    Taken,
    Timestamp,
)
from modelpicker.server.api.documents.label import LabelSent, LabelTaken
from modelpicker.server.api.documents.notes import NoteDocument, OwnNote


class NewLabel(Taken):
    """The label of a query."""

    id: Id
    label: Annotated[
        LabelTaken,
        Field(
            description="A class. Or what the campaign asks for: grades of answers, or a preference.",
            examples=["spam", {"kind": "grades", "grades": [["Paris", 1], ["Lyon", 0]], "otherwise": None}],
        ),
    ]
    replace: Annotated[bool, Field(description="Replace the earlier answer, which was wrong.")] = False
    annotator: Annotator = None


class NewLabels(Taken):
    """Many labels: all are taken in, or none."""

    labels: Annotated[
        list[tuple[Id, LabelTaken | None]],
        Field(
            fail_fast=True,
            max_length=MOST_ROUNDS,
            description="Pairs of an id or a key, and a label; null for a skip.",
            examples=[[[17, "spam"], ["msg-18", "ham"]]],
        ),
    ]
    replace: Annotated[bool, Field(description="Replace the earlier answers, which were wrong.")] = False
    annotator: Annotator = None


class NewSkip(Taken):
    """A query that nobody can label."""

    id: Id
    replace: Annotated[bool, Field(description="Replace the earlier answer, which was wrong.")] = False
    annotator: Annotator = None


class NewRetraction(Taken):
    """An answer to be taken back."""

    id: Id
    lease: Annotated[
        float | None,
        Field(gt=0, le=LONGEST_LEASE, description="For how many seconds the query is kept for the annotator."),
    ] = None
    annotator: Annotator = None


class NewLease(Taken):
    """Queries to be kept for an annotator."""

    most: Annotated[int, Field(ge=1, le=100, description="At most this many.")] = 1
    seconds: Annotated[float, Field(gt=0, le=LONGEST_LEASE, description="For how long.")] = 300.0
    annotator: Annotator = None


class Waiting(BaseModel):
    """A query that waits for its label."""

    id: Count
    item: dict[str, Any] | None
    key: str | None
    classes: Annotated[
        list[Called] | None, Field(description="What models say about it; null for callers who may not see that.")
    ]
    candidates: Annotated[
        list[Called] | None,
        Field(
            description="The different answers that models give, shuffled: for everybody, and without which model "
            "says what. Where a preference is asked for, the two to compare. Where a class is asked for, only with "
            "many classes: null with few."
        ),
    ]
    note: Annotated[OwnNote | None, Field(description="What the caller has noted about it.")]
    leased_until: Annotated[float | None, Field(description="When its lease expires: seconds since 1970.")]
    leased_by: str | None


class Leased(BaseModel):
    """Queries that wait, or are kept for an annotator."""

    queries: list[Waiting]
    pending: Annotated[Count, Field(description="How many queries wait in all.")]
    deciding: Annotated[
        bool, Field(description="Whether items of files are still seen for the next query: ask again.")
    ]
    own: Annotated[
        Count | None, Field(description="How many labels the annotator has given that hold; null if unnamed.")
    ]
    ask_for: Annotated[AskFor, Field(description="What is asked for: it says what `candidates` are.")]


class Told(BaseModel):
    """An answer that is on disk."""

    id: Count
    label: Annotated[LabelSent | None, Field(description="As the campaign knows it; null for a skip.")]
    labels_used: Count
    pending: Count


class ToldMany(BaseModel):
    """Answers that are on disk."""

    told: Count
    labels_used: Count
    pending: Count


class Retracted(BaseModel):
    """A query that waits again."""

    id: Count
    labels_used: Count
    pending: Count


class Answered(BaseModel):
    """A round that was answered, or waits."""

    id: Count
    key: str | None
    label: LabelSent | None
    state: Literal["waiting", "labelled", "skipped", "reference", "conflict", "withdrawn"]


class Answers(BaseModel):
    """All queries with their labels, and labels that were kept for reference."""

    answers: list[Answered]


class LabelRow(BaseModel):
    """An answer that holds now, or opinions that are not complete; or a flagged item that has no answer yet."""

    id: Count
    key: str | None
    state: Literal["labelled", "skipped", "reference", "waiting", "conflict", "withdrawn"]
    label: LabelSent | None
    by: Annotated[str | None, Field(description="Who gave it.")]
    at: Timestamp
    item: dict[str, Any] | None
    predictions: Annotated[
        list[tuple[Called, Called | None]], Field(description="What each model said; null where it abstained.")
    ]
    notes: Annotated[list[NoteDocument], Field(description="What people noted about the item, one note each.")]
    opinions: Annotated[
        list[OpinionDocument], Field(description="What each person said, where several people label the item.")
    ]


class LabelRows(BaseModel):
    """Answers, the newest first."""

    labels: list[LabelRow]
    total: Annotated[Count, Field(description="How many there are in all that match.")]
    annotators: Annotated[list[str], Field(description="Everybody who has answered.")]
