"""What goes over the wire, as OpenAPI describes it. Strict: nothing is taken for something it is not."""

from itertools import chain
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, Field, StrictInt, StrictStr, WithJsonSchema

from modelpicker.campaigns.input.validation import LONGEST_NOTE
from modelpicker.campaigns.results.status import StateName
from modelpicker.campaigns.terms import LONGEST_GUIDELINES
from modelpicker.options import LARGEST_COUNT
from modelpicker.server.api.history_documents import Called, Chance, Count, RecordDocument, Timestamp
from modelpicker.server.api.setting_documents import (
    ClassNameField,
    ModelNameField,
    SettingsSent,
    SettingsTaken,
    StoppingRule,
    Taken,
)

MOST_ROUNDS = 100_000
LONGEST_NAME = 100
LONGEST_LEASE = 86_400
NAME_PATTERN = r"^[\p{L}\p{N}](?:[\p{L}\p{N}_ .-]*[\p{L}\p{N}_.-])?$"
"""What a campaign may be called, in the dialect of JSON Schema."""

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
    if set(map(type, rows)) == {list} and set(map(type, chain.from_iterable(rows))) <= {str, int, NoneType}:
        return rows  # the usual case, at a look
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
ItemField = Annotated[
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


CampaignNameField = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_NAME,
        description="Letters, digits, spaces, `.`, `-`, `_`; a letter or a digit first, and no space last.",
        json_schema_extra={"pattern": NAME_PATTERN},
    ),
]
Guidelines = Annotated[
    str,
    Field(
        max_length=LONGEST_GUIDELINES,
        description="What annotators read beside the item.",
        examples=["Spam is what nobody asked for."],
    ),
]


class NewCampaign(SettingsTaken):  # type: ignore[misc]  # its other fields are made from their descriptions
    """A campaign to begin."""

    name: CampaignNameField
    guidelines: Guidelines = ""


class NewTerms(Taken):
    """What is to change of a campaign: only what is sent."""

    budget: Annotated[
        Annotated[StrictInt, Field(ge=0, le=LARGEST_COUNT)] | None,
        Field(description="How many labels may be bought; null for no limit."),
    ] = None
    stop_when: Annotated[StoppingRule | None, Field(description="The goal; null for none.")] = None
    paused: Annotated[bool, Field(description="Nobody is asked for labels.")] = False
    archived: Annotated[bool, Field(description="It is put away, and takes nothing.")] = False
    finished: Annotated[bool, Field(description="The result is taken: open questions are withdrawn.")] = False
    guidelines: Guidelines = ""
    name: Annotated[
        str | None,
        Field(min_length=1, max_length=LONGEST_NAME, description="A new name.", examples=["tickets 2027"]),
    ] = None
    annotator: Annotator = None


class NewToken(Taken):
    """A token to make."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="Whose it is.", examples=["mia"])]
    role: Annotated[
        Literal["owner", "annotator", "reader"],
        Field(description="Owners do everything, annotators label, readers look."),
    ]
    predictions: Annotated[bool, Field(description="Let an annotator see what the models say.")] = False


class TokenDocument(BaseModel):
    """A token, without its secret."""

    name: str
    role: Literal["owner", "annotator", "reader"]
    predictions: bool
    created: Timestamp


class TokenList(BaseModel):
    """All tokens of the storage, by name."""

    tokens: list[TokenDocument]


class MadeToken(BaseModel):
    """A token that was made. Nothing else ever shows it."""

    name: str
    role: Literal["owner", "annotator", "reader"]
    token: str


class NewRound(Taken):
    """An item, and what the models say of it."""

    predictions: Predictions
    item: ItemField = None
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
        Annotated[list[dict[str, Any] | None], Field(fail_fast=True, max_length=MOST_ROUNDS)] | None,
        Field(description="One a round."),
    ] = None
    keys: Annotated[
        Annotated[list[Key], Field(fail_fast=True, max_length=MOST_ROUNDS)] | None,
        Field(description="One a round.", examples=[["msg-17", "msg-18"]]),
    ] = None


class NewLabel(Taken):
    """The label of a query."""

    id: Id
    label: Annotated[ClassNameField, Field(description="A class.", examples=["spam"])]
    replace: Annotated[bool, Field(description="The answer that is there was wrong.")] = False
    annotator: Annotator = None


class NewLabels(Taken):
    """Many labels: all are taken in, or none."""

    labels: Annotated[
        list[tuple[Id, Said]],
        Field(
            fail_fast=True,
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


class NewSettlement(Taken):
    """What an item is on which people disagree."""

    id: Id
    label: Annotated[Said, Field(description="A class; null if nobody can tell.", examples=["spam"])]
    annotator: Annotator = None


class NewRetraction(Taken):
    """An answer to be taken back."""

    id: Id
    lease: Annotated[
        float | None,
        Field(gt=0, le=LONGEST_LEASE, description="For how many seconds the query is kept for the annotator."),
    ] = None
    annotator: Annotator = None


class NewNote(Taken):
    """What somebody notes about an item. Without a text and a flag, an earlier note is taken back."""

    id: Id
    text: Annotated[
        StrictStr, Field(max_length=LONGEST_NOTE, description="A short text.", examples=["Half of it is missing."])
    ] = ""
    flagged: Annotated[bool, Field(description="Whether the item should be looked at again.")] = False
    annotator: Annotator = None


class NewLease(Taken):
    """Queries to be kept for an annotator."""

    most: Annotated[int, Field(ge=1, le=100, description="At most so many.")] = 1
    seconds: Annotated[float, Field(gt=0, le=LONGEST_LEASE, description="For how long.")] = 300.0
    annotator: Annotator = None


class NewModel(Taken):
    """A model that joins."""

    model: Annotated[ModelNameField, Field(description="Its name.", examples=["roberta-2"])]


class NewSession(Taken):
    """A token to sign in with."""

    token: Annotated[
        str, Field(max_length=200, description="As it was shown once.", examples=["mp_0123456789abcdef_…"])
    ]


class Decided(BaseModel):
    """What the campaign decided of a round."""

    id: Annotated[Count, Field(description="What the round is called from now on: its number.")]
    key: Annotated[str | None, Field(description="What the item was asked with.")]
    query: Annotated[bool, Field(description="Whether the label is asked for.")]
    probability: Annotated[Chance, Field(description="With what probability it was to be.")]
    prediction: Annotated[Called | None, Field(description="The label that is predicted; null for none.")]
    recommended: Annotated[Called, Field(description="The best model so far.")]


class DecidedMany(BaseModel):
    """Decisions, in the order of the rounds."""

    decisions: list[Decided]


class StateDocument(BaseModel):
    """Where a campaign stands: one state, its reason, and what to do next."""

    name: Annotated[StateName, Field(description="For programs.")]
    title: Annotated[str, Field(description="For people.")]
    reason: str
    next: Annotated[str, Field(description="What to do next.")]
    takes_items: Annotated[bool, Field(description="Whether more items may be added.")]


class Summary(BaseModel):
    """A campaign in a list."""

    name: str
    created: Timestamp
    algorithm: str
    models: Annotated[Count | None, Field(description="How many; null for annotators who see no predictions.")]
    budget: Count | None
    state: Annotated[StateDocument | None, Field(description="Null where the campaign is damaged.")]
    damage: Annotated[
        str | None, Field(description="Why it cannot be opened, where its settings were changed or damaged.")
    ]
    rounds: Count
    labels_used: Count
    pending: Annotated[Count, Field(description="Queries that wait for a label.")]
    skipped: Count
    pick: Annotated[Called | None, Field(description="The best model so far; null before the first label.")]
    tied: Annotated[Count | None, Field(description="How many models are tied for the first place.")]


class Summaries(BaseModel):
    """The campaigns of the server."""

    campaigns: list[Summary]


class IntakeDocument(BaseModel):
    """A file that a campaign is just being made of."""

    name: Annotated[str, Field(description="What the campaign will be called.")]
    phase: Literal["reading", "storing", "comparing"]
    done: Annotated[Count, Field(description="Items that are stored.")]
    total: Count
    words: Annotated[str, Field(description="For people.")]


class Intakes(BaseModel):
    """The files that campaigns are just being made of."""

    intakes: list[IntakeDocument]


class ToGoDocument(BaseModel):
    """About how many more labels a pool needs until the pick is certified: an estimate."""

    expected: Count
    low: Annotated[Count, Field(description="It is likely that at least so many are needed.")]
    high: Annotated[Count, Field(description="It is likely that at most so many are needed.")]
    words: Annotated[str, Field(description="For people.")]


class OutlookDocument(BaseModel):
    """What so many more labels of a pool would buy: an estimate."""

    labels: Count
    chance: Annotated[Chance, Field(description="That the pick is certified by then.")]
    confidence: Annotated[Chance, Field(description="That the proof is likely to have by then.")]
    sentence: Annotated[str, Field(description="For people.")]


class OutlookAnswer(BaseModel):
    """What is to come in a pool."""

    outlook: Annotated[
        OutlookDocument | None, Field(description="Null on a stream, and if it is too early to say.")
    ]


class Described(SettingsSent):  # type: ignore[misc]  # its other fields are made from their descriptions
    """A campaign: what it is made with, how far it has come, who leads."""

    name: str
    created: Timestamp
    paused: bool
    archived: bool
    finished: bool
    guidelines: Annotated[str, Field(description="What annotators read beside the item.")]
    state: StateDocument
    to_go: Annotated[
        ToGoDocument | None, Field(description="Labels to go; null on a stream, and if it is too early to say.")
    ]
    more: Annotated[
        OutlookDocument | None,
        Field(description="What more labels would buy, where the budget of a pool is spent and nothing is proved."),
    ]
    rounds: Count
    labels_used: Count
    labels_saved: Annotated[Count, Field(description="Rounds without a label that wait for none.")]
    pending: Count
    skipped: Count
    references: Annotated[Count, Field(description="Labels of rounds that were not queried, kept for reference.")]
    waiting_items: Annotated[
        dict[str, Count], Field(description="How many items of each file wait to be asked about, in their order.")
    ]
    conflicts: Annotated[Count, Field(description="Items on which people disagree, and that nobody has settled.")]
    withdrawn: Annotated[Count, Field(description="Open queries that were withdrawn, as the campaign is finished.")]
    labels_known: Annotated[
        Count, Field(description="Items whose label was asked for and is known; fewer where several people label.")
    ]
    pick: Annotated[Called | None, Field(description="The best model so far; null before the first label.")]
    tied: Annotated[list[Called] | None, Field(description="The models tied for the first place.")]


class Classes(BaseModel):
    """What a label may be."""

    classes: list[Called]
    open: Annotated[bool, Field(description="Whether any other class may be told as well.")]


class OwnNote(BaseModel):
    """What the caller has noted about an item."""

    text: str
    flagged: bool


class Noted(OwnNote):
    """A note that is on disk."""

    id: Count


class NoteDocument(Noted):
    """What somebody noted about an item."""

    by: Annotated[str | None, Field(description="Who noted it.")]
    at: Timestamp


class NoteList(BaseModel):
    """What people have noted, the newest first."""

    notes: list[NoteDocument]


class Waiting(BaseModel):
    """A query that waits for its label."""

    id: Count
    item: dict[str, Any] | None
    key: str | None
    classes: Annotated[
        list[Called] | None, Field(description="What models say of it; null for who may not see that.")
    ]
    candidates: Annotated[
        list[Called] | None,
        Field(
            description="With many classes, the different classes that models say, shuffled: for everybody, "
            "and without which model says what. Null with few classes."
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
        bool, Field(description="Whether items of files are still gone through for the next query: ask again.")
    ]
    own: Annotated[
        Count | None, Field(description="How many labels the annotator has given that hold; null if unnamed.")
    ]


class Told(BaseModel):
    """An answer that is on disk."""

    id: Count
    label: Annotated[Called | None, Field(description="As the campaign knows it; null for a skip.")]
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


class Members(BaseModel):
    """The models that take part."""

    models: list[Called]


class StandingEntry(BaseModel):
    """How one model stands."""

    model: Called
    estimate: Annotated[float, Field(description="Estimated mistakes: compare models by differences.")]
    gap: Annotated[float | None, Field(description="How much less accurate than the pick, by the estimates.")]
    low: Annotated[float | None, Field(ge=-1, description="Where the gap begins, by a rough 95 % interval.")]
    high: Annotated[float | None, Field(le=1, description="Where it ends.")]
    labels: Annotated[Count, Field(description="How many labels that rests on.")]
    since: Annotated[Count, Field(description="The first round that it took part in.")]
    covered: Annotated[float, Field(ge=0, description="Of how many rounds the gap speaks.")]
    weight: Annotated[Chance | None, Field(description="Null where the algorithm has no weights.")]


class CertificateDocument(BaseModel):
    """What is known of a model, whenever one looks."""

    model: Called
    gap: Annotated[Chance, Field(description="By how much at most the best may be better; 1 if nothing is known.")]
    confidence: Annotated[Chance, Field(description="That no such statement, made at any time, is ever wrong.")]
    kind: Literal["stream", "population", "pool"]
    rounds: Annotated[Count, Field(description="How many items had been seen.")]
    items: Annotated[Count | None, Field(description="How many items the gap is, where it is of the stream.")]
    sentence: Annotated[str, Field(description="All of it, in plain words.")]


class StandingDocument(BaseModel):
    """The best model so far, and how all stand."""

    event: Annotated[Count, Field(description="The event as of which this is.")]
    pick: Annotated[Called | None, Field(description="Null before the first label.")]
    tied: Annotated[list[Called], Field(description="The models tied for the first place.")]
    rounds: Count
    covered: Annotated[Count, Field(description="Of how many rounds the estimates speak.")]
    labels_used: Count
    labels_saved: Count
    pending: Count
    skipped: Count
    references: Count
    conflicts: Annotated[Count, Field(description="Items on which people disagree, and that nobody has settled.")]
    budget: Count | None
    weighted: Annotated[bool, Field(description="Whether estimates are of the whole stream, and not of labels.")]
    certificate: Annotated[CertificateDocument, Field(description="How sure the pick is.")]
    certified: Annotated[bool, Field(description="Whether that is sure enough to stop.")]
    reached: Annotated[bool | None, Field(description="Whether the goal is reached; null where there is none.")]
    state: StateDocument
    to_go: Annotated[
        ToGoDocument | None, Field(description="Labels to go; null on a stream, and if it is too early to say.")
    ]
    more: Annotated[
        OutlookDocument | None,
        Field(description="What more labels would buy, where the budget of a pool is spent and nothing is proved."),
    ]
    remark: Annotated[str, Field(description="What the algorithm has to say of how it stands; may be empty.")]
    standing: Annotated[list[StandingEntry], Field(description="The pick first, then by estimates.")]


class WeightLines(BaseModel):
    """How the leaders' weights went; their estimates, where an algorithm has no weights."""

    kind: Literal["weights", "estimates"]
    models: Annotated[list[Called], Field(description="The leaders.")]
    labels: Annotated[list[Count], Field(description="Labels by then: one a point.")]
    rounds: Annotated[list[Count], Field(description="Rounds by then: one a point.")]
    values: Annotated[
        list[list[float | None]], Field(description="A line a model; null where it took no part yet.")
    ]


class LabelLines(BaseModel):
    """Queries and labels against rounds seen, added up."""

    rounds: list[Count]
    queries: list[Count]
    labels: list[Count]


class RecentRounds(BaseModel):
    """The last rounds."""

    rounds: list[Count]
    probability: list[Chance]
    queried: list[bool]


class ClassPair(BaseModel):
    """Two classes between which models are divided."""

    classes: Annotated[list[Called], Field(min_length=2, max_length=2)]
    rounds: Count


class DividedItem(BaseModel):
    """An item on which models are divided."""

    id: Count
    key: str | None
    item: dict[str, Any] | None
    votes: Annotated[list[tuple[Called | None, Count]], Field(description="Classes, and how many models say each.")]


class Disagreement(BaseModel):
    """Where models disagree most, among recent rounds."""

    rounds: Annotated[Count, Field(description="How many were looked at.")]
    divided: Annotated[Count, Field(description="On how many of them models disagree.")]
    pairs: list[ClassPair]
    items: list[DividedItem]


class ChartsDocument(BaseModel):
    """What the page's charts are drawn from."""

    event: Count
    weights: WeightLines
    labels: LabelLines
    recent: RecentRounds
    disagreement: Disagreement


class HistoryPage(BaseModel):
    """Some records of what happened, in order."""

    records: list[RecordDocument]
    next: Annotated[Count | None, Field(description="Pass it as `after` for what comes next; null at the end.")]


class ColumnDocument(BaseModel):
    """A column of a file, and what it is for."""

    name: str
    role: Literal["model", "shown", "id", "label", "left out"]
    doubt: Annotated[str, Field(description="Why a person should confirm the role; empty where it is certain.")]


class FileLook(BaseModel):
    """What a file of predictions holds; where columns are in doubt, if they are what they seem to be."""

    items: Count
    models: list[str]
    classes: list[Called]
    fields: Annotated[list[str], Field(description="What else there is of each item.")]
    labelled: Annotated[bool, Field(description="Whether it has labels, which are not taken in.")]
    columns: Annotated[list[ColumnDocument], Field(description="All columns, in the order of the file.")]
    rows: Annotated[
        list[dict[str, Any]],
        Field(max_length=5, description="The first rows, a value by column; long texts are shortened."),
    ]
    problem: Annotated[
        str | None,
        Field(description="Why the file cannot be read so, where columns are in doubt; then choose other roles."),
    ]


class FileTaken(BaseModel):
    """What came of a file of predictions."""

    rounds: Annotated[Count, Field(description="Items that were decided about at once, or added to a pool.")]
    known: Annotated[Count, Field(description="Items that were there already.")]
    queries: Annotated[Count, Field(description="New queries.")]
    waiting: Annotated[
        Count, Field(description="Items that are kept: each is decided about when the labels before it are there.")
    ]


class ItemsDropped(BaseModel):
    """Items of files that are not asked about any more."""

    dropped: Count


class Answered(BaseModel):
    """A round that was answered, or waits."""

    id: Count
    key: str | None
    label: Called | None
    state: Literal["waiting", "labelled", "skipped", "reference", "conflict", "withdrawn"]


class OpinionDocument(BaseModel):
    """What one person says of an item that several people label."""

    by: Annotated[str | None, Field(description="Who gave it.")]
    label: Annotated[Called | None, Field(description="Null if they cannot tell.")]
    at: Timestamp


class ConflictDocument(BaseModel):
    """An item on which people disagree."""

    id: Count
    key: str | None
    item: dict[str, Any] | None
    opinions: Annotated[list[OpinionDocument], Field(description="In the order in which they were given.")]


class ConflictList(BaseModel):
    """Items on which people disagree."""

    conflicts: list[ConflictDocument]
    total: Annotated[Count, Field(description="How many there are in all.")]


Kappa: TypeAlias = Annotated[float | None, Field(ge=-1, le=1, description="Null where it is undefined.")]


class PairDocument(BaseModel):
    """How far two people agree."""

    annotators: Annotated[list[str], Field(min_length=2, max_length=2, description="Empty for one without a name.")]
    items: Annotated[Count, Field(description="How many items both labelled.")]
    agreed: Annotated[Chance, Field(description="The share of these on which they said the same.")]
    kappa: Annotated[Kappa, Field(description="Cohen's kappa; null where it is undefined.")]


class ClassAgreementDocument(BaseModel):
    """How far people agree on whether an item is of one class."""

    label: Annotated[Called | None, Field(description="Null for those who cannot tell.")]
    opinions: Annotated[Count, Field(description="How often it was said.")]
    kappa: Kappa


class AgreementDocument(BaseModel):
    """How far people agree on the items that several of them labelled."""

    items: Annotated[Count, Field(description="How many items have at least two opinions.")]
    agreed: Annotated[Chance | None, Field(description="The share of these on which all said the same.")]
    kappa: Annotated[Kappa, Field(description="Fleiss' kappa; null where it is undefined.")]
    pairs: Annotated[list[PairDocument], Field(description="Every two people with items in common.")]
    classes: Annotated[list[ClassAgreementDocument], Field(description="Every class that was said.")]


class LabelRow(BaseModel):
    """An answer that holds now, or opinions that are not complete; or a flagged item that has no answer yet."""

    id: Count
    key: str | None
    state: Literal["labelled", "skipped", "reference", "waiting", "conflict", "withdrawn"]
    label: Called | None
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


class Answers(BaseModel):
    """All queries with their labels, and labels that were kept for reference."""

    answers: list[Answered]


class SessionDocument(BaseModel):
    """Who is signed in."""

    authenticated: bool
    role: Literal["owner", "annotator", "reader"] | None
    name: str | None
    sees_predictions: bool
    tokens_needed: bool
    media_hosts: Annotated[
        list[str], Field(description="Hosts from which the page shows pictures and plays audio.")
    ]
    demo: bool
    version: str


class Health(BaseModel):
    """All is well."""

    status: Literal["ok"]


class Wrong(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    what: str


class ProblemDocument(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    type: Annotated[str, Field(description="What kind of problem it is: a URN.")]
    title: Annotated[str, Field(description="What that kind means.")]
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[str, Field(description="What is wrong, and what to do.")]
    errors: Annotated[list[Wrong] | None, Field(description="What is wrong with which part of the request.")] = None
    columns: Annotated[list[ColumnDocument] | None, Field(description="The columns of a file in doubt.")] = None
