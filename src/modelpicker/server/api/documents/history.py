"""What happened in a campaign, as the history tells it: a document for each kind of record."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from modelpicker.server.api.documents.fields import Called, Chance, Count, Timestamp
from modelpicker.server.api.documents.label import LabelSent

OfOpinions: TypeAlias = Annotated[
    bool, Field(description="Whether several people labelled it: they agreed, or an owner settled it.")
]

PairField: TypeAlias = Annotated[
    list[Called] | None,
    Field(description="The answers that are compared, where a preference is asked for; the leader's first."),
]


class Happened(BaseModel):
    """What all records have."""

    event: Annotated[int, Field(ge=1, description="The number of the event; rounds of a batch share one.")]
    at: Timestamp


class AskRecord(Happened):
    """A round that was decided."""

    kind: Literal["ask"]
    id: Count
    key: str | None
    item: dict[str, Any] | None
    predictions: Annotated[list[Called | None], Field(description="In the order of the models.")]
    query: bool
    probability: Chance
    prediction: Called | None
    recommended: Called
    pair: PairField = None
    pace: Annotated[
        list[float] | None, Field(description="How the budget's pace stands, after the last round of an event.")
    ] = None


class ItemRecord(Happened):
    """An item that came into a pool."""

    kind: Literal["item"]
    id: Count
    predictions: Annotated[list[Called | None], Field(description="In the order of the models.")]
    judge: Annotated[
        Called | None, Field(description="What the judge says about it; null or absent where it says nothing.")
    ] = None
    slice: Annotated[str | None, Field(description="The slice that it is in; absent where there are none.")] = None


class FieldsRecord(Happened):
    """What is shown of an item of a pool, and its key."""

    kind: Literal["fields"]
    id: Count
    key: str | None
    item: dict[str, Any] | None


class SliceQuestionDocument(BaseModel):
    """What a question did in the slice of its item."""

    leader: Annotated[
        Called | None,
        Field(description="The best model of the slice by then; null if it was asked for the sake of all items."),
    ]
    draw: Annotated[Any, Field(description="How the slice bet on it, for the proof; null if it did not.")]


class QuestionRecord(Happened):
    """An item of a pool that was asked about."""

    kind: Literal["question"]
    id: Count
    number: Annotated[Count, Field(description="How many questions there were before.")]
    leader: Annotated[Called, Field(description="The best model by then.")]
    draw: Annotated[Any, Field(description="How it was drawn, for the proof; null if it was chosen.")]
    needed: Annotated[int, Field(ge=1, description="How many different people label it.")] = 1
    pair: PairField = None
    in_slice: Annotated[
        SliceQuestionDocument | None,
        Field(description="What the question did in the slice of the item; absent if nothing was bet there."),
    ] = None


class LabelRecord(Happened):
    """A label of a query; or one that is kept for reference, as its round was not queried."""

    kind: Literal["label", "reference"]
    id: Count
    label: LabelSent
    by: str | None
    replaces: bool
    of_opinions: OfOpinions = False


class SkipRecord(Happened):
    """A query that nobody could label."""

    kind: Literal["skip"]
    id: Count
    by: str | None
    replaces: bool
    of_opinions: OfOpinions = False


class OpinionRecord(Happened):
    """What one person says about an item that several people label."""

    kind: Literal["opinion"]
    id: Count
    label: Annotated[LabelSent | None, Field(description="Null if they cannot tell.")]
    by: str | None
    needed: Annotated[int, Field(ge=2, description="How many different people label the item.")]
    replaces: bool


class WithdrawRecord(Happened):
    """An opinion that was taken back."""

    kind: Literal["withdraw"]
    id: Count
    whose: str | None
    by: str | None


class RetractRecord(Happened):
    """An answer that was taken back."""

    kind: Literal["retract"]
    id: Count
    by: str | None
    reference: bool


class NoteRecord(Happened):
    """What somebody noted about an item."""

    kind: Literal["note"]
    id: Count
    text: str
    flagged: bool
    by: str | None


class JoinRecord(Happened):
    """A model that joined; it took over the record of another."""

    kind: Literal["join"]
    round: Count
    model: Called
    heir_of: Called


class LeaveRecord(Happened):
    """A model that left."""

    kind: Literal["leave"]
    round: Count
    model: Called


class ReviseRecord(Happened):
    """Settings that hold from there on, or a new name."""

    kind: Literal["revise"]
    round: Count
    changes: dict[str, Any]
    by: str | None


class FeedRecord(Happened):
    """An item of a file that was kept, to be asked about as labels come."""

    kind: Literal["feed"]
    place: Annotated[Count, Field(description="How many items were kept before.")]
    file: str
    mark: Annotated[str, Field(description="What tells the content of the file from that of others.")]
    upto: Annotated[Count, Field(description="Rows of the file before this one are known.")]
    key: str
    item: dict[str, Any] | None
    predictions: Annotated[list[Called | None], Field(description="In the order of the models.")]


class FedRecord(Happened):
    """Items of files that no longer wait: they were decided about, known already, or dropped."""

    kind: Literal["fed"]
    round: Count
    items: Count
    dropped: bool
    by: str | None


RecordDocument: TypeAlias = Annotated[
    AskRecord
    | ItemRecord
    | FieldsRecord
    | QuestionRecord
    | LabelRecord
    | SkipRecord
    | OpinionRecord
    | WithdrawRecord
    | RetractRecord
    | NoteRecord
    | JoinRecord
    | LeaveRecord
    | ReviseRecord
    | FeedRecord
    | FedRecord,
    Field(discriminator="kind"),
]


class HistoryPage(BaseModel):
    """Some records of what happened, in order."""

    records: list[RecordDocument]
    next: Annotated[Count | None, Field(description="Pass it as `after` for what comes next; null at the end.")]
