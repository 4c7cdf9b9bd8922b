"""How the models stand: the pick, its certificate, and what the page's charts are drawn from."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from modelpicker.algorithms.pools.slice_table import SliceState
from modelpicker.server.api.documents.campaigns import ConflictCount, MoreField, StateDocument, ToGoField
from modelpicker.server.api.documents.fields import Called, Chance, Count


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
    """What is proven about a model; it holds whenever you look."""

    model: Called
    gap: Annotated[Chance, Field(description="By how much at most the best may be better; 1 if nothing is proven.")]
    confidence: Annotated[Chance, Field(description="That no such statement, made at any time, is ever wrong.")]
    kind: Literal["stream", "population", "pool"]
    rounds: Annotated[Count, Field(description="How many items had been seen.")]
    items: Annotated[Count | None, Field(description="How many items the gap is, where it is of the stream.")]
    sentence: Annotated[str, Field(description="All of it in plain words: one or two lines.")]
    loss: Annotated[str, Field(description="What the gap is a share of: accuracy, unless another loss was chosen.")]
    label_noise: Annotated[
        float, Field(description="The statement holds if each label is wrong with at most this probability.")
    ]
    certain: Annotated[bool, Field(description="Whether the statement holds without any chance of error.")]


class JudgedClassDocument(BaseModel):
    """How often the judge agreed with the labels of one class."""

    label: Annotated[Called | None, Field(description="Null for a class that no model says.")]
    labels: Annotated[Count, Field(description="Labels of this class about which the judge says something.")]
    agreed: Count
    low: Annotated[Chance, Field(description="Where the 95 % interval of the share begins on which they agree.")]
    high: Chance


class JudgeDocument(BaseModel):
    """How good the judge of a pool was, against the labels that are known: mostly hard items."""

    items: Annotated[Count, Field(description="Of how many items it says a class that a model says.")]
    labels: Annotated[Count, Field(description="How many of these have a label.")]
    agreed: Annotated[Count, Field(description="On how many of these labels it is right.")]
    silent: Annotated[Count, Field(description="Labels of items about which it says nothing.")]
    share: Annotated[Chance | None, Field(description="On which it agrees; null if there is no label.")]
    low: Annotated[Chance, Field(description="Where the 95 % interval of that share begins.")]
    high: Chance
    kappa: Annotated[float | None, Field(ge=-1, le=1, description="Cohen's kappa; null where it is undefined.")]
    kappa_low: Annotated[float | None, Field(ge=-1, le=1)]
    kappa_high: Annotated[float | None, Field(ge=-1, le=1)]
    confidence: Annotated[Chance, Field(description="Of the intervals.")]
    sentence: Annotated[str, Field(description="For people.")]
    classes: Annotated[list[JudgedClassDocument], Field(description="The most frequent class first.")]


class SliceDocument(BaseModel):
    """The best model of one slice."""

    value: Annotated[str, Field(description='The value of the column; "(no value)" where it is missing.')]
    items: Count
    contested: Annotated[Count, Field(description="Items on which models differ.")]
    labels: Annotated[Count, Field(description="Items of the slice that have a label.")]
    model: Annotated[Called, Field(description="The best model, as far as can be told.")]
    certified: Annotated[bool, Field(description="Whether it is proven to be near the best model of the slice.")]
    gap: Annotated[Chance, Field(description="By how much another can be better, as is proven; 1 if nothing is.")]
    state: Annotated[SliceState, Field(description="not yet: labels are asked for. undecided: none are.")]
    reason: Annotated[str, Field(description="Why, in a sentence.")]
    same: Annotated[
        bool | None,
        Field(
            description="Whether the pick of all items will do here: true if that is proven; false if another "
            "model is certified, and the pick is thought to be worse; null if it is open."
        ),
    ]
    behind: Annotated[float, Field(description="How far the pick of all items is behind here: an estimate.")]
    proved: Annotated[str, Field(description="What is proven, in a word or two.")]
    verdict: Annotated[str, Field(description="Whether the pick of all items will do here, in a word or two.")]


class SliceTableDocument(BaseModel):
    """The best model of each slice. All that is said to be proven holds together, with the confidence."""

    column: Annotated[str, Field(description="What the slices are of; empty if that has no name.")]
    same_everywhere: Annotated[
        bool | None,
        Field(description="Whether the pick of all items will do in every slice; null if that is open."),
    ]
    sentence: Annotated[str, Field(description="The answer, for people.")]
    tolerance: Chance
    allowed: Annotated[
        float,
        Field(description="The tolerance, and what wrong labels may mislead by, at most."),
    ]
    confidence: Chance
    label_noise: Annotated[Chance, Field(description="How often labels are wrong, at most.")]
    slices: Annotated[list[SliceDocument], Field(description="The largest first.")]


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
    conflicts: ConflictCount
    budget: Count | None
    weighted: Annotated[bool, Field(description="Whether estimates are of the whole stream, and not of labels.")]
    certificate: Annotated[CertificateDocument, Field(description="How certain the pick is.")]
    certified: Annotated[bool, Field(description="Whether that is sure enough to stop.")]
    reached: Annotated[bool | None, Field(description="Whether the goal is reached; null where there is none.")]
    state: StateDocument
    to_go: ToGoField
    more: MoreField
    remark: Annotated[str, Field(description="What the algorithm has to say about how it stands; may be empty.")]
    saved_per_item: Annotated[
        float | None,
        Field(description="How much cheaper the pick is, per item, than the best estimate; null without prices."),
    ]
    judge: Annotated[JudgeDocument | None, Field(description="How good the judge was; null if there is none.")]
    slices: Annotated[
        SliceTableDocument | None, Field(description="The best model of each slice; null where there are none.")
    ]
    racing: Annotated[list[Called], Field(description="The models still in the race; the others need not be run.")]
    calls: Annotated[
        Count | None, Field(description="How many predictions models were asked for; null where that is not known.")
    ]
    standing: Annotated[list[StandingEntry], Field(description="The pick first, then by estimates.")]


class WeightLines(BaseModel):
    """How the leaders' weights went; their estimates, where an algorithm has no weights."""

    kind: Literal["weights", "estimates"]
    models: Annotated[list[Called], Field(description="The leaders.")]
    labels: Annotated[list[Count], Field(description="Labels by then: one per point.")]
    rounds: Annotated[list[Count], Field(description="Rounds by then: one per point.")]
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
