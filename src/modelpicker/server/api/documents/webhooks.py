"""What Label Studio sends when annotations are made, changed or deleted, and what came of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from modelpicker.server.api.documents.fields import Count


class LabelStudioEvent(BaseModel):
    """An event of Label Studio. Other fields, such as the project, are not looked at."""

    model_config = ConfigDict(extra="ignore")

    action: Annotated[
        StrictStr,
        Field(
            max_length=100,
            description="`ANNOTATION_CREATED`, `ANNOTATIONS_CREATED`, `ANNOTATION_UPDATED` or "
            "`ANNOTATIONS_DELETED`; all others are ignored.",
            examples=["ANNOTATION_CREATED"],
        ),
    ]
    annotation: Annotated[
        dict[str, Any] | list[dict[str, Any]] | None, Field(description="The annotation, or several.")
    ] = None
    annotations: Annotated[
        list[dict[str, Any]] | None, Field(description="The annotations that were deleted, by their `id`.")
    ] = None
    task: Annotated[
        dict[str, Any] | list[dict[str, Any]] | None,
        Field(description="The task; its `data` has the field `modelpicker`, which says which item it is."),
    ] = None


class EventOutcome(BaseModel):
    """What came of one annotation."""

    annotation: Annotated[str, Field(description="Its id in Label Studio.")]
    item: Annotated[Count | None, Field(description="The id of the item; null if it is not one of this campaign.")]
    result: Annotated[
        Literal["taken", "removed", "known", "stale", "conflict", "ignored"],
        Field(
            description="`known`: it was there already. `stale`: a later change came before. `conflict`: somebody "
            "says something else, and the item is flagged with a note. `ignored`: it is not a task of this "
            "campaign."
        ),
    ]


class EventOutcomes(BaseModel):
    """What came of an event."""

    outcomes: list[EventOutcome]
