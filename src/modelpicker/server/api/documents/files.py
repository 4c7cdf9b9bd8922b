"""Files of predictions: what they hold, and what came of them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from modelpicker.server.api.documents.fields import Called, Count


class ColumnDocument(BaseModel):
    """A column of a file, and what it is for."""

    name: str
    role: Literal["model", "shown", "id", "label", "left out"]
    doubt: Annotated[str, Field(description="Why a person should confirm the role; empty where it is certain.")]


class FileLook(BaseModel):
    """What a file of predictions holds; where columns are in doubt, if they are what they seem to be."""

    items: Count
    models: list[str]
    answers: Annotated[Count, Field(description="How many different answers the file holds, labels included.")]
    classes: Annotated[list[Called], Field(description="The first of these answers.")]
    fields: Annotated[list[str], Field(description="What else there is of each item.")]
    labelled: Annotated[bool, Field(description="Whether it has labels, which are not taken in.")]
    columns: Annotated[list[ColumnDocument], Field(description="All columns, in the order of the file.")]
    rows: Annotated[
        list[dict[str, Any]],
        Field(max_length=5, description="The first rows, one value per column; long texts are shortened."),
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
