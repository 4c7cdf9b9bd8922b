"""Items that several people label: opinions, conflicts, and how far people agree."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field

from modelpicker.server.api.documents.fields import Annotator, Chance, Count, Id, Taken, Timestamp
from modelpicker.server.api.documents.label import LabelSent, LabelTaken


class NewSettlement(Taken):
    """What an item is on which people disagree."""

    id: Id
    label: Annotated[LabelTaken | None, Field(description="A label; null if nobody can tell.", examples=["spam"])]
    annotator: Annotator = None


class OpinionDocument(BaseModel):
    """What one person says about an item that several people label."""

    by: Annotated[str | None, Field(description="Who gave it.")]
    label: Annotated[LabelSent | None, Field(description="Null if they cannot tell.")]
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

    label: Annotated[LabelSent | None, Field(description="Null for those who cannot tell.")]
    opinions: Annotated[Count, Field(description="How often it was said.")]
    kappa: Kappa


class AgreementDocument(BaseModel):
    """How far people agree on the items that several of them labelled."""

    items: Annotated[Count, Field(description="How many items have at least two opinions.")]
    agreed: Annotated[Chance | None, Field(description="The share of these on which all said the same.")]
    kappa: Annotated[Kappa, Field(description="Fleiss' kappa; null where it is undefined.")]
    pairs: Annotated[list[PairDocument], Field(description="Every two people with items in common.")]
    classes: Annotated[list[ClassAgreementDocument], Field(description="Every class that was said.")]
