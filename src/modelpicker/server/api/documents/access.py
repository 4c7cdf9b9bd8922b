"""Tokens, and who is signed in."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from modelpicker.server.api.documents.fields import LONGEST_NAME, Taken, Timestamp


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


class NewSession(Taken):
    """A token to sign in with."""

    token: Annotated[
        str, Field(max_length=200, description="As it was shown once.", examples=["mp_0123456789abcdef_…"])
    ]


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
