"""A campaign as a whole: what it is started with, what may change, how far it has come."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field, StrictInt, model_validator

from modelpicker.campaigns.results.status import StateName
from modelpicker.campaigns.setting_options import refuse_judge_of_stream, refuse_slice_of_stream
from modelpicker.certificates.stop_rule import LABEL_NOISE
from modelpicker.options import LARGEST_COUNT
from modelpicker.server.api.documents.fields import (
    LONGEST_NAME,
    Annotator,
    Called,
    CampaignNameField,
    Chance,
    Count,
    Guidelines,
    ModelNameField,
    Taken,
    Timestamp,
)
from modelpicker.server.api.documents.settings import SettingsSent, SettingsTaken, StoppingRule


class NewCampaign(SettingsTaken):  # type: ignore[misc]  # its other fields are made from their descriptions
    """A campaign to begin."""

    name: CampaignNameField
    guidelines: Guidelines = ""
    loss: Annotated[
        str | dict[str, Any] | None,
        Field(
            description='What mistakes cost: weights by class ({"spam": 5}), costs by class and answer '
            '({"spam": {"ham": 5}}), or accuracy, if null. The certificate is about it.',
            examples=[{"spam": 5}],
        ),
    ] = None
    price: Annotated[
        dict[str, float] | None,
        Field(
            description="What each model costs per item: the winner is then the cheapest model that is certified. "
            "With the algorithm race.",
            examples=[{"large": 0.03, "small": 0.002}],
        ),
    ] = None
    label_noise: Annotated[float, Field(ge=0, lt=0.5, description=LABEL_NOISE.help)] = LABEL_NOISE.default

    @model_validator(mode="before")
    @classmethod
    def _refuse_judge(cls, body: Any) -> Any:
        """Say why a stream has no judge and no slices: an unknown field would be refused without a reason."""
        if isinstance(body, dict):
            refuse_judge_of_stream(body.get("judge"))
            refuse_slice_of_stream(body.get("slice"))
        return body


class NewTerms(Taken):
    """What is to change of a campaign: only what is sent."""

    budget: Annotated[
        Annotated[StrictInt, Field(ge=0, le=LARGEST_COUNT)] | None,
        Field(description="How many labels may be bought; null for no limit."),
    ] = None
    stop_when: Annotated[StoppingRule | None, Field(description="The goal; null for none.")] = None
    paused: Annotated[bool, Field(description="Nobody is asked for labels.")] = False
    archived: Annotated[bool, Field(description="It is archived: it takes no items and no labels.")] = False
    finished: Annotated[bool, Field(description="It is finished: open questions are withdrawn.")] = False
    guidelines: Guidelines = ""
    name: Annotated[
        str | None,
        Field(min_length=1, max_length=LONGEST_NAME, description="A new name.", examples=["tickets 2027"]),
    ] = None
    annotator: Annotator = None


class NewModel(Taken):
    """A model that joins."""

    model: Annotated[ModelNameField, Field(description="Its name.", examples=["roberta-2"])]


class Members(BaseModel):
    """The models that take part."""

    models: list[Called]


class StateDocument(BaseModel):
    """Where a campaign stands: one state, its reason, and what to do next."""

    name: Annotated[StateName, Field(description="For programs.")]
    title: Annotated[str, Field(description="For people.")]
    reason: str
    next: Annotated[str, Field(description="What to do next.")]
    takes_items: Annotated[bool, Field(description="Whether more items may be added.")]


class ToGoDocument(BaseModel):
    """About how many more labels a pool needs until the pick is certified: an estimate."""

    expected: Count
    low: Annotated[Count, Field(description="It is likely that at least that many are needed.")]
    high: Annotated[Count, Field(description="It is likely that at most this many are needed.")]
    words: Annotated[str, Field(description="For people.")]


class OutlookDocument(BaseModel):
    """What that many more labels of a pool would buy: an estimate."""

    labels: Count
    chance: Annotated[Chance, Field(description="That the pick is certified by then.")]
    confidence: Annotated[Chance, Field(description="That the proof is likely to have by then.")]
    sentence: Annotated[str, Field(description="For people.")]


ToGoField: TypeAlias = Annotated[
    ToGoDocument | None, Field(description="Labels to go; null on a stream, and if it is too early to say.")
]
MoreField: TypeAlias = Annotated[
    OutlookDocument | None,
    Field(description="What more labels would buy, where the budget of a pool is spent and nothing is proven."),
]
ConflictCount: TypeAlias = Annotated[
    Count, Field(description="Items on which people disagree, and that nobody has settled.")
]


class OutlookAnswer(BaseModel):
    """What is to come in a pool."""

    outlook: Annotated[
        OutlookDocument | None, Field(description="Null on a stream, and if it is too early to say.")
    ]


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


class Described(SettingsSent):  # type: ignore[misc]  # its other fields are made from their descriptions
    """A campaign: what it is made with, how far it has come, which model leads."""

    name: str
    created: Timestamp
    paused: bool
    archived: bool
    finished: bool
    guidelines: Annotated[str, Field(description="What annotators read beside the item.")]
    state: StateDocument
    to_go: ToGoField
    more: MoreField
    rounds: Count
    labels_used: Count
    labels_saved: Annotated[Count, Field(description="Rounds without a label that wait for none.")]
    pending: Count
    skipped: Count
    references: Annotated[Count, Field(description="Labels of rounds that were not queried, kept for reference.")]
    waiting_items: Annotated[
        dict[str, Count], Field(description="How many items of each file wait to be asked about, in their order.")
    ]
    conflicts: ConflictCount
    costs: Annotated[
        dict[str, str],
        Field(
            description="What mistakes and models cost, and how many labels may be wrong, in words, by the name of "
            "the setting. What has its default is left out; annotators who see no predictions are told no prices."
        ),
    ]
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
