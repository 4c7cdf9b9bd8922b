"""What people note about items."""

from typing import Annotated

from pydantic import BaseModel, Field, StrictStr

from modelpicker.campaigns.input.validation import LONGEST_NOTE
from modelpicker.server.api.documents.fields import Annotator, Count, Id, Taken, Timestamp


class NewNote(Taken):
    """What somebody notes about an item. Without a text and a flag, an earlier note is taken back."""

    id: Id
    text: Annotated[
        StrictStr, Field(max_length=LONGEST_NOTE, description="A short text.", examples=["Half of it is missing."])
    ] = ""
    flagged: Annotated[bool, Field(description="Whether the item should be looked at again.")] = False
    annotator: Annotator = None


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
