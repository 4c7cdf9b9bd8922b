"""What goes over the wire, as OpenAPI describes it. Strict: nothing is taken for something it is not."""

from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr, WithJsonSchema

from modelpicker.coins import LARGEST_SEED

LARGEST = 2**53
MOST_ROUNDS = 100_000
MOST_MODELS = 10_000
MOST_CLASSES = 100_000
LONGEST_LEASE = 86_400

ClassName: TypeAlias = StrictInt | StrictStr
ModelName: TypeAlias = StrictInt | StrictStr
Said: TypeAlias = StrictInt | StrictStr | None
Id = Annotated[
    StrictInt | StrictStr,
    Field(description="The id of a decision; or a string: the key that its item was asked with.", examples=[17]),
]
Annotator = Annotated[
    StrictStr | None, Field(min_length=1, max_length=300, description="Who answers.", examples=["desk 2"])
]
SAID = {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}
ROW = {"anyOf": [{"type": "object", "additionalProperties": SAID}, {"type": "array", "items": SAID}]}


def _check_row(row: Any) -> Any:
    """Predictions by name or in order: strings, whole numbers and nulls."""
    if type(row) is dict:
        kinds = set(map(type, row.values()))
    elif type(row) is list:
        kinds = set(map(type, row))
    else:
        raise ValueError("predictions are an object by model, or a list in the order of the models")
    if not kinds <= {str, int, NoneType}:
        raise ValueError("a prediction is a string, a whole number, or null where a model abstains")
    return row


def _check_rows(rows: list[Any]) -> list[Any]:
    for row in rows:
        _check_row(row)
    return rows


# Looked at by hand, at a fifth of what a union of unions costs: there may be millions of them.
Predictions = Annotated[
    Any,
    AfterValidator(_check_row),
    WithJsonSchema(ROW),
    Field(
        description="What each model says: by name, or in the order of the models; null where one abstains.",
        examples=[{"bert": "spam", "roberta": "ham"}],
    ),
]
Item = Annotated[
    dict[str, Any] | None,
    Field(description="What people see of the item.", examples=[{"text": "You have won!"}]),
]
Key = Annotated[
    StrictStr | None,
    Field(
        min_length=1,
        max_length=500,
        description="Your own name for the item: the same key again returns the same decision.",
        examples=["msg-17"],
    ),
]


class Taken(BaseModel):
    """A body that is taken in: fields that it does not know are an error."""

    model_config = ConfigDict(strict=True, extra="forbid")


class NewCampaign(Taken):
    """A campaign to begin."""

    name: Annotated[str, Field(min_length=1, max_length=100, description="Letters, digits, spaces, `.`, `-`, `_`.")]
    models: Annotated[
        Annotated[list[ModelName], Field(min_length=2, max_length=MOST_MODELS)]
        | Annotated[StrictInt, Field(ge=2, le=MOST_MODELS)],
        Field(description="Their names, or how many.", examples=[["bert", "roberta"]]),
    ]
    classes: Annotated[
        Annotated[list[ClassName], Field(min_length=1, max_length=MOST_CLASSES)] | None,
        Field(description="Those that may occur; null takes whatever is said."),
    ] = None
    budget: Annotated[int | None, Field(ge=1, le=LARGEST, description="How many labels may be bought.")] = None
    expected_rounds: Annotated[int | None, Field(ge=1, le=LARGEST, description="How many items will come.")] = None
    algorithm: Annotated[str, Field(description="The name of an algorithm.")] = "model-picker"
    options: Annotated[dict[str, Any], Field(description="Its settings; none need be tuned.")] = {}
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED, description="What all coins are drawn from.")] = 0


class NewRound(Taken):
    """An item, and what the models say of it."""

    predictions: Predictions
    item: Item = None
    key: Key = None


class NewRounds(Taken):
    """Many items at once."""

    predictions: Annotated[
        list[Any],
        AfterValidator(_check_rows),
        WithJsonSchema({"type": "array", "maxItems": MOST_ROUNDS, "items": ROW}),
        Field(
            max_length=MOST_ROUNDS,
            description="A row a round: what each model says, by name or in the order of the models.",
            examples=[[["spam", "ham"], ["ham", "ham"]]],
        ),
    ]
    items: Annotated[
        Annotated[list[dict[str, Any] | None], Field(max_length=MOST_ROUNDS)] | None,
        Field(description="One a round."),
    ] = None
    keys: Annotated[
        Annotated[list[Key], Field(max_length=MOST_ROUNDS)] | None,
        Field(description="One a round.", examples=[["msg-17", "msg-18"]]),
    ] = None


class NewLabel(Taken):
    """The label of a query."""

    id: Id
    label: Annotated[ClassName, Field(description="A class.", examples=["spam"])]
    replace: Annotated[bool, Field(description="The answer that is there was wrong.")] = False
    annotator: Annotator = None


class NewLabels(Taken):
    """Many labels: all are taken in, or none."""

    labels: Annotated[
        list[tuple[Id, Said]],
        Field(
            max_length=MOST_ROUNDS,
            description="Pairs of an id or a key, and a label; null for a skip.",
            examples=[[[17, "spam"], ["msg-18", "ham"]]],
        ),
    ]
    replace: Annotated[bool, Field(description="The answers that are there were wrong.")] = False
    annotator: Annotator = None


class NewSkip(Taken):
    """A query that nobody can label."""

    id: Id
    replace: Annotated[bool, Field(description="The answer that is there was wrong.")] = False
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

    most: Annotated[int, Field(ge=1, le=100, description="At most so many.")] = 1
    seconds: Annotated[float, Field(gt=0, le=LONGEST_LEASE, description="For how long.")] = 300.0
    annotator: Annotator = None


class NewModel(Taken):
    """A model that joins."""

    model: Annotated[ModelName, Field(examples=["roberta-2"])]


class NewSession(Taken):
    """A token to sign in with."""

    token: Annotated[str, Field(max_length=200, examples=["mp_0123456789abcdef_…"])]


class Decided(BaseModel):
    """What the campaign decided of a round."""

    id: Annotated[int, Field(description="What the round is called from now on: its number.", examples=[17])]
    key: Annotated[str | None, Field(examples=["msg-17"])]
    query: Annotated[bool, Field(description="Whether the label is asked for.")]
    probability: Annotated[float, Field(description="With what probability it was to be.", examples=[0.31])]
    prediction: Annotated[int | str | None, Field(description="The label that is predicted.", examples=["spam"])]
    recommended: Annotated[int | str, Field(description="The best model so far.", examples=["bert"])]


class DecidedMany(BaseModel):
    """Decisions, in the order of the rounds."""

    decisions: list[Decided]


class Summary(BaseModel):
    """A campaign in a list."""

    name: str
    created: str
    algorithm: str
    models: Annotated[int | None, Field(description="How many; null for annotators who see no predictions.")]
    budget: int | None
    rounds: int
    labels_used: int
    pending: Annotated[int, Field(description="Queries that wait for a label.")]
    skipped: int
    pick: Annotated[int | str | None, Field(description="The best model so far; null before the first label.")]
    tied: Annotated[int | None, Field(description="How many models are tied for the first place.")]


class Summaries(BaseModel):
    """The campaigns of the server."""

    campaigns: list[Summary]


class Described(BaseModel):
    """A campaign: what it is made with, how far it has come, who leads."""

    name: Annotated[str, Field(examples=["tickets"])]
    created: str
    algorithm: str
    options: dict[str, Any]
    seed: Annotated[str, Field(description="A whole number, maybe larger than JSON can hold.")]
    models: list[int | str] | None
    classes: list[int | str] | None
    budget: int | None
    expected_rounds: int | None
    rounds: int
    labels_used: int
    labels_saved: int
    pending: int
    skipped: int
    references: int
    pick: int | str | None
    tied: list[int | str] | None


class Classes(BaseModel):
    """What a label may be."""

    classes: list[int | str]
    open: Annotated[bool, Field(description="Whether any other class may be told as well.")]


class Waiting(BaseModel):
    """A query that waits for its label."""

    id: int
    item: dict[str, Any] | None
    key: str | None
    classes: Annotated[
        list[int | str] | None, Field(description="What models say of it; null for who may not see that.")
    ]
    leased_until: Annotated[float | None, Field(description="When its lease expires: seconds since 1970.")]
    leased_by: str | None


class Leased(BaseModel):
    """Queries that are kept for an annotator."""

    queries: list[Waiting]
    pending: Annotated[int, Field(description="How many queries wait in all.")]


class Told(BaseModel):
    """An answer that is on disk."""

    id: int
    label: int | str | None
    labels_used: int
    pending: int


class ToldMany(BaseModel):
    """Answers that are on disk."""

    told: int
    labels_used: int
    pending: int


class Retracted(BaseModel):
    """A query that waits again."""

    id: int
    labels_used: int
    pending: int


class Members(BaseModel):
    """The models that take part."""

    models: list[int | str]


class StandingEntry(BaseModel):
    """How one model stands."""

    model: int | str
    estimate: Annotated[float, Field(description="Estimated mistakes: compare models by differences.")]
    gap: Annotated[float | None, Field(description="How much less accurate than the pick, by the estimates.")]
    low: Annotated[float | None, Field(description="Where the gap begins, by a rough 95 % interval.")]
    high: Annotated[float | None, Field(description="Where it ends.")]
    labels: int
    since: int
    weight: float | None


class StandingDocument(BaseModel):
    """The best model so far, and how all stand."""

    event: Annotated[int, Field(description="The event as of which this is.")]
    pick: int | str | None
    tied: list[int | str]
    rounds: int
    covered: int
    labels_used: int
    labels_saved: int
    pending: int
    skipped: int
    references: int
    budget: int | None
    weighted: bool
    certificate: Annotated[dict[str, Any] | None, Field(description="A statement of how sure this is.")]
    standing: list[StandingEntry]


class WeightLines(BaseModel):
    """How the leaders' weights went."""

    kind: Literal["weights", "estimates"]
    models: list[int | str]
    labels: list[int]
    rounds: list[int]
    values: list[list[float | None]]


class LabelLines(BaseModel):
    """Queries and labels against rounds seen."""

    rounds: list[int]
    queries: list[int]
    labels: list[int]


class RecentRounds(BaseModel):
    """The last rounds."""

    rounds: list[int]
    probability: list[float]
    queried: list[bool]


class ClassPair(BaseModel):
    """Two classes between which models are divided."""

    classes: list[int | str]
    rounds: int


class DividedItem(BaseModel):
    """An item on which models are divided."""

    id: int
    key: str | None
    item: dict[str, Any] | None
    votes: list[list[int | str | None]]


class Disagreement(BaseModel):
    """Where models disagree most, among recent rounds."""

    rounds: int
    divided: int
    pairs: list[ClassPair]
    items: list[DividedItem]


class ChartsDocument(BaseModel):
    """What the page's charts are drawn from."""

    event: int
    weights: WeightLines
    labels: LabelLines
    recent: RecentRounds
    disagreement: Disagreement


class HistoryPage(BaseModel):
    """Some records of what happened, in order."""

    records: list[dict[str, Any]]
    next: Annotated[int | None, Field(description="Pass it as `after` for what comes next; null at the end.")]


class FileLook(BaseModel):
    """What a file of predictions holds."""

    items: int
    models: list[str]
    classes: list[int | str]
    fields: list[str]
    labelled: bool


class FileTaken(BaseModel):
    """What came of a file of predictions."""

    rounds: Annotated[int, Field(description="New rounds.")]
    known: Annotated[int, Field(description="Rounds that were there already.")]
    queries: Annotated[int, Field(description="New queries.")]


class Answered(BaseModel):
    """A round that was answered, or waits."""

    id: int
    key: str | None
    label: int | str | None
    state: Literal["waiting", "labelled", "skipped", "reference"]


class Answers(BaseModel):
    """All queries with their labels."""

    answers: list[Answered]


class SessionDocument(BaseModel):
    """Who is signed in."""

    authenticated: bool
    role: Literal["owner", "annotator", "reader"] | None
    name: str | None
    sees_predictions: bool
    tokens_needed: bool
    demo: bool
    version: str


class Health(BaseModel):
    """Whether the server lives, or is ready."""

    status: Literal["ok"]


class ProblemDocument(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] | None = None
