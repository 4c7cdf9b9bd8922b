"""What went wrong; or that all is well."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from modelpicker.server.api.documents.files import ColumnDocument


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


class Health(BaseModel):
    """All is well."""

    status: Literal["ok"]
