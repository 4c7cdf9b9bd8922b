"""A label on the wire: a class, or the document of a label that is more than one class."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from modelpicker.campaigns.input.labels import MOST_GRADES
from modelpicker.server.api.documents.fields import Called, Chance, ClassNameField, Taken


class LabelDocument(Taken):
    """A label that is more than one class: several classes, grades, or which of two answers is better."""

    kind: Annotated[
        Literal["classes", "grades", "preference"],
        Field(
            description="Several classes of which each is right; grades of answers; or a preference between two."
        ),
    ]
    grades: Annotated[
        list[tuple[ClassNameField, Chance]],
        Field(
            fail_fast=True,
            max_length=MOST_GRADES,
            description="Pairs of a class or an answer, and its grade from 0 (wrong) to 1 (right). The better of "
            "two has 1 and the other 0; if they are equal, both have 0.5.",
        ),
    ]
    otherwise: Annotated[
        Chance | None,
        Field(
            description="The grade of all other answers; null if it is not known: they count as the worst. With "
            "no grades at all and 0 here, all answers are wrong."
        ),
    ] = None


LabelTaken: TypeAlias = ClassNameField | LabelDocument
LabelSent: TypeAlias = Called | LabelDocument


def as_given(label: Any) -> Any:
    """A label that was received, as a campaign takes it."""
    return label.model_dump() if isinstance(label, LabelDocument) else label
