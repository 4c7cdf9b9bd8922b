"""Fields that many documents share, and the base of those that are taken in."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from modelpicker.campaigns.terms import LONGEST_GUIDELINES

MOST_ROUNDS = 100_000
LONGEST_NAME = 100
LONGEST_LEASE = 86_400
NAME_PATTERN = r"^[\p{L}\p{N}](?:[\p{L}\p{N}_ .-]*[\p{L}\p{N}_.-])?$"
"""What a campaign may be called, in the dialect of JSON Schema."""

Count: TypeAlias = Annotated[int, Field(ge=0)]
Chance: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Called: TypeAlias = int | str
"""The name of a class or of a model."""
Timestamp: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
ClassNameField: TypeAlias = StrictInt | StrictStr
ModelNameField: TypeAlias = StrictInt | StrictStr
Said: TypeAlias = StrictInt | StrictStr | None
Id = Annotated[
    StrictInt | StrictStr,
    Field(description="The id of a decision; or a string: the key that its item was asked with.", examples=[17]),
]
Annotator = Annotated[
    StrictStr | None, Field(min_length=1, max_length=300, description="Who answers.", examples=["desk 2"])
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


class Taken(BaseModel):
    """A body that is taken in: fields that it does not know are an error."""

    model_config = ConfigDict(strict=True, extra="forbid")
